"""What deploy/helm/check and deploy/helm/apiserver/run look at."""

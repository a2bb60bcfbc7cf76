"""Pictures: dashboards from their JSON and Prometheus' answers, and a hand from its trace, on a light ground."""

"""Three servers under a real Jaeger and a real Prometheus: what they tell is held against the event log."""

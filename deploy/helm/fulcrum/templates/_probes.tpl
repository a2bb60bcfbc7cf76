{{/* How the kubelet finds out how a server is. Its gRPC probes speak no TLS. */}}
{{- define "fulcrum.probes" -}}
startupProbe:
  grpc:
    port: {{ .Values.ports.grpc }}
  {{- toYaml .Values.probes.startup | nindent 2 }}
readinessProbe:
  grpc:
    port: {{ .Values.ports.grpc }}
  {{- toYaml .Values.probes.readiness | nindent 2 }}
livenessProbe:
  # Not by gRPC: its answer is about the store as well.
  tcpSocket:
    port: grpc
  {{- toYaml .Values.probes.liveness | nindent 2 }}
{{- end -}}

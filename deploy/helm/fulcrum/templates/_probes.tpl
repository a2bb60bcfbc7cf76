{{/* How the kubelet finds out how a server is. Its gRPC probes speak no TLS: then it only looks whether the server takes connections,
which it does from when its store was opened until it ends. */}}
{{- define "fulcrum.probe" -}}
{{- if .values.tls.secret -}}
tcpSocket:
  port: grpc
{{- else -}}
grpc:
  port: {{ .values.ports.grpc }}
  service: {{ .service | quote }}
{{- end -}}
{{- end -}}

{{- define "fulcrum.probes" -}}
startupProbe:
  {{- include "fulcrum.probe" (dict "values" .Values "service" "") | nindent 2 }}
  {{- toYaml .Values.probes.startup | nindent 2 }}
readinessProbe:
  {{- include "fulcrum.probe" (dict "values" .Values "service" "") | nindent 2 }}
  {{- toYaml .Values.probes.readiness | nindent 2 }}
livenessProbe:
  # The process alone: a restart mends no store.
  {{- include "fulcrum.probe" (dict "values" .Values "service" "fulcrum.liveness") | nindent 2 }}
  {{- toYaml .Values.probes.liveness | nindent 2 }}
{{- end -}}

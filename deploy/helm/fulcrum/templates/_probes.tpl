{{/* How the kubelet finds out how a server is. Its gRPC probes speak no TLS and show nothing: they ask where health is told alone, in
clear, whatever is asked of callers. */}}
{{- define "fulcrum.probe" -}}
grpc:
  port: {{ .values.ports.health }}
  service: {{ .service | quote }}
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

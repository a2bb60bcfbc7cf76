{{/* What things are called. */}}

{{- define "fulcrum.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Room is left for the ends: -headless is the longest of a service, whose names have 63 letters, and no dots, as releases' may. */}}
{{- define "fulcrum.fullname" -}}
{{- $name := include "fulcrum.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* What never changes in the life of an installation. */}}
{{- define "fulcrum.selector" -}}
app.kubernetes.io/name: {{ include "fulcrum.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "fulcrum.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "fulcrum.podLabels" . }}
{{- end -}}

{{/* Without the chart's version: another chart alone is no reason for other pods. */}}
{{- define "fulcrum.podLabels" -}}
{{ include "fulcrum.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "fulcrum.serviceAccount" -}}
{{- $made := ternary (include "fulcrum.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $made .Values.serviceAccount.name -}}
{{- end -}}

{{- define "fulcrum.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

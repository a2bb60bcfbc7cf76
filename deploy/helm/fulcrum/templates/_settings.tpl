{{/* The program's settings file: what follows from the chart's values, and over it `settings`. */}}

{{/* Puts the second map over the first, a table into a table, false and 0 too. */}}
{{- define "fulcrum.over" -}}
{{- $below := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- if and (kindIs "map" $value) (kindIs "map" (get $below $key)) -}}
{{- include "fulcrum.over" (list (get $below $key) $value) -}}
{{- else -}}
{{- $_ := set $below $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Values files know no whole numbers, TOML does. */}}
{{- define "fulcrum.whole" -}}
{{- $map := . -}}
{{- range $key, $value := $map -}}
{{- if kindIs "map" $value -}}
{{- include "fulcrum.whole" $value -}}
{{- else if kindIs "slice" $value -}}
{{- range $value -}}{{- if kindIs "map" . -}}{{- include "fulcrum.whole" . -}}{{- end -}}{{- end -}}
{{- else if and (kindIs "float64" $value) (eq (toString $value) (toString (floor $value))) -}}
{{- $_ := set $map $key (int64 $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The chart's own part: where the ports and the mounted Secrets are. */}}
{{- define "fulcrum.own" -}}
listen: "{{ .Values.listenOn }}:{{ .Values.ports.grpc }}"
health: "{{ .Values.listenOn }}:{{ .Values.ports.health }}"
drain_seconds: {{ .Values.drain.seconds }}
key_file: /etc/fulcrum/card-keys/keys
{{- if .Values.metrics.enabled }}
metrics: "{{ .Values.listenOn }}:{{ .Values.ports.metrics }}"
{{- end }}
{{- if .Values.secrets.tokens.name }}
token_file: /etc/fulcrum/tokens/tokens
{{- end }}
{{- if .Values.secrets.adminTokens.name }}
admin_token_file: /etc/fulcrum/admin-tokens/tokens
{{- end }}
{{- with .Values.tls }}
{{- if .secret }}
tls:
  cert_file: /etc/fulcrum/tls/tls.crt
  key_file: /etc/fulcrum/tls/tls.key
  {{- if .clientCa.name }}
  client_ca_file: /etc/fulcrum/client-ca/ca.crt
  {{- end }}
  client_certificates: {{ .clientCertificates }}
{{- end }}
{{- end }}
log:
  format: json
{{- with .Values.wallets }}
wallets:
  {{- range $operator, $wallet := . }}
  {{ $operator | quote }}:
    address: {{ $wallet.address | quote }}
    {{- if $wallet.tokenSecret }}
    token_file: /etc/fulcrum/wallets/{{ $operator }}/token
    {{- end }}
    {{- if $wallet.caSecret }}
    ca_file: /etc/fulcrum/wallets/{{ $operator }}/ca.crt
    {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "fulcrum.settings" -}}
{{- $settings := include "fulcrum.own" . | fromYaml -}}
{{- include "fulcrum.over" (list $settings (deepCopy .Values.settings)) -}}
{{- include "fulcrum.whole" $settings -}}
{{- toToml $settings -}}
{{- end -}}

{{/* Refuses in words what the schema cannot see. */}}
{{- define "fulcrum.refuse" -}}
{{- $redis := .Values.redis -}}
{{- if and (not $redis.url) (not $redis.urlSecret.name) -}}
{{- fail "no Redis: name the Secret with its URL in redis.urlSecret.name, or set redis.url" -}}
{{- end -}}
{{- if and $redis.url (regexMatch "://[^/?]*:[^@/?]*@" ($redis.url | replace "$(REDIS_PASSWORD)" "" | replace ":@" "@")) -}}
{{- fail "redis.url holds a password in clear: put $(REDIS_PASSWORD) in its place and name the Secret in redis.passwordSecret, or put the whole URL into a Secret (redis.urlSecret)" -}}
{{- end -}}
{{- if and (contains "$(REDIS_PASSWORD)" $redis.url) (not $redis.passwordSecret.name) -}}
{{- fail "redis.url asks for $(REDIS_PASSWORD), and redis.passwordSecret.name is empty" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas is more than autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (not .Values.autoscaling.cpuPercent) (not .Values.autoscaling.podMetrics) -}}
{{- fail "autoscaling without a metric: set autoscaling.cpuPercent or autoscaling.podMetrics" -}}
{{- end -}}
{{- if and .Values.grpcRoute.enabled (not .Values.grpcRoute.parentRefs) -}}
{{- fail "grpcRoute.enabled without grpcRoute.parentRefs: which Gateway is to serve it?" -}}
{{- end -}}
{{- $callers := .Values.networkPolicy.callers -}}
{{- if and .Values.networkPolicy.enabled (not $callers.namespaces) (not $callers.from) -}}
{{- fail "networkPolicy.enabled without networkPolicy.callers: nobody could call" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled without metrics.enabled: there is nothing to read" -}}
{{- end -}}
{{- $tls := .Values.tls -}}
{{- if and (not $tls.secret) (or $tls.clientCa.name (ne $tls.clientCertificates "none")) -}}
{{- fail "tls.clientCa and tls.clientCertificates are about callers' certificates, and there is no TLS: name the Secret in tls.secret" -}}
{{- end -}}
{{- if ne (empty $tls.clientCa.name) (eq $tls.clientCertificates "none") -}}
{{- fail "tls.clientCa goes with tls.clientCertificates wanted or required: set both or neither" -}}
{{- end -}}
{{- if and $tls.secret .Values.grpcRoute.enabled (not .Values.grpcRoute.backendTls.hostname) -}}
{{- fail "the Gateway has to know the servers' certificate: set grpcRoute.backendTls.hostname" -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]" (include "fulcrum.fullname" .)) -}}
{{- fail (printf "objects would be called %s, and names of Services begin with a letter: set fullnameOverride" (include "fulcrum.fullname" .)) -}}
{{- end -}}
{{- $resources := .Values.resources -}}
{{- if and .Values.autoscaling.enabled .Values.autoscaling.cpuPercent (not (default dict $resources.requests).cpu) (not (default dict $resources.limits).cpu) -}}
{{- fail "autoscaling.cpuPercent is a part of resources.requests.cpu, and there is none" -}}
{{- end -}}
{{- $ports := .Values.ports -}}
{{- if ne (len (uniq (list $ports.grpc $ports.metrics $ports.health))) 3 -}}
{{- fail "ports.grpc, ports.metrics and ports.health have to differ" -}}
{{- end -}}
{{- $rollout := .Values.rollout -}}
{{- if and (has (toString $rollout.maxSurge) (list "0" "0%")) (has (toString $rollout.maxUnavailable) (list "0" "0%")) -}}
{{- fail "rollout.maxSurge and rollout.maxUnavailable are both 0: no pod could ever be replaced" -}}
{{- end -}}
{{- $monitoring := .Values.networkPolicy.monitoring -}}
{{- if and .Values.networkPolicy.enabled .Values.metrics.serviceMonitor.enabled (not $monitoring.namespaces) (not $monitoring.from) -}}
{{- fail "metrics.serviceMonitor.enabled and networkPolicy.enabled without networkPolicy.monitoring: Prometheus could not read" -}}
{{- end -}}
{{- if not .Values.secrets.cardKeys.name -}}
{{- fail "no keys for the cards: name the Secret in secrets.cardKeys.name" -}}
{{- end -}}
{{- end -}}

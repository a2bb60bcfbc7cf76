{{/* What is mounted below /etc/fulcrum: the settings, and files from Secrets. Everything is read-only. */}}

{{/* One list, as {name, path, secret, items}, from which volumes and mounts are made. */}}
{{- define "fulcrum.mounted" -}}
{{- $secrets := .Values.secrets }}
{{- with $secrets.tokens.name }}
- {name: tokens, path: tokens, secret: {{ . | quote }}, items: [{key: {{ $secrets.tokens.key | quote }}, path: tokens}]}
{{- end }}
{{- with $secrets.adminTokens.name }}
- {name: admin-tokens, path: admin-tokens, secret: {{ . | quote }}, items: [{key: {{ $secrets.adminTokens.key | quote }}, path: tokens}]}
{{- end }}
- {name: card-keys, path: card-keys, secret: {{ $secrets.cardKeys.name | quote }}, items: [{key: {{ $secrets.cardKeys.key | quote }}, path: keys}]}
{{- with .Values.tls.secret }}
- {name: tls, path: tls, secret: {{ . | quote }}}
{{- end }}
{{- with .Values.tls.clientCa }}{{ if .name }}
- {name: client-ca, path: client-ca, secret: {{ .name | quote }}, items: [{key: {{ .key | quote }}, path: ca.crt}]}
{{- end }}{{ end }}
{{- with .Values.redis.tlsSecret }}
- {name: redis, path: redis, secret: {{ . | quote }}}
{{- end }}
{{- range .Values.secretMounts }}
- {name: {{ printf "more-%s" .name }}, path: {{ .name }}, secret: {{ .secret | quote }}}
{{- end }}
{{- end -}}

{{- define "fulcrum.volumes" -}}
- name: settings
  configMap:
    name: {{ include "fulcrum.fullname" . }}
{{- range include "fulcrum.mounted" . | fromYamlArray }}
- name: {{ .name }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    {{- with .items }}
    items:
      {{- toYaml . | nindent 6 }}
    {{- end }}
{{- end }}
{{- range $operator, $wallet := .Values.wallets }}
{{- if or $wallet.tokenSecret $wallet.caSecret }}
- name: {{ include "fulcrum.walletVolume" $operator }}
  projected:
    defaultMode: 0440
    sources:
      {{- with $wallet.tokenSecret }}
      - secret:
          name: {{ .name }}
          items:
            - key: {{ .key }}
              path: token
      {{- end }}
      {{- with $wallet.caSecret }}
      - secret:
          name: {{ .name }}
          items:
            - key: {{ .key }}
              path: ca.crt
      {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fulcrum.volumeMounts" -}}
- name: settings
  mountPath: /etc/fulcrum/settings
  readOnly: true
{{- range include "fulcrum.mounted" . | fromYamlArray }}
- name: {{ .name }}
  mountPath: /etc/fulcrum/{{ .path }}
  readOnly: true
{{- end }}
{{- range $operator, $wallet := .Values.wallets }}
{{- if or $wallet.tokenSecret $wallet.caSecret }}
- name: {{ include "fulcrum.walletVolume" $operator }}
  mountPath: /etc/fulcrum/wallets/{{ $operator }}
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{/* Operators' names may hold what volumes' names may not, and be longer. */}}
{{- define "fulcrum.walletVolume" -}}
wallet-{{ . | sha256sum | trunc 16 }}
{{- end -}}

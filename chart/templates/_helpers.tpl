{{- define "deployment-watcher.name" -}}
{{- .Values.nameOverride | default .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "deployment-watcher.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "deployment-watcher.labels" -}}
{{ include "deployment-watcher.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "deployment-watcher.metadata" -}}
name: {{ include "deployment-watcher.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "deployment-watcher.labels" . | nindent 2 }}
{{- end -}}

{{- define "deployment-watcher.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Helm reads every number as a float, which it would write as 1e+06. */}}
{{- define "deployment-watcher.text" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* Not empty for a flag of the service that is on, in each way to write it. */}}
{{- define "deployment-watcher.isOn" -}}
{{- if has (toString . | lower) (list "true" "t" "1") }}on{{ end -}}
{{- end -}}

{{- define "deployment-watcher.publicUrl" -}}
{{- with .Values -}}
{{- if .settings.PUBLIC_URL }}{{ .settings.PUBLIC_URL }}
{{- else if .ingress.enabled }}{{ ternary "https" "http" .ingress.tls }}://{{ .ingress.host }}
{{- else if .httpRoute.enabled }}https://{{ .httpRoute.host }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The settings that come from a Secret or a ConfigMap, each with where its text is. */}}
{{- define "deployment-watcher.files" -}}
ARGO_TOKEN: { secretName: {{ .Values.argo.secretName | quote }} }
{{- with .Values.database.secretName }}
DATABASE_URL: { secretName: {{ . | quote }} }
{{- end }}
{{- if .Values.credentials.secretName }}
{{- range .Values.credentials.fields }}
{{ . }}: { secretName: {{ $.Values.credentials.secretName | quote }} }
{{- end }}
{{- end }}
{{- if .Values.updater.sshSecretName }}
SSH_KEY_PATH: { secretName: {{ .Values.updater.sshSecretName | quote }}, key: {{ .Values.updater.sshSecretKey | quote }} }
{{- end }}
SSH_KNOWN_HOSTS: { configMapName: {{ include "deployment-watcher.name" . }}, key: known_hosts }
{{- if .Values.config }}
CONFIG: { configMapName: {{ include "deployment-watcher.name" . }}-config, key: config.yaml }
{{- end }}
{{- with .Values.files }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* One volume for all of them: a file each, named like its setting. */}}
{{- define "deployment-watcher.fileSources" -}}
{{- range $name, $from := . }}
- {{ ternary "secret" "configMap" (hasKey $from "secretName") }}:
    name: {{ $from.secretName | default $from.configMapName }}
    items:
      - { key: {{ $from.key | default $name | quote }}, path: {{ $name }} }
{{- end }}
{{- end -}}

{{/* A setting that is itself the path of a file is given the path; any other is given as NAME_FILE. */}}
{{- define "deployment-watcher.fileVariables" -}}
{{- range $name, $_ := . }}
- name: {{ $name }}{{ if not (regexMatch "(_CA_FILE|_KEY_PATH|_KNOWN_HOSTS)$" $name) }}_FILE{{ end }}
  value: /etc/deployment-watcher/{{ $name }}
{{- end }}
{{- end -}}

{{/* Where the Pods of the service and of the migration run. */}}
{{- define "deployment-watcher.scheduling" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "deployment-watcher.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "deployment-watcher.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* What the schema cannot say: everything that is missing or wrong, at once, and before anything is changed. */}}
{{- define "deployment-watcher.check" -}}
{{- $issues := list -}}
{{- with .Values -}}
{{- if not .image.repository }}{{ $issues = append $issues "image.repository: is required: name the image that you pushed, such as registry.example.com/deployment-watcher" }}{{ end -}}
{{- if not (regexMatch "^https?://." .argo.url) }}{{ $issues = append $issues "argo.url: is required: the address of Argo CD with its scheme, such as https://argocd.example.com" }}{{ end -}}
{{- if not .argo.secretName }}{{ $issues = append $issues "argo.secretName: is required: name the Secret that has the token in its field ARGO_TOKEN" }}{{ end -}}
{{- $databases := list -}}
{{- if .database.secretName }}{{ $databases = append $databases "database.secretName" }}{{ end -}}
{{- if .files.DB_DSN }}{{ $databases = append $databases "files.DB_DSN" }}{{ end -}}
{{- if .settings.DB_HOST }}{{ $databases = append $databases "settings.DB_HOST" }}{{ end -}}
{{- if not $databases }}{{ $issues = append $issues "database.secretName: is required: name the Secret that has the address of PostgreSQL in its field DATABASE_URL" }}{{ end -}}
{{- if gt (len $databases) 1 }}{{ $issues = append $issues (printf "%s: keep one" (join ", " $databases)) }}{{ end -}}
{{- if eq (include "deployment-watcher.text" .settings.PORT) (include "deployment-watcher.text" .settings.METRICS_PORT) }}{{ $issues = append $issues "settings.METRICS_PORT: must differ from settings.PORT" }}{{ end -}}
{{- if and (include "deployment-watcher.isOn" .settings.IDP_REQUIRE_READ_AUTH) (not (include "deployment-watcher.isOn" .settings.IDP_ENABLED)) }}{{ $issues = append $issues "settings.IDP_REQUIRE_READ_AUTH: needs settings.IDP_ENABLED: without it no user can sign in to read" }}{{ end -}}
{{- $day := "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)" -}}
{{- $point := printf "%s[ \t]+([01][0-9]|2[0-3]):[0-5][0-9]" $day -}}
{{- range $index, $window := .scheduledLockdown -}}
{{- if not (regexMatch (printf "^%s[ \t]*-[ \t]*%s$" $point $point) $window) -}}
{{- $issues = append $issues (printf "scheduledLockdown[%d]: %q must be <Day> <HH:MM> - <Day> <HH:MM>, such as Fri 17:00 - Mon 08:00" $index $window) -}}
{{- else -}}
{{- $parts := regexFindAll "[A-Z][a-z]{2}|[0-9:]{5}" $window -1 -}}
{{- if and (eq (index $parts 0) (index $parts 2)) (ge (index $parts 1) (index $parts 3)) -}}
{{- $issues = append $issues (printf "scheduledLockdown[%d]: %q must end after it starts: write two windows" $index $window) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $kind := list "ingress" "httpRoute" -}}
{{- with index $.Values $kind -}}
{{- if and .enabled (not .host) }}{{ $issues = append $issues (printf "%s.host: is required with %s.enabled" $kind $kind) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) }}{{ $issues = append $issues "httpRoute.parentRefs: is required with httpRoute.enabled: name the Gateway" }}{{ end -}}
{{- if and .ingress.enabled .httpRoute.enabled (ne .ingress.host .httpRoute.host) (not .settings.PUBLIC_URL) }}{{ $issues = append $issues "settings.PUBLIC_URL: is required with two hosts: the one that links name" }}{{ end -}}
{{- end -}}
{{- with $issues }}{{ fail (printf "invalid values:\n  - %s" (join "\n  - " .)) }}{{ end -}}
{{- end -}}

{{- define "deployment-watcher.name" -}}
{{- .Values.fullnameOverride | default .Values.nameOverride | default .Release.Name | trunc 52 | trimSuffix "-" -}}
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

{{/* A registry is the first part of the name if it has a dot or a port, or is localhost. */}}
{{- define "deployment-watcher.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.global.imageRegistry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $repository "") -}}
{{- end -}}
{{- with .Values.image -}}
{{ $repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ include "deployment-watcher.text" .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "deployment-watcher.serviceAccountName" -}}
{{- with .Values.serviceAccount -}}
{{- .name | default (ternary (include "deployment-watcher.name" $) "" .create) -}}
{{- end -}}
{{- end -}}

{{/* The hosts of the Ingress with their paths: a list in YAML. */}}
{{- define "deployment-watcher.ingressHosts" -}}
{{- $root := list (dict "path" "/") -}}
{{- with .Values.ingress -}}
{{- $hosts := list -}}
{{- if .host }}{{ $hosts = append $hosts (dict "host" .host "paths" $root) }}{{ end -}}
{{- range .hosts }}{{ $hosts = append $hosts (dict "host" .host "paths" (.paths | default $root)) }}{{ end -}}
{{- toYaml $hosts -}}
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
{{- else if .ingress.enabled }}{{ ternary "https" "http" (not (empty .ingress.tls)) }}://{{ (include "deployment-watcher.ingressHosts" $ | fromYamlArray | first).host }}
{{- else if .httpRoute.enabled }}https://{{ .httpRoute.host }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The settings that come from a Secret or a ConfigMap, each with where its text is. */}}
{{- define "deployment-watcher.files" -}}
ARGO_TOKEN: { secretName: {{ .Values.argo.secretName | quote }}, key: {{ .Values.argo.secretKey | quote }} }
{{- if .Values.database.secretName }}
DATABASE_URL: { secretName: {{ .Values.database.secretName | quote }}, key: {{ .Values.database.secretKey | quote }} }
{{- end }}
{{- if .Values.database.caSecret }}
DB_CA_FILE: { secretName: {{ .Values.database.caSecret | quote }}, key: {{ .Values.database.caSecretKey | quote }} }
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

{{/* Each name of a setting that stands where the chart does not read it, with the value that sets it: a list in YAML. */}}
{{- define "deployment-watcher.misplaced" -}}
{{- $places := .Files.Get "files/settings.yaml" | fromYaml -}}
{{- range $group := list "settings" "files" }}
{{- range $name, $_ := index $.Values $group }}
{{- $place := index $places $name | default "" }}
{{- if not $place }}
- {{ printf "%s.%s: is not a setting: see docs/settings.md" $group $name | quote }}
{{- else if ne $place $group }}
- {{ printf "%s.%s: use %s instead" $group $name (include "deployment-watcher.place" (list $place $name)) | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- range $index, $variable := .Values.extraEnv }}
{{- $name := ternary $variable.name (trimSuffix "_FILE" $variable.name) (hasKey $places $variable.name) }}
{{- with index $places $name }}
- {{ printf "extraEnv[%d]: %s is a setting: use %s instead" $index $variable.name (include "deployment-watcher.place" (list . $name)) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "deployment-watcher.place" -}}
{{- $place := index . 0 -}}
{{- if has $place (list "settings" "files") }}{{ $place }}.{{ index . 1 }}{{ else }}{{ $place }}{{ end -}}
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
{{- if and .database.caSecret .files.DB_CA_FILE }}{{ $issues = append $issues "database.caSecret, files.DB_CA_FILE: keep one" }}{{ end -}}
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
{{- if and .ingress.enabled (not (or .ingress.host .ingress.hosts)) }}{{ $issues = append $issues "ingress.host: is required with ingress.enabled" }}{{ end -}}
{{- if and (kindIs "slice" .ingress.tls) .ingress.tlsSecretName }}{{ $issues = append $issues "ingress.tlsSecretName: has no effect with a list in ingress.tls: name the Secret there" }}{{ end -}}
{{- if and .httpRoute.enabled (not .httpRoute.host) }}{{ $issues = append $issues "httpRoute.host: is required with httpRoute.enabled" }}{{ end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) }}{{ $issues = append $issues "httpRoute.parentRefs: is required with httpRoute.enabled: name the Gateway" }}{{ end -}}
{{- if and .ingress.enabled .httpRoute.enabled (not (has .httpRoute.host (pluck "host" (include "deployment-watcher.ingressHosts" $ | fromYamlArray | first | default dict)))) (not .settings.PUBLIC_URL) }}{{ $issues = append $issues "settings.PUBLIC_URL: is required with two hosts: the one that links name" }}{{ end -}}
{{- end -}}
{{- $alerts := list -}}
{{- range ($.Files.Get "files/alerts.yaml" | fromYaml).groups }}{{ range .rules }}{{ $alerts = append $alerts .alert }}{{ end }}{{ end -}}
{{- range $alert, $_ := .Values.prometheusRule.rules -}}
{{- if not (has $alert $alerts) }}{{ $issues = append $issues (printf "prometheusRule.rules.%s: is not an alert of the chart: see docs/alerts.md" $alert) }}{{ end -}}
{{- end -}}
{{- $issues = concat $issues (include "deployment-watcher.misplaced" . | fromYamlArray) -}}
{{- with $issues }}{{ fail (printf "invalid values:\n  - %s" (join "\n  - " .)) }}{{ end -}}
{{- end -}}

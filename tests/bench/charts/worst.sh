#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# worst.sh DIR: a chart made like the worst real ones: 30 subcharts, each with a library of 60 named templates, 400
# template files, and in each of them includes of includes and tpl calls of texts from the values, 20,000 together.
set -eu
dir=$1
subcharts=30 files=13 own=10 helpers=60

metadata() { # NAME
    printf 'apiVersion: v2\nname: %s\nversion: 1.0.0\nappVersion: "1.0"\n' "$1"
}

values() { # NAME
    cat <<END
name: $1
image: { registry: registry.example.com, repository: team/$1, tag: "{{ .Chart.AppVersion }}" }
labels: { team: "{{ .Values.name }}-team", tier: backend, release: "{{ .Release.Name }}" }
host: "{{ include \"worst.name\" . }}.{{ .Values.name }}.example.com"
ports: [ 80, 443, 8080 ]
env:
END
    for ((e = 0; e < 8; e++)); do
        echo "  VAR_$e: \"{{ include \\\"worst.name\\\" . }}-{{ .Release.Name }}-$e\""
    done
}

library() { # NAME
    for ((h = 0; h < helpers; h++)); do
        echo "{{- define \"$1.helper$h\" -}}{{ printf \"%s-%d\" .Release.Name $h | trunc 63 }}{{- end }}"
    done
}

template() { # NUMBER
    cat <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "worst.fullname" . }}-$1
  labels: {{- include "worst.labels" . | nindent 4 }}
data:
  image: {{ include "worst.image" . | quote }}
{{- range \$i, \$port := .Values.ports }}
  host-{{ \$i }}: {{ tpl \$.Values.host \$ | quote }}
  name-{{ \$port }}: {{ include "worst.fullname" \$ | trunc 40 | quote }}
{{- end }}
{{- range \$name, \$value := .Values.env }}
  {{ \$name }}: {{ include "worst.render" (dict "value" \$value "context" \$) | quote }}
{{- end }}
END
}

mkdir -p "$dir/templates"
metadata worst >"$dir/Chart.yaml"
values worst >"$dir/values.yaml"
cat >"$dir/templates/_worst.tpl" <<'END'
{{- define "worst.name" -}}{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}{{- end }}
{{- define "worst.fullname" -}}{{ printf "%s-%s" .Release.Name (include "worst.name" .) }}{{- end }}
{{- define "worst.render" -}}
{{- if contains "{{" .value }}{{ tpl .value .context }}{{ else }}{{ .value }}{{ end }}
{{- end }}
{{- define "worst.labels" -}}
app: {{ include "worst.name" . }}
{{- range $name, $value := .Values.labels }}
{{ $name }}: {{ include "worst.render" (dict "value" $value "context" $) }}
{{- end }}
{{- end }}
{{- define "worst.image" -}}
{{- with .Values.image }}{{ .registry }}/{{ .repository }}:{{ include "worst.render" (dict "value" .tag "context" $) }}{{ end }}
{{- end }}
END
for ((i = 0; i < own; i++)); do
    template "$i" >"$dir/templates/own-$i.yaml"
done
for ((s = 0; s < subcharts; s++)); do
    sub=$dir/charts/sub$s
    mkdir -p "$sub/templates"
    metadata "sub$s" >"$sub/Chart.yaml"
    values "sub$s" >"$sub/values.yaml"
    library "sub$s" >"$sub/templates/_helpers.tpl"
    for ((i = 0; i < files; i++)); do
        template "$i" >"$sub/templates/part-$i.yaml"
    done
done

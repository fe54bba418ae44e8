#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# grow.sh DIR WHAT N: a chart in which one thing is there N times: templates, subcharts, tpl, include, values, list. N 0 of
# anything is the empty chart.
set -eu
dir=$1 what=$2 n=$3
mkdir -p "$dir/templates"
printf 'apiVersion: v2\nname: grow\nversion: 1.0.0\n' >"$dir/Chart.yaml"
echo 'one: 1' >"$dir/values.yaml"
echo '{{- define "grow.one" -}}one: {{ .Values.one }}{{- end }}' >"$dir/templates/_grow.tpl"
[ "$n" -gt 0 ] || exit 0

object() { # NAME BODY
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  labels: { a: "{{ .Release.Name }}" }\ndata:\n%s\n' "$1" "$2"
}

case $what in
templates)
    for ((i = 0; i < n; i++)); do
        object "x-$i" '  {{ include "grow.one" . }}' >"$dir/templates/x-$i.yaml"
    done
    ;;
subcharts)
    for ((i = 0; i < n; i++)); do
        sub=$dir/charts/s$i
        mkdir -p "$sub/templates"
        printf 'apiVersion: v2\nname: s%s\nversion: 1.0.0\n' "$i" >"$sub/Chart.yaml"
        echo 'one: 1' >"$sub/values.yaml"
        object "{{ .Chart.Name }}" '  {{ include "grow.one" . }}' >"$sub/templates/x.yaml"
    done
    ;;
tpl) object x "{{ range until $n }}"$'\n''  k{{ . }}: {{ tpl (printf "{{ .Values.one }}-%d" (mod . 50)) $ }}'$'\n''{{- end }}' >"$dir/templates/x.yaml" ;;
include) object x "{{ range until $n }}"$'\n''  k{{ . }}: {{ include "grow.one" $ | quote }}'$'\n''{{- end }}' >"$dir/templates/x.yaml" ;;
values)
    awk -v n="$n" 'BEGIN { print "many:"; for (i = 0; i < n; i++) printf "  key%d:\n    name: value number %d\n    list: [ 1, two, \"three\" ]\n", i, i }' >>"$dir/values.yaml"
    object x '{{ toYaml .Values.many | indent 2 }}' >"$dir/templates/x.yaml"
    ;;
list) object x "{{- \$l := list }}{{ range until $n }}{{ \$l = append \$l (printf \"item %d\" .) }}{{ end }}"$'\n''  n: {{ len $l | quote }}'$'\n''{{- range $l }}'$'\n''  {{ . | replace " " "-" }}: {{ . | quote }}'$'\n''{{- end }}' >"$dir/templates/x.yaml" ;;
*) echo "grow.sh: nothing grows by the name of $what" >&2; exit 2 ;;
esac

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Charts, values and schemas that somebody made to hurt (the letters are the rows of the list of known faults of chart
# tools): each is refused within three seconds of CPU and 1 GiB of address space, and nothing appears outside of its
# folder.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
program=$(realpath "${PINTLE:-build/pintle}")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/in" && cd "$work/in" || exit 2

chart() { # NAME: a chart that is fine
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >"$1/Chart.yaml"
    printf 'a: 1\n' >"$1/values.yaml"
    printf 'a: {{ .Values.a }}\n' >"$1/templates/a.yaml"
}
# ends STATUS NAME COMMAND…: with that status in time, without a signal
ends() {
    local want=$1 name=$2 got=0
    shift 2
    output=$( (ulimit -v 1048576 -t 3; timeout -k 1 60 "$program" "$@") 2>&1 </dev/null) || got=$?
    check_eq "$name: exit status" "$got" "$want"
}
refused() { ends 1 "$@"; }

# H4: what is no file
chart pipe && rm pipe/values.yaml && mkfifo pipe/values.yaml
refused "H4 a pipe as values.yaml" template r pipe
check_has "H4 a pipe" "$output" "irregular file"
refused "H4 a pipe as values.yaml, linted" lint pipe
chart device && ln -s /dev/zero device/templates/z.yaml
refused "H4 a link to a device" template r device
chart loop && ln -s .. loop/templates/up
refused "H4 a folder that leads to itself" template r loop
chart ring && ln -s ring2 ring/ring1 && ln -s ring1 ring/ring2
refused "H4 links in a ring" template r ring
chart socketlike && ln -s /nowhere/at/all socketlike/templates/x.yaml
refused "H4 a link to nothing" template r socketlike

chart socket
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' socket/templates/s.yaml
refused "H4 a socket" template r socket
check_has "H4 a socket" "$output" "irregular file"
chart hard && ln hard/values.yaml hard/templates/v.yaml
ends 0 "H4 a second name of a file is a file" template r hard

# H9: the last of two keys, as helm reads Chart.yaml and values.yaml; indexes refuse them
chart twice && printf 'name: again\n' >>twice/Chart.yaml && printf 'a: 2\n' >>twice/values.yaml
ends 0 "H9 keys twice" template r twice
check_eq "H9 keys twice: the last one" "$output" "$(printf -- '---\n# Source: again/templates/a.yaml\na: 2')"

# H12: control characters in names and versions reach no terminal
for code in 01 07 08 1b 7f; do
    chart control
    printf 'apiVersion: v2\nname: "w\\x%sb"\nversion: "1.0.0\\x%s"\n' "$code" "$code" >control/Chart.yaml
    refused "H12 byte $code in the version" package control -d out
    check_eq "H12 byte $code is not shown" "$(printf %s "$output" | tr -cd '\001-\010\033\177' | wc -c)" 0
done

# H8: every byte in an alias
for code in 0a 20 21 22 24 25 26 27 28 2a 2b 2c 2e 2f 3a 3b 3c 3d 3f 40 5b 5c 5d 5e 60 7b 7c 7d 7e 7f 80 ff; do
    [ -d alias ] || chart alias
    printf 'apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- name: a\n  version: 1.0.0\n  alias: "x\\x%sy"\n' \
        "$code" >alias/Chart.yaml
    refused "H8 byte $code in an alias" template r alias
done

# H14, H15: values; the first is STRVALS_INDEX_MAX
chart web
ends 0 "H14 index 65535" template r web --set 'b[65535]=1'
ends 0 "H14 index 65536" template r web --set 'b[65536]=1'
refused "H14 index 65537" template r web --set 'b[65537]=1'
for index in 2147483648 9223372036854775807 99999999999999999999 -1; do
    refused "H14 index $index" template r web --set "b[$index]=1"
done
deep() { printf "a%.0s." $(seq "$1"); printf 'z=1'; }
ends 0 "H15 29 levels" template r web --set "$(deep 29)"
refused "H15 31 levels" template r web --set "$(deep 31)"
refused "H15 20000 levels" template r web --set "$(deep 20000)"

# H16, H24: null and other kinds in Chart.yaml
for line in 'maintainers: [null]' 'dependencies: [null]' 'maintainers: x' 'dependencies: {}' 'sources: {a: b}' 'keywords: 3' \
    'annotations: []' 'name: {}' 'version: []' 'dependencies: [{name: a, version: 1, import-values: 3}]'; do
    [ -d fields ] || chart fields
    printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n%s\n' "$line" >fields/Chart.yaml
    refused "H24 $line" template r fields
done

# H17, H22, H25: schemas
for schema in '[]' '3' '"x"' 'false' '{"type": 3}' '{"properties": []}' '{"required": "a"}' '{"$ref": "#/nowhere"}' \
    '{"$ref": "file:///dev/zero"}' '{"$ref": "/proc/self/environ"}' '{"$ref": "http://127.0.0.1:1/x"}' '{"type":'; do
    [ -d schema ] || chart schema
    printf '%s' "$schema" >schema/values.schema.json
    refused "H17 H25 schema $schema" template r schema
done
printf '{"$ref": "#"}' >schema/values.schema.json
refused "H22 a schema that is itself" template r schema
awk 'BEGIN { printf "{\"$ref\":\"#/d/0\",\"d\":["; for (i = 1; i < 20000; i++) printf "{\"$ref\":\"#/d/%d\"},", i; print "{\"type\":\"string\"}]}" }' \
    >schema/values.schema.json
refused "H22 20000 references in a row" template r schema

# H20: nothing in it
for text in '' '# comment' '---' ' ' '\357\273\277' '~'; do
    chart empty
    # shellcheck disable=SC2059
    printf -- "$text" >empty/Chart.yaml
    refused "H20 Chart.yaml '$text'" template r empty
done
: >empty.tgz
refused "H20 an empty archive" template r empty.tgz
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >empty/Chart.yaml && : >empty/values.yaml && : >empty/templates/a.yaml
ends 0 "H20 empty values and template" template r empty

# H26, H28: names and versions that are paths
for name in . .. ../x a/b; do
    chart named
    printf 'apiVersion: v2\nname: "%s"\nversion: 1.0.0\n' "$name" >named/Chart.yaml
    refused "H28 the name $name, packed" package named -d out
done
chart versioned
printf 'apiVersion: v2\nname: web\nversion: 1.0.0/../../x\n' >versioned/Chart.yaml
refused "H26 a path as version" package versioned -d out

# C1, section 6: deep, long and wide
awk 'BEGIN { for (i = 0; i < 500000; i++) printf "["; print "" }' >deep.yaml
refused "C1 half a million brackets" template r web -f deep.yaml
awk 'BEGIN { for (i = 0; i < 500000; i++) printf "{"; print "" }' >deep.yaml
refused "C1 half a million braces" template r web -f deep.yaml
awk 'BEGIN { print "a0: &a0 [x, x]"; for (i = 1; i < 40; i++) printf "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1 }' >aliases.yaml
refused "N13 aliases of aliases" template r web -f aliases.yaml
try() { # NAME TEMPLATE
    printf '%s\n' "$2" >web/templates/a.yaml
    refused "section 6: $1" template r web
}
try "until" '{{ until 500000000 }}'
try "repeat" '{{ repeat 2000000000 "x" }}'
try "a wide number" '{{ printf "%999999999d" 1 }}'
try "include of itself" '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}'
try "tpl of itself" '{{ define "x" }}{{ tpl "{{ include \"x\" . }}" . }}{{ end }}{{ include "x" . }}'
try "loops in loops" '{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}'
try "a value in itself" '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}'

check_eq "nothing outside of the folder" "$(find "$work" -mindepth 1 -maxdepth 1)" "$work/in"
check_eq "no packages" "$(find . -name '*.tgz' ! -name empty.tgz)" ""
finish

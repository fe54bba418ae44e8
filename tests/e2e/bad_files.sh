#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Archives and files that somebody made to hurt, row by row of docs/bad-input.md: each ends in time and memory, as helm ends
# where helm ends well, and nothing is written but what was asked for.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/chart_servers.sh
program=$(realpath "${PINTLE:-build/pintle}")
work=$(mktemp -d) || exit 2
swapper=
trap '[ -z "$swapper" ] || kill $swapper 2>/dev/null; servers_stop; rm -rf "$work"' EXIT
mkdir -p "$work/in/archives" "$work/home"
export HOME=$work/home
python3 tests/lib/odd_archives.py "$work/in/archives"
servers_start www "$work/in"

# ends STATUS NAME COMMAND…: with that status in time, without a signal
ends() {
    local want=$1 name=$2 got=0
    shift 2
    output=$( (ulimit -v 1048576 -t 3; timeout -k 1 60 "$program" "$@") 2>&1 </dev/null) || got=$?
    check_eq "$name: exit status" "$got" "$want"
}

# ---- archives, read where they are and from a server, unpacked, linted ---------------------------------------------------------
# Those that are fine are so for helm, too: names with %, wide dots or a blank lead nowhere, links are empty files.
fine=' bomb-below gnu-link gnu-name-twice lie-large lie-small link-device link-hard link-pipe link-symbolic link-through
path-absolute path-drive path-empty path-percent path-space path-tilde path-wide '
# What helm refuses alone, or takes alone (a name beyond 4096 bytes, 10^6 entries), is in docs/differences.md.
skipped=' pax-huge pax-no-end pax-no-number pax-zero path-nul '
cd "$work/in" || exit 2
for archive in archives/*.tgz; do
    name=$(basename "$archive" .tgz)
    case $skipped in *" $name "*) continue ;; esac
    want=1
    for known in $fine; do [ "$known" != "$name" ] || want=0; done
    case $name in path-*) row=H2 ;; link-*) row=H4 ;; bomb-* | lie-* | size-* | sparse-* | entries-*) row=H21 ;; *) row=C3 ;; esac
    ends $want "$row $name" template r "$archive"
    [ "$want" -eq 0 ] || check_has "$row $name is refused" "$output" "Error: "
    case $name in link-through) want=1 ;; esac # a file where a folder should be
    ends $want "$row $name, pulled and unpacked" pull "http://127.0.0.1:${port[www]}/archives/$name.tgz" --untar --untardir "out-$name"
    case $name in path-*) ends $want "$row $name, linted" lint "$archive" ;; esac
done
for name in $skipped; do
    (ulimit -v 1048576 -t 3; timeout 60 "$program" pull "http://127.0.0.1:${port[www]}/archives/$name.tgz" --untar --untardir "out-$name") >/dev/null 2>&1
    if [ $? -le 1 ]; then pass; else fail "$name: pulled and unpacked"; fi
done
check_eq "H2 nothing outside of the folders" "$(find "$work" /tmp/out.yaml /out.yaml \( -path "$work/in/out-*" -o -path "$work/in/archives" \) -prune -o \
    -name '*out.yaml' -print 2>/dev/null)" ""
check_eq "H4 no link, device or pipe came out" "$(find "$work/in" ! -type f ! -type d)" ""
check_eq "H2 all that came out is below web" "$(find "$work"/in/out-* -mindepth 1 -maxdepth 1 ! -name web ! -name "*.tgz")" ""

# ---- H4: files that are swapped while they are looked at ------------------------------------------------------------------------
mkdir -p web/templates
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >web/Chart.yaml
printf 'a: 1\n' >web/values.yaml
printf 'a: {{ .Values.a }}\n' >web/templates/a.yaml
python3 - web <<'P' &
import os, sys, time
chart = sys.argv[1]
def put(name, make):
    new = os.path.join(chart, "..", "next")
    make(new)
    os.rename(new, os.path.join(chart, name))
def text(words):
    def make(path):
        with open(path, "w") as f:
            f.write(words)
    return make
forms = [lambda p: os.symlink("/dev/zero", p), os.mkfifo, lambda p: os.symlink("/nowhere", p)]
until = time.monotonic() + 30
i = 0
while time.monotonic() < until:
    i += 1
    for name, good in (("values.yaml", "a: 1\n"), (".helmignore", "x\n"), ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")):
        put(name, forms[i % len(forms)])
        put(name, text(good))
P
swapper=$!
good=0 bad=0 strange=
for _ in $(seq 60); do
    got=0
    output=$(timeout 10 "$program" template r web 2>/dev/null) || got=$?
    case $got:$output in
    0:$'---\n# Source: web/templates/a.yaml\na: 1' | 0:$'---\n# Source: web/templates/a.yaml\na:') good=$((good + 1)) ;;
    1:) bad=$((bad + 1)) ;;
    *) strange="$got:$output" ;;
    esac
done
kill $swapper && wait $swapper 2>/dev/null
swapper=
check_eq "H4 swapped files: rendered, or refused" "$strange" ""
if [ $((good + bad)) -eq 60 ]; then pass; else fail "H4 swapped files" "$good good, $bad refused"; fi
rm -rf web/values.yaml web/.helmignore web/Chart.yaml
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >web/Chart.yaml
mkfifo web/.helmignore
ends 1 "H4 a pipe as .helmignore" template r web
rm web/.helmignore web/Chart.yaml && mkfifo web/Chart.yaml
for command in "template r" lint package "show chart" "dependency list"; do
    # shellcheck disable=SC2086
    ends 1 "H4 a pipe as Chart.yaml: $command" $command web
done

# ---- H3, H19, H23: what is written stays in its folder, and links in the way are not followed --------------------------------------
rm web/Chart.yaml
mkdir -p dep parent
printf 'apiVersion: v2\nname: dep\nversion: 1.0.0\n' >dep/Chart.yaml
printf 'apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n- { name: dep, version: 1.0.0, repository: "file://../dep" }\n' >parent/Chart.yaml
echo precious >"$work/in/victim"
ln -s ../victim parent/Chart.lock
"$program" dependency update parent >/dev/null 2>&1
check_eq "H23 a link as Chart.lock leads nowhere" "$(cat "$work/in/victim")" precious
rm -rf parent/charts parent/Chart.lock && mkdir -p parent/charts && ln -s ../../victim parent/charts/dep-1.0.0.tgz
"$program" dependency update parent >/dev/null 2>&1
check_eq "H23 a link as an archive leads nowhere" "$(cat "$work/in/victim")" precious
mkdir pack && ln -s ../victim pack/dep-1.0.0.tgz
"$program" package dep -d pack >/dev/null 2>&1
check_eq "H23 a link where a package goes leads nowhere" "$(cat "$work/in/victim")" precious
for name in ../dep ../../dep . .. a/b; do
    printf 'apiVersion: v2\nname: "%s"\nversion: 1.0.0\n' "$name" >dep/Chart.yaml
    printf 'apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n- { name: "%s", version: 1.0.0, repository: "file://../dep" }\n' "$name" >parent/Chart.yaml
    rm -rf parent/charts parent/Chart.lock
    ends 1 "H3 H19 a dependency named $name" dependency update parent
    check_eq "H3 H19 a dependency named $name: nothing is written" "$(find "$work" -name '*1.0.0.tgz' ! -path '*/pack/*')" ""
done

# ---- C2: tags, escapes and lines that libyaml once went wrong on ----------------------------------------------------------------
rm -f web/Chart.yaml; printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >web/Chart.yaml
printf 'a: {{ len (toYaml .Values.a) }}\n' >web/templates/a.yaml
yaml() { # STATUS NAME PYTHON: the text of a values file
    python3 -c "import sys; sys.stdout.write($3)" >values.yaml
    ends "$1" "C2 $2" template r web -f values.yaml
}
yaml 0 "a long tag" '"a: !" + "x" * 1000000 + "y\n"'
yaml 1 "a long tag with a handle" '"%TAG !e! tag:e,2000:" + "x" * 100000 + "\n---\na: !e!" + "y" * 100000 + " 1\n"'
yaml 0 "a tag of escapes" '"a: !<" + "%41" * 100000 + "> 1\n"'
yaml 1 "escapes that are cut" '"a: !<%4> 1\n"'
yaml 1 "escapes of broken UTF-8" '"a: !<%ff%fe> 1\n"'
yaml 1 "a directive without an end" '"%TAG " + "!" * 100000'
yaml 0 "an anchor without an end" '"a: &" + "x" * 1000000'
yaml 0 "a line of a megabyte" '"a: \x27" + "x " * 500000 + "y\x27\n"'
yaml 0 "a megabyte of escapes" '"a: \"" + "\\\\u00e4" * 170000 + "\"\n"'
yaml 0 "a key of a kilobyte" '"a: {" + "k" * 1000 + ": 1}\n"'
yaml 1 "a megabyte of question marks" '"? " * 500000'
yaml 1 "a megabyte of dashes" '"- " * 500000'

# ---- S4: text ---------------------------------------------------------------------------------------------------------------
text() { # STATUS NAME PYTHON: the bytes of a values file
    python3 -c "import sys; sys.stdout.buffer.write($3)" >values.yaml
    ends "$1" "S4 $2" template r web -f values.yaml
}
text 1 "broken UTF-8" 'b"a: \xff\xfe\n"'
text 1 "NUL" 'b"a: \0\n"'
text 1 "UTF-16 with its mark" '"\ufeffa: 1\n".encode("utf-16-le")'
text 0 "CRLF" 'b"a: 1\r\nb: 2\r\n"'
text 1 "tabs that indent" 'b"a:\n\tb: 1\n"'
text 0 "U+2028 in text" '"a: \"x\u2028y\"\n".encode()'
text 0 "ten megabytes in a line" 'b"a: " + b"x" * 10000000 + b"\n"'
text 0 "separators within text" 'b"a: |\n  ---\n  b\n"'
text 1 "a lone surrogate" 'b"a: \"\\ud800\"\n"'

# ---- S6: versions -----------------------------------------------------------------------------------------------------------
versions() { # STATUS NAME PYTHON: the version of a chart
    python3 -c "print('apiVersion: v2\nname: web\nversion: \"' + $3 + '\"')" >web/Chart.yaml
    ends "$1" "S6 $2" lint web
}
printf 'a: 1\n' >web/templates/a.yaml
versions 1 "10^6 parts" '"1.0.0-" + "a." * 1000000 + "a"'
versions 1 "numbers beyond 2^64" '"1.0.18446744073709551616"'
versions 0 "a leading zero" '"01.0.0"'
versions 1 "build metadata alone" '"+build"'
versions 0 "three numbers with build metadata" '"1.0.0+build"'
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: "%s"\n' "$(printf '1 || %.0s' $(seq 20000))1" >web/Chart.yaml
ends 1 "S6 a range of 20000 parts" template r web
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >web/Chart.yaml

# ---- H17: schemas -----------------------------------------------------------------------------------------------------------
python3 - "$program" <<'P' >schemas.out
import json, subprocess, sys
keywords = """type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern items
additionalItems maxItems minItems uniqueItems contains maxContains minContains maxProperties minProperties required properties
patternProperties additionalProperties dependencies dependentRequired dependentSchemas propertyNames if then else allOf anyOf oneOf
not format $ref $defs definitions $id $schema $anchor $dynamicRef prefixItems unevaluatedItems unevaluatedProperties""".split()
values = [None, True, 1, -1.5, "", "x", [], [None], [[]], {}, {"x": None}, {"x": []}]
for keyword in keywords:
    for value in values:
        with open("web/values.schema.json", "w") as f:
            json.dump({keyword: value}, f)
        status = subprocess.run([sys.argv[1], "template", "r", "web"], capture_output=True, timeout=60).returncode
        if status not in (0, 1):
            print(keyword, json.dumps(value), status)
P
check_eq "H17 each keyword with each type" "$(cat schemas.out)" ""
rm web/values.schema.json

# ---- S2: nothing of the machine -----------------------------------------------------------------------------------------------
for call in 'env "HOME"' 'expandenv "$HOME"' 'readFile "/etc/passwd"' 'exec "id"'; do
    printf 'a: {{ %s }}\n' "$call" >web/templates/a.yaml
    ends 1 "S2 $call" template r web
    check_has "S2 $call" "$output" "not defined"
done
cp "$work/in/victim" outside
printf 'a: "{{ .Files.Get "../outside" }}{{ .Files.Get "/etc/hostname" }}{{ getHostByName "localhost" }}{{ lookup "v1" "Secret" "" "" }}"\n' >web/templates/a.yaml
ends 0 "S2 no socket, no file" template r web
check_has "S2 no socket, no file" "$output" 'a: "map[]"'
finish

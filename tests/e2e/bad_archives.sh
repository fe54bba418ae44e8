#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Archives that must not be taken: the Chart says why by reason, message and one event, nothing of them is kept, other charts go
# on, and a good archive in the same place is taken.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

cases='digest|DigestMismatch|the index says sha256 0000
traversal|ChartInvalid|chart illegally references parent directory
bomb|ChartInvalid|decompressed chart is larger than the maximum size
fat|ChartInvalid|is larger than the maximum file size
empty|ChartInvalid|Chart.yaml
renamed|ChartInvalid|the archive holds chart other
cut|ChartInvalid|unexpected EOF
garbage|ChartInvalid|gzip'

mkdir -p "$work/served/bad"
echo good >"$work/served/bad.how"
python3 tests/lib/bad_archives.py "$work/served/bad"
launch bad '^serving' python3 tests/lib/bad_server.py "$work/served"
url=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/bad.out")
chart good 1.0.0 && pack good 1.0.0
dev_start
dev_serve "$work/repo" && main=$url
url=$(sed -n 's/.* at \(http.*\)/\1/p' "$work/bad.out")
namespaces team
repository main "$main" '{ name: good }'
repository bad "$url/bad" "$(while IFS="|" read -r name _; do printf '{ name: %s }, ' "$name"; done <<<"$cases")"
release calm good 1.0.0
while IFS="|" read -r name reason text; do
    refuses chart "default/$name-bad" "$reason" "$text"
done <<<"$cases"
says release team/calm True Deployed installed
there configmap pintle-system 'helm-(tmpl|crds|default)-bad' && fail "nothing of a bad archive is kept" || pass
# As for helm, links are empty files and the first part of a path is dropped: harmless, and accepted.
for name in symlink absolute; do
    cluster_ours Chart "$name-bad" "{ name: $name, repository: bad }"
    says chart "default/$name-bad" True Synced 1.0.0
done
check_eq "a link brings nothing of its target" "$("$pintle" get configmaps -n pintle-system -o yaml | grep -c root:)" 0
[ -e /tmp/outside.yaml ] || [ -e /etc/outside.yaml ] && fail "nothing is written outside" || pass

python3 tests/lib/bad_archives.py "$work/served/bad" good
while IFS="|" read -r name _; do
    says chart "default/$name-bad" True Synced 1.0.0
done <<<"$cases"
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# check_samples KUBECTL: gives tests/data/samples to the server of $KUBECONFIG, which has the CRDs and a namespace
# helm: each valid one must be accepted and keep every field, each invalid one refused with what its first line says.
# Needs tests/lib/check.sh.
check_samples() {
    local kubectl=$1 file name out
    for file in tests/data/samples/valid/*.yaml; do
        name=$(basename "$file" .yaml)
        if out=$("$kubectl" create --dry-run=server --validate=strict -o json -f "$file" 2>&1); then
            check_eq "sample $name keeps its fields" "$(sample_lost "$kubectl" "$file" "$out")" ""
        else
            fail "sample $name is accepted" "$out"
        fi
    done
    for file in tests/data/samples/invalid/*.yaml; do
        name=$(basename "$file" .yaml)
        if out=$("$kubectl" create --dry-run=server --validate=false -f "$file" 2>&1); then
            fail "sample $name is refused" "it was accepted"
        else
            check_has "sample $name is refused" "$out" "$(sed -n '1s/^# want: //p' "$file")"
        fi
    done
}

sample_lost() { # KUBECTL FILE ANSWER: paths of the file's spec that are not the same in the answer
    "$1" create --dry-run=client --validate=false -o json -f "$2" | python3 -c '
import json, sys
def lost(want, got, path):
    if isinstance(want, dict) and isinstance(got, dict):
        for k, v in want.items():
            lost(v, got.get(k, "absent"), path + "." + k)
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, v in enumerate(want):
            lost(v, got[i], f"{path}[{i}]")
    elif want != got:
        print(f"{path}: {want} became {got}")
lost(json.load(sys.stdin)["spec"], json.loads(sys.argv[1])["spec"], "spec")' "$3"
}

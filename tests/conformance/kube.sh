#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The client and the controller machinery against a real API server, under the address and thread sanitizers.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/cluster.sh
work=$(mktemp -d)
trap 'cluster_stop; rm -rf "$work"' EXIT
cluster_start "$work" || { fail "the control plane starts"; finish; exit; }
export PINTLE_TEST_KUBECONFIG=$KUBECONFIG
export ASAN_OPTIONS=allow_user_segv_handler=0

for variant in asan tsan; do
    tests=(build/$variant/tests/unit/kube/test_cluster build/$variant/tests/unit/controller/test_cluster)
    make -s -j2 VARIANT=$variant "${tests[@]}" >"$work/make.log" 2>&1 ||
        { fail "the $variant tests build" "$(tail -n 20 "$work/make.log")"; continue; }
    for test in "${tests[@]}"; do
        "$test" >"$work/test.log" 2>&1
        check_eq "$test passes" $? 0
        check_eq "$test skips nothing" "$(grep -c SKIPPED "$work/test.log")" 0
        grep -E 'ERROR|FAILED|SUMMARY|---' "$work/test.log" | head -n 20
    done
done
finish

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `template --dry-run=server` beside the real helm, both against a real kube-apiserver.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/table.sh
. tests/lib/cluster.sh
program=$(realpath "${PINTLE:-build/pintle}")
if [ ! -x "${HELM:-}" ] || [ ! -x "${PEERS:-}/kube-apiserver" ]; then
    skip dryrun 'there is no helm ($HELM), or no kube-apiserver ($PEERS)'
    finish
    exit
fi
work=$(mktemp -d) || exit 2
trap 'cluster_stop; rm -rf "$work"' EXIT
cluster_start "$work/cluster" || { fail "the control plane starts"; finish; exit; }
export TABLE_KUBECONFIG=$KUBECONFIG
table_answer server "$HELM" "$work/want" ^cluster
table_answer server "$program" "$work/got" ^cluster
table_compare "$work/want" "$work/got"
finish

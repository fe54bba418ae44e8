#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The example charts as the real helm sees them, when there is one ($HELM or helm on PATH); the vendored subchart is
# the published one.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh

check_eq "the vendored cache chart is the published one" "$(diff -r examples/charts/cache examples/charts/webapp/charts/cache 2>&1)" ""
HELM=${HELM:-$(command -v helm)}
if [ -n "$HELM" ]; then
    for chart in examples/charts/*/; do
        check_status "helm lint --strict $chart" 0 "$HELM" lint --strict "$chart"
        check_status "helm template $chart" 0 "$HELM" template demo "$chart"
    done
    check_has "the schema is applied" "$("$HELM" template demo examples/charts/webapp --set replicas=x 2>&1)" "at '/replicas': got string, want integer"
else
    skip "helm lint, helm template" "there is no helm"
fi
finish

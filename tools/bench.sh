#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench [T=name]: pintle's cost beside that of the real tools, in one run. Runs tests/bench/*.sh (those whose name has
# T), each of which finds them in $HELM and $PEERS, pintle in $PINTLE, and tests/bench/measure.c, built, in $MEASURE.
#
#   PEERS=DIR    where the real tools are or get built (default: $XDG_CACHE_HOME/pintle/peers)
#   CORPUS=DIR   real charts, for the scripts that read them
#   RUNS=15      alternating runs of each pair; what is printed are medians
set -u
cd "$(dirname "$0")/.." || exit 2
export PEERS=${PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/peers}
export HELM=$PEERS/helm
export PINTLE=${PINTLE:-$PWD/build/pintle}
export MEASURE=$PWD/build/bench/measure
export RUNS=${RUNS:-15}

tools/packages.sh test && make -s -j2 all >&2 || exit 1
mkdir -p build/bench
"${CC:-cc}" -O2 -D_GNU_SOURCE -o "$MEASURE" tests/bench/measure.c || exit 1
if ! tools/peers.sh "$PEERS"; then
    echo "SKIP bench: the real tools are missing"
    exit 0
fi
failed=0
for script in tests/bench/*"${T:-}"*.sh; do
    [ -f "$script" ] || { echo "no script has ${T:-} in its name" >&2; exit 2; }
    echo "== $(basename "$script" .sh)"
    "$script" </dev/null || failed=1
done
exit $failed

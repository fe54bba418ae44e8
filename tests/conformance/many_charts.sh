#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 2,048 Charts of one index of 20 MB: one download, one parse, each archive once.
set -u
cd "$(dirname "$0")/../.." || exit 2
CHARTS=${CHARTS:-2048} BYTES=${BYTES:-20000000} exec tests/e2e/many_charts.sh

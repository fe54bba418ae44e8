#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every chart of the corpus with its default values, when there is a corpus: see tests/conformance/corpus.sh.
exec bash "$(dirname "$0")/../conformance/corpus.sh" -q

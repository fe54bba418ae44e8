#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The gates that take seconds, as one script of tests/run.sh.
exec "$(dirname "$0")/run.sh" fast

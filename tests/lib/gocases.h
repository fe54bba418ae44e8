/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gocases: files of inputs and what Go's libraries answered, as `yamloracle table` writes them: a line with an operation's
 * letter and the input, a line "= " and the answer ("error: " and the text of an error), both in Go's quotes. */
#include "base/buf.h"
#include "base/err.h"

/* Answers one input into `out`, or fails. */
typedef int (*gocases_fn)(char op, struct str text, struct buf *out, struct err **err);
/* Compares all cases of tests/data/<path>; fails with the input of the first that differs, or below `min` cases. */
void assert_go_cases(const char *path, size_t min, gocases_fn answer);

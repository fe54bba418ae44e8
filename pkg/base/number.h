/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* number: numbers as text the way Go's strconv does it. No locale is involved. */
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* strconv.FormatFloat(v, verb, precision, bits): verb e E f F g G b x X, precision -1 for the shortest text that
 * reads back equal, bits 32 or 64. NaN, +Inf, -Inf as Go prints them. */
void number_format_float(double v, char verb, int precision, int bits, struct buf *out);

/* strconv.ParseFloat(s, bits): decimal and hexadecimal forms, "inf", "nan", underscores between digits.
 * Returns false on a syntax error; out of range yields ±Inf with *ret_range true (may be NULL). */
bool number_parse_float(struct str s, int bits, double *ret, bool *ret_range);

enum number_result { NUMBER_OK, NUMBER_SYNTAX, NUMBER_RANGE };
/* strconv.ParseInt / ParseUint: base 0 (prefixes 0x 0o 0b 0 and underscores) or 2 to 36. On RANGE *ret is the nearest
 * bound. `bits` 8 to 64. */
enum number_result number_parse_int(struct str s, int base, int bits, int64_t *ret);
enum number_result number_parse_uint(struct str s, int base, int bits, uint64_t *ret);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* decimal: exact decimal numbers, as shopspring/decimal 1.4.0 computes what sprig's addf, mulf, divf … print. On
 * OpenSSL's big integers. Private to the module. */
#include "base/err.h"

struct bignum_st;

struct decimal { /* value * 10^exp */
    struct bignum_st *value;
    int64_t exp;
};

#define DECIMAL_BITS_MAX 262144 /* of a value; what exceeds them is LIMIT */

/* TEMPLATE for NaN and infinities, with upstream's text. */
NODISCARD int decimal_from_float(double f, struct decimal *ret, struct err **err);
void decimal_done(struct decimal *d); /* d may be zeroed */
DEFINE_CLEANUP_VALUE(struct decimal, decimal_done)
double decimal_to_float(const struct decimal *d); /* the nearest one */

/* Each replaces *a. */
NODISCARD int decimal_add(struct decimal *a, const struct decimal *b, struct err **err);
NODISCARD int decimal_sub(struct decimal *a, const struct decimal *b, struct err **err);
NODISCARD int decimal_mul(struct decimal *a, const struct decimal *b, struct err **err);
/* Rounded to 16 places, half away from zero. TEMPLATE "decimal division by 0". */
NODISCARD int decimal_div(struct decimal *a, const struct decimal *b, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* quantity: resource amounts ("500m", "1.5Gi") as apimachinery/pkg/api/resource reads and prints them. */
#include "base/buf.h"
#include "base/str.h"

enum api_quantity_format { API_QUANTITY_DECIMAL, API_QUANTITY_BINARY, API_QUANTITY_EXPONENT };

struct api_quantity {
    __int128 n;   /* the amount is n * 10^exponent */
    int exponent; /* -9 to 18 */
    enum api_quantity_format format;
};

/* False when it is not one. Amounts below a nano are rounded up, as there. */
bool api_quantity_parse(struct str s, struct api_quantity *ret);
void api_quantity_print(struct api_quantity q, struct buf *out); /* canonical form */
int api_quantity_cmp(struct api_quantity a, struct api_quantity b);
#define API_QUANTITY_RULE \
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

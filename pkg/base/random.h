/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* random: bytes nobody can guess, unless a test seeds them. Safe from any thread. */
#include "base/base.h"

void random_bytes(void *p, size_t n);
uint32_t random_below(uint32_t n); /* 0 to n - 1, evenly; n > 0 */
double random_unit(void);          /* 0 <= x < 1 */
void random_uuid(char out[37]);    /* version 4, NUL-terminated */
/* From now on the same sequence in every run; 0 goes back to the system's. For tests, from one thread. */
void random_seed(uint64_t seed);

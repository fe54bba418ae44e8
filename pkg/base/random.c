/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t state; /* 0: the system's generator */

void random_seed(uint64_t seed)
{
    atomic_store(&state, seed);
}

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators"). */
static uint64_t next(void)
{
    uint64_t z = atomic_fetch_add(&state, 0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_bytes(void *p, size_t n)
{
    unsigned char *to = p;

    if (!atomic_load(&state)) {
        arc4random_buf(p, n);
        return;
    }
    for (size_t i = 0; i < n; i += 8) {
        uint64_t v = next();

        memcpy(to + i, &v, MIN(n - i, (size_t)8));
    }
}

uint32_t random_below(uint32_t n)
{
    if (!atomic_load(&state))
        return arc4random_uniform(n);
    return (uint32_t)(next() % n);
}

double random_unit(void)
{
    uint64_t v;

    random_bytes(&v, sizeof(v));
    return (double)(v >> 11) * 0x1.0p-53;
}

void random_uuid(char out[37])
{
    unsigned char b[16];

    random_bytes(b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* shortest: the fewest decimal digits that read back as the same number, from the C++ standard library. */
#ifdef __cplusplus
extern "C" {
#endif
#include <stddef.h>

/* `v` finite. Writes "d.ddde±xx" (not NUL-terminated) and returns its length; `n` at least 32. */
size_t shortest_double(double v, char *out, size_t n);
size_t shortest_float(float v, char *out, size_t n);
#ifdef __cplusplus
}
#endif

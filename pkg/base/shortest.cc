/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shortest.h"

#include <charconv>

size_t shortest_double(double v, char *out, size_t n)
{
    return (size_t)(std::to_chars(out, out + n, v, std::chars_format::scientific).ptr - out);
}

size_t shortest_float(float v, char *out, size_t n)
{
    return (size_t)(std::to_chars(out, out + n, v, std::chars_format::scientific).ptr - out);
}

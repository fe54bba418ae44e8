/* SPDX-License-Identifier: Apache-2.0 */
/* The order of keys: go.yaml.in/yaml v2 and v3, sorter.go. */
#include <utf8proc.h>

#include "base/utf8.h"
#include "yaml/yaml_int.h"

static bool is_letter(uint32_t rune)
{
    utf8proc_category_t c;

    if (rune < 0x80)
        return ascii_is_alpha((char)rune);
    c = utf8proc_category((utf8proc_int32_t)rune);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

static bool is_digit(uint32_t rune)
{
    if (rune < 0x80)
        return ascii_is_digit((char)rune);
    return utf8proc_category((utf8proc_int32_t)rune) == UTF8PROC_CATEGORY_ND;
}

/* Go converts to []rune first: an invalid byte is U+FFFD. */
static uint32_t rune_at(struct str s, size_t at, size_t *width)
{
    uint32_t rune;

    *width = utf8_decode(str_sub(s, at, s.n), &rune);
    return rune == UTF8_INVALID ? 0xfffd : rune;
}

static size_t rune_before(struct str s, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)s.p[at] & 0xc0) == 0x80);
    return at;
}

/* Where the two first differ, at the start of a rune. */
static size_t first_difference(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n), i = 0;

    while (i < n && a.p[i] == b.p[i])
        i++;
    while (i > 0 && i < n &&
           (((unsigned char)a.p[i] & 0xc0) == 0x80 || ((unsigned char)b.p[i] & 0xc0) == 0x80))
        i--;
    return i;
}

/* Does a digit other than 0 stand in the run of digits that ends before `at`? */
static bool after_digits(struct str s, size_t at)
{
    size_t width;

    while (at > 0) {
        uint32_t rune;

        at = rune_before(s, at);
        rune = rune_at(s, at, &width);
        if (!is_digit(rune))
            return false;
        if (rune != '0')
            return true;
    }
    return false;
}

/* The number that begins at `at`, wrapping as int64 does, and how many digits it has. */
static int64_t number_at(struct str s, size_t at, int64_t n, size_t *ret_digits)
{
    size_t width;

    for (*ret_digits = 0; at < s.n; at += width, ++*ret_digits) {
        uint32_t rune = rune_at(s, at, &width);

        if (!is_digit(rune))
            break;
        n = (int64_t)((uint64_t)n * 10 + (uint64_t)rune - '0');
    }
    return n;
}

static bool key_less(struct str a, struct str b, bool v3)
{
    size_t at = first_difference(a, b), width, a_digits, b_digits;
    uint32_t x, y;
    bool x_letter, y_letter;
    int64_t n = 0, m;

    if (at == a.n || at == b.n)
        return a.n < b.n;
    x = rune_at(a, at, &width);
    y = rune_at(b, at, &width);
    x_letter = is_letter(x);
    y_letter = is_letter(y);
    if (x_letter && y_letter)
        return x < y;
    if (x_letter || y_letter) {
        bool digits = v3 && at > 0 && is_digit(rune_at(a, rune_before(a, at), &width));

        return digits ? x_letter : y_letter;
    }
    if ((x == '0' || y == '0') && after_digits(a, at))
        n = 1;
    m = number_at(b, at, n, &b_digits);
    n = number_at(a, at, n, &a_digits);
    if (n != m)
        return n < m;
    if (a_digits != b_digits)
        return a_digits < b_digits;
    return x < y;
}

static void merge_sort(const struct value_entry *e, bool v3, uint32_t *order, uint32_t *tmp, size_t n)
{
    size_t half = n / 2, i = 0, j = half, k = 0;

    if (n <= 12) {
        for (i = 1; i < n; i++) {
            uint32_t x = order[i];

            for (j = i; j > 0 && key_less(e[x].key, e[order[j - 1]].key, v3); j--)
                order[j] = order[j - 1];
            order[j] = x;
        }
        return;
    }
    merge_sort(e, v3, order, tmp, half);
    merge_sort(e, v3, order + half, tmp, n - half);
    if (!key_less(e[order[half]].key, e[order[half - 1]].key, v3))
        return;
    while (i < half && j < n)
        tmp[k++] = key_less(e[order[j]].key, e[order[i]].key, v3) ? order[j++] : order[i++];
    while (i < half)
        tmp[k++] = order[i++];
    memcpy(order, tmp, k * sizeof(*order));
}

void yml_sort_keys(struct value map, bool v3, uint32_t *order, uint32_t *tmp)
{
    uint32_t n = map.map->n;

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (map.type != VALUE_TYPE_STRUCT || !v3)
        merge_sort(map.map->e, v3, order, tmp, n);
}

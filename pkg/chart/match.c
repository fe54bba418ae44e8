/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "chart/chart_int.h"

/* Go's path/filepath.Match: '*' and '?' do not cross '/', [a-z], [^a], '\' escapes. */

/* The text up to the next '*' outside of brackets. */
static struct str take_chunk(struct str *pattern, bool *star)
{
    bool in_range = false;
    size_t i = 0;
    struct str chunk;

    *star = false;
    while (pattern->n > 0 && pattern->p[0] == '*') {
        *star = true;
        *pattern = str_sub(*pattern, 1, pattern->n);
    }
    for (; i < pattern->n; i++) {
        char c = pattern->p[i];

        if (c == '\\' && i + 1 < pattern->n)
            i++;
        else if (c == '[')
            in_range = true;
        else if (c == ']')
            in_range = false;
        else if (c == '*' && !in_range)
            break;
    }
    chunk = str_sub(*pattern, 0, i);
    *pattern = str_sub(*pattern, i, pattern->n);
    return chunk;
}

/* One rune of a bracket expression, escaped or not. False: malformed. */
static bool take_range_rune(struct str *chunk, uint32_t *ret)
{
    if (chunk->n == 0 || chunk->p[0] == '-' || chunk->p[0] == ']')
        return false;
    if (chunk->p[0] == '\\')
        *chunk = str_sub(*chunk, 1, chunk->n);
    if (chunk->n == 0)
        return false;
    *chunk = str_sub(*chunk, utf8_decode(*chunk, ret), chunk->n);
    return *ret != UTF8_INVALID && chunk->n > 0;
}

/* What follows '['. 1 when `rune` is in it, 0 when not, -1 when malformed. */
static int match_range(struct str *chunk, uint32_t rune)
{
    bool negated = chunk->n > 0 && chunk->p[0] == '^', found = false;
    size_t ranges = 0;

    if (negated)
        *chunk = str_sub(*chunk, 1, chunk->n);
    for (;;) {
        uint32_t low, high;

        if (chunk->n > 0 && chunk->p[0] == ']' && ranges > 0) {
            *chunk = str_sub(*chunk, 1, chunk->n);
            return found != negated;
        }
        if (!take_range_rune(chunk, &low))
            return -1;
        high = low;
        if (chunk->p[0] == '-') {
            *chunk = str_sub(*chunk, 1, chunk->n);
            if (!take_range_rune(chunk, &high))
                return -1;
        }
        found = found || (low <= rune && rune <= high);
        ranges++;
    }
}

/* Does the chunk match the start of s? 1 with *ret_rest, 0, or -1 when malformed (all of it is looked at, as in Go). */
static int match_chunk(struct str chunk, struct str s, struct str *ret_rest)
{
    bool failed = false;

    while (chunk.n > 0) {
        char c = chunk.p[0];
        uint32_t rune = 0;
        size_t width = 0;

        failed = failed || s.n == 0;
        if (!failed)
            width = utf8_decode(s, &rune);
        chunk = str_sub(chunk, 1, chunk.n);
        if (c == '[') {
            int r = match_range(&chunk, rune);

            if (r < 0)
                return -1;
            failed = failed || !r;
        } else if (c == '?') {
            failed = failed || s.p[0] == '/';
        } else {
            if (c == '\\') {
                if (chunk.n == 0)
                    return -1;
                c = chunk.p[0];
                chunk = str_sub(chunk, 1, chunk.n);
            }
            failed = failed || s.p[0] != c;
            width = 1;
        }
        if (!failed)
            s = str_sub(s, width, s.n);
    }
    *ret_rest = s;
    return !failed;
}

int chart_path_match(struct str pattern, struct str name)
{
    while (pattern.n > 0) {
        bool star, matched = false;
        struct str chunk = take_chunk(&pattern, &star), rest;
        int r;

        if (star && chunk.n == 0)
            return str_find_char(name, '/') == STR_NPOS;
        r = match_chunk(chunk, name, &rest);
        if (r < 0)
            return -1;
        if (r && (rest.n == 0 || pattern.n > 0)) {
            name = rest;
            continue;
        }
        for (size_t i = 0; star && i < name.n && name.p[i] != '/' && !matched; i++) {
            r = match_chunk(chunk, str_sub(name, i + 1, name.n), &rest);
            if (r < 0)
                return -1;
            matched = r && (pattern.n > 0 || rest.n == 0);
        }
        if (!matched) {
            /* The rest of the pattern is looked at for mistakes alone. */
            while (pattern.n > 0) {
                chunk = take_chunk(&pattern, &star);
                if (match_chunk(chunk, STR(""), &rest) < 0)
                    return -1;
            }
            return 0;
        }
        name = rest;
    }
    return name.n == 0;
}

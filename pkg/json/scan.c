/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "json/json_int.h"

/* Moves *p behind the closing quote; false when the text ends first. */
static bool skip_string(struct json_scan *s, const char **p, const char *end)
{
    while (*p < end) {
        if (s->escaped) {
            s->escaped = false;
            ++*p;
            continue;
        }
        *p = json_find_special(*p, end);
        if (*p == end)
            break;
        s->escaped = **p == '\\';
        s->in_string = **p != '"';
        ++*p;
        if (!s->in_string)
            return true;
    }
    return false;
}

static bool ends_scalar(char c)
{
    return json_is_space(c) || ascii_is_one_of(c, ",:{}[]\"");
}

enum seen { SEEN_INSIDE, SEEN_END, SEEN_BEFORE_END, SEEN_ERROR };

/* One byte outside of strings. */
static enum seen take_byte(struct json_scan *s, char c)
{
    bool scalar = s->started && s->depth == 0;

    if (scalar && ends_scalar(c))
        return SEEN_BEFORE_END;
    switch (c) {
    case ' ':
    case '\n':
    case '\t':
    case '\r':
        return SEEN_INSIDE;
    case '{':
    case '[':
        s->depth++;
        break;
    case '}':
    case ']':
        if (s->depth == 0)
            return SEEN_ERROR;
        s->depth--;
        return s->depth == 0 ? SEEN_END : SEEN_INSIDE;
    case ',':
    case ':':
        return s->depth == 0 ? SEEN_ERROR : SEEN_INSIDE;
    case '"':
        s->in_string = true;
        break;
    default:
        break;
    }
    s->started = true;
    return SEEN_INSIDE;
}

int json_scan_value(struct json_scan *s, struct str text, size_t *ret_end, struct err **err)
{
    const char *p = text.p + s->at, *end = text.p + text.n;

    while (p < end) {
        if (s->in_string) {
            if (skip_string(s, &p, end) && s->depth == 0) {
                *ret_end = (size_t)(p - text.p);
                *s = (struct json_scan){ 0 };
                return 1;
            }
            continue;
        }
        switch (take_byte(s, *p)) {
        case SEEN_INSIDE:
            p++;
            break;
        case SEEN_END:
            p++;
            __attribute__((fallthrough));
        case SEEN_BEFORE_END:
            *ret_end = (size_t)(p - text.p);
            *s = (struct json_scan){ 0 };
            return 1;
        case SEEN_ERROR:
            return json_fail_char(err, *p, "looking for beginning of value");
        }
        if (s->depth > JSON_DEPTH_MAX)
            return err_set(err, ERRC_LIMIT, "exceeded max depth");
    }
    s->at = text.n;
    return 0;
}

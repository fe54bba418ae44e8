/* SPDX-License-Identifier: Apache-2.0 */
#include "semver/semver.h"

#include <assert.h>

#include "base/number.h"
#include "semver/semver_int.h"

/* The texts are upstream's: charts' users search for them. */
#define INVALID_VERSION "invalid semantic version"
#define TOO_LONG "version string is too long (max 256 bytes)"
#define STARTS_ZERO "version segment starts with 0"

static bool is_ident_char(char c)
{
    return ascii_is_alnum(c) || c == '-';
}

static size_t semver_scan_digits(struct str s, size_t at)
{
    size_t i = at;

    while (i < s.n && ascii_is_digit(s.p[i]))
        i++;
    return i - at;
}

size_t semver_scan_idents(struct str s, size_t at)
{
    size_t i = at;

    for (;;) {
        size_t start = i;

        while (i < s.n && is_ident_char(s.p[i]))
            i++;
        if (i == start)
            return i == at ? 0 : i - 1 - at; /* the dot before is not ours */
        if (i >= s.n || s.p[i] != '.')
            return i - at;
        i++;
    }
}

static int check_prerelease(struct str pre, struct err **err)
{
    struct str id;

    while (str_split(&pre, '.', &id)) {
        size_t digits = semver_scan_digits(id, 0);

        if (id.n == 0)
            return err_set(err, ERRC_PARSE, "invalid prerelease string");
        if (digits == id.n && id.n > 1 && id.p[0] == '0')
            return err_set(err, ERRC_PARSE, STARTS_ZERO);
        for (size_t i = 0; i < id.n; i++)
            if (!is_ident_char(id.p[i]))
                return err_set(err, ERRC_PARSE, "invalid prerelease string");
    }
    return 0;
}

static int check_metadata(struct str metadata, struct err **err)
{
    struct str id;

    while (str_split(&metadata, '.', &id)) {
        bool ok = id.n > 0;

        for (size_t i = 0; i < id.n; i++)
            ok = ok && is_ident_char(id.p[i]);
        if (!ok)
            return err_set(err, ERRC_PARSE, "invalid metadata string");
    }
    return 0;
}

/* strconv.ParseUint's failures, with `before` in front. */
static int parse_segment(struct str digits, const char *before, uint64_t *ret, struct err **err)
{
    enum number_result r = number_parse_uint(digits, 10, 64, ret);

    if (r == NUMBER_OK)
        return 0;
    return err_set(err, ERRC_PARSE, "%sstrconv.ParseUint: parsing \"" STR_FMT "\": %s", before,
                   STR_ARG(digits), r == NUMBER_RANGE ? "value out of range" : "invalid syntax");
}

/* Cuts v?N(.N)?(.N)?(-pre)?(+meta)? into pieces; false when the text is anything else. */
static bool split_loose(struct str text, struct str segments[3], struct str *pre, struct str *metadata)
{
    size_t at = text.n > 0 && text.p[0] == 'v' ? 1 : 0;

    for (size_t k = 0; k < 3; k++) {
        size_t from = k == 0 ? at : at + 1, n;

        if (k > 0 && (at >= text.n || text.p[at] != '.'))
            break;
        n = semver_scan_digits(text, from);
        if (n == 0)
            return false;
        segments[k] = str_sub(text, from, from + n);
        at = from + n;
    }
    if (at < text.n && text.p[at] == '-') {
        size_t n = semver_scan_idents(text, at + 1);

        *pre = str_sub(text, at + 1, at + 1 + n);
        at += n > 0 ? 1 + n : 0;
    }
    if (at < text.n && text.p[at] == '+') {
        size_t n = semver_scan_idents(text, at + 1);

        *metadata = str_sub(text, at + 1, at + 1 + n);
        at += n > 0 ? 1 + n : 0;
    }
    return at == text.n;
}

int semver_parse(struct str text, struct semver *ret, struct err **err)
{
    struct semver v = { .pre = STR(""), .metadata = STR(""), .original = text };
    struct str segments[3] = { STR_NONE, STR_NONE, STR_NONE };
    uint64_t *const numbers[3] = { &v.major, &v.minor, &v.patch };
    int r;

    if (text.n > SEMVER_VERSION_MAX)
        return err_set(err, ERRC_PARSE, TOO_LONG);
    if (!split_loose(text, segments, &v.pre, &v.metadata))
        return err_set(err, ERRC_PARSE, INVALID_VERSION);
    for (size_t k = 0; k < 3 && segments[k].n > 0; k++) {
        r = parse_segment(segments[k], "error parsing version segment: ", numbers[k], err);
        if (r < 0)
            return r;
    }
    if (v.pre.n > 0 && (r = check_prerelease(v.pre, err)) < 0)
        return r;
    if (v.metadata.n > 0 && (r = check_metadata(v.metadata, err)) < 0)
        return r;
    *ret = v;
    return 0;
}

static int check_strict_segments(const struct str segments[3], struct err **err)
{
    for (size_t k = 0; k < 3; k++) {
        if (semver_scan_digits(segments[k], 0) != segments[k].n)
            return err_set(err, ERRC_PARSE, "invalid characters in version");
        if (segments[k].n > 1 && segments[k].p[0] == '0')
            return err_set(err, ERRC_PARSE, STARTS_ZERO);
    }
    return 0;
}

int semver_parse_strict(struct str text, struct semver *ret, struct err **err)
{
    struct semver v = { .pre = STR(""), .metadata = STR(""), .original = text };
    uint64_t *const numbers[3] = { &v.major, &v.minor, &v.patch };
    struct str rest = text, segments[3];
    size_t at;
    int r;

    if (text.n == 0)
        return err_set(err, ERRC_PARSE, "version string empty");
    if (text.n > SEMVER_VERSION_MAX)
        return err_set(err, ERRC_PARSE, TOO_LONG);
    if (!str_split(&rest, '.', &segments[0]) || !str_split(&rest, '.', &segments[1]) || !rest.p)
        return err_set(err, ERRC_PARSE, INVALID_VERSION);
    at = str_find_char(rest, '+');
    if (at != STR_NPOS) {
        v.metadata = str_sub(rest, at + 1, rest.n);
        rest.n = at;
        r = check_metadata(v.metadata, err);
        if (r < 0)
            return r;
    }
    at = str_find_char(rest, '-');
    if (at != STR_NPOS) {
        v.pre = str_sub(rest, at + 1, rest.n);
        rest.n = at;
        r = check_prerelease(v.pre, err);
        if (r < 0)
            return r;
    }
    segments[2] = rest;
    r = check_strict_segments(segments, err);
    for (size_t k = 0; k < 3 && r == 0; k++)
        r = parse_segment(segments[k], "", numbers[k], err);
    if (r == 0)
        *ret = v;
    return r;
}

static int cmp_uint(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int cmp_ident(struct str a, struct str b)
{
    uint64_t na, nb;
    bool a_number, b_number;

    if (str_eq(a, b))
        return 0;
    if (a.n == 0 || b.n == 0)
        return a.n == 0 ? -1 : 1;
    a_number = number_parse_uint(a, 10, 64, &na) == NUMBER_OK;
    b_number = number_parse_uint(b, 10, 64, &nb) == NUMBER_OK;
    if (a_number != b_number)
        return a_number ? -1 : 1;
    if (!a_number)
        return str_cmp(a, b) > 0 ? 1 : -1;
    return na > nb ? 1 : -1;
}

int semver_cmp_prerelease(struct str a, struct str b)
{
    struct str ia, ib;
    bool more_a, more_b;

    do {
        int d;

        more_a = str_split(&a, '.', &ia);
        more_b = str_split(&b, '.', &ib);
        d = cmp_ident(more_a ? ia : STR(""), more_b ? ib : STR(""));
        if (d != 0)
            return d;
    } while (more_a || more_b);
    return 0;
}

int semver_cmp(const struct semver *a, const struct semver *b)
{
    int d = cmp_uint(a->major, b->major);

    if (d == 0)
        d = cmp_uint(a->minor, b->minor);
    if (d == 0)
        d = cmp_uint(a->patch, b->patch);
    if (d != 0 || (a->pre.n == 0 && b->pre.n == 0))
        return d;
    if (a->pre.n == 0 || b->pre.n == 0)
        return a->pre.n == 0 ? 1 : -1;
    return semver_cmp_prerelease(a->pre, b->pre);
}

void semver_format(const struct semver *v, struct buf *out)
{
    buf_addf(out, "%llu.%llu.%llu", (unsigned long long)v->major, (unsigned long long)v->minor,
             (unsigned long long)v->patch);
    if (v->pre.n > 0) {
        buf_addc(out, '-');
        buf_addstr(out, v->pre);
    }
    if (v->metadata.n > 0) {
        buf_addc(out, '+');
        buf_addstr(out, v->metadata);
    }
}

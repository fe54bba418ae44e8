/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* regex: regular expressions as Go's regexp package has them (RE2 syntax, leftmost-first, linear time), on libre2.
 *
 * Offsets are bytes of the text that was given. Invalid UTF-8 in a text matches as U+FFFD, one byte wide; in a pattern
 * it is an error. A compiled expression never changes: threads may share it. */
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REGEX_PATTERN_MAX ((size_t)65536) /* bytes of a pattern */

struct regex;

/* A new reference; equal patterns share one compiled form while it is among the last used ones. PARSE with Go's text:
 * "error parsing regexp: missing closing ): `(`"; LIMIT when the pattern or its program is too large. */
NODISCARD int regex_compile(struct str pattern, struct regex **ret, struct err **err);
struct regex *regex_unref(struct regex *re); /* re may be NULL; always returns NULL */
DEFINE_CLEANUP(struct regex *, regex_unref)

size_t regex_groups(const struct regex *re); /* capturing groups, without the whole match */
int regex_group_number(const struct regex *re, struct str name); /* the first of that name; -1 without one */
struct str regex_group_name(const struct regex *re, size_t group); /* borrowed; "" for a group without */

/* Does the expression match anywhere in the text? */
bool regex_match(const struct regex *re, struct str text);

struct regex_span {
    ptrdiff_t from, to; /* -1: the group took no part */
};

/* All matches one after the other, as Go's FindAll: an empty match right behind a match does not count.
 *     CLEANUP(regex_finder_done) struct regex_finder f = regex_find_all(re, text);
 *     while (regex_finder_next(&f, spans, ARRAY_SIZE(spans))) … */
struct regex_finder {
    const struct regex *re;
    struct str text;
    struct regex_text *fixed; /* the text with its invalid bytes replaced; NULL when it is valid */
    size_t at;
    ptrdiff_t last_end;
};
struct regex_finder regex_find_all(const struct regex *re, struct str text); /* borrows both */
bool regex_finder_next(struct regex_finder *f, struct regex_span *spans, size_t n);
void regex_finder_done(struct regex_finder *f);
DEFINE_CLEANUP_VALUE(struct regex_finder, regex_finder_done)

void regex_quote(struct str text, struct buf *out); /* regexp.QuoteMeta */

#ifdef __cplusplus
}
#endif

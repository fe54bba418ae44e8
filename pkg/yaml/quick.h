/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to yaml: the part of YAML that nearly every text of a chart keeps to, read in one pass without events.
 *
 * Block maps and lists, flow collections, comments, and scalars in all styles, each on the lines that their meaning does
 * not depend on libyaml's finer rules. Whatever is outside of that (anchors, tags, directives, tabs, odd characters,
 * every error) ends the attempt: the text then goes to libyaml from its start, which alone decides what is an error. */
#include "yaml/yaml_int.h"

#define QUICK_DEPTH_MAX 100
#define QUICK_KEY_MAX ((size_t)1000) /* libyaml's keys end at 1024 characters */

struct quick {
    const char *p, *end; /* what is left of the text */
    const char *line;    /* where the line of p starts */
    struct arena *arena;
    bool floats, keep_kinds, borrow;
    struct str const *only; /* members of the outermost map to keep; n_only 0: all */
    size_t n_only;
    size_t dropping; /* > 0: inside of something that nobody keeps */
    size_t depth;
    bool duplicates;             /* a map had a key twice */
    struct value_entry *entries; /* of all open maps and lists; keys of list items are unused */
    size_t n_entries, cap_entries;
};

/* Indentation is half of the bytes of a deep text. */
static inline const char *quick_skip_blanks(const char *p, const char *end)
{
    static const char blanks[8] = "        ";

    while (end - p >= 8 && memcmp(p, blanks, 8) == 0)
        p += 8;
    while (p < end && *p == ' ')
        p++;
    return p;
}

/* The functions below return false when they give up; p is anywhere then. */

/* Nothing but a comment may follow on the line; p to the line's end. */
bool quick_end_of_line(struct quick *q);

/* p at the quotation mark; p behind the closing one. `lines`: it may be on a later line. */
bool quick_quoted(struct quick *q, bool lines, struct str *ret);
/* p at the first byte; `indent` is the column of the container. p at the end of the scalar's last line. */
bool quick_plain(struct quick *q, long indent, struct str *ret);
/* p at "|" or ">"; p at the start of the first line behind it. */
bool quick_block(struct quick *q, long indent, struct str *ret);
/* p at the first byte of something plain in a flow collection. */
bool quick_flow_plain(struct quick *q, struct str *ret);
/* What a plain scalar means; false for a number that JSON cannot say. */
bool quick_resolve(struct quick *q, struct str text, struct value *ret);
/* The key that a plain scalar is. */
bool quick_plain_key(struct quick *q, struct str text, struct str *ret);
/* May a plain scalar start here? */
bool quick_starts_plain(const struct quick *q);
/* The bytes of text that only libyaml may judge: control characters, line breaks beyond \n, what is not UTF-8. */
bool quick_all_printable(struct str text);

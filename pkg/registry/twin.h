/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* twin: entries of an index that differ from one that was read before in a few words; private to the registry module.
 *
 * Versions of a chart are nearly the same text. Where the lines that differ hold one word each, in places whose meaning is
 * known, an entry needs not be read to be known as valid. Whatever else differs is no twin. */
#include "base/buf.h"
#include "value/value.h"

enum twin_word { TWIN_WORD_UNKNOWN, TWIN_WORD_NONE, TWIN_WORD };

struct twin_line {
    uint32_t n;      /* bytes, with the newline */
    uint32_t next;   /* of the same line in the entry that was found */
    uint32_t before; /* of its last word, when `has_word` says that it was looked for and is one */
    uint8_t behind;
    uint8_t rule;
    uint8_t word; /* enum twin_word */
};

struct index_twin {
    struct buf text; /* of the entry that others are compared with */
    struct twin_line *lines;
    size_t n_lines; /* 0: there is none */
    size_t cap_lines;
    size_t indent; /* of its dash */
};

/* Borrowed from the text that was looked at. */
struct index_twin_found {
    struct str text;
    struct str version, app_version, description; /* p NULL: as in the other entry */
};

void index_twin_done(struct index_twin *t);
DEFINE_CLEANUP_VALUE(struct index_twin, index_twin_done)
static inline void index_twin_clear(struct index_twin *t)
{
    t->n_lines = 0;
}
/* From now on entries are compared with this one: `text` is what yml_quick_parse() took for `entry`, which is valid. There is
 * none afterwards when its lines cannot be told apart for certain. */
void index_twin_set(struct index_twin *t, struct str text, struct value entry);
/* Does the text begin with a valid entry that has the same name and keywords? */
bool index_twin_match(struct index_twin *t, struct str text, struct index_twin_found *ret);
/* From now on entries are compared with the one that was found last. */
void index_twin_accept(struct index_twin *t, const struct index_twin_found *found);

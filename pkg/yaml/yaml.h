/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* yaml: text to values and back, as sigs.k8s.io/yaml 1.6 does it for Helm (go-yaml v2, then JSON), on libyaml's events.
 * The prefix is yml_: libyaml owns yaml_. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "value/value.h"

struct yml_options {
    bool floats;     /* every number becomes a float (what templates see); else integers stay exact */
    bool keep_kinds; /* 1.0 stays a float although JSON cannot tell: for texts that go into Go strings */
    bool strict;     /* duplicate keys are refused as UnmarshalStrict does */
    bool borrow;     /* the text outlives the result, whose strings may point into it */
    /* Members of the outermost map that somebody will look at, in any case of ASCII letters; the others may be missing
     * from the result. The whole text is checked all the same. n_only 0: all. */
    const struct str *only;
    size_t n_only;
};

/* The first document; empty text is null. PARSE with Go's words: "error converting YAML to JSON: yaml: line 3: …".
 * Anchors, merge keys, key stringification, 1.1 booleans and numbers as go-yaml v2. LIMIT for depth and aliases. */
NODISCARD int yml_parse(struct arena *a, struct str text, const struct yml_options *o, struct value *ret,
                        struct err **err);
/* The same of text in the plain style that charts keep to: no anchors, tags, directives, tabs, and nothing odd. False: that is not
 * certain, ask yml_parse(). */
NODISCARD bool yml_quick_parse(struct arena *a, struct str text, const struct yml_options *o,
                               struct value *ret);
/* All documents as a list (empty documents are null items). */
NODISCARD int yml_parse_all(struct arena *a, struct str text, const struct yml_options *o, struct value *ret,
                            struct err **err);

/* sigs Marshal (what toYaml and `get values` print), with the final newline. Errors as json_print(). */
NODISCARD int yml_print(struct value v, struct buf *out, struct err **err);
/* The go-yaml v3 encoder with indent 2 (toYamlPretty), with the final newline. */
NODISCARD int yml_print_pretty(struct value v, struct buf *out, struct err **err);

/* Events, for inputs too large to hold: depth and size are capped as above. */
enum yml_event_kind {
    YML_END,
    YML_DOCUMENT,
    YML_MAP,
    YML_MAP_END,
    YML_LIST,
    YML_LIST_END,
    YML_SCALAR,
    YML_ALIAS
};
struct yml_event {
    enum yml_event_kind kind;
    struct str text; /* scalar's text or alias' name; borrowed until the next call */
    struct str tag, anchor;
    bool plain;  /* unquoted, untagged: resolve it with yml_resolve() */
    size_t line; /* from 1 */
};
struct yml_reader;
/* `read` hands over the next bytes: a count above 0, 0 at the end, or a failure with err set. */
typedef int (*yml_read_fn)(void *ctx, char *to, size_t n, struct err **err);
struct yml_reader *yml_reader_new(yml_read_fn read, void *ctx) NODISCARD;
/* For large texts: `read` is called by a thread of its own, which reads some way ahead of the events, until the end of the text or
 * yml_reader_free(). */
struct yml_reader *yml_reader_new_ahead(yml_read_fn read, void *ctx) NODISCARD;
struct yml_reader *yml_reader_new_text(struct str text) NODISCARD; /* text is borrowed */
void yml_reader_free(struct yml_reader *r);
DEFINE_CLEANUP(struct yml_reader *, yml_reader_free)
NODISCARD int yml_reader_next(struct yml_reader *r, struct yml_event *ret, struct err **err);
/* The node that starts with `first` (a map, list or scalar event just read) as a value in `a`. */
NODISCARD int yml_reader_value(struct yml_reader *r, const struct yml_event *first, struct arena *a,
                               const struct yml_options *o, struct value *ret, struct err **err);
/* Would the text, written plain, be read as a string? Also false for YAML 1.1's base 60 numbers. */
bool yml_reads_as_string(struct str text);

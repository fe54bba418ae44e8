/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "yaml/node.h"
#include "yaml/quick.h"

#define WRAP "error converting YAML to JSON"

/* A document that was never decoded: its memory is gone after that. */
static NODISCARD int read_node(struct yml_reader *r, const struct yml_event *first, struct arena *a,
                               const struct yml_options *o, struct value *ret, struct err **err)
{
    struct arena *nodes = yml_reader_nodes(r, arena_limit(a));
    struct arena_mark empty = arena_mark(nodes);
    struct yml_node root;
    int got;

    got = yml_compose(r, first, nodes, a, &root, err);
    got = got < 0 ? err_wrap(err, got, WRAP) : yml_decode(a, &root, o, ret, err);
    arena_rewind(nodes, empty);
    return got;
}

/* One document, or `*ret_end`: the stream is over. Go reads up to the end of the document before it decodes. */
static NODISCARD int read_document(struct yml_reader *r, struct arena *a, const struct yml_options *o,
                                   struct value *ret, bool *ret_end, struct err **err)
{
    CLEANUP(arena_free) struct arena *nodes = arena_new(arena_limit(a));
    struct yml_event e;
    struct yml_node root;
    int got;

    got = yml_reader_step(r, &e, err);
    if (got == 0 && e.kind == YML_END) {
        *ret_end = true;
        return 0;
    }
    if (got == 0) /* behind the start of the document */
        got = yml_reader_step(r, &e, err);
    if (got == 0)
        got = yml_compose(r, &e, nodes, a, &root, err);
    if (got == 0)
        got = yml_reader_step(r, &e, err);
    if (got < 0)
        return err_wrap(err, got, WRAP);
    return yml_decode(a, &root, o, ret, err);
}

static NODISCARD int check_size(struct str text, struct err **err)
{
    if (text.n <= YAML_TEXT_MAX)
        return 0;
    return err_set(err, ERRC_LIMIT, "YAML text of %zu bytes is over the limit of %zu", text.n, YAML_TEXT_MAX);
}

int yml_parse(struct arena *a, struct str text, const struct yml_options *o, struct value *ret,
              struct err **err)
{
    struct arena_mark mark;

    assert(a && ret);
    mark = arena_mark(a);
    if (text.n <= YAML_TEXT_MAX && yml_quick_parse(a, text, o, ret))
        return 0;
    arena_rewind(a, mark);
    return yml_parse_events(a, text, o, ret, err);
}

int yml_parse_events(struct arena *a, struct str text, const struct yml_options *o, struct value *ret,
                     struct err **err)
{
    CLEANUP(yml_reader_free) struct yml_reader *r = NULL;
    struct value v = VALUE_NONE;
    bool end = false;
    int got;

    assert(a && ret);
    got = check_size(text, err);
    if (got < 0)
        return got;
    r = yml_reader_new_text(text);
    got = read_document(r, a, o, &v, &end, err);
    if (got < 0)
        return got;
    *ret = v;
    return 0;
}

int yml_parse_all(struct arena *a, struct str text, const struct yml_options *o, struct value *ret,
                  struct err **err)
{
    CLEANUP(yml_reader_free) struct yml_reader *r = NULL;
    struct value_list list = VALUE_LIST_INIT(a);
    int got;

    assert(a && ret);
    got = check_size(text, err);
    if (got < 0)
        return got;
    r = yml_reader_new_text(text);
    for (bool end = false;;) {
        struct value v = VALUE_NONE;

        got = read_document(r, a, o, &v, &end, err);
        if (got < 0)
            return got;
        if (end)
            break;
        value_list_add(&list, v);
    }
    *ret = value_list_done(&list);
    return 0;
}

int yml_reader_value(struct yml_reader *r, const struct yml_event *first, struct arena *a,
                     const struct yml_options *o, struct value *ret, struct err **err)
{
    return read_node(r, first, a, o, ret, err);
}

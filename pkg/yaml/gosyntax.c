/* SPDX-License-Identifier: Apache-2.0 */
/* Values as Go's fmt prints them with %#v: go-yaml's error texts show keys so. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "yaml/node.h"

static void print_scalar(struct value v, bool top, struct buf *out)
{
    switch (v.kind) {
    case VALUE_NULL:
        buf_adds(out, top ? "<nil>" : "interface {}(nil)");
        return;
    case VALUE_BOOL:
        buf_adds(out, v.b ? "true" : "false");
        return;
    case VALUE_INT:
        buf_addf(out, "%lld", (long long)v.i);
        return;
    case VALUE_UINT:
        buf_addf(out, "0x%llx", (unsigned long long)v.u);
        return;
    case VALUE_FLOAT:
        number_format_float(v.f, 'g', -1, 64, out);
        return;
    default:
        utf8_quote(value_str(v), out);
    }
}

struct entry {
    struct value key;
    const struct yml_node *value;
    uint32_t at;
};

/* fmt sorts keys: numbers by value, strings by bytes; of equal keys the last one is in the map. */
static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = (int)x->key.kind - (int)y->key.kind;

    if (c == 0 && x->key.kind == VALUE_INT)
        c = (x->key.i > y->key.i) - (x->key.i < y->key.i);
    else if (c == 0 && x->key.kind == VALUE_FLOAT)
        c = (x->key.f > y->key.f) - (x->key.f < y->key.f);
    else if (c == 0 && x->key.kind == VALUE_BOOL)
        c = x->key.b - y->key.b;
    else if (c == 0)
        c = str_cmp(value_str(x->key), value_str(y->key));
    return c ? c : (x->at > y->at) - (x->at < y->at);
}

static bool same_key(struct value a, struct value b)
{
    return a.kind == b.kind && value_equal(a, b);
}

static void print_node(const struct yml_node *n, struct arena *a, bool top, struct buf *out);

static void print_map(const struct yml_node *n, struct arena *a, struct buf *out)
{
    struct entry *e = ARENA_ARRAY(a, struct entry, n->n / 2 + 1);
    uint32_t count = n->n / 2;
    bool first = true;

    for (uint32_t i = 0; i < count; i++) {
        const struct yml_node *key = &n->items[2 * i];
        enum yml_tag found;

        if (key->kind == YML_NODE_ALIAS)
            key = &key->anchor->node;
        e[i] = (struct entry){ VALUE_NONE, &n->items[2 * i + 1], i };
        if (key->kind <= YML_NODE_TAGGED)
            yml_scalar_value(key, a, &e[i].key, &found);
    }
    qsort(e, count, sizeof(*e), compare_entries);
    buf_adds(out, "map[interface {}]interface {}{");
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count && same_key(e[i].key, e[i + 1].key))
            continue;
        if (!first)
            buf_adds(out, ", ");
        first = false;
        print_scalar(e[i].key, false, out);
        buf_addc(out, ':');
        print_node(e[i].value, a, false, out);
    }
    buf_addc(out, '}');
}

static void print_node(const struct yml_node *n, struct arena *a, bool top, struct buf *out)
{
    struct value v;
    enum yml_tag found;

    if (out->failed)
        return;
    if (n->kind == YML_NODE_ALIAS)
        n = &n->anchor->node;
    if (n->kind == YML_NODE_MAP) {
        print_map(n, a, out);
    } else if (n->kind == YML_NODE_LIST) {
        buf_adds(out, "[]interface {}{");
        for (uint32_t i = 0; i < n->n; i++) {
            if (i > 0)
                buf_adds(out, ", ");
            print_node(&n->items[i], a, false, out);
        }
        buf_addc(out, '}');
    } else if (n->kind <= YML_NODE_TAGGED) {
        yml_scalar_value(n, a, &v, &found);
        print_scalar(v, top, out);
    }
}

void yml_print_go(const struct yml_node *n, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    print_node(n, a, true, out);
}

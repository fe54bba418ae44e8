/* SPDX-License-Identifier: Apache-2.0 */
/* Events to nodes. Iterative: depth costs heap, not stack. */
#include <assert.h>

#include "base/map.h"
#include "yaml/node.h"

struct frame {
    size_t first; /* in composer.nodes */
    struct yml_node node;
    struct yml_anchor *anchor; /* NULL: none */
};

/* Its arrays are in the arena of nodes. */
struct composer {
    struct arena *nodes_arena, *texts;
    struct yml_node *nodes; /* of all open containers */
    size_t n_nodes, cap_nodes;
    struct frame *frames;
    size_t depth, cap_frames;
    struct map anchors; /* name: struct yml_anchor, of the last definition so far */
    struct err **err;
};

static int check_memory(struct composer *c, size_t bytes)
{
    if (arena_fits(c->nodes_arena, bytes) && arena_fits(c->texts, bytes))
        return 0;
    return err_set(c->err, ERRC_LIMIT, "yaml: document needs more than the limit of %zu bytes",
                   arena_limit(c->texts));
}

static struct yml_anchor *define_anchor(struct composer *c, struct str name, const struct yml_node *n)
{
    struct yml_anchor *a;

    if (!name.p)
        return NULL;
    a = ARENA_NEW(c->nodes_arena, struct yml_anchor);
    *a = (struct yml_anchor){ .name = arena_dup(c->nodes_arena, name), .node = *n };
    map_put(&c->anchors, name, a);
    return a;
}

static void *grow(struct composer *c, void *items, size_t *cap, size_t size)
{
    size_t had = *cap * size;

    *cap = *cap ? *cap * 2 : 32;
    return arena_grow(c->nodes_arena, items, had, *cap * size);
}

static NODISCARD int push(struct composer *c, const struct yml_node *n)
{
    if (c->n_nodes == c->cap_nodes) {
        int r = check_memory(c, c->n_nodes * sizeof(*n));

        if (r < 0)
            return r;
        c->nodes = grow(c, c->nodes, &c->cap_nodes, sizeof(*n));
    }
    c->nodes[c->n_nodes++] = *n;
    return 0;
}

static NODISCARD int add_scalar(struct composer *c, const struct yml_event *e)
{
    struct yml_node n = { .kind = YML_NODE_SCALAR, .line = (uint32_t)e->line };
    struct yml_anchor *a;

    n.merge = str_eq(e->text, STR("<<")) && (e->plain || str_eq(e->tag, STR("tag:yaml.org,2002:merge")));
    if (e->tag.n > 0) {
        struct yml_tagged *t = ARENA_NEW(c->nodes_arena, struct yml_tagged);

        *t = (struct yml_tagged){ arena_dup(c->nodes_arena, e->tag), arena_dup(c->texts, e->text) };
        n.kind = YML_NODE_TAGGED;
        n.tagged = t;
    } else {
        if (e->plain)
            yml_resolve_tag(e->text, true, &n.scalar);
        else
            n.scalar = value_from_str(e->text);
        if (n.scalar.kind == VALUE_STRING)
            n.scalar.s = arena_dup(c->texts, e->text).p;
    }
    a = define_anchor(c, e->anchor, &n);
    if (a)
        a->complete = true;
    return push(c, &n);
}

static NODISCARD int add_alias(struct composer *c, const struct yml_event *e)
{
    struct yml_node n = { .kind = YML_NODE_ALIAS, .line = (uint32_t)e->line };

    n.anchor = map_get(&c->anchors, e->text);
    if (!n.anchor)
        return err_set(c->err, ERRC_PARSE, "yaml: unknown anchor '" STR_FMT "' referenced", STR_ARG(e->text));
    return push(c, &n);
}

static void open_container(struct composer *c, const struct yml_event *e)
{
    struct frame f = { .first = c->n_nodes };

    f.node.kind = e->kind == YML_MAP ? YML_NODE_MAP : YML_NODE_LIST;
    f.node.line = (uint32_t)e->line;
    f.anchor = define_anchor(c, e->anchor, &f.node);
    if (c->depth == c->cap_frames)
        c->frames = grow(c, c->frames, &c->cap_frames, sizeof(f));
    c->frames[c->depth++] = f;
}

static NODISCARD int close_container(struct composer *c)
{
    struct yml_node *items;
    struct frame *f;
    size_t n;
    int r;

    assert(c->depth > 0 && c->frames);
    f = &c->frames[--c->depth];
    n = c->n_nodes - f->first;
    r = check_memory(c, n * sizeof(*items));
    if (r < 0)
        return r;
    items = ARENA_ARRAY(c->nodes_arena, struct yml_node, n);
    if (n > 0)
        memcpy(items, c->nodes + f->first, n * sizeof(*items));
    f->node.items = items;
    f->node.n = (uint32_t)n;
    if (f->anchor) {
        f->anchor->node = f->node;
        f->anchor->complete = true;
    }
    c->n_nodes = f->first;
    return push(c, &f->node);
}

static NODISCARD int add_event(struct composer *c, const struct yml_event *e)
{
    switch (e->kind) {
    case YML_SCALAR:
        return add_scalar(c, e);
    case YML_ALIAS:
        return add_alias(c, e);
    case YML_LIST:
    case YML_MAP:
        open_container(c, e);
        return check_memory(c, 0);
    default:
        return close_container(c);
    }
}

int yml_compose(struct yml_reader *r, const struct yml_event *first, struct arena *nodes, struct arena *texts,
                struct yml_node *ret, struct err **err)
{
    struct composer c = { .nodes_arena = nodes, .texts = texts, .anchors = MAP_INIT, .err = err };
    struct yml_event e = *first;
    int got = add_event(&c, &e);

    while (got == 0 && c.depth > 0) {
        got = yml_reader_step(r, &e, err);
        if (got == 0)
            got = add_event(&c, &e);
    }
    if (got == 0) {
        assert(c.nodes);
        *ret = c.nodes[0];
    }
    map_done(&c.anchors);
    return got;
}

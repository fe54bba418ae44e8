/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "template/func.h"

/* Values that share parts are trees that may be far larger than what they take: a visited node is at least a byte of
 * text, so a tree with more nodes cannot be printed. */
#define NODES_MAX TEMPLATE_OUTPUT_MAX

struct walk {
    struct arena *arena;
    size_t nodes;
    struct err **err;
};

static int count_node(struct walk *w, int depth)
{
    if (depth > VALUE_DEPTH_MAX)
        return err_set(w->err, ERRC_LIMIT, "values nested deeper than %d", VALUE_DEPTH_MAX);
    if (++w->nodes > NODES_MAX || arena_failed(w->arena))
        return err_set(w->err, ERRC_LIMIT, "values too large to print");
    return 0;
}

/* 1: objects or a value too deep to tell; 0: none. */
static int has_objects(struct walk *w, struct value v, int depth)
{
    struct value_iter it = value_iter(v);
    int r = count_node(w, depth);

    if (r < 0 || v.kind == VALUE_OBJECT)
        return r < 0 ? r : 1;
    while (r == 0 && (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && value_next(&it))
        if (it.v.kind >= VALUE_LIST)
            r = has_objects(w, it.v, depth + 1);
    return r;
}

static int convert(struct walk *w, struct value v, int depth, struct value *ret)
{
    const struct tpl_object *o;
    struct arena *a = w->arena;
    struct value_list list = VALUE_LIST_INIT(a);
    struct value map, item;
    int r = count_node(w, depth);

    if (r < 0)
        return r;
    *ret = v;
    if (v.kind == VALUE_OBJECT) {
        o = v.object;
        *ret = o->type->to_json ? o->type->to_json(o, a) : value_new_map(a);
    } else if (v.kind == VALUE_LIST && !(v.flags & VALUE_NIL)) {
        for (uint32_t i = 0; i < v.n && r == 0; i++) {
            r = convert(w, v.list[i], depth + 1, &item);
            if (r == 0)
                value_list_add(&list, item);
        }
        *ret = value_list_done(&list);
    } else if (v.kind == VALUE_MAP && !(v.flags & VALUE_NIL)) {
        map = value_new_map_sized(a, value_len(v));
        for (size_t i = 0; i < value_len(v) && r == 0; i++) {
            r = convert(w, value_entry_at(v, i)->v, depth + 1, &item);
            if (r == 0)
                value_append(map, value_entry_at(v, i)->key, item);
        }
        *ret = map;
    }
    return r;
}

int tpl_to_plain(struct arena *a, struct value v, struct value *ret, struct err **err)
{
    struct walk w = { a, 0, err };
    int r = has_objects(&w, v, 0);

    if (r == 0)
        *ret = v;
    if (r <= 0)
        return r;
    w.nodes = 0;
    return convert(&w, v, 0, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "template/complex.h"
#include "template/func.h"

/* Values that share parts are trees that may be far larger than what they take: a visited node is at least a byte of
 * text and one between it and the next, so a tree with more nodes cannot be printed. */
#define NODES_MAX (TEMPLATE_OUTPUT_MAX / 2 + 1)

struct walk {
    struct arena *arena;
    enum tpl_form form;
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

/* Durations are numbers for JSON alone. */
static bool is_duration(const struct walk *w, struct value v)
{
    return w->form != TPL_FORM_JSON && v.kind == VALUE_INT && v.type == TPL_TYPE_DURATION;
}

/* 1: something to convert or a value too deep to tell; 0: nothing. */
static int has_objects(struct walk *w, struct value v, int depth)
{
    struct value_iter it = value_iter(v);
    int r = count_node(w, depth);

    if (r < 0 || v.kind == VALUE_OBJECT || is_duration(w, v))
        return r < 0 ? r : 1;
    while (r == 0 && (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && value_next(&it))
        if (it.v.kind >= VALUE_LIST || it.v.type == TPL_TYPE_DURATION)
            r = has_objects(w, it.v, depth + 1);
    return r;
}

static int convert(struct walk *w, struct value v, int depth, struct value *ret);

static struct str field_name(const struct walk *w, const char *name)
{
    struct str s = str_from(name);
    char *p;

    if (w->form == TPL_FORM_TOML)
        return s;
    p = arena_alloc_bytes(w->arena, s.n);
    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_lower(s.p[i]);
    return (struct str){ p, s.n };
}

/* The exported fields, in their order. */
static int convert_struct(struct walk *w, const struct tpl_object *o, int depth, struct value *ret)
{
    struct value map = value_new_map(w->arena), field;
    const char *name;
    int r = 0;

    map.type = VALUE_TYPE_STRUCT;
    for (size_t i = 0; r == 0 && o->type->struct_field(o, i, &name, &field); i++) {
        if (name[0] >= 'a')
            continue;
        r = convert(w, field, depth + 1, &field);
        if (r == 0)
            value_append(map, field_name(w, name), field);
    }
    *ret = map;
    return r;
}

static int convert_object(struct walk *w, struct value v, int depth, struct value *ret)
{
    const struct tpl_object *o = v.object;

    if (complex_get(v))
        return err_set(w->err, w->form == TPL_FORM_YAML3 ? ERRC_TEMPLATE : ERRC_INVALID, "%scomplex128",
                       w->form == TPL_FORM_JSON    ? "json: unsupported type: "
                       : w->form == TPL_FORM_YAML3 ? "cannot marshal type: "
                                                   : "unsupported type: ");
    if (w->form != TPL_FORM_JSON && o->type->to_moment)
        *ret = o->type->to_moment(o, w->arena, w->form == TPL_FORM_TOML);
    else if (w->form != TPL_FORM_JSON && o->type->struct_field)
        return convert_struct(w, o, depth, ret);
    else
        *ret = o->type->to_json ? o->type->to_json(o, w->arena) : value_new_map(w->arena);
    return 0;
}

static int convert(struct walk *w, struct value v, int depth, struct value *ret)
{
    struct value_list list = VALUE_LIST_INIT(w->arena);
    struct value map, item;
    int r = count_node(w, depth);

    if (r < 0)
        return r;
    *ret = v;
    if (v.kind == VALUE_OBJECT) {
        r = convert_object(w, v, depth, ret);
    } else if (is_duration(w, v)) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(64);

        tpl_print_value(v, &b);
        *ret = value_from_str(arena_dup(w->arena, buf_str(&b)));
    } else if (v.kind == VALUE_LIST && !(v.flags & VALUE_NIL)) {
        for (uint32_t i = 0; i < v.n && r == 0; i++) {
            r = convert(w, v.list[i], depth + 1, &item);
            if (r == 0)
                value_list_add(&list, item);
        }
        *ret = value_list_done(&list);
    } else if (v.kind == VALUE_MAP && !(v.flags & VALUE_NIL)) {
        map = value_new_map_sized(w->arena, value_len(v));
        for (size_t i = 0; i < value_len(v) && r == 0; i++) {
            r = convert(w, value_entry_at(v, i)->v, depth + 1, &item);
            if (r == 0)
                value_append(map, value_entry_at(v, i)->key, item);
        }
        *ret = map;
    }
    return r;
}

int tpl_to_plain(struct arena *a, struct value v, enum tpl_form form, struct value *ret, struct err **err)
{
    struct walk w = { a, form, 0, err };
    int r = has_objects(&w, v, 0);

    if (r == 0)
        *ret = v;
    if (r <= 0)
        return r;
    w.nodes = 0;
    return convert(&w, v, 0, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "template/func.h"

static bool has_objects(struct value v, int depth)
{
    struct value_iter it = value_iter(v);

    if (v.kind == VALUE_OBJECT || depth > VALUE_DEPTH_MAX)
        return true;
    while ((v.kind == VALUE_MAP || v.kind == VALUE_LIST) && value_next(&it))
        if (it.v.kind >= VALUE_LIST && has_objects(it.v, depth + 1))
            return true;
    return false;
}

static int convert(struct arena *a, struct value v, int depth, struct value *ret, struct err **err)
{
    const struct tpl_object *o;
    struct value_list list = VALUE_LIST_INIT(a);
    struct value map, item;
    int r = 0;

    if (depth > VALUE_DEPTH_MAX)
        return err_set(err, ERRC_LIMIT, "values nested deeper than %d", VALUE_DEPTH_MAX);
    *ret = v;
    if (v.kind == VALUE_OBJECT) {
        o = v.object;
        *ret = o->type->to_json ? o->type->to_json(o, a) : value_new_map(a);
    } else if (v.kind == VALUE_LIST && !(v.flags & VALUE_NIL)) {
        for (uint32_t i = 0; i < v.n && r == 0; i++) {
            r = convert(a, v.list[i], depth + 1, &item, err);
            value_list_add(&list, item);
        }
        *ret = value_list_done(&list);
    } else if (v.kind == VALUE_MAP && !(v.flags & VALUE_NIL)) {
        map = value_new_map_sized(a, value_len(v));
        for (size_t i = 0; i < value_len(v) && r == 0; i++) {
            r = convert(a, value_entry_at(v, i)->v, depth + 1, &item, err);
            value_append(map, value_entry_at(v, i)->key, item);
        }
        *ret = map;
    }
    return r;
}

int tpl_to_plain(struct arena *a, struct value v, struct value *ret, struct err **err)
{
    if (!has_objects(v, 0)) {
        *ret = v;
        return 0;
    }
    return convert(a, v, 0, ret, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "release/act.h"

static bool is_entry(struct value entry, struct str manager, const char *operation)
{
    return str_eq(value_str(value_getz(entry, "manager")), manager) &&
           str_eq(value_str(value_getz(entry, "operation")), str_from(operation)) &&
           value_str(value_getz(entry, "subresource")).n == 0;
}

/* The first entry of the manager; with `api_version` set (p not NULL), the first for this version. */
static struct value find_entry(struct value fields, struct str manager, const char *operation,
                               struct str api_version)
{
    for (struct value_iter it = value_iter(fields); value_next(&it);)
        if (is_entry(it.v, manager, operation) &&
            (!api_version.p || str_eq(value_str(value_getz(it.v, "apiVersion")), api_version)))
            return it.v;
    return VALUE_NONE;
}

/* Sets of paths as fieldsV1 writes them: their union is that of the tries. */
static struct value union_of(struct arena *a, struct value x, struct value y)
{
    struct value both = value_copy_maps(a, x);

    for (struct value_iter it = value_iter(y); value_next(&it);) {
        struct value have = value_get(both, it.key);

        value_set(both, it.key, value_is_map(have) ? union_of(a, have, it.v) : it.v);
    }
    return both;
}

/* The entry that server-side apply will go on with: its own, or else the first of client-side apply under a new name, with the
 * fields of both. */
static struct value moved_entry(struct arena *a, struct value fields, struct str manager, struct value from)
{
    struct value to = value_copy_maps(a, from);
    struct value old = find_entry(fields, manager, "Update", value_str(value_getz(from, "apiVersion")));

    value_setz(to, "operation", VALUE_STR("Apply"));
    if (value_is_map(old))
        value_setz(to, "fieldsV1", union_of(a, value_getz(from, "fieldsV1"), value_getz(old, "fieldsV1")));
    return to;
}

struct value act_fields_moved(struct arena *a, struct value fields, struct str manager)
{
    struct value first = find_entry(fields, manager, "Update", STR_NONE);
    struct value from = find_entry(fields, manager, "Apply", STR_NONE);
    struct value_list out = VALUE_LIST_INIT(a);
    bool moved = false;

    if (value_is_null(first))
        return VALUE_NONE;
    if (value_is_null(from))
        from = first;
    for (struct value_iter it = value_iter(fields); value_next(&it);) {
        if (!moved && it.v.map == from.map) {
            value_list_add(&out, moved_entry(a, fields, manager, from));
            moved = true;
        } else if (!is_entry(it.v, manager, "Update")) {
            value_list_add(&out, it.v);
        }
    }
    return value_list_done(&out);
}

static struct value replace_op(struct arena *a, const char *path, struct value v)
{
    struct value op = value_new_map(a);

    value_setz(op, "op", VALUE_STR("replace"));
    value_setz(op, "path", value_from_str(str_from(path)));
    value_setz(op, "value", v);
    return op;
}

/* The resourceVersion guards it: replaced, not tested, so that the server answers with a conflict. */
static struct kube_request patch_request(struct arena *a, const struct kube_ref *ref, struct value live,
                                         struct value fields)
{
    struct value_list ops = VALUE_LIST_INIT(a);

    value_list_add(&ops, replace_op(a, "/metadata/managedFields", fields));
    value_list_add(&ops,
                   replace_op(a, "/metadata/resourceVersion", value_from_str(kube_resource_version(live))));
    return (struct kube_request){ .verb = KUBE_PATCH,
                                  .patch = KUBE_PATCH_JSON,
                                  .ref = *ref,
                                  .object = value_list_done(&ops),
                                  .field_manager = STR(RELEASE_FIELD_MANAGER) };
}

int act_fields(struct release_run *run, const struct release_objects *set, struct err **err)
{
    struct value *live = ARENA_ARRAY(run->arena, struct value, set->n);
    struct kube_request *rq = ARENA_ARRAY(run->arena, struct kube_request, set->n);
    struct kube_result *results = ARENA_ARRAY(run->arena, struct kube_result, set->n);
    size_t n = 0;
    int r = act_read_live(run, set, true, live, err), result = ACT_DONE;

    if (r < 0)
        return r;
    for (size_t i = 0; i < set->n; i++) {
        struct value fields = act_fields_moved(run->arena, value_path(live[i], "metadata.managedFields"),
                                               STR(RELEASE_FIELD_MANAGER));

        if (!value_is_null(fields))
            rq[n++] = patch_request(run->arena, &set->items[i].ref, live[i], fields);
    }
    if (n == 0)
        return ACT_DONE;
    IGNORE_ERROR(kube_do_all(run->as, run->arena, rq, n, 0, results));
    for (size_t i = 0; i < n && result == ACT_DONE; i++) {
        if (results[i].r >= 0 || results[i].r == -ERRC_NOT_FOUND)
            continue;
        if (results[i].r == -ERRC_CONFLICT) {
            run->waiting_for = STR("an object that somebody else is changing");
            result = ACT_WAIT;
            continue;
        }
        result = results[i].r;
        if (err)
            *err = TAKE(results[i].err);
    }
    kube_results_done(results, n);
    return result;
}

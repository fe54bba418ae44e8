/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/map.h"
#include "content/content.h"
#include "content/content_int.h"

static struct kube_ref part_ref(struct arena *a, struct str ns, struct str name, size_t number)
{
    return KUBE_REF("v1", "ConfigMap", ns,
                    number == 1 ? name : arena_printf(a, "%.*s.part%zu", STR_ARG(name), number));
}

/* 1 and the object; 0 when it is absent. */
static int find(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value *ret,
                struct err **err)
{
    int r = kube_get(k, a, ref, ret, err);

    if (r != -ERRC_NOT_FOUND)
        return r < 0 ? r : 1;
    err_clear(err);
    return 0;
}

/* Everything that we write is as we would write it. */
static bool covers(struct value live, struct value wanted)
{
    if (!value_is_map(wanted))
        return value_equal(live, wanted);
    for (struct value_iter it = value_iter(wanted); value_next(&it);)
        if (!covers(value_get(live, it.key), it.v))
            return false;
    return true;
}

static bool is_current(struct value live, struct value wanted)
{
    return covers(value_getz(live, "metadata"), value_getz(wanted, "metadata")) &&
           value_equal(value_getz(live, "data"), value_getz(wanted, "data")) &&
           value_equal(value_getz(live, "binaryData"), value_getz(wanted, "binaryData"));
}

static int write_part(struct kube *k, struct arena *a, struct value wanted, size_t *written, struct err **err)
{
    struct kube_ref ref = kube_ref_of(wanted);
    struct value live;
    int r = find(k, a, &ref, &live, err);

    if (r == 1 && is_current(live, wanted))
        return 0;
    if (r == 1 && !value_bool(value_getz(live, "immutable"))) {
        struct value copy = value_copy_maps(a, wanted);

        value_setz(value_getz(copy, "metadata"), "resourceVersion",
                   value_from_str(kube_resource_version(live)));
        r = kube_update(k, a, copy, NULL, err);
        (*written)++;
    } else if (r >= 0) {
        if (r == 1) {
            r = kube_delete(k, &ref, kube_uid(live), err);
            (*written)++;
        }
        if (r >= 0)
            r = kube_create(k, a, wanted, NULL, err);
        (*written)++;
    }
    return r < 0 ? err_wrap(err, r, "ConfigMap %.*s", STR_ARG(ref.name)) : 0;
}

static int delete_from(struct kube *k, struct arena *a, struct str ns, struct str name, size_t number,
                       size_t *written, struct err **err)
{
    for (; number <= CONTENT_PARTS_MAX; number++) {
        struct kube_ref ref = part_ref(a, ns, name, number);
        struct value live;
        int r = find(k, a, &ref, &live, err);

        if (r <= 0)
            return r;
        r = kube_delete(k, &ref, STR_NONE, err);
        if (r < 0)
            return err_wrap(err, r, "ConfigMap %.*s", STR_ARG(ref.name));
        (*written)++;
    }
    return 0;
}

int content_write(struct kube *k, struct arena *a, const struct content_set *set,
                  const struct content_file *files, size_t n, size_t *ret_written, size_t *ret_parts,
                  struct err **err)
{
    size_t n_parts, written = 0;
    struct value *parts = content_objects(a, set, files, n, &n_parts);
    int r = 0;

    if (n_parts > CONTENT_PARTS_MAX)
        return err_set(err, ERRC_LIMIT, "ConfigMap %.*s: %zu parts, at most %zu", STR_ARG(set->name), n_parts,
                       CONTENT_PARTS_MAX);
    for (size_t i = n_parts; i-- > 0 && r == 0;)
        r = write_part(k, a, parts[i], &written, err);
    if (r == 0 && written > 0)
        r = delete_from(k, a, set->ns, set->name, n_parts + 1, &written, err);
    if (r == 0 && ret_written)
        *ret_written = written;
    if (r == 0 && ret_parts)
        *ret_parts = n_parts;
    return r;
}

int content_read(struct kube *k, struct arena *a, struct str ns, struct str name, struct content_file **ret,
                 size_t *ret_n, struct err **err)
{
    struct kube_ref ref = part_ref(a, ns, name, 1);
    struct value *parts = ARENA_ARRAY(a, struct value, CONTENT_PARTS_MAX);
    size_t n = 1;
    int r = kube_get(k, a, &ref, &parts[0], err);

    if (r == 0)
        n = MIN(MAX(content_part_count(a, parts[0]), (size_t)1), CONTENT_PARTS_MAX);
    for (size_t i = 1; i < n && r == 0; i++) {
        ref = part_ref(a, ns, name, i + 1);
        r = kube_get(k, a, &ref, &parts[i], err);
    }
    if (r == 0)
        r = content_unpack(a, parts, n, ret, ret_n, err);
    return r < 0 ? err_wrap(err, r, "ConfigMap %.*s", STR_ARG(name)) : 0;
}

int content_delete(struct kube *k, struct arena *a, struct str ns, struct str name, struct err **err)
{
    size_t written = 0;

    return delete_from(k, a, ns, name, 1, &written, err);
}

/* A label with a number of 1 and more; 0 for anything else. */
static size_t number_of(struct value object, struct str label)
{
    int64_t n;

    return str_to_int64(kube_label(object, label), &n) && n > 0 ? (size_t)n : 0;
}

int content_delete_strays(struct kube *k, struct arena *a, struct str ns, struct value items,
                          struct value owner, struct err **err)
{
    CLEANUP(map_done) struct map sets = MAP_INIT; /* name of part 1: where it says how many there are */
    size_t *parts = ARENA_ARRAY(a, size_t, value_len(items) + 1);
    int r = 0;

    for (struct value_iter it = value_iter(items); value_next(&it);) {
        parts[it.i] = number_of(it.v, STR(CONTENT_LABEL_PARTS));
        if (number_of(it.v, STR(CONTENT_LABEL_PART)) == 1 && !kube_is_deleting(it.v))
            map_put(&sets, kube_name(it.v), &parts[it.i]);
    }
    for (struct value_iter it = value_iter(items); r == 0 && value_next(&it);) {
        size_t number = number_of(it.v, STR(CONTENT_LABEL_PART));
        struct str set = str_trim_suffix(kube_name(it.v), arena_printf(a, ".part%zu", number));
        const size_t *n = map_get(&sets, set);
        struct kube_ref ref = part_ref(a, ns, set, number);

        if (number > 1 && (!n || *n < number) && kube_is_owned_by(it.v, owner))
            r = kube_delete(k, &ref, kube_uid(it.v), err);
    }
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/gotext.h"
#include "apiserver/patch.h"
#include "base/limits.h"
#include "base/map.h"
#include "json/json.h"

/* Strategic merge, after apimachinery/pkg/util/strategicpatch: the errors are its own, with the code kube-apiserver
 * answers them with. */

#define SET_ORDER "$setElementOrder/"
#define DELETE_LIST "$deleteFromPrimitiveList/"

struct smp {
    struct arena *a;
    struct err **err;
    int depth;
};

static int merge_map(struct smp *s, struct api_ref type, struct value original, struct value patch,
                     struct value *ret);

static int fail(struct smp *s, int status, const char *fmt, ...) PRINTF(3, 4);
static int fail(struct smp *s, int status, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;
    int r;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    r = err_set(s->err, status == 500 ? ERRC_INTERNAL : ERRC_INVALID, "%s", text);
    if (s->err)
        err_set_http(*s->err, status, status == 400 ? STR("BadRequest") : STR(""), 0);
    return r;
}

static int fail_no_key(struct smp *s, struct value item, struct str key)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    api_go_print(item, &b);
    return fail(s, 500, "map: %s does not contain declared merge key: " STR_FMT, buf_z(&b), STR_ARG(key));
}

static int fail_patch_type(struct smp *s, struct value directive, struct value map)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    if (value_is_string(directive)) {
        api_go_print(directive, &b);
    } else {
        buf_addf(&b, "%%!s(%s=",
                 directive.kind == VALUE_INT    ? "int64"
                 : directive.kind == VALUE_BOOL ? "bool"
                                                : "unknown");
        api_go_print(directive, &b);
        buf_addc(&b, ')');
    }
    buf_adds(&b, " in map: ");
    api_go_print(map, &b);
    return fail(s, 500, "unknown patch type: %s", buf_z(&b));
}

/* ---- list items by key ---- */

/* What tells an item from others: its merge key's value, or itself in a list of scalars. The text is prefixed with its
 * kind: 1 and "1" differ. */
static int item_key(struct smp *s, struct value item, struct str merge_key, struct str *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);
    struct value v = item;

    if (merge_key.n > 0) {
        if (!value_is_map(item))
            return fail(s, 500, "expected a map");
        if (!value_has(item, merge_key))
            return fail_no_key(s, item, merge_key);
        v = value_get(item, merge_key);
    }
    buf_addc(&b, (char)('a' + v.kind));
    api_go_print(v, &b);
    *ret = arena_dup(s->a, buf_str(&b));
    return 0;
}

/* Position of each key's first item, plus one, in `index`. */
static int index_items(struct smp *s, struct value list, struct str merge_key, struct map *index)
{
    for (size_t i = 0; i < value_len(list); i++) {
        struct str key;
        int r = item_key(s, value_at(list, i), merge_key, &key);

        if (r < 0)
            return r;
        if (!map_has(index, key))
            map_put(index, key, (void *)(uintptr_t)(i + 1)); /* positions, not pointers */
    }
    return 0;
}

static size_t position(const struct map *index, struct str key) /* 0: not there */
{
    return (size_t)(uintptr_t)map_get(index, key);
}

struct ranked {
    struct value v;
    struct str key;
    size_t rank, at;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_by(struct ranked *items, size_t n, const struct map *order)
{
    for (size_t i = 0; i < n; i++)
        items[i] = (struct ranked){ items[i].v, items[i].key, position(order, items[i].key), i };
    qsort(items, n, sizeof(*items), compare_ranked);
}

/* Items of `merged` that `order` names come in its order, the others in the server's; an other one goes before a named
 * one only if it stood before it on the server. */
static int put_in_order(struct smp *s, struct value merged, struct value order, struct value server,
                        struct str merge_key, struct value *ret)
{
    CLEANUP(map_done) struct map by_order = MAP_INIT;
    CLEANUP(map_done) struct map by_server = MAP_INIT;
    const size_t n = value_len(merged);
    struct ranked *named = ARENA_ARRAY(s->a, struct ranked, n + 1),
                  *others = ARENA_ARRAY(s->a, struct ranked, n + 1);
    struct value *out = ARENA_ARRAY(s->a, struct value, n + 1);
    size_t n_named = 0, n_others = 0, i = 0, j = 0;
    int r;

    r = index_items(s, order, merge_key, &by_order);
    if (r >= 0)
        r = index_items(s, server, merge_key, &by_server);
    for (size_t k = 0; k < n && r >= 0; k++) {
        struct ranked item = { .v = value_at(merged, k) };

        r = item_key(s, item.v, merge_key, &item.key);
        if (r >= 0 && position(&by_order, item.key))
            named[n_named++] = item;
        else if (r >= 0)
            others[n_others++] = item;
    }
    if (r < 0)
        return r;
    sort_by(named, n_named, &by_order);
    sort_by(others, n_others, &by_server);
    for (size_t k = 0; k < n; k++) {
        bool other = j >= n_named;

        if (!other && i < n_others) {
            const size_t here = position(&by_server, others[i].key),
                         there = position(&by_server, named[j].key);

            other = here && there && here < there;
        }
        out[k] = other ? others[i++].v : named[j++].v;
    }
    *ret = value_from_list(out, n);
    return 0;
}

/* ---- lists ---- */

static int check_same_kind(struct smp *s, struct value a, struct value b, bool *ret_maps)
{
    const struct value lists[] = { a, b };
    int kind = -1;

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        for (size_t j = 0; j < value_len(lists[i]); j++) {
            const int k = value_at(lists[i], j).kind;

            if (k == VALUE_LIST)
                return fail(s, 500, "lists of lists are not supported");
            if (kind >= 0 && k != kind) {
                CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

                api_go_print(a, &text);
                buf_addc(&text, ' ');
                api_go_print(b, &text);
                return fail(s, 500, "list element types are not identical: [%s]", buf_z(&text));
            }
            kind = k;
        }
    }
    *ret_maps = kind == VALUE_MAP;
    return 0;
}

static int merge_scalars(struct smp *s, struct value original, struct value patch, bool remove,
                         struct value *ret)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    const struct value lists[] = { original, patch };
    struct value_list l = VALUE_LIST_INIT(s->a);
    int r = remove ? index_items(s, patch, STR_NONE, &seen) : 0;

    for (size_t i = 0; i < (remove ? 1 : 2) && r >= 0; i++) {
        for (size_t j = 0; j < value_len(lists[i]) && r >= 0; j++) {
            struct str key;

            r = item_key(s, value_at(lists[i], j), STR_NONE, &key);
            if (r < 0 || map_has(&seen, key))
                continue;
            if (!remove)
                map_put(&seen, key, &seen);
            value_list_add(&l, value_at(lists[i], j));
        }
    }
    if (r < 0)
        return r;
    *ret = value_list_done(&l);
    return 0;
}

static struct value without_key(struct smp *s, struct value list, struct str merge_key, struct value key)
{
    struct value_list l = VALUE_LIST_INIT(s->a);

    for (size_t i = 0; i < value_len(list); i++)
        if (!value_equal(value_get(value_at(list, i), merge_key), key))
            value_list_add(&l, value_at(list, i));
    return value_list_done(&l);
}

/* Takes the elements with directives out of *patch and carries them out on *original. */
static int apply_directives(struct smp *s, struct str merge_key, struct value *original, struct value *patch)
{
    struct value_list rest = VALUE_LIST_INIT(s->a);
    bool replace = false;

    for (size_t i = 0; i < value_len(*patch); i++) {
        const struct value item = value_at(*patch, i), directive = value_getz(item, "$patch");

        if (!value_has(item, STR("$patch"))) {
            value_list_add(&rest, item);
        } else if (str_eq(value_str(directive), STR("delete"))) {
            if (!value_has(item, merge_key))
                return fail_no_key(s, item, merge_key);
            *original = without_key(s, *original, merge_key, value_get(item, merge_key));
        } else if (str_eq(value_str(directive), STR("replace"))) {
            replace = true;
        } else if (str_eq(value_str(directive), STR("merge"))) {
            return fail(s, 500, "merging lists cannot yet be specified in the patch");
        } else {
            return fail_patch_type(s, directive, item);
        }
    }
    *patch = replace ? value_from_list(NULL, 0) : value_list_done(&rest);
    if (replace)
        *original = value_list_done(&rest);
    return 0;
}

static int merge_items(struct smp *s, struct api_ref items, struct value original, struct value patch,
                       struct str merge_key, struct value *ret)
{
    CLEANUP(map_done) struct map index = MAP_INIT;
    const size_t n = value_len(original);
    struct value *out = ARENA_ARRAY(s->a, struct value, n + value_len(patch) + 1);
    size_t n_out = n;
    int r;

    r = index_items(s, original, merge_key, &index);
    for (size_t i = 0; i < n; i++)
        out[i] = value_at(original, i);
    for (size_t i = 0; i < value_len(patch) && r >= 0; i++) {
        const struct value item = value_at(patch, i);
        struct str key;
        size_t at;

        r = item_key(s, item, merge_key, &key);
        if (r < 0)
            break;
        at = position(&index, key);
        if (at) {
            r = merge_map(s, items, out[at - 1], item, &out[at - 1]);
        } else {
            out[n_out++] = item;
            map_put(&index, key, (void *)(uintptr_t)n_out);
        }
    }
    *ret = value_from_list(out, n_out);
    return r;
}

static int merge_list(struct smp *s, struct api_ref items, struct value original, struct value patch,
                      struct str merge_key, bool remove, struct value *ret)
{
    struct value merged = VALUE_NONE;
    bool maps;
    int r;

    if (value_len(original) == 0 && value_len(patch) == 0) {
        *ret = original;
        return 0;
    }
    r = check_same_kind(s, original, patch, &maps);
    if (r < 0)
        return r;
    if (!maps && remove)
        return merge_scalars(s, original, patch, true, ret);
    if (!maps) {
        r = merge_scalars(s, original, patch, false, &merged);
        return r < 0 ? r : put_in_order(s, merged, patch, original, STR_NONE, ret);
    }
    if (merge_key.n == 0)
        return fail(s, 500, "cannot merge lists without merge key");
    r = apply_directives(s, merge_key, &original, &patch);
    if (r >= 0)
        r = merge_items(s, items, original, patch, merge_key, &merged);
    return r < 0 ? r : put_in_order(s, merged, patch, original, merge_key, ret);
}

/* ---- maps ---- */

/* A subtree that is new: directives and nulls in it have nothing to work on. False when it goes away whole. */
static bool clean(struct smp *s, struct value v, struct value *ret)
{
    if (value_is_map(v)) {
        struct value m = value_new_map_sized(s->a, value_len(v));

        if (value_has(v, STR("$patch")))
            return false;
        for (struct value_iter it = value_iter(v); value_next(&it);) {
            struct value member = it.v;

            if (!value_is_null(it.v) && clean(s, it.v, &member))
                value_append(m, it.key, member);
        }
        value_sort(m);
        *ret = m;
    } else if (value_is_list(v)) {
        struct value_list l = VALUE_LIST_INIT(s->a);

        for (size_t i = 0; i < value_len(v); i++) {
            struct value item = value_at(v, i);

            if (clean(s, item, &item))
                value_list_add(&l, item);
        }
        *ret = value_list_done(&l);
    }
    return true;
}

static int retain_keys(struct smp *s, struct value original, struct value patch)
{
    CLEANUP(map_done) struct map kept = MAP_INIT;
    const struct value keys = value_getz(patch, "$retainKeys");

    if (!value_has(patch, STR("$retainKeys")))
        return 0;
    if (!value_is_list(keys))
        return fail(s, 400, "invalid patch format of retainKeys");
    for (size_t i = 0; i < value_len(keys); i++)
        map_put(&kept, value_str(value_at(keys, i)), &kept);
    for (struct value_iter it = value_iter(patch); value_next(&it);) {
        if (value_is_null(it.v) || str_has_prefix(it.key, STR(DELETE_LIST)) ||
            str_has_prefix(it.key, STR(SET_ORDER)) || str_eq(it.key, STR("$retainKeys")))
            continue;
        if (!map_has(&kept, it.key))
            return fail(s, 400, "invalid patch format of retainKeys");
    }
    for (size_t i = value_len(original); i-- > 0;) {
        const struct str key = value_entry_at(original, i)->key;

        if (!map_has(&kept, key))
            value_unset(original, key);
    }
    return 0;
}

static bool is_directive(struct value item, const char *which)
{
    return str_eq(value_str(value_getz(item, "$patch")), str_from(which));
}

/* What the patch brings must come in the order that the patch asks for. */
static int check_order(struct smp *s, struct value patch, struct value order, struct str merge_key)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    size_t i = 0, j = 0;

    while (i < value_len(patch) && j < value_len(order)) {
        struct str a, o;
        int r;

        if (value_has(value_at(patch, i), STR("$patch"))) {
            i++;
            continue;
        }
        r = item_key(s, value_at(patch, i), merge_key, &a);
        if (r >= 0)
            r = item_key(s, value_at(order, j), merge_key, &o);
        if (r < 0)
            return r;
        i += str_eq(a, o);
        j++;
    }
    while (i < value_len(patch) && is_directive(value_at(patch, i), "delete"))
        i++;
    if (i >= value_len(patch))
        return 0;
    buf_adds(&b, "The order in patch list:\n");
    api_go_print(patch, &b);
    buf_adds(&b, "\n doesn't match $setElementOrder list:\n");
    api_go_print(order, &b);
    return fail(s, 500, "%s\n", buf_z(&b));
}

struct list_meta {
    struct api_ref items;
    struct str merge_key;
    bool merges;
};

static struct list_meta list_meta(struct api_ref type, struct str name)
{
    const struct api_field *f = api_ref_field(type, name);

    if (!f)
        return (struct list_meta){ API_REF_ANY, STR_NONE, false };
    return (struct list_meta){ api_ref_items(api_ref_of_field(type, f)),
                               str_from(api_types_text(type.of, f->smp_key)),
                               f->flags & API_FIELD_SMP_MERGE };
}

/* The live list as apimachinery sees it when it comes to ordering: merging deletes and appends within the same memory,
 * so that new elements stand where deleted ones made room. */
static int server_order(struct smp *s, struct value before, struct value change, struct str merge_key,
                        struct value *ret)
{
    CLEANUP(map_done) struct map known = MAP_INIT;
    struct value left = before;
    struct value_list l = VALUE_LIST_INIT(s->a);
    bool replaced = false;
    int r;

    for (size_t i = 0; i < value_len(change); i++) {
        const struct value item = value_at(change, i);

        replaced |= is_directive(item, "replace");
        if (is_directive(item, "delete"))
            left = without_key(s, left, merge_key, value_get(item, merge_key));
    }
    r = index_items(s, left, merge_key, &known);
    for (size_t i = 0; i < value_len(left); i++)
        value_list_add(&l, value_at(left, i));
    for (size_t i = 0; i < value_len(change) && r >= 0 && !replaced && l.n < value_len(before); i++) {
        struct str key;

        if (value_has(value_at(change, i), STR("$patch")))
            continue;
        r = item_key(s, value_at(change, i), merge_key, &key);
        if (r >= 0 && !map_put(&known, key, s))
            value_list_add(&l, value_at(change, i));
    }
    *ret = value_list_done(&l);
    return r;
}

/* "$setElementOrder/<list>": merges that list, if it is there, and orders it. */
static int merge_ordered(struct smp *s, struct api_ref type, struct str name, struct value order,
                         struct value patch, struct value original)
{
    const struct list_meta meta = list_meta(type, name);
    const struct value before = value_get(original, name), change = value_get(patch, name);
    const bool had = value_has(original, name), has = value_has(patch, name);
    struct value merged = before, server = before;
    bool maps = false;
    int r = 0;

    if (!value_is_list(order) || (had && !value_is_list(before)) || (has && !value_is_list(change)))
        return fail(s, 500, "expected a list for " STR_FMT, STR_ARG(name));
    r = check_order(s, change, order, meta.merge_key);
    if (r < 0 || (!had && !has))
        return r;
    if (!had)
        clean(s, change, &merged);
    else if (has && meta.merges)
        r = merge_list(s, meta.items, before, change, meta.merge_key, false, &merged);
    else if (has)
        merged = change;
    if (r >= 0)
        r = check_same_kind(s, before, change, &maps);
    if (r >= 0 && value_len(before) == 0 && value_len(change) == 0)
        return fail(s, 500, "no elements in any of the given slices");
    if (r >= 0 && maps && had && has && meta.merges)
        r = server_order(s, before, change, meta.merge_key, &server);
    if (r >= 0)
        r = put_in_order(s, merged, order, server, meta.merge_key, &merged);
    if (r >= 0)
        value_set(original, name, merged);
    return r;
}

static int merge_member(struct smp *s, struct api_ref type, struct str name, struct value change, bool remove,
                        struct value original)
{
    const struct value before = value_get(original, name);
    const struct api_field *f = api_ref_field(type, name);
    struct value merged = change;
    int r = 0;

    if (value_is_null(change)) {
        value_unset(original, name);
        return 0;
    }
    if (!value_has(original, name) || before.kind != change.kind ||
        (!value_is_map(change) && !value_is_list(change))) {
        if (remove)
            return 0;
        if (clean(s, change, &merged))
            value_set(original, name, merged);
        else
            value_unset(original, name);
        return 0;
    }
    if (value_is_map(change)) {
        if (!f || !(f->flags & API_FIELD_SMP_REPLACE))
            r = merge_map(s, api_ref_member(type, name, NULL), before, change, &merged);
    } else {
        const struct list_meta meta = list_meta(type, name);

        if (meta.merges || remove)
            r = merge_list(s, meta.items, before, change, meta.merge_key, remove, &merged);
    }
    if (r >= 0)
        value_set(original, name, merged);
    return r;
}

static struct value shallow_copy(struct smp *s, struct value map)
{
    struct value m = value_new_map_sized(s->a, value_len(map));

    for (struct value_iter it = value_iter(map); value_next(&it);)
        value_append(m, it.key, it.v);
    value_sort(m);
    return m;
}

static int merge_members(struct smp *s, struct api_ref type, struct value patch, struct value into)
{
    int r = retain_keys(s, into, patch);

    for (struct value_iter it = value_iter(patch); r >= 0 && value_next(&it);)
        if (str_has_prefix(it.key, STR(SET_ORDER)))
            r = merge_ordered(s, type, str_trim_prefix(it.key, STR(SET_ORDER)), it.v, patch, into);
    for (struct value_iter it = value_iter(patch); r >= 0 && value_next(&it);) {
        CLEANUP(buf_done) struct buf directive = BUF_INIT(MIB);

        if (str_has_prefix(it.key, STR(SET_ORDER)) || str_eq(it.key, STR("$retainKeys")))
            continue;
        buf_addf(&directive, SET_ORDER STR_FMT, STR_ARG(it.key));
        if (value_has(patch, buf_str(&directive)) && value_is_list(it.v))
            continue; /* done above */
        r = merge_member(s, type, str_trim_prefix(it.key, STR(DELETE_LIST)), it.v,
                         str_has_prefix(it.key, STR(DELETE_LIST)), into);
    }
    return r;
}

static int merge_map(struct smp *s, struct api_ref type, struct value original, struct value patch,
                     struct value *ret)
{
    struct value into;
    int r;

    if (value_has(patch, STR("$patch"))) {
        if (is_directive(patch, "replace")) {
            into = shallow_copy(s, patch);
            value_unset(into, STR("$patch"));
        } else if (is_directive(patch, "delete")) {
            into = value_new_map(s->a);
        } else {
            return fail_patch_type(s, value_getz(patch, "$patch"), patch);
        }
        *ret = into;
        return 0;
    }
    if (++s->depth > API_PATCH_DEPTH_MAX)
        return fail(s, 400, "exceeded max depth");
    into = shallow_copy(s, original);
    r = merge_members(s, type, patch, into);
    s->depth--;
    if (r >= 0 && arena_failed(s->a))
        return fail(s, 413, "patch too large");
    if (r >= 0)
        *ret = into;
    return r;
}

int api_patch_strategic(struct arena *a, struct api_ref type, struct value doc, struct value patch,
                        struct value *ret, struct err **err)
{
    struct smp s = { .a = a, .err = err };

    if (!value_is_map(patch))
        return api_patch_fail_type(patch, "", err);
    return merge_map(&s, type, doc, patch, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/apply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/managed.h"
#include "apiserver/schema.h"
#include "apiserver/typed.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"

/* After apimachinery/pkg/util/managedfields/internal and structured-merge-diff/merge: what is a chain of wrapped
 * managers there is one function per step here, in the same order. */

#define UPDATE_MANAGERS_MAX 10
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

struct work {
    struct arena *a;
    struct api_ref type;
    const struct api_apply_options *o;
    struct managed managed;
    const struct fieldset *reset; /* what this endpoint does not own */
    struct str now;
};

static const char *const never_owned[] = {
    "apiVersion",
    "kind",
    "metadata",
    "metadata name",
    "metadata namespace",
    "metadata creationTimestamp",
    "metadata selfLink",
    "metadata uid",
    "metadata clusterName",
    "metadata generation",
    "metadata managedFields",
    "metadata resourceVersion",
};

static int fail(struct err **err, int status, const char *fmt, ...) PRINTF(3, 4);
static int fail(struct err **err, int status, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;
    int r;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    r = err_set(err, status == 409 ? ERRC_CONFLICT : ERRC_INVALID, "%s", text);
    if (err)
        err_set_http(*err, status,
                     status == 409   ? STR("Conflict")
                     : status == 400 ? STR("BadRequest")
                                     : STR(""),
                     0);
    return r;
}

/* GetResetFields() of the kinds' strategies. */
static const struct fieldset *reset_fields(struct arena *a, struct api_ref type,
                                           const struct api_apply_options *o)
{
    static const char *const status[] = { "status" };
    static const char *const spec[] = { "spec" };
    static const char *const deployment[] = { "spec", "metadata labels" };
    static const char *const pod[] = { "spec", "metadata deletionTimestamp", "metadata ownerReferences" };
    const struct str id =
        type.of == &api_kind_types ? str_from(api_types_text(type.of, api_ref_type(type)->name)) : STR("");

    if (str_eq(o->subresource, STR("status"))) {
        if (str_eq(id, STR("io.k8s.api.apps.v1.Deployment")))
            return fieldset_of(a, deployment, ARRAY_SIZE(deployment));
        if (str_eq(id, STR("io.k8s.api.core.v1.Pod")))
            return fieldset_of(a, pod, ARRAY_SIZE(pod));
        return fieldset_of(a, spec, ARRAY_SIZE(spec));
    }
    return o->subresource.n == 0 && o->has_status ? fieldset_of(a, status, ARRAY_SIZE(status)) : NULL;
}

static struct work work_init(struct arena *a, struct api_ref type, const struct api_apply_options *o)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64);

    clock_format_rfc3339(o->now, &now);
    return (struct work){ .a = a,
                          .type = type,
                          .o = o,
                          .managed = { .arena = a },
                          .reset = reset_fields(a, type, o),
                          .now = arena_dup(a, buf_str(&now)) };
}

static struct value shallow_copy(struct arena *a, struct value map)
{
    struct value m = value_new_map_sized(a, value_len(map) + 1);

    for (struct value_iter it = value_iter(map); value_next(&it);)
        value_append(m, it.key, it.v);
    value_sort(m);
    return m;
}

/* The object with other managedFields; null: without. */
static struct value with_managed_fields(struct arena *a, struct value object, struct value list)
{
    struct value copy = shallow_copy(a, object), meta = shallow_copy(a, value_getz(object, "metadata"));

    if (value_is_null(list))
        value_unset(meta, STR("managedFields"));
    else
        value_setz(meta, "managedFields", list);
    if (value_has(object, STR("metadata")) || value_len(meta) > 0)
        value_setz(copy, "metadata", meta);
    return copy;
}

static struct value managed_fields_of(struct value object)
{
    return value_getz(value_getz(object, "metadata"), "managedFields");
}

static struct value empty_object(struct work *w, struct value like)
{
    struct value v;

    if (w->type.of == &api_kind_types)
        return api_schema_zero(w->a, w->type);
    v = value_new_map(w->a);
    value_setz(v, "apiVersion", value_getz(like, "apiVersion"));
    value_setz(v, "kind", value_getz(like, "kind"));
    return v;
}

static const struct fieldset *filtered(struct work *w, const struct fieldset *s)
{
    return fieldset_exclude(w->a, s, w->reset);
}

static const struct fieldset *stripped(struct work *w, const struct fieldset *s)
{
    return fieldset_difference(w->a, s, fieldset_of(w->a, never_owned, ARRAY_SIZE(never_owned)));
}

static void compare(struct work *w, struct value before, struct value after, struct typed_comparison *ret)
{
    typed_compare(w->a, w->type, before, after, ret);
    ret->added = filtered(w, ret->added);
    ret->modified = filtered(w, ret->modified);
    ret->removed = filtered(w, ret->removed);
}

/* ---- updates ---- */

static bool is_reset(struct value list)
{
    return value_is_list(list) && (list.n == 0 || (list.n == 1 && value_len(value_at(list, 0)) == 0));
}

/* What the request says about owners counts, unless it says nothing or nonsense. */
static void read_managed(struct work *w, struct value live, struct value object)
{
    const struct value list = managed_fields_of(object);

    if (w->o->subresource.n == 0) {
        if (is_reset(list))
            return;
        if (managed_parse(list, &w->managed) && w->managed.n > 0)
            return;
        w->managed.n = 0;
    }
    if (!managed_parse(managed_fields_of(live), &w->managed))
        w->managed.n = 0;
}

/* The oldest updates are put together, by version, until there are no more than the maximum. */
static int compare_age(const void *x, const void *y)
{
    const struct managed_entry *const *a = x, *const *b = y;
    const int order = str_cmp(value_str((*a)->time), value_str((*b)->time));

    return order ? order : managed_compare_identity(*a, *b);
}

static void cap_managers(struct work *w)
{
    struct managed_entry **old = ARENA_ARRAY(w->a, struct managed_entry *, w->managed.n + 1);
    size_t n = 0, left;

    for (size_t i = 0; i < w->managed.n; i++)
        if (!w->managed.items[i].applied)
            old[n++] = &w->managed.items[i];
    if (n <= UPDATE_MANAGERS_MAX)
        return;
    qsort(old, n, sizeof(*old), compare_age);
    left = n;
    for (size_t i = 0; i < n && left > UPDATE_MANAGERS_MAX; i++) {
        struct managed_entry bucket = { .manager = STR("ancient-changes"),
                                        .api_version = old[i]->api_version };
        struct managed_entry *first = NULL, *into = managed_find(&w->managed, &bucket);

        for (size_t j = 0; j < i && !first; j++)
            if (!fieldset_empty(old[j]->set) && str_eq(old[j]->api_version, old[i]->api_version))
                first = old[j];
        if (!first || into == old[i])
            continue;
        if (!into) {
            into = first;
            into->manager = bucket.manager;
            into->subresource = bucket.subresource;
        }
        into->set = fieldset_union(w->a, into->set, old[i]->set);
        into->time = old[i]->time;
        old[i]->set = NULL;
        left--;
    }
    managed_drop_empty(&w->managed);
}

/* What `after` takes from others, and what the writer itself gains. */
static const struct fieldset *track(struct work *w, struct value before, struct value after)
{
    struct typed_comparison c;
    const struct fieldset *changed;

    compare(w, before, after, &c);
    changed = fieldset_union(w->a, c.modified, c.added);
    for (size_t i = 0; i < w->managed.n; i++) {
        struct managed_entry *e = &w->managed.items[i];

        e->set = fieldset_difference(w->a, fieldset_difference(w->a, e->set, changed), c.removed);
    }
    return stripped(w, changed);
}

static void update(struct work *w, struct value before, struct value after, struct str manager)
{
    const struct managed_entry self = { .manager = manager.n ? manager : STR("unknown"),
                                        .api_version = w->o->api_version,
                                        .subresource = w->o->subresource };
    const struct fieldset *gained = track(w, before, after);

    if (!fieldset_empty(gained)) {
        struct managed_entry *e = managed_put(&w->managed, &self);

        e->set = fieldset_union(w->a, e->set, gained);
        e->time = value_from_str(w->now);
    }
    managed_drop_empty(&w->managed);
    cap_managers(w);
}

int api_apply_update(struct arena *a, struct api_ref type, const struct api_apply_options *o,
                     struct value live, struct value object, struct value *ret, struct err **err)
{
    struct work w = work_init(a, type, o);
    const struct value plain = with_managed_fields(a, object, VALUE_NONE);

    read_managed(&w, live, object);
    if (value_is_null(live))
        update(&w, empty_object(&w, object), plain, o->manager);
    else if (w.managed.n > 0) /* an object that nobody tracks stays so until its first apply */
        update(&w, with_managed_fields(a, live, VALUE_NONE), plain, o->manager);
    if (arena_failed(a))
        return fail(err, 413, "managedFields too large");
    *ret = with_managed_fields(a, object, managed_value(&w.managed));
    return 0;
}

/* ---- apply ---- */

struct conflict {
    const struct managed_entry *with;
    const struct fieldset *set;
};

struct conflicts {
    struct conflict *items;
    size_t n;
};

static int compare_conflicts(const void *x, const void *y)
{
    const struct conflict *a = x, *b = y;

    return managed_compare_identity(a->with, b->with);
}

/* `lost` leaves the others' sets, and so does what is gone; self is not touched. */
static void take_from_others(struct work *w, const struct managed_entry *self, const struct fieldset *lost,
                             const struct fieldset *gone)
{
    for (size_t i = 0; i < w->managed.n; i++) {
        struct managed_entry *e = &w->managed.items[i];

        if (!managed_same(e, self))
            e->set = fieldset_difference(w->a, fieldset_difference(w->a, e->set, lost), gone);
    }
    managed_drop_empty(&w->managed);
}

static struct conflicts find_conflicts(struct work *w, const struct managed_entry *self,
                                       const struct fieldset *changed)
{
    struct conflicts c = { ARENA_ARRAY(w->a, struct conflict, w->managed.n + 1), 0 };

    for (size_t i = 0; i < w->managed.n; i++) {
        const struct managed_entry *e = &w->managed.items[i];
        const struct fieldset *set;

        if (managed_same(e, self))
            continue;
        set = fieldset_intersection(w->a, e->set, changed);
        if (!fieldset_empty(set))
            c.items[c.n++] = (struct conflict){ e, set };
    }
    qsort(c.items, c.n, sizeof(*c.items), compare_conflicts);
    return c;
}

static const struct fieldset *all_owned(struct work *w)
{
    const struct fieldset *s = NULL;

    for (size_t i = 0; i < w->managed.n; i++)
        s = fieldset_union(w->a, s, w->managed.items[i].set);
    return s;
}

/* What the manager applied last time and not now goes, unless somebody owns it. */
static struct value prune(struct work *w, struct value merged, const struct fieldset *last)
{
    struct arena *a = w->a;
    const struct fieldset *before, *after, *owned;
    struct value pruned;

    if (fieldset_empty(last))
        return merged;
    last = typed_with_parents(a, w->type, last);
    pruned = typed_remove(a, w->type, merged, last);
    before = typed_with_parents(a, w->type, typed_fields(a, w->type, merged));
    after = typed_with_parents(a, w->type, typed_fields(a, w->type, pruned));
    owned = typed_with_parents(a, w->type, all_owned(w));
    pruned =
        typed_remove(a, w->type, merged, fieldset_difference(a, before, fieldset_union(a, after, owned)));
    after = typed_with_parents(a, w->type, typed_fields(a, w->type, pruned));
    return typed_remove(a, w->type, merged,
                        fieldset_intersection(a, fieldset_difference(a, before, after), last));
}

/* 1 with *ret, 0 when there are conflicts and force is off. `w->managed` is the result only after 1. */
static int try_apply(struct work *w, struct value live, struct value config, bool force,
                     struct conflicts *ret_conflicts, struct value *ret)
{
    const struct managed_entry self = { .manager = w->o->manager,
                                        .api_version = w->o->api_version,
                                        .subresource = w->o->subresource,
                                        .applied = true };
    struct value merged = typed_merge(w->a, w->type, live, config);
    struct managed_entry *mine = managed_put(&w->managed, &self);
    const struct fieldset *last = mine->set, *changed;
    struct typed_comparison c;

    mine->set = filtered(w, typed_fields(w->a, w->type, config));
    mine->api_version = w->o->api_version;
    merged = prune(w, merged, last);
    compare(w, live, merged, &c);
    changed = fieldset_union(w->a, c.modified, c.added);
    *ret_conflicts = find_conflicts(w, &self, changed);
    if (!force && ret_conflicts->n > 0)
        return 0;
    take_from_others(w, &self, changed, c.removed);
    mine = managed_put(&w->managed, &self);
    mine->set = stripped(w, mine->set);
    if (!value_equal(live, merged))
        mine->time = value_from_str(w->now);
    *ret = merged;
    return 1;
}

struct conflict_text {
    struct api_causes *causes;
    struct str who;
    struct buf *lines;
    size_t n;
};

static void add_conflict(void *ctx, struct str path)
{
    struct conflict_text *t = ctx;
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);

    buf_addf(&b, "conflict with " STR_FMT, STR_ARG(t->who));
    if (t->causes)
        api_cause_add(t->causes, "FieldManagerConflict", path, buf_str(&b));
    buf_addf(t->lines, "\n- " STR_FMT, STR_ARG(path));
    t->n++;
}

static int refuse(const struct conflicts *c, struct api_causes *causes, struct err **err)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(4 * MIB), lines = BUF_INIT(4 * MIB), who = BUF_INIT(KIB);
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        struct conflict_text t = { .causes = causes, .lines = &lines };

        buf_clear(&who);
        buf_clear(&lines);
        managed_print(c->items[i].with, &who);
        t.who = buf_str(&who);
        fieldset_each(c->items[i].set, add_conflict, &t);
        n += t.n;
        buf_addf(&all, "%sconflicts with %s:%s", i ? "\n" : "", buf_z(&who), buf_z(&lines));
    }
    if (n == 1)
        return fail(err, 409, "Apply failed with 1 conflict: conflict with %s: %s", buf_z(&who),
                    buf_z(&lines) + strlen("\n- "));
    return fail(err, 409, "Apply failed with %zu conflicts: %s", n, buf_z(&all));
}

/* Fields that client-side apply set and nobody changed since: kubectl may take them over. */
static bool last_applied_fields(struct work *w, struct value live, const struct fieldset **ret)
{
    const struct value text =
        value_getz(value_getz(value_getz(live, "metadata"), "annotations"), LAST_APPLIED);
    struct value config = VALUE_NONE;
    struct typed_comparison c;
    const struct fieldset *s;

    if (value_str(text).n == 0 || json_parse(w->a, value_str(text), NULL, &config, NULL) < 0 ||
        !str_eq(value_str(value_getz(config, "apiVersion")), w->o->api_version) ||
        typed_check(w->a, w->type, config, false, NULL) < 0)
        return false;
    typed_compare(w->a, w->type, config, live, &c);
    s = typed_fields(w->a, w->type, config);
    s = fieldset_difference(w->a, s, c.modified);
    s = fieldset_difference(w->a, s, c.added);
    *ret = fieldset_difference(w->a, s, c.removed);
    return true;
}

static struct conflicts without_allowed(struct work *w, const struct conflicts *c,
                                        const struct fieldset *allowed)
{
    struct conflicts left = { ARENA_ARRAY(w->a, struct conflict, c->n + 1), 0 };

    for (size_t i = 0; i < c->n; i++) {
        const struct fieldset *s = fieldset_difference(w->a, c->items[i].set, allowed);

        if (!fieldset_empty(s))
            left.items[left.n++] = (struct conflict){ c->items[i].with, s };
    }
    return left;
}

/* kubectl keeps its client-side annotation up to date, so that both ways of applying can follow each other. */
static int sync_last_applied(struct work *w, struct value config, struct value *object, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KUBE_OBJECT_MAX);
    struct value meta = value_getz(*object, "metadata"), annotations = value_getz(meta, "annotations");
    struct value plain = shallow_copy(w->a, config),
                 plain_meta = shallow_copy(w->a, value_getz(config, "metadata"));
    int r;

    if (value_str(value_getz(annotations, LAST_APPLIED)).n == 0)
        return 0;
    if (value_has(plain_meta, STR("annotations"))) {
        struct value rest = shallow_copy(w->a, value_getz(plain_meta, "annotations"));

        value_unset(rest, STR(LAST_APPLIED));
        value_setz(plain_meta, "annotations", rest);
    }
    value_setz(plain, "metadata", plain_meta);
    r = json_print(plain, JSON_ESCAPE_HTML, &b, err);
    if (r < 0)
        return r;
    buf_addc(&b, '\n');
    annotations = shallow_copy(w->a, annotations);
    value_setz(annotations, LAST_APPLIED, value_from_str(arena_dup(w->a, buf_str(&b))));
    meta = shallow_copy(w->a, meta);
    value_setz(meta, "annotations", annotations);
    *object = shallow_copy(w->a, *object);
    value_setz(*object, "metadata", meta);
    return 0;
}

static int check_config(struct work *w, struct value config, struct err **err)
{
    CLEANUP(err_free) struct err *why = NULL;
    const struct value meta = value_getz(config, "metadata");
    const struct str version = value_str(value_getz(config, "apiVersion"));

    if (!str_eq(version, w->o->api_version))
        return fail(err, 400, "invalid object type: %s" STR_FMT ", Kind=" STR_FMT,
                    str_find_char(version, '/') == STR_NPOS ? "/" : "", STR_ARG(version),
                    STR_ARG(value_str(value_getz(config, "kind"))));
    if (!value_is_null(value_getz(meta, "managedFields")))
        return fail(err, 400, "metadata.managedFields must be nil");
    if (typed_check(w->a, w->type, config, false, &why) < 0)
        return fail(err, 500,
                    "failed to create typed patch object (" STR_FMT "/" STR_FMT "; %s" STR_FMT
                    ", Kind=" STR_FMT "): %s",
                    STR_ARG(value_str(value_getz(meta, "namespace"))),
                    STR_ARG(value_str(value_getz(meta, "name"))),
                    str_find_char(version, '/') == STR_NPOS ? "/" : "", STR_ARG(version),
                    STR_ARG(value_str(value_getz(config, "kind"))), err_message(why));
    return 0;
}

/* Entries as they were before a try. */
static struct managed copy_managed(struct work *w)
{
    struct managed m = { .arena = w->a, .n = w->managed.n, .cap = w->managed.n };

    m.items = ARENA_ARRAY(w->a, struct managed_entry, m.n + 1);
    for (size_t i = 0; i < m.n; i++)
        m.items[i] = w->managed.items[i];
    return m;
}

static int apply(struct work *w, struct value live, struct value config, struct api_causes *causes,
                 struct value *ret, struct err **err)
{
    const struct managed before = copy_managed(w);
    const bool kubectl = str_eq(w->o->manager, STR("kubectl"));
    const struct fieldset *allowed = NULL;
    struct conflicts c, left;

    if (!try_apply(w, live, config, w->o->force, &c, ret)) {
        if (!kubectl || !last_applied_fields(w, live, &allowed))
            return refuse(&c, causes, err);
        left = without_allowed(w, &c, allowed);
        if (left.n > 0)
            return refuse(&left, causes, err);
        w->managed = before;
        try_apply(w, live, config, true, &c, ret);
    }
    return kubectl ? sync_last_applied(w, config, ret, err) : 0;
}

int api_apply_patch(struct arena *a, struct api_ref type, const struct api_apply_options *o,
                    struct value live, struct value config, struct api_causes *conflicts, struct value *ret,
                    struct err **err)
{
    struct work w = work_init(a, type, o);
    struct value object = VALUE_NONE, base;
    int r;

    r = check_config(&w, config, err);
    if (r < 0)
        return r;
    if (!managed_parse(managed_fields_of(live), &w.managed))
        return fail(err, 500, "failed to decode managed fields");
    base = value_is_null(live) ? empty_object(&w, config) : with_managed_fields(a, live, VALUE_NONE);
    if (!value_is_null(live) && w.managed.n == 0)
        update(&w, empty_object(&w, live), base, STR("before-first-apply"));
    r = apply(&w, base, config, conflicts, &object, err);
    if (r < 0)
        return r;
    if (arena_failed(a))
        return fail(err, 413, "managedFields too large");
    *ret = with_managed_fields(a, object, managed_value(&w.managed));
    return 0;
}

/* ---- equality, names ---- */

static struct value without_times(struct arena *a, struct value object)
{
    struct value_list l = VALUE_LIST_INIT(a);

    for (struct value_iter it = value_iter(managed_fields_of(object)); value_next(&it);) {
        struct value e = shallow_copy(a, it.v);

        value_unset(e, STR("time"));
        value_list_add(&l, e);
    }
    return with_managed_fields(a, object, l.n > 0 ? value_list_done(&l) : VALUE_NONE);
}

bool api_apply_same(struct value x, struct value y)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);

    return value_equal(without_times(a, x), without_times(a, y));
}

void api_apply_check_manager(struct str manager, bool apply_patch, struct api_causes *causes)
{
    if (manager.n == 0) {
        if (apply_patch)
            api_cause_required(causes, "fieldManager", "is required for apply patch");
        return;
    }
    if (manager.n > API_APPLY_MANAGER_MAX)
        api_cause_too_long(causes, "fieldManager", API_APPLY_MANAGER_MAX);
    for (size_t i = 0; i < manager.n;) {
        uint32_t rune = 0;
        const size_t w = utf8_decode(str_sub(manager, i, manager.n), &rune);

        if (rune == UTF8_INVALID || !utf8_is_print(rune)) {
            CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

            buf_addf(&b, "invalid character U+%04X (at position %zu)", rune == UTF8_INVALID ? 0xfffdU : rune,
                     i);
            api_cause_invalid(causes, "fieldManager", value_from_str(manager), buf_z(&b));
        }
        i += w;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the archive of a chart lacks comes from other Charts. */
#include "chart/kind.h"
#include "semver/semver.h"
#include "json/json.h"

#define LABEL_UNMANAGED "pintle.dev/unmanaged"
#define CYCLE_DEPTH_MAX 16
#define ASKED_MAX (256 * KIB) /* Kubernetes: of all annotations */

struct wanted { /* a dependency and the Chart that brings it */
    const struct metadata_dependency *d;
    struct str name;              /* of the chart */
    struct str repository, chart; /* names of the Repository and of the Chart object */
    struct value versions;        /* spec.versions of that Chart */
    struct value asked;           /* its annotation */
};

static bool is_vendored(const struct chart *c, const struct metadata_dependency *d)
{
    for (size_t i = 0; i < chart_subchart_n(c); i++)
        if (str_eq(chart_metadata(chart_subchart(c, i))->name, d->name))
            return true;
    return false;
}

static struct str chart_object_name(struct arena *a, struct str chart, struct str repository)
{
    return arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(chart), STR_ARG(repository));
}

/* The entries of a Chart's spec.versions without their pins; without any it is the newest one. */
static size_t constraints(struct arena *a, struct value versions, struct str **ret)
{
    struct str *out = ARENA_ARRAY(a, struct str, value_len(versions) + 1);

    out[0] = STR("*");
    for (struct value_iter it = value_iter(versions); value_next(&it);)
        out[it.i] = str_sub(value_str(it.v), 0, MIN(str_rfind_char(value_str(it.v), '@'), value_str(it.v).n));
    *ret = out;
    return MAX(value_len(versions), (size_t)1);
}

static struct str constraint_of(const struct metadata_dependency *d)
{
    return d->version.n ? d->version : STR("*");
}

/* ---- the Chart that brings it ------------------------------------------------------------------------------------ */

/* It goes with the last Chart that needs it; one that nobody owned stays so. */
static struct value owners_with(struct subject *s, struct value live)
{
    struct value_list owners = VALUE_LIST_INIT(s->arena);
    struct value have = value_path(live, "metadata.ownerReferences");

    for (struct value_iter it = value_iter(have); value_next(&it);)
        if (!str_eq(value_str(value_getz(it.v, "uid")), kube_uid(s->object)))
            value_list_add(&owners, it.v);
    if (!value_is_map(live) || value_len(have) > 0)
        value_list_add(&owners, kube_owner_reference(s->arena, s->object, false, false));
    return value_list_done(&owners);
}

static struct value make_chart(struct subject *s, const struct wanted *w, struct value owners)
{
    CLEANUP(buf_done) struct buf asked = BUF_INIT(ASKED_MAX);
    struct arena *a = s->arena;
    struct value o = value_new_map(a), spec = value_new_map(a), labels = value_new_map(a),
                 annotations = value_new_map(a);

    value_setz(labels, LABEL_UNMANAGED, VALUE_STR("true"));
    value_setz(labels, "pintle.dev/repo", value_from_str(content_label(a, w->repository)));
    if (json_print(w->asked, 0, &asked, NULL) == 0)
        value_setz(annotations, CHART_ANNOTATION_ASKED, value_from_str(arena_dup(a, buf_str(&asked))));
    value_setz(spec, "name", value_from_str(w->name));
    value_setz(spec, "repository", value_from_str(w->repository));
    value_setz(spec, "createDeps", value_from_bool(true));
    value_setz(spec, "versions", w->versions);
    value_setz(o, "apiVersion", VALUE_STR(CHART_API_VERSION));
    value_setz(o, "kind", VALUE_STR("Chart"));
    value_set_path(o, "metadata.name", value_from_str(w->chart));
    value_set_path(o, "metadata.labels", labels);
    value_set_path(o, "metadata.annotations", annotations);
    if (value_len(owners) > 0)
        value_set_path(o, "metadata.ownerReferences", owners);
    value_setz(o, "spec", spec);
    return o;
}

/* `asked` is what it is asked for from now on, by those who own it then. Nothing is written when that is so already. */
static int apply_chart(struct chart_manager *m, struct subject *s, struct wanted *w, struct value live,
                       struct value asked, struct value owners, struct err **err)
{
    struct value before = chart_asked_read(s->arena, live), have = value_path(live, "spec.versions");
    int r;

    w->asked = chart_asked_by(s->arena, asked, owners);
    w->versions = chart_asked_versions(s->arena, have, before, w->asked);
    if (value_equal(w->versions, have) && value_equal(w->asked, before) &&
        value_len(owners) == value_len(value_path(live, "metadata.ownerReferences")))
        return 0;
    r = kube_apply(m->kube, s->arena, make_chart(s, w, owners), STR(CHART_FIELD_MANAGER), true, NULL, err);
    return r < 0 ? err_wrap(err, r, "Chart " STR_FMT, STR_ARG(w->chart)) : 0;
}

/* Made when it is absent; one that was made so keeps what it is asked for. */
static int ensure_chart(struct chart_manager *m, struct subject *s, struct wanted *w, struct str version,
                        struct err **err)
{
    struct kube_ref ref = KUBE_REF(CHART_API_VERSION, "Chart", STR_NONE, w->chart);
    struct value live = VALUE_NONE, asked, owners;
    int r = kube_find(m->kube, s->arena, &ref, &live, err);

    if (r < 0)
        return r;
    w->versions = value_path(live, "spec.versions");
    if (r == 1 && kube_label(live, STR(LABEL_UNMANAGED)).n == 0)
        return 0; /* somebody else decides its versions */
    owners = owners_with(s, live);
    asked = chart_asked_with(s->arena, chart_asked_read(s->arena, live), kube_name(s->object), version,
                             constraint_of(w->d));
    return apply_chart(m, s, w, live, asked, owners, err);
}

int chart_kind_release(struct chart_manager *m, struct subject *s, const struct chart_stored *id,
                       struct err **err)
{
    struct store_dependency *deps;
    size_t n = 0;
    int r = 0;

    for (struct value_iter it = value_iter(s->content); value_next(&it) && n == 0;)
        if (str_eq(kube_label(it.v, STR("pintle.dev/type")), STR("tmpl")) &&
            str_eq(store_identity(it.v).version, id->version))
            n = store_dependencies(s->arena, it.v, &deps);
    for (size_t i = 0; r >= 0 && i < n; i++) {
        struct wanted w = {
            .name = deps[i].stored.name,
            .repository = deps[i].stored.repository,
            .chart = chart_object_name(s->arena, deps[i].stored.name, deps[i].stored.repository),
        };
        struct kube_ref ref = KUBE_REF(CHART_API_VERSION, "Chart", STR_NONE, w.chart);
        struct value live, asked;

        r = kube_find(m->kube, s->arena, &ref, &live, err);
        if (r <= 0 || kube_label(live, STR(LABEL_UNMANAGED)).n == 0)
            continue;
        asked = chart_asked_without(s->arena, chart_asked_read(s->arena, live), kube_name(s->object),
                                    id->version);
        r = apply_chart(m, s, &w, live, asked, value_path(live, "metadata.ownerReferences"), err);
    }
    return MIN(r, 0);
}

/* ---- the version ------------------------------------------------------------------------------------------------- */

static bool satisfies(const struct semver_constraint *c, struct str version, struct semver *ret)
{
    return semver_parse(version, ret, NULL) == 0 && semver_constraint_check(c, ret);
}

/* The highest version that its Chart keeps and that satisfies the dependency: by the index and the spec, so that it does not
 * depend on what happened to come first. "" when there is none. */
static int kept_version(struct subject *s, const struct wanted *w, const struct semver_constraint *c,
                        struct str *ret, struct err **err)
{
    struct registry_version *versions, *picked;
    struct str *wanted;
    struct semver best, v;
    size_t n, n_wanted = constraints(s->arena, w->versions, &wanted);
    int r = registry_versions(s->db, w->repository, w->d->name, s->arena, &versions, &n, err);

    *ret = STR("");
    for (size_t i = 0; r == 0 && i < n_wanted; i++) {
        if (registry_pick(versions, n, wanted[i], &picked, NULL) < 0 || !picked ||
            !satisfies(c, picked->version, &v) || (ret->n > 0 && semver_cmp(&v, &best) <= 0))
            continue;
        *ret = picked->version;
        best = v;
    }
    return r;
}

/* 1 and the stored version that satisfies the dependency, 0 when it is not there yet. */
static int find_dependency(struct chart_manager *m, struct subject *s, const struct wanted *w,
                           struct chart_stored *ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct chart_stored *all;
    struct str version;
    struct semver v;
    size_t n;
    int r = chart_store_list(m->store, w->repository, w->d->name, s->arena, &all, &n, err);

    if (r == 0)
        r = semver_constraint_parse(constraint_of(w->d), &c, err);
    if (r == 0)
        r = kept_version(s, w, c, &version, err);
    if (r < 0)
        return err_wrap(err, r, "dependency " STR_FMT, STR_ARG(w->d->name));
    for (size_t i = 0; i < n; i++)
        if (version.n ? str_eq(all[i].version, version) : satisfies(c, all[i].version, &v)) {
            *ret = all[i];
            return 1;
        }
    return 0;
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

/* The Chart's archive lacks something too: what its index entries name is what it may wait for. */
static bool is_waiting(struct value chart)
{
    struct str reason = value_str(value_getz(kube_condition_find(chart, STR("Ready")), "reason"));

    return str_eq(reason, STR(REASON_DEPENDENCY)) || str_eq(reason, STR(REASON_CYCLE));
}

static int walk(struct chart_manager *m, struct subject *s, struct str repository, struct str name, int depth,
                struct str path, struct str *ret_cycle, struct err **err);

static int walk_entry(struct chart_manager *m, struct subject *s, struct value entry, int depth,
                      struct str path, struct str *ret_cycle, struct err **err)
{
    int r = 0;

    for (struct value_iter it = value_iter(value_getz(entry, "dependencies"));
         r == 0 && ret_cycle->n == 0 && value_next(&it);) {
        struct str name = value_str(value_getz(it.v, "name")), repository;

        r = registry_find_by_url(m->registry, s->arena, value_str(value_getz(it.v, "repository")),
                                 &repository, err);
        if (r < 0 || repository.n == 0)
            continue;
        r = walk(m, s, repository, name, depth + 1,
                 arena_printf(s->arena, STR_FMT " -> " STR_FMT, STR_ARG(path), STR_ARG(name)), ret_cycle,
                 err);
    }
    return r;
}

/* From a chart that is not in the cluster along those that wait themselves, back to the subject. */
static int walk(struct chart_manager *m, struct subject *s, struct str repository, struct str name, int depth,
                struct str path, struct str *ret_cycle, struct err **err)
{
    struct kube_ref ref =
        KUBE_REF(CHART_API_VERSION, "Chart", STR_NONE, chart_object_name(s->arena, name, repository));
    struct registry_version version;
    struct str *wanted;
    struct value chart;
    size_t n;
    int r;

    if (str_eq(name, s->name) && str_eq(repository, s->repository)) {
        *ret_cycle = path;
        return 0;
    }
    r = depth > CYCLE_DEPTH_MAX ? 0 : kube_find(m->kube, s->arena, &ref, &chart, err);
    if (r <= 0 || !is_waiting(chart))
        return MIN(r, 0);
    n = constraints(s->arena, value_path(chart, "spec.versions"), &wanted);
    r = 0;
    for (size_t i = 0; r >= 0 && ret_cycle->n == 0 && i < n; i++) {
        r = registry_find(s->db, repository, name, wanted[i], s->arena, &version, NULL);
        r = r == 1 ? walk_entry(m, s, version.entry, depth, path, ret_cycle, err) : 0;
    }
    return r;
}

static int not_there(struct chart_manager *m, struct subject *s, const struct wanted *w, struct err **err)
{
    struct str cycle = STR("");
    int r = walk(m, s, w->repository, w->d->name, 1,
                 arena_printf(s->arena, STR_FMT " -> " STR_FMT, STR_ARG(s->name), STR_ARG(w->d->name)),
                 &cycle, err);

    if (r < 0)
        return r;
    if (cycle.n > 0) {
        s->reason = REASON_CYCLE;
        return err_set(err, ERRC_INVALID, "the dependencies form a cycle: " STR_FMT, STR_ARG(cycle));
    }
    return err_set(err, ERRC_UNAVAILABLE, "dependency " STR_FMT " " STR_FMT " is not in the cluster yet",
                   STR_ARG(w->d->name), STR_ARG(w->d->version));
}

/* ---- waiting ------------------------------------------------------------------------------------------------------- */

struct str chart_kind_key(struct arena *a, struct str repository, struct str chart)
{
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(repository), STR_ARG(chart));
}

static void wait_for(struct chart_manager *m, const struct subject *s, const struct wanted *w)
{
    struct str key = arena_printf(s->arena, STR_FMT "\n" STR_FMT,
                                  STR_ARG(chart_kind_key(s->arena, w->repository, w->d->name)),
                                  STR_ARG(kube_name(s->object)));

    pthread_mutex_lock(&m->mutex);
    map_put(&m->waiting, key, m);
    pthread_mutex_unlock(&m->mutex);
}

void chart_kind_wake_waiting(struct chart_manager *m, struct arena *a, const struct chart_stored *id,
                             struct controller_wake *out)
{
    struct str key,
        theirs = arena_printf(a, STR_FMT "\n", STR_ARG(chart_kind_key(a, id->repository, id->name)));

    pthread_mutex_lock(&m->mutex);
    for (size_t i = 0; map_next(&m->waiting, &i, &key, NULL);)
        if (str_has_prefix(key, theirs))
            controller_wake_add(out, (struct controller_key){ STR(""), str_sub(key, theirs.n, key.n) });
    pthread_mutex_unlock(&m->mutex);
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

static int bring(struct chart_manager *m, struct subject *s, const struct metadata_dependency *d,
                 struct str version, struct chart_stored *ret, struct err **err)
{
    struct wanted w = { .d = d, .name = d->name };
    int r;

    s->reason = REASON_DEPENDENCY;
    if (!value_bool(value_getz(s->spec, "createDeps")))
        return err_set(err, ERRC_NOT_FOUND,
                       "the archive lacks dependency " STR_FMT ", and spec.createDeps is not set",
                       STR_ARG(d->name));
    r = registry_find_by_url(m->registry, s->arena, d->repository, &w.repository, err);
    if (r < 0)
        return r;
    if (w.repository.n == 0)
        return err_set(err, ERRC_NOT_FOUND, "dependency " STR_FMT ": no Repository has the URL " STR_FMT,
                       STR_ARG(d->name), STR_ARG(d->repository));
    w.chart = chart_object_name(s->arena, d->name, w.repository);
    r = ensure_chart(m, s, &w, version, err);
    if (r == 0) {
        wait_for(m, s, &w);
        r = find_dependency(m, s, &w, ret, err);
    }
    if (r == 0)
        r = not_there(m, s, &w, err);
    if (r == 1)
        s->reason = NULL;
    return r;
}

static bool is_there(const struct store_dependency *list, size_t n, const struct store_dependency *d)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].name, d->name) && str_eq(list[i].stored.version, d->stored.version) &&
            str_eq(list[i].stored.repository, d->stored.repository))
            return true;
    return false;
}

int chart_kind_dependencies(struct chart_manager *m, struct subject *s, const struct chart *c,
                            struct store_dependency *ret, size_t *ret_n, struct err **err)
{
    const struct metadata *md = chart_metadata(c);

    *ret_n = 0;
    for (size_t i = 0; i < md->n_dependencies; i++) {
        struct store_dependency *to = &ret[*ret_n];
        int r;

        if (is_vendored(c, &md->dependencies[i]))
            continue;
        to->name = md->dependencies[i].name;
        r = bring(m, s, &md->dependencies[i], md->version, &to->stored, err);
        if (r < 0)
            return r;
        *ret_n += !is_there(ret, *ret_n, to); /* under two aliases it is needed once */
    }
    return 0;
}

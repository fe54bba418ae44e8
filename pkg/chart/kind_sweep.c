/* SPDX-License-Identifier: Apache-2.0 */
/* What is stored of a chart, and what of it has to go. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "chart/kind.h"

#define USERS_SHOWN 10

static int list_content(struct chart_manager *m, struct arena *a, struct str selector, struct value *ret,
                        struct err **err)
{
    struct kube_request rq = { .verb = KUBE_LIST,
                               .ref = KUBE_REF("v1", "ConfigMap", str_from(m->ns), STR_NONE),
                               .metadata_only = true,
                               .label_selector = selector };
    struct value list;
    int r = kube_do(m->kube, a, &rq, &list, err);

    *ret = value_getz(list, "items");
    return r < 0 ? err_wrap(err, r, "chart content") : 0;
}

/* ---- what is there ------------------------------------------------------------------------------------------------- */

static bool is_resolved(const struct subject *s, struct str version)
{
    for (size_t i = 0; i < s->n_resolved; i++)
        if (str_eq(s->resolved[i].id.version, version))
            return true;
    return false;
}

static bool is_stored(const struct subject *s, struct str version)
{
    for (size_t i = 0; i < s->n_stored; i++)
        if (str_eq(s->stored[i].version, version))
            return true;
    return false;
}

/* Sets of a version whose templates are gone, or were never written: nobody asks for them any more. */
static int delete_halves(struct chart_manager *m, struct subject *s, struct value items, struct err **err)
{
    int r = 0;

    for (struct value_iter it = value_iter(items); r == 0 && value_next(&it);) {
        struct str version = store_identity(it.v).version;

        if (str_eq(kube_label(it.v, STR("pintle.dev/part")), STR("1")) && !is_stored(s, version) &&
            !is_resolved(s, version) && kube_is_owned_by(it.v, s->object))
            r = content_delete(m->kube, s->arena, str_from(m->ns), kube_name(it.v), err);
    }
    return r;
}

int chart_kind_survey(struct chart_manager *m, struct subject *s, struct err **err)
{
    struct value_list ours = VALUE_LIST_INIT(s->arena);
    struct value items;
    int r = list_content(
        m, s->arena,
        arena_printf(
            s->arena, "pintle.dev/type in (tmpl,crds,default),pintle.dev/repo=%.*s,pintle.dev/chart=%.*s",
            STR_ARG(content_label(s->arena, s->repository)), STR_ARG(content_label(s->arena, s->name))),
        &items, err);

    if (r < 0)
        return r;
    for (struct value_iter it = value_iter(items); value_next(&it);) {
        struct chart_stored id = store_identity(it.v);

        if (str_eq(id.repository, s->repository) && str_eq(id.name, s->name))
            value_list_add(&ours, it.v); /* labels may be shortened: annotations are the identity */
    }
    items = value_list_done(&ours);
    store_versions(s->arena, items, &s->stored, &s->n_stored);
    s->content = items;
    r = content_delete_strays(m->kube, s->arena, str_from(m->ns), items, s->object, err);
    return r < 0 ? r : delete_halves(m, s, items, err);
}

/* ---- who uses it --------------------------------------------------------------------------------------------------- */

struct users {
    struct chart_manager *m;
    struct subject *s;
    bool listed;
    struct value releases, contents; /* contents: those that need others */
};

static int list_users(struct users *u, struct err **err)
{
    struct kube_ref ref = KUBE_REF(CHART_API_VERSION, "Release", STR_NONE, STR_NONE);
    struct value list;
    int r;

    if (u->listed)
        return 0;
    r = kube_list(u->m->kube, u->s->arena, &ref, STR_NONE, &list, err);
    u->releases = value_getz(list, "items");
    if (r == 0)
        r = list_content(u->m, u->s->arena, STR("pintle.dev/type=tmpl," STORE_LABEL_DEPENDENT "=true"),
                         &u->contents, err);
    u->listed = r == 0;
    return r;
}

static void add_user(struct buf *out, size_t *n, const char *what, struct str name, const char *sep,
                     struct str more)
{
    if (*n < USERS_SHOWN)
        buf_addf(out, "%s%s " STR_FMT "%s" STR_FMT, *n ? ", " : "", what, STR_ARG(name), sep, STR_ARG(more));
    (*n)++;
}

static bool release_uses(struct value release, const struct chart_stored *id)
{
    return str_eq(value_str(value_path(release, "spec.repo")), id->repository) &&
           str_eq(value_str(value_path(release, "spec.chart")), id->name) &&
           (str_eq(value_str(value_path(release, "status.chartVersion")), id->version) ||
            str_eq(value_str(value_path(release, "spec.version")), id->version));
}

static bool content_uses(struct arena *a, struct value content, const struct chart_stored *id)
{
    struct store_dependency *deps;
    size_t n = store_dependencies(a, content, &deps);

    for (size_t i = 0; i < n; i++)
        if (str_eq(deps[i].stored.repository, id->repository) && str_eq(deps[i].stored.name, id->name) &&
            str_eq(deps[i].stored.version, id->version))
            return true;
    return false;
}

/* "Release team/web, Chart shop 1.0.0" behind what is in `out`; how many there are. */
static size_t name_users(const struct users *u, const struct chart_stored *id, struct buf *out)
{
    size_t n = 0;

    for (struct value_iter it = value_iter(u->releases); value_next(&it);)
        if (release_uses(it.v, id))
            add_user(out, &n, "Release", kube_namespace(it.v), "/", kube_name(it.v));
    for (struct value_iter it = value_iter(u->contents); value_next(&it);)
        if (!kube_is_deleting(it.v) && content_uses(u->s->arena, it.v, id))
            add_user(out, &n, "Chart", store_identity(it.v).name, " ", store_identity(it.v).version);
    if (n > USERS_SHOWN)
        buf_addf(out, " and %zu more", n - USERS_SHOWN);
    return n;
}

/* ---- what goes ------------------------------------------------------------------------------------------------------ */

int chart_kind_owns(struct chart_manager *m, const struct subject *s, const struct chart_stored *id,
                    struct err **err)
{
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", str_from(m->ns),
                                   content_name(s->arena, "tmpl", id->repository, id->name, id->version));
    struct value tmpl;
    int r =
        kube_do(m->kube, s->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = ref, .metadata_only = true }, &tmpl, err);

    if (r == -ERRC_NOT_FOUND) {
        err_clear(err);
        return 0;
    }
    return r < 0 ? r
                 : value_len(value_path(tmpl, "metadata.ownerReferences")) == 0 ||
                       kube_is_owned_by(tmpl, s->object);
}

/* Whoever goes from now on wakes this Chart. Noted before they are looked for. */
static void set_holding(struct chart_manager *m, const struct subject *s, bool holding)
{
    struct str key = chart_kind_key(s->arena, s->repository, s->name);

    pthread_mutex_lock(&m->mutex);
    if (holding)
        map_put(&m->holding, key, m);
    else
        map_remove(&m->holding, key);
    pthread_mutex_unlock(&m->mutex);
}

int chart_kind_sweep(struct chart_manager *m, struct subject *s, struct err **err)
{
    CLEANUP(buf_done) struct buf retained = BUF_INIT(16 * KIB);
    struct users users = { .m = m, .s = s };
    int r = 0;

    for (size_t i = 0; i < s->n_stored && r >= 0; i++) {
        CLEANUP(buf_done) struct buf names = BUF_INIT(8 * KIB);
        struct chart_stored *id = &s->stored[i];

        if (is_resolved(s, id->version))
            continue;
        r = chart_kind_owns(m, s, id, err);
        if (r <= 0)
            continue;
        set_holding(m, s, true);
        r = list_users(&users, err);
        if (r == 0 && name_users(&users, id, &names) == 0) {
            r = chart_kind_release(m, s, id, err);
            if (r == 0)
                r = store_delete(m->kube, s->arena, str_from(m->ns), id, err);
        } else if (r == 0)
            buf_addf(&retained, "%s" STR_FMT " is used by %s", retained.n ? "; " : "", STR_ARG(id->version),
                     buf_z(&names));
    }
    if (r >= 0 && retained.n == 0)
        set_holding(m, s, false);
    s->retained = arena_dup(s->arena, buf_str(&retained));
    return MIN(r, 0);
}

/* ---- nothing to do --------------------------------------------------------------------------------------------------- */

static struct str settled_key(const struct subject *s)
{
    return arena_printf(s->arena, STR_FMT "\n" STR_FMT,
                        STR_ARG(chart_kind_key(s->arena, s->repository, s->name)),
                        STR_ARG(kube_name(s->object)));
}

/* Over all that decides what has to be in the cluster and in the status. */
static void settled_digest(const struct subject *s, char hex[SHA256_HEX])
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    buf_addf(&text, STR_FMT "\n%lld\n" STR_FMT "\n" STR_FMT "\n" STR_FMT "\n", STR_ARG(kube_uid(s->object)),
             (long long)kube_generation(s->object), STR_ARG(s->policy.digest),
             STR_ARG(kube_annotation(s->object, STR(CHART_ANNOTATION_ACCEPT))),
             STR_ARG(kube_annotation(s->object, STR(CONTROLLER_RECONCILE_AT))));
    for (size_t i = 0; i < s->n_resolved; i++) {
        buf_addf(&text, STR_FMT "\n" STR_FMT "\n", STR_ARG(s->resolved[i].version->version),
                 STR_ARG(s->resolved[i].version->digest));
        buf_add(&text, s->resolved[i].version->hash, sizeof(s->resolved[i].version->hash));
    }
    sha256_hex(buf_str(&text), hex);
}

bool chart_kind_is_settled(struct chart_manager *m, const struct subject *s)
{
    struct str key = settled_key(s);
    char now[SHA256_HEX];
    const char *then;
    bool same;

    settled_digest(s, now);
    pthread_mutex_lock(&m->mutex);
    then = map_get(&m->settled, key);
    same = then && strcmp(then, now) == 0;
    pthread_mutex_unlock(&m->mutex);
    return same;
}

void chart_kind_settle(struct chart_manager *m, const struct subject *s)
{
    struct str key = settled_key(s);
    char now[SHA256_HEX];

    settled_digest(s, now);
    pthread_mutex_lock(&m->mutex);
    if (m->deletions == s->deletions)
        free(map_put(&m->settled, key, xstrdup(now)));
    pthread_mutex_unlock(&m->mutex);
}

void chart_kind_unsettle(struct chart_manager *m, struct arena *a, struct str repository, struct str chart)
{
    struct str prefix = arena_printf(a, STR_FMT "\n", STR_ARG(chart_kind_key(a, repository, chart))), key;

    pthread_mutex_lock(&m->mutex);
    m->deletions++;
    for (size_t i = 0; map_next(&m->settled, &i, &key, NULL);)
        if (str_has_prefix(key, prefix))
            free(map_remove(&m->settled, key));
    pthread_mutex_unlock(&m->mutex);
}

/* With the mutex held: what "repository/chart\nCHART" keys say of this Chart. */
static void *remove_of(struct map *of, struct str suffix)
{
    struct str key;

    for (size_t i = 0; map_next(of, &i, &key, NULL);)
        if (str_has_suffix(key, suffix))
            return map_remove(of, key);
    return NULL;
}

void chart_kind_begin(struct chart_manager *m, struct subject *s)
{
    struct str mine = arena_printf(s->arena, "\n" STR_FMT, STR_ARG(kube_name(s->object)));

    pthread_mutex_lock(&m->mutex);
    s->deletions = m->deletions;
    while (remove_of(&m->waiting, mine))
        ;
    pthread_mutex_unlock(&m->mutex);
}

void chart_kind_forget(struct chart_manager *m, struct arena *a, struct str chart_object)
{
    struct str mine = arena_printf(a, "\n" STR_FMT, STR_ARG(chart_object));
    void *digest;

    pthread_mutex_lock(&m->mutex);
    while (remove_of(&m->waiting, mine))
        ;
    while ((digest = remove_of(&m->settled, mine)))
        free(digest);
    pthread_mutex_unlock(&m->mutex);
}

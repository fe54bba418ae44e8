/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/catalog.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "apiserver/store.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "json/json.h"

#define CRD_RESOURCE "customresourcedefinitions.apiextensions.k8s.io"
#define CUSTOM_VERBS                                                                                \
    (API_VERB_CREATE | API_VERB_DELETE | API_VERB_DELETECOLLECTION | API_VERB_GET | API_VERB_LIST | \
     API_VERB_PATCH | API_VERB_UPDATE | API_VERB_WATCH)

/* One CRD at one revision, compiled. */
struct api_crd {
    atomic_uint refs;
    struct arena *arena;
    struct str name;
    int64_t rv;
    struct api_resource *rows; /* served versions, preferred first */
    size_t n_rows;
};

struct api_catalog {
    atomic_uint refs;
    struct arena *arena;
    struct api_resource *rows;
    size_t n;
    struct api_crd **crds;
    size_t n_crds, cap_crds;
    uint64_t digest;
};

/* ---- built-in kinds ------------------------------------------------------------------------------------------ */

/* Where a kind's strategy differs from the most common one (pkg/registry/<group>/<kind>/strategy.go). */
static const struct {
    const char *id;
    unsigned flags;
} quirks[] = {
    { "leases.coordination.k8s.io", API_RES_NO_UNCONDITIONAL | API_RES_CREATE_ON_UPDATE },
    { CRD_RESOURCE, API_RES_NO_UNCONDITIONAL },
    { "endpoints", API_RES_CREATE_ON_UPDATE },
    { "events", API_RES_CREATE_ON_UPDATE },
    { "limitranges", API_RES_CREATE_ON_UPDATE },
    { "roles.rbac.authorization.k8s.io", API_RES_CREATE_ON_UPDATE },
    { "rolebindings.rbac.authorization.k8s.io", API_RES_CREATE_ON_UPDATE },
    { "clusterroles.rbac.authorization.k8s.io", API_RES_CREATE_ON_UPDATE },
    { "clusterrolebindings.rbac.authorization.k8s.io", API_RES_CREATE_ON_UPDATE },
    { "runtimeclasses.node.k8s.io", API_RES_CREATE_ON_UPDATE },
    { "pods", API_RES_RETURN_DELETED },
    { "services", API_RES_RETURN_DELETED },
    { "serviceaccounts", API_RES_RETURN_DELETED },
    { "persistentvolumeclaims", API_RES_RETURN_DELETED },
    { "persistentvolumes", API_RES_RETURN_DELETED },
    { "podtemplates", API_RES_RETURN_DELETED },
    { "resourcequotas", API_RES_RETURN_DELETED },
    { "poddisruptionbudgets.policy", API_RES_NO_UNCONDITIONAL },
    { "storageclasses.storage.k8s.io", API_RES_RETURN_DELETED },
    { "csidrivers.storage.k8s.io", API_RES_RETURN_DELETED },
    { "csinodes.storage.k8s.io", API_RES_RETURN_DELETED },
    { "volumeattachments.storage.k8s.io", API_RES_RETURN_DELETED },
    { "jobs.batch", API_RES_ORPHAN },
    { "replicationcontrollers", API_RES_ORPHAN },
};

static unsigned quirks_of(struct str id)
{
    for (size_t i = 0; i < ARRAY_SIZE(quirks); i++)
        if (str_eq(str_from(quirks[i].id), id))
            return quirks[i].flags;
    return 0;
}

static struct str make_api_version(struct arena *a, struct str group, struct str version)
{
    if (group.n == 0)
        return version;
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version));
}

static struct str make_id(struct arena *a, struct str group, struct str plural)
{
    /* events.k8s.io is a second view of the core group's events */
    if (group.n == 0 || str_eq(group, STR("events.k8s.io")))
        return plural;
    return arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(plural), STR_ARG(group));
}

static void fill_builtin(struct arena *a, const struct api_kind *k, struct api_resource *r)
{
    *r = (struct api_resource){
        .group = str_from(k->group),
        .version = str_from(k->version),
        .kind = str_from(k->kind),
        .list_kind = str_from(k->list_kind),
        .plural = str_from(k->plural),
        .singular = str_from(k->singular),
        .short_names = str_from(k->short_names),
        .categories = str_from(k->categories),
        .namespaced = k->namespaced,
        .verbs = k->verbs,
        .builtin = k,
        .printer = api_printer_of_kind(k),
        .has_status = api_kind_subresource(k, STR("status")) != NULL,
        .has_scale = api_kind_subresource(k, STR("scale")) != NULL,
    };
    r->id = make_id(a, r->group, r->plural);
    r->api_version = make_api_version(a, r->group, r->version);
    r->flags = quirks_of(r->id);
    if (!(k->verbs & API_VERB_GET))
        r->flags |= API_RES_VIRTUAL;
}

/* ---- custom kinds -------------------------------------------------------------------------------------------- */

static struct api_crd *crd_unref(struct api_crd *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) > 1)
        return NULL;
    for (size_t i = 0; i < d->n_rows; i++) {
        api_schema_unref(d->rows[i].schema);
        api_printer_free((struct api_printer *)(uintptr_t)d->rows[i].printer);
    }
    arena_free(d->arena);
    free(d);
    return NULL;
}
DEFINE_CLEANUP(struct api_crd *, crd_unref)

/* "v2" above "v1" above "v1beta2" above "v1alpha1" above everything else, which is in alphabetical order
 * (apimachinery/pkg/version/helpers.go). */
struct version_rank {
    int64_t major, stage, minor; /* stage: 2 GA, 1 beta, 0 alpha; -1: not such a version */
};

static struct str digits(struct str *s)
{
    size_t n = 0;
    struct str d;

    while (n < s->n && ascii_is_digit(s->p[n]))
        n++;
    d = str_sub(*s, 0, n);
    *s = str_sub(*s, n, s->n);
    return d;
}

static struct version_rank rank_of(struct str v)
{
    struct version_rank none = { 0, -1, 0 }, rank = { 0, 2, 0 };

    if (!str_has_prefix(v, STR("v")))
        return none;
    v = str_sub(v, 1, v.n);
    if (!str_to_int64(digits(&v), &rank.major) || rank.major == 0)
        return none;
    if (v.n == 0)
        return rank;
    if (str_has_prefix(v, STR("alpha")))
        rank.stage = 0;
    else if (str_has_prefix(v, STR("beta")))
        rank.stage = 1;
    else
        return none;
    v = str_sub(v, rank.stage == 0 ? 5 : 4, v.n);
    if (!str_to_int64(digits(&v), &rank.minor) || v.n > 0)
        return none;
    return rank;
}

int api_version_compare(struct str a, struct str b)
{
    struct version_rank x = rank_of(a), y = rank_of(b);

    if (x.stage < 0 && y.stage < 0)
        return str_cmp(a, b);
    if (x.stage != y.stage)
        return x.stage > y.stage ? -1 : 1;
    if (x.major != y.major)
        return x.major > y.major ? -1 : 1;
    return x.minor == y.minor ? 0 : x.minor > y.minor ? -1 : 1;
}

static int compare_rows(const void *a, const void *b)
{
    const struct api_resource *x = a, *y = b;

    return api_version_compare(x->version, y->version);
}

static struct str join_names(struct arena *a, struct value list)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(API_OBJECT_MAX);

    for (struct value_iter it = value_iter(list); value_next(&it);) {
        if (b.n > 0)
            buf_addc(&b, ',');
        buf_addstr(&b, value_str(it.v));
    }
    return arena_dup(a, buf_str(&b));
}

static int fill_custom(struct api_crd *d, struct value crd, struct value version, struct str stored,
                       struct api_resource *r, struct err **err)
{
    struct value spec = value_getz(crd, "spec"), names = value_path(crd, "status.acceptedNames");
    struct value sub = value_getz(version, "subresources");
    struct api_printer *printer = NULL;
    int e;

    if (value_len(names) == 0)
        names = value_getz(spec, "names");
    *r = (struct api_resource){
        .group = value_str(value_getz(spec, "group")),
        .version = value_str(value_getz(version, "name")),
        .kind = value_str(value_getz(names, "kind")),
        .list_kind = value_str(value_getz(names, "listKind")),
        .plural = value_str(value_getz(names, "plural")),
        .singular = value_str(value_getz(names, "singular")),
        .short_names = join_names(d->arena, value_getz(names, "shortNames")),
        .categories = join_names(d->arena, value_getz(names, "categories")),
        .namespaced = str_eq(value_str(value_getz(spec, "scope")), STR("Namespaced")),
        .verbs = CUSTOM_VERBS,
        .flags = API_RES_NO_UNCONDITIONAL,
        .crd = d,
        .openapi = value_path(version, "schema.openAPIV3Schema"),
        .selectable = value_getz(version, "selectableFields"),
        .scale = value_getz(sub, "scale"),
        .has_status = value_is_map(value_getz(sub, "status")),
        .deprecated = value_bool(value_getz(version, "deprecated")),
        .deprecation_warning = value_str(value_getz(version, "deprecationWarning")),
    };
    r->has_scale = value_is_map(r->scale);
    r->id = make_id(d->arena, r->group, r->plural);
    r->api_version = make_api_version(d->arena, r->group, r->version);
    r->stored_version = make_api_version(d->arena, r->group, stored);
    e = api_schema_new(r->openapi, &r->schema, err);
    if (e < 0)
        return e;
    e = api_printer_new(value_getz(version, "additionalPrinterColumns"), &printer, err);
    r->printer = printer;
    return e;
}

static bool condition_true(struct value crd, const char *type)
{
    struct value conditions = value_path(crd, "status.conditions");

    for (struct value_iter it = value_iter(conditions); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "type")), str_from(type)))
            return str_eq(value_str(value_getz(it.v, "status")), STR("True"));
    return false;
}

static struct str storage_version(struct value versions)
{
    for (struct value_iter it = value_iter(versions); value_next(&it);)
        if (value_bool(value_getz(it.v, "storage")))
            return value_str(value_getz(it.v, "name"));
    return STR("");
}

static int crd_compile(struct api_crd *d, struct value crd, struct err **err)
{
    struct value versions = value_path(crd, "spec.versions");
    struct str stored = storage_version(versions);

    if (!condition_true(crd, "Established"))
        return 0;
    d->rows = ARENA_ARRAY(d->arena, struct api_resource, value_len(versions));
    for (struct value_iter it = value_iter(versions); value_next(&it);) {
        int r;

        if (!value_bool(value_getz(it.v, "served")))
            continue;
        r = fill_custom(d, crd, it.v, stored, &d->rows[d->n_rows], err);
        d->n_rows++; /* also when it failed: what it holds is released with the rest */
        if (r < 0)
            return err_wrap(err, r, "CustomResourceDefinition " STR_FMT, STR_ARG(d->name));
    }
    qsort(d->rows, d->n_rows, sizeof(d->rows[0]), compare_rows);
    return 0;
}

static int crd_new(const struct api_row *row, struct api_crd **ret, struct err **err)
{
    CLEANUP(crd_unref) struct api_crd *d = xcalloc(1, sizeof(*d));
    struct value crd;
    int r;

    d->refs = 1;
    d->arena = arena_new(API_REQUEST_MEMORY_MAX);
    d->name = arena_dup(d->arena, row->key.name);
    d->rv = row->rv;
    r = json_parse(d->arena, arena_dup(d->arena, row->json), NULL, &crd, err);
    if (r < 0)
        return r;
    r = crd_compile(d, crd, err);
    if (r < 0)
        return r;
    *ret = TAKE(d);
    return 0;
}

/* ---- building ------------------------------------------------------------------------------------------------ */

struct builder {
    struct api_catalog *catalog, *old;
};

static struct api_crd *find_crd(const struct api_catalog *c, const struct api_row *row)
{
    for (size_t i = 0; c && i < c->n_crds; i++)
        if (c->crds[i]->rv == row->rv && str_eq(c->crds[i]->name, row->key.name))
            return c->crds[i];
    return NULL;
}

static int on_crd(void *ctx, const struct api_row *row, struct err **err)
{
    struct builder *b = ctx;
    struct api_crd *d = find_crd(b->old, row);
    struct api_catalog *c = b->catalog;

    if (d) {
        atomic_fetch_add(&d->refs, 1);
    } else if (crd_new(row, &d, err) < 0) {
        /* One CRD that no longer compiles must not take the others down. */
        log_warn("custom resource definition is not served", LOG_STR("name", row->key.name));
        return 0;
    }
    ARRAY_GROW(c->crds, c->cap_crds, c->n_crds + 1);
    c->crds[c->n_crds++] = d;
    return 1;
}

static int compare_crds(const void *a, const void *b)
{
    const struct api_crd *x = *(struct api_crd *const *)a, *y = *(struct api_crd *const *)b;

    if (x->n_rows == 0 || y->n_rows == 0)
        return (x->n_rows == 0) - (y->n_rows == 0);
    if (!str_eq(x->rows[0].group, y->rows[0].group))
        return str_cmp(x->rows[0].group, y->rows[0].group);
    return str_cmp(x->rows[0].plural, y->rows[0].plural);
}

static void fill_rows(struct api_catalog *c)
{
    size_t n_kinds, total;
    const struct api_kind *kinds = api_kind_all(&n_kinds);

    total = n_kinds;
    for (size_t i = 0; i < c->n_crds; i++)
        total += c->crds[i]->n_rows;
    c->rows = ARENA_ARRAY(c->arena, struct api_resource, total);
    for (size_t i = 0; i < n_kinds; i++)
        fill_builtin(c->arena, &kinds[i], &c->rows[c->n++]);
    for (size_t i = 0; i < c->n_crds; i++)
        for (size_t j = 0; j < c->crds[i]->n_rows; j++)
            c->rows[c->n++] = c->crds[i]->rows[j];
}

static void link_rows(struct api_catalog *c)
{
    c->digest = 1469598103934665603ULL;
    for (size_t i = 0; i < c->n; i++) {
        struct api_resource *r = &c->rows[i];

        r->storage = api_catalog_find_id(c, r->id);
        if (r->builtin)
            r->stored_version = r->storage->api_version;
    }
    for (size_t i = 0; i < c->n_crds; i++)
        c->digest = (c->digest ^ (uint64_t)c->crds[i]->rv) * 1099511628211ULL;
}

int api_catalog_new(struct api_store *s, struct api_catalog *old, struct api_catalog **ret, struct err **err)
{
    CLEANUP(api_catalog_unref) struct api_catalog *c = xcalloc(1, sizeof(*c));
    struct builder b = { c, old };
    const struct api_list q = { .resource = STR(CRD_RESOURCE) };
    struct api_list_end end;
    int r;

    c->refs = 1;
    c->arena = arena_new(API_REQUEST_MEMORY_MAX);
    r = api_store_list(s, &q, on_crd, &b, &end, err);
    if (r < 0)
        return r;
    if (c->n_crds > 0)
        qsort(c->crds, c->n_crds, sizeof(struct api_crd *), compare_crds);
    fill_rows(c);
    link_rows(c);
    *ret = TAKE(c);
    return 0;
}

struct api_catalog *api_catalog_ref(struct api_catalog *c)
{
    atomic_fetch_add(&c->refs, 1);
    return c;
}

struct api_catalog *api_catalog_unref(struct api_catalog *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
        return NULL;
    for (size_t i = 0; i < c->n_crds; i++)
        crd_unref(c->crds[i]);
    free(c->crds);
    arena_free(c->arena);
    free(c);
    return NULL;
}

/* ---- finding ------------------------------------------------------------------------------------------------- */

const struct api_resource *api_catalog_all(const struct api_catalog *c, size_t *ret_n)
{
    *ret_n = c->n;
    return c->rows;
}

const struct api_resource *api_catalog_find(const struct api_catalog *c, struct str group, struct str version,
                                            struct str plural)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->rows[i].plural, plural) && str_eq(c->rows[i].group, group) &&
            str_eq(c->rows[i].version, version))
            return &c->rows[i];
    return NULL;
}

const struct api_resource *api_catalog_find_kind(const struct api_catalog *c, struct str group,
                                                 struct str version, struct str kind)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->rows[i].kind, kind) && str_eq(c->rows[i].group, group) &&
            (version.n == 0 || str_eq(c->rows[i].version, version)))
            return &c->rows[i];
    return NULL;
}

/* Of a custom kind any served row does: the stored version need not be served. */
const struct api_resource *api_catalog_find_id(const struct api_catalog *c, struct str id)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->rows[i].id, id))
            return &c->rows[i];
    return NULL;
}

bool api_catalog_has_version(const struct api_catalog *c, struct str group, struct str version)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->rows[i].group, group) && str_eq(c->rows[i].version, version))
            return true;
    return false;
}

uint64_t api_catalog_digest(const struct api_catalog *c)
{
    return c->digest;
}

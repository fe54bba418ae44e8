/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/server.h"
#include "base/digest.h"
#include "base/limits.h"

#define AGGREGATED_V2 "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define AGGREGATED_V2BETA1 "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

/* ---- groups -------------------------------------------------------------------------------------------------- */

struct group {
    struct str name;
    const struct api_resource *const *versions; /* one row of each version, preferred first */
    size_t n;
};

struct groups {
    struct group *items;
    size_t n;
};

static struct group *group_of(struct groups *g, struct str name)
{
    for (size_t i = 0; i < g->n; i++)
        if (str_eq(g->items[i].name, name))
            return &g->items[i];
    return NULL;
}

static bool has_version(const struct group *g, struct str version)
{
    for (size_t i = 0; i < g->n; i++)
        if (str_eq(g->versions[i]->version, version))
            return true;
    return false;
}

/* Built-in versions keep the table's order; those of a custom group come from several CRDs. */
static void add_version(struct arena *a, struct group *g, const struct api_resource *row)
{
    const struct api_resource **more;
    size_t at = g->n;

    if (has_version(g, row->version))
        return;
    more = ARENA_ARRAY(a, const struct api_resource *, g->n + 1);
    while (row->crd && at > 0 && api_version_compare(row->version, g->versions[at - 1]->version) < 0)
        at--;
    for (size_t i = 0; i < g->n; i++)
        more[i + (i >= at)] = g->versions[i];
    more[at] = row;
    g->n++;
    g->versions = more;
}

static struct groups collect(struct api_request *rq)
{
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);
    struct groups g = { .items = ARENA_ARRAY(rq->arena, struct group, n) };

    for (size_t i = 0; i < n; i++) {
        struct group *one = group_of(&g, rows[i].group);

        if (!one) {
            one = &g.items[g.n++];
            *one = (struct group){ .name = rows[i].group };
        }
        add_version(rq->arena, one, &rows[i]);
    }
    return g;
}

/* ---- pieces -------------------------------------------------------------------------------------------------- */

static void on_verb(void *ctx, const char *verb)
{
    struct value_list *l = ctx;

    value_list_add(l, value_from_str(str_from(verb)));
}

static struct value verbs_value(struct api_request *rq, uint16_t verbs)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    api_kind_each_verb(verbs, on_verb, &l);
    return value_list_done(&l);
}

static void set_names(struct api_request *rq, struct value v, const char *key, struct str list)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    struct str one;

    if (list.n == 0)
        return;
    while (str_split(&list, ',', &one))
        value_list_add(&l, value_from_str(one));
    value_set(v, str_from(key), value_list_done(&l));
}

static struct value gvk(struct api_request *rq, struct str group, struct str version, struct str kind)
{
    struct value v = value_new_map(rq->arena);

    value_setz(v, "group", value_from_str(group));
    value_setz(v, "version", value_from_str(version));
    value_setz(v, "kind", value_from_str(kind));
    return v;
}

/* A custom kind's subresources in the form of a built-in one's. */
static const struct api_subresource *subresources_of(struct api_request *rq, const struct api_resource *r,
                                                     size_t *n)
{
    const uint16_t verbs = API_VERB_GET | API_VERB_PATCH | API_VERB_UPDATE;
    struct api_subresource *s;

    if (r->builtin) {
        *n = r->builtin->n_subresources;
        return r->builtin->subresources;
    }
    s = ARENA_ARRAY(rq->arena, struct api_subresource, 2);
    *n = 0;
    if (r->has_status)
        s[(*n)++] = (struct api_subresource){ "status",
                                              arena_dupz(rq->arena, r->group),
                                              arena_dupz(rq->arena, r->version),
                                              arena_dupz(rq->arena, r->kind),
                                              verbs,
                                              0 };
    if (r->has_scale)
        s[(*n)++] = (struct api_subresource){ "scale", "autoscaling", "v1", "Scale", verbs, 0 };
    return s;
}

/* ---- legacy form --------------------------------------------------------------------------------------------- */

static void add_legacy_subresources(struct api_request *rq, const struct api_resource *r,
                                    struct value_list *l)
{
    size_t n;
    const struct api_subresource *s = subresources_of(rq, r, &n);

    for (size_t i = 0; i < n; i++) {
        struct value v = value_new_map(rq->arena);

        value_setz(v, "name",
                   value_from_str(arena_printf(rq->arena, STR_FMT "/%s", STR_ARG(r->plural), s[i].name)));
        value_setz(v, "singularName", VALUE_STR(""));
        value_setz(v, "namespaced", value_from_bool(r->namespaced));
        if (!str_eq(str_from(s[i].group), r->group) || !str_eq(str_from(s[i].version), r->version)) {
            value_setz(v, "group", value_from_str(str_from(s[i].group)));
            value_setz(v, "version", value_from_str(str_from(s[i].version)));
        }
        value_setz(v, "kind", value_from_str(str_from(s[i].kind)));
        value_setz(v, "verbs", verbs_value(rq, s[i].verbs));
        value_list_add(l, v);
    }
}

static struct value legacy_resource(struct api_request *rq, const struct api_resource *r)
{
    struct value v = value_new_map(rq->arena);
    char hash[SHA256_HEX];

    value_setz(v, "name", value_from_str(r->plural));
    value_setz(v, "singularName", value_from_str(r->singular));
    value_setz(v, "namespaced", value_from_bool(r->namespaced));
    value_setz(v, "kind", value_from_str(r->kind));
    value_setz(v, "verbs", verbs_value(rq, r->verbs));
    set_names(rq, v, "shortNames", r->short_names);
    set_names(rq, v, "categories", r->categories);
    if (!(r->flags & API_RES_VIRTUAL)) {
        sha256_hex(arena_printf(rq->arena, STR_FMT "/" STR_FMT, STR_ARG(r->stored_version), STR_ARG(r->kind)),
                   hash);
        value_setz(v, "storageVersionHash", api_str(rq, (struct str){ hash, 11 }));
    }
    return v;
}

static struct value resource_list(struct api_request *rq, struct str group, struct str version)
{
    struct value v = value_new_map(rq->arena);
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n; i++) {
        if (!str_eq(rows[i].group, group) || !str_eq(rows[i].version, version))
            continue;
        value_list_add(&l, legacy_resource(rq, &rows[i]));
        add_legacy_subresources(rq, &rows[i], &l);
    }
    value_setz(v, "kind", VALUE_STR("APIResourceList"));
    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "groupVersion",
               group.n == 0 ? value_from_str(version)
                            : value_from_str(arena_printf(rq->arena, STR_FMT "/" STR_FMT, STR_ARG(group),
                                                          STR_ARG(version))));
    value_setz(v, "resources", value_list_done(&l));
    return v;
}

static struct value group_version(struct api_request *rq, const struct api_resource *r)
{
    struct value v = value_new_map(rq->arena);

    value_setz(v, "groupVersion", value_from_str(r->api_version));
    value_setz(v, "version", value_from_str(r->version));
    return v;
}

static struct value legacy_group(struct api_request *rq, const struct group *g, bool with_kind)
{
    struct value v = value_new_map(rq->arena);
    struct value_list versions = VALUE_LIST_INIT(rq->arena);

    if (with_kind) {
        value_setz(v, "kind", VALUE_STR("APIGroup"));
        value_setz(v, "apiVersion", VALUE_STR("v1"));
    }
    for (size_t i = 0; i < g->n; i++)
        value_list_add(&versions, group_version(rq, g->versions[i]));
    value_setz(v, "name", value_from_str(g->name));
    value_setz(v, "versions", value_list_done(&versions));
    value_setz(v, "preferredVersion", group_version(rq, g->versions[0]));
    return v;
}

static struct value legacy_groups(struct api_request *rq)
{
    struct value v = value_new_map(rq->arena);
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    struct groups g = collect(rq);

    for (size_t i = 0; i < g.n; i++)
        if (g.items[i].name.n > 0)
            value_list_add(&l, legacy_group(rq, &g.items[i], false));
    value_setz(v, "kind", VALUE_STR("APIGroupList"));
    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "groups", value_list_done(&l));
    return v;
}

static struct value legacy_versions(struct api_request *rq)
{
    struct value v = value_new_map(rq->arena), address = value_new_map(rq->arena);
    struct value_list versions = VALUE_LIST_INIT(rq->arena), addresses = VALUE_LIST_INIT(rq->arena);

    value_list_add(&versions, VALUE_STR("v1"));
    value_setz(address, "clientCIDR", VALUE_STR("0.0.0.0/0"));
    value_setz(address, "serverAddress",
               api_str(rq, str_trim_prefix(str_from(rq->server->url), STR("https://"))));
    value_list_add(&addresses, address);
    value_setz(v, "kind", VALUE_STR("APIVersions"));
    value_setz(v, "versions", value_list_done(&versions));
    value_setz(v, "serverAddressByClientCIDRs", value_list_done(&addresses));
    return v;
}

/* ---- aggregated form ----------------------------------------------------------------------------------------- */

static struct value aggregated_subresources(struct api_request *rq, const struct api_resource *r)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    size_t n;
    const struct api_subresource *s = subresources_of(rq, r, &n);

    for (size_t i = 0; i < n; i++) {
        struct value v = value_new_map(rq->arena);

        value_setz(v, "subresource", value_from_str(str_from(s[i].name)));
        value_setz(v, "responseKind",
                   gvk(rq, str_from(s[i].group), str_from(s[i].version), str_from(s[i].kind)));
        value_setz(v, "verbs", verbs_value(rq, s[i].verbs));
        value_list_add(&l, v);
    }
    return value_list_done(&l);
}

static struct value aggregated_resource(struct api_request *rq, const struct api_resource *r)
{
    struct value v = value_new_map(rq->arena), subs = aggregated_subresources(rq, r);

    value_setz(v, "resource", value_from_str(r->plural));
    value_setz(v, "responseKind", gvk(rq, r->group, r->version, r->kind));
    value_setz(v, "scope", r->namespaced ? VALUE_STR("Namespaced") : VALUE_STR("Cluster"));
    value_setz(v, "singularResource", value_from_str(r->singular));
    value_setz(v, "verbs", verbs_value(rq, r->verbs));
    set_names(rq, v, "shortNames", r->short_names);
    set_names(rq, v, "categories", r->categories);
    if (value_len(subs) > 0)
        value_setz(v, "subresources", subs);
    return v;
}

static struct value aggregated_version(struct api_request *rq, struct str group, struct str version)
{
    struct value v = value_new_map(rq->arena);
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(rows[i].group, group) && str_eq(rows[i].version, version))
            value_list_add(&l, aggregated_resource(rq, &rows[i]));
    value_setz(v, "version", value_from_str(version));
    value_setz(v, "freshness", VALUE_STR("Current"));
    value_setz(v, "resources", value_list_done(&l));
    return v;
}

static struct value aggregated_group(struct api_request *rq, const struct group *g)
{
    struct value v = value_new_map(rq->arena), meta = value_new_map(rq->arena);
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    for (size_t i = 0; i < g->n; i++)
        value_list_add(&l, aggregated_version(rq, g->name, g->versions[i]->version));
    if (g->name.n > 0)
        value_setz(meta, "name", value_from_str(g->name));
    value_setz(meta, "creationTimestamp", VALUE_NONE);
    value_setz(v, "metadata", meta);
    value_setz(v, "versions", value_list_done(&l));
    return v;
}

static struct value aggregated(struct api_request *rq, bool core, bool beta)
{
    struct value v = value_new_map(rq->arena);
    struct value_list l = VALUE_LIST_INIT(rq->arena);
    struct groups g = collect(rq);

    for (size_t i = 0; i < g.n; i++)
        if ((g.items[i].name.n == 0) == core)
            value_list_add(&l, aggregated_group(rq, &g.items[i]));
    value_setz(v, "kind", VALUE_STR("APIGroupDiscoveryList"));
    value_setz(v, "apiVersion",
               beta ? VALUE_STR("apidiscovery.k8s.io/v2beta1") : VALUE_STR("apidiscovery.k8s.io/v2"));
    value_setz(v, "metadata", value_new_map(rq->arena));
    value_setz(v, "items", value_list_done(&l));
    return v;
}

/* The first clause of Accept that names a form: 2 for v2, 1 for v2beta1, 0 for legacy. */
static int wanted_form(struct api_request *rq)
{
    struct str rest = rq->accept, clause;

    while (str_split(&rest, ',', &clause)) {
        if (str_contains(clause, STR("as=APIGroupDiscoveryList"))) {
            if (str_contains(clause, STR("v=v2beta1")))
                return 1;
            if (str_contains(clause, STR("v=v2")))
                return 2;
            continue;
        }
        if (str_has_prefix(str_trim(clause), STR("application/json")) || str_contains(clause, STR("*/*")))
            return 0;
    }
    return 0;
}

/* The document with its ETag, or 304 when the client has it. */
static int answer_cached(struct api_request *rq, const char *type, struct value v)
{
    char hash[SHA256_HEX], etag[SHA256_HEX + 2];

    if (api_answer_value(rq, 200, v) < 0)
        return -1;
    rq->type = type;
    sha256_hex(buf_str(&rq->out), hash);
    for (size_t i = 0; hash[i]; i++)
        hash[i] = ascii_upper(hash[i]);
    etag[0] = '"';
    memcpy(etag + 1, hash, SHA256_HEX - 1);
    memcpy(etag + SHA256_HEX, "\"", 2);
    api_answer_header(rq, "ETag", str_from(etag));
    api_answer_header(rq, "Vary", STR("Accept"));
    api_answer_header(rq, "Cache-Control", STR("public"));
    if (str_eq(rq->if_none_match, str_from(etag))) {
        rq->code = 304;
        buf_clear(&rq->out);
    }
    return 0;
}

static int serve_root(struct api_request *rq, bool core)
{
    switch (wanted_form(rq)) {
    case 2:
        return answer_cached(rq, AGGREGATED_V2, aggregated(rq, core, false));
    case 1:
        return answer_cached(rq, AGGREGATED_V2BETA1, aggregated(rq, core, true));
    default:
        api_answer_header(rq, "Vary", STR("Accept"));
        return api_answer_value(rq, 200, core ? legacy_versions(rq) : legacy_groups(rq));
    }
}

static int serve_group(struct api_request *rq, struct str rest, bool *ret_mine)
{
    struct groups g;
    struct group *one;
    struct str name;

    str_split(&rest, '/', &name);
    if (rest.n > 0) {
        if (!api_catalog_has_version(rq->catalog, name, rest)) {
            *ret_mine = false;
            return 0;
        }
        return api_answer_value(rq, 200, resource_list(rq, name, rest));
    }
    g = collect(rq);
    one = group_of(&g, name);
    if (!one || name.n == 0) {
        *ret_mine = false;
        return 0;
    }
    return api_answer_value(rq, 200, legacy_group(rq, one, true));
}

int api_discovery_serve(struct api_request *rq, bool *ret_mine)
{
    struct str path = str_trim_suffix(rq->path, STR("/"));

    *ret_mine = true;
    if (rq->method == API_GET || rq->method == API_HEAD) {
        if (str_eq(path, STR("/api")))
            return serve_root(rq, true);
        if (str_eq(path, STR("/apis")))
            return serve_root(rq, false);
        if (str_eq(path, STR("/api/v1")))
            return api_answer_value(rq, 200, resource_list(rq, STR(""), STR("v1")));
        if (str_has_prefix(path, STR("/apis/")))
            return serve_group(rq, str_sub(path, 6, path.n), ret_mine);
    }
    *ret_mine = false;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the server serves. A single kind is looked up with one small request for its group version; the whole is asked
 * only for Capabilities and for names that a person typed. */
#include "base/clock.h"
#include "kube/kube_int.h"
#include "json/json.h"

#define ASK_AGAIN_MS 2000
#define MEMORY_MAX (64 * MIB)
#define RESOURCES_MAX ((size_t)100000)
#define AGGREGATED                                                               \
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"      \
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," \
    "application/json"

struct kube_resource { /* one row of the whole discovery */
    const struct kube_kind *kind;
    struct str singular;
    struct str *short_names;
    size_t n_short_names;
};

struct asked {
    int64_t at_ms;
};

void kube_discovery_init(struct kube_discovery *d)
{
    pthread_mutex_init(&d->asking, NULL);
    pthread_mutex_init(&d->lock, NULL);
    d->memory = arena_new(MEMORY_MAX);
}

static void forget_all(struct kube_discovery *d)
{
    free(d->resources);
    free(d->versions);
    d->resources = NULL;
    d->versions = NULL;
    d->n_resources = d->cap_resources = d->n_versions = d->cap_versions = 0;
    map_done(&d->version_set);
    d->version_set = MAP_INIT;
    d->complete = false;
}

void kube_discovery_done(struct kube_discovery *d)
{
    forget_all(d);
    map_done(&d->kinds);
    map_done(&d->asked);
    arena_free(d->memory);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->asking);
}

void kube_discovery_forget(struct kube *k)
{
    struct kube_discovery *d = &k->conn->discovery;

    pthread_mutex_lock(&d->lock);
    forget_all(d);
    map_done(&d->asked);
    d->asked = MAP_INIT;
    pthread_mutex_unlock(&d->lock);
}

/* ---- kinds that are known; all under the lock --------------------------------------------------------------------- */

static void kind_key(struct str api_version, struct str kind, struct buf *out)
{
    buf_addstr(out, api_version);
    buf_addc(out, ' ');
    buf_addstr(out, kind);
}

static const struct kube_kind *known(const struct kube_discovery *d, struct str api_version, struct str kind)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(64 * KIB);

    kind_key(api_version, kind, &key);
    return map_get(&d->kinds, buf_str(&key));
}

static const struct kube_kind *learn(struct kube_discovery *d, struct str api_version, struct str kind,
                                     struct str plural, bool namespaced)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(64 * KIB);
    const struct kube_kind *old = known(d, api_version, kind);
    size_t slash = str_find_char(api_version, '/');
    struct kube_kind *k;

    if (old && str_eq(old->plural, plural) && old->namespaced == namespaced)
        return old;
    k = ARENA_NEW(d->memory, struct kube_kind);
    k->api_version = arena_dup(d->memory, api_version);
    k->group = slash == STR_NPOS ? STR("") : str_sub(k->api_version, 0, slash);
    k->version = slash == STR_NPOS ? k->api_version : str_sub(k->api_version, slash + 1, k->api_version.n);
    k->kind = arena_dup(d->memory, kind);
    k->plural = arena_dup(d->memory, plural);
    k->namespaced = namespaced;
    kind_key(api_version, kind, &key);
    map_put(&d->kinds, buf_str(&key), k);
    return k;
}

void kube_kind_add(struct kube *k, struct str api_version, struct str kind, struct str plural,
                   bool namespaced)
{
    struct kube_discovery *d = &k->conn->discovery;

    pthread_mutex_lock(&d->lock);
    learn(d, api_version, kind, plural, namespaced);
    pthread_mutex_unlock(&d->lock);
}

void kube_kind_forget(struct kube *k, struct str api_version, struct str kind)
{
    struct kube_discovery *d = &k->conn->discovery;
    CLEANUP(buf_done) struct buf key = BUF_INIT(4 * KIB);

    kind_key(api_version, kind, &key);
    pthread_mutex_lock(&d->lock);
    map_remove(&d->kinds, buf_str(&key));
    pthread_mutex_unlock(&d->lock);
}

static void add_version(struct kube_discovery *d, struct str v)
{
    if (v.n == 0 || map_has(&d->version_set, v) || d->n_versions >= RESOURCES_MAX)
        return;
    v = arena_dup(d->memory, v);
    map_put(&d->version_set, v, d);
    ARRAY_GROW(d->versions, d->cap_versions, d->n_versions + 1);
    d->versions[d->n_versions++] = v;
}

/* "apps/v1/Deployment", as Helm's GetVersionSet(). */
static void add_kind_version(struct kube_discovery *d, struct str api_version, struct str kind)
{
    CLEANUP(buf_done) struct buf id = BUF_INIT(64 * KIB);

    buf_addf(&id, STR_FMT "/" STR_FMT, STR_ARG(api_version), STR_ARG(kind));
    add_version(d, kind.n > 0 ? buf_str(&id) : api_version);
}

static void add_resource(struct kube_discovery *d, const struct kube_kind *kind, struct str singular,
                         struct value short_names)
{
    struct kube_resource *r;

    if (d->n_resources >= RESOURCES_MAX || arena_failed(d->memory))
        return;
    ARRAY_GROW(d->resources, d->cap_resources, d->n_resources + 1);
    r = &d->resources[d->n_resources++];
    *r = (struct kube_resource){ .kind = kind, .singular = arena_dup(d->memory, singular) };
    r->n_short_names = value_is_list(short_names) ? value_len(short_names) : 0;
    r->short_names = ARENA_ARRAY(d->memory, struct str, r->n_short_names);
    for (size_t i = 0; i < r->n_short_names; i++)
        r->short_names[i] = arena_dup(d->memory, value_str(value_at(short_names, i)));
}

/* ---- the legacy form: APIResourceList ----------------------------------------------------------------------------- */

static void take_resource_list(struct kube_discovery *d, struct value list, bool whole)
{
    struct str api_version = value_str(value_getz(list, "groupVersion"));
    struct value_iter it = value_iter(value_getz(list, "resources"));

    while (value_next(&it)) {
        struct str name = value_str(value_getz(it.v, "name")), kind = value_str(value_getz(it.v, "kind"));
        const struct kube_kind *k;

        if (whole)
            add_kind_version(d, api_version, kind);
        if (str_find_char(name, '/') != STR_NPOS || name.n == 0 || kind.n == 0)
            continue; /* a subresource */
        k = learn(d, api_version, kind, name, value_bool(value_getz(it.v, "namespaced")));
        if (whole)
            add_resource(d, k, value_str(value_getz(it.v, "singularName")), value_getz(it.v, "shortNames"));
    }
}

static int get_json(struct kube *k, struct arena *a, const char *path, const char *accept,
                    struct str *ret_type, struct value *ret, struct err **err)
{
    CLEANUP(exchange_done) struct kube_exchange_state x = { 0 };
    CLEANUP(http_response_done) struct http_response res = { 0 };
    int r = exchange_init_raw(&x, k, path, accept, err);

    if (r < 0)
        return r;
    x.verb = "discovery";
    r = exchange_run(&x, &res, err);
    if (r < 0)
        return r;
    if (ret_type)
        *ret_type = arena_dup(a, http_response_header(&res, STR("Content-Type")));
    return exchange_decode(&x, a, &res, ret, err);
}

static void group_version_path(struct str api_version, struct buf *out)
{
    buf_adds(out, str_find_char(api_version, '/') == STR_NPOS ? "/api/" : "/apis/");
    url_escape(api_version, "/", out);
}

/* May this group version be asked now? Notes it. */
static bool may_ask(struct kube_discovery *d, struct str api_version)
{
    struct asked *asked = map_get(&d->asked, api_version);
    int64_t now = clock_mono_ms();

    if (asked && now - asked->at_ms < ASK_AGAIN_MS)
        return false;
    if (!asked) {
        asked = ARENA_NEW(d->memory, struct asked);
        map_put(&d->asked, api_version, asked);
    }
    asked->at_ms = now;
    return true;
}

static int ask_group_version(struct kube *k, struct str api_version, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MEMORY_MAX);
    CLEANUP(buf_done) struct buf path = BUF_INIT(4 * KIB);
    CLEANUP(err_free) struct err *e = NULL;
    struct kube_discovery *d = &k->conn->discovery;
    struct value list;
    int r;

    group_version_path(api_version, &path);
    r = get_json(k, a, buf_z(&path), NULL, NULL, &list, &e);
    if (r == -ERRC_NOT_FOUND)
        return 0;
    if (r < 0)
        return err_set(err, err_code(e), "discovery of " STR_FMT ": %s", STR_ARG(api_version),
                       err_message(e));
    pthread_mutex_lock(&d->lock);
    take_resource_list(d, list, false);
    pthread_mutex_unlock(&d->lock);
    return 0;
}

static int no_match(struct str api_version, struct str kind, struct err **err)
{
    int r = err_set(err, ERRC_NOT_FOUND, "no matches for kind \"" STR_FMT "\" in version \"" STR_FMT "\"",
                    STR_ARG(kind), STR_ARG(api_version));

    if (err)
        err_set_http(*err, 0, STR("NoMatch"), 0);
    return r;
}

static const struct kube_kind *find_known(struct kube_discovery *d, struct str api_version, struct str kind)
{
    const struct kube_kind *found;

    pthread_mutex_lock(&d->lock);
    found = known(d, api_version, kind);
    if (!found)
        found = kube_builtin_kind(api_version, kind);
    pthread_mutex_unlock(&d->lock);
    return found;
}

int kube_kind_find(struct kube *k, struct str api_version, struct str kind, const struct kube_kind **ret,
                   struct err **err)
{
    struct kube_discovery *d = &k->conn->discovery;
    const struct kube_kind *found = find_known(d, api_version, kind);
    bool ask;
    int r = 0;

    if (!found && api_version.n < 512) {
        pthread_mutex_lock(&d->asking);
        found = find_known(d, api_version, kind);
        pthread_mutex_lock(&d->lock);
        ask = !found && may_ask(d, api_version);
        pthread_mutex_unlock(&d->lock);
        if (ask)
            r = ask_group_version(k, api_version, err);
        if (ask && r == 0)
            found = find_known(d, api_version, kind);
        pthread_mutex_unlock(&d->asking);
    }
    if (r < 0)
        return r;
    if (!found)
        return no_match(api_version, kind, err);
    *ret = found;
    return 0;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static void take_aggregated_version(struct kube_discovery *d, struct str group, struct value version)
{
    CLEANUP(buf_done) struct buf api_version = BUF_INIT(4 * KIB);
    struct value_iter it = value_iter(value_getz(version, "resources"));

    if (group.n > 0)
        buf_addf(&api_version, STR_FMT "/", STR_ARG(group));
    buf_addstr(&api_version, value_str(value_getz(version, "version")));
    add_version(d, buf_str(&api_version));
    while (value_next(&it)) {
        struct str kind = value_str(value_path(it.v, "responseKind.kind"));
        struct value_iter sub = value_iter(value_getz(it.v, "subresources"));
        bool namespaced = str_eq(value_str(value_getz(it.v, "scope")), STR("Namespaced"));

        while (value_next(&sub))
            add_kind_version(d, buf_str(&api_version), value_str(value_path(sub.v, "responseKind.kind")));
        if (kind.n == 0)
            continue;
        add_kind_version(d, buf_str(&api_version), kind);
        add_resource(
            d, learn(d, buf_str(&api_version), kind, value_str(value_getz(it.v, "resource")), namespaced),
            value_str(value_getz(it.v, "singularResource")), value_getz(it.v, "shortNames"));
    }
}

static void take_aggregated(struct kube_discovery *d, struct value list)
{
    struct value_iter group = value_iter(value_getz(list, "items"));

    while (value_next(&group)) {
        struct str name = value_str(value_path(group.v, "metadata.name"));
        struct value_iter version = value_iter(value_getz(group.v, "versions"));

        while (value_next(&version))
            take_aggregated_version(d, name, version.v);
    }
}

static void collect_group_versions(struct value api, struct value apis, struct value_list *out)
{
    struct value_iter it = value_iter(value_getz(api, "versions")),
                      group = value_iter(value_getz(apis, "groups"));

    while (value_next(&it))
        value_list_add(out, it.v);
    while (value_next(&group)) {
        struct value_iter version = value_iter(value_getz(group.v, "versions"));

        while (value_next(&version))
            value_list_add(out, value_getz(version.v, "groupVersion"));
    }
}

/* One request per group version; one that fails is left out. */
static void ask_legacy(struct kube *k, struct arena *a, struct value api, struct value apis)
{
    struct kube_discovery *d = &k->conn->discovery;
    struct value_list names = VALUE_LIST_INIT(a);

    collect_group_versions(api, apis, &names);
    for (size_t i = 0; i < names.n; i++) {
        CLEANUP(buf_done) struct buf path = BUF_INIT(4 * KIB);
        struct value list;

        group_version_path(value_str(names.items[i]), &path);
        pthread_mutex_lock(&d->lock);
        add_version(d, value_str(names.items[i]));
        pthread_mutex_unlock(&d->lock);
        if (get_json(k, a, buf_z(&path), NULL, NULL, &list, NULL) < 0)
            continue;
        pthread_mutex_lock(&d->lock);
        take_resource_list(d, list, true);
        pthread_mutex_unlock(&d->lock);
    }
}

static int cmp_version(const void *a, const void *b)
{
    const struct str *x = a, *y = b;

    return str_cmp(*x, *y);
}

static int ask_all(struct kube *k, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(2 * MEMORY_MAX);
    struct kube_discovery *d = &k->conn->discovery;
    struct str type = STR("");
    struct value api, apis;
    int r = get_json(k, a, "/api", AGGREGATED, NULL, &api, err);

    if (r == 0)
        r = get_json(k, a, "/apis", AGGREGATED, &type, &apis, err);
    if (r < 0)
        return err_wrap(err, r, "discovery");
    pthread_mutex_lock(&d->lock);
    forget_all(d);
    if (str_contains(type, STR("as=APIGroupDiscoveryList"))) {
        take_aggregated(d, api);
        take_aggregated(d, apis);
    }
    pthread_mutex_unlock(&d->lock);
    if (!str_contains(type, STR("as=APIGroupDiscoveryList")))
        ask_legacy(k, a, api, apis);
    pthread_mutex_lock(&d->lock);
    if (d->n_versions > 0)
        qsort(d->versions, d->n_versions, sizeof(*d->versions), cmp_version);
    d->complete = true;
    d->complete_ms = clock_mono_ms();
    pthread_mutex_unlock(&d->lock);
    return 0;
}

static int need_all(struct kube *k, bool again, struct err **err)
{
    struct kube_discovery *d = &k->conn->discovery;
    bool complete;

    pthread_mutex_lock(&d->lock);
    complete = d->complete && !(again && clock_mono_ms() - d->complete_ms >= ASK_AGAIN_MS);
    pthread_mutex_unlock(&d->lock);
    return complete ? 0 : ask_all(k, err);
}

int kube_api_versions(struct kube *k, struct arena *a, struct value *ret, struct err **err)
{
    struct kube_discovery *d = &k->conn->discovery;
    struct value_list out = VALUE_LIST_INIT(a);
    int r = need_all(k, false, err);

    if (r < 0)
        return r;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->n_versions; i++)
        value_list_add(&out, value_from_str(arena_dup(a, d->versions[i])));
    pthread_mutex_unlock(&d->lock);
    *ret = value_list_done(&out);
    return 0;
}

/* "deployments", "deploy", "Deployment", "deployments.apps", "deployments.v1.apps". */
static bool resource_matches(const struct kube_resource *r, struct str name)
{
    size_t dot = str_find_char(name, '.');
    struct str head = dot == STR_NPOS ? name : str_sub(name, 0, dot);
    struct str tail = dot == STR_NPOS ? STR("") : str_sub(name, dot + 1, name.n);
    bool match = str_ieq(head, r->kind->plural) || str_ieq(head, r->kind->kind) ||
                 (r->singular.n && str_ieq(head, r->singular));

    for (size_t i = 0; i < r->n_short_names && !match; i++)
        match = str_ieq(head, r->short_names[i]);
    if (!match || tail.n == 0)
        return match;
    if (str_eq(tail, r->kind->group))
        return true;
    return str_has_prefix(tail, r->kind->version) && tail.n > r->kind->version.n &&
           tail.p[r->kind->version.n] == '.' &&
           str_eq(str_sub(tail, r->kind->version.n + 1, tail.n), r->kind->group);
}

static const struct kube_kind *find_resource(struct kube_discovery *d, struct str name)
{
    const struct kube_kind *found = NULL;

    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->n_resources && !found; i++) {
        if (resource_matches(&d->resources[i], name))
            found = d->resources[i].kind;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

int kube_kind_find_resource(struct kube *k, struct str name, const struct kube_kind **ret, struct err **err)
{
    const struct kube_kind *found = NULL;

    for (int i = 0; i < 2 && !found; i++) {
        int r = need_all(k, i > 0, err);

        if (r < 0)
            return r;
        found = find_resource(&k->conn->discovery, name);
    }
    if (!found)
        return err_set(err, ERRC_NOT_FOUND, "the server doesn't have a resource type \"" STR_FMT "\"",
                       STR_ARG(name));
    *ret = found;
    return 0;
}

int kube_server_version(struct kube *k, struct arena *a, struct value *ret, struct err **err)
{
    return get_json(k, a, "/version", NULL, NULL, ret, err);
}

int kube_reach(struct kube *k, struct err **err)
{
    CLEANUP(exchange_done) struct kube_exchange_state x = { 0 };
    CLEANUP(http_response_done) struct http_response res = { 0 };
    int r = exchange_init_raw(&x, k, "/version", NULL, err);

    x.once = true;
    if (r == 0)
        r = exchange_run(&x, &res, err);
    if (r == 0 && (res.status < 200 || res.status > 299))
        r = kube_status_error(res.status, res.body, res.retry_after_ms, false, err);
    return r;
}

int kube_raw_get(struct kube *k, const char *path, const char *accept, struct buf *out, struct err **err)
{
    CLEANUP(exchange_done) struct kube_exchange_state x = { 0 };
    CLEANUP(http_response_done) struct http_response res = { 0 };
    int r = exchange_init_raw(&x, k, path, accept, err);

    if (r == 0)
        r = exchange_run(&x, &res, err);
    if (r < 0)
        return r;
    if (res.status < 200 || res.status > 299) {
        r = kube_status_error(res.status, res.body, res.retry_after_ms, false, err);
        return err_wrap(err, r, "get %s", path);
    }
    buf_addstr(out, res.body);
    return buf_check(out, err);
}

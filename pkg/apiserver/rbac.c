/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "apiserver/auth.h"
#include "apiserver/select.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "base/map.h"
#include "json/json.h"

#define RBAC(plural) plural ".rbac.authorization.k8s.io"

enum { SOURCES = 4 };
static const char *const sources[SOURCES] = { RBAC("clusterroles"), RBAC("roles"),
                                              RBAC("clusterrolebindings"), RBAC("rolebindings") };

struct binding {
    struct str ns; /* "" for a ClusterRoleBinding */
    struct value subjects, rules;
};

/* All roles and bindings at one moment; constant, shared by reference count. */
struct policy {
    atomic_uint refs;
    struct arena *arena;
    int64_t stamps[SOURCES];
    struct map roles; /* "name" or "ns/name" to struct value * (rules) */
    struct binding *bindings;
    size_t n, cap;
};

struct api_rbac {
    pthread_mutex_t mutex; /* guards current */
    struct policy *current;
};

struct api_rbac *api_rbac_new(void)
{
    struct api_rbac *r = xcalloc(1, sizeof(*r));

    pthread_mutex_init(&r->mutex, NULL);
    return r;
}

static void policy_unref(struct policy *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    map_done(&p->roles);
    free(p->bindings);
    arena_free(p->arena);
    free(p);
}
DEFINE_CLEANUP(struct policy *, policy_unref)

void api_rbac_free(struct api_rbac *r)
{
    if (!r)
        return;
    policy_unref(r->current);
    pthread_mutex_destroy(&r->mutex);
    free(r);
}

/* ---- reading roles and bindings ------------------------------------------------------------------------------ */

static struct str role_key(struct arena *a, struct str ns, struct str name)
{
    return ns.n == 0 ? name : arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
}

struct role {
    struct value object, rules;
    struct str labels;
};

static int on_role(void *ctx, const struct api_row *row, struct err **err)
{
    struct policy *p = ctx;
    struct role *role = ARENA_NEW(p->arena, struct role);
    int r = json_parse(p->arena, arena_dup(p->arena, row->json), NULL, &role->object, err);

    if (r < 0)
        return r;
    role->rules = value_getz(role->object, "rules");
    role->labels = arena_dup(p->arena, row->labels);
    map_put(&p->roles, role_key(p->arena, row->key.ns, row->key.name), role);
    return 1;
}

static int on_binding(void *ctx, const struct api_row *row, struct err **err)
{
    struct policy *p = ctx;
    struct value obj, ref;
    const struct role *role;
    struct str ns;
    int r = json_parse(p->arena, arena_dup(p->arena, row->json), NULL, &obj, err);

    if (r < 0)
        return r;
    ref = value_getz(obj, "roleRef");
    ns = str_eq(value_str(value_getz(ref, "kind")), STR("Role")) ? row->key.ns : STR("");
    role = map_get(&p->roles, role_key(p->arena, ns, value_str(value_getz(ref, "name"))));
    if (!role)
        return 1;
    ARRAY_GROW(p->bindings, p->cap, p->n + 1);
    p->bindings[p->n++] = (struct binding){ .ns = arena_dup(p->arena, row->key.ns),
                                            .subjects = value_getz(obj, "subjects"),
                                            .rules = role->rules };
    return 1;
}

static bool selector_matches(struct value selector, struct str labels)
{
    struct value want = value_getz(selector, "matchLabels");
    struct str v;

    for (struct value_iter it = value_iter(want); value_next(&it);)
        if (!api_labels_get(labels, it.key, &v) || !str_eq(v, value_str(it.v)))
            return false;
    return value_len(want) > 0;
}

/* A role with an aggregationRule has the rules of all roles that one of its selectors matches. */
static void aggregate(struct policy *p, struct role *role)
{
    struct value selectors = value_path(role->object, "aggregationRule.clusterRoleSelectors");
    struct value_list rules = VALUE_LIST_INIT(p->arena);
    void *other;

    if (value_len(selectors) == 0)
        return;
    for (struct value_iter it = value_iter(role->rules); value_next(&it);)
        value_list_add(&rules, it.v);
    for (size_t i = 0; map_next(&p->roles, &i, NULL, &other);)
        for (struct value_iter s = value_iter(selectors); value_next(&s);)
            if (other != role && selector_matches(s.v, ((struct role *)other)->labels))
                for (struct value_iter it = value_iter(((struct role *)other)->rules); value_next(&it);)
                    value_list_add(&rules, it.v);
    role->rules = value_list_done(&rules);
}

static int policy_read(struct api_store *s, struct policy *p, struct err **err)
{
    struct api_list_end end;
    void *role;

    for (int i = 0; i < SOURCES; i++) {
        const struct api_list q = { .resource = str_from(sources[i]) };
        int r = api_store_list(s, &q, i < 2 ? on_role : on_binding, p, &end, err);

        if (r < 0)
            return r;
        for (size_t j = 0; i == 1 && map_next(&p->roles, &j, NULL, &role);)
            aggregate(p, role);
    }
    return 0;
}

static int read_stamps(struct api_store *s, int64_t stamps[SOURCES], struct err **err)
{
    for (int i = 0; i < SOURCES; i++) {
        int r = api_store_stamp(s, str_from(sources[i]), &stamps[i], err);

        if (r < 0)
            return r;
    }
    return 0;
}

/* The stamps are read first: what changes in between makes the next look-up read again. */
static struct policy *policy_get(struct apiserver *s)
{
    CLEANUP(policy_unref) struct policy *p = NULL;
    struct api_rbac *r = s->rbac;
    int64_t stamps[SOURCES];
    struct policy *ret;

    if (read_stamps(s->store, stamps, NULL) < 0)
        return NULL;
    pthread_mutex_lock(&r->mutex);
    if (r->current && memcmp(r->current->stamps, stamps, sizeof(stamps)) == 0) {
        p = r->current;
        atomic_fetch_add(&p->refs, 1);
    }
    pthread_mutex_unlock(&r->mutex);
    if (p)
        return TAKE(p);
    p = xcalloc(1, sizeof(*p));
    p->refs = 1;
    p->arena = arena_new(API_REQUEST_MEMORY_MAX);
    memcpy(p->stamps, stamps, sizeof(stamps));
    if (policy_read(s->store, p, NULL) < 0)
        return NULL;
    atomic_fetch_add(&p->refs, 1);
    pthread_mutex_lock(&r->mutex);
    policy_unref(r->current);
    r->current = p;
    pthread_mutex_unlock(&r->mutex);
    ret = TAKE(p);
    return ret;
}

/* ---- evaluating ---------------------------------------------------------------------------------------------- */

static bool list_has(struct value list, struct str s)
{
    for (struct value_iter it = value_iter(list); value_next(&it);)
        if (str_eq(value_str(it.v), s))
            return true;
    return false;
}

static bool list_has_or_all(struct value list, struct str s)
{
    return list_has(list, STR("*")) || list_has(list, s);
}

static bool resource_matches(struct value resources, const struct api_attributes *a)
{
    for (struct value_iter it = value_iter(resources); value_next(&it);) {
        struct str rest = value_str(it.v), resource;

        if (str_eq(rest, STR("*")))
            return true;
        str_split(&rest, '/', &resource);
        if (!str_eq(rest, a->sub))
            continue;
        if (str_eq(resource, a->resource) || (a->sub.n > 0 && str_eq(resource, STR("*"))))
            return true;
    }
    return false;
}

static bool path_matches(struct value urls, struct str path)
{
    for (struct value_iter it = value_iter(urls); value_next(&it);) {
        struct str u = value_str(it.v);

        if (str_eq(u, path) || (str_has_suffix(u, STR("*")) && str_has_prefix(path, str_sub(u, 0, u.n - 1))))
            return true;
    }
    return false;
}

static bool rule_allows(struct value rule, const struct api_attributes *a)
{
    struct value names = value_getz(rule, "resourceNames");

    if (!list_has_or_all(value_getz(rule, "verbs"), a->verb))
        return false;
    if (a->path.n > 0)
        return path_matches(value_getz(rule, "nonResourceURLs"), a->path);
    return list_has_or_all(value_getz(rule, "apiGroups"), a->group) &&
           resource_matches(value_getz(rule, "resources"), a) &&
           (value_len(names) == 0 || (a->name.n > 0 && list_has(names, a->name)));
}

static bool subject_is(struct value subject, const struct api_user *u, struct str binding_ns)
{
    struct str kind = value_str(value_getz(subject, "kind")), name = value_str(value_getz(subject, "name"));
    struct str ns = value_str(value_getz(subject, "namespace")), rest;

    if (str_eq(kind, STR("User")))
        return str_eq(name, u->name);
    if (str_eq(kind, STR("Group"))) {
        for (size_t i = 0; i < u->n_groups; i++)
            if (str_eq(u->groups[i], name))
                return true;
        return false;
    }
    if (!str_eq(kind, STR("ServiceAccount")) || !str_has_prefix(u->name, STR("system:serviceaccount:")))
        return false;
    if (ns.n == 0)
        ns = binding_ns;
    rest = str_trim_prefix(u->name, STR("system:serviceaccount:"));
    return rest.n == ns.n + 1 + name.n && str_has_prefix(rest, ns) && rest.p[ns.n] == ':' &&
           str_has_suffix(rest, name);
}

static bool binding_applies(const struct binding *b, const struct api_user *u, struct str ns)
{
    if (b->ns.n > 0 && !str_eq(b->ns, ns))
        return false;
    for (struct value_iter it = value_iter(b->subjects); value_next(&it);)
        if (subject_is(it.v, u, b->ns))
            return true;
    return false;
}

bool api_rbac_allows(struct apiserver *s, const struct api_user *user, const struct api_attributes *what)
{
    CLEANUP(policy_unref) struct policy *p = NULL;

    if (user->admin)
        return true;
    p = policy_get(s);
    for (size_t i = 0; p && i < p->n; i++) {
        if (!binding_applies(&p->bindings[i], user, what->ns))
            continue;
        for (struct value_iter it = value_iter(p->bindings[i].rules); value_next(&it);)
            if (rule_allows(it.v, what))
                return true;
    }
    return false;
}

static struct value pick(struct api_request *rq, struct value rule, const char *const *keys, size_t n)
{
    struct value v = value_new_map(rq->arena);

    for (size_t i = 0; i < n; i++)
        if (value_has(rule, str_from(keys[i])))
            value_set(v, str_from(keys[i]), value_copy(rq->arena, value_get(rule, str_from(keys[i])), NULL));
    return v;
}

static struct value all_of(struct api_request *rq, const char *const *keys, size_t n)
{
    static const struct value star[] = { { .kind = VALUE_STRING, .n = 1, .s = "*" } };
    struct value v = value_new_map(rq->arena);

    for (size_t i = 0; i < n; i++)
        value_set(v, str_from(keys[i]), value_from_list(star, 1));
    return v;
}

void api_rbac_rules(struct api_request *rq, const struct api_user *user, struct str ns,
                    struct value *ret_resource, struct value *ret_other)
{
    static const char *const for_resource[] = { "verbs", "apiGroups", "resources", "resourceNames" };
    static const char *const for_other[] = { "verbs", "nonResourceURLs" };
    struct value_list resource = VALUE_LIST_INIT(rq->arena), other = VALUE_LIST_INIT(rq->arena);
    CLEANUP(policy_unref) struct policy *p = policy_get(rq->server);

    if (user->admin) {
        value_list_add(&resource, all_of(rq, for_resource, 3));
        value_list_add(&other, all_of(rq, for_other, 2));
    }
    for (size_t i = 0; p && i < p->n; i++) {
        if (!binding_applies(&p->bindings[i], user, ns))
            continue;
        for (struct value_iter it = value_iter(p->bindings[i].rules); value_next(&it);) {
            if (value_has(it.v, STR("resources")))
                value_list_add(&resource, pick(rq, it.v, for_resource, ARRAY_SIZE(for_resource)));
            if (value_has(it.v, STR("nonResourceURLs")))
                value_list_add(&other, pick(rq, it.v, for_other, ARRAY_SIZE(for_other)));
        }
    }
    *ret_resource = value_list_done(&resource);
    *ret_other = value_list_done(&other);
}

/* ---- handing out rights -------------------------------------------------------------------------------------- */

static bool covers_names(struct api_request *rq, struct api_attributes *a, struct value names)
{
    if (value_len(names) == 0)
        return api_rbac_allows(rq->server, &rq->user, a);
    for (struct value_iter it = value_iter(names); value_next(&it);) {
        a->name = value_str(it.v);
        if (!api_rbac_allows(rq->server, &rq->user, a))
            return false;
    }
    a->name = STR("");
    return true;
}

static bool covers_verb(struct api_request *rq, struct value rule, struct str verb, struct str ns)
{
    struct value groups = value_getz(rule, "apiGroups"), resources = value_getz(rule, "resources");

    for (struct value_iter u = value_iter(value_getz(rule, "nonResourceURLs")); value_next(&u);) {
        const struct api_attributes a = { .verb = verb, .path = value_str(u.v) };

        if (!api_rbac_allows(rq->server, &rq->user, &a))
            return false;
    }
    for (struct value_iter g = value_iter(groups); value_next(&g);)
        for (struct value_iter r = value_iter(resources); value_next(&r);) {
            struct api_attributes a = { .verb = verb, .group = value_str(g.v), .ns = ns };
            struct str rest = value_str(r.v);

            str_split(&rest, '/', &a.resource);
            a.sub = rest;
            if (!covers_names(rq, &a, value_getz(rule, "resourceNames")))
                return false;
        }
    return true;
}

bool api_rbac_covers(struct api_request *rq, struct value rules, struct str ns)
{
    for (struct value_iter it = value_iter(rules); value_next(&it);)
        for (struct value_iter v = value_iter(value_getz(it.v, "verbs")); value_next(&v);)
            if (!covers_verb(rq, it.v, value_str(v.v), ns))
                return false;
    return true;
}

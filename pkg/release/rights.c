/* SPDX-License-Identifier: Apache-2.0 */
#include "release/rights.h"

#include "base/limits.h"

struct need {
    struct str group, plural, ns;
    const char *verbs;
};
struct rights_needs {
    struct arena *arena;
    struct need *items;
    size_t n, cap;
};

struct rights_needs *rights_needs_new(struct arena *a)
{
    struct rights_needs *n = ARENA_NEW(a, struct rights_needs);

    n->arena = a;
    return n;
}

void rights_need(struct rights_needs *n, struct kube *k, struct str api_version, struct str kind,
                 struct str ns, const char *verbs)
{
    const struct kube_kind *found;

    if (kube_kind_find(k, api_version, kind, &found, NULL) < 0)
        return;
    for (size_t i = 0; i < n->n; i++)
        if (str_eq(n->items[i].group, found->group) && str_eq(n->items[i].plural, found->plural) &&
            str_eq(n->items[i].ns, ns) && n->items[i].verbs == verbs)
            return;
    if (n->n == n->cap) {
        size_t cap = n->cap ? n->cap * 2 : 16;

        n->items = arena_grow(n->arena, n->items, n->cap * sizeof(*n->items), cap * sizeof(*n->items));
        n->cap = cap;
    }
    n->items[n->n++] = (struct need){ found->group, found->plural, ns, verbs };
}

void rights_need_objects(struct rights_needs *n, struct kube *k, const struct release_objects *objects,
                         const char *verbs)
{
    for (size_t i = 0; i < objects->n; i++)
        rights_need(n, k, objects->items[i].ref.api_version, objects->items[i].ref.kind,
                    objects->items[i].ref.ns, verbs);
}

static bool has(struct value list, struct str wanted)
{
    for (struct value_iter it = value_iter(list); value_next(&it);)
        if (str_eq(value_str(it.v), STR("*")) || str_eq(value_str(it.v), wanted))
            return true;
    return false;
}

static bool rules_allow(struct value rules, const struct need *need, struct str verb)
{
    for (struct value_iter it = value_iter(rules); value_next(&it);)
        if (has(value_getz(it.v, "verbs"), verb) && has(value_getz(it.v, "apiGroups"), need->group) &&
            has(value_getz(it.v, "resources"), need->plural) &&
            value_len(value_getz(it.v, "resourceNames")) == 0)
            return true;
    return false;
}

static struct value review_object(struct arena *a, const char *kind)
{
    struct value v = value_new_map(a);

    value_setz(v, "apiVersion", VALUE_STR("authorization.k8s.io/v1"));
    value_setz(v, "kind", value_from_str(str_from(kind)));
    return v;
}

/* The rules of the identity in a namespace; a cluster-scoped need is looked up in "default". */
static int read_rules(struct kube *as, struct arena *a, struct str ns, struct value *ret, struct err **err)
{
    struct value review = review_object(a, "SelfSubjectRulesReview");

    value_set_path(review, "spec.namespace", value_from_str(ns.n ? ns : STR("default")));
    return kube_create(as, a, review, ret, err);
}

static int ask_one(struct kube *as, struct arena *a, const struct need *need, struct str verb, bool *ret,
                   struct err **err)
{
    struct value review = review_object(a, "SelfSubjectAccessReview"), attributes = value_new_map(a);
    int r;

    value_setz(attributes, "verb", value_from_str(verb));
    value_setz(attributes, "group", value_from_str(need->group));
    value_setz(attributes, "resource", value_from_str(need->plural));
    if (need->ns.n)
        value_setz(attributes, "namespace", value_from_str(need->ns));
    value_set_path(review, "spec.resourceAttributes", attributes);
    r = kube_create(as, a, review, &review, err);
    *ret = r == 0 && value_bool(value_path(review, "status.allowed"));
    return r;
}

bool rights_may_watch(struct kube *k, struct arena *a, struct str api_version, struct str kind, struct str ns)
{
    const struct kube_kind *found;
    struct need need = { .ns = ns };
    bool list = false, watch = false;

    if (kube_kind_find(k, api_version, kind, &found, NULL) < 0)
        return false;
    need.group = found->group;
    need.plural = found->plural;
    return ask_one(k, a, &need, STR("list"), &list, NULL) == 0 && list &&
           ask_one(k, a, &need, STR("watch"), &watch, NULL) == 0 && watch;
}

/* Adds the verbs of one need that are not allowed to `missing`. */
static int check_need(struct kube *as, struct arena *a, const struct need *need, struct value rules,
                      bool complete, struct buf *missing, struct err **err)
{
    struct str verbs = str_from(need->verbs), verb;
    bool any = false, allowed;
    int r;

    while (str_split(&verbs, ' ', &verb)) {
        if (rules_allow(rules, need, verb))
            continue;
        if (!complete) {
            r = ask_one(as, a, need, verb, &allowed, err);
            if (r < 0)
                return r;
            if (allowed)
                continue;
        }
        buf_addf(missing, "%s%.*s", any ? ", " : missing->n ? "; " : "", STR_ARG(verb));
        any = true;
    }
    if (!any)
        return 0;
    buf_addf(missing, " %.*s%s%.*s", STR_ARG(need->plural), need->group.n ? "." : "", STR_ARG(need->group));
    if (need->ns.n)
        buf_addf(missing, " in namespace %.*s", STR_ARG(need->ns));
    return 0;
}

int rights_check(struct kube *as, struct arena *a, const struct rights_needs *n, struct err **err)
{
    CLEANUP(buf_done) struct buf missing = BUF_INIT(16 * KIB);
    struct value review = VALUE_NONE;
    int r;

    for (size_t i = 0; i < n->n; i++) {
        const struct need *need = &n->items[i];

        if (i == 0 || !str_eq(need->ns, n->items[i - 1].ns)) {
            r = read_rules(as, a, need->ns, &review, err);
            if (r < 0)
                return err_wrap(err, r, "reading the rights of %.*s", STR_ARG(kube_identity(as)));
        }
        r = check_need(as, a, need, value_path(review, "status.resourceRules"),
                       !value_bool(value_path(review, "status.incomplete")), &missing, err);
        if (r < 0)
            return r;
    }
    if (missing.n == 0)
        return 0;
    return err_set(err, ERRC_FORBIDDEN, "%.*s may not %s",
                   STR_ARG(kube_identity(as).n ? kube_identity(as) : STR("pintle")), buf_z(&missing));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

struct group {
    struct arena *arena;
    struct value object;
    struct str uid, label;
    struct value wanted, live; /* spec.repos; all Repositories */
    size_t ready;
};

static struct str repo_name(struct value item)
{
    return value_str(value_getz(item, "name"));
}

static struct value find_live(const struct group *g, struct str name)
{
    for (struct value_iter it = value_iter(g->live); value_next(&it);)
        if (str_eq(kube_name(it.v), name))
            return it.v;
    return VALUE_NONE;
}

static bool is_member(const struct group *g, struct value repository)
{
    for (struct value_iter it = value_iter(value_path(repository, "metadata.ownerReferences"));
         value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "uid")), g->uid))
            return true;
    return false;
}

static int check(const struct group *g, struct err **err)
{
    for (struct value_iter it = value_iter(g->wanted); value_next(&it);) {
        struct value live = find_live(g, repo_name(it.v));

        for (size_t k = 0; k < it.i; k++)
            if (str_eq(repo_name(value_at(g->wanted, k)), repo_name(it.v)))
                return err_set(err, ERRC_INVALID, "spec.repos[%zu].name %.*s is there twice", it.i,
                               STR_ARG(repo_name(it.v)));
        if (!value_is_null(live) && !is_member(g, live))
            return err_set(err, ERRC_EXISTS,
                           "spec.repos[%zu]: Repository %.*s exists and does not belong to this group", it.i,
                           STR_ARG(repo_name(it.v)));
    }
    return 0;
}

static struct value member_object(const struct group *g, struct value item)
{
    struct arena *a = g->arena;
    struct value o = value_new_map(a), labels = value_new_map(a);
    struct value_list owners = VALUE_LIST_INIT(a);

    value_list_add(&owners, kube_owner_reference(a, g->object, true, true));
    value_setz(labels, "pintle.dev/repo", value_from_str(repo_name(item)));
    value_setz(labels, "pintle.dev/repoGroup", value_from_str(g->label));
    value_setz(labels, "repoGroup", value_from_str(g->label));
    value_setz(o, "apiVersion", VALUE_STR(REGISTRY_API_VERSION));
    value_setz(o, "kind", VALUE_STR("Repository"));
    value_set_path(o, "metadata.name", value_from_str(repo_name(item)));
    value_set_path(o, "metadata.labels", labels);
    value_set_path(o, "metadata.ownerReferences", value_list_done(&owners));
    value_setz(o, "spec", item);
    return o;
}

/* The live spec holds the wanted one and nothing else that we once wrote. */
static bool covers(struct value live, struct value wanted)
{
    if (!value_is_map(wanted))
        return value_equal(live, wanted);
    for (struct value_iter it = value_iter(wanted); value_next(&it);)
        if (!covers(value_get(live, it.key), it.v))
            return false;
    return true;
}

static bool is_current(const struct group *g, struct value item)
{
    struct value have = value_getz(find_live(g, repo_name(item)), "spec");

    if (!value_is_map(have) || !covers(have, item))
        return false;
    for (struct value_iter it = value_iter(have); value_next(&it);)
        if (!value_has(item, it.key) && !str_eq(it.key, STR("sync")) && !str_eq(it.key, STR("timeout")))
            return false;
    return true;
}

static bool is_wanted(const struct group *g, struct str name)
{
    for (struct value_iter it = value_iter(g->wanted); value_next(&it);)
        if (str_eq(repo_name(it.v), name))
            return true;
    return false;
}

static int act(struct registry_manager *m, struct group *g, struct err **err)
{
    int r = 0;

    for (struct value_iter it = value_iter(g->wanted); r == 0 && value_next(&it);) {
        if (is_current(g, it.v)) {
            g->ready += kube_condition_is(find_live(g, repo_name(it.v)), STR("Ready"), "True");
            continue;
        }
        r = kube_apply(m->kube, g->arena, member_object(g, it.v), STR(REGISTRY_FIELD_MANAGER), true, NULL,
                       err);
        if (r < 0)
            return err_wrap(err, r, "Repository %.*s", STR_ARG(repo_name(it.v)));
    }
    for (struct value_iter it = value_iter(g->live); r == 0 && value_next(&it);) {
        struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "Repository", STR_NONE, kube_name(it.v));

        if (is_member(g, it.v) && !is_wanted(g, ref.name) && !kube_is_deleting(it.v))
            r = kube_delete(m->kube, &ref, kube_uid(it.v), err);
    }
    return r;
}

/* 1; 0 when the group is gone or going: its members go with it. */
static int observe(struct registry_manager *m, const struct controller_call *call, struct group *g,
                   struct err **err)
{
    struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "RepoGroup", STR_NONE, call->key.name);
    struct kube_ref repositories = KUBE_REF(REGISTRY_API_VERSION, "Repository", STR_NONE, STR_NONE);
    struct value list;
    int r = kube_get(m->kube, call->arena, &ref, &g->object, err);

    if (r == -ERRC_NOT_FOUND) {
        if (err)
            err_free(TAKE(*err));
        return 0;
    }
    if (r < 0 || kube_is_deleting(g->object))
        return r;
    g->arena = call->arena;
    g->uid = kube_uid(g->object);
    g->label = value_str(value_path(g->object, "spec.labelSelector"));
    g->wanted = value_path(g->object, "spec.repos");
    r = kube_list(m->kube, call->arena, &repositories, STR_NONE, &list, err);
    g->live = value_getz(list, "items");
    return r < 0 ? err_wrap(err, r, "Repositories") : 1;
}

static struct registry_verdict judge(struct group *g, int r, const struct err *cause)
{
    size_t members = value_len(g->wanted);

    if (r < 0)
        return (struct registry_verdict){ .status = "False",
                                          .reason = r == -ERRC_EXISTS ? "NotAMember" : "MembersFailed",
                                          .message = str_from(err_message(cause)),
                                          .stalled = !errc_retryable((enum errc) - r) };
    return (struct registry_verdict){ .status = g->ready == members ? "True" : "Unknown",
                                      .reason = g->ready == members ? "MembersReady" : "Progressing",
                                      .message = arena_printf(g->arena, "%zu of %zu Repositories are ready",
                                                              g->ready, members),
                                      .reconciling = g->ready != members };
}

int repogroup_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                        struct err **err)
{
    struct registry_manager *m = ctx;
    CLEANUP(err_free) struct err *cause = NULL;
    struct registry_verdict v;
    struct group g = { 0 };
    struct value status;
    int r = observe(m, call, &g, err), told;

    UNUSED(ret);
    if (r <= 0)
        return r;
    r = check(&g, &cause);
    if (r == 0)
        r = act(m, &g, &cause);
    v = judge(&g, r, cause);
    status = value_new_map(g.arena);
    value_setz(status, "members", value_from_int((int64_t)value_len(g.wanted)));
    value_setz(status, "ready", value_from_int((int64_t)g.ready));
    told = registry_report(m, g.arena, g.object, status, &v, r < 0 ? NULL : err);
    if (r == 0)
        return told;
    *err = TAKE(cause);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/registry.h"
#include "registry/registry_int.h"

static struct value make_repository(struct arena *a, struct value item, struct value label)
{
    struct value o = value_new_map(a), labels = value_new_map(a), name = value_getz(item, "name");

    value_setz(labels, "pintle.dev/repo", name);
    value_setz(labels, "pintle.dev/repoGroup", label);
    value_setz(labels, "repoGroup", label);
    value_setz(o, "apiVersion", VALUE_STR(REGISTRY_API_VERSION));
    value_setz(o, "kind", VALUE_STR("Repository"));
    value_set_path(o, "metadata.name", name);
    value_set_path(o, "metadata.labels", labels);
    value_setz(o, "spec", item);
    return o;
}

/* 1; 0 when the group is gone or going: its members go with it. */
static int observe(struct registry_manager *m, const struct controller_call *call,
                   struct controller_children *ret, struct err **err)
{
    struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "RepoGroup", STR_NONE, call->key.name);
    struct kube_ref repositories = KUBE_REF(REGISTRY_API_VERSION, "Repository", STR_NONE, STR_NONE);
    struct value_list wanted = VALUE_LIST_INIT(call->arena);
    struct value group, list;
    int r = kube_find(m->kube, call->arena, &ref, &group, err);

    if (r <= 0 || kube_is_deleting(group))
        return MIN(r, 0);
    r = kube_list(m->kube, call->arena, &repositories, STR_NONE, &list, err);
    if (r < 0)
        return err_wrap(err, r, "Repositories");
    for (struct value_iter it = value_iter(value_path(group, "spec.repos")); value_next(&it);)
        value_list_add(&wanted, make_repository(call->arena, it.v, value_path(group, "spec.labelSelector")));
    *ret = (struct controller_children){ .owner = group,
                                         .field = "spec.repos",
                                         .wanted = value_list_done(&wanted),
                                         .live = value_getz(list, "items"),
                                         .block = true };
    return 1;
}

int repogroup_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                        struct err **err)
{
    struct registry_manager *m = ctx;
    struct controller_children repositories;
    struct controller_children_plan plan = { 0 };
    struct controller_report rep;
    struct err *cause = NULL;
    int r = observe(m, call, &repositories, err);

    UNUSED(ret);
    if (r <= 0)
        return r;
    r = controller_children_plan(call->arena, &repositories, &plan, &cause);
    if (r == 0)
        r = controller_children_act(m->kube, call->arena, STR(REGISTRY_FIELD_MANAGER), &plan, &cause);
    rep = controller_children_report(call->arena, repositories.owner, "Repositories", &plan, cause);
    return controller_report(m->kube, m->recorder, call->arena, &rep, cause, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "releasegroup/releasegroup.h"

#include <stdlib.h>

#include "base/limits.h"

#define API_VERSION "pintle.dev/v1alpha1"
#define FIELD_MANAGER "pintle"
#define LABEL_GROUP "releaseGroup" /* as yaho wrote them */
#define LABEL_RELEASE "release"

struct releasegroup_manager {
    struct kube *kube;
    struct kube_recorder *recorder;
    struct controller_watch watches[2];
    struct controller_kind kind;
};

/* A label value as yaho meant it; what is no label value (an expression) is not written on members. */
static bool is_label_value(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !(i > 0 && i + 1 < s.n && memchr("-_.", s.p[i], 3)))
            return false;
    return s.n > 0 && s.n <= 63;
}

static struct value make_release(struct arena *a, struct str ns, struct value spec, struct value label)
{
    struct value o = value_new_map(a), labels = value_new_map(a), name = value_getz(spec, "name");

    value_setz(labels, LABEL_RELEASE, name);
    if (is_label_value(value_str(label)))
        value_setz(labels, LABEL_GROUP, label);
    value_setz(o, "apiVersion", VALUE_STR(API_VERSION));
    value_setz(o, "kind", VALUE_STR("Release"));
    value_set_path(o, "metadata.name", name);
    value_set_path(o, "metadata.namespace", value_from_str(ns));
    value_set_path(o, "metadata.labels", labels);
    value_setz(o, "spec", spec);
    return o;
}

/* 1; 0 when the group is gone or going: its members go with it. */
static int observe(struct releasegroup_manager *m, const struct controller_call *call,
                   struct controller_children *ret, struct err **err)
{
    struct kube_ref ref = KUBE_REF(API_VERSION, "ReleaseGroup", call->key.ns, call->key.name);
    struct kube_ref releases = KUBE_REF(API_VERSION, "Release", call->key.ns, STR_NONE);
    struct value_list wanted = VALUE_LIST_INIT(call->arena);
    struct value group, list;
    int r = kube_find(m->kube, call->arena, &ref, &group, err);

    if (r <= 0 || kube_is_deleting(group))
        return MIN(r, 0);
    r = kube_list(m->kube, call->arena, &releases, STR_NONE, &list, err);
    if (r < 0)
        return err_wrap(err, r, "Releases of namespace %.*s", STR_ARG(call->key.ns));
    for (struct value_iter it = value_iter(value_path(group, "spec.releases")); value_next(&it);)
        value_list_add(
            &wanted, make_release(call->arena, call->key.ns, it.v, value_path(group, "spec.labelSelector")));
    *ret = (struct controller_children){ .owner = group,
                                         .field = "spec.releases",
                                         .wanted = value_list_done(&wanted),
                                         .live = value_getz(list, "items"),
                                         .block = true };
    return 1;
}

static int reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct releasegroup_manager *m = ctx;
    struct controller_children releases;
    struct controller_children_plan plan = { 0 };
    struct controller_report rep;
    struct err *cause = NULL;
    int r = observe(m, call, &releases, err);

    UNUSED(ret);
    if (r <= 0)
        return r;
    r = controller_children_plan(call->arena, &releases, &plan, &cause);
    if (r == 0)
        r = controller_children_act(m->kube, call->arena, STR(FIELD_MANAGER), &plan, &cause);
    rep = controller_children_report(call->arena, releases.owner, "Releases", &plan, cause);
    return controller_report(m->kube, m->recorder, call->arena, &rep, cause, err);
}

/* A group is found by the names of its members: also by those of Releases that stand in its way. */
static void note_group(void *ctx, struct value object, struct controller_note *note)
{
    UNUSED(ctx);
    for (struct value_iter it = value_iter(value_path(object, "spec.releases")); value_next(&it);) {
        CLEANUP(buf_done) struct buf key = BUF_INIT(2 * KIB);

        buf_addf(&key, "%.*s/%.*s", STR_ARG(kube_namespace(object)),
                 STR_ARG(value_str(value_getz(it.v, "name"))));
        controller_note_index(note, buf_str(&key));
    }
}

static void map_member(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(2 * KIB);

    UNUSED(ctx);
    buf_addf(&key, "%.*s/%.*s", STR_ARG(kube_namespace(e->object)), STR_ARG(kube_name(e->object)));
    controller_wake_index(out, "releasegroups", buf_str(&key));
}

struct releasegroup_manager *releasegroup_manager_new(struct kube *k, struct kube_recorder *recorder)
{
    struct releasegroup_manager *m = xcalloc(1, sizeof(*m));

    m->kube = kube_ref(k);
    m->recorder = recorder;
    m->watches[0] = (struct controller_watch){ .name = "releasegroups",
                                               .api_version = STR(API_VERSION),
                                               .kind = STR("ReleaseGroup"),
                                               .ignore_status = true,
                                               .extract = note_group };
    m->watches[1] = (struct controller_watch){ .name = "group-members",
                                               .api_version = STR(API_VERSION),
                                               .kind = STR("Release"),
                                               .metadata_only = true,
                                               .map = map_member };
    m->kind = (struct controller_kind){ "ReleaseGroup", reconcile, m, m->watches, 2 };
    return m;
}

void releasegroup_manager_free(struct releasegroup_manager *m)
{
    if (!m)
        return;
    kube_unref(m->kube);
    free(m);
}

const struct controller_kind *releasegroup_manager_kinds(struct releasegroup_manager *m, size_t *ret_n)
{
    *ret_n = 1;
    return &m->kind;
}

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

struct group {
    struct arena *arena;
    struct value object;
    struct str ns, name, uid, label;
    struct value wanted; /* spec.releases */
    struct value live;   /* Releases of the namespace */
    size_t ready, members;
};

/* ---- observe ------------------------------------------------------------------------------------------------------- */

static struct str member_name(struct value spec)
{
    return value_str(value_getz(spec, "name"));
}

static struct value find_live(const struct group *g, struct str name)
{
    for (struct value_iter it = value_iter(g->live); value_next(&it);)
        if (str_eq(kube_name(it.v), name))
            return it.v;
    return VALUE_NONE;
}

static bool is_member(const struct group *g, struct value release)
{
    for (struct value_iter it = value_iter(value_path(release, "metadata.ownerReferences")); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "uid")), g->uid))
            return true;
    return false;
}

/* A label value as yaho meant it; what is no label value (an expression) is not written on members. */
static bool is_label_value(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !(i > 0 && i + 1 < s.n && memchr("-_.", s.p[i], 3)))
            return false;
    return s.n <= 63;
}

/* 1; 0 when the group is gone or going: its members go with it. */
static int observe(struct releasegroup_manager *m, const struct controller_call *call, struct group *g,
                   struct err **err)
{
    struct kube_ref ref = KUBE_REF(API_VERSION, "ReleaseGroup", call->key.ns, call->key.name);
    struct kube_ref releases = KUBE_REF(API_VERSION, "Release", call->key.ns, STR_NONE);
    struct value list;
    int r = kube_get(m->kube, call->arena, &ref, &g->object, err);

    if (r == -ERRC_NOT_FOUND) {
        if (err)
            err_free(TAKE(*err));
        return 0;
    }
    if (r < 0)
        return r;
    if (kube_is_deleting(g->object))
        return 0;
    g->arena = call->arena;
    g->ns = call->key.ns;
    g->name = call->key.name;
    g->uid = kube_uid(g->object);
    g->wanted = value_path(g->object, "spec.releases");
    g->label = value_str(value_path(g->object, "spec.labelSelector"));
    r = kube_list(m->kube, call->arena, &releases, STR_NONE, &list, err);
    g->live = value_getz(list, "items");
    return r < 0 ? err_wrap(err, r, "Releases of namespace %.*s", STR_ARG(g->ns)) : 1;
}

/* INVALID for two members of one name, CONFLICT-free EXISTS for a Release that is not the group's. */
static int check(const struct group *g, struct err **err)
{
    for (struct value_iter it = value_iter(g->wanted); value_next(&it);) {
        struct value live = find_live(g, member_name(it.v));

        for (size_t k = 0; k < it.i; k++)
            if (str_eq(member_name(value_at(g->wanted, k)), member_name(it.v)))
                return err_set(err, ERRC_INVALID, "spec.releases[%zu].name %.*s is there twice", it.i,
                               STR_ARG(member_name(it.v)));
        if (!value_is_null(live) && !is_member(g, live))
            return err_set(err, ERRC_EXISTS,
                           "spec.releases[%zu]: Release %.*s/%.*s exists and does not belong to this group: "
                           "delete it or "
                           "choose another name",
                           it.i, STR_ARG(g->ns), STR_ARG(member_name(it.v)));
    }
    return 0;
}

/* ---- plan: what to apply and what to delete -------------------------------------------------------------------------- */

static struct value member_object(const struct group *g, struct value spec)
{
    struct arena *a = g->arena;
    struct value o = value_new_map(a), labels = value_new_map(a);
    struct value_list owners = VALUE_LIST_INIT(a);

    value_list_add(&owners, kube_owner_reference(a, g->object, true, true));
    value_setz(labels, LABEL_RELEASE, value_from_str(member_name(spec)));
    if (g->label.n > 0 && is_label_value(g->label))
        value_setz(labels, LABEL_GROUP, value_from_str(g->label));
    value_setz(o, "apiVersion", VALUE_STR(API_VERSION));
    value_setz(o, "kind", VALUE_STR("Release"));
    value_set_path(o, "metadata.name", value_from_str(member_name(spec)));
    value_set_path(o, "metadata.namespace", value_from_str(g->ns));
    value_set_path(o, "metadata.labels", labels);
    value_set_path(o, "metadata.ownerReferences", value_list_done(&owners));
    value_setz(o, "spec", spec);
    return o;
}

static bool is_wanted(const struct group *g, struct str name)
{
    for (struct value_iter it = value_iter(g->wanted); value_next(&it);)
        if (str_eq(member_name(it.v), name))
            return true;
    return false;
}

/* Does the live spec say everything that the wanted one says? Then nothing has to be written. */
static bool covers(struct value live, struct value wanted)
{
    if (!value_is_map(wanted))
        return value_equal(live, wanted);
    if (!value_is_map(live))
        return false;
    for (struct value_iter it = value_iter(wanted); value_next(&it);)
        if (!covers(value_get(live, it.key), it.v))
            return false;
    return true;
}

/* Fields that the group wrote and that left its spec: server-side apply takes them away, so any field that only the live
 * object has and that is not a default is a reason to apply. */
static bool is_current(const struct group *g, struct value spec)
{
    struct value live = find_live(g, member_name(spec));
    struct value have = value_getz(live, "spec");

    if (!value_is_map(live) || !covers(have, spec))
        return false;
    for (struct value_iter it = value_iter(have); value_next(&it);)
        if (!value_has(spec, it.key) && !str_eq(it.key, STR("deletionPolicy")) &&
            !str_eq(it.key, STR("maxHistory")))
            return false;
    return true;
}

/* ---- act ---------------------------------------------------------------------------------------------------------------- */

static int apply_members(struct releasegroup_manager *m, struct group *g, size_t *ret_changed,
                         struct err **err)
{
    for (struct value_iter it = value_iter(g->wanted); value_next(&it);) {
        int r = 0;

        g->members++;
        if (is_current(g, it.v)) {
            g->ready += kube_condition_is(find_live(g, member_name(it.v)), STR("Ready"), "True");
            continue;
        }
        r = kube_apply(m->kube, g->arena, member_object(g, it.v), STR(FIELD_MANAGER), true, NULL, err);
        if (r < 0)
            return err_wrap(err, r, "Release %.*s/%.*s", STR_ARG(g->ns), STR_ARG(member_name(it.v)));
        (*ret_changed)++;
    }
    return 0;
}

static int delete_members(struct releasegroup_manager *m, struct group *g, size_t *ret_deleted,
                          struct err **err)
{
    for (struct value_iter it = value_iter(g->live); value_next(&it);) {
        struct kube_ref ref = KUBE_REF(API_VERSION, "Release", g->ns, kube_name(it.v));
        int r;

        if (!is_member(g, it.v) || is_wanted(g, kube_name(it.v)) || kube_is_deleting(it.v))
            continue;
        r = kube_delete(m->kube, &ref, kube_uid(it.v), err);
        if (r < 0)
            return err_wrap(err, r, "Release %.*s/%.*s", STR_ARG(g->ns), STR_ARG(kube_name(it.v)));
        (*ret_deleted)++;
    }
    return 0;
}

/* ---- report --------------------------------------------------------------------------------------------------------------- */

struct verdict {
    const char *status, *reason;
    struct str message;
    bool reconciling, stalled;
};

static struct value set_condition(struct group *g, struct value list, const char *type, const char *status,
                                  const struct verdict *v)
{
    struct kube_condition c = { .type = str_from(type),
                                .status = status,
                                .reason = str_from(v->reason),
                                .message = v->message,
                                .observed_generation = kube_generation(g->object) };

    return kube_condition_set(g->arena, list, &c, NULL);
}

static int report(struct releasegroup_manager *m, struct group *g, const struct verdict *v, struct err **err)
{
    struct kube_ref ref = KUBE_REF(API_VERSION, "ReleaseGroup", g->ns, g->name);
    struct value old = value_getz(g->object, "status"), status, conditions, patch = value_new_map(g->arena);
    struct value before = kube_condition_find(old, STR("Ready"));
    int r;

    status = value_is_map(old) ? value_copy_maps(g->arena, old) : value_new_map(g->arena);
    conditions = set_condition(g, value_getz(old, "conditions"), "Ready", v->status, v);
    conditions = v->reconciling ? set_condition(g, conditions, "Reconciling", "True", v)
                                : kube_condition_unset(g->arena, conditions, STR("Reconciling"), NULL);
    conditions = v->stalled ? set_condition(g, conditions, "Stalled", "True", v)
                            : kube_condition_unset(g->arena, conditions, STR("Stalled"), NULL);
    value_setz(status, "observedGeneration", value_from_int(kube_generation(g->object)));
    value_setz(status, "members", value_from_int((int64_t)g->members));
    value_setz(status, "ready", value_from_int((int64_t)g->ready));
    value_setz(status, "conditions", conditions);
    if (value_equal(old, status))
        return 0;
    value_setz(patch, "status", status);
    r = kube_patch_status(m->kube, g->arena, &ref, patch, NULL, err);
    if (r < 0)
        return err_wrap(err, r, "status");
    if (!v->reconciling && !str_eq(value_str(value_getz(before, "message")), v->message))
        kube_event(m->recorder, g->object, v->stalled ? KUBE_EVENT_WARNING : KUBE_EVENT_NORMAL, v->reason,
                   "%.*s", STR_ARG(v->message));
    return 0;
}

static struct verdict judge(struct group *g)
{
    bool all = g->ready == g->members;

    return (struct verdict){
        .status = all ? "True" : "Unknown",
        .reason = all ? "MembersReady" : "Progressing",
        .message = arena_printf(g->arena, "%zu of %zu Releases are ready", g->ready, g->members),
        .reconciling = !all,
    };
}

static int reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct releasegroup_manager *m = ctx;
    CLEANUP(err_free) struct err *cause = NULL;
    size_t changed = 0, deleted = 0;
    struct group g = { 0 };
    struct verdict v;
    int r = observe(m, call, &g, err), told;

    UNUSED(ret);
    if (r <= 0)
        return r;
    r = check(&g, &cause);
    if (r == 0)
        r = apply_members(m, &g, &changed, &cause);
    if (r == 0)
        r = delete_members(m, &g, &deleted, &cause);
    if (r == 0) {
        v = judge(&g);
        return report(m, &g, &v, err);
    }
    v = (struct verdict){ .status = "False",
                          .reason = r == -ERRC_EXISTS ? "NotAMember" : "MembersFailed",
                          .message = str_from(err_message(cause)),
                          .stalled = !errc_retryable((enum errc) - r) };
    told = report(m, &g, &v, NULL);
    UNUSED(told);
    *err = TAKE(cause);
    return r;
}

/* A member wakes its group: by owner, in its own namespace. */
static void map_member(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    UNUSED(ctx);
    for (struct value_iter it = value_iter(value_path(e->object, "metadata.ownerReferences"));
         value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "kind")), STR("ReleaseGroup")))
            controller_wake_add(out, (struct controller_key){ kube_namespace(e->object),
                                                              value_str(value_getz(it.v, "name")) });
}

struct releasegroup_manager *releasegroup_manager_new(struct kube *k, struct kube_recorder *recorder)
{
    struct releasegroup_manager *m = xcalloc(1, sizeof(*m));

    m->kube = kube_ref(k);
    m->recorder = recorder;
    m->watches[0] = (struct controller_watch){ .name = "releasegroups",
                                               .api_version = STR(API_VERSION),
                                               .kind = STR("ReleaseGroup"),
                                               .ignore_status = true };
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

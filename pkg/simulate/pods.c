/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "simulate/simulate_int.h"

void simulate_extract(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value kept = value_new_map(a), owner = simulate_controller_of(object),
                 status = value_getz(object, "status");

    UNUSED(ctx);
    if (value_is_null(owner))
        return;
    controller_note_index(note, value_str(value_getz(owner, "uid")));
    value_setz(kept, "owner", owner);
    value_setz(kept, "deleting", value_from_bool(kube_is_deleting(object)));
    value_setz(kept, "phase", value_getz(status, "phase"));
    value_setz(kept, "ready", value_from_bool(kube_condition_is(object, STR("Ready"), "True")));
    value_setz(kept, "revision", value_from_str(kube_label(object, STR("controller-revision-hash"))));
    value_setz(kept, "hash", value_from_str(kube_label(object, STR("pod-template-hash"))));
    value_setz(kept, "number", value_from_str(kube_annotation(object, STR(REVISION_ANNOTATION))));
    value_setz(kept, "wanted", value_path(object, "spec.replicas"));
    value_setz(kept, "replicas", value_getz(status, "replicas"));
    value_setz(kept, "readyReplicas", value_getz(status, "readyReplicas"));
    controller_note_keep(note, kept);
}

static enum sim_pod_state state_of(const struct controller_object *pod)
{
    struct str phase = value_str(value_getz(pod->kept, "phase"));

    if (value_bool(value_getz(pod->kept, "deleting")))
        return SIM_POD_GOING;
    if (str_eq(phase, STR("Succeeded")))
        return SIM_POD_SUCCEEDED;
    if (str_eq(phase, STR("Failed")))
        return SIM_POD_FAILED;
    return value_bool(value_getz(pod->kept, "ready")) ? SIM_POD_READY : SIM_POD_STARTING;
}

struct sim_pods simulate_pods_of(struct sim_call *k)
{
    struct sim_pods pods = { 0 };

    pods.v = controller_list(k->c->controller, WATCH_PODS, kube_uid(k->object), k->a, &pods.n);
    for (size_t i = 0; i < pods.n; i++)
        pods.in[state_of(&pods.v[i])]++;
    return pods;
}

struct str *simulate_pod_names(struct sim_call *k, int64_t replicas, size_t *ret_n)
{
    size_t n = (size_t)MIN(MAX(replicas, (int64_t)0), (int64_t)SIMULATE_PODS_MAX);
    struct str *names = ARENA_ARRAY(k->a, struct str, n + 1);

    for (size_t i = 0; i < n; i++)
        names[i] = simulate_child_name(k->a, k->ref.name, kube_uid(k->object), (int64_t)i);
    *ret_n = n;
    return names;
}

/* A Pod of the object's spec.template that belongs to the object. */
static struct value pod_from_template(struct sim_call *k, struct str name, simulate_adjust_fn adjust)
{
    struct value template = value_path(k->object, "spec.template"), pod = value_new_map(k->a);
    struct value meta = value_copy_maps(k->a, value_getz(template, "metadata"));
    struct value owner = kube_owner_reference(k->a, k->object, true, true);

    if (!value_is_map(meta))
        meta = value_new_map(k->a);
    if (!value_is_map(value_getz(meta, "labels")))
        value_setz(meta, "labels", value_new_map(k->a));
    value_setz(meta, "name", value_from_str(name));
    value_setz(meta, "namespace", value_from_str(k->ref.ns));
    value_setz(meta, "ownerReferences", value_from_list(&owner, 1));
    value_setz(pod, "apiVersion", VALUE_STR("v1"));
    value_setz(pod, "kind", VALUE_STR("Pod"));
    value_setz(pod, "metadata", meta);
    value_setz(pod, "spec", value_copy_maps(k->a, value_getz(template, "spec")));
    if (adjust)
        adjust(k, pod);
    return value_copy(k->a, pod, NULL); /* the list of owners stands on the stack */
}

static const struct controller_object *find(const struct sim_pods *have, struct str name)
{
    for (size_t i = 0; i < have->n; i++)
        if (str_eq(have->v[i].name, name))
            return &have->v[i];
    return NULL;
}

static bool is_kept(const struct controller_object *pod, const struct str *names, size_t n,
                    struct str revision)
{
    if (revision.n > 0 && !str_eq(value_str(value_getz(pod->kept, "revision")), revision))
        return false;
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], pod->name))
            return true;
    return false;
}

int simulate_pods_keep(struct sim_call *k, const struct sim_pods *have, const struct str *names, size_t n,
                       struct str revision, simulate_adjust_fn adjust, struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < have->n && r >= 0; i++) {
        const struct controller_object *pod = &have->v[i];
        struct kube_ref ref = KUBE_REF("v1", "Pod", pod->ns, pod->name);

        if (!is_kept(pod, names, n, revision))
            r = state_of(pod) == SIM_POD_GOING ? 0 : kube_delete(k->c->kube, &ref, pod->uid, err);
        else if (state_of(pod) == SIM_POD_STARTING) /* a fail annotation of the owner may have come or gone */
            controller_enqueue(k->c->controller, WATCH_PODS, (struct controller_key){ pod->ns, pod->name });
    }
    for (size_t i = 0; i < n && r >= 0; i++)
        if (!find(have, names[i]))
            r = simulate_create(k, pod_from_template(k, names[i], adjust), err);
    return r;
}

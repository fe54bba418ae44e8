/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments and ReplicaSets where no kube-controller-manager looks after them. A new template takes over at once:
 * its ReplicaSet gets all replicas, the others none. */
#include <stdlib.h>

#include "simulate/simulate_int.h"

/* ---- ReplicaSet --------------------------------------------------------------------------------------------------- */

int simulate_replicaset(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    int64_t wanted = value_int(value_path(k->object, "spec.replicas"), 1), made, ready;
    struct sim_pods pods = simulate_pods_of(k);
    struct value status = value_new_map(k->a);
    struct str *names;
    size_t n;
    int r;

    UNUSED(ret);
    if (kube_is_deleting(k->object))
        return 0;
    names = simulate_pod_names(k, wanted, &n);
    r = simulate_pods_keep(k, &pods, names, n, STR_NONE, NULL, err);
    if (r < 0)
        return r;
    made = (int64_t)(pods.n - pods.in[SIM_POD_GOING]);
    ready = (int64_t)pods.in[SIM_POD_READY];
    if (wanted > (int64_t)n && ready == (int64_t)n)
        made = ready = wanted;
    value_setz(status, "replicas", value_from_int(made));
    value_setz(status, "fullyLabeledReplicas", value_from_int(made));
    value_setz(status, "readyReplicas", value_from_int(ready));
    value_setz(status, "availableReplicas", value_from_int(ready));
    value_setz(status, "observedGeneration", value_from_int(kube_generation(k->object)));
    return simulate_report(k, status, err);
}

/* ---- Deployment --------------------------------------------------------------------------------------------------- */

struct sets { /* the ReplicaSets of a Deployment */
    const struct controller_object *v, *current;
    size_t n;
    int64_t revision; /* of the current one */
};

static int64_t number_of(const struct controller_object *set)
{
    int64_t n = 0;

    str_to_int64(value_str(value_getz(set->kept, "number")), &n);
    return n;
}

static struct sets sets_of(struct sim_call *k, struct str hash)
{
    struct sets s = { 0 };

    s.v = controller_list(k->c->controller, WATCH_REPLICASETS, kube_uid(k->object), k->a, &s.n);
    for (size_t i = 0; i < s.n; i++) {
        if (str_eq(value_str(value_getz(s.v[i].kept, "hash")), hash))
            s.current = &s.v[i];
        else
            s.revision = MAX(s.revision, number_of(&s.v[i]));
    }
    s.revision++;
    if (s.current)
        s.revision = MAX(s.revision, number_of(s.current));
    return s;
}

static struct value annotations_of_set(struct sim_call *k, int64_t revision)
{
    struct value v = value_copy_maps(k->a, value_path(k->object, "metadata.annotations"));

    if (!value_is_map(v))
        v = value_new_map(k->a);
    value_unset(v, STR("kubectl.kubernetes.io/last-applied-configuration"));
    value_setz(v, REVISION_ANNOTATION, value_from_str(arena_printf(k->a, "%lld", (long long)revision)));
    return v;
}

static struct value new_set(struct sim_call *k, struct str hash, int64_t revision)
{
    struct value set = value_new_map(k->a),
                 template = value_copy_maps(k->a, value_path(k->object, "spec.template"));
    struct value selector = value_copy_maps(k->a, value_path(k->object, "spec.selector"));
    struct value owner = kube_owner_reference(k->a, k->object, true, true), mark = value_from_str(hash);
    struct value labels;

    value_set_path(template, "metadata.labels.pod-template-hash", mark);
    value_set_path(selector, "matchLabels.pod-template-hash", mark);
    labels = value_path(template, "metadata.labels");
    value_setz(set, "apiVersion", VALUE_STR("apps/v1"));
    value_setz(set, "kind", VALUE_STR("ReplicaSet"));
    value_set_path(
        set, "metadata.name",
        value_from_str(arena_printf(k->a, STR_FMT "-" STR_FMT, STR_ARG(k->ref.name), STR_ARG(hash))));
    value_set_path(set, "metadata.namespace", value_from_str(k->ref.ns));
    value_set_path(set, "metadata.labels", labels);
    value_set_path(set, "metadata.annotations", annotations_of_set(k, revision));
    value_set_path(set, "metadata.ownerReferences", value_from_list(&owner, 1));
    value_set_path(set, "spec.replicas", value_path(k->object, "spec.replicas"));
    value_set_path(set, "spec.selector", selector);
    value_set_path(set, "spec.template", template);
    return value_copy(k->a, set, NULL); /* the list of owners stands on the stack */
}

static int patch_set(struct sim_call *k, const struct controller_object *set, const char *path,
                     struct value v, struct err **err)
{
    struct value patch = value_new_map(k->a);
    struct kube_request rq = { .verb = KUBE_PATCH,
                               .ref = KUBE_REF("apps/v1", "ReplicaSet", set->ns, set->name) };

    value_set_path(patch, path, v);
    rq.object = patch;
    return simulate_do(k, rq, ERRC_NOT_FOUND, err);
}

static int scale(struct sim_call *k, const struct controller_object *set, int64_t replicas, struct err **err)
{
    if (value_int(value_getz(set->kept, "wanted"), -1) == replicas)
        return 0;
    return patch_set(k, set, "spec.replicas", value_from_int(replicas), err);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = number_of(*(const struct controller_object *const *)a);
    int64_t y = number_of(*(const struct controller_object *const *)b);

    return (x > y) - (x < y);
}

/* Old ones get no replicas; those beyond the history are deleted, oldest first. */
static int retire(struct sim_call *k, const struct sets *s, struct err **err)
{
    int64_t keep = value_int(value_path(k->object, "spec.revisionHistoryLimit"), SIMULATE_HISTORY_MAX);
    const struct controller_object **old = ARENA_ARRAY(k->a, const struct controller_object *, s->n + 1);
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; i < s->n; i++)
        if (&s->v[i] != s->current)
            old[n++] = &s->v[i];
    if (n > 1)
        qsort(old, n, sizeof(*old), compare_numbers);
    for (size_t i = 0; i < n && r >= 0; i++) {
        struct kube_ref ref = KUBE_REF("apps/v1", "ReplicaSet", old[i]->ns, old[i]->name);
        bool idle = value_int(value_getz(old[i]->kept, "replicas"), 0) == 0;

        if (idle && (int64_t)(n - i) > keep)
            r = kube_delete(k->c->kube, &ref, old[i]->uid, err);
        else
            r = scale(k, old[i], 0, err);
    }
    return r;
}

static struct value conditions(struct sim_call *k, bool available, bool failed, struct str set)
{
    struct value list = value_path(k->object, "status.conditions");
    struct str why = arena_printf(k->a, "ReplicaSet \"" STR_FMT "\" %s", STR_ARG(set),
                                  failed      ? "has timed out progressing."
                                  : available ? "has successfully progressed."
                                              : "is progressing.");

    list = simulate_conditions(k, list, "Available", available,
                               available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                               available ? STR("Deployment has minimum availability.")
                                         : STR("Deployment does not have minimum availability."));
    return simulate_conditions(k, list, "Progressing", !failed,
                               failed      ? "ProgressDeadlineExceeded"
                               : available ? "NewReplicaSetAvailable"
                                           : "ReplicaSetUpdated",
                               why);
}

static struct value deployment_status(struct sim_call *k, const struct sets *s, int64_t wanted, bool failed)
{
    struct value v = value_new_map(k->a), current = s->current ? s->current->kept : VALUE_NONE;
    int64_t updated = value_int(value_getz(current, "replicas"), 0), all = 0, ready = 0;

    for (size_t i = 0; i < s->n; i++) {
        all += value_int(value_getz(s->v[i].kept, "replicas"), 0);
        ready += value_int(value_getz(s->v[i].kept, "readyReplicas"), 0);
    }
    value_setz(v, "replicas", value_from_int(all));
    value_setz(v, "updatedReplicas", value_from_int(updated));
    value_setz(v, "readyReplicas", value_from_int(ready));
    value_setz(v, "availableReplicas", value_from_int(ready));
    value_setz(v, "unavailableReplicas", value_from_int(MAX(wanted - ready, (int64_t)0)));
    value_setz(v, "observedGeneration", value_from_int(kube_generation(k->object)));
    if (s->current)
        value_setz(v, "conditions",
                   conditions(k, ready >= wanted && updated >= wanted, failed, s->current->name));
    return v;
}

static int note_revision(struct sim_call *k, int64_t revision, struct err **err)
{
    struct str text = arena_printf(k->a, "%lld", (long long)revision);
    struct value patch = value_new_map(k->a), annotations = value_new_map(k->a);

    if (str_eq(kube_annotation(k->object, STR(REVISION_ANNOTATION)), text))
        return 0;
    value_setz(annotations, REVISION_ANNOTATION, value_from_str(text));
    value_set_path(patch, "metadata.annotations", annotations);
    return simulate_do(k, (struct kube_request){ .verb = KUBE_PATCH, .ref = k->ref, .object = patch },
                       ERRC_NOT_FOUND, err);
}

int simulate_deployment(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    struct str hash = simulate_hash(k->a, value_path(k->object, "spec.template"));
    int64_t wanted = value_int(value_path(k->object, "spec.replicas"), 1);
    bool failed = simulate_failure(k->object, VALUE_NONE).n > 0;
    struct sets s = sets_of(k, hash);
    int r;

    if (kube_is_deleting(k->object) || value_bool(value_path(k->object, "spec.paused")))
        return 0;
    if (failed) {
        ret->requeue_after_ms = simulate_due_ms(k, VALUE_NONE);
        failed = ret->requeue_after_ms == 0;
    }
    r = s.current ? scale(k, s.current, wanted, err) : simulate_create(k, new_set(k, hash, s.revision), err);
    if (r >= 0 && s.current && !value_equal(annotations_of_set(k, s.revision), VALUE_NONE) &&
        number_of(s.current) != s.revision)
        r = patch_set(k, s.current, "metadata.annotations", annotations_of_set(k, s.revision), err);
    if (r >= 0)
        r = retire(k, &s, err);
    if (r >= 0)
        r = note_revision(k, s.revision, err);
    return r < 0 ? r : simulate_report(k, deployment_status(k, &s, wanted, failed), err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Claims get a volume of their own, Services of type LoadBalancer an address. */
#include "base/digest.h"
#include "base/limits.h"
#include "simulate/simulate_int.h"

static struct str volume_name(struct sim_call *k)
{
    struct str given = value_str(value_path(k->object, "spec.volumeName"));

    return given.n ? given : arena_printf(k->a, "pvc-" STR_FMT, STR_ARG(kube_uid(k->object)));
}

/* A volume that names its claim: kube-controller-manager binds the two, or we do. simulate_volume() removes
 * it when the claim is gone. */
static struct value new_volume(struct sim_call *k)
{
    struct value v = value_new_map(k->a), claim = value_new_map(k->a), spec = value_getz(k->object, "spec");
    struct value class = value_getz(spec, "storageClassName"), mode = value_getz(spec, "volumeMode");
    struct str name = volume_name(k);

    value_setz(claim, "apiVersion", VALUE_STR("v1"));
    value_setz(claim, "kind", VALUE_STR("PersistentVolumeClaim"));
    value_setz(claim, "namespace", value_from_str(k->ref.ns));
    value_setz(claim, "name", value_from_str(k->ref.name));
    value_setz(claim, "uid", value_from_str(kube_uid(k->object)));
    value_setz(v, "apiVersion", VALUE_STR("v1"));
    value_setz(v, "kind", VALUE_STR("PersistentVolume"));
    value_set_path(v, "metadata.name", value_from_str(name));
    value_setz(value_getz(v, "metadata"), "labels", value_new_map(k->a));
    value_set(value_path(v, "metadata.labels"), STR(SIMULATE_MADE_LABEL), VALUE_STR("true"));
    value_set_path(v, "spec.accessModes", value_getz(spec, "accessModes"));
    value_set_path(v, "spec.capacity.storage", value_path(spec, "resources.requests.storage"));
    value_set_path(v, "spec.claimRef", claim);
    value_set_path(v, "spec.hostPath.path",
                   value_from_str(arena_printf(k->a, "/var/lib/simulate/" STR_FMT, STR_ARG(name))));
    value_set_path(v, "spec.persistentVolumeReclaimPolicy", VALUE_STR("Retain"));
    value_set_path(v, "spec.storageClassName", class.kind == VALUE_STRING ? class : VALUE_STR(""));
    if (!value_is_null(mode))
        value_set_path(v, "spec.volumeMode", mode);
    return v;
}

/* What kube-controller-manager's binder writes into the claim. */
static int bind(struct sim_call *k, struct err **err)
{
    struct value patch = value_new_map(k->a), annotations = value_new_map(k->a), status = value_new_map(k->a);
    int r = 0;

    if (value_str(value_path(k->object, "spec.volumeName")).n == 0) {
        value_setz(annotations, "pv.kubernetes.io/bind-completed", VALUE_STR("yes"));
        value_setz(annotations, "pv.kubernetes.io/bound-by-controller", VALUE_STR("yes"));
        value_set_path(patch, "metadata.annotations", annotations);
        value_set_path(patch, "spec.volumeName", value_from_str(volume_name(k)));
        r = simulate_do(k, (struct kube_request){ .verb = KUBE_PATCH, .ref = k->ref, .object = patch },
                        ERRC_NOT_FOUND, err);
    }
    value_setz(status, "phase", VALUE_STR("Bound"));
    value_setz(status, "accessModes", value_path(k->object, "spec.accessModes"));
    value_set_path(status, "capacity.storage", value_path(k->object, "spec.resources.requests.storage"));
    return r < 0 ? r : simulate_report(k, status, err);
}

/* What kube-controller-manager's protection controllers do once nothing uses the object. */
static int release(struct sim_call *k, struct str finalizer, struct err **err)
{
    struct value_iter it = value_iter(value_path(k->object, "metadata.finalizers"));
    struct value_list rest = VALUE_LIST_INIT(k->a);
    struct value patch = value_new_map(k->a);

    if (k->s->controllers == SIMULATE_CONTROLLERS_OFF || !kube_has_finalizer(k->object, finalizer))
        return 0;
    while (value_next(&it))
        if (!str_eq(value_str(it.v), finalizer))
            value_list_add(&rest, it.v);
    value_set_path(patch, "metadata.finalizers", value_list_done(&rest));
    value_set_path(patch, "metadata.resourceVersion", value_from_str(kube_resource_version(k->object)));
    return simulate_do(k, (struct kube_request){ .verb = KUBE_PATCH, .ref = k->ref, .object = patch },
                       ERRC_NOT_FOUND, err);
}

void simulate_wake_volume(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    struct simulate *s = ctx;
    CLEANUP(buf_done) struct buf name = BUF_INIT(FS_PATH_MAX);

    controller_wake_add(out, (struct controller_key){ kube_namespace(e->object), kube_name(e->object) });
    if (e->type != KUBE_DELETED)
        return;
    buf_addf(&name, "pvc-" STR_FMT, STR_ARG(kube_uid(e->object)));
    controller_enqueue(s->controller, WATCH_VOLUMES, (struct controller_key){ STR_NONE, buf_str(&name) });
}

int simulate_volume(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    struct value of = value_path(k->object, "spec.claimRef"), claim = VALUE_NONE;
    struct kube_ref ref = { STR("v1"), STR(WATCH_CLAIMS), value_str(value_getz(of, "namespace")),
                            value_str(value_getz(of, "name")) };
    struct kube_request rq = { .verb = KUBE_DELETE, .ref = k->ref, .uid = kube_uid(k->object) };
    int r;

    UNUSED(ret);
    if (kube_is_deleting(k->object))
        return release(k, STR("kubernetes.io/pv-protection"), err);
    r = simulate_get(k, &ref, &claim, err);
    if (r < 0 || str_eq(kube_uid(claim), value_str(value_getz(of, "uid"))))
        return MIN(r, 0);
    return simulate_do(k, rq, ERRC_NOT_FOUND, err);
}

int simulate_claim(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    int r;

    if (kube_is_deleting(k->object))
        return release(k, STR("kubernetes.io/pvc-protection"), err);
    if (str_eq(value_str(value_path(k->object, "status.phase")), STR("Bound")))
        return 0;
    if (simulate_failure(k->object, VALUE_NONE).n > 0)
        return 0;
    ret->requeue_after_ms = simulate_due_ms(k, VALUE_NONE);
    if (ret->requeue_after_ms > 0)
        return 0;
    r = simulate_create(k, new_volume(k), err);
    if (r < 0 || k->s->controllers == SIMULATE_CONTROLLERS_OFF)
        return r;
    return bind(k, err);
}

int simulate_service(struct sim_call *k, struct controller_result *ret, struct err **err)
{
    struct value status = value_new_map(k->a), ingress = value_new_map(k->a);
    unsigned char d[DIGEST_BYTES_MAX];

    if (!str_eq(value_str(value_path(k->object, "spec.type")), STR("LoadBalancer")) ||
        kube_is_deleting(k->object) || value_len(value_path(k->object, "status.loadBalancer.ingress")) > 0 ||
        simulate_failure(k->object, VALUE_NONE).n > 0)
        return 0;
    ret->requeue_after_ms = simulate_due_ms(k, VALUE_NONE);
    if (ret->requeue_after_ms > 0)
        return 0;
    digest_raw(DIGEST_SHA256, kube_uid(k->object), d);
    value_setz(ingress, "ip",
               value_from_str(arena_printf(k->a, "203.0.113.%d", 1 + d[0] % 254))); /* RFC 5737 */
    value_set_path(status, "loadBalancer.ingress", value_from_list(&ingress, 1));
    return simulate_report(k, status, err);
}

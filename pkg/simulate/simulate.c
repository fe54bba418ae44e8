/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "simulate"
#include "simulate/simulate_int.h"

#include <assert.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/log.h"
#include "json/json.h"

#define KCM_MANAGER "kube-controller-manager"

/* ---- what every kind needs ---------------------------------------------------------------------------------------- */

static int simulate_tolerate(int r, enum errc code, struct err *e, struct err **err)
{
    if (r < 0 && err_code(e) != code) {
        if (err)
            *err = TAKE(e);
    } else {
        r = 0;
    }
    err_free(e);
    return r;
}

int simulate_get(struct sim_call *k, const struct kube_ref *ref, struct value *ret, struct err **err)
{
    struct err *e = NULL;
    int r = kube_get(k->c->kube, k->a, ref, ret, &e);

    return r >= 0 ? 1 : simulate_tolerate(r, ERRC_NOT_FOUND, e, err);
}

int simulate_do(struct sim_call *k, struct kube_request rq, enum errc code, struct err **err)
{
    struct err *e = NULL;
    int r;

    rq.field_manager = STR(SIMULATE_MANAGER);
    r = kube_do(k->c->kube, k->a, &rq, NULL, &e);
    return simulate_tolerate(r, code, e, err);
}

int simulate_create(struct sim_call *k, struct value object, struct err **err)
{
    return simulate_do(k, (struct kube_request){ .verb = KUBE_CREATE, .object = object }, ERRC_EXISTS, err);
}

int simulate_report(struct sim_call *k, struct value status, struct err **err)
{
    struct value before = value_getz(k->object, "status"), patch = value_new_map(k->a);

    if (value_equal(value_merge_patch(k->a, before, status), before))
        return 0;
    value_setz(patch, "status", status);
    return simulate_do(k,
                       (struct kube_request){
                           .verb = KUBE_PATCH, .ref = k->ref, .object = patch, .subresource = STR("status") },
                       ERRC_NOT_FOUND, err); /* it may be gone by now */
}

static int64_t age_ms(struct value object)
{
    struct wall_time created = { 0 }, now = clock_wall();

    if (!clock_parse_rfc3339(value_str(value_path(object, "metadata.creationTimestamp")), &created))
        return INT64_MAX / 2;
    return (now.s - created.s) * 1000 + (now.ns - created.ns) / 1000000;
}

static struct str annotation_of(struct value object, struct value owner, struct str name)
{
    struct str own = kube_annotation(object, name);

    return own.n ? own : kube_annotation(owner, name);
}

int64_t simulate_due_ms(const struct sim_call *k, struct value owner)
{
    int64_t delay_ms = k->s->delay_ms, ns;

    if (clock_parse_duration(annotation_of(k->object, owner, STR(SIMULATE_ANNOTATION_DELAY)), &ns))
        delay_ms = ns / 1000000;
    return MAX(delay_ms - age_ms(k->object), (int64_t)0);
}

struct str simulate_failure(struct value object, struct value owner)
{
    return annotation_of(object, owner, STR(SIMULATE_ANNOTATION_FAIL));
}

struct value simulate_now(struct arena *a)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);

    clock_format_rfc3339(clock_wall(), &text);
    return value_from_str(arena_dup(a, buf_str(&text)));
}

struct value simulate_controller_of(struct value object)
{
    struct value_iter it = value_iter(value_path(object, "metadata.ownerReferences"));

    while (value_next(&it))
        if (value_bool(value_getz(it.v, "controller")))
            return it.v;
    return VALUE_NONE;
}

struct value simulate_conditions(struct sim_call *k, struct value conditions, const char *type, bool is_true,
                                 const char *reason, struct str message)
{
    struct kube_condition c = { .type = str_from(type),
                                .status = is_true ? "True" : "False",
                                .reason = str_from(reason),
                                .message = message };

    return kube_condition_set(k->a, conditions, &c, NULL);
}

static struct str letters(struct arena *a, struct str text, size_t n)
{
    /* Kubernetes' own choice (util/rand): nothing that reads as a word. */
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char digest[DIGEST_BYTES_MAX];
    char *out = arena_alloc_bytes(a, n);

    digest_raw(DIGEST_SHA256, text, digest);
    for (size_t i = 0; i < n; i++)
        out[i] = alphabet[digest[i] % (sizeof(alphabet) - 1)];
    return (struct str){ out, n };
}

struct str simulate_child_name(struct arena *a, struct str name, struct str seed, int64_t index)
{
    struct str suffix = letters(a, arena_printf(a, STR_FMT "/%lld", STR_ARG(seed), (long long)index), 5);

    name.n = MIN(name.n, (size_t)57); /* a label too: 63 with "-" and five letters */
    return arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(name), STR_ARG(suffix));
}

struct str simulate_hash(struct arena *a, struct value v)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KUBE_OBJECT_MAX);

    IGNORE_ERROR(json_print(v, 0, &text, NULL)); /* what the server sent is small and prints */
    return letters(a, buf_str(&text), 10);
}

/* ---- watches and reconcile functions ------------------------------------------------------------------------------ */

/* A change of a child wakes the object that controls it. */
static void wake_owner(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    struct simulate *s = ctx;
    struct value owner = value_getz(e->kept.kind == VALUE_MAP ? e->kept : e->before, "owner");
    struct str kind = value_str(value_getz(owner, "kind")), ns = kube_namespace(e->object);
    static const char *const owners[] = { WATCH_DEPLOYMENTS, WATCH_REPLICASETS, WATCH_STATEFULSETS,
                                          WATCH_DAEMONSETS, WATCH_JOBS };

    controller_wake_add(out, (struct controller_key){ ns, kube_name(e->object) });
    if (s->controllers != SIMULATE_CONTROLLERS_ON)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
        if (str_eq(kind, str_from(owners[i])))
            controller_enqueue(s->controller, owners[i],
                               (struct controller_key){ ns, value_str(value_getz(owner, "name")) });
}

static const struct sim_kind kinds[] = {
    { WATCH_DEPLOYMENTS, { "apps/v1", 7 }, simulate_deployment, true, NULL, NULL, NULL },
    { WATCH_REPLICASETS, { "apps/v1", 7 }, simulate_replicaset, true, wake_owner, simulate_extract, NULL },
    { WATCH_STATEFULSETS, { "apps/v1", 7 }, simulate_statefulset, true, NULL, NULL, NULL },
    { WATCH_DAEMONSETS, { "apps/v1", 7 }, simulate_daemonset, true, NULL, NULL, NULL },
    { WATCH_JOBS, { "batch/v1", 8 }, simulate_job, true, NULL, NULL, NULL },
    { WATCH_PODS, { "v1", 2 }, simulate_pod, false, wake_owner, simulate_extract, NULL },
    { WATCH_CLAIMS, { "v1", 2 }, simulate_claim, false, simulate_wake_volume, NULL, NULL },
    { WATCH_VOLUMES, { "v1", 2 }, simulate_volume, false, NULL, NULL, SIMULATE_MADE_LABEL "=true" },
    { WATCH_SERVICES, { "v1", 2 }, simulate_service, false, NULL, NULL, NULL },
};

static int reconcile(void *ctx, const struct controller_call *c, struct controller_result *ret,
                     struct err **err)
{
    const struct sim_ctx *x = ctx;
    struct sim_call k = { .s = x->s, .c = c, .a = c->arena };
    int r;

    k.ref = (struct kube_ref){ .api_version = x->kind->api_version,
                               .kind = str_from(x->kind->name),
                               .ns = c->key.ns,
                               .name = c->key.name };
    r = simulate_get(&k, &k.ref, &k.object, err);
    return r <= 0 ? r : x->kind->fn(&k, ret, err);
}

/* kube-controller-manager puts a ConfigMap with the cluster's CA into each namespace; its managedFields say who. */
static int look_for_controllers(struct simulate *s, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(8 * MIB);
    struct kube_ref ref = KUBE_REF("v1", "ConfigMap", STR("kube-system"), STR("kube-root-ca.crt"));
    struct err *e = NULL;
    struct value object = VALUE_NONE;
    int r = kube_get(s->kube, a, &ref, &object, &e);

    struct value_iter it;

    r = simulate_tolerate(r, ERRC_NOT_FOUND, e, err);
    if (r < 0)
        return err_wrap(err, r, "look for kube-controller-manager");
    s->controllers = SIMULATE_CONTROLLERS_ON;
    it = value_iter(value_path(object, "metadata.managedFields"));
    while (value_next(&it))
        if (str_eq(value_str(value_getz(it.v, "manager")), STR(KCM_MANAGER)))
            s->controllers = SIMULATE_CONTROLLERS_OFF;
    return 0;
}

static void add_kind(struct simulate *s, const struct sim_kind *kind)
{
    struct sim_ctx *ctx = &s->ctx[s->n];
    struct controller_watch *w = &s->watches[s->n];

    *ctx = (struct sim_ctx){ s, kind };
    *w = (struct controller_watch){ .name = kind->name,
                                    .api_version = kind->api_version,
                                    .kind = str_from(kind->name),
                                    .label_selector = str_from(kind->selector),
                                    .extract = kind->extract,
                                    .map = kind->map,
                                    .ctx = s };
    s->table[s->n++] = (struct controller_kind){
        .name = kind->name, .reconcile = reconcile, .ctx = ctx, .watches = w, .n_watches = 1
    };
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

int simulate_new(const struct simulate_options *o, struct simulate **ret, struct err **err)
{
    CLEANUP(simulate_free) struct simulate *s = xcalloc(1, sizeof(*s));
    struct controller_options co = { .kube = o->kube,
                                     .workers = o->workers ? o->workers : 4,
                                     .signals = o->signals };
    int r;

    assert(ARRAY_SIZE(kinds) == SIMULATE_KINDS);
    s->kube = kube_ref(o->kube);
    s->delay_ms = o->delay_ms < 0 ? SIMULATE_DELAY_MS : o->delay_ms;
    s->controllers = o->controllers;
    if (s->controllers == SIMULATE_CONTROLLERS_AUTO) {
        r = look_for_controllers(s, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < SIMULATE_KINDS; i++)
        if (!kinds[i].is_controllers || s->controllers == SIMULATE_CONTROLLERS_ON)
            add_kind(s, &kinds[i]);
    r = controller_new(&co, s->table, s->n, &s->controller, err);
    if (r < 0)
        return r;
    *ret = TAKE(s);
    return 0;
}

int simulate_run(struct simulate *s, struct err **err)
{
    log_info("simulating", LOG_BOOL("controllers", s->controllers == SIMULATE_CONTROLLERS_ON),
             LOG_INT("delay_ms", s->delay_ms));
    return controller_run(s->controller, err);
}

void simulate_stop(struct simulate *s)
{
    controller_stop(s->controller);
}

void simulate_free(struct simulate *s)
{
    if (!s)
        return;
    controller_free(s->controller);
    kube_unref(s->kube);
    free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "release/wake.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "release/manager.h"
#include "release/record.h"
#include "release/rights.h"

#define OBJECTS_SETTLE_MS 500 /* a rollout changes its objects many times: one look for all of that */
#define ASK_AGAIN_MS ((int64_t)10 * 60 * 1000) /* what may not be watched may be allowed later */

struct wish { /* one watch: there, or not allowed */
    bool watched;
    int64_t asked_ms;
};
struct wake {
    struct release_manager *m;
    pthread_mutex_t mutex;
    struct map wishes; /* name of the watch -> struct wish */
};

struct wake *wake_new(struct release_manager *m)
{
    struct wake *w = xcalloc(1, sizeof(*w));

    w->m = m;
    pthread_mutex_init(&w->mutex, NULL);
    return w;
}

void wake_free(struct wake *w)
{
    void *wish;

    if (!w)
        return;
    for (size_t i = 0; map_next(&w->wishes, &i, NULL, &wish);)
        free(wish);
    map_done(&w->wishes);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

struct str wake_target_key(struct arena *a, struct str target_ns, struct str release)
{
    return arena_printf(a, "target:%.*s/%.*s", STR_ARG(target_ns), STR_ARG(release));
}

struct str wake_values_key(struct arena *a, struct str kind, struct str ns, struct str name)
{
    return arena_printf(a, "from:%.*s:%.*s/%.*s", STR_ARG(kind), STR_ARG(ns), STR_ARG(name));
}

/* ---- who is woken --------------------------------------------------------------------------------------------------- */

static void disturb(struct release_manager *m, struct arena *a, struct str key, int64_t after_ms)
{
    struct controller_object *found;
    size_t n;

    found = controller_list(m->controller, "releases", key, a, &n);
    for (size_t i = 0; i < n; i++) {
        struct controller_key who = { found[i].ns, found[i].name };

        manager_disturb(m, who);
        controller_enqueue_after(m->controller, "Release", who, after_ms);
    }
}

static void map_object(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct str release = kube_annotation(e->object, STR("meta.helm.sh/release-name"));
    struct str ns = kube_annotation(e->object, STR("meta.helm.sh/release-namespace"));

    UNUSED(out);
    if (e->type != KUBE_ADDED && !e->initial && release.n > 0)
        disturb(ctx, a, wake_target_key(a, ns, release), OBJECTS_SETTLE_MS);
}

static void map_values(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    UNUSED(out);
    if (!e->initial)
        disturb(
            ctx, a,
            wake_values_key(a, kube_ref_of(e->object).kind, kube_namespace(e->object), kube_name(e->object)),
            0);
}

/* Ours carry the intent; Helm drops it when it writes. */
static void map_record(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    bool ours = kube_annotation(e->object, STR(RECORD_ANNOTATION_OWNER)).n > 0;

    UNUSED(out);
    if (!e->initial && !ours)
        disturb(ctx, a, wake_target_key(a, kube_namespace(e->object), kube_label(e->object, STR("name"))), 0);
}

/* ---- watching ------------------------------------------------------------------------------------------------------- */

static bool ask(struct wake *w, struct arena *a, struct wish *wish, const struct controller_watch *watch)
{
    wish->asked_ms = clock_mono_ms();
    if (!rights_may_watch(w->m->kube, a, watch->api_version, watch->kind, watch->ns))
        return false;
    return controller_add_watch(w->m->controller, "Release", watch, NULL) == 0;
}

/* Makes the watch once, when it is allowed; true when it is there. */
static bool ensure(struct wake *w, struct arena *a, const struct controller_watch *watch)
{
    struct str name = str_from(watch->name);
    struct wish *wish;
    bool must_ask, watched;

    if (!w->m->controller)
        return false;
    pthread_mutex_lock(&w->mutex);
    wish = map_get(&w->wishes, name);
    must_ask = !wish || (!wish->watched && clock_mono_ms() - wish->asked_ms > ASK_AGAIN_MS);
    if (!wish) {
        wish = xcalloc(1, sizeof(*wish));
        map_put(&w->wishes, name, wish);
    }
    if (must_ask)
        wish->watched = ask(w, a, wish, watch);
    watched = wish->watched;
    pthread_mutex_unlock(&w->mutex);
    return watched;
}

bool wake_on_objects(struct wake *w, struct arena *a, const struct release_objects *objects)
{
    bool all = true;

    for (size_t i = 0; i < objects->n; i++) {
        const struct kube_ref *ref = &objects->items[i].ref;
        struct str name;

        if (i > 0 && str_eq(ref->kind, objects->items[i - 1].ref.kind) &&
            str_eq(ref->api_version, objects->items[i - 1].ref.api_version))
            continue;
        name = arena_printf(a, "live:%.*s/%.*s", STR_ARG(ref->api_version), STR_ARG(ref->kind));
        all &= ensure(w, a,
                      &(struct controller_watch){ .name = name.p,
                                                  .api_version = ref->api_version,
                                                  .kind = ref->kind,
                                                  .label_selector = STR("app.kubernetes.io/managed-by=Helm"),
                                                  .metadata_only = true,
                                                  .map = map_object,
                                                  .ctx = w->m });
    }
    return all;
}

void wake_on_values(struct wake *w, struct arena *a, struct str ns, struct value values_from)
{
    for (struct value_iter it = value_iter(values_from); value_next(&it);) {
        struct str kind = value_str(value_getz(it.v, "kind"));
        struct str name = arena_printf(a, "from:%.*s/%.*s", STR_ARG(ns), STR_ARG(kind));

        ensure(w, a,
               &(struct controller_watch){ .name = name.p,
                                           .api_version = STR("v1"),
                                           .kind = kind,
                                           .ns = ns,
                                           .metadata_only = true,
                                           .map = map_values,
                                           .ctx = w->m });
    }
}

void wake_on_records(struct wake *w, struct arena *a)
{
    ensure(w, a,
           &(struct controller_watch){ .name = "records",
                                       .api_version = STR("v1"),
                                       .kind = STR("Secret"),
                                       .label_selector = STR("owner=helm"),
                                       .metadata_only = true,
                                       .map = map_record,
                                       .ctx = w->m });
}

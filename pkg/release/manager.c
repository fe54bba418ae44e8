/* SPDX-License-Identifier: Apache-2.0 */
#include "release/manager.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "release/spec.h"
#include "release/values.h"
#include "release/wake.h"

#define REFS_WAKE_MAX 1000 /* Values objects looked at when one of them changed */

/* ---- memories ------------------------------------------------------------------------------------------------------ */

static void key_text(struct controller_key key, struct buf *out)
{
    buf_addf(out, "%.*s/%.*s", STR_ARG(key.ns), STR_ARG(key.name));
}

struct release_memory *manager_memory(struct release_manager *m, struct controller_key key)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
    struct release_memory *mem;

    key_text(key, &text);
    pthread_mutex_lock(&m->mutex);
    mem = map_get(&m->memories, buf_str(&text));
    if (!mem) {
        mem = xcalloc(1, sizeof(*mem));
        map_put(&m->memories, buf_str(&text), mem);
    }
    pthread_mutex_unlock(&m->mutex);
    return mem;
}

void manager_disturb(struct release_manager *m, struct controller_key key)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
    struct release_memory *mem;

    key_text(key, &text);
    pthread_mutex_lock(&m->mutex);
    mem = map_get(&m->memories, buf_str(&text));
    if (mem)
        atomic_store(&mem->disturbed, true);
    pthread_mutex_unlock(&m->mutex);
}

void manager_forget(struct release_manager *m, struct controller_key key)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);

    key_text(key, &text);
    pthread_mutex_lock(&m->mutex);
    free(map_remove(&m->memories, buf_str(&text)));
    pthread_mutex_unlock(&m->mutex);
}

/* ---- what the informers note --------------------------------------------------------------------------------------- */

static void index_name(struct controller_note *n, const char *kind, struct str ns, struct str name)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(2 * KIB);

    buf_addf(&key, "%s:%.*s/%.*s", kind, STR_ARG(ns), STR_ARG(name));
    controller_note_index(n, buf_str(&key));
}

/* What the watches of wake.c find it by. */
static void note_live(struct arena *a, struct value object, struct controller_note *note)
{
    struct value spec = value_getz(object, "spec");
    struct str ns = value_str(value_getz(spec, "namespace")), name = value_str(value_getz(spec, "name"));

    controller_note_index(
        note, wake_target_key(a, ns.n ? ns : kube_namespace(object), name.n ? name : kube_name(object)));
    for (struct value_iter it = value_iter(value_getz(spec, "valuesFrom")); value_next(&it);)
        controller_note_index(note,
                              wake_values_key(a, value_str(value_getz(it.v, "kind")), kube_namespace(object),
                                              value_str(value_getz(it.v, "name"))));
}

static void note_release(void *ctx, struct value object, struct controller_note *note)
{
    struct value spec = value_getz(object, "spec"), kept;
    CLEANUP(arena_free) struct arena *a = arena_new(64 * KIB);
    struct str ns = kube_namespace(object), repo = value_str(value_getz(spec, "repo"));
    struct str chart =
        arena_printf(a, "%.*s/%.*s", STR_ARG(repo), STR_ARG(value_str(value_getz(spec, "chart"))));

    UNUSED(ctx);
    kept = value_new_map(a);
    value_setz(kept, "wish",
               value_from_str(arena_printf(a, "%.*s %.*s %d",
                                           STR_ARG(kube_annotation(object, STR(CONTROLLER_RECONCILE_AT))),
                                           STR_ARG(kube_annotation(object, STR(RELEASE_ANNOTATION_PAUSED))),
                                           kube_is_deleting(object))));
    value_setz(kept, "chart", value_from_str(chart));
    value_setz(kept, "config", value_getz(spec, "config"));
    value_setz(kept, "values", value_from_bool(value_len(value_getz(spec, "values")) > 0));
    value_setz(kept, "unwatched", value_from_bool(value_len(value_getz(spec, "valuesFrom")) > 0));
    controller_note_keep(note, kept);
    controller_note_index(note, chart);
    note_live(a, object, note);
    index_name(note, "config", ns, value_str(value_getz(spec, "config")));
    for (struct value_iter it = value_iter(value_getz(spec, "values")); value_next(&it);)
        index_name(note, "values", ns, value_str(it.v));
}

static void note_values(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    size_t n;
    struct str *refs = values_refs(a, object, &n);

    UNUSED(ctx);
    controller_note_index(note, arena_printf(a, "ns:%.*s", STR_ARG(kube_namespace(object))));
    for (size_t i = 0; i < n; i++)
        index_name(note, "ref", kube_namespace(object), refs[i]);
}

static void note_content(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(2 * KIB);

    UNUSED(ctx);
    buf_addf(&key, "%.*s/%.*s", STR_ARG(kube_annotation(object, STR("pintle.dev/repository"))),
             STR_ARG(kube_annotation(object, STR("pintle.dev/chart"))));
    controller_note_index(note, buf_str(&key));
}

/* ---- who is woken ---------------------------------------------------------------------------------------------------- */

static void wake_releases(struct release_manager *m, struct str index_key)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct controller_object *found;
    size_t n;

    if (!m->controller)
        return;
    found = controller_list(m->controller, "releases", index_key, a, &n);
    for (size_t i = 0; i < n; i++)
        controller_enqueue(m->controller, "Release", (struct controller_key){ found[i].ns, found[i].name });
}

static void wake_users_of(struct release_manager *m, const char *kind, struct str ns, struct str name)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(2 * KIB);

    buf_addf(&key, "%s:%.*s/%.*s", kind, STR_ARG(ns), STR_ARG(name));
    wake_releases(m, buf_str(&key));
}

/* A Release counts in the status of what it uses. */
static void map_release(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    struct release_manager *m = ctx;
    struct str ns = kube_namespace(e->object);
    struct value spec = value_getz(e->object, "spec");

    controller_wake_add(out, (struct controller_key){ ns, kube_name(e->object) });
    if (!m->controller)
        return;
    if (value_len(value_getz(spec, "config")) > 0)
        controller_enqueue(m->controller, "Config",
                           (struct controller_key){ ns, value_str(value_getz(spec, "config")) });
    for (struct value_iter it = value_iter(value_getz(spec, "values")); value_next(&it);)
        controller_enqueue(m->controller, "Values", (struct controller_key){ ns, value_str(it.v) });
}

/* A Values object changed: itself, whoever refers to it, however far away, and the Releases that use any of them. */
static void map_values(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    struct release_manager *m = ctx;
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct str ns = kube_namespace(e->object), *names = ARENA_ARRAY(a, struct str, REFS_WAKE_MAX);
    size_t n = 1;

    names[0] = kube_name(e->object);
    for (size_t i = 0; i < n; i++) {
        struct controller_object *users = NULL;
        size_t n_users = 0;

        controller_wake_add(out, (struct controller_key){ ns, names[i] });
        wake_users_of(m, "values", ns, names[i]);
        if (m->controller)
            users = controller_list(m->controller, "values",
                                    arena_printf(a, "ref:%.*s/%.*s", STR_ARG(ns), STR_ARG(names[i])), a,
                                    &n_users);
        for (size_t u = 0; u < n_users && n < REFS_WAKE_MAX; u++) {
            bool seen = false;

            for (size_t k = 0; k < n && !seen; k++)
                seen = str_eq(names[k], users[u].name);
            if (!seen)
                names[n++] = users[u].name;
        }
    }
}

static void map_config(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    controller_wake_add(out, (struct controller_key){ kube_namespace(e->object), kube_name(e->object) });
    wake_users_of(ctx, "config", kube_namespace(e->object), kube_name(e->object));
}

static void map_content(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(2 * KIB);

    UNUSED(ctx);
    buf_addf(&key, "%.*s/%.*s", STR_ARG(kube_annotation(e->object, STR("pintle.dev/repository"))),
             STR_ARG(kube_annotation(e->object, STR("pintle.dev/chart"))));
    controller_wake_index(out, "releases", buf_str(&key));
}

/* ---- the table --------------------------------------------------------------------------------------------------------- */

static void make_kinds(struct release_manager *m)
{
    struct controller_watch *w = xcalloc(4, sizeof(*w));
    struct controller_kind *k = xcalloc(3, sizeof(*k));

    w[0] = (struct controller_watch){ .name = "releases",
                                      .api_version = STR(RELEASE_API_VERSION),
                                      .kind = STR("Release"),
                                      .ignore_status = true,
                                      .extract = note_release,
                                      .map = map_release,
                                      .ctx = m };
    w[1] = (struct controller_watch){ .name = "release-content",
                                      .api_version = STR("v1"),
                                      .kind = STR("ConfigMap"),
                                      .ns = str_from(m->ns),
                                      .label_selector = STR("pintle.dev/type=tmpl"),
                                      .metadata_only = true,
                                      .extract = note_content,
                                      .map = map_content,
                                      .ctx = m };
    w[2] = (struct controller_watch){ .name = "values",
                                      .api_version = STR(RELEASE_API_VERSION),
                                      .kind = STR("Values"),
                                      .ignore_status = true,
                                      .extract = note_values,
                                      .map = map_values,
                                      .ctx = m };
    w[3] = (struct controller_watch){ .name = "configs",
                                      .api_version = STR(RELEASE_API_VERSION),
                                      .kind = STR("Config"),
                                      .ignore_status = true,
                                      .map = map_config,
                                      .ctx = m };
    k[0] = (struct controller_kind){ "Release", release_reconcile, m, &w[0], 2 };
    k[1] = (struct controller_kind){ "Values", values_reconcile, m, &w[2], 1 };
    k[2] = (struct controller_kind){ "Config", config_reconcile, m, &w[3], 1 };
    m->kinds = k;
    m->watches = w;
    m->n_kinds = 3;
}

struct release_manager *release_manager_new(const struct release_manager_options *o)
{
    struct release_manager *m = xcalloc(1, sizeof(*m));

    m->kube = kube_ref(o->kube);
    m->store = o->store;
    m->recorder = o->recorder;
    m->ns = str_dup(o->ns);
    m->default_service_account = str_dup(o->default_service_account);
    pthread_mutex_init(&m->mutex, NULL);
    m->wake = wake_new(m);
    make_kinds(m);
    return m;
}

void release_manager_free(struct release_manager *m)
{
    void *mem;

    if (!m)
        return;
    for (size_t i = 0; map_next(&m->memories, &i, NULL, &mem);)
        free(mem);
    map_done(&m->memories);
    wake_free(m->wake);
    pthread_mutex_destroy(&m->mutex);
    free(m->kinds);
    free(m->watches);
    free(m->ns);
    free(m->default_service_account);
    kube_unref(m->kube);
    free(m);
}

const struct controller_kind *release_manager_kinds(struct release_manager *m, size_t *ret_n)
{
    *ret_n = m->n_kinds;
    return m->kinds;
}

void release_manager_attach(struct release_manager *m, struct controller *c)
{
    m->controller = c;
}

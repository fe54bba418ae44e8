/* SPDX-License-Identifier: Apache-2.0 */
/* spec.mirror of Repositories: their archives are kept in the folder of their name, and their status says so. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "mirror/mirror_int.h"
#include "registry/registry.h"

#define LOG_MODULE "mirror"
#include "base/log.h"

#define CONDITION "Mirrored"
#define ANNOTATION_ACCEPT "pintle.dev/accept-digest"
#define SYNC_MS 15000  /* a worker is held so long; then others have their turn */
#define RETRY_MS 60000 /* what could not be had is tried again */
#define MEMORY_MAX (256 * MIB)

struct mirror_manager {
    struct mirror *mirror; /* NULL: this controller keeps none */
    char *url;
    pthread_mutex_t lock;
    struct map done; /* Repository: what its last complete sync was made for; owned texts */
    bool swept;      /* folders of Repositories that went while no controller ran are gone */
};

struct mirror_manager *mirror_manager_new(struct mirror *mirror, struct str url)
{
    struct mirror_manager *g = xcalloc(1, sizeof(*g));

    g->mirror = mirror;
    g->url = str_dup(str_trim_suffix(url, STR("/")));
    pthread_mutex_init(&g->lock, NULL);
    return g;
}

void mirror_manager_free(struct mirror_manager *g)
{
    struct str key;
    void *text;

    if (!g)
        return;
    for (size_t i = 0; map_next(&g->done, &i, &key, &text);)
        free(text);
    map_done(&g->done);
    pthread_mutex_destroy(&g->lock);
    free(g->url);
    free(g);
}

/* ---- what has been done ---------------------------------------------------------------------------------------------------- */

/* All that decides what a sync does. */
static struct str work_key(const struct registry_follow *call)
{
    return arena_printf(call->arena, "%lld %.*s %.*s %.*s", (long long)kube_generation(call->object),
                        STR_ARG(call->index_digest),
                        STR_ARG(kube_annotation(call->object, STR(ANNOTATION_ACCEPT))),
                        STR_ARG(kube_annotation(call->object, STR(CONTROLLER_RECONCILE_AT))));
}

static bool is_done(struct mirror_manager *g, struct str repository, struct str work)
{
    const char *done;
    bool same;

    pthread_mutex_lock(&g->lock);
    done = map_get(&g->done, repository);
    same = done && str_eq(str_from(done), work);
    pthread_mutex_unlock(&g->lock);
    return same;
}

static void set_done(struct mirror_manager *g, struct str repository, struct str work)
{
    pthread_mutex_lock(&g->lock);
    free(work.p ? map_put(&g->done, repository, str_dup(work)) : map_remove(&g->done, repository));
    pthread_mutex_unlock(&g->lock);
}

/* ---- what is wanted -------------------------------------------------------------------------------------------------------- */

/* "1.2.3@sha256:…" pins the archive for the Chart; here digests never change anyway. */
static struct str without_pin(struct str version)
{
    size_t at = str_find(version, STR("@sha256:"));

    return at == STR_NPOS ? version : str_sub(version, 0, at);
}

static struct mirror_wanted *wanted_charts(struct arena *a, struct value charts, size_t *ret_n)
{
    struct mirror_wanted *all;
    size_t n = 0;

    for (struct value_iter it = value_iter(charts); value_next(&it);)
        n += MAX(value_len(value_getz(it.v, "versions")), (size_t)1);
    all = ARENA_ARRAY(a, struct mirror_wanted, n + 1);
    *ret_n = n;
    n = 0;
    for (struct value_iter it = value_iter(charts); value_next(&it);) {
        struct str name = value_str(value_getz(it.v, "name"));
        struct value versions = value_getz(it.v, "versions");

        if (value_len(versions) == 0)
            all[n++] = (struct mirror_wanted){ name, STR("") };
        for (struct value_iter v = value_iter(versions); value_next(&v);)
            all[n++] = (struct mirror_wanted){ name, without_pin(value_str(v.v)) };
    }
    return all;
}

static bool flag(struct value spec, const char *name, bool otherwise)
{
    struct value v = value_get(spec, str_from(name));

    return value_is_null(v) ? otherwise : value_bool(v);
}

/* One Repository's turn. */
struct turn {
    struct mirror_manager *g;
    const struct registry_follow *call;
    struct str name;
    struct value spec; /* spec.mirror */
    struct mirror_sync_figures figures;
    struct str trouble; /* the first version that was refused or failed */
};

static void note_line(void *ctx, struct str line)
{
    struct turn *t = ctx;
    bool bad = str_has_prefix(line, STR("refused ")) || str_has_prefix(line, STR("failed "));

    if (bad && t->trouble.n == 0)
        t->trouble = arena_dup(t->call->arena, line);
    if (bad)
        log_info("not mirrored", LOG_STR("repository", t->name), LOG_STR("what", line));
}

static int sync(struct turn *t, struct err **err)
{
    const struct registry_follow *call = t->call;
    struct value charts = value_getz(t->spec, "charts");
    struct mirror_sync_options o = {
        .source = call->source,
        .folder = t->name,
        .latest = (size_t)value_int(value_getz(t->spec, "latest"), 1),
        .devel = flag(t->spec, "devel", false),
        .dependencies = flag(t->spec, "dependencies", true),
        .prune = flag(t->spec, "prune", false),
        .accepted = kube_annotation(call->object, STR(ANNOTATION_ACCEPT)),
        .until_ms = clock_mono_ms() + SYNC_MS,
        .db = call->db,
        .repository = t->name,
        .line = note_line,
        .ctx = t,
    };

    if (value_len(charts) == 0)
        charts = value_path(call->object, "spec.charts");
    o.charts = wanted_charts(call->arena, charts, &o.n_charts);
    return mirror_sync(t->g->mirror, &o, &t->figures, err);
}

/* ---- what the status says -------------------------------------------------------------------------------------------------- */

static void say(struct registry_followed *ret, const char *status, const char *reason, struct str message)
{
    ret->condition.status = status;
    ret->condition.reason = str_from(reason);
    ret->condition.message = message;
}

/* Worst first. */
static void judge(struct turn *t, const struct mirror_figures *have, struct registry_followed *ret)
{
    const struct mirror_sync_figures *f = &t->figures;
    struct arena *a = t->call->arena;
    struct str kept = arena_printf(a, "%zu versions of %zu charts", have->versions, have->charts);

    if (f->full)
        say(ret, "False", "MirrorFull", arena_printf(a, "%.*s; %.*s", STR_ARG(kept), STR_ARG(t->trouble)));
    else if (f->refused > 0)
        say(ret, "False", "DigestChanged",
            arena_printf(a,
                         "%.*s; %zu published again with other bytes: %.*s; if that is meant, annotate this "
                         "Repository "
                         "with " ANNOTATION_ACCEPT,
                         STR_ARG(kept), f->refused, STR_ARG(t->trouble)));
    else if (f->failed > 0)
        say(ret, "False", "Incomplete",
            arena_printf(a, "%.*s; %zu could not be had: %.*s", STR_ARG(kept), f->failed,
                         STR_ARG(t->trouble)));
    else if (f->left > 0)
        say(ret, "Unknown", "Mirroring", arena_printf(a, "%.*s so far", STR_ARG(kept)));
    else
        say(ret, "True", "Mirrored", kept);
}

static bool is_news(const struct turn *t)
{
    const struct mirror_sync_figures *f = &t->figures;

    return f->added + f->replaced + f->removed > 0 ||
           value_is_null(value_path(t->call->object, "status.mirror.lastSyncTime")) ||
           !kube_condition_is(t->call->object, STR(CONDITION), "True");
}

static struct value status_of(const struct turn *t, const struct mirror_figures *have, bool complete)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64);
    struct arena *a = t->call->arena;
    struct value v = value_new_map(a), time = value_path(t->call->object, "status.mirror.lastSyncTime");

    clock_format_rfc3339(clock_wall(), &now);
    if (complete && is_news(t))
        time = value_from_str(arena_dup(a, buf_str(&now)));
    value_setz(v, "charts", value_from_int((int64_t)have->charts));
    value_setz(v, "versions", value_from_int((int64_t)have->versions));
    value_setz(v, "bytes", value_from_int(have->archive_bytes));
    value_setz(v, "storedBytes", value_from_int(have->disk_bytes));
    value_setz(v, "refused", value_from_int((int64_t)t->figures.refused));
    value_setz(v, "failed", value_from_int((int64_t)t->figures.failed));
    value_setz(v, "url", value_from_str(arena_printf(a, "%s/%.*s", t->g->url, STR_ARG(t->name))));
    if (value_is_string(time))
        value_setz(v, "lastSyncTime", time);
    return v;
}

static void report(struct turn *t, struct registry_followed *ret)
{
    struct mirror_figures have = { 0 };
    struct err *err = NULL;
    bool complete = t->figures.failed + t->figures.left == 0;

    if (mirror_folder_figures(t->g->mirror, t->name, &have, &err) < 0) {
        say(ret, "False", "MirrorFailed", arena_dup(t->call->arena, str_from(err_message(err))));
        err_free(err);
        ret->again_ms = RETRY_MS;
        return;
    }
    judge(t, &have, ret);
    ret->fields = value_new_map(t->call->arena);
    value_setz(ret->fields, "mirror", status_of(t, &have, complete && t->figures.refused == 0));
    ret->again_ms = t->figures.left > 0 ? 1 : t->figures.failed > 0 ? RETRY_MS : 0;
}

/* ---- folders of nobody ----------------------------------------------------------------------------------------------------- */

static int drop_folder(struct mirror_manager *g, struct str folder, struct err **err)
{
    struct mirror_prune_figures figures;
    size_t n = 0;
    int r = mirror_remove_folder(g->mirror, folder, &n, err);

    if (r < 0 || n == 0)
        return r;
    log_info("mirror dropped", LOG_STR("repository", folder), LOG_INT("versions", (int64_t)n));
    return mirror_prune(g->mirror, 0, &figures, err);
}

static int sweep(struct mirror_manager *g, struct kube *k, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MEMORY_MAX);
    CLEANUP(map_done) struct map live = MAP_INIT;
    struct kube_ref ref = KUBE_REF("pintle.dev/v1alpha1", "Repository", STR_NONE, STR_NONE);
    struct value list;
    struct str *paths;
    size_t n;
    int r = kube_list(k, a, &ref, STR_NONE, &list, err);

    if (r == 0)
        r = mirror_paths(g->mirror, a, &paths, &n, err);
    if (r < 0)
        return r;
    for (struct value_iter it = value_iter(value_getz(list, "items")); value_next(&it);)
        map_put(&live, kube_name(it.v), g);
    for (size_t i = 0; i < n && r == 0; i++) {
        struct str folder = str_dirname(paths[i]);

        if (folder.n > 0 && !map_put(&live, folder, g))
            r = drop_folder(g, folder, err);
    }
    return r;
}

static void sweep_once(struct mirror_manager *g, struct kube *k)
{
    CLEANUP(err_free) struct err *err = NULL;
    bool due;

    pthread_mutex_lock(&g->lock);
    due = !g->swept;
    g->swept = true;
    pthread_mutex_unlock(&g->lock);
    if (due && sweep(g, k, &err) < 0) {
        log_debug("mirror not swept", LOG_ERR(err));
        pthread_mutex_lock(&g->lock);
        g->swept = false;
        pthread_mutex_unlock(&g->lock);
    }
}

static void forget(void *ctx, struct str repository)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct mirror_manager *g = ctx;

    set_done(g, repository, STR_NONE);
    if (g->mirror && drop_folder(g, repository, &err) < 0)
        log_warn("mirror not dropped", LOG_STR("repository", repository), LOG_ERR(err));
}

/* ---- a Repository's turn ---------------------------------------------------------------------------------------------------- */

/* spec.mirror was taken away. */
static void end(struct turn *t, struct registry_followed *ret)
{
    if (value_is_null(value_path(t->call->object, "status.mirror")) &&
        value_is_null(kube_condition_find(t->call->object, STR(CONDITION))))
        return;
    forget(t->g, t->name);
    ret->fields = value_new_map(t->call->arena);
    value_setz(ret->fields, "mirror", VALUE_NONE);
}

static void turn(struct turn *t, struct registry_followed *ret)
{
    struct str work = work_key(t->call);
    struct err *err = NULL;

    if (is_done(t->g, t->name, work))
        return;
    if (t->call->waits) {
        ret->again_ms = 1;
        return;
    }
    if (sync(t, &err) < 0) {
        say(ret, "False", "MirrorFailed", arena_dup(t->call->arena, str_from(err_message(err))));
        err_free(err);
        ret->again_ms = RETRY_MS;
        return;
    }
    report(t, ret);
    /* A registry has no index that says whether something is new. */
    if (t->figures.failed + t->figures.left == 0 && !oci_is_url(t->call->source->url))
        set_done(t->g, t->name, work);
}

static struct kube_condition condition_before(struct arena *a, struct value object)
{
    struct value before = kube_condition_find(object, STR(CONDITION));

    return (struct kube_condition){ .type = STR(CONDITION),
                                    .status = value_is_null(before)
                                                  ? NULL
                                                  : arena_dupz(a, value_str(value_getz(before, "status"))),
                                    .reason = value_str(value_getz(before, "reason")),
                                    .message = value_str(value_getz(before, "message")) };
}

static void run(void *ctx, const struct registry_follow *call, struct registry_followed *ret)
{
    struct turn t = { .g = ctx,
                      .call = call,
                      .name = kube_name(call->object),
                      .spec = value_path(call->object, "spec.mirror") };

    ret->condition.type = STR(CONDITION);
    if (t.g->mirror)
        sweep_once(t.g, call->kube);
    if (!value_is_map(t.spec)) {
        end(&t, ret);
        return;
    }
    ret->condition = condition_before(call->arena, call->object);
    if (!t.g->mirror)
        say(ret, "False", "NoMirror",
            STR("this controller keeps no archives: it was started without --mirror-listen"));
    else if (flag(t.spec, "enabled", true))
        turn(&t, ret);
    else
        say(ret, "False", "Disabled", STR("nothing new is kept: spec.mirror.enabled is false"));
}

struct registry_follower mirror_manager_follower(struct mirror_manager *g)
{
    return (struct registry_follower){ run, forget, g };
}

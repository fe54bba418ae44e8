/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "content/content.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "json/json.h"

#define LOG_MODULE "registry"
#include "base/log.h"

#define INTERVAL_DEFAULT_MS ((int64_t)10 * 60 * 1000)
#define INTERVAL_MIN_MS 1000
#define LABEL_UNMANAGED "pintle.dev/unmanaged"

struct repository {
    struct arena *arena;
    struct value object, spec;
    struct str name; /* of the object: how everything else names it */
    struct registry_source source;
    struct registry_auth auth;
    struct registry_figures figures;
    struct str digest_before, index_digest;
    struct registry_loaded loaded;
    const char *reason; /* of a failure, when the code does not tell */
    bool changed;       /* an index was loaded just now: `loaded` says what is different */
    struct registry_followed followed;
};

static int64_t registry_duration_ms(struct value v, int64_t otherwise)
{
    int64_t n = value_int(v, -1), ns;

    if (value_is_string(v) && clock_parse_duration(value_str(v), &ns) && ns > 0)
        return MAX(ns / 1000000, (int64_t)1);
    if (n <= 0)
        return otherwise;
    return n < 1000000 ? n * 1000 : n / 1000000;
}

/* ---- observe ------------------------------------------------------------------------------------------------------- */

/* 1; 0 when it is gone or going. */
static int read_object(struct registry_manager *m, struct arena *a, struct str name, struct value *ret,
                       struct err **err)
{
    struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "Repository", STR_NONE, name);
    int r = kube_find(m->kube, a, &ref, ret, err);

    return r <= 0 ? r : !kube_is_deleting(*ret);
}

static void source_of(struct registry_manager *m, struct arena *a, struct value object,
                      struct registry_source *ret)
{
    struct value spec = value_getz(object, "spec");

    *ret = (struct registry_source){
        .http = m->http,
        .name = kube_name(object),
        .url = value_str(value_getz(spec, "url")),
        .auth_secret = value_str(value_getz(spec, "authSecret")),
        .proxy = value_is_string(value_getz(spec, "proxy"))
                     ? arena_dupz(a, value_str(value_getz(spec, "proxy")))
                     : NULL,
        .pass_credentials = value_bool(value_getz(spec, "passCredentials")),
        .insecure = value_bool(value_getz(spec, "insecureSkipTLSVerify")),
        .plain_http = value_bool(value_getz(spec, "insecure")),
        .refuse_nets = m->refuse_nets,
        .verify = value_getz(spec, "verify"),
        .deadline_ms = registry_duration_ms(value_getz(spec, "timeout"), 0),
        .interval_ms = MAX(registry_duration_ms(value_path(spec, "sync.interval"), INTERVAL_DEFAULT_MS),
                           (int64_t)INTERVAL_MIN_MS),
    };
}

int registry_source_read(struct registry_manager *m, struct arena *a, struct str repository,
                         struct registry_source *ret, struct err **err)
{
    struct value object;
    int r = read_object(m, a, repository, &object, err);

    if (r == 0)
        return err_set(err, ERRC_NOT_FOUND, "there is no Repository %.*s", STR_ARG(repository));
    if (r > 0)
        source_of(m, a, object, ret);
    return MIN(r, 0);
}

int registry_source_login(struct registry_manager *m, struct arena *a, struct registry_source *source,
                          struct registry_auth *auth, struct err **err)
{
    struct kube_ref ref = KUBE_REF("v1", "Secret", str_from(m->ns), source->auth_secret);
    struct value secret;
    int r;

    if (source->auth_secret.n == 0 || source->auth)
        return 0;
    r = kube_get(m->kube, a, &ref, &secret, err);
    if (r == 0)
        r = registry_auth_from_secret(a, secret, auth, err);
    if (r < 0)
        return err_wrap(err, r, "spec.authSecret: Secret %s/%.*s", m->ns, STR_ARG(source->auth_secret));
    source->auth = auth;
    if (source->proxy)
        source->proxy = registry_proxy_url(a, source->proxy, auth);
    return 0;
}

/* ---- the index ------------------------------------------------------------------------------------------------------- */

static int load_index(struct registry_manager *m, struct repository *p, const char *path,
                      const struct registry_fetched *fetched, struct err **err)
{
    struct registry_load load = { .repository = p->name, .path = path, .fetched = *fetched };
    int r = registry_index_load(m->db, &load, p->arena, &p->loaded, err);

    if (r < 0)
        return r;
    p->changed = !p->loaded.unchanged;
    p->figures = p->loaded.figures;
    p->index_digest = p->loaded.digest;
    if (p->changed)
        log_info("index loaded", LOG_STR("repository", p->name), LOG_INT("charts", p->figures.charts),
                 LOG_INT("versions", p->figures.versions), LOG_INT("rows", p->loaded.rows));
    return 0;
}

/* The charts of a registry are those that somebody asks for: here, or with a Chart of this Repository. In p's arena. */
static int asked_charts(struct registry_manager *m, struct repository *p, struct str **ret, size_t *ret_n,
                        struct err **err)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "Chart", STR_NONE, STR_NONE);
    struct value listed = value_getz(p->spec, "charts"), live;
    struct str *names;
    size_t n = 0;
    int r = kube_list(m->kube, p->arena, &ref, STR_NONE, &live, err);

    if (r < 0)
        return err_wrap(err, r, "Charts");
    live = value_getz(live, "items");
    names = ARENA_ARRAY(p->arena, struct str, value_len(listed) + value_len(live) + 1);
    for (struct value_iter it = value_iter(listed); value_next(&it);)
        if (!map_put(&seen, value_str(value_getz(it.v, "name")), p))
            names[n++] = value_str(value_getz(it.v, "name"));
    for (struct value_iter it = value_iter(live); value_next(&it);) {
        struct str name = value_str(value_path(it.v, "spec.name"));

        name = name.n ? name : kube_name(it.v);
        if (str_eq(value_str(value_path(it.v, "spec.repository")), p->name) && !map_put(&seen, name, p))
            names[n++] = name;
    }
    *ret = names;
    *ret_n = n;
    return 0;
}

static int fetch_tags(struct registry_manager *m, struct repository *p, const struct registry_fetched *known,
                      const char *path, struct err **err)
{
    struct str *charts = NULL;
    size_t n = 0;
    int r = asked_charts(m, p, &charts, &n, err);

    return r < 0 ? r : registry_fetch_tags(&p->source, p->arena, known, charts, n, path, err);
}

/* Downloads when the server has something new. */
static int sync_index(struct registry_manager *m, struct repository *p, struct err **err)
{
    CLEANUP(free_ptr) char *path = index_file_download_path(m->db, p->name);
    struct registry_fetched known, now = { .url = p->source.url };
    bool found;
    int r = registry_fetched_find(m->db, p->name, p->arena, &known, &found, err);

    if (r < 0)
        return r;
    if (found) {
        p->figures = known.figures;
        p->index_digest = p->digest_before = known.digest;
    }
    if (oci_is_url(p->source.url))
        r = fetch_tags(m, p, found ? &known : NULL, path, err);
    else
        r = registry_fetch_index(&p->source, p->arena, found ? &known : NULL, path, &now, err);
    if (r == 1)
        r = load_index(m, p, path, &now, err);
    unlink(path);
    return r;
}

/* ---- index ConfigMaps ---------------------------------------------------------------------------------------------- */

static void set_identity(struct content_set *set, struct arena *a, struct str repository, struct str chart)
{
    set->labels = value_new_map(a);
    set->annotations = value_new_map(a);
    value_setz(set->labels, "pintle.dev/type", VALUE_STR("index"));
    value_setz(set->labels, "pintle.dev/repo", value_from_str(content_label(a, repository)));
    value_setz(set->labels, "pintle.dev/chart", value_from_str(content_label(a, chart)));
    value_setz(set->annotations, "pintle.dev/repository", value_from_str(repository));
    value_setz(set->annotations, "pintle.dev/chart", value_from_str(chart));
}

static int write_index(struct registry_manager *m, struct repository *p, struct str chart, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    struct content_file file = { .path = STR("versions"), .key = STR("versions") };
    struct content_set set = { .ns = str_from(m->ns),
                               .name = content_name(a, "index", p->name, chart, STR("")),
                               .owner = kube_owner_reference(a, p->object, true, false) };
    struct registry_version *versions;
    struct value_list list = VALUE_LIST_INIT(a);
    size_t n;
    int r = registry_versions(m->db, p->name, chart, a, &versions, &n, err);

    if (r < 0)
        return r;
    if (n == 0)
        return content_delete(m->kube, a, set.ns, set.name, err);
    r = registry_versions_load(m->db, p->name, a, versions, n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        value_list_add(&list, versions[i].entry);
    r = json_print(value_list_done(&list), 0, &text, err);
    if (r < 0)
        return r;
    file.data = buf_str(&text);
    set_identity(&set, a, p->name, chart);
    r = content_write(m->kube, a, &set, &file, 1, NULL, NULL, err);
    return r < 0 ? err_wrap(err, r, "index of chart %.*s", STR_ARG(chart)) : 0;
}

/* The charts whose index is kept: those of spec.charts, or all of the repository's when it names none. */
static int wanted_charts(struct registry_manager *m, struct repository *p, struct str **ret, size_t *ret_n,
                         struct err **err)
{
    struct value charts = value_getz(p->spec, "charts");

    if (value_len(charts) == 0)
        return registry_charts(m->db, p->name, p->arena, ret, ret_n, err);
    *ret = ARENA_ARRAY(p->arena, struct str, value_len(charts));
    *ret_n = value_len(charts);
    for (struct value_iter it = value_iter(charts); value_next(&it);)
        (*ret)[it.i] = value_str(value_getz(it.v, "name"));
    return 0;
}

static bool is_one_of(const struct str *names, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

/* Indexes of charts that nobody wants any more, and what a process left behind that died while it wrote one. */
static int delete_stale_indexes(struct registry_manager *m, struct repository *p, const struct str *wanted,
                                size_t n, struct err **err)
{
    CLEANUP(map_done) struct map names = MAP_INIT;
    struct kube_request rq = {
        .verb = KUBE_LIST,
        .ref = KUBE_REF("v1", "ConfigMap", str_from(m->ns), STR_NONE),
        .metadata_only = true,
        .label_selector = arena_printf(p->arena, "pintle.dev/type=index,pintle.dev/repo=%.*s",
                                       STR_ARG(content_label(p->arena, p->name))),
    };
    struct value list;
    int r = kube_do(m->kube, p->arena, &rq, &list, err);

    for (size_t i = 0; i < n; i++)
        map_put(&names, wanted[i], p);
    for (struct value_iter it = value_iter(value_getz(list, "items")); r == 0 && value_next(&it);)
        if (str_eq(kube_annotation(it.v, STR("pintle.dev/repository")), p->name) &&
            str_eq(kube_label(it.v, STR("pintle.dev/part")), STR("1")) &&
            !map_has(&names, kube_annotation(it.v, STR("pintle.dev/chart"))))
            r = content_delete(m->kube, p->arena, str_from(m->ns), kube_name(it.v), err);
    return r < 0 ? r
                 : content_delete_strays(m->kube, p->arena, str_from(m->ns), value_getz(list, "items"),
                                         p->object, err);
}

/* The ConfigMaps agreed with the index as it was before: only charts that this load changed are to be written. */
static bool was_written(const struct repository *p)
{
    struct value status = value_getz(p->object, "status");

    return kube_condition_is(p->object, STR("Ready"), "True") &&
           value_int(value_getz(status, "observedGeneration"), 0) == kube_generation(p->object) &&
           str_eq(value_str(value_getz(status, "indexDigest")), p->digest_before) &&
           str_eq(value_str(value_getz(status, "lastHandledReconcileAt")),
                  kube_annotation(p->object, STR(CONTROLLER_RECONCILE_AT)));
}

static int write_indexes(struct registry_manager *m, struct repository *p, struct err **err)
{
    bool some = p->changed && !p->loaded.all && was_written(p);
    struct str *names;
    size_t n;
    int r = wanted_charts(m, p, &names, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        if (!some || is_one_of(p->loaded.changed, p->loaded.n_changed, names[i]))
            r = write_index(m, p, names[i], err);
    return r < 0 ? r : delete_stale_indexes(m, p, names, n, err);
}

/* ---- Chart objects --------------------------------------------------------------------------------------------------- */

struct str repository_chart_name(struct arena *a, struct str chart, struct str repository)
{
    return arena_printf(a, "%.*s-%.*s", STR_ARG(chart), STR_ARG(repository));
}

static struct value chart_object(struct repository *p, struct value item)
{
    struct arena *a = p->arena;
    struct str chart = value_str(value_getz(item, "name")), group = kube_label(p->object, STR("repoGroup"));
    struct value o = value_new_map(a), spec = value_new_map(a), labels = value_new_map(a);

    value_setz(labels, "pintle.dev/chart", value_from_str(content_label(a, chart)));
    value_setz(labels, "pintle.dev/repo", value_from_str(content_label(a, p->name)));
    if (group.n > 0) {
        value_setz(labels, "pintle.dev/repoGroup", value_from_str(group));
        value_setz(labels, "repoGroup", value_from_str(group));
    }
    value_setz(spec, "name", value_from_str(chart));
    value_setz(spec, "repository", value_from_str(p->name));
    value_setz(spec, "createDeps", value_from_bool(true));
    if (value_len(value_getz(item, "versions")) > 0)
        value_setz(spec, "versions", value_getz(item, "versions"));
    value_setz(o, "apiVersion", VALUE_STR(REGISTRY_API_VERSION));
    value_setz(o, "kind", VALUE_STR("Chart"));
    value_set_path(o, "metadata.name", value_from_str(repository_chart_name(a, chart, p->name)));
    value_set_path(o, "metadata.labels", labels);
    value_setz(o, "spec", spec);
    return o;
}

static int write_charts(struct registry_manager *m, struct repository *p, struct err **err)
{
    struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "Chart", STR_NONE, STR_NONE);
    struct value_list wanted = VALUE_LIST_INIT(p->arena);
    struct controller_children charts = { .owner = p->object,
                                          .field = "spec.charts",
                                          .label = LABEL_UNMANAGED };
    struct controller_children_plan plan;
    struct value list;
    int r = kube_list(m->kube, p->arena, &ref, STR_NONE, &list, err);

    if (r < 0)
        return err_wrap(err, r, "Charts");
    for (struct value_iter it = value_iter(value_getz(p->spec, "charts")); value_next(&it);)
        value_list_add(&wanted, chart_object(p, it.v));
    charts.wanted = value_list_done(&wanted);
    charts.live = value_getz(list, "items");
    r = controller_children_plan(p->arena, &charts, &plan, err);
    return r < 0 ? r : controller_children_act(m->kube, p->arena, STR(REGISTRY_FIELD_MANAGER), &plan, err);
}

/* ---- report ------------------------------------------------------------------------------------------------------------ */

static const char *failure_reason(const struct repository *p, const struct err *cause)
{
    if (p->reason)
        return p->reason;
    switch (err_code(cause)) {
    case ERRC_NOT_FOUND:
        return "IndexNotFound";
    case ERRC_UNAUTHORIZED:
    case ERRC_FORBIDDEN:
    case ERRC_UNSUPPORTED: /* a credential helper */
        return "AccessDenied";
    case ERRC_PARSE:
    case ERRC_INVALID:
        return "IndexInvalid";
    case ERRC_LIMIT:
        return "IndexTooLarge";
    case ERRC_EXISTS:
        return "ChartConflict";
    case ERRC_TIMEOUT:
        return "Timeout";
    default:
        return "Unavailable";
    }
}

static struct str success_message(struct repository *p)
{
    const struct registry_figures *f = &p->figures;

    if (f->charts == 0 && oci_is_url(p->source.url))
        return STR("a registry has no list of its charts: name them in spec.charts, or make Charts");
    if (f->skipped == 0)
        return arena_printf(p->arena, "%lld charts, %lld versions in the index", (long long)f->charts,
                            (long long)f->versions);
    return arena_printf(p->arena, "%lld charts, %lld versions in the index; %lld invalid entries left out",
                        (long long)f->charts, (long long)f->versions, (long long)f->skipped);
}

static void set_synced(struct repository *p, struct value fields)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64);
    size_t listed = value_len(value_getz(p->spec, "charts"));

    clock_format_rfc3339(clock_wall(), &now);
    value_setz(fields, "charts", value_from_int(listed ? (int64_t)listed : p->figures.charts));
    value_setz(fields, "entries", value_from_int(p->figures.charts));
    value_setz(fields, "versions", value_from_int(p->figures.versions));
    value_setz(fields, "skipped", value_from_int(p->figures.skipped));
    value_setz(fields, "indexDigest", value_from_str(p->index_digest));
    if (p->changed || value_is_null(value_path(p->object, "status.lastSyncTime")))
        value_setz(fields, "lastSyncTime", value_from_str(arena_dup(p->arena, buf_str(&now))));
}

static int report(struct registry_manager *m, struct repository *p, struct err *cause, struct err **err)
{
    struct controller_report rep = { .object = p->object, .ready = "True", .reason = "Synced" };

    if (cause)
        rep = controller_failure(p->object, failure_reason(p, cause), cause);
    else
        rep.message = success_message(p);
    rep.other = p->followed.condition;
    rep.tell_other = true;
    rep.fields = value_new_map(p->arena);
    for (struct value_iter it = value_iter(p->followed.fields); value_next(&it);)
        value_set(rep.fields, it.key, it.v);
    value_setz(rep.fields, "synced", value_from_bool(!cause));
    if (!cause)
        set_synced(p, rep.fields);
    return controller_report(m->kube, m->recorder, p->arena, &rep, cause, err);
}

/* ---- the reconcile ----------------------------------------------------------------------------------------------------- */

/* Index ConfigMaps are looked at when the index, the spec or the wish of the user changed; not at each poll. */
static bool needs_writing(const struct repository *p)
{
    return p->changed || !was_written(p);
}

static int sync_all(struct registry_manager *m, struct repository *p, struct err **err)
{
    int r;

    source_of(m, p->arena, p->object, &p->source);
    r = registry_source_login(m, p->arena, &p->source, &p->auth, err);
    if (r == -ERRC_INVALID || r == -ERRC_NOT_FOUND)
        p->reason = r == -ERRC_INVALID ? "SecretInvalid" : "SecretNotFound";
    if (r == 0)
        r = sync_index(m, p, err);
    if (r < 0 || !needs_writing(p))
        return r;
    r = write_indexes(m, p, err);
    return r < 0 ? r : write_charts(m, p, err);
}

static void follow(struct registry_manager *m, struct repository *p)
{
    struct registry_follow call = { .kube = m->kube,
                                    .arena = p->arena,
                                    .object = p->object,
                                    .source = &p->source,
                                    .db = m->db,
                                    .index_digest = p->index_digest,
                                    .waits = needs_writing(p) };

    if (m->follower.run)
        m->follower.run(m->follower.ctx, &call, &p->followed);
}

static int forget(struct registry_manager *m, struct str name, struct err **err)
{
    if (m->follower.forget)
        m->follower.forget(m->follower.ctx, name);
    return registry_forget(m->db, name, err);
}

/* After a failure sooner than the interval, at first; 0: when something changes. */
static int64_t next_look_ms(const struct repository *p, const struct controller_call *call, bool failed)
{
    struct value enabled = value_path(p->spec, "sync.enabled");
    int64_t again_ms = p->followed.again_ms;

    if (failed)
        return MIN(p->source.interval_ms, (int64_t)1000 << MIN(call->failures, 9U));
    if (!value_is_null(enabled) && !value_bool(enabled))
        return again_ms;
    return again_ms > 0 ? MIN(again_ms, p->source.interval_ms) : p->source.interval_ms;
}

int repository_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                         struct err **err)
{
    struct registry_manager *m = ctx;
    struct repository p = { .arena = call->arena, .name = call->key.name };
    struct err *cause = NULL;
    int r = read_object(m, call->arena, p.name, &p.object, err);

    if (r < 0)
        return r;
    if (r == 0)
        return forget(m, p.name, err);
    p.spec = value_getz(p.object, "spec");
    if (value_bool(value_getz(p.spec, "suspend")))
        return 0;
    r = sync_all(m, &p, &cause);
    if (r == 0)
        follow(m, &p);
    ret->requeue_after_ms = next_look_ms(&p, call, r < 0);
    return report(m, &p, cause, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "chart/kind.h"
#include "oci/oci.h"
#include "json/json.h"

#define LOG_MODULE "chart"
#include "base/log.h"

#define WAIT_FOR_REPOSITORY_MS 2000
#define CONSTRAINTS_MAX 64

/* ---- observe ---------------------------------------------------------------------------------------------------------- */

static int observe_index(struct chart_manager *m, struct subject *s, struct err **err)
{
    struct registry_db *db = registry_manager_db(m->registry);
    struct kube_ref ref = KUBE_REF(CHART_API_VERSION, "Repository", STR_NONE, s->repository);
    struct registry_fetched fetched;
    bool found = false;
    int r = registry_fetched_find(db, s->repository, s->arena, &fetched, &found, err);

    s->db = db;
    if (r == 0)
        r = registry_versions(db, s->repository, s->name, s->arena, &s->versions, &s->n_versions, err);
    if (r < 0 || s->n_versions > 0)
        return r;
    r = kube_do(m->kube, s->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = ref, .metadata_only = true }, NULL, err);
    if (r == -ERRC_NOT_FOUND) {
        err_clear(err);
        s->reason = "RepositoryNotFound";
        return err_set(err, ERRC_NOT_FOUND, "spec.repository: there is no Repository %.*s",
                       STR_ARG(s->repository));
    }
    if (r < 0)
        return r;
    s->reason = found ? "ChartNotFound" : "RepositoryNotSynced";
    if (!found)
        return err_set(err, ERRC_UNAVAILABLE, "the index of Repository %.*s is not loaded yet",
                       STR_ARG(s->repository));
    return err_set(err, ERRC_NOT_FOUND, "spec.name: there is no chart %.*s in the index of Repository %.*s",
                   STR_ARG(s->name), STR_ARG(s->repository));
}

static struct str some_versions(const struct subject *s)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * KIB);

    for (size_t i = 0; i < MIN(s->n_versions, (size_t)5); i++)
        buf_addf(&text, "%s%.*s", i ? ", " : "", STR_ARG(s->versions[i].version));
    return arena_printf(s->arena, "%s%s", buf_z(&text), s->n_versions > 5 ? ", ..." : "");
}

/* "1.2.3@sha256:…": the archive must have this digest, whatever the index says. */
static int split_pin(struct subject *s, struct str *constraint, struct str *ret_pin, struct err **err)
{
    struct str text = *constraint;
    size_t at = str_rfind_char(text, '@');

    *ret_pin = STR("");
    if (at == STR_NPOS)
        return 0;
    if (!oci_digest_is_valid(str_sub(text, at + 1, text.n)) || at == 0) {
        s->reason = "VersionNotFound";
        return err_set(err, ERRC_INVALID, "spec.versions: \"" STR_FMT "\" is not VERSION@sha256:DIGEST",
                       STR_ARG(text));
    }
    *constraint = str_sub(text, 0, at);
    *ret_pin = str_trim_prefix(str_sub(text, at + 1, text.n), STR("sha256:"));
    return 0;
}

static int apply_pin(struct subject *s, struct registry_version *v, struct str pin, struct err **err)
{
    if (pin.n == 0)
        return 0;
    if (v->digest.n > 0 && !str_ieq(v->digest, pin)) {
        s->reason = "DigestMismatch";
        return err_set(err, ERRC_DIGEST,
                       "spec.versions: " STR_FMT " is pinned to sha256 " STR_FMT ", the index says " STR_FMT,
                       STR_ARG(v->version), STR_ARG(pin), STR_ARG(v->digest));
    }
    v->digest = pin;
    return 0;
}

static int resolve_one(struct subject *s, struct str constraint, struct err **err)
{
    struct registry_version *picked;
    struct resolved *to = &s->resolved[s->n_resolved];
    struct str pin;
    int r = split_pin(s, &constraint, &pin, err);

    if (r < 0)
        return r;
    r = registry_pick(s->versions, s->n_versions, constraint, &picked, err);
    s->reason = "VersionNotFound";
    if (r < 0)
        return err_wrap(err, r, "spec.versions");
    if (!picked)
        return err_set(err, ERRC_NOT_FOUND,
                       "spec.versions: no version of chart %.*s in Repository %.*s satisfies \"%.*s\"; the "
                       "newest are %.*s",
                       STR_ARG(s->name), STR_ARG(s->repository), STR_ARG(constraint),
                       STR_ARG(some_versions(s)));
    for (size_t i = 0; i < s->n_resolved; i++)
        if (s->resolved[i].version == picked)
            return 0;
    s->reason = NULL;
    r = registry_versions_load(s->db, s->repository, s->arena, picked, 1, err);
    if (r == 0)
        r = apply_pin(s, picked, pin, err);
    if (r < 0)
        return r;
    *to = (struct resolved){ .constraint = constraint,
                             .version = picked,
                             .app_version = picked->app_version,
                             .id = { s->repository, s->name, picked->version, picked->digest } };
    s->n_resolved++;
    return 0;
}

static int resolve(struct subject *s, struct err **err)
{
    struct value wanted = value_getz(s->spec, "versions");
    int r = 0;

    if (value_len(wanted) > CONSTRAINTS_MAX)
        return err_set(err, ERRC_LIMIT, "spec.versions: more than %d entries", CONSTRAINTS_MAX);
    s->resolved = ARENA_ARRAY(s->arena, struct resolved, value_len(wanted) + 1);
    if (value_len(wanted) == 0)
        r = resolve_one(s, STR("*"), err);
    for (struct value_iter it = value_iter(wanted); r == 0 && value_next(&it);)
        r = resolve_one(s, value_str(it.v), err);
    if (r == 0)
        s->reason = NULL;
    return r;
}

static const struct chart_stored *find_stored(const struct subject *s, struct str version)
{
    for (size_t i = 0; i < s->n_stored; i++)
        if (str_eq(s->stored[i].version, version))
            return &s->stored[i];
    return NULL;
}

/* ---- content -------------------------------------------------------------------------------------------------------------- */

/* The same version with other bytes is never taken over silently. */
static int check_republished(struct subject *s, const struct chart_stored *have, struct str digest,
                             struct err **err)
{
    if (digest.n == 0 || str_ieq(have->digest, digest) ||
        str_ieq(str_trim_prefix(kube_annotation(s->object, STR(CHART_ANNOTATION_ACCEPT)), STR("sha256:")),
                digest))
        return 0;
    s->reason = "DigestChanged";
    return err_set(err, ERRC_DIGEST,
                   "version %.*s was published again with other bytes: the cluster has sha256 %.*s, the "
                   "index says %.*s; if "
                   "that is meant, annotate this Chart with " CHART_ANNOTATION_ACCEPT ": %.*s",
                   STR_ARG(have->version), STR_ARG(have->digest), STR_ARG(digest), STR_ARG(digest));
}

static int fetch(struct chart_manager *m, struct subject *s, struct resolved *v, struct chart **ret,
                 struct err **err)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    char hex[SHA256_HEX];
    int r = registry_source_login(m->registry, s->arena, &s->source, &s->auth, err);

    if (r < 0)
        return r;
    s->retry_ms = s->source.interval_ms;
    s->reason = "FetchFailed";
    r = registry_fetch_chart(&s->source, v->version, &packed, err);
    if (r == 0)
        r = chart_load_archive(buf_str(&packed), NULL, ret, err);
    if (r < 0) {
        if (r == -ERRC_DIGEST)
            s->reason = "DigestMismatch";
        else if (r == -ERRC_PARSE || r == -ERRC_LIMIT || r == -ERRC_INVALID)
            s->reason = "ChartInvalid";
        else if (r == -ERRC_TIMEOUT)
            s->reason = "Timeout";
        return err_wrap(err, r, "chart %.*s %.*s", STR_ARG(s->name), STR_ARG(v->id.version));
    }
    sha256_hex(buf_str(&packed), hex);
    v->id.digest = arena_dup(s->arena, str_from(hex));
    s->reason = "ChartInvalid";
    if (str_eq(chart_metadata(*ret)->name, s->name) && str_eq(chart_metadata(*ret)->version, v->id.version)) {
        s->reason = NULL;
        return 0;
    }
    r = err_set(err, ERRC_INVALID, "the archive holds chart %.*s %.*s, the index says %.*s %.*s",
                STR_ARG(chart_metadata(*ret)->name), STR_ARG(chart_metadata(*ret)->version), STR_ARG(s->name),
                STR_ARG(v->id.version));
    *ret = chart_unref(*ret);
    return r;
}

/* ---- signatures ----------------------------------------------------------------------------------------------------------- */

/* The Chart's own spec.verify, else its Repository's. */
static int observe_policy(struct chart_manager *m, struct subject *s, struct err **err)
{
    struct value verify = value_getz(s->spec, "verify");
    int r = registry_source_read(m->registry, s->arena, s->repository, &s->source, err);

    if (r < 0) {
        s->reason = r == -ERRC_NOT_FOUND ? "RepositoryNotFound" : NULL;
        return r;
    }
    r = registry_policy_read(m->registry, s->arena, value_is_null(verify) ? s->source.verify : verify,
                             &s->policy, err);
    if (r < 0) {
        s->reason = errc_retryable((enum errc) - r) ? NULL : "KeyNotFound";
        s->retry_ms = s->source.interval_ms;
    }
    return r;
}

/* Is the archive with the digest v->id.digest signed as the policy wants it? */
static int check_signature(struct chart_manager *m, struct subject *s, struct resolved *v, bool *ret_refused,
                           struct err **err)
{
    struct registry_signature signature = {
        .source = &s->source, .policy = &s->policy, .version = v->version, .digest = v->id.digest
    };
    int r;

    *ret_refused = false;
    if (s->policy.verify == REGISTRY_VERIFY_NEVER)
        return 0;
    r = registry_source_login(m->registry, s->arena, &s->source, &s->auth, err);
    if (r < 0)
        return r;
    r = registry_signature_check(s->arena, &signature, err);
    if (r < 0) {
        s->reason = signature.reason;
        *ret_refused = signature.is_refused;
        s->retry_ms = s->source.interval_ms;
        return err_wrap(err, r, "chart %.*s %.*s", STR_ARG(s->name), STR_ARG(v->id.version));
    }
    v->signer = signature.signer;
    v->verified_with = s->policy.digest;
    return 0;
}

static struct value find_resolved_status(const struct subject *s, struct str version)
{
    for (struct value_iter it = value_iter(value_path(s->object, "status.resolved")); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "version")), version))
            return it.v;
    return VALUE_NONE;
}

/* What is in the cluster already was let in under another policy, perhaps: it is looked at once more, and does not stay when it is
 * not signed as this one wants it. A server that does not answer proves nothing. */
static int recheck_content(struct chart_manager *m, struct subject *s, struct resolved *v,
                           const struct chart_stored *have, struct err **err)
{
    struct value before = find_resolved_status(s, v->id.version);
    bool refused;
    int r;

    if (s->policy.verify != REGISTRY_VERIFY_NEVER &&
        str_eq(value_str(value_getz(before, "verifiedWith")), s->policy.digest) &&
        str_ieq(value_str(value_getz(before, "digest")), v->id.digest)) {
        v->signer = value_str(value_getz(before, "signedBy"));
        v->verified_with = s->policy.digest;
        return 0;
    }
    r = check_signature(m, s, v, &refused, err);
    if (refused && chart_kind_owns(m, s, have, NULL) == 1)
        IGNORE_ERROR(store_delete(m->kube, s->arena, str_from(m->ns), have, NULL));
    return r;
}

static int ensure_content(struct chart_manager *m, struct subject *s, struct resolved *v, struct err **err)
{
    const struct chart_stored *have = find_stored(s, v->id.version);
    CLEANUP(chart_unref) struct chart *chart = NULL;
    struct store_dependency *deps;
    size_t n_deps, written;
    bool refused;
    int r;

    if (have) {
        r = check_republished(s, have, v->id.digest, err);
        if (r < 0)
            return r;
        if (v->id.digest.n == 0 || str_ieq(have->digest, v->id.digest)) {
            v->id.digest = have->digest;
            if (store_is_whole(s->content, have))
                return recheck_content(m, s, v, have, err);
        }
        r = store_delete(m->kube, s->arena, str_from(m->ns), have, err);
        if (r < 0)
            return r;
    }
    r = fetch(m, s, v, &chart, err);
    if (r == 0)
        r = check_signature(m, s, v, &refused, err);
    if (r < 0)
        return r;
    deps = ARENA_ARRAY(s->arena, struct store_dependency, chart_metadata(chart)->n_dependencies + 1);
    r = chart_kind_dependencies(m, s, chart, deps, &n_deps, err);
    if (r < 0) {
        s->deps_synced = false;
        return r;
    }
    r = store_write(m->kube, s->arena, str_from(m->ns), &v->id, chart,
                    kube_owner_reference(s->arena, s->object, true, false), deps, n_deps, &written, &v->parts,
                    err);
    if (r == 0)
        log_info("chart content written", LOG_STR("chart", s->name), LOG_STR("version", v->id.version),
                 LOG_INT("configmaps", v->parts));
    return r;
}

/* ---- report -------------------------------------------------------------------------------------------------------------------- */

static struct value resolved_status(struct subject *s)
{
    struct value_list list = VALUE_LIST_INIT(s->arena);

    for (size_t i = 0; i < s->n_resolved; i++) {
        const struct resolved *v = &s->resolved[i];
        struct value o = value_new_map(s->arena), before = find_resolved_status(s, v->id.version);

        value_setz(o, "constraint", value_from_str(v->constraint));
        value_setz(o, "version", value_from_str(v->id.version));
        value_setz(o, "appVersion", value_from_str(v->app_version));
        value_setz(o, "digest", value_from_str(v->id.digest));
        value_setz(o, "configMaps",
                   v->parts ? value_from_int((int64_t)v->parts)
                            : value_from_int(value_int(value_getz(before, "configMaps"), 3)));
        if (v->verified_with.n > 0) {
            value_setz(o, "signedBy", value_from_str(v->signer));
            value_setz(o, "verifiedWith", value_from_str(v->verified_with));
        }
        value_list_add(&list, o);
    }
    return value_list_done(&list);
}

static struct value status_fields(struct subject *s, bool good)
{
    struct value fields = value_new_map(s->arena);

    value_setz(fields, "versions", good ? VALUE_STR("synced") : VALUE_STR("notSynced"));
    value_setz(fields, "dependencies", s->deps_synced ? VALUE_STR("synced") : VALUE_STR("notSynced"));
    if (good) {
        value_setz(fields, "resolved", resolved_status(s));
        value_setz(fields, "deprecated", value_from_bool(value_bool(value_getz(s->md, "deprecated"))));
        value_setz(fields, "type", value_from_str(value_str(value_getz(s->md, "type"))));
        value_setz(fields, "tags", value_from_str(value_str(value_getz(s->md, "tags"))));
    }
    return fields;
}

static struct str success_message(struct subject *s)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * KIB);

    for (size_t i = 0; i < s->n_resolved; i++)
        buf_addf(&text, "%s%.*s", i ? ", " : "", STR_ARG(s->resolved[i].id.version));
    return arena_printf(s->arena, "in the cluster: %s", buf_z(&text));
}

static const char *failure_reason(const struct subject *s, enum errc code)
{
    if (s->reason)
        return s->reason;
    return code == ERRC_NOT_FOUND ? "ChartNotFound" : code == ERRC_TIMEOUT ? "Timeout" : "FetchFailed";
}

static int report(struct chart_manager *m, struct subject *s, struct err *cause, struct err **err)
{
    struct controller_report rep = { .object = s->object, .ready = "True", .reason = "Synced" };

    if (cause)
        rep = controller_failure(s->object, failure_reason(s, err_code(cause)), cause);
    else
        rep.message = success_message(s);
    rep.fields = status_fields(s, !cause);
    rep.other =
        (struct kube_condition){ .type = STR("Retained"), .reason = STR("InUse"), .message = s->retained };
    if (s->retained.n > 0)
        rep.other.status = "True";
    return controller_report(m->kube, m->recorder, s->arena, &rep, cause, err);
}

/* ---- the reconcile ----------------------------------------------------------------------------------------------------------------- */

/* 1: nothing has changed. */
static int work(struct chart_manager *m, struct subject *s, struct err **err)
{
    int r = observe_index(m, s, err);

    if (r == 0)
        r = resolve(s, err);
    if (r == 0)
        r = observe_policy(m, s, err);
    if (r == 0 && chart_kind_is_settled(m, s))
        return 1;
    if (r == 0)
        r = chart_kind_survey(m, s, err);
    for (size_t i = 0; i < s->n_resolved && r == 0; i++)
        r = ensure_content(m, s, &s->resolved[i], err);
    if (r == 0 && s->n_resolved > 0)
        s->md = s->resolved[0].version->entry;
    return r < 0 ? r : chart_kind_sweep(m, s, err);
}

/* A server may serve something else the next time, and nothing tells when. 0: the controller's own pace. */
static int64_t retry_after_ms(const struct subject *s, const struct controller_call *call, int r)
{
    if (s->retry_ms > 0)
        return MIN(s->retry_ms, (int64_t)1000 << MIN(call->failures, 9U));
    return r == -ERRC_UNAVAILABLE && s->reason ? WAIT_FOR_REPOSITORY_MS : 0;
}

static int reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct chart_manager *m = ctx;
    struct kube_ref ref = KUBE_REF(CHART_API_VERSION, "Chart", STR_NONE, call->key.name);
    struct subject s = { .arena = call->arena, .deps_synced = true };
    struct err *cause = NULL;
    bool good;
    int r = kube_find(m->kube, call->arena, &ref, &s.object, err);

    if (r == 0)
        chart_kind_forget(m, call->arena, call->key.name);
    if (r <= 0 || kube_is_deleting(s.object))
        return MIN(r, 0);
    s.spec = value_getz(s.object, "spec");
    if (value_bool(value_getz(s.spec, "suspend")))
        return 0;
    s.repository = value_str(value_getz(s.spec, "repository"));
    s.name = value_str(value_getz(s.spec, "name"));
    if (s.name.n == 0)
        s.name = call->key.name;
    chart_kind_begin(m, &s);
    r = work(m, &s, &cause);
    if (r < 0)
        ret->requeue_after_ms = retry_after_ms(&s, call, r);
    else if (s.policy.verify != REGISTRY_VERIFY_NEVER)
        ret->requeue_after_ms = s.source.interval_ms; /* nobody tells that the keys are others now */
    if (r == 1)
        return 0;
    good = !cause && s.retained.n == 0;
    r = report(m, &s, cause, err);
    if (r == 0 && good)
        chart_kind_settle(m, &s);
    return r;
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------------ */

static struct str repository_key(struct arena *a, struct str repository)
{
    return arena_printf(a, "repository:" STR_FMT, STR_ARG(repository));
}

static void note_chart(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * KIB);
    struct str repository = value_str(value_path(object, "spec.repository"));
    struct str name = value_str(value_path(object, "spec.name"));

    UNUSED(ctx);
    controller_note_index(note, repository_key(a, repository));
    controller_note_index(note, chart_kind_key(a, repository, name.n ? name : kube_name(object)));
}

/* A Repository whose index changed wakes its Charts. */
static void map_repository(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * KIB);

    UNUSED(ctx);
    if (value_equal(e->kept, e->before) && !value_is_null(e->kept))
        return;
    controller_wake_index(out, "charts", repository_key(a, kube_name(e->object)));
}

static void note_repository(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    UNUSED(ctx);
    buf_addstr(&text, value_str(value_path(object, "status.indexDigest")));
    IGNORE_ERROR(json_print(value_path(object, "spec.verify"), 0, &text, NULL));
    controller_note_keep(note, value_from_str(buf_str(&text)));
}

/* Content that came wakes who waits for it; content that went wakes its own Charts, and those of what it needed. */
static void map_content(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct chart_manager *m = ctx;
    struct chart_stored id = store_identity(e->object);
    struct store_dependency *deps;
    size_t n;

    if (e->type != KUBE_DELETED) {
        if (str_eq(kube_label(e->object, STR("pintle.dev/type")), STR("tmpl")))
            chart_kind_wake_waiting(m, a, &id, out);
        return;
    }
    chart_kind_unsettle(m, a, id.repository, id.name);
    controller_wake_index(out, "charts", chart_kind_key(a, id.repository, id.name));
    n = store_dependencies(a, e->object, &deps);
    for (size_t i = 0; i < n; i++)
        controller_wake_index(out, "charts",
                              chart_kind_key(a, deps[i].stored.repository, deps[i].stored.name));
}

/* Which version of which chart a Release names or runs. */
static void note_release(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * KIB);

    UNUSED(ctx);
    controller_note_keep(note, value_from_str(arena_printf(
                                   a, STR_FMT "\n" STR_FMT "\n" STR_FMT,
                                   STR_ARG(chart_kind_key(a, value_str(value_path(object, "spec.repo")),
                                                          value_str(value_path(object, "spec.chart")))),
                                   STR_ARG(value_str(value_path(object, "spec.version"))),
                                   STR_ARG(value_str(value_path(object, "status.chartVersion"))))));
}

/* A Chart that keeps an old version for a Release looks again when one of the chart's Releases changes its mind. */
static void map_release(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    struct chart_manager *m = ctx;
    struct str key = value_str(e->before);
    bool held;

    if (value_equal(e->kept, e->before) && e->type != KUBE_DELETED)
        return;
    key = str_sub(key, 0, MIN(str_find_char(key, '\n'), key.n));
    pthread_mutex_lock(&m->mutex);
    held = map_has(&m->holding, key);
    pthread_mutex_unlock(&m->mutex);
    if (held)
        controller_wake_index(out, "charts", key);
}

struct chart_manager *chart_manager_new(const struct chart_manager_options *o)
{
    struct chart_manager *m = xcalloc(1, sizeof(*m));

    m->kube = kube_ref(o->kube);
    m->recorder = o->recorder;
    m->registry = o->registry;
    m->store = o->store;
    m->ns = str_dup(o->ns);
    pthread_mutex_init(&m->mutex, NULL);
    m->watches[0] = (struct controller_watch){ .name = "charts",
                                               .api_version = STR(CHART_API_VERSION),
                                               .kind = STR("Chart"),
                                               .ignore_status = true,
                                               .extract = note_chart };
    m->watches[1] = (struct controller_watch){ .name = "chart-repositories",
                                               .api_version = STR(CHART_API_VERSION),
                                               .kind = STR("Repository"),
                                               .extract = note_repository,
                                               .map = map_repository };
    m->watches[2] =
        (struct controller_watch){ .name = "chart-content",
                                   .api_version = STR("v1"),
                                   .kind = STR("ConfigMap"),
                                   .ns = str_from(m->ns),
                                   .label_selector = STR("pintle.dev/type in (tmpl,crds,default)"),
                                   .metadata_only = true,
                                   .map = map_content,
                                   .ctx = m };
    m->watches[3] = (struct controller_watch){ .name = "chart-releases",
                                               .api_version = STR(CHART_API_VERSION),
                                               .kind = STR("Release"),
                                               .extract = note_release,
                                               .map = map_release,
                                               .ctx = m };
    m->kind = (struct controller_kind){ "Chart", reconcile, m, m->watches, ARRAY_SIZE(m->watches) };
    return m;
}

void chart_manager_free(struct chart_manager *m)
{
    void *digest;

    if (!m)
        return;
    for (size_t i = 0; map_next(&m->settled, &i, NULL, &digest);)
        free(digest);
    map_done(&m->settled);
    map_done(&m->holding);
    map_done(&m->waiting);
    pthread_mutex_destroy(&m->mutex);
    kube_unref(m->kube);
    free(m->ns);
    free(m);
}

const struct controller_kind *chart_manager_kinds(struct chart_manager *m, size_t *ret_n)
{
    *ret_n = 1;
    return &m->kind;
}

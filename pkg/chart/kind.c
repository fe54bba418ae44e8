/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "chart/chart.h"
#include "chart/store.h"
#include "controller/controller.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "semver/semver.h"
#include "json/json.h"

#define LOG_MODULE "chart"
#include "base/log.h"

#define API_VERSION "pintle.dev/v1alpha1"
#define FIELD_MANAGER "pintle"
#define LABEL_UNMANAGED "pintle.dev/unmanaged"
#define ANNOTATION_ACCEPT "pintle.dev/accept-digest"
#define WAIT_FOR_REPOSITORY_MS 2000
#define CONSTRAINTS_MAX 64

struct chart_manager {
    struct kube *kube;
    struct kube_recorder *recorder;
    struct registry_manager *registry;
    struct chart_store *store;
    char *ns;
    struct controller_watch watches[2];
    struct controller_kind kind;
};

struct resolved {
    struct str constraint;
    const struct registry_version *version;
    struct chart_stored id;
    struct str app_version;
    struct str signer,
        verified_with; /* who signed it, and the digest of the policy that was satisfied with that */
    size_t parts;
};

struct subject { /* one Chart under reconciliation */
    struct arena *arena;
    struct value object, spec;
    struct registry_db *db;
    struct str repository, name; /* the Repository and the chart's name in its index */
    struct registry_version *versions;
    size_t n_versions;
    struct resolved *resolved;
    size_t n_resolved;
    struct chart_stored *stored;
    size_t n_stored;
    struct value md; /* annotations of the newest resolved version: deprecated, type, tags */
    bool deps_synced;
    struct registry_policy policy; /* whose signatures are wanted */
    int64_t interval_ms;           /* of the Repository */
    const char *reason;            /* of a failure, when the code does not tell */
    int64_t retry_ms; /* above 0: the server's answer was bad; its Repository asks again after so long */
};

/* ---- observe ---------------------------------------------------------------------------------------------------------- */

static int observe_index(struct chart_manager *m, struct subject *s, struct err **err)
{
    struct registry_db *db = registry_manager_db(m->registry);
    struct kube_ref ref = KUBE_REF(API_VERSION, "Repository", STR_NONE, s->repository);
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

/* ---- dependencies ------------------------------------------------------------------------------------------------------- */

static bool is_vendored(const struct chart *c, const struct metadata_dependency *d)
{
    for (size_t i = 0; i < chart_subchart_n(c); i++)
        if (str_eq(chart_metadata(chart_subchart(c, i))->name, d->name))
            return true;
    return false;
}

/* The Chart that brings a dependency; made when it is absent, its list of versions extended when it is a dependency's. */
static int ensure_chart(struct chart_manager *m, struct subject *s, const struct metadata_dependency *d,
                        struct str repository, struct err **err)
{
    struct arena *a = s->arena;
    struct kube_ref ref = KUBE_REF(API_VERSION, "Chart", STR_NONE,
                                   arena_printf(a, "%.*s-%.*s", STR_ARG(d->name), STR_ARG(repository)));
    struct value live, o = value_new_map(a), spec = value_new_map(a), labels = value_new_map(a);
    struct value_list versions = VALUE_LIST_INIT(a);
    int r = kube_find(m->kube, a, &ref, &live, err);

    if (r < 0)
        return r;
    if (r == 1) {
        for (struct value_iter it = value_iter(value_path(live, "spec.versions")); value_next(&it);) {
            if (str_eq(value_str(it.v), d->version))
                return 0;
            value_list_add(&versions, it.v);
        }
        if (kube_label(live, STR(LABEL_UNMANAGED)).n == 0)
            return 0; /* somebody else decides its versions */
    }
    value_list_add(&versions, value_from_str(d->version.n ? d->version : STR("*")));
    value_setz(labels, LABEL_UNMANAGED, VALUE_STR("true"));
    value_setz(labels, "pintle.dev/repo", value_from_str(repository));
    value_setz(spec, "name", value_from_str(d->name));
    value_setz(spec, "repository", value_from_str(repository));
    value_setz(spec, "createDeps", value_from_bool(true));
    value_setz(spec, "versions", value_list_done(&versions));
    value_setz(o, "apiVersion", VALUE_STR(API_VERSION));
    value_setz(o, "kind", VALUE_STR("Chart"));
    value_set_path(o, "metadata.name", value_from_str(ref.name));
    value_set_path(o, "metadata.labels", labels);
    value_setz(o, "spec", spec);
    r = kube_apply(m->kube, a, o, STR(FIELD_MANAGER), true, NULL, err);
    return r < 0 ? err_wrap(err, r, "Chart %.*s", STR_ARG(ref.name)) : 0;
}

/* 1 and the stored version that satisfies the dependency, 0 when it is not there yet. */
static int find_dependency(struct chart_manager *m, struct subject *s, const struct metadata_dependency *d,
                           struct str repository, struct chart_stored *ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct chart_stored *all;
    struct semver v;
    size_t n;
    int r = chart_store_list(m->store, repository, d->name, s->arena, &all, &n, err);

    if (r == 0)
        r = semver_constraint_parse(d->version.n ? d->version : STR("*"), &c, err);
    if (r < 0)
        return err_wrap(err, r, "dependency %.*s", STR_ARG(d->name));
    for (size_t i = 0; i < n; i++) {
        if (semver_parse(all[i].version, &v, NULL) == 0 && semver_constraint_check(c, &v)) {
            *ret = all[i];
            return 1;
        }
    }
    return 0;
}

/* For what the archive lacks: the Charts that bring it, and which of their versions. */
static int bring_dependencies(struct chart_manager *m, struct subject *s, const struct chart *c,
                              struct store_dependency *ret, size_t *ret_n, struct err **err)
{
    const struct metadata *md = chart_metadata(c);
    int r;

    *ret_n = 0;
    for (size_t i = 0; i < md->n_dependencies; i++) {
        const struct metadata_dependency *d = &md->dependencies[i];
        struct str repository;

        if (is_vendored(c, d))
            continue;
        s->reason = "DependencyNotFound";
        if (!value_bool(value_getz(s->spec, "createDeps")))
            return err_set(err, ERRC_NOT_FOUND,
                           "the archive lacks dependency %.*s, and spec.createDeps is not set",
                           STR_ARG(d->name));
        r = registry_find_by_url(m->registry, s->arena, d->repository, &repository, err);
        if (r < 0)
            return r;
        if (repository.n == 0)
            return err_set(err, ERRC_NOT_FOUND, "dependency %.*s: no Repository has the URL %.*s",
                           STR_ARG(d->name), STR_ARG(d->repository));
        r = ensure_chart(m, s, d, repository, err);
        if (r == 0)
            r = find_dependency(m, s, d, repository, &ret[*ret_n].stored, err);
        if (r == 0)
            return err_set(err, ERRC_UNAVAILABLE, "dependency %.*s %.*s is not in the cluster yet",
                           STR_ARG(d->name), STR_ARG(d->version));
        if (r < 0)
            return r;
        ret[(*ret_n)++].name = d->name;
        s->reason = NULL;
    }
    return 0;
}

/* ---- content -------------------------------------------------------------------------------------------------------------- */

/* The same version with other bytes is never taken over silently. */
static int check_republished(struct subject *s, const struct chart_stored *have, struct str digest,
                             struct err **err)
{
    if (digest.n == 0 || str_ieq(have->digest, digest) ||
        str_ieq(str_trim_prefix(kube_annotation(s->object, STR(ANNOTATION_ACCEPT)), STR("sha256:")), digest))
        return 0;
    s->reason = "DigestChanged";
    return err_set(err, ERRC_DIGEST,
                   "version %.*s was published again with other bytes: the cluster has sha256 %.*s, the "
                   "index says %.*s; if "
                   "that is meant, annotate this Chart with " ANNOTATION_ACCEPT ": %.*s",
                   STR_ARG(have->version), STR_ARG(have->digest), STR_ARG(digest), STR_ARG(digest));
}

static int fetch(struct chart_manager *m, struct subject *s, struct resolved *v, struct chart **ret,
                 struct err **err)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    struct registry_source source;
    struct registry_auth auth;
    char hex[SHA256_HEX];
    int r = registry_source_read(m->registry, s->arena, s->repository, &source, &auth, err);

    if (r < 0)
        return r;
    s->retry_ms = source.interval_ms;
    s->reason = "FetchFailed";
    r = registry_fetch_chart(&source, v->version, &packed, err);
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
    struct registry_source source;
    int r = registry_source_read(m->registry, s->arena, s->repository, &source, NULL, err);

    if (r < 0) {
        s->reason = r == -ERRC_NOT_FOUND ? "RepositoryNotFound" : NULL;
        return r;
    }
    s->interval_ms = source.interval_ms;
    r = registry_policy_read(m->registry, s->arena, value_is_null(verify) ? source.verify : verify,
                             &s->policy, err);
    if (r < 0) {
        s->reason = errc_retryable((enum errc) - r) ? NULL : "KeyNotFound";
        s->retry_ms = source.interval_ms;
    }
    return r;
}

/* Is the archive with the digest v->id.digest signed as the policy wants it? */
static int check_signature(struct chart_manager *m, struct subject *s, struct resolved *v, bool *ret_refused,
                           struct err **err)
{
    struct registry_source source;
    struct registry_auth auth;
    struct registry_signature signature = {
        .source = &source, .policy = &s->policy, .version = v->version, .digest = v->id.digest
    };
    int r;

    *ret_refused = false;
    if (s->policy.verify == REGISTRY_VERIFY_NEVER)
        return 0;
    r = registry_source_read(m->registry, s->arena, s->repository, &source, &auth, err);
    if (r < 0)
        return r;
    r = registry_signature_check(s->arena, &signature, err);
    if (r < 0) {
        s->reason = signature.reason;
        *ret_refused = signature.is_refused;
        s->retry_ms = source.interval_ms;
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

/* False when another Chart brought it. */
static bool owns_content(struct chart_manager *m, struct subject *s, struct str version)
{
    struct kube_ref first = KUBE_REF("v1", "ConfigMap", str_from(m->ns),
                                     content_name(s->arena, "tmpl", s->repository, s->name, version));
    struct value tmpl, owners;

    if (kube_do(m->kube, s->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = first, .metadata_only = true }, &tmpl,
                NULL) < 0)
        return false;
    owners = value_path(tmpl, "metadata.ownerReferences");
    return value_len(owners) == 0 ||
           str_eq(value_str(value_getz(value_at(owners, 0), "uid")), kube_uid(s->object));
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
    if (refused && owns_content(m, s, v->id.version))
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
    r = bring_dependencies(m, s, chart, deps, &n_deps, err);
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

/* ---- what is no longer wanted ------------------------------------------------------------------------------------------------ */

static bool is_resolved(const struct subject *s, struct str version)
{
    for (size_t i = 0; i < s->n_resolved; i++)
        if (str_eq(s->resolved[i].id.version, version))
            return true;
    return false;
}

static bool is_used(struct value releases, const struct chart_stored *id)
{
    for (struct value_iter it = value_iter(releases); value_next(&it);)
        if (str_eq(value_str(value_path(it.v, "spec.repo")), id->repository) &&
            str_eq(value_str(value_path(it.v, "spec.chart")), id->name) &&
            (str_eq(value_str(value_path(it.v, "status.chartVersion")), id->version) ||
             str_eq(value_str(value_path(it.v, "spec.version")), id->version)))
            return true;
    return false;
}

/* Versions that left the spec go, unless a Release still runs them. Content of other Charts of the same chart is theirs. */
static int delete_unwanted(struct chart_manager *m, struct subject *s, struct err **err)
{
    struct kube_ref ref = KUBE_REF(API_VERSION, "Release", STR_NONE, STR_NONE);
    struct value list = VALUE_NONE;
    int r = 0;

    for (size_t i = 0; i < s->n_stored && r == 0; i++) {
        if (is_resolved(s, s->stored[i].version))
            continue;
        if (value_is_null(list))
            r = kube_list(m->kube, s->arena, &ref, STR_NONE, &list, err);
        if (r < 0 || is_used(value_getz(list, "items"), &s->stored[i]))
            continue;
        if (owns_content(m, s, s->stored[i].version))
            r = store_delete(m->kube, s->arena, str_from(m->ns), &s->stored[i], err);
    }
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
    return controller_report(m->kube, m->recorder, s->arena, &rep, cause, err);
}

/* ---- the reconcile ----------------------------------------------------------------------------------------------------------------- */

static int work(struct chart_manager *m, struct subject *s, struct err **err)
{
    int r = observe_index(m, s, err);

    if (r == 0)
        r = resolve(s, err);
    if (r == 0)
        r = observe_policy(m, s, err);
    if (r == 0)
        r = chart_store_list(m->store, s->repository, s->name, s->arena, &s->stored, &s->n_stored, err);
    for (size_t i = 0; i < s->n_resolved && r == 0; i++)
        r = ensure_content(m, s, &s->resolved[i], err);
    if (r == 0 && s->n_resolved > 0)
        s->md = s->resolved[0].version->entry;
    return r < 0 ? r : delete_unwanted(m, s, err);
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
    struct kube_ref ref = KUBE_REF(API_VERSION, "Chart", STR_NONE, call->key.name);
    struct subject s = { .arena = call->arena, .deps_synced = true };
    struct err *cause = NULL;
    int r = kube_find(m->kube, call->arena, &ref, &s.object, err);

    if (r <= 0 || kube_is_deleting(s.object))
        return MIN(r, 0);
    s.spec = value_getz(s.object, "spec");
    if (value_bool(value_getz(s.spec, "suspend")))
        return 0;
    s.repository = value_str(value_getz(s.spec, "repository"));
    s.name = value_str(value_getz(s.spec, "name"));
    if (s.name.n == 0)
        s.name = call->key.name;
    r = work(m, &s, &cause);
    if (r < 0)
        ret->requeue_after_ms = retry_after_ms(&s, call, r);
    else if (s.policy.verify != REGISTRY_VERIFY_NEVER)
        ret->requeue_after_ms = s.interval_ms; /* nobody tells that the keys are others now */
    return report(m, &s, cause, err);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------------ */

static void note_chart(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(KIB);

    UNUSED(ctx);
    buf_addf(&key, "repository:%.*s", STR_ARG(value_str(value_path(object, "spec.repository"))));
    controller_note_index(note, buf_str(&key));
}

/* A Repository whose index changed wakes its Charts. */
static void map_repository(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(KIB);

    UNUSED(ctx);
    if (value_equal(e->kept, e->before) && !value_is_null(e->kept))
        return;
    buf_addf(&key, "repository:%.*s", STR_ARG(kube_name(e->object)));
    controller_wake_index(out, "charts", buf_str(&key));
}

static void note_repository(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    UNUSED(ctx);
    buf_addstr(&text, value_str(value_path(object, "status.indexDigest")));
    IGNORE_ERROR(json_print(value_path(object, "spec.verify"), 0, &text, NULL));
    controller_note_keep(note, value_from_str(buf_str(&text)));
}

struct chart_manager *chart_manager_new(const struct chart_manager_options *o)
{
    struct chart_manager *m = xcalloc(1, sizeof(*m));

    m->kube = kube_ref(o->kube);
    m->recorder = o->recorder;
    m->registry = o->registry;
    m->store = o->store;
    m->ns = str_dup(o->ns);
    m->watches[0] = (struct controller_watch){ .name = "charts",
                                               .api_version = STR(API_VERSION),
                                               .kind = STR("Chart"),
                                               .ignore_status = true,
                                               .extract = note_chart };
    m->watches[1] = (struct controller_watch){ .name = "chart-repositories",
                                               .api_version = STR(API_VERSION),
                                               .kind = STR("Repository"),
                                               .extract = note_repository,
                                               .map = map_repository };
    m->kind = (struct controller_kind){ "Chart", reconcile, m, m->watches, 2 };
    return m;
}

void chart_manager_free(struct chart_manager *m)
{
    if (!m)
        return;
    kube_unref(m->kube);
    free(m->ns);
    free(m);
}

const struct controller_kind *chart_manager_kinds(struct chart_manager *m, size_t *ret_n)
{
    *ret_n = 1;
    return &m->kind;
}

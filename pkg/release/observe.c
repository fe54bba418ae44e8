/* SPDX-License-Identifier: Apache-2.0 */
#include "release/observe.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/encode.h"
#include "base/limits.h"
#include "release/manager.h"
#include "semver/semver.h"
#include "json/json.h"

void observation_done(struct observation *o)
{
    record_free(TAKE(o->last));
    record_free(TAKE(o->made));
    chart_rendered_free(TAKE(o->rendered));
    o->chart = chart_unref(o->chart);
    o->as = kube_unref(o->as);
}

/* ---- identity -------------------------------------------------------------------------------------------------- */

static int read_config(struct release_manager *m, struct observation *o, struct err **err)
{
    struct kube_ref ref = KUBE_REF(RELEASE_API_VERSION, "Config", o->spec.ns, o->spec.config);
    struct value object = VALUE_NONE;
    int r = 0;

    o->stage = RELEASE_STAGE_CONFIG;
    if (o->spec.config.n > 0)
        r = kube_get(m->kube, o->arena, &ref, &object, err);
    if (r < 0)
        return err_wrap(err, r, "spec.config: Config %.*s/%.*s", STR_ARG(o->spec.ns),
                        STR_ARG(o->spec.config));
    return release_config_read(object, &o->config, err);
}

/* A Config that names an account which is not there is an error, never a fall-back to other rights. */
static int take_identity(struct release_manager *m, struct observation *o, struct err **err)
{
    struct str account = o->config.service_account;
    struct kube_ref ref;
    int r;

    o->stage = RELEASE_STAGE_ACCOUNT;
    if (account.n == 0)
        account = str_from(m->default_service_account);
    if (account.n == 0) {
        o->as = kube_ref(m->kube);
        return 0;
    }
    ref = KUBE_REF("v1", "ServiceAccount", o->spec.ns, account);
    r = kube_do(m->kube, o->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = ref, .metadata_only = true }, NULL, err);
    if (r < 0)
        return err_wrap(err, r, "ServiceAccount %.*s/%.*s", STR_ARG(o->spec.ns), STR_ARG(account));
    o->as = kube_as_service_account(m->kube, o->spec.ns, account);
    return 0;
}

static int release_read_source(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
                               struct value *ret, struct err **err)
{
    struct observation *o = ctx;
    struct kube_ref ref = { STR("v1"), str_from(kind), ns, name };
    struct kube *k = o->as;
    int r;

    if (str_eq(ref.kind, STR("Values"))) {
        ref.api_version = STR(RELEASE_API_VERSION);
        k = o->own;
    }
    r = kube_get(k, a, &ref, ret, err);
    return r < 0 ? err_wrap(err, r, "%s %.*s/%.*s", kind, STR_ARG(ns), STR_ARG(name)) : 0;
}

/* ---- records --------------------------------------------------------------------------------------------------- */

static int compare_heads(const void *a, const void *b)
{
    int64_t i = ((const struct record_head *)a)->revision, j = ((const struct record_head *)b)->revision;

    return i < j ? -1 : i > j;
}

static struct str history_selector(struct observation *o)
{
    return arena_printf(o->arena, "owner=helm,name=%.*s", STR_ARG(o->spec.release));
}

/* Metadata only: a history can hold many megabytes. *ret_last is the newest Secret's metadata. */
static int read_history(struct observation *o, struct value *ret_last, struct err **err)
{
    struct kube_request rq = { .verb = KUBE_LIST,
                               .ref = KUBE_REF("v1", "Secret", o->spec.target_ns, STR_NONE),
                               .metadata_only = true,
                               .label_selector = history_selector(o) };
    struct value list, items;
    int r;

    o->stage = RELEASE_STAGE_HISTORY;
    r = kube_do(o->as, o->arena, &rq, &list, err);
    if (r < 0)
        return err_wrap(err, r, "release records in namespace %.*s", STR_ARG(o->spec.target_ns));
    items = value_getz(list, "items");
    o->heads = ARENA_ARRAY(o->arena, struct record_head, value_len(items));
    for (struct value_iter it = value_iter(items); value_next(&it);) {
        struct record_head h = record_head(value_getz(it.v, "metadata"));

        if (h.revision == 0)
            continue;
        o->heads[o->n_heads++] = h;
        if (value_is_null(*ret_last) || h.revision > record_head(*ret_last).revision)
            *ret_last = value_getz(it.v, "metadata");
    }
    if (o->n_heads > 1)
        qsort(o->heads, o->n_heads, sizeof(*o->heads), compare_heads);
    return 0;
}

static int read_record(struct observation *o, struct str secret_name, struct record **ret, struct err **err)
{
    struct kube_ref ref = KUBE_REF("v1", "Secret", o->spec.target_ns, secret_name);
    struct value secret;
    int r = kube_get(o->as, o->arena, &ref, &secret, err);

    if (r < 0)
        return err_wrap(err, r, "release record %.*s", STR_ARG(secret_name));
    return record_decode(secret, ret, err);
}

static struct str meta_annotation(struct value metadata, const char *key)
{
    return value_str(value_get(value_getz(metadata, "annotations"), str_from(key)));
}

/* How long ago Helm wrote it, from the labels of its Secret (seconds); very long when they say nothing. */
static int64_t record_age_ms(struct value metadata)
{
    struct value labels = value_getz(metadata, "labels");
    struct str at = value_str(value_getz(labels, "modifiedAt"));
    int64_t s;

    if (at.n == 0)
        at = value_str(value_getz(labels, "createdAt"));
    return str_to_int64(at, &s) ? (clock_wall().s - s) * 1000 : INT64_MAX;
}

/* ---- chart and values -------------------------------------------------------------------------------------------- */

static const struct chart_stored *pick_version(const struct chart_stored *all, size_t n, struct str wanted)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct semver v;

    for (size_t i = 0; i < n; i++)
        if (str_eq(all[i].version, wanted))
            return &all[i];
    if (semver_constraint_parse(wanted.n ? wanted : STR("*"), &c, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (semver_parse(all[i].version, &v, NULL) == 0 && semver_constraint_check(c, &v))
            return &all[i];
    return NULL;
}

/* What is under way is worth waiting for: UNAVAILABLE. What nobody has asked for is not: NOT_FOUND. */
static int explain_missing_chart(struct release_manager *m, struct observation *o, size_t n, struct err **err)
{
    const struct release_spec *s = &o->spec;
    struct kube_ref repository = KUBE_REF(RELEASE_API_VERSION, "Repository", STR_NONE, s->repo);
    struct kube_ref charts = KUBE_REF(RELEASE_API_VERSION, "Chart", STR_NONE, STR_NONE);
    struct value object, list;
    int r = kube_get(m->kube, o->arena, &repository, &object, NULL);

    if (r == -ERRC_NOT_FOUND)
        return err_set(err, ERRC_NOT_FOUND, "spec.repo: there is no Repository %.*s", STR_ARG(s->repo));
    if (r == 0 && value_is_null(kube_condition_find(object, STR("Ready"))))
        return err_set(err, ERRC_UNAVAILABLE, "spec.repo: Repository %.*s is not synced yet",
                       STR_ARG(s->repo));
    r = kube_list(m->kube, o->arena, &charts, STR_NONE, &list, NULL);
    for (struct value_iter it = value_iter(value_getz(list, "items")); r == 0 && value_next(&it);) {
        struct value spec = value_getz(it.v, "spec"), ready = kube_condition_find(it.v, STR("Ready"));
        struct str name = value_str(value_getz(spec, "name"));

        if (str_eq(value_str(value_getz(spec, "repository")), s->repo) &&
            str_eq(name.n ? name : kube_name(it.v), s->chart) &&
            !kube_condition_is(it.v, STR("Ready"), "True"))
            return err_set(err, value_is_null(ready) ? ERRC_UNAVAILABLE : ERRC_NOT_FOUND,
                           "spec.chart: Chart %.*s is not ready%s%.*s", STR_ARG(kube_name(it.v)),
                           value_is_null(ready) ? " yet" : ": ",
                           STR_ARG(value_str(value_getz(ready, "message"))));
    }
    if (n == 0)
        return err_set(
            err, ERRC_NOT_FOUND,
            "spec.chart: chart %.*s of repository %.*s is not in the cluster: no Chart object has brought it",
            STR_ARG(s->chart), STR_ARG(s->repo));
    return err_set(err, ERRC_NOT_FOUND,
                   "spec.version %.*s: none of the %zu versions of chart %.*s of repository %.*s in the "
                   "cluster satisfies it",
                   STR_ARG(s->version.n ? s->version : STR("*")), n, STR_ARG(s->chart), STR_ARG(s->repo));
}

static int read_chart(struct release_manager *m, struct observation *o, struct err **err)
{
    const struct chart_stored *picked;
    struct chart_stored *all;
    size_t n;
    int r;

    o->stage = RELEASE_STAGE_CHART;
    r = chart_store_list(m->store, o->spec.repo, o->spec.chart, o->arena, &all, &n, err);
    if (r < 0)
        return err_wrap(err, r, "chart %.*s/%.*s", STR_ARG(o->spec.repo), STR_ARG(o->spec.chart));
    picked = pick_version(all, n, o->spec.version);
    if (!picked)
        return explain_missing_chart(m, o, n, err);
    o->stored = *picked;
    r = chart_store_load(m->store, picked, &o->chart, err);
    if (r < 0)
        return err_wrap(err, r, "chart %.*s/%.*s %.*s", STR_ARG(o->spec.repo), STR_ARG(o->spec.chart),
                        STR_ARG(picked->version));
    return 0;
}

/* Everything that decides what is deployed. The JSON is sorted, so equal inputs have equal digests. */
static int digest_inputs(struct observation *o, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * MIB);
    struct value all = value_new_map(o->arena), spec = value_getz(o->spec.object, "spec");
    const struct release_config *c = &o->config;
    int r;

    value_setz(all, "release", value_from_str(o->spec.release));
    value_setz(all, "namespace", value_from_str(o->spec.target_ns));
    value_setz(all, "chart", value_from_str(o->stored.digest));
    value_setz(all, "repository", value_from_str(o->stored.repository));
    value_setz(all, "version", value_from_str(o->stored.version));
    value_setz(all, "values", o->values);
    value_setz(all, "account", value_from_str(kube_identity(o->as)));
    value_setz(all, "force", value_getz(spec, "forceConflicts"));
    value_setz(all, "skipCRDs", value_from_bool(c->skip_crds));
    value_setz(all, "subNotes", value_from_bool(c->sub_notes));
    value_setz(all, "disableHooks", value_from_bool(c->disable_hooks));
    value_setz(all, "disableOpenAPIValidation", value_from_bool(c->disable_validation));
    value_setz(all, "description", value_from_str(c->description));
    r = json_print(all, 0, &text, err);
    if (r == 0)
        r = buf_check(&text, err);
    if (r < 0)
        return err_wrap(err, r, "inputs");
    sha256_hex(buf_str(&text), o->inputs);
    return 0;
}

static bool same_file(const struct chart *c, struct value file)
{
    CLEANUP(buf_done) struct buf data = BUF_INIT(ARCHIVE_FILE_MAX);
    const struct chart_file *mine = chart_find_file(c, value_str(value_getz(file, "name")));

    return mine && base64_decode(BASE64_STD, value_str(value_getz(file, "data")), &data, NULL) &&
           str_eq(mine->data, buf_str(&data));
}

/* Another tool's record: the chart that it keeps is ours, template by template, and its config is what we want. */
static bool same_as_record(const struct observation *o, const struct record *rec)
{
    struct value chart = record_chart(rec), config = values_floats(o->arena, record_config(rec));
    const struct metadata *md = chart_metadata(o->chart);

    if (!str_eq(value_str(value_path(chart, "metadata.name")), md->name) ||
        !str_eq(value_str(value_path(chart, "metadata.version")), md->version))
        return false;
    for (struct value_iter it = value_iter(value_getz(chart, "templates")); value_next(&it);)
        if (!same_file(o->chart, it.v))
            return false;
    for (struct value_iter it = value_iter(value_getz(chart, "files")); value_next(&it);)
        if (!same_file(o->chart, it.v))
            return false;
    return value_len(config) == 0 ? value_len(o->values) == 0 : value_equal(config, o->values);
}

/* ---- deciding ---------------------------------------------------------------------------------------------------- */

static int64_t last_deployed(const struct observation *o)
{
    for (size_t i = o->n_heads; i-- > 0;)
        if (o->heads[i].status == RECORD_DEPLOYED)
            return o->heads[i].revision;
    return 0;
}

static bool ever_deployed(const struct observation *o)
{
    for (size_t i = 0; i < o->n_heads; i++)
        if (o->heads[i].status == RECORD_DEPLOYED || o->heads[i].status == RECORD_SUPERSEDED)
            return true;
    return false;
}

/* What the status says of inputs that failed and were undone, and whether the user wants another try. */
static void observe_undone(const struct observation *o, struct decide_facts *f)
{
    struct value status = value_getz(o->spec.object, "status");

    f->undone = o->inputs[0] && str_eq(value_str(value_getz(status, "undoneInputs")), str_from(o->inputs));
    f->wish = !str_eq(kube_annotation(o->spec.object, STR(CONTROLLER_RECONCILE_AT)),
                      value_str(value_getz(status, "lastHandledReconcileAt")));
}

static int decide_observed(struct observation *o, struct value last_meta, struct err **err)
{
    const struct record_head *last = o->n_heads ? &o->heads[o->n_heads - 1] : NULL;
    struct decide_facts f = { .deleting = o->spec.deleting,
                              .orphan = o->spec.orphan,
                              .suspended = o->spec.suspend,
                              .has_record = last != NULL,
                              .has_deployed = last_deployed(o) > 0 };
    int r = 0;

    observe_undone(o, &f);
    if (last) {
        f.last_revision = last->revision;
        f.last_status = last->status;
        f.last_ours = str_eq(meta_annotation(last_meta, RECORD_ANNOTATION_OWNER), o->spec.uid);
        f.last_age_ms = record_age_ms(last_meta);
        f.last_is_install = !ever_deployed(o);
        f.last_wants_undo = f.last_ours && meta_annotation(last_meta, RECORD_ANNOTATION_UNDO).n > 0;
        f.last_is_rollback = f.last_ours && meta_annotation(last_meta, RECORD_ANNOTATION_ROLLBACK).n > 0;
        o->last_ours = f.last_ours;
        if (f.last_ours)
            f.last_same_inputs =
                str_eq(meta_annotation(last_meta, RECORD_ANNOTATION_INPUTS), str_from(o->inputs));
        else if (!f.deleting && !f.suspended)
            r = read_record(o, last->secret_name, &o->last, err);
        if (r < 0)
            return r;
        if (!f.last_ours && o->last)
            f.last_same_inputs = same_as_record(o, o->last);
    }
    o->decision = decide(&f);
    return 0;
}

static void observe_namespace(struct release_manager *m, struct observation *o)
{
    struct kube_ref ref = KUBE_REF("v1", "Namespace", STR_NONE, o->spec.target_ns);
    struct value ns;

    if (kube_do(m->kube, o->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = ref, .metadata_only = true }, &ns,
                NULL) == 0)
        o->namespace_terminating = kube_is_deleting(ns);
}

/* The account that the release was last worked on with, as the status keeps it. */
static struct str last_account(const struct observation *o)
{
    return value_str(value_path(o->spec.object, "status.serviceAccountName"));
}

/* A deleted Release is uninstalled as whom it was installed. In a namespace that goes away the account may be gone before
 * the Release: then everything in it goes as well, and nothing is left to be done. */
static int identity_for_deletion(struct release_manager *m, struct observation *o, struct err **err)
{
    int r = read_config(m, o, err);

    if (r == -ERRC_NOT_FOUND && last_account(o).n > 0) { /* often deleted together with the Release */
        err_clear(err);
        o->config = (struct release_config){ .service_account = last_account(o) };
        r = 0;
    }
    if (r == 0)
        r = take_identity(m, o, err);
    observe_namespace(m, o);
    if (r == -ERRC_NOT_FOUND && (o->namespace_terminating || o->spec.orphan)) {
        err_clear(err);
        o->as = kube_ref(m->kube);
        o->decision = (struct decision){ .op = OPERATION_FORGET,
                                         .because = "its account and its namespace are going away" };
        return 1;
    }
    return r;
}

static int observe_inputs(struct release_manager *m, struct observation *o, struct err **err)
{
    struct values_source src = { release_read_source, o };
    int r = read_chart(m, o, err);

    if (r < 0)
        return r;
    o->stage = RELEASE_STAGE_VALUES;
    r = values_collect(&src, o->arena, o->spec.ns, o->spec.values, o->spec.values_from, o->spec.inline_values,
                       &o->values, err);
    return r < 0 ? r : digest_inputs(o, err);
}

int release_observe(struct release_manager *m, struct arena *a, struct value object, struct observation *o,
                    struct err **err)
{
    struct value last_meta = VALUE_NONE;
    int r;

    o->arena = a;
    o->own = m->kube;
    r = release_spec_read(object, &o->spec, err);
    if (r < 0)
        return r;
    o->owner = (struct release_owner){ o->spec.release, o->spec.target_ns };
    if (o->spec.deleting) {
        r = identity_for_deletion(m, o, err);
        if (r == 1)
            return 0;
    } else {
        r = read_config(m, o, err);
        if (r == 0) {
            o->stage = RELEASE_STAGE_NAMESPACE;
            r = release_check_namespace(&o->spec, &o->config, err);
        }
        if (r == 0)
            r = take_identity(m, o, err);
    }
    if (r == 0)
        r = read_history(o, &last_meta, err);
    if (r == 0 && !o->spec.deleting && !o->spec.suspend)
        r = observe_inputs(m, o, err);
    if (r == 0)
        r = decide_observed(o, last_meta, err);
    return r < 0 ? r : release_prepare(m, o, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "release/manager.h"
#include "release/spec.h"
#include "release/values.h"
#include "json/json.h"

/* The kinds Values and Config have nothing to build; their status says whether a Release could use them, and how many do. */

struct small_report {
    const char *kind;
    struct value object;
    const char *status, *reason;
    struct str message;
    struct str digest; /* "": the kind has none */
    size_t releases;
};

static int write_status(struct release_manager *m, struct arena *a, const struct small_report *rep,
                        struct err **err)
{
    struct kube_ref ref = { STR(RELEASE_API_VERSION), str_from(rep->kind), kube_namespace(rep->object),
                            kube_name(rep->object) };
    struct value old = value_getz(rep->object, "status"), status, patch = value_new_map(a);
    struct kube_condition c = { .type = STR("Ready"),
                                .status = rep->status,
                                .reason = str_from(rep->reason),
                                .message = rep->message,
                                .observed_generation = kube_generation(rep->object) };
    struct value before = kube_condition_find(old, STR("Ready"));
    bool bad = !str_eq(str_from(rep->status), STR("True"));
    int r;

    status = value_is_map(old) ? value_copy_maps(a, old) : value_new_map(a);
    value_setz(status, "observedGeneration", value_from_int(kube_generation(rep->object)));
    value_setz(status, "releases", value_from_int((int64_t)rep->releases));
    if (rep->digest.n > 0)
        value_setz(status, "digest", value_from_str(rep->digest));
    value_setz(status, "conditions", kube_condition_set(a, value_getz(old, "conditions"), &c, NULL));
    if (value_equal(old, status))
        return 0;
    value_setz(patch, "status", status);
    r = kube_patch_status(m->kube, a, &ref, patch, NULL, err);
    if (r < 0)
        return err_wrap(err, r, "status");
    if (!str_eq(value_str(value_getz(before, "message")), rep->message))
        kube_event(m->recorder, rep->object, bad ? KUBE_EVENT_WARNING : KUBE_EVENT_NORMAL, rep->reason,
                   "%.*s", STR_ARG(rep->message));
    return 0;
}

/* 1 and the object; 0 when it is gone. */
static int read_object(struct release_manager *m, const struct controller_call *call, const char *kind,
                       struct value *ret, struct err **err)
{
    struct kube_ref ref = { STR(RELEASE_API_VERSION), str_from(kind), call->key.ns, call->key.name };
    int r = kube_get(m->kube, call->arena, &ref, ret, err);

    if (r != -ERRC_NOT_FOUND)
        return r < 0 ? r : 1;
    if (err)
        err_free(TAKE(*err));
    return 0;
}

static size_t count_users(const struct controller_call *call, const char *kind)
{
    size_t n;

    controller_list(
        call->controller, "releases",
        arena_printf(call->arena, "%s:%.*s/%.*s", kind, STR_ARG(call->key.ns), STR_ARG(call->key.name)),
        call->arena, &n);
    return n;
}

static int get_values(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
                      struct value *ret, struct err **err)
{
    struct release_manager *m = ctx;
    struct kube_ref ref = { STR(RELEASE_API_VERSION), str_from(kind), ns, name };
    int r = kube_get(m->kube, a, &ref, ret, err);

    return r < 0 ? err_wrap(err, r, "Values %.*s/%.*s", STR_ARG(ns), STR_ARG(name)) : 0;
}

int values_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct release_manager *m = ctx;
    struct values_source src = { get_values, m };
    struct small_report rep = {
        .kind = "Values", .status = "True", .reason = "Resolved", .message = STR("usable")
    };
    CLEANUP(err_free) struct err *cause = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
    char digest[SHA256_HEX];
    struct value merged;
    int r = read_object(m, call, "Values", &rep.object, err);

    UNUSED(ret);
    if (r <= 0)
        return r;
    r = values_resolve(&src, call->arena, call->key.ns, call->key.name, &merged, &cause);
    if (r == 0)
        r = json_print(merged, 0, &text, &cause);
    if (r < 0 && errc_retryable((enum errc) - r)) {
        *err = TAKE(cause);
        return r;
    }
    if (r < 0) {
        rep.status = "False";
        rep.reason = r == -ERRC_NOT_FOUND ? "ValuesNotFound" : "ValuesInvalid";
        rep.message = str_from(err_message(cause));
    } else {
        sha256_hex(buf_str(&text), digest);
        rep.digest = str_from(digest);
    }
    rep.releases = count_users(call, "values");
    return write_status(m, call->arena, &rep, err);
}

static int check_config(struct release_manager *m, const struct controller_call *call, struct value object,
                        struct err **err)
{
    struct release_config config;
    struct kube_ref ref;
    int r = release_config_read(object, &config, err);

    if (r < 0 || config.service_account.n == 0)
        return r;
    ref = KUBE_REF("v1", "ServiceAccount", call->key.ns, config.service_account);
    r = kube_do(m->kube, call->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = ref, .metadata_only = true }, NULL, err);
    return r < 0 ? err_wrap(err, r, "spec.serviceAccountName") : 0;
}

#define CONFIG_RECHECK_MS 30000 /* an account that is missing is looked for again: accounts are not watched */

int config_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct release_manager *m = ctx;
    struct small_report rep = {
        .kind = "Config", .status = "True", .reason = "Valid", .message = STR("usable")
    };
    CLEANUP(err_free) struct err *cause = NULL;
    int r = read_object(m, call, "Config", &rep.object, err);

    if (r <= 0)
        return r;
    r = check_config(m, call, rep.object, &cause);
    if (r < 0 && errc_retryable((enum errc) - r)) {
        *err = TAKE(cause);
        return r;
    }
    if (r < 0) {
        rep.status = "False";
        rep.reason = r == -ERRC_NOT_FOUND ? "AccountNotFound" : "ConfigInvalid";
        rep.message = str_from(err_message(cause));
        ret->requeue_after_ms = CONFIG_RECHECK_MS;
    }
    rep.releases = count_users(call, "config");
    return write_status(m, call->arena, &rep, err);
}

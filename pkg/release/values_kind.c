/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "release/manager.h"
#include "release/spec.h"
#include "release/values.h"
#include "json/json.h"

/* The kinds Values and Config have nothing to build; their status says whether a Release could use them, and how many do. */

static int read_object(struct release_manager *m, const struct controller_call *call, const char *kind,
                       struct value *ret, struct err **err)
{
    struct kube_ref ref = { STR(RELEASE_API_VERSION), str_from(kind), call->key.ns, call->key.name };

    return kube_find(m->kube, call->arena, &ref, ret, err);
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

/* What is wrong with an object, and that its user must mend, is told; it is no failure of the reconcile. */
static int report(struct release_manager *m, const struct controller_call *call, const char *users,
                  struct controller_report *rep, struct err **err)
{
    value_setz(rep->fields, "releases", value_from_int((int64_t)count_users(call, users)));
    return controller_report(m->kube, m->recorder, call->arena, rep, NULL, err);
}

static int get_values(void *ctx, struct arena *a, const char *kind, struct str ns, struct str name,
                      struct value *ret, struct err **err)
{
    struct release_manager *m = ctx;
    struct kube_ref ref = { STR(RELEASE_API_VERSION), str_from(kind), ns, name };
    int r = kube_get(m->kube, a, &ref, ret, err);

    return r < 0 ? err_wrap(err, r, "Values %.*s/%.*s", STR_ARG(ns), STR_ARG(name)) : 0;
}

static int digest_values(struct release_manager *m, const struct controller_call *call, char out[SHA256_HEX],
                         struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
    struct values_source src = { get_values, m };
    struct value merged;
    int r = values_resolve(&src, call->arena, call->key.ns, call->key.name, &merged, err);

    if (r == 0)
        r = json_print(merged, 0, &text, err);
    if (r == 0)
        sha256_hex(buf_str(&text), out);
    return r;
}

int values_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                     struct err **err)
{
    struct release_manager *m = ctx;
    struct controller_report rep = { .ready = "True", .reason = "Resolved", .message = STR("usable") };
    CLEANUP(err_free) struct err *cause = NULL;
    char digest[SHA256_HEX];
    struct value object;
    int r = read_object(m, call, "Values", &object, err);

    UNUSED(ret);
    if (r <= 0)
        return r;
    r = digest_values(m, call, digest, &cause);
    if (r < 0 && errc_retryable((enum errc) - r)) {
        *err = TAKE(cause);
        return r;
    }
    if (r < 0)
        rep = controller_failure(object, r == -ERRC_NOT_FOUND ? "ValuesNotFound" : "ValuesInvalid", cause);
    rep.object = object;
    rep.fields = value_new_map(call->arena);
    if (r == 0)
        value_setz(rep.fields, "digest", value_from_str(str_from(digest)));
    return report(m, call, "values", &rep, err);
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
    struct controller_report rep = { .ready = "True", .reason = "Valid", .message = STR("usable") };
    CLEANUP(err_free) struct err *cause = NULL;
    struct value object;
    int r = read_object(m, call, "Config", &object, err);

    if (r <= 0)
        return r;
    r = check_config(m, call, object, &cause);
    if (r < 0 && errc_retryable((enum errc) - r)) {
        *err = TAKE(cause);
        return r;
    }
    if (r < 0) {
        rep = controller_failure(object, r == -ERRC_NOT_FOUND ? "AccountNotFound" : "ConfigInvalid", cause);
        ret->requeue_after_ms = CONFIG_RECHECK_MS;
    }
    rep.object = object;
    rep.fields = value_new_map(call->arena);
    return report(m, call, "config", &rep, err);
}

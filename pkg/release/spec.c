/* SPDX-License-Identifier: Apache-2.0 */
#include "release/spec.h"

#include "base/clock.h"
#include "kube/kube.h"

static struct str text(struct value v, const char *field)
{
    return value_str(value_get(v, str_from(field)));
}

static bool flag(struct value v, const char *field)
{
    return value_bool(value_get(v, str_from(field)));
}

bool release_timeout_parse(struct value v, int64_t *ret_ms)
{
    int64_t n = value_int(v, -1), ns;

    if (value_is_null(v)) {
        *ret_ms = 0;
        return true;
    }
    if (value_is_string(v)) {
        if (!clock_parse_duration(value_str(v), &ns) || ns < 0)
            return false;
        *ret_ms = ns / 1000000;
        return true;
    }
    if (n < 0)
        return false;
    *ret_ms = n < 1000000 ? n * 1000 : n / 1000000;
    return true;
}

/* Helm: ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$, at most 53 bytes. */
static bool name_is_valid(struct str name)
{
    struct str part;

    if (name.n == 0 || name.n > RELEASE_NAME_MAX)
        return false;
    while (str_split(&name, '.', &part)) {
        if (part.n == 0 || part.p[0] == '-' || part.p[part.n - 1] == '-')
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!ascii_is_digit(part.p[i]) && !(part.p[i] >= 'a' && part.p[i] <= 'z') && part.p[i] != '-')
                return false;
    }
    return true;
}

static int check_name(struct str name, struct err **err)
{
    if (name_is_valid(name))
        return 0;
    return err_set(err, ERRC_INVALID,
                   "spec.name \"%.*s\": invalid release name, must match regex "
                   "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must "
                   "not be longer "
                   "than %d",
                   STR_ARG(name), RELEASE_NAME_MAX);
}

int release_spec_read(struct value object, struct release_spec *ret, struct err **err)
{
    struct value spec = value_getz(object, "spec");
    struct release_spec s = {
        .object = object,
        .ns = kube_namespace(object),
        .name = kube_name(object),
        .uid = kube_uid(object),
        .generation = kube_generation(object),
        .release = text(spec, "name"),
        .target_ns = text(spec, "namespace"),
        .repo = text(spec, "repo"),
        .chart = text(spec, "chart"),
        .version = text(spec, "version"),
        .config = text(spec, "config"),
        .values = value_getz(spec, "values"),
        .values_from = value_getz(spec, "valuesFrom"),
        .inline_values = value_getz(spec, "inlineValues"),
        .orphan = str_eq(text(spec, "deletionPolicy"), STR("Orphan")),
        .deleting = kube_is_deleting(object),
        .force_conflicts = flag(spec, "forceConflicts"),
        .take_ownership = flag(spec, "takeOwnership"),
        .max_history = value_int(value_getz(spec, "maxHistory"), RELEASE_HISTORY_DEFAULT),
    };

    s.suspend =
        flag(spec, "suspend") || str_eq(kube_annotation(object, STR(RELEASE_ANNOTATION_PAUSED)), STR("true"));
    if (s.release.n == 0)
        s.release = s.name;
    if (s.target_ns.n == 0)
        s.target_ns = s.ns;
    if (!release_timeout_parse(value_getz(spec, "timeout"), &s.timeout_ms))
        return err_set(err, ERRC_INVALID,
                       "spec.timeout: neither a duration such as \"5m\" nor a number of seconds");
    *ret = s;
    return s.deleting ? 0 : check_name(s.release, err);
}

int release_config_read(struct value object, struct release_config *ret, struct err **err)
{
    struct value spec = value_getz(object, "spec"), flags = value_getz(spec, "flags");
    struct value ns = value_getz(spec, "namespace");
    struct release_config c = {
        .name = kube_name(object),
        .service_account = text(spec, "serviceAccountName"),
        .allowed = value_getz(ns, "allowed"),
        .create_namespace = flag(ns, "install"),
        .atomic = flag(flags, "atomic"),
        .skip_crds = flag(flags, "skipCRDs"),
        .sub_notes = flag(flags, "subNotes"),
        .disable_validation = flag(flags, "disableOpenAPIValidation"),
        .dry_run = flag(flags, "dryRun"),
        .disable_hooks = flag(flags, "disableHooks"),
        .wait = flag(flags, "wait") || flag(flags, "atomic"),
        .wait_for_jobs = flag(flags, "waitForJobs"),
        .force = flag(flags, "force"),
        .cleanup_on_fail = flag(flags, "cleanupOnFail"),
        .description = text(flags, "description"),
    };

    if (!release_timeout_parse(value_getz(flags, "timeout"), &c.timeout_ms))
        return err_set(
            err, ERRC_INVALID,
            "Config %.*s: spec.flags.timeout: neither a duration such as \"5m\" nor a number of seconds",
            STR_ARG(c.name));
    *ret = c;
    return 0;
}

static bool is_listed(struct value list, struct str ns)
{
    for (struct value_iter it = value_iter(list); value_next(&it);)
        if (str_eq(value_str(it.v), ns) || str_eq(value_str(it.v), STR("*")))
            return true;
    return false;
}

int release_check_namespace(const struct release_spec *s, const struct release_config *c, struct err **err)
{
    if (value_len(c->allowed) > 0) {
        if (is_listed(c->allowed, s->target_ns))
            return 0;
        return err_set(
            err, ERRC_FORBIDDEN,
            "namespace %.*s is not among spec.namespace.allowed of Config %.*s/%.*s: add it there, or choose "
            "another spec.namespace",
            STR_ARG(s->target_ns), STR_ARG(s->ns), STR_ARG(c->name));
    }
    if (str_eq(s->target_ns, s->ns))
        return 0;
    return err_set(
        err, ERRC_FORBIDDEN,
        "a Release in namespace %.*s may install into namespace %.*s only with a Config that lists it in "
        "spec.namespace.allowed",
        STR_ARG(s->ns), STR_ARG(s->target_ns));
}

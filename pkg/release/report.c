/* SPDX-License-Identifier: Apache-2.0 */
#include "release/report.h"

#include "base/clock.h"
#include "base/limits.h"
#include "release/manager.h"
#include "json/json.h"

#define REDACTED "<redacted>"
#define REDACT_MIN 4        /* shorter strings would hit everything */
#define CHANGE_TEXT_MAX 120 /* bytes of an old or new value in a status */
#define MESSAGE_MAX ((size_t)4096)

/* ---- reasons ---------------------------------------------------------------------------------------------------- */

static const struct {
    enum errc code; /* ERRC_NONE: every other */
    const char *reason;
} reasons[RELEASE_STAGE_MAX_][4] = {
    [RELEASE_STAGE_SPEC] = { { ERRC_NONE, "SpecInvalid" } },
    [RELEASE_STAGE_CONFIG] = { { ERRC_NOT_FOUND, "ConfigNotFound" }, { ERRC_NONE, "ConfigInvalid" } },
    [RELEASE_STAGE_NAMESPACE] = { { ERRC_NONE, "NamespaceNotAllowed" } },
    [RELEASE_STAGE_ACCOUNT] = { { ERRC_NOT_FOUND, "AccountNotFound" }, { ERRC_NONE, "Forbidden" } },
    [RELEASE_STAGE_HISTORY] = { { ERRC_FORBIDDEN, "Forbidden" }, { ERRC_NONE, "OperationFailed" } },
    [RELEASE_STAGE_CHART] = { { ERRC_NOT_FOUND, "ChartNotFound" }, { ERRC_NONE, "ChartInvalid" } },
    [RELEASE_STAGE_VALUES] = { { ERRC_NOT_FOUND, "ValuesNotFound" },
                               { ERRC_FORBIDDEN, "Forbidden" },
                               { ERRC_NONE, "ValuesInvalid" } },
    [RELEASE_STAGE_RENDER] = { { ERRC_SCHEMA, "SchemaViolated" },
                               { ERRC_FORBIDDEN, "Forbidden" },
                               { ERRC_NONE, "TemplateFailed" } },
    [RELEASE_STAGE_RIGHTS] = { { ERRC_NONE, "Forbidden" } },
    [RELEASE_STAGE_OWNERSHIP] = { { ERRC_FORBIDDEN, "Forbidden" }, { ERRC_NONE, "OwnershipConflict" } },
    [RELEASE_STAGE_ACT] = { { ERRC_FORBIDDEN, "Forbidden" },
                            { ERRC_TIMEOUT, "Timeout" },
                            { ERRC_NONE, "OperationFailed" } },
};

static const char *special_reason(enum release_stage stage, const struct err *err)
{
    struct str text = str_from(err_message(err));

    if (err_code(err) == ERRC_UNAVAILABLE || err_code(err) == ERRC_CANCELLED || err_code(err) == ERRC_IO)
        return "Unavailable";
    if (stage == RELEASE_STAGE_CHART && str_contains(text, STR("there is no Repository")))
        return "RepositoryNotFound";
    if (err_code(err) == ERRC_LIMIT && str_contains(text, STR("release record")))
        return "RecordTooLarge";
    if (stage == RELEASE_STAGE_ACT && kube_err_is_apply_conflict(err))
        return "FieldConflict";
    if (stage == RELEASE_STAGE_ACT && str_has_prefix(text, STR("hook")) && err_code(err) == ERRC_INVALID)
        return "HookFailed";
    return NULL;
}

const char *release_reason(enum release_stage stage, const struct err *err)
{
    const char *special = special_reason(stage, err);
    size_t i = 0;

    if (special)
        return special;
    while (reasons[stage][i].code != ERRC_NONE && reasons[stage][i].code != err_code(err))
        i++;
    return reasons[stage][i].reason;
}

/* ---- what must not be told ----------------------------------------------------------------------------------------- */

static struct str replace_all(struct arena *a, struct str text, struct str what)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(4 * MIB);
    size_t at;

    while ((at = str_find(text, what)) != STR_NPOS) {
        buf_add(&out, text.p, at);
        buf_adds(&out, REDACTED);
        text = str_sub(text, at + what.n, text.n);
    }
    buf_addstr(&out, text);
    return arena_dup(a, buf_str(&out));
}

static struct str redact(struct arena *a, struct value v, struct str text, int depth)
{
    if (depth > VALUE_DEPTH_MAX)
        return text;
    if (value_is_string(v) && (v.flags & VALUE_SENSITIVE) && v.n >= REDACT_MIN &&
        str_contains(text, value_str(v)))
        return replace_all(a, text, value_str(v));
    for (struct value_iter it = value_iter(v); value_next(&it);)
        text = redact(a, it.v, text, depth + 1);
    return text;
}

struct str release_redact(struct observation *o, struct str text)
{
    if (text.n > MESSAGE_MAX)
        text = arena_printf(o->arena, "%.*s...", (int)MESSAGE_MAX, text.p);
    return redact(o->arena, o->values, text, 0);
}

static bool name_is_secret(struct str path)
{
    static const char *const words[] = { "password", "passwd",     "secret",      "token",     "apikey",
                                         "api_key",  "privatekey", "private_key", "credential" };
    char lower[256];
    size_t n = MIN(path.n, sizeof(lower));

    for (size_t i = 0; i < n; i++)
        lower[i] = ascii_lower(path.p[i]);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (str_contains((struct str){ lower, n }, str_from(words[i])))
            return true;
    return false;
}

static bool is_sensitive(struct value v, int depth)
{
    if ((v.flags & VALUE_SENSITIVE) || depth > VALUE_DEPTH_MAX)
        return true;
    for (struct value_iter it = value_iter(v); value_next(&it);)
        if (is_sensitive(it.v, depth + 1))
            return true;
    return false;
}

/* ---- changes --------------------------------------------------------------------------------------------------------- */

static struct value change_text(struct arena *a, struct value v, bool hide)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

    if (hide)
        return VALUE_STR(REDACTED);
    if (json_print(v, 0, &text, NULL) < 0 || text.n > CHANGE_TEXT_MAX)
        return VALUE_STR("(long)");
    return value_from_str(arena_dup(a, buf_str(&text)));
}

static struct value changes_status(struct observation *o)
{
    struct value_list list = VALUE_LIST_INIT(o->arena);

    for (size_t i = 0; i < MIN(o->n_changes, (size_t)RELEASE_CHANGES_MAX); i++) {
        const struct value_change *c = &o->changes[i];
        bool hide = name_is_secret(c->path) || is_sensitive(c->before, 0) || is_sensitive(c->after, 0);
        struct value v = value_new_map(o->arena);

        value_setz(v, "path", value_from_str(c->path));
        if (c->has_before)
            value_setz(v, "before", change_text(o->arena, c->before, hide));
        if (c->has_after)
            value_setz(v, "after", change_text(o->arena, c->after, hide));
        value_list_add(&list, v);
    }
    return value_list_done(&list);
}

struct str release_changed_paths(struct observation *o)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);
    size_t shown = MIN(o->n_changes, (size_t)8);

    for (size_t i = 0; i < shown; i++)
        buf_addf(&text, "%s%.*s", i ? ", " : "", STR_ARG(o->changes[i].path));
    if (o->n_changes > shown)
        buf_addf(&text, " and %zu more", o->n_changes - shown);
    return arena_dup(o->arena, buf_str(&text));
}

/* ---- the status -------------------------------------------------------------------------------------------------------- */

static void set_deployed(struct observation *o, bool recalled, struct value status)
{
    const struct record *rec = o->record;
    struct str inputs = str_from(o->inputs);

    if (o->decision.op == OPERATION_ROLLBACK) {
        inputs = record_annotation(rec, RECORD_ANNOTATION_INPUTS);
        value_setz(status, "chartVersion", value_path(record_chart(rec), "metadata.version"));
        value_setz(status, "appVersion", value_path(record_chart(rec), "metadata.appVersion"));
    } else if (o->chart) {
        value_setz(status, "chartVersion", value_from_str(chart_metadata(o->chart)->version));
        value_setz(status, "appVersion", value_from_str(chart_metadata(o->chart)->app_version));
    }
    value_setz(status, "inputsDigest", value_from_str(arena_dup(o->arena, inputs)));
    value_setz(status, "revision", value_from_int(o->decision.revision));
    if (!rec)
        return;
    value_setz(status, "helmStatus", value_from_str(str_from(record_status_name(record_status(rec)))));
    value_setz(status, "lastDeployed", value_path(rec->release, "info.last_deployed"));
    if (recalled || o->decision.op == OPERATION_INSTALL || o->decision.op == OPERATION_UPGRADE) {
        value_setz(status, "objects", value_from_int((int64_t)o->plan.objects.n));
        value_setz(status, "changes", changes_status(o));
    }
}

static struct value status_fields(struct observation *o, const struct release_report *rep)
{
    struct value fields = value_new_map(o->arena);

    value_setz(fields, "synced", value_from_bool(str_eq(str_from(rep->ready), STR("True"))));
    value_setz(fields, "status", value_from_str(str_from(rep->word)));
    if (o->config.service_account.n > 0)
        value_setz(fields, "serviceAccountName", value_from_str(o->config.service_account));
    if (rep->deployed)
        set_deployed(o, rep->recalled, fields);
    if (o->decision.undo || o->decision.undone)
        value_setz(fields, "undoneInputs", value_from_str(arena_dup(o->arena, str_from(o->inputs))));
    else if (o->inputs[0])
        value_setz(fields, "undoneInputs", VALUE_NONE);
    return fields;
}

int release_report(struct release_manager *m, struct observation *o, const struct release_report *rep,
                   struct err **err)
{
    struct controller_report report = { .object = o->spec.object,
                                        .ready = rep->ready,
                                        .reason = rep->reason,
                                        .message = release_redact(o, rep->message),
                                        .reconciling = rep->reconciling,
                                        .stalled = rep->stalled,
                                        .synced = rep->word,
                                        .health = rep->health,
                                        .fields = status_fields(o, rep) };

    return controller_report(m->kube, m->recorder, o->arena, &report, NULL, err);
}

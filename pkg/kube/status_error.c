/* SPDX-License-Identifier: Apache-2.0 */
/* A refusal as an error: the Status object when there is one, else what the HTTP status says (client-go's rules). */
#include "kube/kube_int.h"
#include "json/json.h"

#define MESSAGE_MAX ((size_t)8192)
#define REASON_TERMINATING "NamespaceTerminating"
#define REASON_APPLY "FieldManagerConflict"
#define REASON_NO_MATCH "NoMatch"
/* What server-side apply says of an object that its schema does not fit. The API server has no status for it but 500. */
#define TYPED_PATCH "failed to create typed patch object"

static enum errc reason_errc(int code, struct str reason)
{
    static const struct {
        const char *reason;
        enum errc code;
    } rows[] = {
        { "AlreadyExists", ERRC_EXISTS },
        { "Conflict", ERRC_CONFLICT },
        { "NotFound", ERRC_NOT_FOUND },
        { "Expired", ERRC_GONE },
        { "Gone", ERRC_GONE },
        { "Unauthorized", ERRC_UNAUTHORIZED },
        { "Forbidden", ERRC_FORBIDDEN },
        { "Invalid", ERRC_INVALID },
        { "ServerTimeout", ERRC_TIMEOUT },
        { "Timeout", ERRC_TIMEOUT },
        { "TooManyRequests", ERRC_UNAVAILABLE },
        { "RequestEntityTooLarge", ERRC_LIMIT },
    };
    enum errc by_code = http_status_errc(code);

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (str_eq(reason, str_from(rows[i].reason)))
            return rows[i].code;
    }
    return by_code == ERRC_NONE ? ERRC_UNAVAILABLE : by_code;
}

/* Causes that matter more than the reason above them. */
static struct str effective_reason(struct value status)
{
    struct value_iter it = value_iter(value_path(status, "details.causes"));

    while (value_next(&it)) {
        struct str cause = value_str(value_getz(it.v, "reason"));

        if (str_eq(cause, STR(REASON_TERMINATING)) || str_eq(cause, STR(REASON_APPLY)))
            return cause;
    }
    return value_str(value_getz(status, "reason"));
}

/* Of a Secret only the fields are told: the message may quote what was in it. */
static void secret_message(struct value status, struct buf *out)
{
    struct value_iter it = value_iter(value_path(status, "details.causes"));

    buf_adds(out, "the server refuses this Secret");
    while (value_next(&it)) {
        buf_adds(out, ", field ");
        escape_controls(value_str(value_getz(it.v, "field")), out);
    }
}

static struct str cut(struct str s)
{
    return s.n > MESSAGE_MAX ? str_sub(s, 0, MESSAGE_MAX) : s;
}

int kube_status_value_error(int code, struct value status, int64_t retry_after_ms, bool is_secret,
                            struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MESSAGE_MAX * 8);
    int64_t seconds = value_int(value_path(status, "details.retryAfterSeconds"), 0);
    struct str reason = effective_reason(status);
    enum errc errc = reason_errc(code, reason);
    int r;

    if (code == 500 && str_has_prefix(value_str(value_getz(status, "message")), STR(TYPED_PATCH)))
        errc = ERRC_INVALID;
    if (is_secret && errc == ERRC_INVALID)
        secret_message(status, &text);
    else
        escape_controls(cut(value_str(value_getz(status, "message"))), &text);
    if (text.n == 0)
        buf_addf(&text, "%d %s", code, http_status_text(code));
    r = err_set(err, errc, "%s", buf_z(&text));
    if (err)
        err_set_http(*err, code, reason,
                     retry_after_ms > 0 ? retry_after_ms : MAX(seconds, (int64_t)0) * 1000);
    return r;
}

/* Not a Status: a proxy's page, plain text. */
static int plain_error(int code, struct str body, int64_t retry_after_ms, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MESSAGE_MAX);
    enum errc errc = http_status_errc(code);
    struct str line = str_trim(body);
    int r;

    line.n = MIN(MIN(str_find_char(line, '\n'), line.n), (size_t)200);
    if (line.n > 0 && line.p[0] != '<' && line.p[0] != '{')
        escape_controls(line, &text);
    r = err_set(err, errc == ERRC_NONE ? ERRC_UNAVAILABLE : errc, "%d %s%s%s", code, http_status_text(code),
                text.n ? ": " : "", buf_z(&text));
    if (err)
        err_set_http(*err, code, STR_NONE, retry_after_ms);
    return r;
}

int kube_status_error(int code, struct str body, int64_t retry_after_ms, bool is_secret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(8 * MIB);
    struct value v;

    if (body.n > MIB || json_parse(a, body, NULL, &v, NULL) < 0 ||
        !str_eq(value_str(value_getz(v, "kind")), STR("Status")))
        return plain_error(code, is_secret ? STR("") : body, retry_after_ms, err);
    return kube_status_value_error(code, v, retry_after_ms, is_secret, err);
}

bool kube_err_is_apply_conflict(const struct err *e)
{
    return e && str_eq(err_http_reason(e), STR(REASON_APPLY));
}

bool kube_err_is_no_match(const struct err *e)
{
    return e && str_eq(err_http_reason(e), STR(REASON_NO_MATCH));
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* err: what went wrong, and the way it took. One owner; NULL means "no error".
 *
 * A function that can fail returns an int (0 or more on success, -ERRC_x on failure) and takes `struct err **err`
 * last. Success leaves *err and all outputs alone; failure sets *err once and leaves the outputs alone. */
#include "base/base.h"
#include "base/str.h"

struct buf;

/* X(code, text, worth a retry) */
#define ERRC_MAP(X)                            \
    X(INVALID, "invalid input", false)         \
    X(NOT_FOUND, "not found", false)           \
    X(EXISTS, "already exists", false)         \
    X(CONFLICT, "conflict", true)              \
    X(FORBIDDEN, "forbidden", false)           \
    X(UNAUTHORIZED, "unauthorized", false)     \
    X(PARSE, "cannot be parsed", false)        \
    X(TEMPLATE, "template failed", false)      \
    X(SCHEMA, "schema violated", false)        \
    X(DIGEST, "digest mismatch", false)        \
    X(LIMIT, "limit exceeded", false)          \
    X(GONE, "gone", true)                      \
    X(TIMEOUT, "timed out", true)              \
    X(UNAVAILABLE, "server unavailable", true) \
    X(CANCELLED, "cancelled", true)            \
    X(IO, "input/output error", true)          \
    X(UNSUPPORTED, "not supported", false)     \
    X(INTERNAL, "internal error", false)

enum errc {
    ERRC_NONE,
#define X(code, text, retry) ERRC_##code,
    ERRC_MAP(X)
#undef X
        ERRC_MAX_,
};

struct err;

/* Makes the error and returns -code, so `return err_set(...)` works. `err` may be NULL: then only the code
 * travels. *err must be NULL on entry: an error is never overwritten. */
int err_set(struct err **err, enum errc code, const char *fmt, ...) PRINTF(3, 4);
/* The same with ": <strerror(errnum)>" behind it and the code that fits errnum. */
int err_errno(struct err **err, int errnum, const char *fmt, ...) PRINTF(3, 4);
/* Puts what we were doing in front ("chart ./web: not found") and returns r unchanged. */
int err_wrap(struct err **err, int r, const char *fmt, ...) PRINTF(3, 4);

enum errc err_code(const struct err *e); /* ERRC_NONE for NULL */
bool errc_retryable(enum errc code);
const char *errc_text(enum errc code);

/* HTTP status of the answer that caused it (0: none), the Kubernetes reason ("" : none; borrowed), and how long
 * the server asked us to wait before trying again (0: it did not). Set right after err_set(). */
void err_set_http(struct err *e, int status, struct str reason, int64_t retry_after_ms);
int err_http_status(const struct err *e);
struct str err_http_reason(const struct err *e);
int64_t err_retry_after_ms(const struct err *e);

void err_format(const struct err *e, struct buf *out); /* outermost first, joined with ": " */
const char *err_message(const struct err *e);          /* the same as a string; borrowed; "" for NULL */
void err_free(struct err *e);                          /* e may be NULL */
DEFINE_CLEANUP(struct err *, err_free)
void err_clear(struct err **err); /* forgives: frees *err and leaves NULL; err may be NULL */

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct err {
    enum errc code;
    char *message; /* the whole chain, outermost first */
    int http_status;
    char *http_reason; /* NULL: none */
    int64_t retry_after_ms;
};

static const struct {
    const char *text;
    bool retry;
} codes[ERRC_MAX_] = { [ERRC_NONE] = { "success", false },
#define X(code, text, retry) [ERRC_##code] = { text, retry },
                       ERRC_MAP(X)
#undef X
};

static char *format(const char *fmt, va_list args) PRINTF(1, 0);

static char *format(const char *fmt, va_list args)
{
    char *p = NULL;

    if (vasprintf(&p, fmt, args) < 0)
        abort();
    return p;
}

static void store(struct err **err, enum errc code, char *message)
{
    assert(!*err); /* an error is never overwritten */
    *err = xcalloc(1, sizeof(**err));
    (*err)->code = code;
    (*err)->message = message;
}

int err_set(struct err **err, enum errc code, const char *fmt, ...)
{
    va_list args;

    assert(code > ERRC_NONE && code < ERRC_MAX_);
    if (err) {
        va_start(args, fmt);
        store(err, code, format(fmt, args));
        va_end(args);
    }
    return -(int)code;
}

static enum errc errno_code(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
        return ERRC_NOT_FOUND;
    case EEXIST:
        return ERRC_EXISTS;
    case EACCES:
    case EPERM:
    case EROFS:
        return ERRC_FORBIDDEN;
    case ETIMEDOUT:
        return ERRC_TIMEOUT;
    default:
        return ERRC_IO;
    }
}

int err_errno(struct err **err, int errnum, const char *fmt, ...)
{
    char text[128];
    va_list args;

    if (err) {
        va_start(args, fmt);
        CLEANUP(free_ptr) char *what = format(fmt, args);
        va_end(args);
        store(err, errno_code(errnum), xasprintf("%s: %s", what, strerror_r(errnum, text, sizeof(text))));
    }
    return -(int)errno_code(errnum);
}

int err_wrap(struct err **err, int r, const char *fmt, ...)
{
    va_list args;
    char *whole;

    if (!err || !*err)
        return r;
    va_start(args, fmt);
    CLEANUP(free_ptr) char *front = format(fmt, args);
    va_end(args);
    whole = xasprintf("%s: %s", front, (*err)->message);
    free((*err)->message);
    (*err)->message = whole;
    return r;
}

enum errc err_code(const struct err *e)
{
    return e ? e->code : ERRC_NONE;
}

bool errc_retryable(enum errc code)
{
    return codes[code].retry;
}

const char *errc_text(enum errc code)
{
    return codes[code].text;
}

void err_set_http(struct err *e, int status, struct str reason, int64_t retry_after_ms)
{
    if (!e)
        return;
    e->http_status = status;
    free(e->http_reason);
    e->http_reason = str_dup(reason);
    e->retry_after_ms = retry_after_ms;
}

int err_http_status(const struct err *e)
{
    return e ? e->http_status : 0;
}

struct str err_http_reason(const struct err *e)
{
    return e ? str_from(e->http_reason) : STR_NONE;
}

int64_t err_retry_after_ms(const struct err *e)
{
    return e ? e->retry_after_ms : 0;
}

void err_format(const struct err *e, struct buf *out)
{
    buf_adds(out, err_message(e));
}

const char *err_message(const struct err *e)
{
    return e ? e->message : "";
}

void err_free(struct err *e)
{
    if (!e)
        return;
    free(e->message);
    free(e->http_reason);
    free(e);
}

void err_clear(struct err **err)
{
    if (err)
        err_free(TAKE(*err));
}

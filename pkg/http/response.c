/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http_int.h"

#include <errno.h>

#define DAY_MS ((int64_t)86400000)

static const struct {
    int status;
    enum errc code;
    const char *text;
} statuses[] = {
    { 200, ERRC_NONE, "OK" },
    { 201, ERRC_NONE, "Created" },
    { 202, ERRC_NONE, "Accepted" },
    { 204, ERRC_NONE, "No Content" },
    { 206, ERRC_NONE, "Partial Content" },
    { 301, ERRC_NONE, "Moved Permanently" },
    { 302, ERRC_NONE, "Found" },
    { 303, ERRC_NONE, "See Other" },
    { 304, ERRC_NONE, "Not Modified" },
    { 307, ERRC_NONE, "Temporary Redirect" },
    { 308, ERRC_NONE, "Permanent Redirect" },
    { 400, ERRC_INVALID, "Bad Request" },
    { 401, ERRC_UNAUTHORIZED, "Unauthorized" },
    { 403, ERRC_FORBIDDEN, "Forbidden" },
    { 404, ERRC_NOT_FOUND, "Not Found" },
    { 405, ERRC_UNSUPPORTED, "Method Not Allowed" },
    { 406, ERRC_UNSUPPORTED, "Not Acceptable" },
    { 407, ERRC_UNAUTHORIZED, "Proxy Authentication Required" },
    { 408, ERRC_TIMEOUT, "Request Timeout" },
    { 409, ERRC_CONFLICT, "Conflict" },
    { 410, ERRC_GONE, "Gone" },
    { 412, ERRC_CONFLICT, "Precondition Failed" },
    { 413, ERRC_LIMIT, "Request Entity Too Large" },
    { 415, ERRC_UNSUPPORTED, "Unsupported Media Type" },
    { 416, ERRC_INVALID, "Requested Range Not Satisfiable" },
    { 422, ERRC_INVALID, "Unprocessable Entity" },
    { 429, ERRC_UNAVAILABLE, "Too Many Requests" },
    { 500, ERRC_UNAVAILABLE, "Internal Server Error" },
    { 501, ERRC_UNSUPPORTED, "Not Implemented" },
    { 502, ERRC_UNAVAILABLE, "Bad Gateway" },
    { 503, ERRC_UNAVAILABLE, "Service Unavailable" },
    { 504, ERRC_TIMEOUT, "Gateway Timeout" },
};

enum errc http_status_errc(int status)
{
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
        if (statuses[i].status == status)
            return statuses[i].code;
    }
    if (status < 400)
        return ERRC_NONE;
    return status < 500 ? ERRC_INVALID : ERRC_UNAVAILABLE;
}

const char *http_status_text(int status)
{
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
        if (statuses[i].status == status)
            return statuses[i].text;
    }
    return "";
}

int64_t http_retry_after_ms(struct str value)
{
    CLEANUP(free_ptr) char *text = NULL;
    int64_t s;
    time_t date;

    value = str_trim(value);
    if (str_to_int64(value, &s))
        return s <= 0 ? 0 : MIN(s, DAY_MS / 1000) * 1000;
    if (value.n == 0 || value.n > 64)
        return 0;
    text = str_dup(value);
    date = curl.getdate(text, NULL);
    if (date < 0)
        return 0;
    s = (int64_t)date - clock_wall().s;
    return s <= 0 ? 0 : MIN(s, DAY_MS / 1000) * 1000;
}

/* What a response owns: the transfer it came from. */
void response_take(struct transfer *t, struct http_response *ret)
{
    *ret = (struct http_response){ .status = t->status,
                                   .status_text = str_from(t->status_text),
                                   .body = buf_str(&t->body),
                                   .url = str_from(t->url),
                                   .headers = t->answer.items,
                                   .n_headers = t->answer.n,
                                   .body_bytes = t->body_bytes,
                                   .memory = t };
    ret->retry_after_ms = http_retry_after_ms(transfer_answer_header(t, STR("Retry-After")));
}

void http_response_done(struct http_response *r)
{
    if (r->memory)
        transfer_unref(r->memory);
    *r = (struct http_response){ 0 };
}

struct str http_response_header(const struct http_response *r, struct str name)
{
    for (size_t i = 0; i < r->n_headers; i++) {
        if (str_ieq(r->headers[i].name, name))
            return r->headers[i].value;
    }
    return STR("");
}

void http_result_done(struct http_result *r)
{
    http_response_done(&r->response);
    err_free(r->err);
    r->err = NULL;
}

int http_sink_fd(void *ctx, struct str bytes, struct err **err)
{
    int fd = *(int *)ctx;

    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "write");
        bytes = str_sub(bytes, (size_t)n, bytes.n);
    }
    return 0;
}

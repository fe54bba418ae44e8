/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "httpd/httpd.h"

enum range { RANGE_ALL, RANGE_PART, RANGE_OUTSIDE };

/* "bytes=10-", "bytes=0-99", "bytes=-20"; several ranges and what cannot be read mean the whole (RFC 9110 14.2). */
static enum range parse_range(struct str range, int64_t size, int64_t *ret_from, int64_t *ret_n)
{
    struct str first, last;
    int64_t from, to;

    if (!str_has_prefix(range, STR("bytes=")))
        return RANGE_ALL;
    last = str_sub(range, 6, range.n);
    if (!str_split(&last, '-', &first) || !last.p)
        return RANGE_ALL;
    if (first.n == 0) {
        if (!str_to_int64(last, &to) || to < 0)
            return RANGE_ALL;
        *ret_n = MIN(to, size);
        *ret_from = size - *ret_n;
        return *ret_n > 0 ? RANGE_PART : RANGE_OUTSIDE;
    }
    if (!str_to_int64(first, &from) || from < 0)
        return RANGE_ALL;
    to = size - 1;
    if (last.n > 0 && (!str_to_int64(last, &to) || to < from))
        return RANGE_ALL;
    if (from >= size)
        return RANGE_OUTSIDE;
    *ret_from = from;
    *ret_n = MIN(to, size - 1) - from + 1;
    return RANGE_PART;
}

bool httpd_reply_unchanged(const struct httpd_request *rq, struct httpd_reply *reply, const char *etag)
{
    struct str known = str_trim(httpd_request_header(rq, "If-None-Match"));

    httpd_reply_header(reply, "ETag", "%s", etag);
    if (!str_eq(known, STR("*")) && !str_contains(known, str_from(etag)))
        return false;
    reply->status = 304;
    return true;
}

void httpd_reply_file(const struct httpd_request *rq, struct httpd_reply *reply, int fd, int64_t size,
                      const char *etag)
{
    struct str range = httpd_request_header(rq, "Range"), condition = httpd_request_header(rq, "If-Range");
    int64_t from = 0, n = size;

    httpd_reply_header(reply, "Accept-Ranges", "bytes");
    if (httpd_reply_unchanged(rq, reply, etag)) {
        close(fd);
        return;
    }
    if (condition.n > 0 && !str_eq(str_trim(condition), str_from(etag)))
        range = STR("");
    switch (parse_range(range, size, &from, &n)) {
    case RANGE_OUTSIDE:
        reply->status = 416;
        httpd_reply_header(reply, "Content-Range", "bytes */%lld", (long long)size);
        close(fd);
        return;
    case RANGE_PART:
        reply->status = 206;
        httpd_reply_header(reply, "Content-Range", "bytes %lld-%lld/%lld", (long long)from,
                           (long long)(from + n - 1), (long long)size);
        break;
    case RANGE_ALL:
        break;
    }
    reply->fd = fd;
    reply->offset = from;
    reply->length = n;
}

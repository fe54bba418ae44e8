/* SPDX-License-Identifier: Apache-2.0 */
/* Names to addresses within a deadline: getaddrinfo() has none of its own. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "http/http_int.h"

struct question {
    struct gaicb cb;
    struct addrinfo hints;
    char *host;
};

static void question_free(struct question *q)
{
    if (q->cb.ar_result)
        freeaddrinfo(q->cb.ar_result);
    free(q->host);
    free(q);
}
DEFINE_CLEANUP(struct question *, question_free)

static void add_address(const struct sockaddr *sa, struct buf *out)
{
    char text[INET6_ADDRSTRLEN];
    const void *address = sa->sa_family == AF_INET6
                              ? (const void *)&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr
                              : (const void *)&((const struct sockaddr_in *)(const void *)sa)->sin_addr;

    if (inet_ntop(sa->sa_family, address, text, sizeof(text)))
        buf_adds(out, text);
}

int http_resolve(struct str host, int64_t deadline_ms, struct buf *out, struct err **err)
{
    CLEANUP(question_free) struct question *q = xcalloc(1, sizeof(*q));
    struct timespec wait = { .tv_sec = deadline_ms / 1000, .tv_nsec = deadline_ms % 1000 * 1000000 };
    struct gaicb *list[] = { &q->cb };

    q->host = str_dup(host);
    q->hints = (struct addrinfo){ .ai_socktype = SOCK_STREAM };
    q->cb = (struct gaicb){ .ar_name = q->host, .ar_request = &q->hints };
    if (host.n == 0 || getaddrinfo_a(GAI_NOWAIT, list, 1, NULL) != 0)
        return err_set(err, ERRC_NOT_FOUND, "lookup " STR_FMT ": no such host", STR_ARG(host));
    IGNORE_ERROR(gai_suspend((const struct gaicb *const *)list, 1, &wait));
    if (gai_error(&q->cb) == EAI_INPROGRESS && gai_cancel(&q->cb) == EAI_NOTCANCELED) {
        IGNORE_ERROR(TAKE(q) ? 0 : -1); /* libc still writes to it: it is left to libc for good */
        return err_set(err, ERRC_TIMEOUT, "lookup " STR_FMT ": timed out", STR_ARG(host));
    }
    if (gai_error(&q->cb) != 0 || !q->cb.ar_result)
        return err_set(err, ERRC_NOT_FOUND, "lookup " STR_FMT ": no such host", STR_ARG(host));
    add_address(q->cb.ar_result->ai_addr, out);
    return buf_check(out, err);
}

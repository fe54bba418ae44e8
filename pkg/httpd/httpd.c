/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/httpd.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "base/limits.h"

#define CONNECTIONS_DEFAULT 256
#define IDLE_DEFAULT_S 30
#define BODY_MAX INDEX_TEXT_MAX

static struct {
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_lookup_connection_value) lookup_connection_value;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_create_response_from_fd_at_offset64) create_response_from_fd_at_offset64;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_destroy_response) destroy_response;
} mhd;

static const struct dynlib_symbol symbols[] = {
    DYNLIB_SYMBOL(mhd, start_daemon, "MHD_start_daemon"),
    DYNLIB_SYMBOL(mhd, stop_daemon, "MHD_stop_daemon"),
    DYNLIB_SYMBOL(mhd, lookup_connection_value, "MHD_lookup_connection_value"),
    DYNLIB_SYMBOL(mhd, create_response_from_buffer, "MHD_create_response_from_buffer"),
    DYNLIB_SYMBOL(mhd, create_response_from_fd_at_offset64, "MHD_create_response_from_fd_at_offset64"),
    DYNLIB_SYMBOL(mhd, add_response_header, "MHD_add_response_header"),
    DYNLIB_SYMBOL(mhd, queue_response, "MHD_queue_response"),
    DYNLIB_SYMBOL(mhd, destroy_response, "MHD_destroy_response"),
};
static struct dynlib lib = DYNLIB("libmicrohttpd", "libmicrohttpd12", &mhd, symbols, "libmicrohttpd.so.12");

struct httpd {
    struct MHD_Daemon *daemon;
    httpd_handler_fn handler;
    void *ctx;
    int port;
};

struct str httpd_request_header(const struct httpd_request *rq, const char *name)
{
    return str_from(
        mhd.lookup_connection_value((struct MHD_Connection *)rq->connection, MHD_HEADER_KIND, name));
}

void httpd_reply_header(struct httpd_reply *r, const char *name, const char *fmt, ...)
{
    va_list args;
    int n;

    assert(r->n_headers < ARRAY_SIZE(r->headers));
    va_start(args, fmt);
    n = vsnprintf(r->headers[r->n_headers].value, sizeof(r->headers[0].value), fmt, args);
    va_end(args);
    assert(n >= 0 && (size_t)n < sizeof(r->headers[0].value));
    r->headers[r->n_headers++].name = name;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct httpd_reply *r)
{
    struct MHD_Response *response;
    enum MHD_Result result;

    if (r->fd >= 0) {
        response = mhd.create_response_from_fd_at_offset64((uint64_t)r->length, r->fd, (uint64_t)r->offset);
        if (!response)
            close(r->fd);
    } else {
        size_t n = r->body.n;

        response = mhd.create_response_from_buffer(n, buf_take(&r->body), MHD_RESPMEM_MUST_FREE);
    }
    if (!response)
        return MHD_NO;
    mhd.add_response_header(response, "Content-Type",
                            r->content_type ? r->content_type : "text/plain; charset=utf-8");
    mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < r->n_headers; i++)
        mhd.add_response_header(response, r->headers[i].name, r->headers[i].value);
    result = mhd.queue_response(connection, (unsigned)r->status, response);
    mhd.destroy_response(response);
    return result;
}

/* libmicrohttpd calls once before and once after the body: an answer in the first call would end keep-alive. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_n, void **state)
{
    static char seen;
    struct httpd *h = cls;
    struct httpd_reply reply = { .status = 200, .fd = -1, .body = BUF_INIT(BODY_MAX) };
    struct httpd_request rq = { .path = str_from(url), .connection = (struct httpd_connection *)connection };
    enum MHD_Result result;

    UNUSED(version);
    UNUSED(upload);
    if (!*state) {
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_n > 0) {
        *upload_n = 0; /* bodies are read and dropped */
        return MHD_YES;
    }
    rq.head = strcmp(method, "HEAD") == 0;
    if (!rq.head && strcmp(method, "GET") != 0) {
        reply.status = 405;
        buf_adds(&reply.body, "method not allowed\n");
        httpd_reply_header(&reply, "Allow", "GET, HEAD");
    } else {
        h->handler(h->ctx, &rq, &reply);
    }
    result = send_reply(connection, &reply);
    buf_done(&reply.body);
    return result;
}

static int parse_address(const char *text, struct sockaddr_storage *ret, socklen_t *ret_n, struct err **err)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
    struct str all = str_from(text);
    size_t colon = str_rfind_char(all, ':');
    uint64_t port;
    char host[64];

    if (colon == STR_NPOS || !str_to_uint64(str_sub(all, colon + 1, all.n), &port) || port > 65535 ||
        colon >= sizeof(host))
        return err_set(err, ERRC_INVALID, "address \"%s\": want HOST:PORT, such as 127.0.0.1:8080", text);
    memset(ret, 0, sizeof(*ret));
    all = str_trim_chars(str_sub(all, 0, colon), "[]");
    memcpy(host, all.p, all.n);
    host[all.n] = '\0';
    if (all.n == 0 || inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        *ret_n = sizeof(*v4);
        return 0;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
        return err_set(err, ERRC_INVALID, "address \"%s\": \"%s\" is no IP address", text, host);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)port);
    *ret_n = sizeof(*v6);
    return 0;
}

static int listen_on(const char *address, int *ret_port, int *ret_fd, struct err **err)
{
    struct sockaddr_storage at;
    CLEANUP(fd_close) int fd = -1;
    socklen_t n;
    int one = 1, r = parse_address(address, &at, &n, err);

    if (r < 0)
        return r;
    fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        bind(fd, (struct sockaddr *)&at, n) < 0 || listen(fd, 128) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        return err_errno(err, errno, "address %s", address);
    *ret_port = ntohs(at.ss_family == AF_INET ? ((struct sockaddr_in *)&at)->sin_port
                                              : ((struct sockaddr_in6 *)&at)->sin6_port);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int httpd_start(const struct httpd_options *o, struct httpd **ret, struct err **err)
{
    struct httpd *h;
    int fd = -1, port = 0, r = dynlib_open(&lib, err);

    if (r == 0)
        r = listen_on(o->address, &port, &fd, err);
    if (r < 0)
        return r;
    h = xcalloc(1, sizeof(*h));
    h->handler = o->handler;
    h->ctx = o->ctx;
    h->port = port;
    h->daemon =
        mhd.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, NULL, NULL, on_request, h,
                         MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                         o->connections ? o->connections : CONNECTIONS_DEFAULT, MHD_OPTION_CONNECTION_TIMEOUT,
                         o->idle_s ? o->idle_s : IDLE_DEFAULT_S, MHD_OPTION_END);
    if (!h->daemon) {
        close(fd);
        free(h);
        return err_set(err, ERRC_IO, "address %s: the HTTP server does not start", o->address);
    }
    *ret = h;
    return 0;
}

int httpd_port(const struct httpd *h)
{
    return h->port;
}

void httpd_stop(struct httpd *h)
{
    if (!h)
        return;
    mhd.stop_daemon(h->daemon);
    free(h);
}

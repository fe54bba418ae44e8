/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/httpd.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
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
    httpd_admit_fn admit;
    void *ctx;
    char *body_dir;
    size_t body_max;
    char *cert_pem, *key_pem;
    int port;
};

/* One request, from its headers to its answer. */
struct exchange {
    int fd; /* of the body; -1: none */
    int64_t n;
    int refused; /* the status that the body earned; 0: none */
};

struct str httpd_request_header(const struct httpd_request *rq, const char *name)
{
    return str_from(
        mhd.lookup_connection_value((struct MHD_Connection *)rq->connection, MHD_HEADER_KIND, name));
}

struct str httpd_request_query(const struct httpd_request *rq, const char *name)
{
    return str_from(
        mhd.lookup_connection_value((struct MHD_Connection *)rq->connection, MHD_GET_ARGUMENT_KIND, name));
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

static bool has_header(const struct httpd_reply *r, const char *name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (strcmp(r->headers[i].name, name) == 0)
            return true;
    return false;
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
    if (!has_header(r, "Content-Type"))
        mhd.add_response_header(response, "Content-Type",
                                r->content_type ? r->content_type : "text/plain; charset=utf-8");
    mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < r->n_headers; i++)
        mhd.add_response_header(response, r->headers[i].name, r->headers[i].value);
    result = mhd.queue_response(connection, (unsigned)r->status, response);
    mhd.destroy_response(response);
    return result;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void refuse(struct httpd_reply *reply, int status)
{
    reply->status = status;
    if (status == 405)
        httpd_reply_header(reply, "Allow", "GET, HEAD");
    buf_adds(&reply->body, status == 405   ? "method not allowed\n"
                           : status == 413 ? "the body is too large\n"
                                           : "the body cannot be kept\n");
}

static bool is_read(struct str method)
{
    return str_eq(method, STR("GET")) || str_eq(method, STR("HEAD"));
}

/* Before the body: MHD_YES goes on, and without an answer queued the body is read. */
static enum MHD_Result begin(struct httpd *h, const struct httpd_request *rq, struct exchange **state)
{
    struct httpd_reply reply = { .status = 200, .fd = -1, .body = BUF_INIT(BODY_MAX) };
    enum MHD_Result result;
    bool admitted = true;

    *state = xcalloc(1, sizeof(**state));
    (*state)->fd = -1;
    if (is_read(rq->method))
        return MHD_YES;
    if (h->admit)
        admitted = h->admit(h->ctx, rq, &reply);
    else
        (*state)->refused = 405;
    result = admitted ? MHD_YES : send_reply((struct MHD_Connection *)rq->connection, &reply);
    buf_done(&reply.body);
    return result;
}

static void take_body(struct httpd *h, struct exchange *x, const char *bytes, size_t n)
{
    if (x->refused)
        return;
    if ((uint64_t)x->n + n > h->body_max) {
        x->refused = 413;
        return;
    }
    if (x->fd < 0)
        x->fd = open(h->body_dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    while (n > 0 && !x->refused) {
        ssize_t r = x->fd < 0 ? -1 : write(x->fd, bytes, n);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0) {
            x->refused = 507;
            return;
        }
        bytes += r;
        n -= (size_t)r;
        x->n += r;
    }
}

static enum MHD_Result finish(struct httpd *h, struct httpd_request *rq, struct exchange *x)
{
    struct httpd_reply reply = { .status = 200, .fd = -1, .body = BUF_INIT(BODY_MAX) };
    enum MHD_Result result;

    rq->body_fd = x->fd;
    rq->body_n = x->n;
    if (x->refused)
        refuse(&reply, x->refused);
    else
        h->handler(h->ctx, rq, &reply);
    result = send_reply((struct MHD_Connection *)rq->connection, &reply);
    buf_done(&reply.body);
    return result;
}

/* libmicrohttpd calls once before and once after the body: an answer in the first call would end keep-alive. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_n, void **state)
{
    struct httpd *h = cls;
    struct httpd_request rq = { .method = str_from(method),
                                .path = str_from(url),
                                .head = strcmp(method, "HEAD") == 0,
                                .body_fd = -1,
                                .connection = (struct httpd_connection *)connection };

    UNUSED(version);
    if (!*state)
        return begin(h, &rq, (struct exchange **)state);
    if (*upload_n > 0) {
        if (!is_read(rq.method))
            take_body(h, *state, upload, *upload_n);
        *upload_n = 0;
        return MHD_YES;
    }
    return finish(h, &rq, *state);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode why)
{
    struct exchange *x = *state;

    UNUSED(cls);
    UNUSED(connection);
    UNUSED(why);
    if (x && x->fd >= 0)
        close(x->fd);
    free(x);
    *state = NULL;
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

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

static void free_server(struct httpd *h)
{
    free(h->body_dir);
    free(h->cert_pem);
    free(h->key_pem);
    free(h);
}

static int start_daemon(struct httpd *h, const struct httpd_options *o, int fd, struct err **err)
{
    struct MHD_OptionItem tls[] = { { MHD_OPTION_HTTPS_MEM_CERT, 0, h->cert_pem },
                                    { MHD_OPTION_HTTPS_MEM_KEY, 0, h->key_pem },
                                    { MHD_OPTION_END, 0, NULL } };
    struct MHD_OptionItem end[] = { { MHD_OPTION_END, 0, NULL } };
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | (h->cert_pem ? MHD_USE_TLS : 0);

    h->daemon = mhd.start_daemon(
        flags, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        o->connections ? o->connections : CONNECTIONS_DEFAULT, MHD_OPTION_CONNECTION_TIMEOUT,
        o->idle_s ? o->idle_s : IDLE_DEFAULT_S, MHD_OPTION_THREAD_POOL_SIZE, o->threads > 1 ? o->threads : 0,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_ARRAY, h->cert_pem ? tls : end,
        MHD_OPTION_END);
    if (h->daemon)
        return 0;
    if (h->cert_pem)
        return err_set(err, ERRC_INVALID,
                       "address %s: the HTTPS server does not start: do certificate and key fit?",
                       o->address);
    return err_set(err, ERRC_IO, "address %s: the HTTP server does not start", o->address);
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
    h->admit = o->admit;
    h->ctx = o->ctx;
    h->port = port;
    h->body_dir = xstrdup(o->body_dir ? o->body_dir : "/tmp");
    h->body_max = o->body_max;
    h->cert_pem = o->cert_pem.n ? str_dup(o->cert_pem) : NULL;
    h->key_pem = o->cert_pem.n ? str_dup(o->key_pem) : NULL;
    r = start_daemon(h, o, fd, err);
    if (r < 0) {
        close(fd);
        free_server(h);
        return r;
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
    free_server(h);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "apiserver"
#include "apiserver/http.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/random.h"

enum {
    IDLE_SECONDS = 300,      /* a kept-alive connection without a request */
    BLOCK_BYTES = 32 * 1024, /* a piece of a stream */
    POOL_BYTES = 32 * 1024,  /* headers and read buffer of a connection */
    CONNECTIONS_SPARE = 64,  /* connections beyond the cap that still hear "429" */
    LISTEN_BACKLOG = 512,
};

/* One request; made with its first line, freed when it is over. */
struct exchange {
    struct apiserver *server;
    struct MHD_Connection *con;
    char *uri;
    bool begun, counted;
    struct buf body;
    bool too_large;
    struct api_request rq;
    struct buf pending; /* of a stream: what was not sent yet */
    size_t sent;
};

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *con)
{
    struct exchange *x = xcalloc(1, sizeof(*x));

    x->server = cls;
    x->con = con;
    x->uri = xstrdup(uri);
    x->body = BUF_INIT(API_BODY_MAX);
    x->pending = BUF_INIT(API_ANSWER_MAX);
    return x;
}

static void on_completed(void *cls, struct MHD_Connection *con, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct exchange *x = *con_cls;

    UNUSED(cls);
    UNUSED(con);
    UNUSED(why);
    if (!x)
        return;
    if (x->counted)
        x->server->active--;
    api_request_done(&x->rq);
    buf_done(&x->body);
    buf_done(&x->pending);
    free(x->uri);
    free(x);
    *con_cls = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *con, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct apiserver *s = cls;

    UNUSED(con);
    UNUSED(context);
    s->connections += what == MHD_CONNECTION_NOTIFY_STARTED ? 1 : -1;
}

/* ---- answers ------------------------------------------------------------------------------------------------- */

static bool client_gone(void *ctx)
{
    struct exchange *x = ctx;
    const union MHD_ConnectionInfo *info;
    struct pollfd p = { .events = POLLRDHUP };

    if (x->server->stopping)
        return true;
    info = x->server->mhd->MHD_get_connection_info(x->con, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info)
        return true;
    p.fd = info->connect_fd;
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

static ssize_t on_read(void *cls, uint64_t pos, char *to, size_t max)
{
    struct exchange *x = cls;
    size_t n;

    UNUSED(pos);
    if (x->sent == x->pending.n) {
        buf_clear(&x->pending);
        x->sent = 0;
        if (x->rq.stream->next(x->rq.stream, client_gone, x, &x->pending) == 0 && x->pending.n == 0)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (x->pending.failed)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    n = MIN(max, x->pending.n - x->sent);
    memcpy(to, x->pending.p + x->sent, n);
    x->sent += n;
    if (x->sent == x->pending.n && x->pending.cap > MIB)
        buf_done(&x->pending), x->pending = BUF_INIT(API_ANSWER_MAX), x->sent = 0;
    return (ssize_t)n;
}

static void add_header(struct exchange *x, struct MHD_Response *resp, const char *name, const char *value)
{
    x->server->mhd->MHD_add_response_header(resp, name, value);
}

static void add_warnings(struct exchange *x, struct MHD_Response *resp)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(8 * KIB);

    for (size_t i = 0; i < x->rq.warnings.n; i++) {
        struct str w = x->rq.warnings.items[i];

        buf_clear(&b);
        buf_adds(&b, "299 - \"");
        for (size_t j = 0; j < w.n && j < 4096; j++) {
            if (w.p[j] == '"' || w.p[j] == '\\')
                buf_addc(&b, '\\');
            buf_addc(&b, (unsigned char)w.p[j] < 0x20 ? ' ' : w.p[j]);
        }
        buf_addc(&b, '"');
        add_header(x, resp, "Warning", buf_z(&b));
    }
}

static void add_headers(struct exchange *x, struct MHD_Response *resp)
{
    bool cache = false;
    char id[37];

    add_header(x, resp, "Content-Type", x->rq.type);
    for (size_t i = 0; i < x->rq.n_headers; i++) {
        const struct api_header *h = &x->rq.headers[i];

        add_header(x, resp, h->name, arena_dupz(x->rq.arena, h->value));
        cache |= strcmp(h->name, "Cache-Control") == 0;
    }
    if (!cache)
        add_header(x, resp, "Cache-Control", "no-cache, private");
    random_uuid(id);
    add_header(x, resp, "Audit-Id", id);
    add_warnings(x, resp);
}

static enum MHD_Result send_answer(struct exchange *x)
{
    const struct api_mhd *m = x->server->mhd;
    struct MHD_Response *resp;
    enum MHD_Result r;

    if (x->rq.stream) {
        resp = m->MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, x, NULL);
        /* The time-out counts from the last byte: a quiet watch must not run into it. */
        m->MHD_set_connection_option(x->con, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
    } else {
        size_t n = x->rq.out.n;

        resp = m->MHD_create_response_from_buffer(n, buf_take(&x->rq.out), MHD_RESPMEM_MUST_FREE);
    }
    if (!resp)
        return MHD_NO;
    add_headers(x, resp);
    r = m->MHD_queue_response(x->con, (unsigned)x->rq.code, resp);
    m->MHD_destroy_response(resp);
    x->server->requests[MIN(x->rq.code / 100, 5)]++;
    return r;
}

/* Before the body was read: the connection closes behind this answer. */
static enum MHD_Result refuse(struct exchange *x, int code, const char *reason, const char *message)
{
    api_request_init(&x->rq, x->server);
    api_fail(&x->rq, code, reason, "%s", message);
    if (code == 429) {
        x->rq.retry_after_s = 1;
        api_answer_header(&x->rq, "Retry-After", STR("1"));
    }
    api_answer_header(&x->rq, "Connection", STR("close"));
    if (api_answer_value(&x->rq, code, api_status_of(&x->rq)) < 0)
        return MHD_NO;
    return send_answer(x);
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

/* "" when it is absent, never NULL: str_split() tells the two apart. */
static struct str header(struct exchange *x, const char *name)
{
    const char *value = x->server->mhd->MHD_lookup_connection_value(x->con, MHD_HEADER_KIND, name);

    return str_from(value ? value : "");
}

static enum api_method method_of(const char *name)
{
    static const struct {
        const char *name;
        enum api_method method;
    } methods[] = { { "GET", API_GET }, { "HEAD", API_HEAD },   { "POST", API_POST },
                    { "PUT", API_PUT }, { "PATCH", API_PATCH }, { "DELETE", API_DELETE } };

    for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
        if (strcmp(methods[i].name, name) == 0)
            return methods[i].method;
    return API_OTHER;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct api_request *rq = cls;

    UNUSED(kind);
    if (value)
        api_request_impersonation_header(rq, str_from(name), str_from(value));
    return MHD_YES;
}

static enum MHD_Result serve(struct exchange *x, const char *method)
{
    struct api_request *rq = &x->rq;
    struct str rest = str_from(x->uri);

    api_request_init(rq, x->server);
    rq->user = (struct api_user){ .name = STR("") };
    rq->method = method_of(method);
    rq->method_name = arena_dup(rq->arena, str_from(method));
    str_split(&rest, '?', &rq->path);
    rq->query = rest;
    rq->content_type = header(x, "Content-Type");
    rq->accept = header(x, "Accept");
    rq->user_agent = header(x, "User-Agent");
    rq->if_none_match = header(x, "If-None-Match");
    rq->body = buf_str(&x->body);
    x->server->mhd->MHD_get_connection_values(x->con, MHD_HEADER_KIND, on_header, rq);
    if (x->too_large) {
        api_fail(rq, 413, "RequestEntityTooLarge", "Request entity too large: limit is %zu", API_BODY_MAX);
        if (api_answer_value(rq, 413, api_status_of(rq)) < 0)
            return MHD_NO;
    } else {
        api_request_serve(rq, header(x, "Authorization"));
    }
    log_debug("request", LOG_Z("method", method), LOG_STR("path", rq->path), LOG_INT("code", rq->code));
    return send_answer(x);
}

static enum MHD_Result begin(struct exchange *x)
{
    struct str length = header(x, "Content-Length");
    uint64_t n;

    x->begun = x->counted = true;
    x->server->active++;
    if (x->server->connections > x->server->connections_max)
        return refuse(x, 429, "TooManyRequests", "too many connections, please try again later");
    if (str_to_uint64(length, &n) && n > API_BODY_MAX)
        return refuse(x, 413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728");
    return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *con, const char *url, const char *method,
                                  const char *version, const char *data, size_t *n, void **con_cls)
{
    struct exchange *x = *con_cls;

    UNUSED(cls);
    UNUSED(con);
    UNUSED(url);
    UNUSED(version);
    if (!x)
        return MHD_NO;
    if (!x->begun)
        return begin(x);
    if (*n > 0) {
        if (x->body.n + *n > API_BODY_MAX)
            x->too_large = true; /* read on, so that the client comes to hear of it */
        else
            buf_add(&x->body, data, *n);
        *n = 0;
        return MHD_YES;
    }
    return serve(x, method);
}

/* ---- the socket ---------------------------------------------------------------------------------------------- */

static int bind_to(const struct addrinfo *ai, int *ret_errno)
{
    CLEANUP(fd_close) int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1, taken;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
        bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, LISTEN_BACKLOG) < 0) {
        *ret_errno = errno;
        return -1;
    }
    taken = fd;
    fd = -1;
    return taken;
}

static int open_socket(const char *address, int port, int *ret_fd, struct err **err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    struct addrinfo *list = NULL;
    char service[16];
    int rc, fd, failed = 0;

    snprintf(service, sizeof(service), "%d", port);
    rc = getaddrinfo(address, service, &hints, &list);
    if (rc != 0)
        return err_set(err, ERRC_INVALID, "address %s: %s", address, gai_strerror(rc));
    fd = bind_to(list, &failed);
    freeaddrinfo(list);
    if (fd < 0)
        return err_errno(err, failed, "listen on %s:%d", address, port);
    *ret_fd = fd;
    return 0;
}

static int port_of(int fd)
{
    struct sockaddr_storage ss = { 0 };
    socklen_t n = sizeof(ss);
    char service[NI_MAXSERV];
    int64_t port = 0;

    if (getsockname(fd, (struct sockaddr *)&ss, &n) < 0 ||
        getnameinfo((struct sockaddr *)&ss, n, NULL, 0, service, sizeof(service), NI_NUMERICSERV) != 0)
        return 0;
    return str_to_int64(str_from(service), &port) ? (int)port : 0;
}

static void on_panic(void *cls, const char *file, unsigned line, const char *reason)
{
    UNUSED(cls);
    log_error("libmicrohttpd failed", LOG_Z("file", file), LOG_INT("line", line), LOG_Z("reason", reason));
    abort();
}

static struct MHD_Daemon *start_daemon(struct apiserver *s, int fd)
{
    const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
                           MHD_USE_TLS | MHD_USE_ITC;

    s->mhd->MHD_set_panic_func(on_panic, NULL);
    return s->mhd->MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_HTTPS_MEM_KEY,
        api_keys_server_key(s->keys), MHD_OPTION_HTTPS_MEM_CERT, api_keys_server_cert(s->keys),
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(s->connections_max + CONNECTIONS_SPARE),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)API_CONNECTION_STACK,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
}

int api_http_start(struct apiserver *s, int port, int preferred, struct err **err)
{
    CLEANUP(fd_close) int fd = -1;
    int r = -1;

    if (port == 0 && preferred > 0)
        r = open_socket(s->address, preferred, &fd, NULL);
    if (r < 0)
        r = open_socket(s->address, port, &fd, err);
    if (r < 0)
        return r;
    s->port = port_of(fd);
    api_server_set_url(s);
    s->daemon = start_daemon(s, fd);
    if (!s->daemon)
        return err_set(err, ERRC_INTERNAL, "libmicrohttpd does not start (is it built with TLS?)");
    fd = -1; /* the daemon's from here on */
    return 0;
}

void api_http_stop(struct apiserver *s, int wait_ms)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    int64_t until = clock_mono_ms() + wait_ms;

    if (!s->daemon)
        return;
    s->stopping = true;
    fd_close(s->mhd->MHD_quiesce_daemon(s->daemon));
    api_store_wake(s->store);
    while (s->active > 0 && clock_mono_ms() < until)
        nanosleep(&pause, NULL);
    s->mhd->MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
}

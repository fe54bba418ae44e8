/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"

#define CONNECTIONS_MAX 4096

struct server_conn {
    struct server *server;
    pthread_t thread;
    int fd, number;
    bool hang_up, reset;
};

struct server {
    int fd, port;
    server_fn fn;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    struct server_conn *conns[CONNECTIONS_MAX];
    int n_conns, n_requests;
    struct buf log;
    atomic_bool stop;
};

static void send_all(int fd, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        bytes = str_sub(bytes, (size_t)n, bytes.n);
    }
}

void server_write(struct server_conn *c, struct str bytes)
{
    send_all(c->fd, bytes);
}

void server_writez(struct server_conn *c, const char *z)
{
    send_all(c->fd, str_from(z));
}

void server_hang_up(struct server_conn *c)
{
    c->hang_up = true;
}

void server_reset(struct server_conn *c)
{
    c->hang_up = c->reset = true;
}

bool server_sleep(struct server_conn *c, int ms)
{
    for (int left = ms; left > 0; left -= 20) {
        struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };

        if (atomic_load(&c->server->stop) ||
            (poll(&p, 1, MIN(left, 20)) > 0 && (p.revents & (POLLRDHUP | POLLERR))))
            return false;
    }
    return !atomic_load(&c->server->stop);
}

void server_reply(struct server_conn *c, int status, const char *headers, struct str body)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(SIZE_MAX);

    buf_addf(&out, "HTTP/1.1 %d x\r\n%sContent-Length: %zu\r\n\r\n", status, headers ? headers : "", body.n);
    buf_addstr(&out, body);
    server_write(c, buf_str(&out));
}

struct str server_header(const struct server_request *rq, const char *name)
{
    struct str rest = rq->headers, line;

    while (str_split(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');

        if (colon != STR_NPOS && str_ieq(str_sub(line, 0, colon), str_from(name)))
            return str_trim(str_sub(line, colon + 1, line.n));
    }
    return STR("");
}

/* Reads until the buffer holds `want` bytes, or the end of the headers when want is 0. */
static bool fill(int fd, struct buf *b, size_t want, size_t *ret_headers)
{
    for (;;) {
        size_t at = str_find(buf_str(b), STR("\r\n\r\n"));
        char *p;
        ssize_t n;

        if (want ? b->n >= want : at != STR_NPOS) {
            *ret_headers = at;
            return true;
        }
        p = buf_reserve(b, 64 * KIB);
        n = recv(fd, p, 64 * KIB, 0);
        if (n <= 0)
            return false;
        buf_commit(b, (size_t)n);
    }
}

static void note(struct server *s, struct server_request *rq)
{
    pthread_mutex_lock(&s->lock);
    rq->number = ++s->n_requests;
    buf_addf(&s->log, STR_FMT " " STR_FMT "\n", STR_ARG(rq->method), STR_ARG(rq->target));
    pthread_mutex_unlock(&s->lock);
}

static void split_head(struct str head, struct server_request *rq)
{
    struct str line;

    str_split(&head, '\n', &line);
    rq->headers = head.p ? head : STR("");
    str_split(&line, ' ', &rq->method);
    str_split(&line, ' ', &rq->target);
}

static bool one_request(struct server_conn *c, struct buf *b)
{
    CLEANUP(buf_done) struct buf copy = BUF_INIT(SIZE_MAX);
    struct server_request rq = { .connection = c->number };
    size_t end, total, unused;
    int64_t length = 0;

    if (!fill(c->fd, b, 0, &end))
        return false;
    split_head(str_sub(buf_str(b), 0, end), &rq);
    IGNORE_ERROR(str_to_int64(server_header(&rq, "Content-Length"), &length) ? 0 : -1);
    total = end + 4 + (size_t)length;
    if (!fill(c->fd, b, total, &unused))
        return false;
    buf_add(&copy, b->p, total);
    split_head(str_sub(buf_str(&copy), 0, end), &rq);
    rq.body = str_sub(buf_str(&copy), end + 4, total);
    memmove(b->p, b->p + total, b->n - total + 1);
    b->n -= total;
    note(c->server, &rq);
    c->server->fn(c->server->ctx, c, &rq);
    return !c->hang_up;
}

static void *conn_main(void *arg)
{
    struct server_conn *c = arg;
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX);

    while (one_request(c, &b))
        ;
    if (c->reset)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
    else
        shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_lock(&c->server->lock);
    close(c->fd);
    c->fd = -1;
    pthread_mutex_unlock(&c->server->lock);
    return NULL;
}

static void *accept_main(void *arg)
{
    struct server *s = arg;

    while (!atomic_load(&s->stop)) {
        struct pollfd p = { .fd = s->fd, .events = POLLIN };
        struct server_conn *c;
        int fd;

        if (poll(&p, 1, 50) <= 0)
            continue;
        fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        c = xcalloc(1, sizeof(*c));
        *c = (struct server_conn){ .server = s, .fd = fd };
        pthread_mutex_lock(&s->lock);
        assert(s->n_conns < CONNECTIONS_MAX);
        c->number = s->n_conns + 1;
        s->conns[s->n_conns++] = c;
        pthread_create(&c->thread, NULL, conn_main, c);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

struct server *server_start(server_fn fn, void *ctx)
{
    struct server *s = xcalloc(1, sizeof(*s));
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(a);

    s->fn = fn;
    s->ctx = ctx;
    s->log.max = SIZE_MAX;
    pthread_mutex_init(&s->lock, NULL);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s->fd, 512) < 0 ||
        getsockname(s->fd, (struct sockaddr *)&a, &n) < 0)
        abort();
    s->port = ntohs(a.sin_port);
    pthread_create(&s->thread, NULL, accept_main, s);
    return s;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->n_conns; i++) {
        if (s->conns[i]->fd >= 0)
            shutdown(s->conns[i]->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < s->n_conns; i++) {
        pthread_join(s->conns[i]->thread, NULL);
        free(s->conns[i]);
    }
    close(s->fd);
    pthread_mutex_destroy(&s->lock);
    buf_done(&s->log);
    free(s);
}

int server_port(const struct server *s)
{
    return s->port;
}

int server_requests(struct server *s)
{
    int n;

    pthread_mutex_lock(&s->lock);
    n = s->n_requests;
    pthread_mutex_unlock(&s->lock);
    return n;
}

int server_connections(struct server *s)
{
    int n;

    pthread_mutex_lock(&s->lock);
    n = s->n_conns;
    pthread_mutex_unlock(&s->lock);
    return n;
}

char *server_log(struct server *s)
{
    char *text;

    pthread_mutex_lock(&s->lock);
    text = str_dup(buf_str(&s->log));
    pthread_mutex_unlock(&s->lock);
    return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What libcurl calls while it runs a transfer, on the loop's thread. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/http_int.h"

/* A peer whose packets no longer arrive is given up after 30 s, busy or idle: KEEPIDLE and KEEPINTVL are curl's. */
#define TCP_DEAD_MS 30000
#define KEEPALIVE_IDLE_S 15L
#define KEEPALIVE_INTERVAL_S 5L

static void fail(struct transfer *t, enum errc code, const char *fmt, ...) PRINTF(3, 4);

static void fail(struct transfer *t, enum errc code, const char *fmt, ...)
{
    va_list args;

    if (t->fail_code != ERRC_NONE)
        return;
    t->fail_code = (int)code;
    va_start(args, fmt);
    vsnprintf(t->fail_text, sizeof(t->fail_text), fmt, args);
    va_end(args);
}

void transfer_answer_clear(struct transfer *t)
{
    for (size_t i = 0; i < t->answer.n; i++)
        free((char *)(uintptr_t)t->answer.items[i].name.p);
    t->answer.n = 0;
    t->header_bytes = 0;
    t->status = 0;
}

struct str transfer_answer_header(const struct transfer *t, struct str name)
{
    for (size_t i = 0; i < t->answer.n; i++) {
        if (str_ieq(t->answer.items[i].name, name))
            return t->answer.items[i].value;
    }
    return STR("");
}

static void header_add(struct transfer *t, struct str line)
{
    size_t colon = str_find_char(line, ':');
    struct str value;
    char *p;

    if (colon == STR_NPOS)
        return;
    value = str_trim(str_sub(line, colon + 1, line.n));
    p = xmalloc(colon + value.n + 2);
    memcpy(p, line.p, colon);
    p[colon] = '\0';
    if (value.n > 0)
        memcpy(p + colon + 1, value.p, value.n);
    p[colon + 1 + value.n] = '\0';
    ARRAY_GROW(t->answer.items, t->answer.cap, t->answer.n + 1);
    t->answer.items[t->answer.n++] = (struct http_header){ { p, colon }, { p + colon + 1, value.n } };
}

/* The server's words, when they are fit to be shown; else the usual ones. */
static void keep_status_text(struct transfer *t, struct str text)
{
    bool fit = text.n > 0 && text.n < sizeof(t->status_text);

    for (size_t i = 0; i < text.n && fit; i++)
        fit = text.p[i] >= ' ' && text.p[i] < 0x7f;
    if (!fit)
        text = str_from(http_status_text(t->status));
    snprintf(t->status_text, sizeof(t->status_text), STR_FMT, STR_ARG(text));
}

/* "HTTP/1.1 200 OK", "HTTP/2 200 ". */
static void status_line(struct transfer *t, struct str line)
{
    struct str head;
    int64_t status = 0;

    if (str_has_prefix(str_from(t->url), STR("https:")))
        atomic_store(
            str_has_prefix(line, STR("HTTP/2")) ? &t->loop->client->saw_h2 : &t->loop->client->saw_h1, true);
    str_split(&line, ' ', &head);
    str_split(&line, ' ', &head);
    IGNORE_ERROR(str_to_int64(head, &status) ? 0 : -1);
    transfer_answer_clear(t);
    t->status = (int)status;
    keep_status_text(t, str_trim(line));
}

static void headers_end(struct transfer *t)
{
    if (t->status < 200 || transfer_is_redirect(t))
        return; /* an interim answer; another hop */
    pthread_mutex_lock(&t->loop->lock);
    t->headers_done = true;
    if (t->waiter && t->stream)
        pthread_cond_broadcast(&t->waiter->cond);
    pthread_mutex_unlock(&t->loop->lock);
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    struct str line = { p, size * n };

    if (str_has_prefix(line, STR("HTTP/"))) {
        status_line(t, str_trim(line));
    } else if (str_trim(line).n == 0) {
        headers_end(t);
    } else if (!t->headers_done) { /* no trailers: a stream's reader looks at the headers already */
        t->header_bytes += line.n;
        if (t->header_bytes > HTTP_HEADERS_MAX) {
            fail(t, ERRC_LIMIT, "more than %zu bytes of headers", HTTP_HEADERS_MAX);
            return 0;
        }
        header_add(t, line);
    }
    return line.n;
}

/* Bytes for a sink or a reader. False: hold the transfer back. */
static bool queue_add(struct transfer *t, struct str bytes)
{
    struct loop *l = t->loop;
    bool fits;

    pthread_mutex_lock(&l->lock);
    fits = t->queue.n == 0 || t->queue.n + bytes.n <= (t->stream ? HTTP_STREAM_QUEUE_MAX : HTTP_QUEUE_MAX);
    if (fits && !t->stream) /* at once what it may come to: growing costs more than the bytes */
        buf_reserve(&t->queue, MAX(bytes.n, HTTP_QUEUE_MAX - t->queue.n));
    if (fits)
        buf_addstr(&t->queue, bytes);
    else
        t->paused = !t->stream;
    if (!t->fresh) {
        atomic_fetch_add(&t->refs, 1);
        t->fresh = true;
        t->next_fresh = l->fresh;
        l->fresh = t;
    }
    pthread_mutex_unlock(&l->lock);
    return fits;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    struct str bytes = { p, size * n };
    bool accepted = transfer_is_accepted(t, t->status);
    bool queued = accepted && (t->stream || (t->rq.sink && t->status < 300));
    size_t max = t->rq.body_max;

    if (transfer_is_redirect(t))
        return bytes.n;
    if (!accepted || (t->rq.sink && t->status >= 300)) {
        if (t->body.n + bytes.n > HTTP_ERROR_BODY_MAX) {
            t->enough = true;
            return 0;
        }
        buf_addstr(&t->body, bytes);
        return bytes.n;
    }
    if ((uint64_t)t->body_bytes + bytes.n > max) {
        fail(t, ERRC_LIMIT, "the answer is larger than %zu bytes", max);
        return 0;
    }
    if (queued && !queue_add(t, bytes)) {
        if (!t->stream)
            return CURL_WRITEFUNC_PAUSE;
        fail(t, ERRC_LIMIT, "more than %zu bytes wait to be read", HTTP_STREAM_QUEUE_MAX);
        return 0;
    }
    if (!queued)
        buf_addstr(&t->body, bytes);
    t->body_bytes += (int64_t)bytes.n;
    return bytes.n;
}

/* There is no seek function on purpose: libcurl repeats a request by itself when a kept connection turns out dead, and
 * cannot when part of the body went out; so a write is never sent twice. */
static size_t on_read(char *p, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    size_t count = MIN(size * n, t->rq.body.n - t->sent);

    if (count > 0)
        memcpy(p, t->rq.body.p + t->sent, count);
    t->sent += count;
    return count;
}

static bool refused(struct transfer *t, enum http_net net)
{
    if (t->proxied || !(t->rq.refuse_nets & HTTP_NET_BIT(net)))
        return false;
    fail(t, ERRC_FORBIDDEN, "the host's address is %s, which is not allowed here", http_net_name(net));
    return true;
}

static curl_socket_t on_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct transfer *t = ctx;
    enum http_net net;

    UNUSED(purpose);
    if (!http_net_of_sockaddr(&a->addr, &net) || refused(t, net))
        return CURL_SOCKET_BAD;
    if (t->peer.ss_family == AF_UNSPEC && a->addrlen <= sizeof(t->peer))
        memcpy(&t->peer, &a->addr, a->addrlen);
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* A kept connection may have been opened by a request that was allowed more. */
static int on_connected(void *ctx, char *ip, char *local_ip, int port, int local_port)
{
    struct transfer *t = ctx;
    enum http_net net;

    UNUSED(local_ip);
    UNUSED(port);
    UNUSED(local_port);
    return http_net_of(str_from(ip), &net) && refused(t, net) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static int on_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    unsigned dead_ms = TCP_DEAD_MS;

    UNUSED(ctx);
    UNUSED(purpose);
    IGNORE_ERROR(setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof(dead_ms)));
    return CURL_SOCKOPT_OK;
}

void transfer_set_callbacks(struct transfer *t)
{
    CURL *e = t->easy;

    curl.easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl.easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl.easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl.easy_setopt(e, CURLOPT_READFUNCTION, on_read);
    curl.easy_setopt(e, CURLOPT_READDATA, t);
    curl.easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    curl.easy_setopt(e, CURLOPT_OPENSOCKETDATA, t);
    curl.easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl.easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl.easy_setopt(e, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    curl.easy_setopt(e, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    if (t->rq.refuse_nets) {
        curl.easy_setopt(e, CURLOPT_PREREQFUNCTION, on_connected);
        curl.easy_setopt(e, CURLOPT_PREREQDATA, t);
    }
    curl.easy_setopt(e, CURLOPT_ERRORBUFFER, t->reason);
    curl.easy_setopt(e, CURLOPT_PRIVATE, t);
}

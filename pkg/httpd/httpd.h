/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* httpd: a small HTTP/1.1 server for metrics, health and chart archives, on libmicrohttpd (opened at first use).
 *
 * GET and HEAD only; answers are made by one handler function that must not block for long: all connections share one
 * thread. Connections, header sizes and idle times are limited. */
#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct httpd;
struct httpd_connection;

struct httpd_request {
    struct str path; /* decoded, without the query; starts with '/' */
    bool head;       /* the body will not be sent */
    struct httpd_connection *connection;
};
/* The value of a request header, any case; "" when it is absent. */
struct str httpd_request_header(const struct httpd_request *rq, const char *name);

struct httpd_reply {
    int status; /* 200 unless set */
    const char *content_type;
    struct buf body;
    int fd;         /* instead of body when not negative: taken over and closed */
    int64_t offset; /* of fd */
    int64_t length;
    struct {
        const char *name;
        char value[256];
    } headers[8];
    size_t n_headers;
};
/* Adds a header; values over 255 bytes and the ninth header are a programming mistake. */
void httpd_reply_header(struct httpd_reply *r, const char *name, const char *fmt, ...) PRINTF(3, 4);

typedef void (*httpd_handler_fn)(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply);

struct httpd_options {
    const char *address; /* "127.0.0.1:8080", ":8080", "[::1]:0"; port 0 takes a free one */
    httpd_handler_fn handler;
    void *ctx;
    unsigned connections; /* at most; 0: 256 */
    unsigned idle_s;      /* 0: 30 */
};
/* INVALID for an address that is none; UNSUPPORTED without libmicrohttpd; IO when the port cannot be bound. */
NODISCARD int httpd_start(const struct httpd_options *o, struct httpd **ret, struct err **err);
int httpd_port(const struct httpd *h);
void httpd_stop(struct httpd *h); /* running answers are cut; h may be NULL */
DEFINE_CLEANUP(struct httpd *, httpd_stop)

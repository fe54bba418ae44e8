/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* httpd: a small HTTP/1.1 server for metrics, health, chart archives and pushes of them, on libmicrohttpd (opened at first
 * use), over TLS when a certificate is given.
 *
 * Answers are made by one handler function. Requests with a body are let in by another one, before the body is read; the
 * body waits in an unnamed file. Connections, header sizes, bodies and idle times are limited. */
#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct httpd;
struct httpd_connection;

struct httpd_request {
    struct str method; /* "GET", "PUT", … */
    struct str path;   /* decoded, without the query; starts with '/' */
    bool head;         /* HEAD: the body will not be sent */
    int body_fd;       /* what the client sent, from its start; -1: nothing. Borrowed */
    int64_t body_n;    /* bytes of it */
    struct httpd_connection *connection;
};
/* The value of a request header, any case; "" when it is absent. */
struct str httpd_request_header(const struct httpd_request *rq, const char *name);
/* The value of a parameter of the query, decoded; .p is NULL when it is absent. */
struct str httpd_request_query(const struct httpd_request *rq, const char *name);

#define HTTPD_HEADER_MAX 1024
#define HTTPD_HEADERS_MAX 8
struct httpd_reply {
    int status;               /* 200 unless set */
    const char *content_type; /* a constant; or a header of that name */
    struct buf body;
    int fd;         /* instead of body when not negative: taken over and closed */
    int64_t offset; /* of fd */
    int64_t length;
    struct {
        const char *name;
        char value[HTTPD_HEADER_MAX];
    } headers[HTTPD_HEADERS_MAX];
    size_t n_headers;
};
/* Adds a header; a value that does not fit and a header too many are a programming mistake. */
void httpd_reply_header(struct httpd_reply *r, const char *name, const char *fmt, ...) PRINTF(3, 4);
/* Answers with the file's first `size` bytes, or what the request wants of them: If-None-Match, Range (one range), If-Range
 * (RFC 9110). `etag` with its quotes; the descriptor is taken over. */
void httpd_reply_file(const struct httpd_request *rq, struct httpd_reply *reply, int fd, int64_t size,
                      const char *etag);
/* Does If-None-Match name this tag? Sets the header, and the status 304. */
bool httpd_reply_unchanged(const struct httpd_request *rq, struct httpd_reply *reply, const char *etag);

typedef void (*httpd_handler_fn)(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply);
/* False: the reply is sent at once and the body not read. */
typedef bool (*httpd_admit_fn)(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply);

struct httpd_options {
    const char *address; /* "127.0.0.1:8080", ":8080", "[::1]:0"; port 0 takes a free one */
    httpd_handler_fn handler;
    void *ctx;
    unsigned connections; /* at most; 0: 256 */
    unsigned idle_s;      /* 0: 30 */
    unsigned threads;     /* that answer; 0: 1. With more the functions are called from several at once */
    httpd_admit_fn admit; /* for other methods than GET and HEAD; NULL: they are refused with 405 */
    const char *body_dir; /* where bodies wait; NULL: /tmp */
    size_t body_max;      /* larger ones: 413; 0: none may be sent */
    struct str cert_pem, key_pem; /* PEM text; empty: without TLS */
};
/* INVALID for an address that is none or a certificate that does not fit its key; UNSUPPORTED without libmicrohttpd; IO when
 * the port cannot be bound. */
NODISCARD int httpd_start(const struct httpd_options *o, struct httpd **ret, struct err **err);
int httpd_port(const struct httpd *h);
void httpd_stop(struct httpd *h); /* running answers are cut; h may be NULL */
DEFINE_CLEANUP(struct httpd *, httpd_stop)

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* server: an HTTP/1.1 server for tests, on 127.0.0.1, a thread per connection. The handler decides what is sent, down
 * to the bytes, so that it can be as wrong as a test wants. */
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct server;
struct server_conn;

struct server_request {
    struct str method, target, headers, body; /* headers: the raw lines */
    int connection;                           /* from 1: which connection of the server it came on */
    int number;                               /* from 1: how manieth request of the server */
};
typedef void (*server_fn)(void *ctx, struct server_conn *c, const struct server_request *rq);

struct server *server_start(server_fn fn, void *ctx) NODISCARD; /* aborts when it cannot listen */
void server_stop(struct server *s); /* closes every connection, joins every thread */
int server_port(const struct server *s);
int server_requests(struct server *s);    /* received so far */
int server_connections(struct server *s); /* accepted so far */
/* "METHOD target\n" of every request so far; owned (free()). */
char *server_log(struct server *s) NODISCARD;

struct str server_header(const struct server_request *rq, const char *name); /* "" when absent */
/* A whole answer with Content-Length; `headers` "A: b\r\n" lines or NULL. */
void server_reply(struct server_conn *c, int status, const char *headers, struct str body);
void server_write(struct server_conn *c, struct str bytes); /* raw; false sends are ignored */
void server_writez(struct server_conn *c, const char *z);
void server_hang_up(struct server_conn *c);       /* closes after the handler */
void server_reset(struct server_conn *c);         /* closes with a RST after the handler */
bool server_sleep(struct server_conn *c, int ms); /* false when the server stops or the peer has gone */

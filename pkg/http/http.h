/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* http: an HTTP client for plain blocking code, on libcurl (opened at first use).
 *
 * A client owns the transfers of the whole process: one loop for exchanges, and, once a stream is opened, a second one
 * for streams, so that a short request never queues behind connections full of watches. Callers submit and wait with a
 * deadline; any number of threads may share a client. HTTP/2 is used over TLS where the server has it.
 *
 * Credentials go to the configured origin (scheme, host, port) alone: never to another one by redirect, and a URL with
 * user information in it is refused. Errors read "GET https://host/path: 404 Not Found", or, without an answer, as Go's:
 * "Get \"https://host/path\": dial tcp 127.0.0.1:443: connect: connection refused"; queries, credentials and bodies never
 * appear in them. Go's behaviour is followed where a redirect changes the method. */
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"

struct http_client;

struct http_client_options {
    const char *user_agent;  /* NULL: "pintle/<version>" */
    size_t connections_host; /* open connections to one host for exchanges; 0: 8 */
};

/* `o` may be NULL. libcurl is opened by a thread of the client's while the caller goes on: when it is not there, each request
 * fails with UNSUPPORTED. */
NODISCARD int http_client_new(const struct http_client_options *o, struct http_client **ret,
                              struct err **err);
/* Ends what is still running with CANCELLED and frees. All callers must have returned, all streams be closed. */
void http_client_free(struct http_client *c); /* may be NULL */
DEFINE_CLEANUP(struct http_client *, http_client_free)
/* From now on every call fails with CANCELLED at once, and so do those that wait. For a quick stop; no way back. */
void http_client_cancel(struct http_client *c);

struct http_header {
    struct str name, value;
};

/* Sent to URLs of `origin` only. A client certificate belongs in here as well. */
struct http_credentials {
    struct str
        origin; /* "https://charts.example.com:8443", or any URL of that origin; empty: they are never sent */
    struct str user, password;    /* basic authentication, when one is set */
    struct str bearer;            /* or this token */
    struct str cert_pem, key_pem; /* client certificate and its key, PEM text */
};

struct http_tls {
    struct str ca_pem;       /* trusted roots, PEM text; empty: `ca_file` */
    const char *ca_file;     /* NULL: the system's */
    const char *server_name; /* checked instead of the URL's host; NULL: the URL's host */
    bool insecure;           /* no verification at all */
};

/* What an address belongs to, for policies against requests to the inside. */
enum http_net {
    HTTP_NET_PUBLIC,
    HTTP_NET_PRIVATE,  /* 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7 */
    HTTP_NET_LOOPBACK, /* 127/8, ::1 */
    HTTP_NET_LINK,     /* 169.254/16 (cloud metadata), fe80::/10 */
    HTTP_NET_SPECIAL,  /* 0/8, multicast, broadcast, documentation, reserved */
};
#define HTTP_NET_BIT(net) (1U << (net))
/* Refuses what only this machine or its link answers: for URLs that an untrusted user wrote. */
#define HTTP_REFUSE_LOCAL \
    (HTTP_NET_BIT(HTTP_NET_LOOPBACK) | HTTP_NET_BIT(HTTP_NET_LINK) | HTTP_NET_BIT(HTTP_NET_SPECIAL))

/* Takes the next bytes of the body, on the thread that called http_do(). A failure ends the transfer and is what
 * http_do() returns. The transfer is held back while the sink is busy. */
typedef int (*http_sink_fn)(void *ctx, struct str bytes, struct err **err);
/* A sink that writes to the descriptor that ctx (int *) points to. */
int http_sink_fd(void *ctx, struct str bytes, struct err **err);

/* All of it is borrowed until the call returns (a stream: until http_stream_open() returns). Zero is the default of
 * every field but the URL. Times are milliseconds from now. */
struct http_request {
    const char *method; /* NULL: GET, or POST with a body */
    struct str url;     /* http or https; at most HTTP_URL_MAX */
    const struct http_header *headers;
    size_t n_headers;
    struct str body;                            /* sent when body.p is not NULL, empty or not */
    const struct http_credentials *credentials; /* NULL: none */
    const struct http_tls *tls;                 /* NULL: verification with the system's roots */
    const char *
        proxy; /* "http://…", "socks5://…", "": none; NULL: from the environment (HTTPS_PROXY, NO_PROXY, …) */

    int64_t
        deadline_ms; /* the whole exchange, redirects included; 0: HTTP_DEADLINE_MS; streams: until the headers */
    int64_t connect_ms; /* 0: HTTP_CONNECT_MS */
    int64_t idle_ms;    /* no byte for so long: TIMEOUT; 0: HTTP_IDLE_MS; not for streams */
    size_t rate_min;    /* bytes per second, averaged over idle_ms, below which it is given up; 0: 1 */
    size_t body_max;    /* bytes of an answer, decoded; LIMIT beyond; 0: HTTP_BODY_MAX */
    int redirects;      /* followed for GET and HEAD; 0: HTTP_REDIRECTS_MAX; -1: none, a 3xx is an answer */

    bool any_status; /* every status is an answer; else only 2xx is, and 304 to a conditional request */
    bool compressed; /* ask for gzip and decode it; else the bytes come as they are */
    struct str etag, last_modified; /* sent as If-None-Match, If-Modified-Since when set: the caller's copy */
    unsigned
        refuse_nets; /* HTTP_NET_BIT()s that the address we connect to must not have, redirects included: FORBIDDEN.
                           * Behind a proxy addresses written in the URL and "localhost" are checked, and the proxy's
                           * own when it is the request's. */
    http_sink_fn
        sink; /* gets the body of a 2xx answer instead of response.body; other bodies are kept (64 KiB) */
    void *sink_ctx;
};

struct http_response {
    int status;
    struct str status_text;      /* the server's words for it, else the usual ones; printable ASCII */
    struct str body;             /* owned by the response */
    struct str url;              /* where it came from after redirects */
    struct http_header *headers; /* of the last answer, in its order */
    size_t n_headers;
    int64_t body_bytes;     /* that went through the sink or are in body */
    int64_t retry_after_ms; /* from Retry-After, seconds or a date; 0: none; at most a day */
    void *memory;           /* internal */
};
void http_response_done(struct http_response *r);
DEFINE_CLEANUP_VALUE(struct http_response, http_response_done)
/* The first header of that name, any case; "" when there is none. Borrowed from the response. */
struct str http_response_header(const struct http_response *r, struct str name);
/* What an error says about a status: NOT_FOUND for 404, UNAVAILABLE for 429 and 5xx, … NONE below 400. */
enum errc http_status_errc(int status);
const char *http_status_text(int status); /* "Not Found"; "" when it has none */

/* Sends and waits for the whole answer. On success *ret is initialised: release it with http_response_done().
 * INVALID (URL, refused status), UNAUTHORIZED, FORBIDDEN, NOT_FOUND, LIMIT (body, headers), TIMEOUT,
 * UNAVAILABLE (no connection, TLS, cut short, too many redirects, 5xx), CANCELLED, what the sink returned. A refused
 * status is in err_http_status(), Retry-After in err_retry_after_ms(). Nothing is retried. */
NODISCARD int http_do(struct http_client *c, const struct http_request *rq, struct http_response *ret,
                      struct err **err);

struct http_result {
    int r;                         /* as http_do() returned it */
    struct http_response response; /* when r is 0 or more */
    struct err *err;               /* when r is below 0 */
};
void http_result_done(struct http_result *r);
/* All of them, at most `parallel` (0: 16) at a time, answers in the order of the requests. Sinks are not allowed.
 * 0, or the first failure's code: each result tells for itself. Release every result with http_result_done(). */
NODISCARD int http_do_all(struct http_client *c, const struct http_request *rq, size_t n, size_t parallel,
                          struct http_result *ret);

/* A long answer that is read as it comes. One thread reads; any thread may cancel. What comes while nobody reads is kept
 * up to HTTP_STREAM_QUEUE_MAX bytes; beyond that the stream fails with LIMIT. */
struct http_stream;

/* Sends and waits for the status and headers. body_max and redirects as above (body_max 0: without limit). With
 * any_status a refusal is a stream as well, its body can be read. */
NODISCARD int http_stream_open(struct http_client *c, const struct http_request *rq, struct http_stream **ret,
                               struct err **err);
void http_stream_close(struct http_stream *s); /* may be NULL; the connection of an HTTP/1 stream is closed */
DEFINE_CLEANUP(struct http_stream *, http_stream_close)
int http_stream_status(const struct http_stream *s);
struct str http_stream_header(const struct http_stream *s, struct str name); /* borrowed from the stream */
/* Appends what has come to `out`, waiting up to wait_ms for the first byte. The number of bytes; 0 at the end of the
 * answer; TIMEOUT when nothing came in time (the stream goes on); else as http_do(). */
NODISCARD int http_stream_read(struct http_stream *s, int64_t wait_ms, struct buf *out, struct err **err);
/* The stream should have spoken and has not: its connection is thought dead, and no later request is sent on it. (With
 * several streams on one connection closing this one would not close it.) */
void http_stream_suspect(struct http_stream *s);
void http_stream_cancel(struct http_stream *s); /* reads fail with CANCELLED from now on, waiting ones too */

/* URLs. All refuse (INVALID) other schemes than http and https, user information, and more than HTTP_URL_MAX. */
struct http_url {
    struct str scheme, host; /* lower case; IPv6 addresses in brackets */
    int port;                /* the scheme's when the URL has none */
    struct str path, query;  /* path begins with '/'; query without '?' */
    void *memory;            /* internal */
};
NODISCARD int http_url_parse(struct str url, struct http_url *ret, struct err **err);
void http_url_done(struct http_url *u);
DEFINE_CLEANUP_VALUE(struct http_url, http_url_done)
bool http_url_same_origin(struct str a, struct str b); /* false when one of them is not a URL */
/* `reference` (absolute or relative) seen from `base`, as browsers and Go resolve it. */
NODISCARD int http_url_resolve(struct str base, struct str reference, struct buf *out, struct err **err);
/* For errors and logs: without user information, query and fragment; anything may go in. */
void http_url_redact(struct str url, struct buf *out);
/* The net of a numeric address as inet_pton() or (for what is no address) inet_aton() reads it; IPv4 inside IPv6 is
 * seen through. False when `host` is a name. */
bool http_net_of(struct str host, enum http_net *ret);
/* Appends the first address of a name, or the address itself. NOT_FOUND, TIMEOUT. */
NODISCARD int http_resolve(struct str host, int64_t deadline_ms, struct buf *out, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* serve: one API server for a test, asked in-process: everything but HTTP and TLS takes part. */
#include <stdlib.h>

#include "apiserver/server.h"
#include "base/clock.h"
#include "lib/check.h"
#include "json/json.h"

struct fixture {
    char *dir;
    struct apiserver *server;
    struct arena *arena; /* of the test */
};

static inline int serve_setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct apiserver_options o = { 0 };
    struct err *err = NULL;
    int r;

    f->dir = check_temp_dir();
    f->arena = arena_new(256 << 20);
    o.data_dir = f->dir;
    *state = f;
    r = apiserver_start(&o, &f->server, &err);
    if (r < 0)
        print_error("%s\n", err_message(err));
    err_free(err);
    return r;
}

static inline int serve_teardown(void **state)
{
    struct fixture *f = *state;

    apiserver_stop(f->server);
    arena_free(f->arena);
    check_temp_done(f->dir);
    free(f);
    return 0;
}

#define SERVE_TEST(name) cmocka_unit_test_setup_teardown(name, serve_setup, serve_teardown)

struct question {
    const char *method, *target; /* target: path and query */
    const char *type;            /* of the body; NULL: JSON */
    const char *body;            /* ' stands for "; NULL: none */
    const char *accept, *as;     /* as: impersonated user */
    bool bare;                   /* without Content-Type and User-Agent */
};

struct answer {
    int code;
    struct value body; /* null unless JSON */
    struct str text;
    const char *type;
};

static inline enum api_method serve_method(const char *name)
{
    static const char *const names[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum api_method)i;
    return API_OTHER;
}

static inline void serve_fill(struct fixture *f, struct api_request *rq, const struct question *q)
{
    struct str rest = str_from(q->target);
    char *body = q->body ? arena_alloc_bytes(f->arena, strlen(q->body) + 1) : NULL;

    api_request_init(rq, f->server);
    rq->method = serve_method(q->method);
    rq->method_name = str_from(q->method);
    str_split(&rest, '?', &rq->path);
    rq->query = rest;
    if (!q->bare) {
        rq->content_type = q->type ? str_from(q->type) : STR("application/json");
        rq->user_agent = STR("test/1");
    }
    rq->accept = str_from(q->accept ? q->accept : "");
    if (q->as)
        api_request_impersonation_header(rq, STR("Impersonate-User"), str_from(q->as));
    for (size_t i = 0; body && (i == 0 || q->body[i - 1]); i++)
        body[i] = q->body[i] == '\'' ? '"' : q->body[i];
    rq->body = str_from(body);
    api_request_serve(rq,
                      arena_printf(rq->arena, "Bearer " STR_FMT, STR_ARG(api_keys_token(f->server->keys))));
}

static inline struct answer serve(struct fixture *f, struct question q)
{
    CLEANUP(api_request_done) struct api_request rq = { 0 };
    struct answer a = { .body = VALUE_NONE };

    serve_fill(f, &rq, &q);
    a.code = rq.code;
    a.type = rq.type;
    a.text = arena_dup(f->arena, buf_str(&rq.out));
    if (json_parse(f->arena, a.text, NULL, &a.body, NULL) < 0)
        a.body = VALUE_NONE;
    return a;
}

static inline struct answer serve_expect(struct answer a, int code, const char *what, const char *file,
                                         int line)
{
    if (a.code != code)
        check_fail(file, line, "%s: answered %d instead of %d: " STR_FMT, what, a.code, code,
                   STR_ARG(a.text));
    return a;
}

/* ask(f, 201, .method = "POST", .target = "/api/v1/…", .body = "{…}") fails with the answer when the code differs. */
#define ask(f, code, ...) \
    serve_expect(serve((f), (struct question){ __VA_ARGS__ }), (code), #__VA_ARGS__, __FILE__, __LINE__)
#define get(f, code, target_) ask(f, code, .method = "GET", .target = (target_))
#define post(f, code, target_, body_) ask(f, code, .method = "POST", .target = (target_), .body = (body_))
#define merge(f, code, target_, body_)                                    \
    ask(f, code, .method = "PATCH", .target = (target_), .body = (body_), \
        .type = "application/merge-patch+json")
#define delete_(f, code, target_) ask(f, code, .method = "DELETE", .target = (target_))

static inline struct str at(struct value v, const char *path)
{
    return value_str(value_path(v, path));
}

/* ---- watches ---- */

struct watching {
    struct api_request rq;
    bool ended;
    int64_t deadline_ms;
};

static inline bool serve_gone(void *ctx)
{
    struct watching *w = ctx;

    return clock_mono_ms() > w->deadline_ms;
}

static inline void serve_watch(struct fixture *f, const char *target, struct watching *w)
{
    const struct question q = { .method = "GET", .target = target };

    *w = (struct watching){ .ended = false };
    serve_fill(f, &w->rq, &q);
    if (!w->rq.stream)
        check_fail(__FILE__, __LINE__, "%s: no watch: " STR_FMT, target, STR_ARG(buf_str(&w->rq.out)));
}

/* One event as "ADDED name@rv" (rv relative to nothing; "BOOKMARK @rv"). */
static inline void serve_describe(struct fixture *f, struct str line, struct buf *out)
{
    struct value v;

    if (json_parse(f->arena, line, NULL, &v, NULL) < 0)
        check_fail(__FILE__, __LINE__, "not an event: " STR_FMT, STR_ARG(line));
    if (out->n > 0)
        buf_addc(out, ' ');
    buf_addf(out, STR_FMT " " STR_FMT, STR_ARG(at(v, "type")), STR_ARG(at(v, "object.metadata.name")));
    if (str_eq(at(v, "type"), STR("ERROR")))
        buf_addf(out, "%d", (int)value_int(value_path(v, "object.code"), 0));
}

/* The events of the next piece of the stream, or "end", within 5 s ("" when nothing came). */
static inline struct str serve_next(struct fixture *f, struct watching *w, int wait_ms)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(64 << 20);
    CLEANUP(buf_done) struct buf text = BUF_INIT(1 << 20);
    struct str rest, line;
    int more;

    w->deadline_ms = clock_mono_ms() + wait_ms;
    more = w->rq.stream->next(w->rq.stream, serve_gone, w, &raw);
    rest = arena_dup(f->arena, buf_str(&raw));
    while (str_split(&rest, '\n', &line))
        if (line.n > 0)
            serve_describe(f, line, &text);
    if (more == 0 && text.n == 0 && clock_mono_ms() <= w->deadline_ms)
        return STR("end");
    return arena_dup(f->arena, buf_str(&text));
}

static inline void serve_unwatch(struct watching *w)
{
    api_request_done(&w->rq);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mirror/serve_int.h"

#define LOG_MODULE "mirror"
#include "base/log.h"

#define THREADS 4
#define LOOKUP_MEMORY_MAX (8 * MIB)

struct mirror_server {
    struct mirror *mirror;
    struct mirror_auth *auth;
    struct mirror_index_cache *index;
    struct httpd *httpd;
};

static void send_not_found(struct httpd_reply *reply)
{
    reply->status = 404;
    buf_adds(&reply->body, "not found\n");
}

static void send_error(struct httpd_reply *reply, const char *what, struct err *err)
{
    if (err_code(err) == ERRC_NOT_FOUND) {
        send_not_found(reply);
    } else {
        log_warn("not served", LOG_Z("what", what), LOG_ERR(err));
        reply->status = 500;
        buf_adds(&reply->body, "the mirror is damaged here: see its log\n");
    }
    err_free(err);
}

void mirror_send_object(struct mirror *m, const struct httpd_request *rq, struct str digest, const char *type,
                        struct httpd_reply *reply)
{
    char etag[SHA256_HEX + 16];
    struct err *err = NULL;
    int64_t size;
    int fd;

    if (mirror_open_object(m, digest, &fd, &size, &err) < 0) {
        send_error(reply, "object", err);
        return;
    }
    snprintf(etag, sizeof(etag), "\"sha256:%.*s\"", STR_ARG(digest));
    reply->content_type = type ? type : "application/octet-stream";
    httpd_reply_file(rq, reply, fd, size, etag);
}

static void send_index(struct mirror_server *s, const struct httpd_request *rq, struct str folder,
                       struct httpd_reply *reply)
{
    char etag[SHA256_HEX + 2];
    struct err *err = NULL;
    int64_t size;
    int fd;

    if (mirror_index_cache_open(s->index, folder, &fd, &size, etag, &err) < 0) {
        send_error(reply, "index", err);
        return;
    }
    reply->content_type = "application/yaml";
    httpd_reply_file(rq, reply, fd, size, etag);
}

/* "web-front-1.2.3-rc.1": any '-' may be the one between name and version. */
static bool find_file(struct mirror *m, struct arena *a, struct str folder, struct str file,
                      struct mirror_record *ret)
{
    for (size_t i = 1; i + 1 < file.n; i++) {
        struct str name = str_sub(file, 0, i), path = name;

        if (file.p[i] != '-')
            continue;
        if (folder.n > 0)
            path = arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name));
        if (mirror_find(m, a, path, oci_tag_of_version(a, str_sub(file, i + 1, file.n)), ret, NULL) == 0 &&
            ret->archive.n > 0)
            return true;
    }
    return false;
}

static void send_archive(struct mirror_server *s, const struct httpd_request *rq, struct str folder,
                         struct str file, struct httpd_reply *reply)
{
    CLEANUP(arena_free) struct arena *a = arena_new(LOOKUP_MEMORY_MAX);
    bool provenance = str_has_suffix(file, STR(".prov"));
    struct mirror_record r = { 0 };
    bool found = false;

    file = str_trim_suffix(file, STR(".prov"));
    if (str_has_suffix(file, STR(".tgz")) && file.n <= MIRROR_NAME_MAX + MIRROR_TAG_MAX)
        found = find_file(s->mirror, a, folder, str_trim_suffix(file, STR(".tgz")), &r);
    if (!found || (provenance && r.provenance.n == 0)) {
        send_not_found(reply);
        return;
    }
    mirror_send_object(s->mirror, rq, provenance ? r.provenance : r.archive,
                       provenance ? "text/plain; charset=utf-8" : "application/gzip", reply);
}

/* ---- who may ------------------------------------------------------------------------------------------------------------ */

static bool is_read(const struct httpd_request *rq)
{
    return rq->head || str_eq(rq->method, STR("GET"));
}

static bool is_root(struct str path)
{
    return str_eq(path, STR("/v2/")) || str_eq(path, STR("/v2"));
}

static bool is_distribution(struct str path)
{
    return str_has_prefix(path, STR("/v2/")) || is_root(path);
}

/* Fills the reply when the request is not allowed. */
static bool allow(struct mirror_server *s, const struct httpd_request *rq, struct httpd_reply *reply)
{
    struct str authorization = httpd_request_header(rq, "Authorization");
    enum mirror_right right = mirror_auth_right(s->auth, authorization);

    if (str_eq(rq->path, STR("/healthz")) && is_read(rq))
        return true;
    /* A login asks for /v2/, and shows what it has only when it is asked to; pulls do not ask for it. */
    if (authorization.n == 0 && is_root(rq->path) && mirror_auth_can_push(s->auth))
        right = MIRROR_MAY_NOTHING;
    if (right >= (is_read(rq) ? MIRROR_MAY_READ : MIRROR_MAY_PUSH))
        return true;
    if (!is_read(rq) && !is_distribution(rq->path)) {
        reply->status = 405;
        httpd_reply_header(reply, "Allow", "GET, HEAD");
        buf_adds(&reply->body, "method not allowed\n");
    } else if (!is_read(rq) && !mirror_auth_can_push(s->auth)) {
        mirror_distribution_error(reply, 405, "UNSUPPORTED",
                                  "this mirror takes no pushes: it was started without a token");
    } else if (!is_read(rq) && right == MIRROR_MAY_READ && authorization.n > 0) {
        mirror_distribution_error(reply, 403, "DENIED", "reading is allowed, pushing is not");
    } else {
        httpd_reply_header(reply, "WWW-Authenticate", "Basic realm=\"pintle mirror\"");
        mirror_distribution_error(reply, 401, "UNAUTHORIZED", "authentication required");
    }
    return false;
}

static bool on_begin(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply)
{
    return allow(ctx, rq, reply);
}

static void on_request(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply)
{
    struct mirror_server *s = ctx;
    struct str path = str_trim_prefix(rq->path, STR("/")), folder = str_dirname(path),
               file = str_basename(path);

    if (!allow(s, rq, reply)) {
        log_debug("refused", LOG_STR("path", rq->path), LOG_INT("status", reply->status));
        return;
    }
    if (str_eq(rq->path, STR("/healthz")))
        buf_adds(&reply->body, "ok\n");
    else if (is_distribution(rq->path))
        mirror_distribution(s->mirror, rq, reply);
    else if (folder.n > 0 && !mirror_path_valid(folder))
        send_not_found(reply);
    else if (str_eq(file, STR("index.yaml")))
        send_index(s, rq, folder, reply);
    else
        send_archive(s, rq, folder, file, reply);
    log_debug("request", LOG_STR("method", rq->method), LOG_STR("path", rq->path),
              LOG_INT("status", reply->status));
}

/* ---- the server --------------------------------------------------------------------------------------------------------- */

int mirror_serve(struct mirror *m, const struct mirror_serve_options *o, struct mirror_server **ret,
                 struct err **err)
{
    struct mirror_server *s = xcalloc(1, sizeof(*s));
    int r = mirror_auth_new(o, &s->auth, err);

    s->mirror = m;
    s->index = mirror_index_cache_new(m);
    if (r == 0)
        r = httpd_start(&(struct httpd_options){ .address = o->address,
                                                 .handler = on_request,
                                                 .admit = on_begin,
                                                 .ctx = s,
                                                 .threads = THREADS,
                                                 .body_dir = m->folder,
                                                 .body_max = MIRROR_BLOB_MAX,
                                                 .cert_pem = o->cert_pem,
                                                 .key_pem = o->key_pem },
                        &s->httpd, err);
    if (r < 0) {
        mirror_server_stop(s);
        return r;
    }
    *ret = s;
    return 0;
}

int mirror_server_port(const struct mirror_server *s)
{
    return httpd_port(s->httpd);
}

void mirror_server_stop(struct mirror_server *s)
{
    if (!s)
        return;
    httpd_stop(s->httpd);
    mirror_index_cache_free(s->index);
    mirror_auth_free(s->auth);
    free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "httpd/httpd.h"
#include "registry/registry.h"

#define LOG_MODULE "registry"
#include "base/log.h"

/* A folder of archives as a chart repository. The index is made when something in the folder has changed since. */
struct registry_server {
    char *folder;
    struct httpd *httpd;
    struct buf index;      /* used by the server's one thread */
    struct timespec as_of; /* newest change that the index knows */
    size_t archives;
};

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* The newest change of the folder or an archive in it, and how many archives there are. */
static int look(const char *folder, struct timespec *ret_newest, size_t *ret_n, struct err **err)
{
    struct stat st;
    char **names;
    size_t n;
    int r = fs_list_dir(folder, &names, &n, err);

    if (r < 0)
        return r;
    *ret_n = 0;
    *ret_newest = (struct timespec){ 0 };
    if (stat(folder, &st) == 0)
        *ret_newest = st.st_mtim;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(folder, names[i]);

        if (!str_has_suffix(str_from(names[i]), STR(".tgz")) || stat(path, &st) < 0)
            continue;
        (*ret_n)++;
        if (is_later(st.st_mtim, *ret_newest))
            *ret_newest = st.st_mtim;
    }
    fs_names_free(names, n);
    return 0;
}

static int refresh(struct registry_server *s, struct err **err)
{
    CLEANUP(buf_done) struct buf fresh = BUF_INIT(INDEX_TEXT_MAX);
    struct timespec newest;
    size_t n;
    int r = look(s->folder, &newest, &n, err);

    if (r < 0 || (s->index.n > 0 && n == s->archives && !is_later(newest, s->as_of)))
        return r;
    r = registry_index_folder(s->folder, &(struct registry_index_options){ 0 }, &fresh, err);
    if (r < 0)
        return r;
    buf_clear(&s->index);
    buf_addstr(&s->index, buf_str(&fresh));
    s->as_of = newest;
    s->archives = n;
    return buf_check(&s->index, err);
}

static void send_index(struct registry_server *s, const struct httpd_request *rq, struct httpd_reply *reply)
{
    CLEANUP(err_free) struct err *err = NULL;
    char hex[SHA256_HEX], etag[SHA256_HEX + 2];

    if (refresh(s, &err) < 0) {
        log_warn("no index", LOG_ERR(err));
        reply->status = 500;
        buf_addf(&reply->body, "%s\n", err_message(err));
        return;
    }
    sha256_hex(buf_str(&s->index), hex);
    snprintf(etag, sizeof(etag), "\"%.32s\"", hex);
    reply->content_type = "application/yaml";
    if (!httpd_reply_unchanged(rq, reply, etag))
        buf_addstr(&reply->body, buf_str(&s->index));
}

static void send_file(struct registry_server *s, const struct httpd_request *rq, struct str name,
                      struct httpd_reply *reply)
{
    CLEANUP(free_ptr) char *z = str_dup(name);
    CLEANUP(free_ptr) char *path = fs_join(s->folder, z);
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    char etag[64];

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        reply->status = 404;
        buf_adds(&reply->body, "not found\n");
        return;
    }
    snprintf(etag, sizeof(etag), "\"%llx-%llx-%llx\"", (unsigned long long)st.st_ino,
             (unsigned long long)st.st_size,
             (unsigned long long)st.st_mtim.tv_sec * 1000000000ull + (unsigned long long)st.st_mtim.tv_nsec);
    reply->content_type =
        str_has_suffix(name, STR(".tgz")) ? "application/gzip" : "text/plain; charset=utf-8";
    httpd_reply_file(rq, reply, fd, st.st_size, etag);
    fd = -1;
}

static bool is_served(struct str name)
{
    return fs_path_is_below(name) && str_find_char(name, '/') == STR_NPOS &&
           (str_has_suffix(name, STR(".tgz")) || str_has_suffix(name, STR(".tgz.prov")));
}

static void on_request(void *ctx, const struct httpd_request *rq, struct httpd_reply *reply)
{
    struct registry_server *s = ctx;
    struct str name = str_trim_prefix(rq->path, STR("/"));

    if (str_eq(name, STR("index.yaml"))) {
        send_index(s, rq, reply);
    } else if (str_eq(name, STR("healthz"))) {
        buf_adds(&reply->body, "ok\n");
    } else if (is_served(name)) {
        send_file(s, rq, name, reply);
    } else {
        reply->status = 404;
        buf_adds(&reply->body, "not found\n");
    }
    log_debug("request", LOG_STR("path", rq->path), LOG_INT("status", reply->status));
}

int registry_serve(const char *folder, const char *address, struct registry_server **ret, struct err **err)
{
    struct registry_server *s = xcalloc(1, sizeof(*s));
    int r;

    s->folder = xstrdup(folder);
    s->index = BUF_INIT(INDEX_TEXT_MAX);
    r = refresh(s, err);
    if (r == 0)
        r = httpd_start(&(struct httpd_options){ .address = address, .handler = on_request, .ctx = s },
                        &s->httpd, err);
    if (r < 0) {
        registry_server_stop(s);
        return r;
    }
    *ret = s;
    return 0;
}

int registry_server_port(const struct registry_server *s)
{
    return httpd_port(s->httpd);
}

void registry_server_stop(struct registry_server *s)
{
    if (!s)
        return;
    httpd_stop(s->httpd);
    buf_done(&s->index);
    free(s->folder);
    free(s);
}

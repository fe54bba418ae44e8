/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "mirror/serve_int.h"

/* Pushing a blob (distribution-spec 1.1, "Pushing blobs"): POST begins, PATCH adds, PUT ends and names the digest; or one POST with
 * the digest. What has come waits in uploads/<id>; an upload that was given up goes after an hour. */
#define ABANDONED_S 3600

static char *upload_file(struct mirror *m, struct str id)
{
    return mirror_file(m, "uploads/%.*s", STR_ARG(id));
}

static bool is_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!ascii_is_alnum(id.p[i]) && id.p[i] != '-')
            return false;
    return id.n == 36;
}

static void refuse(struct httpd_reply *reply, struct err *err)
{
    if (err_code(err) == ERRC_DIGEST)
        mirror_distribution_error(reply, 400, "DIGEST_INVALID", "%s", err_message(err));
    else if (err_code(err) == ERRC_LIMIT)
        mirror_distribution_error(reply, 413, "SIZE_INVALID", "%s", err_message(err));
    else
        mirror_distribution_error(reply, 507, "BLOB_UPLOAD_INVALID", "the blob cannot be kept: %s",
                                  err_message(err));
    err_free(err);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

static int read_fd(int fd, struct buf *out, struct err **err)
{
    char part[64 * 1024];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(fd, part, sizeof(part), at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "upload");
        buf_add(out, part, (size_t)n);
        at += n;
    }
    return buf_check(out, err);
}

/* Appends the body to the upload; its new size goes to *ret_size. */
static int append_body(const struct httpd_request *rq, int fd, int64_t *ret_size, struct err **err)
{
    CLEANUP(buf_done) struct buf body = BUF_INIT(MIRROR_BLOB_MAX);
    struct stat st;
    int r = rq->body_fd < 0 ? 0 : read_fd(rq->body_fd, &body, err);

    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return err_errno(err, errno, "upload");
    if ((uint64_t)st.st_size + body.n > MIRROR_BLOB_MAX)
        return err_set(err, ERRC_LIMIT, "a blob may have %zu bytes", MIRROR_BLOB_MAX);
    for (size_t at = 0; at < body.n;) {
        ssize_t n = pwrite(fd, body.p + at, body.n - at, st.st_size + (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "upload");
        at += (size_t)n;
    }
    *ret_size = st.st_size + (int64_t)body.n;
    return 0;
}

static int keep(struct mirror *m, int fd, struct str digest, struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(MIRROR_BLOB_MAX);
    struct str want = str_trim_prefix(digest, STR("sha256:"));
    char hex[SHA256_HEX];
    int r;

    if (!str_has_prefix(digest, STR("sha256:")) || !mirror_digest_valid(want))
        return err_set(err, ERRC_DIGEST, "not a sha256 digest");
    r = fd < 0 ? 0 : read_fd(fd, &bytes, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&bytes), hex);
    if (!str_eq(want, str_from(hex)))
        return err_set(err, ERRC_DIGEST, "the bytes have sha256:%s, the request says %.*s", hex,
                       STR_ARG(digest));
    r = mirror_lock(m, err);
    if (r < 0)
        return r;
    r = mirror_put(m, buf_str(&bytes), hex, err);
    mirror_unlock(m);
    return r;
}

/* ---- answers ------------------------------------------------------------------------------------------------------------ */

static void send_created(struct httpd_reply *reply, struct str name, struct str digest)
{
    reply->status = 201;
    httpd_reply_header(reply, "Location", "/v2/%.*s/blobs/%.*s", STR_ARG(name), STR_ARG(digest));
    httpd_reply_header(reply, "Docker-Content-Digest", "%.*s", STR_ARG(digest));
}

static void send_progress(struct httpd_reply *reply, int status, struct str name, struct str id, int64_t size)
{
    reply->status = status;
    httpd_reply_header(reply, "Location", "/v2/%.*s/blobs/uploads/%.*s", STR_ARG(name), STR_ARG(id));
    httpd_reply_header(reply, "Range", "0-%lld", (long long)MAX(size - 1, (int64_t)0));
    httpd_reply_header(reply, "Docker-Upload-UUID", "%.*s", STR_ARG(id));
}

/* Removes uploads that were given up; how many are left. */
static size_t count_uploads(struct mirror *m)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "uploads");
    int64_t now = clock_wall().s;
    size_t n, left = 0;
    char **names;

    if (fs_list_dir(dir, &names, &n, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(dir, names[i]);
        struct stat st;

        if (stat(path, &st) == 0 && st.st_mtim.tv_sec < now - ABANDONED_S)
            unlink(path);
        else
            left++;
    }
    fs_names_free(names, n);
    return left;
}

static void begin(struct mirror *m, struct str name, struct httpd_reply *reply)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "uploads");
    CLEANUP(free_ptr) char *path = NULL;
    CLEANUP(fd_close) int fd = -1;
    struct err *err = NULL;
    char id[37];

    random_uuid(id);
    path = upload_file(m, str_from(id));
    if (count_uploads(m) >= MIRROR_UPLOADS_MAX) {
        mirror_distribution_error(reply, 429, "TOOMANYREQUESTS", "too many uploads have begun");
        return;
    }
    if (fs_make_dirs(dir, 0700, &err) == 0)
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && !err)
        err_errno(&err, errno, "%s", path);
    if (err)
        refuse(reply, err);
    else
        send_progress(reply, 202, name, str_from(id), 0);
}

/* A blob that another repository of this mirror has is here already. */
static bool mount(struct mirror *m, const struct httpd_request *rq, struct str name,
                  struct httpd_reply *reply)
{
    struct str digest = httpd_request_query(rq, "mount");

    if (!str_has_prefix(digest, STR("sha256:")) || !mirror_has(m, str_trim_prefix(digest, STR("sha256:"))))
        return false;
    mirror_touch(m, str_trim_prefix(digest, STR("sha256:")));
    send_created(reply, name, digest);
    return true;
}

static void post(struct mirror *m, const struct httpd_request *rq, struct str name, struct httpd_reply *reply)
{
    struct str digest = httpd_request_query(rq, "digest");
    struct err *err = NULL;

    if (digest.p && keep(m, rq->body_fd, digest, &err) < 0)
        refuse(reply, err);
    else if (digest.p)
        send_created(reply, name, digest);
    else if (!mount(m, rq, name, reply))
        begin(m, name, reply);
}

/* "Content-Range: 10-19" of a chunk must begin where the upload ends. */
static bool is_next(const struct httpd_request *rq, int fd)
{
    struct str range = httpd_request_header(rq, "Content-Range"), first;
    struct stat st;
    int64_t from;

    if (range.n == 0)
        return true;
    return str_split(&range, '-', &first) && str_to_int64(first, &from) && fstat(fd, &st) == 0 &&
           from == st.st_size;
}

static void go_on(struct mirror *m, const struct httpd_request *rq, struct str name, struct str id, int fd,
                  struct httpd_reply *reply)
{
    CLEANUP(free_ptr) char *path = upload_file(m, id);
    bool last = str_eq(rq->method, STR("PUT"));
    struct str digest = httpd_request_query(rq, "digest");
    struct err *err = NULL;
    int64_t size = 0;

    if (!is_next(rq, fd)) {
        struct stat st = { 0 };

        fstat(fd, &st);
        send_progress(reply, 416, name, id, st.st_size);
        return;
    }
    if (append_body(rq, fd, &size, &err) == 0 && last)
        IGNORE_ERROR(keep(m, fd, digest, &err));
    if (err) {
        refuse(reply, err);
        return;
    }
    if (last) {
        unlink(path);
        send_created(reply, name, digest);
    } else {
        send_progress(reply, 202, name, id, size);
    }
}

void mirror_upload(struct mirror *m, const struct httpd_request *rq, struct str name, struct str id,
                   struct httpd_reply *reply)
{
    CLEANUP(free_ptr) char *path = upload_file(m, id);
    CLEANUP(fd_close) int fd = -1;
    struct stat st = { 0 };

    if (id.n == 0 && str_eq(rq->method, STR("POST"))) {
        post(m, rq, name, reply);
        return;
    }
    if (is_id(id))
        fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        mirror_distribution_error(reply, 404, "BLOB_UPLOAD_UNKNOWN", "there is no such upload");
    } else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        mirror_distribution_error(reply, 409, "BLOB_UPLOAD_INVALID", "another request writes to this upload");
    } else if (str_eq(rq->method, STR("DELETE"))) {
        unlink(path);
        reply->status = 204;
    } else if (str_eq(rq->method, STR("PATCH")) || str_eq(rq->method, STR("PUT"))) {
        go_on(m, rq, name, id, fd, reply);
    } else if (str_eq(rq->method, STR("GET"))) {
        fstat(fd, &st);
        send_progress(reply, 204, name, id, st.st_size);
    } else {
        mirror_distribution_error(reply, 405, "UNSUPPORTED", "not for uploads");
    }
}

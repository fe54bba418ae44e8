/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "mirror/mirror_int.h"

#define LOG_MODULE "mirror"
#include "base/log.h"

#define PACK_MEMORY_MAX (4 * MIRROR_TAR_MAX + MIRROR_TEXTS_MAX)
#define LIKE_MAX 3 /* neighbours that are looked at for one that is kept as a pack */

char *mirror_object_path(struct mirror *m, struct str digest, const char *suffix)
{
    return mirror_file(m, "objects/%.2s/%.*s%s", digest.p, STR_ARG(digest), suffix);
}

bool mirror_has(struct mirror *m, struct str digest)
{
    CLEANUP(free_ptr) char *whole = NULL;
    CLEANUP(free_ptr) char *packed = NULL;

    if (!mirror_digest_valid(digest))
        return false;
    whole = mirror_object_path(m, digest, "");
    packed = mirror_object_path(m, digest, ".pack");
    return fs_is_file(whole) || fs_is_file(packed);
}

/* ---- reading -------------------------------------------------------------------------------------------------------- */

/* A pack with all texts it needs. */
struct opened {
    struct pack pack;
    struct str texts[MIRROR_SOURCES_MAX + 1];
    struct buf tar;
};

static int read_pack(struct mirror *m, struct arena *a, struct str digest, struct pack *ret, struct err **err)
{
    CLEANUP(free_ptr) char *path = mirror_object_path(m, digest, ".pack");
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(2 * MIRROR_TAR_MAX);
    int r = fs_read_file(path, &bytes, err);

    if (r == 0)
        r = pack_parse(a, buf_str(&bytes), ret, err);
    return r < 0 ? err_wrap(err, r, "object %.*s", STR_ARG(digest)) : 0;
}

int mirror_pack_sources(struct mirror *m, struct arena *a, struct str digest, struct str **ret, size_t *ret_n,
                        struct err **err)
{
    struct pack p;
    int r = read_pack(m, a, digest, &p, err);

    if (r < 0)
        return r;
    *ret = p.sources;
    *ret_n = p.n_sources;
    return 0;
}

static int open_pack(struct mirror *m, struct arena *a, struct str digest, struct opened *ret,
                     struct err **err)
{
    int r = read_pack(m, a, digest, &ret->pack, err);

    if (r < 0)
        return r;
    ret->texts[0] = ret->pack.text;
    for (size_t i = 0; i < ret->pack.n_sources; i++) {
        struct pack source;

        r = read_pack(m, a, ret->pack.sources[i], &source, err);
        if (r == 0 && arena_failed(a))
            r = err_set(err, ERRC_LIMIT, "its pieces take more than %zu bytes", PACK_MEMORY_MAX);
        if (r < 0)
            return err_wrap(err, r, "object %.*s", STR_ARG(digest));
        ret->texts[i + 1] = source.text;
    }
    return pack_tar(&ret->pack, ret->texts, &ret->tar, err);
}

static int unpack(struct mirror *m, struct str digest, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(PACK_MEMORY_MAX);
    struct opened o = { .tar = BUF_INIT(MIRROR_TAR_MAX) };
    int r = open_pack(m, a, digest, &o, err);

    if (r == 0)
        r = archive_gzip_join(o.pack.header, o.pack.deflater, buf_str(&o.tar), out, err);
    buf_done(&o.tar);
    return r;
}

int mirror_read(struct mirror *m, struct str digest, struct buf *out, struct err **err)
{
    CLEANUP(free_ptr) char *whole = NULL;
    size_t start = out->n;
    char hex[SHA256_HEX];
    int r;

    if (!mirror_has(m, digest))
        return err_set(err, ERRC_NOT_FOUND, "nothing is kept under sha256:%.*s", STR_ARG(digest));
    whole = mirror_object_path(m, digest, "");
    r = fs_is_file(whole) ? fs_read_file(whole, out, err) : unpack(m, digest, out, err);
    if (r < 0)
        return r;
    sha256_hex(str_sub(buf_str(out), start, out->n), hex);
    if (!str_eq(str_from(hex), digest))
        return err_set(err, ERRC_DIGEST, "object %.*s is damaged: its bytes have sha256 %s", STR_ARG(digest),
                       hex);
    return 0;
}

/* ---- the cache of archives put together again ------------------------------------------------------------------------ */

struct cached {
    char *path;
    int64_t size, used;
};

static int compare_used(const void *x, const void *y)
{
    const struct cached *a = x, *b = y;

    return a->used < b->used ? -1 : a->used > b->used;
}

/* Removes what was not used for longest until `room` more bytes fit. */
static void trim_cache(struct mirror *m, size_t room)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "cache");
    struct cached *all;
    int64_t total = (int64_t)room;
    char **names;
    size_t n;

    if (fs_list_dir(dir, &names, &n, NULL) < 0)
        return;
    all = xcalloc(n + 1, sizeof(*all));
    for (size_t i = 0; i < n; i++) {
        struct stat st = { 0 };

        all[i].path = fs_join(dir, names[i]);
        if (stat(all[i].path, &st) == 0)
            all[i] = (struct cached){ all[i].path, st.st_size, st.st_mtim.tv_sec };
        total += st.st_size;
    }
    qsort(all, n, sizeof(*all), compare_used);
    for (size_t i = 0; i < n; i++) {
        if (total > (int64_t)m->cache_max && unlink(all[i].path) == 0)
            total -= all[i].size;
        free(all[i].path);
    }
    free(all);
    fs_names_free(names, n);
}

static void write_cache(struct mirror *m, const char *path, struct str bytes)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr) char *dir = mirror_file(m, "cache");
    int r = fs_make_dirs(dir, 0755, &err);

    trim_cache(m, bytes.n);
    if (r == 0)
        r = fs_write_file(path, bytes, 0644, &err);
    if (r < 0)
        log_debug("not cached", LOG_ERR(err));
}

static int open_file(const char *path, int64_t *ret_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        *ret_size = st.st_size;
    return fd;
}

int mirror_open_bytes(struct str bytes, int *ret_fd, int64_t *ret_size, struct err **err)
{
    CLEANUP(fd_close) int fd = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_errno(err, errno, "/tmp");
    for (size_t at = 0; at < bytes.n;) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "/tmp");
        at += (size_t)n;
    }
    *ret_size = (int64_t)bytes.n;
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int mirror_open_object(struct mirror *m, struct str digest, int *ret_fd, int64_t *ret_size, struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(MIRROR_BLOB_MAX);
    CLEANUP(free_ptr) char *path = NULL;
    CLEANUP(free_ptr) char *cached = NULL;
    int r;

    if (!mirror_has(m, digest))
        return err_set(err, ERRC_NOT_FOUND, "nothing is kept under sha256:%.*s", STR_ARG(digest));
    path = mirror_object_path(m, digest, "");
    cached = mirror_file(m, "cache/%.*s", STR_ARG(digest));
    *ret_fd = open_file(path, ret_size);
    if (*ret_fd < 0) {
        *ret_fd = open_file(cached, ret_size);
        if (*ret_fd >= 0)
            futimens(*ret_fd, NULL);
    }
    if (*ret_fd >= 0)
        return 0;
    r = mirror_read(m, digest, &bytes, err);
    if (r < 0)
        return r;
    write_cache(m, cached, buf_str(&bytes));
    *ret_fd = open_file(cached, ret_size);
    return *ret_fd >= 0 ? 0 : mirror_open_bytes(buf_str(&bytes), ret_fd, ret_size, err);
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

int mirror_put(struct mirror *m, struct str bytes, char hex[SHA256_HEX], struct err **err)
{
    CLEANUP(free_ptr) char *path = NULL;

    sha256_hex(bytes, hex);
    if (mirror_has(m, str_from(hex)))
        return 0;
    path = mirror_object_path(m, str_from(hex), "");
    return mirror_write_file(m, path, bytes, err);
}

/* 1 when it was written as a pack. */
static int put_pack(struct mirror *m, struct str bytes, struct str like, const char *path, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(2 * PACK_MEMORY_MAX);
    CLEANUP(buf_done) struct buf packed = BUF_INIT(2 * MIRROR_TAR_MAX);
    struct opened o = { .tar = BUF_INIT(MIRROR_TAR_MAX) };
    struct pack_base base;
    struct pack p;
    int r = 0;

    if (like.n == 0 || open_pack(m, a, like, &o, NULL) == 0) {
        base = (struct pack_base){ like, buf_str(&o.tar), &o.pack, o.texts };
        r = pack_make(a, bytes, like.n ? &base : NULL, &p, &packed, err);
    }
    if (r == 1 && arena_used(a) > PACK_MEMORY_MAX)
        r = 0; /* it could not be read again */
    buf_done(&o.tar);
    if (r <= 0)
        return r;
    r = mirror_write_file(m, path, buf_str(&packed), err);
    return r < 0 ? r : 1;
}

static struct str find_pack(struct mirror *m, const struct str *like, size_t n)
{
    for (size_t i = 0; i < MIN(n, (size_t)LIKE_MAX); i++) {
        CLEANUP(free_ptr) char *path = mirror_object_path(m, like[i], ".pack");

        if (fs_is_file(path))
            return like[i];
    }
    return STR("");
}

int mirror_put_archive(struct mirror *m, struct str bytes, const struct str *like, size_t n_like,
                       char hex[SHA256_HEX], struct err **err)
{
    CLEANUP(free_ptr) char *path = NULL;
    struct str base = find_pack(m, like, n_like);
    int r;

    sha256_hex(bytes, hex);
    path = mirror_object_path(m, str_from(hex), ".pack");
    if (fs_is_file(path))
        return 0;
    r = put_pack(m, bytes, base, path, err);
    if (r == 0 && base.n > 0)
        r = put_pack(m, bytes, STR(""), path, err); /* too many sources, or nothing in common */
    if (r == 0)
        return mirror_put(m, bytes, hex, err);
    if (r == 1) { /* pushed as a blob before it was known to be an archive */
        CLEANUP(free_ptr) char *whole = mirror_object_path(m, str_from(hex), "");

        unlink(whole);
    }
    return r < 0 ? r : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "mirror/mirror_int.h"

#define PACK_MEMORY_MAX (4 * MIRROR_TAR_MAX + MIRROR_TEXTS_MAX)
#define TOUCH_S 600 /* an object that is wanted again is made younger, but not at every look */
#define LIKE_MAX 3  /* neighbours that are looked at for one that is kept as a pack */

char *mirror_object_path(struct mirror *m, struct str digest, const char *suffix)
{
    assert(digest.p && digest.n > 2);
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

static int read_pack_file(struct mirror *m, struct str digest, struct buf *out, struct err **err)
{
    CLEANUP(free_ptr) char *path = mirror_object_path(m, digest, ".pack");
    CLEANUP(free_ptr) char *pieces = mirror_object_path(m, digest, ".pieces");
    int r = fs_read_file(path, out, err);

    if (r != -ERRC_NOT_FOUND)
        return r;
    err_clear(err);
    return fs_read_file(pieces, out, err);
}

static int read_pack(struct mirror *m, struct arena *a, struct str digest, struct pack *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(2 * MIRROR_TAR_MAX);
    int r = read_pack_file(m, digest, &bytes, err);

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
    r = fs_read_file(whole, out, err);
    if (r == -ERRC_NOT_FOUND) {
        err_clear(err);
        r = unpack(m, digest, out, err);
    }
    if (r < 0)
        return r;
    sha256_hex(str_sub(buf_str(out), start, out->n), hex);
    if (!str_eq(str_from(hex), digest))
        return err_set(err, ERRC_DIGEST, "object %.*s is damaged: its bytes have sha256 %s", STR_ARG(digest),
                       hex);
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

static int make_room(struct mirror *m, size_t n, struct err **err)
{
    if (m->limit > 0 && m->used < 0)
        m->used = mirror_objects_bytes(m);
    m->full = m->limit > 0 && m->used + (int64_t)n > m->limit;
    if (m->full)
        return err_set(err, ERRC_LIMIT,
                       "the mirror is full: it takes %lld of %lld bytes, this would be %zu more",
                       (long long)m->used, (long long)m->limit, n);
    if (m->used >= 0)
        m->used += (int64_t)n;
    return 0;
}

static int write_object(struct mirror *m, const char *path, struct str bytes, struct err **err)
{
    int r = make_room(m, bytes.n, err);

    return r < 0 ? r : mirror_write_file(m, path, bytes, err);
}

static void touch_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && st.st_mtim.tv_sec < clock_wall().s - TOUCH_S)
        utimensat(AT_FDCWD, path, NULL, 0);
}

void mirror_touch(struct mirror *m, struct str digest)
{
    CLEANUP(free_ptr) char *whole = mirror_object_path(m, digest, "");
    CLEANUP(free_ptr) char *packed = mirror_object_path(m, digest, ".pack");

    touch_file(whole);
    touch_file(packed);
}

int mirror_put(struct mirror *m, struct str bytes, char hex[SHA256_HEX], struct err **err)
{
    CLEANUP(free_ptr) char *path = NULL;

    sha256_hex(bytes, hex);
    if (mirror_has(m, str_from(hex))) {
        mirror_touch(m, str_from(hex));
        return 0;
    }
    path = mirror_object_path(m, str_from(hex), "");
    return write_object(m, path, bytes, err);
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
    r = write_object(m, path, buf_str(&packed), err);
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

/* Pushed as a blob before it was known to be an archive. */
static void drop_whole(struct mirror *m, struct str digest)
{
    CLEANUP(free_ptr) char *path = mirror_object_path(m, digest, "");
    struct stat st;

    if (stat(path, &st) == 0 && unlink(path) == 0 && m->used >= 0)
        m->used -= st.st_size;
}

int mirror_put_archive(struct mirror *m, struct str bytes, const struct str *like, size_t n_like,
                       char hex[SHA256_HEX], struct err **err)
{
    CLEANUP(free_ptr) char *path = NULL;
    CLEANUP(free_ptr) char *pieces = NULL;
    struct str base = find_pack(m, like, n_like);
    int r;

    sha256_hex(bytes, hex);
    path = mirror_object_path(m, str_from(hex), ".pack");
    pieces = mirror_object_path(m, str_from(hex), ".pieces");
    if (fs_is_file(path))
        return 0;
    if (fs_is_file(pieces)) /* others point into these, and a new pack would have its pieces elsewhere */
        return mirror_put(m, bytes, hex, err);
    r = put_pack(m, bytes, base, path, err);
    if (r == 0 && base.n > 0)
        r = put_pack(m, bytes, STR(""), path, err); /* too many sources, or nothing in common */
    if (r == 0)
        return mirror_put(m, bytes, hex, err);
    if (r == 1)
        drop_whole(m, str_from(hex));
    return r < 0 ? r : 0;
}

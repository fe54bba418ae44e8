/* SPDX-License-Identifier: Apache-2.0 */
/* Loading an index: its text is read by the fastest reader that is certain of it, straight into the sink (sink.c), which
 * either fills a new file or collects what differs from the present one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "registry/arrival.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "registry/sink.h"

#define LOG_MODULE "registry"
#include "base/log.h"

struct str registry_file_stamp(struct arena *a, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return STR("");
    return arena_printf(a, "%lld-%lld.%09ld-%llu", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                        st.st_mtim.tv_nsec, (unsigned long long)st.st_ino);
}

/* How much of an index that is arriving is worth waking up for. */
#define ARRIVAL_STEP ((size_t)64 * KIB)

/* *n becomes what may be read now; 0 at the end. */
static int wait_for_bytes(struct index_source *s, size_t *n, struct err **err)
{
    size_t there;
    int r = index_arrival_wait(s->arrival, s->bytes + MIN(*n, ARRIVAL_STEP), &there);

    *n = MIN(*n, there - s->bytes);
    return r < 0 ? err_set(err, (enum errc) - r, "the index did not arrive") : 0;
}

int index_source_read(void *ctx, char *to, size_t n, struct err **err)
{
    struct index_source *s = ctx;
    ssize_t got;
    int r = s->arrival ? wait_for_bytes(s, &n, err) : 0;

    if (r < 0)
        return r;
    do
        got = read(s->fd, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(err, errno, "index");
    s->bytes += (size_t)got;
    if (s->bytes > s->max)
        return err_set(err, ERRC_LIMIT, "index is larger than the limit of %zu bytes", s->max);
    if (s->digest)
        digest_add(s->digest, (struct str){ to, (size_t)got });
    return (int)got;
}

/* What follows the document still counts for the digest. */
static int read_rest(struct index_source *s, struct err **err)
{
    char rest[64 * 1024];
    int r;

    while ((r = index_source_read(s, rest, sizeof(rest), err)) > 0)
        ;
    return r;
}

struct loading {
    const struct registry_load *load;
    struct registry_db *db;
    struct arena *arena;
    int fd;
    size_t max;
    struct index_arrival *arrival; /* NULL: the file is there */
    struct registry_fetched fetched;
    struct index_row before; /* of the present file */
    bool has_before;
    struct str digest;
};

typedef int (*read_fn)(struct index_source *from, struct index_sink *to, struct err **err);

/* 1: read; 0: this reader is not certain of the text. */
static int read_with(struct loading *l, read_fn reader, struct index_sink *sink, struct err **err)
{
    CLEANUP(digest_free)
    struct digest *digest = l->digest.n || l->arrival ? NULL : digest_new(DIGEST_SHA256);
    struct index_source from = { .fd = l->fd, .max = l->max, .digest = digest, .arrival = l->arrival };
    char hex[SHA256_HEX];
    int r;

    if (lseek(l->fd, 0, SEEK_SET) < 0)
        return err_errno(err, errno, "%s", l->load->path);
    r = reader(&from, sink, err);
    if (r == 1) {
        int rest = read_rest(&from, err);

        if (rest < 0)
            return rest;
    }
    if (r == 1 && digest) {
        digest_finish_hex(digest, hex);
        l->digest = arena_dup(l->arena, str_from(hex));
    }
    return r;
}

/* The row that the index gets. */
static struct index_row make_row(const struct loading *l, const struct index_sink *sink)
{
    struct index_row row = { .fetched = l->fetched, .name = l->load->repository };

    row.fetched.digest = l->digest;
    row.fetched.figures = sink->figures;
    return row;
}

/* What is remembered of an index that was read while it arrived. */
static int complete(struct loading *l, struct err **err)
{
    int r = l->arrival ? index_arrival_finish(l->arrival, l->arena, &l->fetched, err) : 1;

    if (r == 1 && l->arrival) {
        l->fetched.index_stamp =
            registry_file_stamp(l->arena, l->load->path); /* a rename does not change it */
        l->digest = l->fetched.digest;
    }
    return r;
}

static int fill_with(struct loading *l, read_fn reader, struct registry_loaded *ret, struct err **err)
{
    CLEANUP(index_sink_free) struct index_sink *sink = NULL;
    struct index_row row;
    int r = index_sink_new_file(l->db, l->load->repository, &sink, err);

    if (r == 0)
        r = read_with(l, reader, sink, err);
    if (r == 1)
        r = complete(l, err);
    if (r <= 0)
        return r;
    row = make_row(l, sink);
    r = index_sink_publish(sink, &row, err);
    if (r < 0)
        return r;
    *ret = (struct registry_loaded){
        .figures = row.fetched.figures, .digest = l->digest, .all = true, .rows = sink->rows
    };
    index_sink_changed(sink, l->arena, &ret->changed, &ret->n_changed);
    return 1;
}

/* -ERRC_GONE: differs too much, or changed meanwhile: a new file is the better way. */
static int update_with(struct loading *l, read_fn reader, struct registry_loaded *ret, struct err **err)
{
    CLEANUP(index_sink_free) struct index_sink *sink = NULL;
    struct index_row row;
    int r = index_sink_new_update(l->db, l->load->repository, &sink, err);

    if (r == 0)
        r = read_with(l, reader, sink, err);
    if (r <= 0)
        return r;
    row = make_row(l, sink);
    r = index_sink_apply(sink, &row, &l->before, err);
    if (r < 0)
        return r;
    *ret =
        (struct registry_loaded){ .figures = row.fetched.figures, .digest = l->digest, .rows = sink->rows };
    index_sink_changed(sink, l->arena, &ret->changed, &ret->n_changed);
    return 1;
}

static int load_with(struct loading *l, read_fn reader, struct registry_loaded *ret, struct err **err)
{
    struct err *cause = NULL;
    int r = l->has_before ? update_with(l, reader, ret, &cause) : -ERRC_GONE;

    if (r >= 0 || r != -ERRC_GONE) {
        if (err)
            *err = cause;
        else
            err_free(cause);
        return r;
    }
    err_free(cause);
    return fill_with(l, reader, ret, err);
}

/* JSON begins with a brace; everything else is tried as plain block style. */
static int read_fast(struct index_source *from, struct index_sink *to, struct err **err)
{
    char head[64];
    size_t there;
    int r = from->arrival ? index_arrival_wait(from->arrival, sizeof(head), &there) : 0;
    ssize_t n = r < 0 ? 0 : pread(from->fd, head, sizeof(head), 0);
    struct str start = str_trim((struct str){ head, n > 0 ? (size_t)n : 0 });

    if (r < 0)
        return err_set(err, (enum errc) - r, "the index did not arrive");
    return str_has_prefix(start, STR("{")) ? index_read_json(from, to, err) : index_read_block(from, to, err);
}

/* libyaml has the last word. */
static int load_text(struct loading *l, struct registry_loaded *ret, struct err **err)
{
    int r = load_with(l, read_fast, ret, err);

    if (r != 0)
        return r;
    log_debug("index is read by libyaml", LOG_STR("repository", l->load->repository));
    return load_with(l, index_read_yaml, ret, err);
}

/* The same bytes: only what came with them may differ. */
static int keep(struct loading *l, struct registry_loaded *ret, struct err **err)
{
    const struct registry_fetched *now = &l->fetched, *was = &l->before.fetched;
    struct index_row row = l->before;

    *ret = (struct registry_loaded){ .figures = was->figures, .digest = was->digest, .unchanged = true };
    row.fetched = *now;
    if (now->etag.n + now->last_modified.n == 0) {
        row.fetched.etag = was->etag;
        row.fetched.last_modified = was->last_modified;
    }
    now = &row.fetched;
    row.fetched.digest = was->digest;
    row.fetched.figures = was->figures;
    if (str_eq(now->url, was->url) && str_eq(now->etag, was->etag) &&
        str_eq(now->last_modified, was->last_modified) && str_eq(now->index_stamp, was->index_stamp))
        return 0;
    ret->rows = 1;
    return index_replace_row(l->db, &row, &l->before, err);
}

static int hash_file(struct loading *l, struct err **err)
{
    CLEANUP(digest_free) struct digest *digest = digest_new(DIGEST_SHA256);
    struct index_source from = { .fd = l->fd, .max = l->max, .digest = digest };
    char hex[SHA256_HEX];
    int r = read_rest(&from, err);

    if (r < 0)
        return r;
    digest_finish_hex(digest, hex);
    l->digest = arena_dup(l->arena, str_from(hex));
    return 0;
}

static int load(struct loading *l, struct registry_loaded *ret, struct err **err)
{
    int r = index_find_row(l->db, l->load->repository, l->arena, &l->before, &l->has_before, err);

    if (r < 0)
        return r;
    l->digest = l->fetched.digest;
    if (l->has_before && l->digest.n == 0)
        r = hash_file(l, err);
    if (r < 0)
        return r;
    if (l->has_before && str_eq(l->digest, l->before.fetched.digest)) {
        r = keep(l, ret, err);
        if (r != -ERRC_GONE)
            return r;
    }
    r = load_text(l, ret, err);
    return r < 0 ? r : 0;
}

int registry_index_load(struct registry_db *d, const struct registry_load *what, struct arena *a,
                        struct registry_loaded *ret, struct err **err)
{
    CLEANUP(fd_close) int fd = open(what->path, O_RDONLY | O_CLOEXEC);
    struct loading l = { .load = what, .db = d, .arena = a, .fd = fd, .fetched = what->fetched };
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", what->path);
    l.max = what->max ? what->max : INDEX_TEXT_MAX;
    index_load_lock(d, what->repository);
    r = load(&l, ret, err);
    index_load_unlock(d, what->repository);
    return r < 0 ? err_wrap(err, r, "index of repository %.*s", STR_ARG(what->repository)) : 0;
}

/* Why the download failed is what its reader has to tell, whatever it met. */
static int or_fetch_error(struct loading *l, int r, struct err **cause, struct err **err)
{
    struct registry_fetched ignored;
    struct err *why = NULL;
    int fetched = r == 1 ? 1 : index_arrival_finish(l->arrival, l->arena, &ignored, &why);

    if (fetched == 1) {
        if (err)
            *err = TAKE(*cause);
        return r < 0 ? err_wrap(err, r, "index of repository %.*s", STR_ARG(l->load->repository)) : r;
    }
    if (err)
        *err = TAKE(why);
    err_free(why);
    return fetched;
}

int index_fetch_and_load(struct registry_db *d, const struct registry_source *s, const char *path,
                         const struct registry_meanwhile *meanwhile, struct arena *a,
                         struct registry_loaded *ret, struct err **err)
{
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    CLEANUP(index_arrival_free) struct index_arrival *arrival = NULL;
    CLEANUP(err_free) struct err *cause = NULL;
    struct registry_load load = { .repository = s->name, .path = path };
    struct loading l = { .load = &load, .db = d, .arena = a, .fd = fd, .max = INDEX_TEXT_MAX };
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    r = index_arrival_start(s, path, &arrival, err);
    if (r < 0)
        return r;
    l.arrival = arrival;
    if (meanwhile)
        meanwhile->fn(meanwhile->ctx);
    index_load_lock(d, s->name);
    r = load_text(&l, ret, &cause);
    index_load_unlock(d, s->name);
    return or_fetch_error(&l, r, &cause, err);
}

int registry_index_follow(struct registry_db *d, struct str repository, struct str url, const char *path,
                          struct arena *a, struct err **err)
{
    struct registry_load load = { .repository = repository, .path = path };
    struct registry_fetched was;
    struct registry_loaded ignored;
    bool found;
    int r = registry_fetched_find(d, repository, a, &was, &found, err);

    load.fetched = (struct registry_fetched){ .url = url, .index_stamp = registry_file_stamp(a, path) };
    if (r < 0 || (found && load.fetched.index_stamp.n > 0 &&
                  str_eq(was.index_stamp, load.fetched.index_stamp) && str_eq(was.url, url)))
        return r;
    return registry_index_load(d, &load, a, &ignored, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "mirror/serve_int.h"
#include "yaml/yaml.h"

#define CHART_MEMORY_MAX (256 * MIB)
#define FOLDERS_MAX 64 /* indexes that are kept ready */
/* A file system may stamp two changes with the same time when they are so close. */
#define STAMP_DOUBT_NS ((int64_t)100 * 1000 * 1000)

/* ---- the text ------------------------------------------------------------------------------------------------------------ */

static struct value with_url(struct arena *a, const struct mirror_record *r)
{
    struct value entry = value_copy_maps(a, r->entry), *urls = ARENA_ARRAY(a, struct value, 1);

    urls[0] = value_from_str(arena_printf(a, "%.*s-%.*s.tgz", STR_ARG(r->name), STR_ARG(r->version)));
    value_setz(entry, "urls", value_from_list(urls, 1));
    return entry;
}

/* "  web:\n  - apiVersion: …": one chart, indented as below `entries`. */
static int print_chart(struct mirror *m, struct str path, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(CHART_MEMORY_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    struct value_list versions = VALUE_LIST_INIT(a);
    struct value root = value_new_map(a), entries = value_new_map(a);
    struct mirror_record *records;
    size_t n;
    int r = mirror_records(m, a, path, &records, &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        if (records[i].archive.n > 0)
            value_list_add(&versions, with_url(a, &records[i]));
    if (versions.n == 0)
        return 0;
    value_set(entries, str_basename(path), value_list_done(&versions));
    value_setz(root, "entries", entries);
    r = yml_print(root, &text, err);
    if (r == 0)
        buf_addstr(out, str_trim_prefix(buf_str(&text), STR("entries:\n")));
    return r < 0 ? err_wrap(err, r, "%.*s", STR_ARG(path)) : 0;
}

int mirror_index(struct mirror *m, struct str folder, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(CHART_MEMORY_MAX);
    struct str *paths;
    size_t n, empty;
    int r = mirror_paths(m, a, &paths, &n, err);

    if (r < 0)
        return r;
    buf_adds(out, "apiVersion: v1\nentries:\n");
    empty = out->n;
    for (size_t i = 0; i < n && r == 0; i++)
        if (str_eq(str_dirname(paths[i]), folder))
            r = print_chart(m, paths[i], out, err);
    if (r < 0)
        return r;
    if (out->n == empty && !out->failed) {
        buf_truncate(out, out->n - 1);
        buf_adds(out, " {}\n");
    }
    buf_adds(out, "generated: \"");
    clock_format_rfc3339_nano(clock_wall(), out);
    buf_adds(out, "\"\n");
    return buf_check(out, err);
}

/* ---- ready to be sent --------------------------------------------------------------------------------------------------- */

struct stamp {
    char *dir;
    int64_t changed; /* ns; -1: it was not there */
};
struct ready {
    char *folder;
    struct stamp *stamps; /* of the folders that decide: a new or gone file changes its folder */
    size_t n, cap;
    int fd;
    int64_t size;
    char etag[SHA256_HEX + 2];
};
struct mirror_index_cache {
    struct mirror *mirror;
    pthread_mutex_t lock;
    struct ready ready[FOLDERS_MAX];
    size_t n, next;
};

static int64_t changed_at(const char *dir)
{
    struct stat st;

    return stat(dir, &st) < 0 ? -1 : st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static bool is_current(const struct ready *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->stamps[i].changed < 0 || changed_at(x->stamps[i].dir) != x->stamps[i].changed)
            return false;
    return x->n > 0;
}

static void add_stamp(struct ready *x, char *dir, int64_t now)
{
    int64_t changed = changed_at(dir);

    ARRAY_GROW(x->stamps, x->cap, x->n + 1);
    x->stamps[x->n++] = (struct stamp){ dir, changed > now - STAMP_DOUBT_NS ? -1 : changed };
}

/* Before the index is read, so that a later change is seen. */
static int take_stamps(struct mirror *m, struct ready *x, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(CHART_MEMORY_MAX);
    struct wall_time wall = clock_wall();
    int64_t now = wall.s * 1000000000 + wall.ns;
    struct str *paths;
    size_t n;
    int r = mirror_paths(m, a, &paths, &n, err);

    if (r < 0)
        return r;
    add_stamp(x, mirror_file(m, "charts%s%s", *x->folder ? "/" : "", x->folder), now);
    for (size_t i = 0; i < n; i++)
        if (str_eq(str_dirname(paths[i]), str_from(x->folder)))
            add_stamp(x, mirror_file(m, "charts/%.*s", STR_ARG(paths[i])), now);
    return 0;
}

static void ready_done(struct ready *x)
{
    for (size_t i = 0; i < x->n; i++)
        free(x->stamps[i].dir);
    free(x->stamps);
    free(x->folder);
    if (x->fd >= 0)
        close(x->fd);
    *x = (struct ready){ .fd = -1 };
}

static int make_ready(struct mirror *m, struct str folder, struct ready *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    struct ready x = { .folder = str_dup(folder), .fd = -1 };
    char hex[SHA256_HEX];
    int r = take_stamps(m, &x, err);

    if (r == 0)
        r = mirror_index(m, folder, &text, err);
    if (r == 0)
        r = mirror_open_bytes(buf_str(&text), &x.fd, &x.size, err);
    if (r < 0) {
        ready_done(&x);
        return r;
    }
    sha256_hex(buf_str(&text), hex);
    snprintf(x.etag, sizeof(x.etag), "\"%.32s\"", hex);
    *ret = x;
    return 0;
}

struct mirror_index_cache *mirror_index_cache_new(struct mirror *m)
{
    struct mirror_index_cache *c = xcalloc(1, sizeof(*c));

    c->mirror = m;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void mirror_index_cache_free(struct mirror_index_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        ready_done(&c->ready[i]);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct ready *find_place(struct mirror_index_cache *c, struct str folder)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(str_from(c->ready[i].folder), folder))
            return &c->ready[i];
    if (c->n < FOLDERS_MAX) {
        c->ready[c->n].fd = -1;
        return &c->ready[c->n++];
    }
    c->next = (c->next + 1) % FOLDERS_MAX;
    return &c->ready[c->next];
}

static int open_locked(struct mirror_index_cache *c, struct str folder, int *ret_fd, int64_t *ret_size,
                       char *etag, struct err **err)
{
    struct ready *x = find_place(c, folder), fresh;

    if (x->fd < 0 || !str_eq(str_from(x->folder), folder) || !is_current(x)) {
        int r = make_ready(c->mirror, folder, &fresh, err);

        if (r < 0)
            return r;
        ready_done(x);
        *x = fresh;
    }
    *ret_fd = fcntl(x->fd, F_DUPFD_CLOEXEC, 0);
    *ret_size = x->size;
    memcpy(etag, x->etag, sizeof(x->etag));
    return *ret_fd < 0 ? err_errno(err, errno, "index") : 0;
}

int mirror_index_cache_open(struct mirror_index_cache *c, struct str folder, int *ret_fd, int64_t *ret_size,
                            char etag[SHA256_HEX + 2], struct err **err)
{
    int r;

    pthread_mutex_lock(&c->lock);
    r = open_locked(c, folder, ret_fd, ret_size, etag, err);
    pthread_mutex_unlock(&c->lock);
    return r;
}

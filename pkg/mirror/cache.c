/* SPDX-License-Identifier: Apache-2.0 */
/* Archives put together again, so that they can be sent from a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "mirror/mirror_int.h"

#define LOG_MODULE "mirror"
#include "base/log.h"

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

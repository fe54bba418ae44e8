/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "mirror/mirror_int.h"

#define MARK "pintle-mirror"
#define ABANDONED_S 3600
#define MARK_TEXT "pintle-mirror 1\n"

char *mirror_file(const struct mirror *m, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *name = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&name, fmt, args) < 0)
        abort();
    va_end(args);
    return fs_join(m->folder, name);
}

bool mirror_digest_valid(struct str digest)
{
    for (size_t i = 0; i < digest.n; i++)
        if (!ascii_is_digit(digest.p[i]) && !(digest.p[i] >= 'a' && digest.p[i] <= 'f'))
            return false;
    return digest.n == SHA256_HEX - 1;
}

/* So that a power cut cannot keep a record and lose what it names. */
static int sync_folder_of(const char *path, struct err **err)
{
    CLEANUP(free_ptr) char *dir = str_dup(str_dirname(str_from(path)));
    CLEANUP(fd_close) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 || fsync(fd) < 0 ? err_errno(err, errno, "%s", dir) : 0;
}

int mirror_write_file(struct mirror *m, const char *path, struct str content, struct err **err)
{
    CLEANUP(free_ptr) char *dir = str_dup(str_dirname(str_from(path)));
    int r = fs_make_dirs(dir, 0755, err);

    UNUSED(m);
    if (r == 0)
        r = fs_write_file(path, content, 0644, err);
    return r < 0 ? r : sync_folder_of(path, err);
}

static int64_t folder_bytes(const char *dir)
{
    int64_t total = 0;
    char **names;
    size_t n;

    if (fs_list_dir(dir, &names, &n, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(dir, names[i]);
        struct stat st;

        if (lstat(path, &st) == 0)
            total += S_ISDIR(st.st_mode) ? folder_bytes(path) : st.st_size;
    }
    fs_names_free(names, n);
    return total;
}

int64_t mirror_objects_bytes(struct mirror *m)
{
    CLEANUP(free_ptr) char *path = mirror_file(m, "objects");

    return folder_bytes(path);
}

/* ---- the folder --------------------------------------------------------------------------------------------------- */

static bool is_marked(const char *folder)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
    CLEANUP(free_ptr) char *path = fs_join(folder, MARK);

    return fs_read_file(path, &text, NULL) == 0 && str_eq(buf_str(&text), STR(MARK_TEXT));
}

bool mirror_is_folder(const char *folder)
{
    return is_marked(folder);
}

/* What a writer that was killed while it began leaves does not make a folder somebody else's. */
static bool is_empty(const char *folder)
{
    bool empty = true;
    char **names;
    size_t n;

    if (fs_list_dir(folder, &names, &n, NULL) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        empty = empty && (strcmp(names[i], "lock") == 0 || strncmp(names[i], MARK ".", sizeof(MARK)) == 0);
    fs_names_free(names, n);
    return empty;
}

static int make_folder(const char *folder, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(folder, MARK);
    int r = fs_make_dirs(folder, 0755, err);

    if (r < 0)
        return r;
    if (!is_empty(folder))
        return err_set(err, ERRC_INVALID, "%s holds other things and is no mirror", folder);
    return fs_write_file(path, STR(MARK_TEXT), 0644, err);
}

int mirror_open(const char *folder, bool create, struct mirror **ret, struct err **err)
{
    struct mirror *m;
    int r = 0;

    if (!is_marked(folder)) {
        if (create)
            r = make_folder(folder, err);
        else if (fs_is_dir(folder))
            r = err_set(err, ERRC_INVALID, "%s is no mirror: `pintle mirror sync` makes one", folder);
        else
            r = err_set(err, ERRC_NOT_FOUND, "%s: no such folder", folder);
        if (r < 0)
            return r;
    }
    m = xcalloc(1, sizeof(*m));
    m->folder = xstrdup(folder);
    m->lock_fd = -1;
    m->cache_max = MIRROR_CACHE_MAX;
    m->used = -1;
    pthread_mutex_init(&m->lock, NULL);
    *ret = m;
    return 0;
}

void mirror_close(struct mirror *m)
{
    if (!m)
        return;
    if (m->lock_fd >= 0)
        close(m->lock_fd);
    pthread_mutex_destroy(&m->lock);
    free(m->folder);
    free(m);
}

void mirror_set_limit(struct mirror *m, int64_t bytes)
{
    m->limit = bytes;
    if (bytes > 0)
        m->cache_max = (size_t)MIN((int64_t)MIRROR_CACHE_MAX, bytes / 8);
}

int mirror_size(struct mirror *m, int64_t *ret, struct err **err)
{
    int r = mirror_lock(m, err);

    if (r < 0)
        return r;
    if (m->used < 0)
        m->used = mirror_objects_bytes(m);
    *ret = m->used;
    mirror_unlock(m);
    return 0;
}

bool mirror_is_full(struct mirror *m)
{
    bool full;

    pthread_mutex_lock(&m->lock);
    full = m->full;
    pthread_mutex_unlock(&m->lock);
    return full;
}

/* ---- writers -------------------------------------------------------------------------------------------------------- */

/* Temporary files below `dir`: nobody writes while the lock is held. */
static void sweep(const char *dir, int depth)
{
    char **names;
    size_t n;

    if (depth > FS_TREE_DEPTH_MAX || fs_list_dir(dir, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(dir, names[i]);

        if (str_has_suffix(str_from(names[i]), STR(".new")))
            unlink(path);
        else if (names[i][0] != '@' && fs_is_dir(path))
            sweep(path, depth + 1);
    }
    fs_names_free(names, n);
}

/* Downloads and copies of killed processes. Those of living ones are not told by a lock: they are younger. */
static void sweep_cache(struct mirror *m)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "cache");
    int64_t now = clock_wall().s;
    char **names;
    size_t n;

    if (fs_list_dir(dir, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(dir, names[i]);
        struct str name = str_from(names[i]);
        struct stat st;

        if ((str_has_suffix(name, STR(".new")) || str_has_suffix(name, STR(MIRROR_INDEX_SUFFIX))) &&
            lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mtim.tv_sec < now - ABANDONED_S)
            unlink(path);
    }
    fs_names_free(names, n);
}

/* What imports left that were killed: nobody holds their lock. */
static void sweep_staging(struct mirror *m)
{
    char **names;
    size_t n;

    if (fs_list_dir(m->folder, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(m->folder, names[i]);
        CLEANUP(free_ptr) char *lock = fs_join(path, "lock");
        CLEANUP(fd_close) int fd = -1;

        if (!str_has_prefix(str_from(names[i]), STR(MIRROR_STAGING)) || !fs_is_dir(path))
            continue;
        fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
            IGNORE_ERROR(fs_remove_tree(path, NULL));
    }
    fs_names_free(names, n);
}

static int lock_file(struct mirror *m, struct err **err)
{
    CLEANUP(free_ptr) char *path = mirror_file(m, "lock");
    int r;

    if (m->lock_fd < 0)
        m->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (m->lock_fd < 0)
        return err_errno(err, errno, "%s", path);
    do
        r = flock(m->lock_fd, LOCK_EX);
    while (r < 0 && errno == EINTR);
    return r < 0 ? err_errno(err, errno, "%s", path) : 0;
}

int mirror_hold(struct mirror *m, struct err **err)
{
    return lock_file(m, err);
}

int mirror_lock(struct mirror *m, struct err **err)
{
    int r;

    pthread_mutex_lock(&m->lock);
    r = lock_file(m, err);
    if (r < 0) {
        pthread_mutex_unlock(&m->lock);
        return r;
    }
    if (!m->swept) {
        CLEANUP(free_ptr) char *objects = mirror_file(m, "objects");
        CLEANUP(free_ptr) char *charts = mirror_file(m, "charts");

        sweep_staging(m);
        sweep_cache(m);
        sweep(m->folder, FS_TREE_DEPTH_MAX); /* itself alone: uploads and cache belong to servers */
        sweep(objects, 0);
        sweep(charts, 0);
        m->swept = true;
    }
    return 0;
}

void mirror_unlock(struct mirror *m)
{
    flock(m->lock_fd, LOCK_UN);
    pthread_mutex_unlock(&m->lock);
}

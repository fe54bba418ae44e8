/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

static int read_all(int fd, const char *path, struct buf *out, struct err **err)
{
    for (;;) {
        size_t room = out->max > out->n ? MIN(out->max - out->n, (size_t)64 * 1024) : 0;
        char extra, *to = room ? buf_reserve(out, room) : &extra;
        ssize_t n = read(fd, to, room ? room : 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, errno, "%s", path);
        if (n == 0)
            return 0;
        if (room == 0)
            return err_set(err, ERRC_LIMIT, "%s: larger than the limit of %zu bytes", path, out->max);
        buf_commit(out, (size_t)n);
    }
}

int fs_read_fd(int fd, const char *path, struct buf *out, struct err **err)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if ((uint64_t)st.st_size > out->max - MIN(out->n, out->max))
            return err_set(err, ERRC_LIMIT, "%s: larger than the limit of %zu bytes", path, out->max);
        if (st.st_size > 0)
            (void)buf_reserve(out, (size_t)st.st_size);
    }
    return read_all(fd, path, out, err);
}

int fs_read_file(const char *path, struct buf *out, struct err **err)
{
    CLEANUP(fd_close) int fd = -1;

    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, path, out, err);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    return fs_read_fd(fd, path, out, err);
}

static int write_all(int fd, struct str s)
{
    while (s.n > 0) {
        ssize_t n = write(fd, s.p, s.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        s = str_sub(s, (size_t)n, s.n);
    }
    return 0;
}

int fs_path_error(struct err **err, const char *verb, const char *path, int errnum)
{
    CLEANUP(free_ptr) char *text = xstrdup(strerror(errnum));

    text[0] = ascii_lower(text[0]); /* Go's spelling of system errors */
    return err_set(err,
                   errnum == ENOENT   ? ERRC_NOT_FOUND
                   : errnum == EACCES ? ERRC_FORBIDDEN
                                      : ERRC_IO,
                   "%s %s: %s", verb, path, text);
}

int fs_read_path(const char *path, struct buf *out, struct err **err)
{
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return fs_path_error(err, "open", path, errno);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        return fs_path_error(err, "read", path, EISDIR);
    return fs_read_file(path, out, err);
}

int fs_open_empty(const char *path, int mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
    struct stat st;

    if (fd < 0 || (fstat(fd, &st) == 0 && (st.st_size == 0 || ftruncate(fd, 0) == 0)))
        return fd;
    close(fd);
    return -1;
}

static char *temporary_name(const char *path)
{
    return xasprintf("%s.%08x.new", path, arc4random());
}

static int replace_file(const char *path, struct str content, int mode, bool sync, struct err **err)
{
    CLEANUP(free_ptr) char *temp = temporary_name(path);
    CLEANUP(fd_close) int fd = -1;
    int saved;

    fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_errno(err, errno, "%s", temp);
    if (write_all(fd, content) < 0 || (sync && fsync(fd) < 0) || rename(temp, path) < 0) {
        saved = errno;
        unlink(temp);
        return err_errno(err, saved, "%s", path);
    }
    return 0;
}

int fs_write_file(const char *path, struct str content, int mode, struct err **err)
{
    return replace_file(path, content, mode, true, err);
}

int fs_write_cache(const char *path, struct str content, int mode, struct err **err)
{
    return replace_file(path, content, mode, false, err);
}

struct fs_staged {
    int fd;
    char *path, *content;
    size_t n;
};

struct fs_staged *fs_stage(const char *path, struct str content, int mode)
{
    CLEANUP(free_ptr) char *folder = xstrdup(path);
    char *slash = strrchr(folder, '/');
    struct fs_staged *s;
    int fd;

    if (!slash)
        return NULL;
    slash[slash == folder] = '\0';
    fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (fd < 0 || write_all(fd, content) < 0 || fsync(fd) < 0) {
        fd_close(fd);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    *s = (struct fs_staged){ .fd = fd, .path = xstrdup(path), .content = str_dup(content), .n = content.n };
    return s;
}

bool fs_staged_put(struct fs_staged *s, struct str content)
{
    CLEANUP(free_ptr) char *temp = temporary_name(s->path);
    char open_file[32];

    if (!str_eq(content, (struct str){ s->content, s->n }))
        return false;
    snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", s->fd);
    if (linkat(AT_FDCWD, open_file, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) < 0)
        return false;
    if (rename(temp, s->path) == 0)
        return true;
    unlink(temp);
    return false;
}

void fs_staged_free(struct fs_staged *s)
{
    if (!s)
        return;
    fd_close(s->fd);
    free(s->path);
    free(s->content);
    free(s);
}

int fs_make_dirs(const char *path, int mode, struct err **err)
{
    CLEANUP(free_ptr) char *p = xstrdup(path);

    if (fs_is_dir(path))
        return 0;
    for (char *at = p + 1; *p; at++) {
        char c = *at;

        if (c != '/' && c != '\0')
            continue;
        *at = '\0';
        if (mkdir(p, (mode_t)mode) < 0 && errno != EEXIST)
            return err_errno(err, errno, "%s", p);
        *at = c;
        if (c == '\0')
            break;
    }
    if (!fs_is_dir(path))
        return err_set(err, ERRC_EXISTS, "%s: not a directory", path);
    return 0;
}

int fs_make_path(const char *path, struct err **err)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? 0 : fs_path_error(err, "mkdir", path, ENOTDIR);
    for (const char *at = path + 1;; at++) {
        CLEANUP(free_ptr) char *part = NULL;

        if (*at != '/' && *at != '\0')
            continue;
        part = str_dup((struct str){ path, (size_t)(at - path) });
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return fs_path_error(err, "mkdir", part, errno);
        if (*at == '\0')
            return 0;
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    UNUSED(st);
    UNUSED(type);
    UNUSED(at);
    return remove(path);
}

int fs_remove_tree(const char *path, struct err **err)
{
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
        return err_errno(err, errno, "%s", path);
    return 0;
}

bool fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool fs_is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int fs_list_dir(const char *path, char ***ret_names, size_t *ret_n, struct err **err)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    char **names = NULL;
    size_t n = 0, cap = 0;
    int saved;

    if (!dir)
        return err_errno(err, errno, "%s", path);
    while (errno = 0, (e = readdir(dir)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        ARRAY_GROW(names, cap, n + 1);
        names[n++] = xstrdup(e->d_name);
    }
    saved = errno;
    closedir(dir);
    if (saved) {
        fs_names_free(names, n);
        return err_errno(err, saved, "%s", path);
    }
    if (n > 1)
        qsort(names, n, sizeof(*names), compare_names);
    *ret_names = names;
    *ret_n = n;
    return 0;
}

void fs_names_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

int fs_make_temp_dir(const char *prefix, char **ret, struct err **err)
{
    const char *base = getenv("TMPDIR");
    CLEANUP(free_ptr) char *p = xasprintf("%s/%s.XXXXXX", base && *base ? base : "/tmp", prefix);

    if (!mkdtemp(p))
        return err_errno(err, errno, "%s", p);
    *ret = TAKE(p);
    return 0;
}

char *fs_join(const char *dir, const char *name)
{
    size_t n = strlen(dir);

    return xasprintf("%s%s%s", dir, n > 0 && dir[n - 1] == '/' ? "" : "/", name);
}

char *fs_clean(const char *path)
{
    bool rooted = path[0] == '/';
    char *out = xcalloc(1, strlen(path) + 2);
    struct str rest = str_from(path), part;
    size_t n = 0, fixed = 0; /* out[0..fixed) is what ".." cannot take away */

    if (rooted)
        out[n++] = '/';
    fixed = n;
    while (str_split(&rest, '/', &part)) {
        bool up = str_eq(part, STR(".."));

        if (part.n == 0 || str_eq(part, STR(".")) || (up && rooted && n == fixed))
            continue;
        if (up && n > fixed) {
            while (n > fixed && out[--n] != '/')
                ;
            continue;
        }
        if (n > (rooted ? 1U : 0U))
            out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
        if (up)
            fixed = n;
    }
    if (n == 0)
        out[n++] = '.';
    out[n] = '\0';
    return out;
}

char *fs_absolute(const char *path)
{
    CLEANUP(free_ptr) char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
    CLEANUP(free_ptr) char *joined = cwd ? fs_join(cwd, path) : xstrdup(path);

    return fs_clean(joined);
}

char *fs_home_path(const char *name)
{
    const char *home = getenv("HOME");

    return home && *home ? fs_join(home, name) : NULL;
}

bool fs_path_is_below(struct str path)
{
    struct str rest = path, part;

    if (path.n == 0 || path.n > FS_PATH_MAX || memchr(path.p, '\0', path.n) || memchr(path.p, '\\', path.n))
        return false;
    while (str_split(&rest, '/', &part))
        if (part.n == 0 || str_eq(part, STR(".")) || str_eq(part, STR("..")))
            return false;
    return true;
}

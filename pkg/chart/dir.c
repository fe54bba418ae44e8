/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "chart/chart_int.h"

/* Helm's LoadDir(): names in order in every folder, symbolic links followed, .helmignore obeyed. */
struct walker {
    const struct chart_log *log;
    struct chart_ignore *rules;
    struct chart_storage *storage;
    size_t root_n; /* bytes of "<folder>/" in front of every path */
    struct chart_file *files;
    size_t n, cap, total, depth;
};

static struct str relative(const struct walker *w, const char *path)
{
    return str_from(strlen(path) < w->root_n ? "" : path + w->root_n);
}

/* Reads what the open file is, not what its name was a moment ago: it may have been swapped. */
static int read_open_file(struct walker *w, int fd, const char *path, struct chart_file *ret,
                          struct err **err)
{
    struct stat st;
    char *data;
    size_t n = 0;

    if (fstat(fd, &st) < 0)
        return fs_path_error(err, "stat", path, errno);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERRC_INVALID, "cannot load irregular file %s as it has file mode type bits set",
                       path);
    if ((uint64_t)st.st_size > ARCHIVE_FILE_MAX) {
        CLEANUP(buf_done) struct buf quoted = BUF_INIT(8 * FS_PATH_MAX);

        utf8_quote(str_basename(str_from(path)), &quoted);
        return err_set(err, ERRC_LIMIT, "chart file %s is larger than the maximum file size %zu",
                       buf_z(&quoted), ARCHIVE_FILE_MAX);
    }
    data = arena_alloc_bytes(w->storage->arena, (size_t)st.st_size + 1);
    while (n < (size_t)st.st_size) {
        ssize_t got = read(fd, data + n, (size_t)st.st_size - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fs_path_error(err, "error reading", path, errno);
        if (got == 0)
            break;
        n += (size_t)got;
    }
    data[n] = '\0';
    ret->data = str_trim_prefix((struct str){ data, n }, STR("\xef\xbb\xbf"));
    ret->modified = (struct wall_time){ st.st_mtim.tv_sec, (int32_t)st.st_mtim.tv_nsec };
    return 0;
}

static int add_file(struct walker *w, const char *path, struct err **err)
{
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct chart_file f = { .name = arena_dup(w->storage->arena, relative(w, path)) };
    int r;

    if (fd < 0 && errno == ENXIO) /* a socket */
        return err_set(err, ERRC_INVALID, "cannot load irregular file %s as it has file mode type bits set",
                       path);
    if (fd < 0) {
        r = fs_path_error(err, "open", path, errno);
        return err_wrap(err, r, "error reading " STR_FMT, STR_ARG(f.name));
    }
    r = read_open_file(w, fd, path, &f, err);
    if (r < 0)
        return r;
    w->total += f.data.n;
    if (w->total > ARCHIVE_UNPACKED_MAX || w->n >= ARCHIVE_ENTRIES_MAX)
        return err_set(err, ERRC_LIMIT, "chart folder is larger than the maximum size %zu or %zu files",
                       ARCHIVE_UNPACKED_MAX, ARCHIVE_ENTRIES_MAX);
    ARRAY_GROW(w->files, w->cap, w->n + 1);
    w->files[w->n++] = f;
    return 0;
}

/* What Go's EvalSymlinks names when a link leads nowhere: the first part of the target that is not there. */
static void missing_part(const char *link, struct buf *ret)
{
    char target[PATH_MAX];
    ssize_t n = readlink(link, target, sizeof(target) - 1);
    CLEANUP(free_ptr) char *dir = str_dup(str_dirname(str_from(link))), *joined = NULL, *clean = NULL;
    struct stat st;

    if (n < 0) {
        buf_adds(ret, link);
        return;
    }
    target[n] = '\0';
    joined = target[0] == '/' ? xstrdup(target) : fs_join(dir, target);
    clean = fs_clean(joined);
    for (char *p = clean + 1; p && *p; *p++ = '/') {
        p = strchr(p, '/');
        if (!p)
            break;
        *p = '\0';
        if (lstat(clean, &st) < 0)
            break;
    }
    buf_adds(ret, clean);
}

static int follow_link(const struct walker *w, const char *path, struct stat *ret, struct err **err)
{
    char resolved[PATH_MAX];
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(4 * FS_PATH_MAX), missing = BUF_INIT(2 * PATH_MAX);

    if (!realpath(path, resolved)) {
        int errnum = errno;

        if (errnum == ELOOP)
            return err_set(err, ERRC_INVALID, "error evaluating symlink %s: EvalSymlinks: too many links",
                           path);
        missing_part(path, &missing);
        IGNORE_ERROR(fs_path_error(err, "lstat", buf_z(&missing), errnum));
        return err_wrap(err, errnum == ENOENT ? -ERRC_NOT_FOUND : -ERRC_IO, "error evaluating symlink %s",
                        path);
    }
    chart_log_attr(&attrs, "path", str_from(path));
    chart_log_attr(&attrs, "resolved", str_from(resolved));
    chart_log_line(w->log, "INFO", buf_z(&attrs),
                   "found symbolic link in path. Contents of linked file included and used");
    if (lstat(resolved, ret) < 0)
        return fs_path_error(err, "lstat", resolved, errno);
    return 0;
}

static int walk(struct walker *w, const char *path, struct err **err);

static int walk_dir(struct walker *w, const char *path, struct err **err)
{
    char **names = NULL;
    size_t n = 0;
    int r;

    if (w->depth >= DIR_DEPTH_MAX)
        return err_set(err, ERRC_LIMIT, "%s: folders are nested too deeply", path);
    r = fs_list_dir(path, &names, &n, err);
    if (r < 0)
        return r;
    w->depth++;
    for (size_t i = 0; i < n && r >= 0; i++) {
        CLEANUP(free_ptr) char *child = fs_join(path, names[i]);

        r = walk(w, child, err);
    }
    w->depth--;
    fs_names_free(names, n);
    return r;
}

static int walk(struct walker *w, const char *path, struct err **err)
{
    struct str name = relative(w, path);
    struct stat st;
    int r;

    if (lstat(path, &st) < 0)
        return fs_path_error(err, "lstat", path, errno);
    if (S_ISLNK(st.st_mode)) {
        r = follow_link(w, path, &st, err);
        if (r < 0)
            return r;
    }
    if (chart_ignore_match(w->rules, name, S_ISDIR(st.st_mode)))
        return 0;
    if (S_ISDIR(st.st_mode))
        return walk_dir(w, path, err);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERRC_INVALID, "cannot load irregular file %s as it has file mode type bits set",
                       path);
    return add_file(w, path, err);
}

/* A pipe that nobody writes to would be waited for. */
static int read_regular_file(const char *path, struct buf *out, struct err **err)
{
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return fs_path_error(err, "open", path, errno);
    if (fstat(fd, &st) < 0)
        return fs_path_error(err, "stat", path, errno);
    if (S_ISDIR(st.st_mode))
        return fs_path_error(err, "read", path, EISDIR);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERRC_INVALID, "cannot load irregular file %s as it has file mode type bits set",
                       path);
    return fs_read_fd(fd, path, out, err);
}

static int read_ignore_file(const char *dir, struct chart_ignore **ret, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(dir, ".helmignore");
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX);
    int r = 0;

    if (fs_exists(path))
        r = read_regular_file(path, &text, err);
    return r < 0 ? r : chart_ignore_parse(buf_str(&text), ret, err);
}

static int chart_read_dir(const char *path, const struct chart_log *log, struct chart_source *ret,
                          struct err **err)
{
    CLEANUP(chart_storage_unref) struct chart_storage *storage = chart_storage_new();
    CLEANUP(chart_ignore_free) struct chart_ignore *rules = NULL;
    struct walker w = { .log = log, .storage = storage, .root_n = strlen(path) + 1 };
    int r;

    r = read_ignore_file(path, &rules, err);
    if (r < 0)
        return r;
    w.rules = rules;
    r = walk_dir(&w, path, err);
    if (r >= 0) {
        ret->files = ARENA_ARRAY(storage->arena, struct chart_file, w.n);
        if (w.n > 0)
            memcpy(ret->files, w.files, w.n * sizeof(*w.files));
        ret->n = w.n;
        ret->storage = TAKE(storage);
    }
    free(w.files);
    return r;
}

/* ---- a path from the command line ---- */

static int load_folder(const char *dir, struct chart_load_state *state, struct chart **ret, struct err **err)
{
    struct chart_source s = { 0 };
    CLEANUP(free_ptr) char *full = fs_absolute(dir);
    int r = chart_read_dir(full, state->log, &s, err);

    if (r < 0)
        return r;
    r = chart_load_source(&s, state, ret, err);
    chart_storage_unref(s.storage);
    return r;
}

int chart_load_dir(const char *dir, const struct chart_log *log, struct chart **ret, struct err **err)
{
    return load_folder(dir, &(struct chart_load_state){ .log = log }, ret, err);
}

static int load_dir(const char *dir, struct chart_load_state *state, struct chart **ret, struct err **err)
{
    CLEANUP(free_ptr) char *chart_yaml = fs_join(dir, "Chart.yaml");
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX);
    struct chart_file f = { .name = STR("Chart.yaml") };
    int r = read_regular_file(chart_yaml, &text, err);

    if (r < 0)
        return err_wrap(err, r, "unable to detect chart at %s", chart_yaml);
    f.data = buf_str(&text);
    r = chart_check_api_version(&(struct chart_source){ .files = &f, .n = 1 }, err);
    return r < 0 ? r : chart_refuse_v3(r, load_folder(dir, state, ret, err), ret, err);
}

/* Helm looks at the first 512 bytes; a shorter file is padded with zeros, which makes it "binary". */
static int ensure_archive(const char *path, struct str packed, struct err **err)
{
    char head[512] = { 0 };
    const char *type;
    struct str name = str_from(path);

    memcpy(head, packed.p ? packed.p : "", MIN(packed.n, sizeof(head)));
    if (archive_is_gzip((struct str){ head, sizeof(head) }))
        return 0;
    if (str_has_suffix(name, STR(".yml")) || str_has_suffix(name, STR(".yaml")))
        return err_set(err, ERRC_PARSE, "file '%s' seems to be a YAML file, but expected a gzipped archive",
                       path);
    type = archive_content_type((struct str){ head, sizeof(head) });
    return err_set(err, ERRC_PARSE, "file '%s' does not appear to be a gzipped archive; got '%s'", path,
                   type);
}

static int load_file(const char *path, struct chart_load_state *state, struct chart **ret, struct err **err)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    struct chart_source s = { 0 };
    int r, version;

    r = fs_read_file(path, &packed, err);
    if (r < 0)
        return r;
    r = ensure_archive(path, buf_str(&packed), err);
    if (r < 0)
        return r;
    r = chart_unpack(buf_str(&packed), state, &s, err);
    if (r < 0) {
        /* Helm keeps the reason to itself; we say it behind Helm's words. */
        return err_wrap(err, r, "unable to load chart archive");
    }
    r = version = chart_check_api_version(&s, err);
    if (r >= 0)
        r = chart_refuse_v3(version, chart_load_source(&s, state, ret, err), ret, err);
    chart_storage_unref(s.storage);
    return r;
}

static int load_path(const char *path, struct chart_load_state *state, struct chart **ret, struct err **err)
{
    CLEANUP(free_ptr) char *full = fs_absolute(path);
    struct stat st;

    if (stat(full, &st) < 0)
        return fs_path_error(err, "stat", path, errno);
    return S_ISDIR(st.st_mode) ? load_dir(full, state, ret, err) : load_file(path, state, ret, err);
}

int chart_load(const char *path, const struct chart_log *log, struct chart **ret, struct err **err)
{
    return load_path(path, &(struct chart_load_state){ .log = log }, ret, err);
}

int chart_load_to_render(const char *path, const struct chart_log *log, struct chart **ret, struct err **err)
{
    return load_path(path, &(struct chart_load_state){ .log = log, .to_render = true }, ret, err);
}

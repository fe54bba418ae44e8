/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "archive/archive.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "chart/chart_int.h"

/* The name that Chart.yaml states; of several such files the last one counts. */
static int stated_name(struct arena *a, const struct archive_files *files, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    *ret = STR("");
    for (size_t i = 0; i < files->n; i++) {
        struct metadata md = { 0 };
        int r;

        if (!str_eq(files->files[i].name, STR("Chart.yaml")))
            continue;
        r = metadata_parse(a, files->files[i].data, &md, err);
        if (r < 0)
            return err_wrap(err, r, "cannot load Chart.yaml");
        *ret = md.name;
    }
    if (ret->n == 0)
        return err_set(err, ERRC_INVALID, "chart name not specified");
    utf8_quote(*ret, &quoted);
    if (str_eq(*ret, STR(".")) || str_eq(*ret, STR("..")))
        return err_set(err, ERRC_INVALID, "chart name %s is not allowed", buf_z(&quoted));
    if (str_find_char(*ret, '/') != STR_NPOS)
        return err_set(err, ERRC_INVALID, "chart name %s must not contain path separators", buf_z(&quoted));
    if (!fs_path_is_below(*ret))
        return err_set(err, ERRC_INVALID, "chart name %s is not a file name", buf_z(&quoted));
    return 0;
}

static int write_below(const char *dir, const struct archive_file *f, struct err **err)
{
    CLEANUP(free_ptr)
    char *name = str_dup(f->name), *path = fs_join(dir, name), *parent = str_dup(str_dirname(str_from(path)));
    int r;

    if (!fs_path_is_below(f->name))
        return err_set(err, ERRC_INVALID, STR_FMT ": not a path below the chart's folder", STR_ARG(f->name));
    r = fs_make_dirs(parent, 0755, err);
    return r < 0 ? r : fs_write_file(path, f->data, 0644, err);
}

int chart_expand(struct str packed, const char *dir, char **ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(CHART_UNPACKED_TOTAL_MAX + VALUES_MEMORY_MAX);
    CLEANUP(free_ptr) char *name = NULL, *path = NULL;
    struct archive_files files;
    struct str stated;
    int r = archive_read(a, packed, &files, err);

    if (r >= 0)
        r = stated_name(a, &files, &stated, err);
    if (r < 0)
        return r;
    name = str_dup(stated);
    path = fs_join(dir, name);
    for (size_t i = 0; i < files.n && r >= 0; i++)
        r = write_below(path, &files.files[i], err);
    if (r >= 0)
        *ret = TAKE(path);
    return r;
}

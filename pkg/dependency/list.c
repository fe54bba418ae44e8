/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "dependency/dependency.h"
#include "semver/semver.h"

enum { COLUMNS = 4 };

/* ---- what is there of a dependency ---- */

/* "" when the version fits. */
static const char *version_fault(struct str have, struct str wanted)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct semver v;

    if (str_eq(have, wanted))
        return "";
    if (semver_constraint_parse(wanted, &c, NULL) < 0 || semver_parse(have, &v, NULL) < 0)
        return "invalid version";
    return semver_constraint_check(c, &v) ? "" : "wrong version";
}

static const char *archive_status(const char *path, const struct metadata_dependency *d,
                                  const struct chart_log *log)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    const char *fault;

    if (chart_load(path, log, &c, NULL) < 0)
        return "corrupt";
    if (!str_eq(chart_metadata(c)->name, d->name))
        return "misnamed";
    fault = version_fault(chart_metadata(c)->version, d->version);
    return fault[0] ? fault : "ok";
}

static bool is_archive_of(struct str file, struct str name, struct str *ret_version)
{
    struct str rest = file;

    if (!str_has_prefix(file, name) || !str_has_suffix(file, STR(".tgz")))
        return false;
    rest = str_trim_suffix(str_sub(file, name.n, file.n), STR(".tgz"));
    if (rest.n == 0 || rest.p[0] != '-')
        return false;
    *ret_version = str_sub(rest, 1, rest.n);
    return true;
}

/* The archive that is meant among <name>-*.tgz: the only one, or the only one with a version behind the name. */
static const char *pick_archive(char **names, size_t n, struct str name, size_t *ret_versions)
{
    const char *only = NULL, *versioned = NULL;
    size_t all = 0;

    *ret_versions = 0;
    for (size_t i = 0; i < n; i++) {
        struct str version;
        struct semver v;

        if (!is_archive_of(str_from(names[i]), name, &version))
            continue;
        all++;
        only = names[i];
        if (semver_parse_strict(version, &v, NULL) >= 0) {
            ++*ret_versions;
            versioned = names[i];
        }
    }
    if (all <= 1) {
        *ret_versions = 0;
        return only;
    }
    return *ret_versions == 1 ? versioned : NULL;
}

static const char *unpacked_status(const struct chart *parent, const struct metadata_dependency *d)
{
    const struct chart *found = NULL;
    const char *fault;

    for (size_t i = 0; i < chart_subchart_n(parent); i++)
        if (str_eq(chart_metadata(chart_subchart(parent, i))->name, d->name))
            found = chart_subchart(parent, i);
    if (!found)
        return "missing";
    fault = version_fault(chart_metadata(found)->version, d->version);
    return fault[0] ? fault : "unpacked";
}

static const char *status_of(const char *charts, const struct metadata_dependency *d,
                             const struct chart *parent, const struct chart_log *log)
{
    char **names = NULL;
    size_t n = 0, versions = 0;
    const char *file, *status = NULL;

    if (fs_is_dir(charts) && fs_list_dir(charts, &names, &n, NULL) < 0)
        n = 0;
    file = pick_archive(names, n, d->name, &versions);
    if (file) {
        CLEANUP(free_ptr) char *path = fs_join(charts, file);

        if (fs_exists(path))
            status = archive_status(path, d, log);
    } else if (versions > 1) {
        status = "too many matches";
    }
    fs_names_free(names, n);
    return status ? status : unpacked_status(parent, d);
}

/* ---- the table ---- */

static void print_cell(struct buf *out, struct str text, size_t width, bool last)
{
    size_t n = utf8_count(text), shown = 0;

    if (n <= width) {
        buf_addstr(out, text);
        buf_add_repeat(out, ' ', width - n);
    } else {
        for (size_t i = 0; i < text.n && shown + 3 < width; shown++) {
            uint32_t rune;
            size_t bytes = utf8_decode(str_sub(text, i, text.n), &rune);

            buf_addstr(out, str_sub(text, i, i + bytes));
            i += bytes;
        }
        buf_adds(out, "...");
    }
    buf_addc(out, last ? '\n' : '\t');
}

static void print_table(const struct str (*rows)[COLUMNS], size_t n, size_t max, struct buf *out)
{
    size_t widths[COLUMNS] = { 0 };

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < COLUMNS; k++)
            widths[k] = MIN(MAX(widths[k], utf8_count(rows[i][k])), max);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < COLUMNS; k++)
            print_cell(out, rows[i][k], widths[k], k + 1 == COLUMNS);
}

/* ---- what nobody asked for ---- */

static bool is_wanted(const struct metadata *md, struct str name)
{
    for (size_t i = 0; i < md->n_dependencies; i++)
        if (str_eq(md->dependencies[i].name, name))
            return true;
    return false;
}

static void warn_about(const char *path, const struct metadata *md, const struct chart_log *log,
                       struct buf *out)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    if (!fs_is_dir(path) && !str_has_suffix(str_from(path), STR(".tgz")))
        return;
    utf8_quote(str_from(path), &quoted);
    if (chart_load(path, log, &c, NULL) < 0)
        buf_addf(out, "WARNING: %s is not a chart.\n", buf_z(&quoted));
    else if (!is_wanted(md, chart_metadata(c)->name))
        buf_addf(out, "WARNING: %s is not in Chart.yaml.\n", buf_z(&quoted));
}

static void print_strays(const char *charts, const struct metadata *md, const struct chart_log *log,
                         struct buf *out)
{
    char **names = NULL;
    size_t n = 0;

    if (!fs_is_dir(charts) || fs_list_dir(charts, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(charts, names[i]);

        warn_about(path, md, log, out);
    }
    fs_names_free(names, n);
}

int dependency_list(const char *chart_path, size_t width, const struct chart_log *log, struct buf *out,
                    struct err **err)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    CLEANUP(free_ptr) char *joined = fs_join(chart_path, "charts"), *charts = fs_clean(joined);
    const struct metadata *md;
    struct str(*rows)[COLUMNS];
    int r = fs_is_dir(chart_path) ? chart_load_dir(chart_path, log, &c, err)
                                  : chart_load(chart_path, log, &c, err);

    if (r < 0)
        return r;
    md = chart_metadata(c);
    if (!md->dependencies) { /* an empty list is a table without rows */
        buf_addf(out, "WARNING: no dependencies at %s\n", charts);
        return buf_check(out, err);
    }
    rows = arena_alloc_array(a, md->n_dependencies + 1, sizeof(*rows));
    memcpy(rows[0], (struct str[COLUMNS]){ STR("NAME"), STR("VERSION"), STR("REPOSITORY"), STR("STATUS") },
           sizeof(rows[0]));
    for (size_t i = 0; i < md->n_dependencies; i++) {
        const struct metadata_dependency *d = &md->dependencies[i];
        struct str row[COLUMNS] = { d->name, d->version, d->repository,
                                    str_from(status_of(charts, d, c, log)) };

        memcpy(rows[i + 1], row, sizeof(row));
    }
    print_table((const struct str(*)[COLUMNS])rows, md->n_dependencies + 1, width, out);
    buf_addc(out, '\n');
    print_strays(charts, md, log, out);
    return buf_check(out, err);
}

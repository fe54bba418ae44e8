/* SPDX-License-Identifier: Apache-2.0 */
/* helm pull (pkg/action/pull.go, pkg/chart/v2/util/expand.go). */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "archive/archive.h"
#include "base/fs.h"
#include "base/limits.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"

static const struct cli_flag flags[] = {
    CHART_PATH_FLAGS,
    { "destination", 'd', CLI_STRING, ".", NULL,
      "location to write the chart. If this and untardir are specified, untardir is appended to this", NULL },
    { "untar", 0, CLI_BOOL, NULL, NULL, "if set to true, will untar the chart after downloading it", NULL },
    { "untardir", 0, CLI_STRING, ".", NULL,
      "if untar is specified, this flag specifies the name of the directory into which the chart is expanded",
      NULL },
    { "prov", 0, CLI_BOOL, NULL, NULL, "fetch the provenance file, but don't perform verification", NULL },
    CLI_FLAGS_END,
};

/* ---- unpacking ----------------------------------------------------------------------------------------------------- */

static int write_below(const char *dir, struct str name, struct str data, struct err **err)
{
    CLEANUP(free_ptr) char *relative = str_dup(name), *path = fs_join(dir, relative);
    CLEANUP(free_ptr) char *folder = str_dup(str_dirname(str_from(path)));
    int r = fs_make_dirs(folder, 0755, err);

    return r < 0 ? r : fs_write_file(path, data, 0644, err);
}

/* The name in Chart.yaml is the folder's: it must be a name and nothing more. */
static int chart_name(struct arena *a, const struct archive_files *files, struct str *ret, struct err **err)
{
    struct metadata md = { 0 };

    for (size_t i = 0; i < files->n; i++) {
        int r = str_eq(files->files[i].name, STR("Chart.yaml"))
                    ? metadata_parse(a, files->files[i].data, &md, err)
                    : 0;

        if (r < 0)
            return err_wrap(err, r, "cannot load Chart.yaml");
    }
    if (md.name.n == 0)
        return err_set(err, ERRC_INVALID, "chart name not specified");
    if (str_eq(md.name, STR(".")) || str_eq(md.name, STR("..")))
        return err_set(err, ERRC_INVALID, "chart name \"" STR_FMT "\" is not allowed", STR_ARG(md.name));
    if (str_find_char(md.name, '/') != STR_NPOS || !fs_path_is_below(md.name))
        return err_set(err, ERRC_INVALID, "chart name \"" STR_FMT "\" must not contain path separators",
                       STR_ARG(md.name));
    *ret = md.name;
    return 0;
}

static int expand(struct str packed, const char *dir, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * ARCHIVE_UNPACKED_MAX);
    CLEANUP(free_ptr) char *name = NULL, *top = NULL;
    struct archive_files files;
    struct str chart;
    int r = archive_read(a, packed, &files, err);

    if (r == 0)
        r = chart_name(a, &files, &chart, err);
    if (r < 0)
        return r;
    name = str_dup(chart);
    top = fs_join(dir, name);
    for (size_t i = 0; i < files.n && r == 0; i++)
        r = write_below(top, files.files[i].name, files.files[i].data, err);
    return r;
}

/* "." and "sub" as filepath.Join() puts them together. */
static char *join(const char *dir, const char *name)
{
    struct str d = str_from(dir);

    while (str_has_prefix(d, STR("./")))
        d = str_sub(d, 2, d.n);
    while (d.n > 1 && str_has_suffix(d, STR("/")))
        d = str_sub(d, 0, d.n - 1);
    if (d.n == 0 || str_eq(d, STR(".")))
        return xstrdup(name);
    return strcmp(name, ".") == 0 ? str_dup(d) : xasprintf(STR_FMT "/%s", STR_ARG(d), name);
}

/* As Helm, the folder that must not be there is named by the last part of the reference, whatever the chart is called. */
static int untar(struct cli *c, const char *reference, const struct registry_found *f, struct err **err)
{
    const char *wanted = cli_string(c, "untardir");
    CLEANUP(free_ptr)
    char *dir = wanted[0] == '/' ? xstrdup(wanted) : join(cli_string(c, "destination"), wanted),
         *last = str_dup(str_basename(str_from(reference))), *folder = join(dir, last);
    int r;

    if (fs_exists(folder))
        return err_set(err, ERRC_EXISTS,
                       "failed to untar: a file or directory with the name %s already exists", folder);
    r = fs_make_dirs(folder, 0755, err);
    if (r < 0)
        return err_wrap(err, r, "failed to untar (mkdir)");
    return expand(buf_str(&f->archive), dir, err);
}

/* ---- the command --------------------------------------------------------------------------------------------------- */

static int save(struct cli *c, const struct registry_found *f, struct err **err)
{
    CLEANUP(free_ptr)
    char *name = str_dup(f->file), *path = join(cli_string(c, "destination"), name),
         *prov = xasprintf("%s.prov", path);
    int r = fs_write_file(path, buf_str(&f->archive), 0644, err);

    if (r == 0 && f->prov.n > 0)
        r = fs_write_file(prov, buf_str(&f->prov), 0644, err);
    return r;
}

static int pull(struct cli *c, struct chart_fetcher *f, const char *reference, struct err **err)
{
    CLEANUP(registry_found_done) struct registry_found found = { 0 };
    int r = registry_locate(&f->locator, str_from(reference), str_from(cli_string(c, "repo")),
                            chart_flags_version(c), &found, err);

    if (r < 0)
        return r;
    if (f->locator.verify == REGISTRY_VERIFY_ALWAYS)
        chart_flags_print_signer(c, &found.signer);
    return cli_bool(c, "untar") ? untar(c, reference, &found, err) : save(c, &found, err);
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(chart_fetcher_done) struct chart_fetcher f = { 0 };
    int r = chart_fetcher_init(c, &f, err);

    if (r < 0)
        return r;
    f.locator.verify = cli_bool(c, "prov") ? REGISTRY_VERIFY_LATER : REGISTRY_VERIFY_NEVER;
    chart_fetcher_verify(c, &f, REGISTRY_VERIFY_ALWAYS);
    for (size_t i = 0; i < c->n_args && r == 0; i++)
        r = pull(c, &f, c->args[i], err);
    return r;
}

const struct cli_command cmd_pull = {
    .name = "pull",
    .usage = "[chart URL | repo/chartname] [...]",
    .brief = "download a chart from a repository and (optionally) unpack it in local directory",
    .help = "Downloads charts: repo/name of a repository that helm knows, a name with --repo, the URL of an "
            "archive, or\n"
            "oci://host/path/name[:version][@sha256:digest]. The archive is checked against the digest that "
            "the index or\n"
            "the registry gives.",
    .args_min = 1,
    .args_max = -1,
    .flags = flags,
    .run = run,
};

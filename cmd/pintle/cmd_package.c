/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"
#include "semver/semver.h"

static const struct cli_flag flags[] = {
    { "destination", 'd', CLI_STRING, ".", NULL, "location to write the chart.", NULL },
    { "version", 0, CLI_STRING, NULL, NULL, "set the version on the chart to this semver version", NULL },
    { "app-version", 0, CLI_STRING, NULL, NULL, "set the appVersion on the chart to this version", NULL },
    { "dependency-update", 'u', CLI_BOOL, NULL, NULL, "not supported: the dependencies must be in charts/",
      NULL },
    { "sign", 0, CLI_BOOL, NULL, NULL, "not supported: packages are not signed", NULL },
    CLI_FLAGS_END,
};

static int check_flags(const struct cli *c, struct err **err)
{
    static const char *const unsupported[] = { "dependency-update", "sign" };

    for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++)
        if (cli_bool(c, unsupported[i]))
            return err_set(err, ERRC_UNSUPPORTED, "--%s is not supported by this command", unsupported[i]);
    return 0;
}

/* "web-1.0.0.tgz" in the destination; the version is what was packed. */
static char *target(const struct cli *c, const struct chart *chart)
{
    const char *dir = cli_string(c, "destination"), *version = cli_string(c, "version");
    CLEANUP(free_ptr) char *cwd = strcmp(dir, ".") == 0 ? getcwd(NULL, 0) : NULL, *name = NULL;
    struct str v = version[0] ? str_from(version) : chart_metadata(chart)->version;

    name = xasprintf(STR_FMT "-" STR_FMT ".tgz", STR_ARG(chart_metadata(chart)->name), STR_ARG(v));
    return fs_join(cwd ? cwd : dir, name);
}

static int pack(struct cli *c, const char *path, struct err **err)
{
    CLEANUP(chart_unref) struct chart *chart = NULL;
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_UNPACKED_MAX);
    CLEANUP(free_ptr) char *file = NULL;
    struct chart_log log = chart_flags_log(c);
    struct str version = str_from(cli_string(c, "version"));
    struct semver parsed;
    int r;

    if (fs_exists(path) && !fs_is_dir(path))
        return err_set(err, ERRC_INVALID, "%s is not a folder with a chart", path);
    r = chart_load(path, &log, &chart, err);
    if (r >= 0 && version.n > 0)
        r = semver_parse(version, &parsed, err);
    if (r >= 0)
        r = chart_check_dependencies(chart, err);
    if (r < 0)
        return r;
    r = chart_pack(chart, version, str_from(cli_string(c, "app-version")), &packed, err);
    if (r < 0)
        return err_wrap(err, r, "failed to save");
    file = target(c, chart);
    r = fs_make_dirs(cli_string(c, "destination"), 0755, err);
    if (r >= 0)
        r = fs_write_file(file, buf_str(&packed), 0644, err);
    if (r >= 0)
        cli_printf(c, "Successfully packaged chart and saved it to: %s\n", file);
    return r;
}

static int run(struct cli *c, struct err **err)
{
    int r = check_flags(c, err);

    for (size_t i = 0; i < c->n_args && r >= 0; i++)
        r = pack(c, c->args[i], err);
    return r;
}

const struct cli_command cmd_package = {
    .name = "package",
    .usage = "[CHART_PATH] [...]",
    .brief = "package a chart directory into a chart archive",
    .help = "Packages a chart into a versioned chart archive file. The same chart with the same file times "
            "makes the same\n"
            "bytes.",
    .args_min = 1,
    .args_max = -1,
    .flags = flags,
    .run = run,
};

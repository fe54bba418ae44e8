/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fs.h"
#include "base/limits.h"
#include "dependency/dependency.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"

static const struct cli_flag list_flags[] = {
    { "max-col-width", 0, CLI_INT, "80", NULL, "maximum column width for output table", &cli_uint },
    CLI_FLAGS_END,
};

static const struct cli_flag fetch_flags[] = {
    CHART_SERVER_FLAGS,
    { "verify", 0, CLI_BOOL, NULL, NULL, "verify the packages against signatures", NULL },
    { "keyring", 0, CLI_STRING, NULL, NULL, "keyring containing public keys", NULL },
    { "skip-refresh", 0, CLI_BOOL, NULL, NULL, "do not refresh the local repository cache", NULL },
    CLI_FLAGS_END,
};

static char *chart_path(const struct cli *c)
{
    return fs_clean(c->n_args > 0 ? c->args[0] : ".");
}

static int run_list(struct cli *c, struct err **err)
{
    CLEANUP(free_ptr) char *path = chart_path(c);
    CLEANUP(buf_done) struct buf out = BUF_INIT(ARCHIVE_UNPACKED_MAX);
    struct chart_log log = chart_flags_log(c);
    int64_t width = cli_int(c, "max-col-width");
    int r = dependency_list(path, width > 0 ? (size_t)width : 0, &log, &out, err);

    if (r >= 0)
        cli_write(c, buf_str(&out));
    return r;
}

static int fetch(struct cli *c, int (*act)(const struct dependency_job *, struct err **), unsigned how,
                 struct err **err)
{
    CLEANUP(free_ptr) char *path = chart_path(c);

    if (cli_bool(c, "skip-refresh"))
        how |= CHART_FLAGS_SKIP_REFRESH;
    return chart_flags_dependencies(c, path, act, how, err);
}

static int run_update(struct cli *c, struct err **err)
{
    return fetch(c, dependency_update, CHART_FLAGS_VERIFY_ALWAYS, err);
}

static int run_build(struct cli *c, struct err **err)
{
    return fetch(c, dependency_build, CHART_FLAGS_VERIFY_IF_POSSIBLE, err);
}

const struct cli_command cmd_dependency = {
    .name = "dependency",
    .aliases = "dep dependencies",
    .usage = "update|build|list",
    .brief = "manage a chart's dependencies",
};

const struct cli_command cmd_dependency_build = {
    .parent = "dependency",
    .name = "build",
    .usage = "CHART",
    .brief = "rebuild the charts/ directory based on the Chart.lock file",
    .help = "Fetches into charts/ what Chart.lock says, without looking for other versions. Without a lock "
            "file it "
            "does what\n`dependency update` does.",
    .args_max = 1,
    .flags = fetch_flags,
    .helm_log = true,
    .run = run_build,
};

const struct cli_command cmd_dependency_list = {
    .parent = "dependency",
    .name = "list",
    .aliases = "ls",
    .usage = "CHART",
    .brief = "list the dependencies for the given chart",
    .args_max = 1,
    .flags = list_flags,
    .helm_log = true,
    .run = run_list,
};

const struct cli_command cmd_dependency_update = {
    .parent = "dependency",
    .name = "update",
    .aliases = "up",
    .usage = "CHART",
    .brief = "update charts/ based on the contents of Chart.yaml",
    .help =
        "Resolves the dependencies in Chart.yaml, fetches them into charts/, removes outdated archives, and "
        "writes\nChart.lock. Repositories are folders (file://), HTTP repositories (an URL, or @name of one "
        "that is configured)\nand registries (oci://).",
    .args_max = 1,
    .flags = fetch_flags,
    .helm_log = true,
    .run = run_update,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "mirror/mirror.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"
#include "registry/registry.h"

#define PRUNE_MIN_AGE_S 3600 /* as `mirror prune` */

static const struct cli_flag flags[] = {
    CHART_SERVER_FLAGS,
    { "devel", 0, CLI_BOOL, NULL, NULL, "development versions too, where no constraint is given", NULL },
    { "folder", 0, CLI_STRING, NULL, NULL, "folder of the mirror that the charts go to", NULL },
    { "latest", 0, CLI_INT, "1", NULL,
      "how many versions of each chart, from the newest; 0: all that satisfy", NULL },
    { "no-dependencies", 0, CLI_BOOL, NULL, NULL, "leave out what the charts depend on", NULL },
    { "prune", 0, CLI_BOOL, NULL, NULL,
      "then remove all other versions, of all charts, from the folder, and bytes that nothing names", NULL },
    CLI_FLAGS_END,
};

static void print_line(void *ctx, struct str text)
{
    struct cli *c = ctx;

    cli_printf(c, "%.*s\n", STR_ARG(text));
    fflush(c->out);
}

/* "nginx", "nginx@^22" */
static struct mirror_wanted parse_wanted(struct str arg)
{
    struct mirror_wanted w = { .name = STR("") };

    str_split(&arg, '@', &w.name);
    w.constraint = arg.p ? arg : STR("");
    return w;
}

static int sync_charts(struct cli *c, struct mirror *m, struct mirror_sync_options *o, struct err **err)
{
    struct mirror_sync_figures f = { 0 };
    int r = mirror_sync(m, o, &f, err);

    if (r < 0)
        return r;
    cli_printf(c, "%zu added, %zu kept, %zu replaced, %zu refused, %zu failed", f.added, f.kept, f.replaced,
               f.refused, f.failed);
    if (o->prune)
        cli_printf(c, ", %zu removed", f.removed);
    cli_printf(c, "\n");
    if (f.refused + f.failed > 0)
        return err_set(err, f.refused ? ERRC_DIGEST : ERRC_NOT_FOUND,
                       "%zu of %zu versions are not in the mirror", f.refused + f.failed,
                       f.added + f.kept + f.replaced + f.refused + f.failed);
    return 0;
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    CLEANUP(chart_fetcher_done) struct chart_fetcher f = { 0 };
    CLEANUP(free_ptr) struct mirror_wanted *wanted = xcalloc(c->n_args, sizeof(*wanted));
    struct registry_source source;
    struct mirror_sync_options o = {
        .source = &source,
        .folder = str_from(cli_string(c, "folder")),
        .charts = wanted,
        .n_charts = c->n_args - 2,
        .latest = (size_t)MAX(cli_int(c, "latest"), (int64_t)0),
        .devel = cli_bool(c, "devel"),
        .dependencies = !cli_bool(c, "no-dependencies"),
        .prune = cli_bool(c, "prune"),
        .prune_min_age_s = PRUNE_MIN_AGE_S,
        .line = print_line,
        .ctx = c,
    };
    int r = chart_fetcher_init(c, &f, err);

    for (size_t i = 2; i < c->n_args; i++)
        wanted[i - 2] = parse_wanted(str_from(c->args[i]));
    if (r == 0)
        r = mirror_open(c->args[0], true, &m, err);
    if (r < 0)
        return r;
    source = f.locator.source;
    source.url = source.name = str_from(c->args[1]);
    return sync_charts(c, m, &o, err);
}

const struct cli_command cmd_mirror_sync = {
    .parent = "mirror",
    .name = "sync",
    .usage = "DIR URL [CHART[@CONSTRAINT] ...]",
    .brief = "bring charts of a repository into a mirror",
    .help =
        "Bring charts of the repository at URL (https://…, or oci://HOST/PATH) into the mirror in DIR, "
        "with their\n"
        "provenance files and what they depend on. A folder that is absent or empty becomes a mirror.\n"
        "\n"
        "Without CHART all charts of the index are taken; a registry must be told which. CONSTRAINT is a "
        "version or a\n"
        "range (nginx@22.1.0, \"nginx@>=21 <23\"); of what satisfies it the newest --latest versions are "
        "taken.\n"
        "\n"
        "What is kept stays: nothing is removed without --prune, and a version that was published again with "
        "other bytes\n"
        "is reported and refused (`pintle mirror accept-digest` lets it in). What a registry has keeps its "
        "manifest, so\n"
        "that pinned digests are good for the mirror too. The exit status is 1 when a version is missing.",
    .args_min = 2,
    .args_max = -1,
    .flags = flags,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* helm push (pkg/cmd/push.go, pkg/pusher/ocipusher.go). */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"

static const struct cli_flag flags[] = { CHART_SERVER_FLAGS, CLI_FLAGS_END };

static int check_file(const char *path, struct err **err)
{
    if (!fs_exists(path))
        return err_set(err, ERRC_NOT_FOUND, "%s: no such file", path);
    if (fs_is_dir(path))
        return err_set(err, ERRC_INVALID, "cannot push directory, must provide chart archive (.tgz)");
    return 0;
}

/* The archive's time is when the chart was created, as helm has it. */
static void created(const char *path, struct buf *out)
{
    struct stat st = { 0 };

    stat(path, &st);
    clock_format_rfc3339((struct wall_time){ .s = st.st_mtim.tv_sec }, out);
}

static int push(struct cli *c, const char *path, struct err **err)
{
    CLEANUP(chart_fetcher_done) struct chart_fetcher f = { 0 };
    CLEANUP(chart_unref) struct chart *chart = NULL;
    CLEANUP(buf_done)
    struct buf archive = BUF_INIT(ARCHIVE_PACKED_MAX), prov = BUF_INIT(PROVENANCE_MAX), time = BUF_INIT(64);
    CLEANUP(free_ptr) char *prov_path = xasprintf("%s.prov", path);
    struct chart_log log = chart_flags_log(c);
    struct registry_push p;
    int r = chart_load(path, &log, &chart, err);

    if (r == 0)
        r = fs_read_file(path, &archive, err);
    if (r == 0 && fs_exists(prov_path))
        r = fs_read_file(prov_path, &prov, err);
    if (r == 0)
        r = chart_fetcher_init(c, &f, err);
    if (r < 0)
        return r;
    created(path, &time);
    p = (struct registry_push){ .archive = buf_str(&archive),
                                .prov = buf_str(&prov),
                                .metadata = chart_metadata(chart),
                                .created = buf_str(&time) };
    return registry_push(&f.locator, &p, str_from(c->args[1]), err);
}

static int run(struct cli *c, struct err **err)
{
    int r = check_file(c->args[0], err);

    return r < 0 ? r : push(c, c->args[0], err);
}

const struct cli_command cmd_push = {
    .name = "push",
    .usage = "[chart] [remote]",
    .brief = "push a chart to remote",
    .help = "Uploads a chart archive, and the provenance file beside it, to a registry: oci://host/path. The "
            "chart's name "
            "and\nversion are added to the path.",
    .args_min = 2,
    .args_max = -1,
    .flags = flags,
    .run = run,
};

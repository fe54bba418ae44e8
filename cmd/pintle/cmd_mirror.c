/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "base/fs.h"
#include "base/limits.h"
#include "pintle/cli.h"
#include "pintle/commands.h"
#include "registry/registry.h"

static const struct cli_flag index_flags[] = {
    { "url", 0, CLI_STRING, NULL, NULL, "URL of the chart repository, put before each file name", NULL },
    CLI_FLAGS_END,
};

static int run_index(struct cli *c, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    CLEANUP(free_ptr) char *path = fs_join(c->args[0], "index.yaml");
    int r = registry_index_folder(c->args[0], str_from(cli_string(c, "url")), &text, err);

    return r < 0 ? r : fs_write_file(path, buf_str(&text), 0644, err);
}

static const struct cli_flag serve_flags[] = {
    { "address", 0, CLI_STRING, "127.0.0.1:8879", NULL, "address to listen on; port 0 takes a free one",
      NULL },
    CLI_FLAGS_END,
};

static int run_serve(struct cli *c, struct err **err)
{
    CLEANUP(registry_server_stop) struct registry_server *s = NULL;
    struct str address = str_from(cli_string(c, "address"));
    size_t colon = str_rfind_char(address, ':');
    sigset_t signals;
    int r, number;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    r = registry_serve(c->args[0], cli_string(c, "address"), &s, err);
    if (r < 0)
        return r;
    cli_printf(c, "serving %s at http://%.*s:%d\n", c->args[0],
               STR_ARG(str_sub(address, 0, MIN(colon, address.n))), registry_server_port(s));
    fflush(c->out);
    sigwait(&signals, &number);
    return 0;
}

const struct cli_command cmd_repo = {
    .name = "repo",
    .brief = "work with chart repositories",
};
const struct cli_command cmd_repo_index = {
    .parent = "repo",
    .name = "index",
    .usage = "DIR",
    .brief = "write the index.yaml of a folder of chart archives",
    .args_min = 1,
    .args_max = 1,
    .flags = index_flags,
    .run = run_index,
};
const struct cli_command cmd_mirror = {
    .name = "mirror",
    .brief = "serve chart archives",
};
const struct cli_command cmd_mirror_serve = {
    .parent = "mirror",
    .name = "serve",
    .usage = "DIR",
    .brief = "serve a folder of chart archives as a chart repository",
    .help = "Serve a folder of chart archives (.tgz, .tgz.prov) as a chart repository, until SIGTERM or "
            "SIGINT. The index is "
            "made from the archives, anew when the folder changes: `helm repo add NAME URL` and Repository "
            "objects work "
            "with it.",
    .args_min = 1,
    .args_max = 1,
    .flags = serve_flags,
    .run = run_serve,
};

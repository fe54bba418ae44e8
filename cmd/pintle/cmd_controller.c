/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/fs.h"
#include "pintle/cluster.h"
#include "pintle/commands.h"
#include "pintle/mirror_flags.h"
#include "pintle/stack.h"

#define LOG_MODULE "controller"
#include "base/log.h"

static const struct cli_flag flags[] = {
    { "data", 0, CLI_STRING, NULL, NULL,
      "folder for the index database and mirrored archives (default: a folder of its own below $HOME)",
      NULL },
    { "default-service-account", 0, CLI_STRING, NULL, NULL,
      "account, in a Release's own namespace, for Releases whose Config names none (default: the "
      "controller's own rights)",
      NULL },
    { "leader-elect", 0, CLI_BOOL, "true", "true", "hold a Lease, so that one of several replicas works",
      NULL },
    { "listen", 0, CLI_STRING, NULL, NULL,
      "address of /metrics, /healthz and /readyz, such as :8080 (default: none)", NULL },
    MIRROR_FLAGS(NULL),
    { "workers", 0, CLI_INT, "8", NULL, "objects that are worked on at once", NULL },
    { "allow-local-repositories", 0, CLI_BOOL, NULL, NULL,
      "let Repositories name loopback and link-local addresses", NULL },
    CLI_FLAGS_END,
};

static const char *controller_namespace(struct cli *c)
{
    const char *watch = getenv("WATCH_NAMESPACE");

    if (*cli_string(c, "namespace"))
        return cli_string(c, "namespace");
    return watch && *watch ? watch : "pintle-system";
}

static char *data_dir(struct cli *c)
{
    char *home = fs_home_path(".local/share/pintle/controller");

    if (*cli_string(c, "data")) {
        free(home);
        return xstrdup(cli_string(c, "data"));
    }
    return home ? home : xstrdup("/tmp/pintle-controller");
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(cli_cluster_done) struct cli_cluster cluster = { 0 };
    CLEANUP(stack_free) struct stack *s = NULL;
    CLEANUP(free_ptr) char *data = data_dir(c);
    struct stack_options o = {
        .ns = controller_namespace(c),
        .data_dir = data,
        .listen = *cli_string(c, "listen") ? cli_string(c, "listen") : NULL,
        .default_service_account = cli_string(c, "default-service-account"),
        .workers = (unsigned)MAX(cli_int(c, "workers"), (int64_t)1),
        .leader_election = cli_bool(c, "leader-elect"),
        .signals = true,
        .allow_local = cli_bool(c, "allow-local-repositories"),
    };
    int r = mirror_flags_read(c, &o, err);

    memory_share_heaps();
    if (r == 0)
        r = cli_connect(c, &cluster, err);
    o.kube = cluster.kube;
    if (r == 0)
        r = stack_new(&o, &s, err);
    if (r < 0)
        return r;
    log_info("controller starts", LOG_Z("namespace", controller_namespace(c)),
             LOG_Z("version", PINTLE_VERSION));
    r = stack_run(s, err);
    if (r == 0)
        log_info("controller stopped");
    return r;
}

const struct cli_command cmd_controller = {
    .name = "controller",
    .brief = "run the controller against a cluster",
    .help = "Run the controller: Repositories, Charts, Values, Configs, Releases and their groups are "
            "reconciled until "
            "SIGTERM or SIGINT. Without a kubeconfig it uses the service account of its pod.",
    .flags = flags,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pintle/cluster.h"
#include "pintle/commands.h"
#include "simulate/simulate.h"

static const struct cli_flag flags[] = {
    { "controllers", 0, CLI_STRING, "auto", NULL,
      "play kube-controller-manager too: on, off, or auto: where the cluster shows no trace of one", NULL },
    { "delay", 0, CLI_DURATION, "1s", NULL, "from an object's creation until it is ready", NULL },
    CLI_FLAGS_END,
};

static int read_controllers(const char *text, enum simulate_controllers *ret, struct err **err)
{
    static const char *const words[] = { [SIMULATE_CONTROLLERS_AUTO] = "auto",
                                         [SIMULATE_CONTROLLERS_ON] = "on",
                                         [SIMULATE_CONTROLLERS_OFF] = "off" };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strcmp(text, words[i]) == 0) {
            *ret = (enum simulate_controllers)i;
            return 0;
        }
    return err_set(err, ERRC_INVALID, "--controllers: \"%s\" is not auto, on or off", text);
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(cli_cluster_done) struct cli_cluster cluster = { 0 };
    CLEANUP(simulate_free) struct simulate *s = NULL;
    struct simulate_options o = { .delay_ms = cli_duration_ns(c, "delay") / 1000000, .signals = true };
    int r;

    if (o.delay_ms < 0)
        return err_set(err, ERRC_INVALID, "--delay: not below 0");
    r = read_controllers(cli_string(c, "controllers"), &o.controllers, err);
    if (r >= 0)
        r = cli_connect(c, &cluster, err);
    if (r < 0)
        return r;
    o.kube = cluster.kube;
    r = simulate_new(&o, &s, err);
    return r < 0 ? r : simulate_run(s, err);
}

const struct cli_command cmd_simulate = {
    .name = "simulate",
    .brief = "make workloads ready on a cluster without nodes",
    .help = "Make workloads ready on a cluster without nodes, until it is stopped: Pods run, Jobs complete, "
            "claims are\n"
            "bound, load balancers get an address. Where there is no kube-controller-manager, Deployments "
            "and the like\n"
            "get their Pods too. Annotations change the course, on a Pod or on the workload that owns it:\n"
            "\n"
            "  " SIMULATE_ANNOTATION_FAIL ": TEXT     it does not become ready, and says TEXT\n"
            "  " SIMULATE_ANNOTATION_DELAY ": 10s     instead of --delay\n",
    .flags = flags,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "apiserver/apiserver.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "pintle/cli.h"
#include "pintle/commands.h"
#include "pintle/embedded.h"
#include "pintle/mirror_flags.h"
#include "pintle/stack.h"
#include "simulate/simulate.h"
#include "yaml/yaml.h"

#define LOG_MODULE "dev"
#include "base/log.h"

#define NAMESPACE "pintle-system"
#define ESTABLISH_MS 30000

static const struct cli_flag flags[] = {
    { "data", 0, CLI_STRING, NULL, NULL,
      "folder that keeps everything (default: a folder of its own below $HOME)", NULL },
    { "port", 0, CLI_INT, "0", NULL, "port of the API server; 0 takes the last one again, or a free one",
      NULL },
    { "listen", 0, CLI_STRING, NULL, NULL,
      "address of the controller's /metrics and /healthz (default: none)", NULL },
    { "delay", 0, CLI_DURATION, "500ms", NULL, "how long simulated workloads take to become ready", NULL },
    MIRROR_FLAGS("127.0.0.1:0"),
    { "workers", 0, CLI_INT, "8", NULL, "objects that are worked on at once", NULL },
    { "write-kubeconfig", 0, CLI_STRING, NULL, NULL,
      "where the kubeconfig is written (default: DATA/kubeconfig)", NULL },
    CLI_FLAGS_END,
};

struct dev {
    struct apiserver *server;
    struct kube *kube;
    struct stack *stack;
    struct simulate *simulate;
    pthread_t controller_thread, simulate_thread;
    bool controller_runs, simulate_runs;
    int controller_result;
};

static char *data_dir(struct cli *c)
{
    char *home = fs_home_path(".local/share/pintle/dev");

    if (*cli_string(c, "data")) {
        free(home);
        return xstrdup(cli_string(c, "data"));
    }
    return home ? home : xstrdup("/tmp/pintle-dev");
}

/* ---- the cluster's own objects
 * -------------------------------------------------------------------------------------
 */

static int apply_text(struct kube *k, struct arena *a, const char *text, struct err **err)
{
    struct value docs;
    int r = yml_parse_all(a, str_from(text), NULL, &docs, err);

    for (struct value_iter it = value_iter(docs); r == 0 && value_next(&it);)
        if (value_is_map(it.v))
            r = kube_apply(k, a, it.v, STR("pintle"), true, NULL, err);
    return r;
}

static int wait_established(struct kube *k, struct arena *a, int64_t deadline, struct err **err)
{
    struct kube_ref ref = KUBE_REF("apiextensions.k8s.io/v1", "CustomResourceDefinition", STR_NONE, STR_NONE);
    struct timespec pause = { 0, 20 * 1000 * 1000 };
    struct value list;
    size_t ready = 0, n = 0;

    do {
        int r = kube_list(k, a, &ref, STR_NONE, &list, err);

        if (r < 0)
            return r;
        ready = n = 0;
        for (struct value_iter it = value_iter(value_getz(list, "items")); value_next(&it);) {
            if (!str_has_suffix(kube_name(it.v), STR(".pintle.dev")))
                continue;
            n++;
            ready += kube_condition_is(it.v, STR("Established"), "True");
        }
        if (n > 0 && ready == n)
            return 0;
        nanosleep(&pause, NULL);
    } while (clock_mono_ms() < deadline);
    return err_set(err, ERRC_TIMEOUT, "%zu of %zu custom resource definitions are established", ready, n);
}

static int prepare_cluster(struct kube *k, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    int r = 0;

    for (const struct embedded_file *f = cmd_crds_files; f->name && r == 0; f++)
        r = apply_text(k, a, f->text, err);
    if (r == 0)
        r = apply_text(k, a, "{apiVersion: v1, kind: Namespace, metadata: {name: " NAMESPACE "}}", err);
    return r < 0 ? r : wait_established(k, a, clock_mono_ms() + ESTABLISH_MS, err);
}

/* ---- threads
 * -------------------------------------------------------------------------------------------------------
 */

static void *run_controller(void *arg)
{
    struct dev *d = arg;
    struct err *err = NULL;

    d->controller_result = stack_run(d->stack, &err);
    if (d->controller_result < 0) {
        log_error("controller ended", LOG_ERR(err));
        kill(getpid(), SIGTERM);
    }
    err_free(err);
    return NULL;
}

static void *run_simulate(void *arg)
{
    struct dev *d = arg;
    struct err *err = NULL;

    if (simulate_run(d->simulate, &err) < 0)
        log_error("simulation ended", LOG_ERR(err));
    err_free(err);
    return NULL;
}

static int connect_client(struct dev *d, struct err **err)
{
    CLEANUP(kube_config_free) struct kube_config *config = NULL;
    struct kube_config_options o = { .kubeconfig = apiserver_kubeconfig(d->server) };
    int r = kube_config_load(&o, &config, err);

    return r < 0 ? r : kube_new(config, &d->kube, err);
}

static int start_workers(struct cli *c, struct dev *d, const char *data, struct err **err)
{
    struct simulate_options so = { .kube = d->kube,
                                   .delay_ms = cli_duration_ns(c, "delay") / 1000000,
                                   .controllers = SIMULATE_CONTROLLERS_ON };
    struct stack_options o = {
        .kube = d->kube,
        .ns = NAMESPACE,
        .data_dir = data,
        .listen = *cli_string(c, "listen") ? cli_string(c, "listen") : NULL,
        .default_service_account = "",
        .workers = (unsigned)MAX(cli_int(c, "workers"), (int64_t)1),
        .allow_local = true,
    };
    int r = mirror_flags_read(c, &o, err);

    if (r == 0)
        r = stack_new(&o, &d->stack, err);
    if (r == 0)
        r = simulate_new(&so, &d->simulate, err);
    if (r < 0)
        return r;
    d->controller_runs = pthread_create(&d->controller_thread, NULL, run_controller, d) == 0;
    d->simulate_runs = pthread_create(&d->simulate_thread, NULL, run_simulate, d) == 0;
    return 0;
}

static void stop(struct dev *d)
{
    if (d->controller_runs) {
        stack_stop(d->stack);
        pthread_join(d->controller_thread, NULL);
    }
    if (d->simulate_runs) {
        simulate_stop(d->simulate);
        pthread_join(d->simulate_thread, NULL);
    }
    stack_free(d->stack);
    simulate_free(d->simulate);
    kube_unref(d->kube);
    apiserver_stop(d->server);
}

static int start(struct cli *c, struct dev *d, const char *data, struct err **err)
{
    const char *kubeconfig = cli_string(c, "write-kubeconfig");
    struct apiserver_options o = { .data_dir = data,
                                   .port = (int)cli_int(c, "port"),
                                   .kubeconfig = *kubeconfig ? kubeconfig : NULL };
    int r = apiserver_start(&o, &d->server, err);

    if (r == 0)
        r = connect_client(d, err);
    if (r == 0)
        r = prepare_cluster(d->kube, err);
    return r < 0 ? r : start_workers(c, d, data, err);
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(free_ptr) char *data = data_dir(c);
    struct dev d = { 0 };
    sigset_t signals;
    int r, number;

    memory_share_heaps();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    r = start(c, &d, data, err);
    if (r == 0) {
        cli_printf(c, "API server: %s\nexport KUBECONFIG=%s\n", apiserver_url(d.server),
                   apiserver_kubeconfig(d.server));
        fflush(c->out);
        sigwait(&signals, &number);
        r = d.controller_result;
        if (r < 0)
            err_set(err, (enum errc) - r, "the controller ended");
    }
    stop(&d);
    return r;
}

const struct cli_command cmd_dev = {
    .name = "dev",
    .brief = "run an API server, the controller and simulated workloads, "
             "without a cluster",
    .help = "Run a Kubernetes API server (objects in SQLite), the controller "
            "and simulated workloads in one process, until "
            "SIGTERM or SIGINT. kubectl and helm work against it with the "
            "kubeconfig that is printed. Needs no root and no "
            "containers.",
    .flags = flags,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>

#include "apiserver/apiserver.h"
#include "base/log.h"
#include "pintle/commands.h"

static const struct cli_flag flags[] = {
    { "address", 0, CLI_STRING, "127.0.0.1", NULL, "address to listen on", NULL },
    { "data", 0, CLI_STRING, "pintle-data", NULL, "directory of the store, the keys and the kubeconfig",
      &cli_dir },
    { "kubeconfig", 0, CLI_STRING, NULL, NULL, "kubeconfig to write (default DATA/kubeconfig)", &cli_file },
    { "max-connections", 0, CLI_INT, "1000", NULL,
      "open connections beyond which clients are told to come back", NULL },
    { "port", 'p', CLI_INT, "0", NULL, "port; 0 takes that of the last start, or a free one", NULL },
    CLI_FLAGS_END,
};

static int check_port(int64_t port, struct err **err)
{
    if (port < 0 || port > 65535)
        return err_set(err, ERRC_INVALID, "--port %lld: not a port", (long long)port);
    return 0;
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(apiserver_stop) struct apiserver *s = NULL;
    const char *kubeconfig = cli_string(c, "kubeconfig");
    const struct apiserver_options o = { .data_dir = cli_string(c, "data"),
                                         .address = cli_string(c, "address"),
                                         .port = (int)cli_int(c, "port"),
                                         .kubeconfig = *kubeconfig ? kubeconfig : NULL,
                                         .connections_max = (int)MIN(cli_int(c, "max-connections"), 100000) };
    sigset_t signals;
    int r = check_port(cli_int(c, "port"), err), which;

    if (r < 0)
        return r;
    memory_share_heaps();
    /* Blocked before the first thread is made, so that all threads inherit it and sigwait() gets them. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    r = apiserver_start(&o, &s, err);
    if (r < 0)
        return r;
    cli_printf(c, "API server: %s\nexport KUBECONFIG=%s\n", apiserver_url(s), apiserver_kubeconfig(s));
    fflush(c->out);
    sigwait(&signals, &which);
    return 0;
}

const struct cli_command cmd_apiserver = {
    .name = "apiserver",
    .brief = "run the embedded Kubernetes API server",
    .help = "Run the embedded Kubernetes API server alone. The first start makes a CA, a token and a "
            "kubeconfig in the\n"
            "data directory; kubectl and helm work with that kubeconfig. It ends with SIGINT or SIGTERM.",
    .flags = flags,
    .run = run,
};

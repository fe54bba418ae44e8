/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/cluster.h"

void cli_cluster_done(struct cli_cluster *c)
{
    c->kube = kube_unref(c->kube);
    kube_config_free(c->config);
    c->config = NULL;
}

/* kubectl's name of the flag, else helm's; NULL when neither was given. */
static const char *either(const struct cli *c, const char *kubectl, const char *helm)
{
    if (cli_given(c, kubectl))
        return cli_string(c, kubectl);
    return cli_given(c, helm) ? cli_string(c, helm) : NULL;
}

static const char *given(const struct cli *c, const char *flag)
{
    return cli_given(c, flag) ? cli_string(c, flag) : NULL;
}

static int load_config(const struct cli *c, const char *fallback, struct kube_config **ret, struct err **err)
{
    struct kube_config_options o = {
        .kubeconfig = given(c, "kubeconfig"),
        .context = either(c, "context", "kube-context"),
        .namespace = given(c, "namespace"),
        .server = given(c, "kube-apiserver"),
        .token = given(c, "kube-token"),
        .ca_file = given(c, "kube-ca-file"),
        .tls_server_name = given(c, "kube-tls-server-name"),
        .insecure = cli_bool(c, "kube-insecure-skip-tls-verify"),
        .as = either(c, "as", "kube-as-user"),
        .fallback_server = fallback,
    };

    o.as_groups = cli_list(c, cli_given(c, "as-group") ? "as-group" : "kube-as-group", &o.n_as_groups);
    return kube_config_load(&o, ret, err);
}

int cli_cluster_config(const struct cli *c, struct kube_config **ret, struct err **err)
{
    return load_config(c, NULL, ret, err);
}

static int connect_to(struct cli *c, const char *fallback, struct cli_cluster *ret, struct err **err)
{
    CLEANUP(cli_cluster_done) struct cli_cluster cluster = { 0 };
    int r;

    r = load_config(c, fallback, &cluster.config, err);
    if (r < 0)
        return r;
    r = kube_new(cluster.config, &cluster.kube, err);
    if (r < 0)
        return r;
    *ret = cluster;
    ret->ns = kube_config_namespace(cluster.config);
    cluster = (struct cli_cluster){ 0 };
    return 0;
}

int cli_connect(struct cli *c, struct cli_cluster *ret, struct err **err)
{
    return connect_to(c, NULL, ret, err);
}

int cli_connect_as_helm(struct cli *c, struct cli_cluster *ret, struct err **err)
{
    return connect_to(c, "http://localhost:8080", ret, err);
}

void cli_resource_name(const struct kube_kind *kind, struct str name, struct buf *out)
{
    for (size_t i = 0; i < kind->kind.n; i++)
        buf_addc(out, ascii_lower(kind->kind.p[i]));
    if (kind->group.n > 0)
        buf_addf(out, "." STR_FMT, STR_ARG(kind->group));
    buf_addc(out, '/');
    buf_addstr(out, name);
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* cluster: the server that a command's flags, $KUBECONFIG and ~/.kube/config name. */
#include "kube/kube.h"
#include "pintle/cli.h"

struct cli_cluster {
    struct kube *kube;
    struct kube_config *config;
    struct str ns; /* --namespace, else the context's; borrowed from the flags or the configuration */
};
void cli_cluster_done(struct cli_cluster *c);
DEFINE_CLEANUP_VALUE(struct cli_cluster, cli_cluster_done)

/* What the flags and files say, without a client. */
NODISCARD int cli_cluster_config(const struct cli *c, struct kube_config **ret, struct err **err);
/* No request is made yet. Errors as kube_config_load(). */
NODISCARD int cli_connect(struct cli *c, struct cli_cluster *ret, struct err **err);
/* The same, and http://localhost:8080 when nothing names a server. */
NODISCARD int cli_connect_as_helm(struct cli *c, struct cli_cluster *ret, struct err **err);

/* "release.pintle.dev/web", "pod/web": as kubectl names objects. */
void cli_resource_name(const struct kube_kind *kind, struct str name, struct buf *out);

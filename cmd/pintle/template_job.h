/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* template_job: one `pintle template`: the command, its output (template_output.c), and what it asks of a cluster with
 * --dry-run=server (template_server.c). */
#include "base/map.h"
#include "chart/chart.h"
#include "pintle/cli.h"
#include "pintle/cluster.h"

struct template_server {
    struct cli *c;
    struct arena *arena; /* of the job */
    struct cli_cluster cluster;
    struct value versions; /* what kube_api_versions() said */
};

struct template_job {
    struct cli *c;
    struct chart_log log;
    struct arena *arena;
    struct str name;
    const char *chart_path;
    struct chart *chart;
    struct value values;
    struct chart_capabilities caps;
    bool on_server; /* --dry-run=server */
    struct template_server server;
    struct chart_rendered *rendered;
    struct map written; /* with --output-dir: files of this run */
};

/* Adds what helm says when it has a release whose rendering failed; with --debug prints `broken` (may be NULL) instead. r. */
int template_failed(struct template_job *j, const struct buf *broken, int r, struct err **err);
/* Writes what was rendered, as the flags say. */
NODISCARD int template_print(struct template_job *j, struct err **err);

/* Is the cluster there? Errors and log line as helm's. */
NODISCARD int template_server_connect(struct cli *c, struct arena *a, struct template_server *ret,
                                      struct err **err);
void template_server_done(struct template_server *s);
/* The cluster's versions; a warning when the chart has CRDs, which it does not know yet. */
NODISCARD int template_server_prepare(struct template_server *s, struct chart *chart, struct value values,
                                      struct chart_capabilities *ret, struct err **err);
/* A chart_lookup_fn; ctx is the struct template_server. */
int template_server_lookup(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                           struct str name, struct value *ret, struct err **err);
/* Does the cluster know every kind, and belong the objects that are there to this release? */
NODISCARD int template_server_check(struct template_server *s, const struct chart_rendered *rendered,
                                    const struct chart_render_options *o, struct err **err);

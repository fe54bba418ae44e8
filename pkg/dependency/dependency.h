/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* dependency: the dependencies of a chart in a folder: what is there, what Chart.yaml wants, fetching it, Chart.lock.
 *
 * Behaviour, order and words are those of Helm v4.2.4 (pkg/downloader/manager.go, internal/resolver, pkg/action). Charts come
 * from folders (file://), from HTTP repositories, those of helm's repositories.yaml included (@name, alias:name), from
 * registries (oci://), or stand in charts/ already. Where Helm trusts a server, the index's digest is checked. */
#include "base/buf.h"
#include "base/err.h"
#include "chart/chart.h"
#include "registry/registry.h"

/* The table of `helm dependency list`, and warnings about charts that nobody asked for. Columns wider than `width` are cut. */
NODISCARD int dependency_list(const char *chart_path, size_t width, const struct chart_log *log,
                              struct buf *out, struct err **err);

struct dependency_job { /* all borrowed */
    const char *chart_path;
    const struct registry_locator *locator;
    bool skip_refresh;                        /* the cached indexes are good enough */
    bool debug;                               /* more lines */
    void (*line)(void *ctx, struct str text); /* what helm prints on the way, a line a call */
    void *line_ctx;
    const struct chart_log *log;
};
/* Chart.yaml's dependencies, resolved anew, into charts/; then Chart.lock, when it changes. */
NODISCARD int dependency_update(const struct dependency_job *j, struct err **err);
/* What Chart.lock says into charts/; without one, an update. */
NODISCARD int dependency_build(const struct dependency_job *j, struct err **err);

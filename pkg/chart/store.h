/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store: a chart version as ConfigMaps, and back. Private to the module.
 *
 * Three sets of files: "tmpl" has every file of the archive but values.yaml and crds/, "crds" has crds/ (and, for people who
 * look, the CRDs of packed subcharts), "default" has values.yaml as it was. "tmpl" is written last and deleted first: a version
 * whose "tmpl" is there is complete. */
#include "chart/chart.h"
#include "content/content.h"
#include "kube/kube.h"

#define STORE_DEPENDENCIES_DEPTH_MAX 16
#define STORE_LABEL_DEPENDENT "pintle.dev/dependent" /* "true" on a "tmpl" that takes from other Charts */

/* Dependencies that the archive lacks and that other Charts bring: names of stored versions. */
struct store_dependency {
    struct str name; /* as in Chart.yaml */
    struct chart_stored stored;
};

enum { STORE_SETS = 3 };
struct store_set {
    struct content_set set;
    struct content_file *files;
    size_t n;
};
/* The three sets in the order in which they are written; in `a`. Pure. */
void store_sets(struct arena *a, struct str ns, const struct chart_stored *id, const struct chart *chart,
                struct value owner, const struct store_dependency *deps, size_t n_deps,
                struct store_set ret[STORE_SETS]);
/* False for what is there for people alone. */
bool store_is_chart_file(const struct content_file *f);

/* Writes all three sets, owned by `owner` (the Chart object). *ret_written counts write requests, *ret_parts ConfigMaps. */
NODISCARD int store_write(struct kube *k, struct arena *a, struct str ns, const struct chart_stored *id,
                          const struct chart *chart, struct value owner, const struct store_dependency *deps,
                          size_t n_deps, size_t *ret_written, size_t *ret_parts, struct err **err);
NODISCARD int store_delete(struct kube *k, struct arena *a, struct str ns, const struct chart_stored *id,
                           struct err **err);

/* Of ConfigMaps, or their metadata: whose content they are; strings are borrowed. */
struct chart_stored store_identity(struct value object);
/* The versions that are there, highest first; in `a`. `items` may have other ConfigMaps too. */
void store_versions(struct arena *a, struct value items, struct chart_stored **ret, size_t *ret_n);
/* Nothing of that version is missing among these ConfigMaps of its chart. */
bool store_is_whole(struct value items, const struct chart_stored *id);
/* What a version's "tmpl" says it takes from other Charts; in `a`. 0 when it cannot be read. */
size_t store_dependencies(struct arena *a, struct value tmpl, struct store_dependency **ret);

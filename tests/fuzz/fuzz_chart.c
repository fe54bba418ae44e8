/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "chart/chart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "Chart.yaml",        "values.yaml",         "Chart.lock",
    "requirements.yaml", "charts/s/Chart.yaml", "charts/s/values.yaml",
};

/* The input, cut at NUL bytes, as the files of a chart: loading ends in an error or in a chart whose dependencies can be
 * worked out. Its whole is also split as manifests: the pieces stay inside of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct str text = { size ? (const char *)data : "", size }, rest = text, piece;
    struct chart_file files[ARRAY_SIZE(names)];
    struct chart_crd *crds;
    struct str *docs;
    size_t n = 0, n_docs, n_crds;

    for (; n < ARRAY_SIZE(names) && str_split(&rest, '\0', &piece); n++)
        files[n] = (struct chart_file){ .name = str_from(names[n]), .data = piece };
    if (chart_load_files(files, n, NULL, &c, NULL) == 0)
        IGNORE_ERROR(chart_crds_for_values(c, VALUE_NONE, NULL, a, &crds, &n_crds, NULL));
    docs = chart_split_manifests(a, text, &n_docs);
    for (size_t i = 0; i < n_docs; i++)
        assert(docs[i].n > 0 && docs[i].p >= text.p && docs[i].p + docs[i].n <= text.p + text.n);
    return 0;
}

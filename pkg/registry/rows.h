/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* rows: what is written of a chart; private to the registry module. */
#include "registry/registry_int.h"

struct index_chart {
    struct arena *arena; /* of what is below; NULL: there is no chart */
    struct str name;
    struct registry_version *items;
    size_t n, cap;
};

void index_chart_begin(struct index_chart *c, struct str name);
void index_chart_done(struct index_chart *c); /* empty again */
struct registry_version *index_chart_add(struct index_chart *c);
/* The catalogue. The versions are sorted as Helm does: from new to old, equal ones as they came. */
NODISCARD int index_chart_encode(struct index_chart *c, struct buf *out, struct err **err);

NODISCARD int index_row_put_entry(struct db_txn *t, int64_t row, struct str text, struct err **err);
NODISCARD int index_row_put_chart(struct db_txn *t, struct str chart, struct str catalog, struct err **err);

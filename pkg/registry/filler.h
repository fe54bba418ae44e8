/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* filler: the thread that fills a new file of the index database while the index is still being read; private to the registry
 * module. What it is given is copied, or handed over for good: nothing is shared but the queue. */
#include "registry/rows.h"

struct index_filler;

/* The transaction is the filler's until index_filler_finish() or index_filler_free(). */
NODISCARD int index_filler_start(struct db_txn *t, struct index_filler **ret, struct err **err);
/* An entry of the chart that comes next. Waits while too much is not written yet. A failure is that of any row before. */
NODISCARD int index_filler_entry(struct index_filler *f, int64_t row, struct str text, struct err **err);
/* Takes the chart, which is empty then; its versions are the entries since the last one. Their hashes are filled in. */
NODISCARD int index_filler_chart(struct index_filler *f, struct index_chart *c, struct err **err);
/* All rows are written, and the thread is over. */
NODISCARD int index_filler_finish(struct index_filler *f, struct err **err);
void index_filler_free(struct index_filler *f); /* may be NULL; what is not written yet never is */

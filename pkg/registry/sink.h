/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* sink: where the entries of an index go while it is read; private to the registry module. */
#include "base/map.h"
#include "registry/filler.h"
#include "registry/registry_int.h"
#include "registry/rows.h"
#include "semver/semver.h"

/* One row that is going to be written or deleted. */
enum index_change_kind { INDEX_PUT_ENTRY, INDEX_DROP_ENTRY, INDEX_PUT_CHART, INDEX_DROP_CHART };
struct index_change {
    enum index_change_kind kind;
    int64_t row;      /* entries */
    struct str chart; /* charts */
    struct str text;  /* entry or catalogue */
};

struct index_sink {
    struct registry_db *owner;
    struct str repository;

    /* A new file: rows are written as they come. */
    struct db *fresh;
    char *fresh_path;
    struct db_txn *txn;
    struct index_filler *filler;

    /* An update: compared with the present file, changes kept until the end. */
    struct index_file *file;
    struct db_txn *snapshot;
    struct arena *stage;
    struct index_change *changes;
    size_t n_changes, cap_changes;

    struct map charts; /* names seen so far; not NULL: of a new file, and it has versions */
    int64_t next_row;
    int64_t rows; /* written or deleted */
    struct registry_figures figures;
    struct buf text; /* of one entry or catalogue */

    /* The chart that is being read. */
    struct index_chart chart;
    struct registry_version *known; /* of the present file; in the chart's arena */
    size_t n_known;
    struct map by_hash; /* of `known`: position + 1 */
    bool *used;         /* of `known` */
};

NODISCARD int index_sink_new_file(struct registry_db *d, struct str repository, struct index_sink **ret,
                                  struct err **err);
/* GONE when there is no file any more. */
NODISCARD int index_sink_new_update(struct registry_db *d, struct str repository, struct index_sink **ret,
                                    struct err **err);
void index_sink_free(struct index_sink *s); /* what was not published or applied never was */
DEFINE_CLEANUP(struct index_sink *, index_sink_free)

/* The new file becomes the repository's. row->list is filled in. */
NODISCARD int index_sink_publish(struct index_sink *s, struct index_row *row, struct err **err);
/* One short transaction with all changes. GONE when the present file is not as `before` says any more. */
NODISCARD int index_sink_apply(struct index_sink *s, struct index_row *row, const struct index_row *before,
                               struct err **err);
/* Names of the charts that changed, in `a`. */
void index_sink_changed(const struct index_sink *s, struct arena *a, struct str **ret, size_t *ret_n);

/* The repository's row; not found when there is no usable file. */
NODISCARD int index_find_row(struct registry_db *d, struct str repository, struct arena *a,
                             struct index_row *ret, bool *ret_found, struct err **err);
/* Only the row changes. GONE as above. */
NODISCARD int index_replace_row(struct registry_db *d, struct index_row *row, const struct index_row *before,
                                struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files of the store share: rows and their columns, and who is told of a change. */
#include <pthread.h>
#include <stdatomic.h>

#include "apiserver/store.h"
#include "db/db.h"

enum { BUCKETS = 64 };

/* Those who wait for changes of some resources: of all, or of those whose name falls into the bucket. */
struct bucket {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t rv; /* of the last change that fell into this bucket */
    unsigned wakes;
};

struct api_store {
    struct db *db;
    _Atomic int64_t rv;
    struct bucket any, buckets[BUCKETS];
};

/* store.c */
#define SQL_SEQUENCE "SELECT seq FROM sqlite_sequence WHERE name='revisions'"
#define SQL_COMPACTED "SELECT value FROM facts WHERE name='compacted'"
#define ROW_COLUMNS "r.resource,r.ns,r.name,r.rv,r.labels,b.json"
NODISCARD int api_store_read_number(struct db_txn *t, const char *sql, int64_t *ret, struct err **err);
struct str api_store_ns_column(struct str ns, struct buf *space); /* as it stands in the table */
struct api_row api_store_row_borrow(struct db_stmt *q);           /* of ROW_COLUMNS; until the next step */
struct api_row api_store_row_copy(struct arena *a, const struct api_row *row);

/* store_changes.c */
void api_store_bucket_init(struct bucket *b, int64_t rv);
void api_store_bucket_done(struct bucket *b);
void api_store_tell(struct api_store *s, struct str resource, int64_t rv); /* a change was committed */

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What db.c and stmt.c share. */
#include <pthread.h>
#include <sqlite3.h>

#include "base/map.h"
#include "db/db.h"

/* One SQLite connection; in use by at most one transaction. */
struct db_conn {
    sqlite3 *handle;
    struct map stmts; /* SQL text to its struct db_stmt; more of the same text are behind it */
    int64_t deadline_ms;
};

struct db_txn {
    struct db *db;
    struct db_conn *conn;
    bool writer, open, glance;
};

struct db_stmt {
    sqlite3_stmt *handle;
    struct db_conn *conn;
    struct db_stmt *next; /* of the same text */
    bool busy;
};

/* The error for an SQLite result code, with SQLite's words. */
int db_fail(sqlite3 *handle, int rc, const char *what, struct err **err);
void db_conn_drop_stmts(struct db_conn *c);

/* What glance.c needs of db.c. */
enum { DB_VERSION_BYTES = 16 };
struct db_glance {
    struct db_conn conn;                     /* handle NULL: not open */
    bool busy;                               /* guarded by the database's mutex */
    char *journal;                           /* its path; owned; NULL until it is wanted */
    unsigned char version[DB_VERSION_BYTES]; /* of the file when it was opened */
};
/* Marks the one glance as in use: NULL when it is already, or this file is not one to be glanced at. */
struct db_glance *db_glance_take(struct db *d);
void db_glance_give_back(struct db *d);
const char *db_path(const struct db *d);
int db_cache_kib(const struct db *d);
int64_t db_deadline_ms(const struct db *d); /* of a transaction that begins now */
void db_conn_close(struct db_conn *c);
void db_conn_limit(struct db_conn *c); /* what a connection may do, and for how long */

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
    struct map
        stmts; /* SQL text to struct db_stmt that is not in use; several in use at once are chained by `next` */
    int64_t deadline_ms;
};

struct db_txn {
    struct db *db;
    struct db_conn *conn;
    bool writer, open;
};

struct db_stmt {
    sqlite3_stmt *handle;
    struct db_conn *conn;
    struct db_stmt *next; /* more idle ones of the same text */
};

/* The error for an SQLite result code, with SQLite's words. */
int db_fail(sqlite3 *handle, int rc, const char *what, struct err **err);
void db_conn_drop_stmts(struct db_conn *c);

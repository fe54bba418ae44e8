/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "db/db_int.h"

int db_fail(sqlite3 *handle, int rc, const char *what, struct err **err)
{
    const char *text = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(rc);
    enum errc code;

    switch (rc & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        code = ERRC_PARSE;
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
        code = ERRC_TIMEOUT;
        break;
    case SQLITE_CONSTRAINT:
        code = ERRC_EXISTS;
        break;
    case SQLITE_PERM:
    case SQLITE_READONLY:
        code = ERRC_FORBIDDEN;
        break;
    case SQLITE_TOOBIG:
        code = ERRC_LIMIT;
        break;
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
        code = ERRC_INTERNAL;
        break;
    default:
        code = ERRC_IO;
    }
    return err_set(err, code, "%s: %s", what, text);
}

static int new_stmt(struct db_conn *c, const char *sql, struct db_stmt **ret, struct err **err)
{
    sqlite3_stmt *handle;
    int rc = sqlite3_prepare_v3(c->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, NULL);

    if (rc != SQLITE_OK)
        return db_fail(c->handle, rc, "prepare", err);
    *ret = xcalloc(1, sizeof(**ret));
    (*ret)->handle = handle;
    (*ret)->conn = c;
    return 0;
}

int db_prepare(struct db_txn *t, const char *sql, struct db_stmt **ret, struct err **err)
{
    struct db_conn *c = t->conn;
    struct db_stmt *first = map_get(&c->stmts, str_from(sql)), *q = first;
    int r;

    while (q && q->busy)
        q = q->next;
    if (!q) {
        r = new_stmt(c, sql, &q, err);
        if (r < 0)
            return r;
        q->next = first;
        map_put(&c->stmts, str_from(sql), q);
    }
    q->busy = true;
    *ret = q;
    return 0;
}

static void db_reset(struct db_stmt *q)
{
    sqlite3_reset(q->handle);
}

void db_stmt_done(struct db_stmt *q)
{
    if (!q)
        return;
    db_reset(q);
    sqlite3_clear_bindings(q->handle);
    q->busy = false;
}

void db_conn_drop_stmts(struct db_conn *c)
{
    void *value;

    for (size_t i = 0; map_next(&c->stmts, &i, NULL, &value);) {
        struct db_stmt *q = value;

        while (q) {
            struct db_stmt *next = q->next;

            sqlite3_finalize(q->handle);
            free(q);
            q = next;
        }
    }
    map_done(&c->stmts);
}

/* A failed bind leaves NULL behind and shows when the statement is stepped: only memory or a wrong index can fail. */
static void check_bind(int rc)
{
    assert(rc != SQLITE_RANGE && rc != SQLITE_MISUSE);
    UNUSED(rc);
}

void db_bind_int(struct db_stmt *q, int i, int64_t v)
{
    check_bind(sqlite3_bind_int64(q->handle, i, v));
}

void db_bind_text(struct db_stmt *q, int i, struct str s)
{
    check_bind(sqlite3_bind_text64(q->handle, i, s.n ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8));
}

void db_bind_blob(struct db_stmt *q, int i, struct str s)
{
    check_bind(sqlite3_bind_blob64(q->handle, i, s.n ? s.p : "", s.n, SQLITE_STATIC));
}

int db_step(struct db_stmt *q, struct err **err)
{
    int rc = sqlite3_step(q->handle);

    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    return db_fail(q->conn->handle, rc, "database", err);
}

int db_run(struct db_stmt *q, struct err **err)
{
    int r;

    while ((r = db_step(q, err)) > 0)
        ;
    if (r == 0)
        db_reset(q);
    return r;
}

int64_t db_int(struct db_stmt *q, int column)
{
    return sqlite3_column_int64(q->handle, column);
}

struct str db_text(struct db_stmt *q, int column)
{
    const void *p = sqlite3_column_blob(q->handle, column);

    return (struct str){ p ? p : "", (size_t)sqlite3_column_bytes(q->handle, column) };
}

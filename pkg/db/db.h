/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* db: SQLite with one writer and a few readers per file.
 *
 * A file is open once per process. Work happens in transactions: db_write() waits for the one writer connection,
 * db_read() takes a reader with its own consistent snapshot (WAL: readers never wait for the writer). Both have a
 * deadline for the wait and for the statements inside. Statements are prepared once per connection and cached by
 * their text, which must be a constant. Threads may share a struct db, never a struct db_txn.
 *
 * Errors: PARSE when the file is damaged or not a database (a cache may then be rebuilt), TIMEOUT past the deadline,
 * EXISTS for a violated constraint, IO otherwise. */
#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

struct db;
struct db_txn;
struct db_stmt;

struct db_options {
    /* schema[i] takes a file from version i to i + 1 (PRAGMA user_version); run in one transaction at opening.
     * A file of a later version is refused with UNSUPPORTED. */
    const char *const *schema;
    int n_schema;
    int readers;     /* at most so many readers at once; 0: 4 */
    int deadline_ms; /* for each transaction; 0: 30,000 */
    int cache_kib;   /* page cache of each connection; 0: 2,048 */
    bool durable;    /* each commit survives a power cut; else it survives the death of the process only */
    bool strangers;  /* other processes use the file too (no exclusive lock is taken) */
    /* A cache: a rollback journal instead of WAL and no waiting for the disk, so that between two commits there is one file,
     * which may be renamed. It survives the death of the process; after a power cut it may be damaged. */
    bool disposable;
    /* A new file that nobody sees yet, to be filled in one transaction and renamed: no journal on disk. */
    bool filling;
    int page_kib; /* page size of a new file; 0: 4 */
};

/* Creates the file (mode 0600) when it is absent. FORBIDDEN when another process has it open exclusively. */
NODISCARD int db_open(const char *path, const struct db_options *o, struct db **ret, struct err **err);
void db_close(struct db *d); /* no transaction may be open; d may be NULL */
DEFINE_CLEANUP(struct db *, db_close)

/* Begin. Finish with db_commit(); db_end() rolls back what was not committed and must follow in any case. */
NODISCARD int db_write(struct db *d, struct db_txn **ret, struct err **err);
NODISCARD int db_read(struct db *d, struct db_txn **ret, struct err **err);
/* A look at a disposable file without locks, in a tenth of their time: what was read, and what failed, counts only when
 * db_glance_end() says so, because nobody wrote meanwhile, in whatever process. Else it has to be asked again with db_read(). One
 * at a time: false when another thread is at it, or somebody writes. It is not ended with db_end(). */
NODISCARD bool db_glance(struct db *d, struct db_txn **ret);
NODISCARD bool db_glance_end(struct db_txn *t); /* statements are done before */
NODISCARD int db_commit(struct db_txn *t, struct err **err);
void db_end(struct db_txn *t); /* t may be NULL */
DEFINE_CLEANUP(struct db_txn *, db_end)

/* A statement ready to be bound, `sql` a string constant. Release with db_stmt_done() before db_end(). */
NODISCARD int db_prepare(struct db_txn *t, const char *sql, struct db_stmt **ret, struct err **err);
void db_stmt_done(struct db_stmt *q); /* q may be NULL */
DEFINE_CLEANUP(struct db_stmt *, db_stmt_done)

/* Parameters count from 1. Text and blobs are borrowed until the statement is done. */
void db_bind_int(struct db_stmt *q, int i, int64_t v);
void db_bind_text(struct db_stmt *q, int i, struct str s);
void db_bind_blob(struct db_stmt *q, int i, struct str s);

/* 1: a row is there; 0: done. */
NODISCARD int db_step(struct db_stmt *q, struct err **err);
/* Steps to the end of a statement that yields no rows. */
NODISCARD int db_run(struct db_stmt *q, struct err **err);

/* Columns count from 0; text is borrowed until the next step. */
int64_t db_int(struct db_stmt *q, int column);
struct str db_text(struct db_stmt *q, int column);

int64_t db_changes(struct db_txn *t); /* rows touched by the last statement */

/* Statements without parameters or rows, separated by ';'. */
NODISCARD int db_exec(struct db_txn *t, const char *sql, struct err **err);

/* Checks every page: 0, or PARSE naming the first fault. */
NODISCARD int db_check(struct db *d, struct err **err);

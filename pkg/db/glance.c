/* SPDX-License-Identifier: Apache-2.0 */
/* Reading without locks. A lock costs eight system calls for each look-up: four for the lock, four to see whether the file is still
 * what the cache holds. SQLite does neither for a file that is said to be immutable; that it was so for the time of a look is seen
 * by us, in its change counter (https://www.sqlite.org/fileformat.html 1.3.6), before and after. Each commit writes it first: the
 * pages of a transaction are written in their order, and only when it commits (cache_spill is off). While there is a journal,
 * somebody writes, or was killed when he did, which is for db_read() to undo. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "db/db_int.h"

enum { VERSION_OFFSET = 24 };

/* The counter and what follows it, as SQLite itself compares them. */
static bool read_version(const struct db_conn *c, unsigned char out[DB_VERSION_BYTES])
{
    sqlite3_file *file = NULL;

    return sqlite3_file_control(c->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file &&
           file->pMethods && file->pMethods->xRead(file, out, DB_VERSION_BYTES, VERSION_OFFSET) == SQLITE_OK;
}

/* Who began to write before has a journal, who begins later changes the counter: this is asked before anything is read. */
static bool has_journal(struct db *d, struct db_glance *g)
{
    if (!g->journal)
        g->journal = xasprintf("%s-journal", db_path(d));
    return access(g->journal, F_OK) == 0;
}

/* "file:/a%20b?immutable=1": what has a meaning in a URI is escaped. */
static void put_uri(const struct db *d, struct buf *out)
{
    buf_adds(out, "file:");
    for (const char *p = db_path(d); *p; p++) {
        if (*p == '?' || *p == '#' || *p == '%')
            buf_addf(out, "%%%02x", (unsigned)*p);
        else
            buf_addc(out, *p);
    }
    buf_adds(out, "?immutable=1");
}

static bool open_glance(struct db *d, struct db_glance *g)
{
    CLEANUP(buf_done) struct buf uri = BUF_INIT(4 * FS_PATH_MAX);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    char pragmas[96];

    put_uri(d, &uri);
    if (uri.failed || sqlite3_open_v2(buf_z(&uri), &g->conn.handle, flags, NULL) != SQLITE_OK)
        return false;
    db_conn_limit(&g->conn);
    snprintf(pragmas, sizeof(pragmas), "PRAGMA cache_size=-%d; PRAGMA mmap_size=0;", db_cache_kib(d));
    return read_version(&g->conn, g->version) && !has_journal(d, g) &&
           sqlite3_exec(g->conn.handle, pragmas, NULL, NULL, NULL) == SQLITE_OK;
}

static bool is_unchanged(const struct db_glance *g)
{
    unsigned char now[DB_VERSION_BYTES];

    return read_version(&g->conn, now) && memcmp(now, g->version, sizeof(now)) == 0;
}

bool db_glance(struct db *d, struct db_txn **ret)
{
    struct db_glance *g = db_glance_take(d);

    if (!g)
        return false;
    if (!(g->conn.handle ? !has_journal(d, g) : open_glance(d, g))) {
        db_conn_close(&g->conn);
        db_glance_give_back(d);
        return false;
    }
    g->conn.deadline_ms = db_deadline_ms(d);
    *ret = xcalloc(1, sizeof(**ret));
    **ret = (struct db_txn){ .db = d, .conn = &g->conn, .glance = true };
    return true;
}

bool db_glance_end(struct db_txn *t)
{
    struct db_glance *g = (struct db_glance *)t->conn; /* the connection is its first member */
    bool held = is_unchanged(g);

    g->conn.deadline_ms = 0;
    if (!held)
        db_conn_close(&g->conn);
    db_glance_give_back(t->db);
    free(t);
    return held;
}

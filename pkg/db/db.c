/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/db_int.h"

enum {
    READERS_DEFAULT = 4,
    DEADLINE_DEFAULT_MS = 30000,
    CACHE_DEFAULT_KIB = 2048,
    PAGE_DEFAULT_KIB = 4,
    PROGRESS_STEPS = 10000
};

struct db {
    char *path;
    int lock_fd; /* holds the exclusive lock on PATH.lock; -1 without */
    int deadline_ms, cache_kib, page_kib;
    bool durable, disposable, filling;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t idle;   /* a connection was given back */
    struct db_conn writer;
    bool writer_busy;
    struct db_glance glance;
    struct db_conn **free_readers;
    int n_free, n_readers, max_readers;
};

static int on_progress(void *arg)
{
    const struct db_conn *c = arg;

    return c->deadline_ms > 0 && clock_mono_ms() > c->deadline_ms;
}

/* A disposable file is of journal mode DELETE from the start: nothing has to be asked. Its pages are written by commits alone, the
 * first one first: a glance sees there that a commit has begun. */
static const char *journal_pragma(const struct db *d)
{
    if (d->filling)
        return "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY;";
    return d->disposable ? "PRAGMA cache_spill=OFF;" : "PRAGMA journal_mode=WAL;";
}

static int conn_pragmas(struct db *d, struct db_conn *c, struct err **err)
{
    char *sql = xasprintf("PRAGMA page_size=%d; %s PRAGMA synchronous=%s; PRAGMA cache_size=-%d;"
                          "PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0;"
                          "PRAGMA journal_size_limit=8388608; PRAGMA wal_autocheckpoint=1000;",
                          d->page_kib * 1024, journal_pragma(d),
                          d->disposable || d->filling ? "OFF"
                          : d->durable                ? "FULL"
                                                      : "NORMAL",
                          d->cache_kib);
    int rc = sqlite3_exec(c->handle, sql, NULL, NULL, NULL);

    free(sql);
    return rc == SQLITE_OK ? 0 : db_fail(c->handle, rc, "open", err);
}

void db_conn_limit(struct db_conn *c)
{
    sqlite3_db_config(c->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(c->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(c->handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_progress_handler(c->handle, PROGRESS_STEPS, on_progress, c);
}

static int conn_open(struct db *d, struct db_conn *c, struct err **err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int r, rc = sqlite3_open_v2(d->path, &c->handle, flags, NULL);

    if (rc != SQLITE_OK) {
        r = db_fail(c->handle, rc, "open", err);
        sqlite3_close(c->handle);
        c->handle = NULL;
        return r;
    }
    sqlite3_busy_timeout(c->handle, d->deadline_ms);
    db_conn_limit(c);
    return conn_pragmas(d, c, err);
}

void db_conn_close(struct db_conn *c)
{
    db_conn_drop_stmts(c);
    if (c->handle)
        sqlite3_close(c->handle);
    c->handle = NULL;
}

/* SQLite's own exclusive mode would refuse our readers, so the lock is a file beside the database. */
static int take_lock(struct db *d, struct err **err)
{
    char *name = xasprintf("%s.lock", d->path);
    int r = 0;

    d->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (d->lock_fd < 0)
        r = err_errno(err, errno, "%s", name);
    else if (flock(d->lock_fd, LOCK_EX | LOCK_NB) < 0)
        r = err_set(err, ERRC_FORBIDDEN, "%s: in use by another process", d->path);
    free(name);
    return r;
}

static int make_file(const char *path, struct err **err)
{
    CLEANUP(fd_close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd < 0 ? err_errno(err, errno, "%s", path) : 0;
}

static int read_version(struct db *d, int *ret, struct err **err)
{
    struct db_txn t = { .db = d, .conn = &d->writer };
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(&t, "PRAGMA user_version", &q, err);

    if (r < 0)
        return r;
    r = db_step(q, err);
    if (r < 0)
        return r;
    *ret = (int)db_int(q, 0);
    return 0;
}

static int migrate(struct db *d, const struct db_options *o, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    char pragma[48];
    int version = 0, r;

    r = read_version(d, &version, err);
    if (r == 0 && version == o->n_schema)
        return 0;
    if (r == 0)
        r = db_write(d, &t, err);
    if (r == 0)
        r = read_version(d, &version, err); /* another process may have been here */
    if (r < 0)
        return r;
    if (version > o->n_schema)
        return err_set(err, ERRC_UNSUPPORTED, "schema version %d is newer than this program's %d", version,
                       o->n_schema);
    if (version == o->n_schema)
        return 0;
    for (int i = version; i < o->n_schema; i++) {
        r = db_exec(t, o->schema[i], err);
        if (r < 0)
            return err_wrap(err, r, "schema version %d", i + 1);
    }
    snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%d", o->n_schema);
    r = db_exec(t, pragma, err);
    return r < 0 ? r : db_commit(t, err);
}

static int open_file(struct db *d, const struct db_options *o, struct err **err)
{
    int r = make_file(d->path, err);

    if (r < 0)
        return r;
    if (!o->strangers) {
        r = take_lock(d, err);
        if (r < 0)
            return r;
    }
    r = conn_open(d, &d->writer, err);
    if (r < 0)
        return err_wrap(err, r, "%s", d->path);
    r = migrate(d, o, err);
    return r < 0 ? err_wrap(err, r, "%s", d->path) : 0;
}

/* Nobody asks SQLite how much memory it has, and counting takes a lock for each piece. */
static void configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int db_open(const char *path, const struct db_options *o, struct db **ret, struct err **err)
{
    static pthread_once_t configured = PTHREAD_ONCE_INIT;
    CLEANUP(db_close) struct db *d = xcalloc(1, sizeof(*d));
    pthread_condattr_t attr;
    int r;

    assert(path && o && ret);
    pthread_once(&configured, configure);
    d->path = xstrdup(path);
    d->lock_fd = -1;
    d->deadline_ms = o->deadline_ms ? o->deadline_ms : DEADLINE_DEFAULT_MS;
    d->cache_kib = o->cache_kib ? o->cache_kib : CACHE_DEFAULT_KIB;
    d->page_kib = o->page_kib ? o->page_kib : PAGE_DEFAULT_KIB;
    d->durable = o->durable;
    d->disposable = o->disposable;
    d->filling = o->filling;
    d->max_readers = o->readers ? o->readers : READERS_DEFAULT;
    d->free_readers = xcalloc((size_t)d->max_readers, sizeof(struct db_conn *));
    pthread_mutex_init(&d->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&d->idle, &attr);
    pthread_condattr_destroy(&attr);
    r = open_file(d, o, err);
    if (r < 0)
        return r;
    *ret = TAKE(d);
    return 0;
}

void db_close(struct db *d)
{
    if (!d)
        return;
    assert(!d->writer_busy && !d->glance.busy && d->n_free == d->n_readers);
    for (int i = 0; i < d->n_free; i++) {
        db_conn_close(d->free_readers[i]);
        free(d->free_readers[i]);
    }
    db_conn_close(&d->glance.conn);
    db_conn_close(&d->writer);
    if (d->lock_fd >= 0)
        fd_close(d->lock_fd);
    pthread_cond_destroy(&d->idle);
    pthread_mutex_destroy(&d->mutex);
    free(d->free_readers);
    free(d->glance.journal);
    free(d->path);
    free(d);
}

static int wait_idle(struct db *d, int64_t deadline_ms, struct err **err)
{
    struct timespec until = { .tv_sec = deadline_ms / 1000, .tv_nsec = deadline_ms % 1000 * 1000000 };

    if (pthread_cond_timedwait(&d->idle, &d->mutex, &until) == ETIMEDOUT)
        return err_set(err, ERRC_TIMEOUT, "%s: no connection within %d ms", d->path, d->deadline_ms);
    return 0;
}

static int take_writer(struct db *d, int64_t deadline_ms, struct db_conn **ret, struct err **err)
{
    int r = 0;

    pthread_mutex_lock(&d->mutex);
    while (d->writer_busy && r == 0)
        r = wait_idle(d, deadline_ms, err);
    if (r == 0) {
        d->writer_busy = true;
        *ret = &d->writer;
    }
    pthread_mutex_unlock(&d->mutex);
    return r;
}

static int take_reader(struct db *d, int64_t deadline_ms, struct db_conn **ret, struct err **err)
{
    struct db_conn *c = NULL;
    int r = 0;

    pthread_mutex_lock(&d->mutex);
    while (d->n_free == 0 && d->n_readers == d->max_readers && r == 0)
        r = wait_idle(d, deadline_ms, err);
    if (r == 0) {
        if (d->n_free > 0)
            c = d->free_readers[--d->n_free];
        else
            d->n_readers++;
    }
    pthread_mutex_unlock(&d->mutex);
    if (r < 0)
        return r;
    if (!c) {
        c = xcalloc(1, sizeof(*c));
        r = conn_open(d, c, err);
        if (r < 0) {
            db_conn_close(c);
            free(c);
            pthread_mutex_lock(&d->mutex);
            d->n_readers--;
            pthread_cond_signal(&d->idle);
            pthread_mutex_unlock(&d->mutex);
            return r;
        }
    }
    *ret = c;
    return 0;
}

static void give_back(struct db *d, struct db_conn *c)
{
    c->deadline_ms = 0;
    pthread_mutex_lock(&d->mutex);
    if (c == &d->writer)
        d->writer_busy = false;
    else
        d->free_readers[d->n_free++] = c;
    /* Waiters for the writer and for readers share the condition: wake all, or the wrong one might sleep on. */
    pthread_cond_broadcast(&d->idle);
    pthread_mutex_unlock(&d->mutex);
}

struct db_glance *db_glance_take(struct db *d)
{
    bool taken;

    pthread_mutex_lock(&d->mutex);
    taken = d->disposable && !d->filling && !d->glance.busy;
    if (taken)
        d->glance.busy = true;
    pthread_mutex_unlock(&d->mutex);
    return taken ? &d->glance : NULL;
}

void db_glance_give_back(struct db *d)
{
    pthread_mutex_lock(&d->mutex);
    d->glance.busy = false;
    pthread_mutex_unlock(&d->mutex);
}

const char *db_path(const struct db *d)
{
    return d->path;
}

int db_cache_kib(const struct db *d)
{
    return d->cache_kib;
}

int64_t db_deadline_ms(const struct db *d)
{
    return clock_mono_ms() + d->deadline_ms;
}

/* Begins and ends come with every look-up: they are prepared once, as other statements are. */
static int run_cached(struct db *d, struct db_conn *c, const char *sql)
{
    struct db_txn t = { .db = d, .conn = c };
    struct db_stmt *q;
    int rc;

    if (db_prepare(&t, sql, &q, NULL) < 0)
        return sqlite3_errcode(c->handle);
    rc = sqlite3_step(q->handle);
    db_stmt_done(q);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int begin(struct db *d, bool writer, struct db_txn **ret, struct err **err)
{
    int64_t deadline = db_deadline_ms(d);
    struct db_conn *c = NULL;
    struct db_txn *t;
    int r, rc;

    r = writer ? take_writer(d, deadline, &c, err) : take_reader(d, deadline, &c, err);
    if (r < 0)
        return r;
    c->deadline_ms = deadline;
    rc = run_cached(d, c, writer ? "BEGIN IMMEDIATE" : "BEGIN");
    if (rc != SQLITE_OK) {
        r = db_fail(c->handle, rc, "begin", err);
        give_back(d, c);
        return r;
    }
    t = xcalloc(1, sizeof(*t));
    t->db = d;
    t->conn = c;
    t->writer = writer;
    t->open = true;
    *ret = t;
    return 0;
}

int db_write(struct db *d, struct db_txn **ret, struct err **err)
{
    return begin(d, true, ret, err);
}

int db_read(struct db *d, struct db_txn **ret, struct err **err)
{
    return begin(d, false, ret, err);
}

int db_commit(struct db_txn *t, struct err **err)
{
    int rc;

    assert(t->open);
    t->conn->deadline_ms = 0; /* a commit that was begun is not given up */
    rc = sqlite3_exec(t->conn->handle, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return db_fail(t->conn->handle, rc, "commit", err);
    t->open = false;
    return 0;
}

void db_end(struct db_txn *t)
{
    if (!t)
        return;
    assert(!t->glance);
    t->conn->deadline_ms = 0;
    if (t->open && run_cached(t->db, t->conn, "ROLLBACK") != SQLITE_OK)
        sqlite3_exec(t->conn->handle, "ROLLBACK", NULL, NULL, NULL);
    give_back(t->db, t->conn);
    free(t);
}

int db_exec(struct db_txn *t, const char *sql, struct err **err)
{
    int rc = sqlite3_exec(t->conn->handle, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : db_fail(t->conn->handle, rc, "database", err);
}

int64_t db_changes(struct db_txn *t)
{
    return sqlite3_changes64(t->conn->handle);
}

int db_check(struct db *d, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_read(d, &t, err);

    if (r < 0)
        return r;
    r = db_prepare(t, "PRAGMA integrity_check(1)", &q, err);
    if (r < 0)
        return r;
    r = db_step(q, err);
    if (r < 0)
        return r;
    if (r > 0 && !str_eq(db_text(q, 0), STR("ok")))
        return err_set(err, ERRC_PARSE, "%s: " STR_FMT, d->path, STR_ARG(db_text(q, 0)));
    return 0;
}

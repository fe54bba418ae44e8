/* SPDX-License-Identifier: Apache-2.0 */
/* The store's history: waiting for changes and reading them, and letting old ones go. */
#include <errno.h>
#include <time.h>

#include "apiserver/store_int.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"

enum { COMPACT_BATCH = 500 };

/* ---- who is told ----------------------------------------------------------------------------------------------- */

void api_store_bucket_init(struct bucket *b, int64_t rv)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&b->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &attr);
    pthread_condattr_destroy(&attr);
    b->rv = rv;
}

void api_store_bucket_done(struct bucket *b)
{
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
}

static void bucket_tell(struct bucket *b, int64_t rv)
{
    pthread_mutex_lock(&b->mutex);
    b->rv = MAX(b->rv, rv);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

static struct bucket *bucket_of(struct api_store *s, struct str resource)
{
    return resource.n == 0 ? &s->any : &s->buckets[str_hash(resource) % BUCKETS];
}

void api_store_tell(struct api_store *s, struct str resource, int64_t rv)
{
    bucket_tell(bucket_of(s, resource), rv);
    bucket_tell(&s->any, rv);
}

static void bucket_wake(struct bucket *b)
{
    pthread_mutex_lock(&b->mutex);
    b->wakes++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

void api_store_wake(struct api_store *s)
{
    bucket_wake(&s->any);
    for (size_t i = 0; i < BUCKETS; i++)
        bucket_wake(&s->buckets[i]);
}
/* ---- changes ------------------------------------------------------------------------------------------------- */

#define CHANGE_COLUMNS ROW_COLUMNS ",r.op,r.prev,p.labels"
#define CHANGE_FROM                                \
    " FROM revisions r JOIN bodies b ON b.rv=r.rv" \
    " LEFT JOIN revisions p ON p.rv=r.prev LEFT JOIN bodies pb ON ?4 AND pb.rv=r.prev"

static int changes_prepare(struct db_txn *t, const struct api_changes *c, struct db_stmt **ret,
                           struct err **err)
{
    if (c->resource.n > 0)
        return db_prepare(t,
                          "SELECT " CHANGE_COLUMNS ",pb.json" CHANGE_FROM
                          " WHERE r.resource=?1 AND r.rv>?2 AND (?3='' OR r.ns=?3) ORDER BY r.rv LIMIT ?5",
                          ret, err);
    return db_prepare(t,
                      "SELECT " CHANGE_COLUMNS ",pb.json" CHANGE_FROM
                      " WHERE ?1='' AND r.rv>?2 AND (?3='' OR r.ns=?3) ORDER BY r.rv LIMIT ?5",
                      ret, err);
}

static int changes_read(struct db_txn *t, const struct api_changes *c, struct arena *a,
                        struct api_change **ret, size_t *ret_n, struct err **err)
{
    CLEANUP(buf_done) struct buf ns = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct api_change *items = ARENA_ARRAY(a, struct api_change, c->max);
    size_t n = 0;
    int r = changes_prepare(t, c, &q, err);

    if (r < 0)
        return r;
    db_bind_text(q, 1, c->resource);
    db_bind_int(q, 2, c->after);
    db_bind_text(q, 3, api_store_ns_column(c->ns, &ns));
    db_bind_int(q, 4, c->before);
    db_bind_int(q, 5, (int64_t)c->max);
    while (n < c->max && (r = db_step(q, err)) > 0) {
        struct api_row row = api_store_row_borrow(q);

        items[n] = (struct api_change){ .row = api_store_row_copy(a, &row),
                                        .op = (enum api_op)db_int(q, 6),
                                        .has_before = db_int(q, 7) > 0,
                                        .before_labels = arena_dup(a, db_text(q, 8)),
                                        .before_json = arena_dup(a, db_text(q, 9)) };
        n++;
    }
    if (r < 0)
        return r;
    *ret = items;
    *ret_n = n;
    return 0;
}

int api_store_changes(struct api_store *s, const struct api_changes *c, struct arena *a,
                      struct api_change **ret, size_t *ret_n, int64_t *ret_rv, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    int64_t rv = 0, compacted = 0;
    int r = db_read(s->db, &t, err);

    if (r < 0)
        return r;
    r = api_store_read_number(t, SQL_SEQUENCE, &rv, err);
    if (r < 0)
        return r;
    r = api_store_read_number(t, SQL_COMPACTED, &compacted, err);
    if (r < 0)
        return r;
    if (c->after < compacted)
        return err_set(err, ERRC_GONE, "too old resource version: %lld (%lld)", (long long)c->after,
                       (long long)compacted);
    r = changes_read(t, c, a, ret, ret_n, err);
    if (r < 0)
        return r;
    *ret_rv = *ret_n == c->max ? (*ret)[*ret_n - 1].row.rv : MAX(rv, c->after);
    return 0;
}

bool api_store_wait(struct api_store *s, struct str resource, int64_t after, int timeout_ms)
{
    struct bucket *b = bucket_of(s, resource);
    int64_t until_ms = clock_mono_ms() + timeout_ms;
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    unsigned wakes;
    bool there;

    pthread_mutex_lock(&b->mutex);
    wakes = b->wakes;
    while (b->rv <= after && b->wakes == wakes)
        if (pthread_cond_timedwait(&b->changed, &b->mutex, &until) == ETIMEDOUT)
            break;
    there = b->rv > after;
    pthread_mutex_unlock(&b->mutex);
    return there;
}

/* ---- compaction ---------------------------------------------------------------------------------------------- */

/* The number up to which history may go: older than keep_ms, or more than keep_n numbers ago. */
static int compact_target(struct db_txn *t, int64_t keep_ms, int64_t keep_n, int64_t *ret, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct wall_time now = clock_wall();
    int64_t rv = 0;
    int r = api_store_read_number(t, SQL_SEQUENCE, &rv, err);

    if (r < 0)
        return r;
    r = db_prepare(
        t,
        "SELECT max(rv) FROM revisions WHERE at<? AND rv>=(SELECT value FROM facts WHERE name='compacted')",
        &q, err);
    if (r < 0)
        return r;
    db_bind_int(q, 1, now.s * 1000 + now.ns / 1000000 - keep_ms);
    r = db_step(q, err);
    if (r < 0)
        return r;
    *ret = MAX(rv - keep_n, r > 0 ? db_int(q, 0) : 0);
    return 0;
}

static int compact_mark(struct db_txn *t, int64_t target, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, "UPDATE facts SET value=?1 WHERE name='compacted' AND value<?1", &q, err);

    if (r < 0)
        return r;
    db_bind_int(q, 1, target);
    return db_run(q, err);
}

static int compact_delete(struct db_txn *t, const char *sql, int64_t target, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, sql, &q, err);

    if (r < 0)
        return r;
    db_bind_int(q, 1, target);
    db_bind_int(q, 2, COMPACT_BATCH);
    return db_run(q, err);
}

#define COMPACT_SET                                       \
    "(SELECT rv FROM revisions WHERE next>0 AND next<=?1" \
    " UNION ALL SELECT rv FROM revisions WHERE next=0 AND op=3 AND rv<=?1 LIMIT ?2)"

/* One batch; 1 when there may be more. A short transaction each, so that writers do not wait long. */
static int compact_batch(struct api_store *s, int64_t target, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    int64_t gone;
    int r = db_write(s->db, &t, err);

    if (r < 0)
        return r;
    r = compact_mark(t, target, err);
    if (r < 0)
        return r;
    r = compact_delete(t, "DELETE FROM bodies WHERE rv IN " COMPACT_SET, target, err);
    if (r < 0)
        return r;
    r = compact_delete(t, "DELETE FROM revisions WHERE rv IN " COMPACT_SET, target, err);
    if (r < 0)
        return r;
    gone = db_changes(t);
    r = db_commit(t, err);
    return r < 0 ? r : gone == COMPACT_BATCH;
}

int api_store_compact(struct api_store *s, int64_t keep_ms, int64_t keep_n, struct err **err)
{
    int64_t target = 0;
    int r;

    {
        CLEANUP(db_end) struct db_txn *t = NULL;

        r = db_read(s->db, &t, err);
        if (r < 0)
            return r;
        r = compact_target(t, keep_ms, keep_n, &target, err);
        if (r < 0)
            return r;
    }
    if (target <= 0)
        return 0;
    do
        r = compact_batch(s, target, err);
    while (r > 0);
    return r;
}

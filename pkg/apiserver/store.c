/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/store_int.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "db/db.h"
#include "json/json.h"

enum { READERS = 8 };

/* `ns` carries a '/' behind the name, so that the order of rows is the order of etcd's keys. */
static const char *const schema[] = {
    "CREATE TABLE revisions("
    " rv INTEGER PRIMARY KEY AUTOINCREMENT,"
    " resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    " op INTEGER NOT NULL,"
    " prev INTEGER NOT NULL,"
    " next INTEGER NOT NULL DEFAULT 0," /* 0: the current one (or the deletion) */
    " at INTEGER NOT NULL,"             /* wall clock, milliseconds */
    " owners INTEGER NOT NULL,"
    " labels TEXT NOT NULL);"
    "CREATE UNIQUE INDEX live ON revisions(resource,ns,name) WHERE next=0 AND op<3;"
    "CREATE INDEX by_key ON revisions(resource,ns,name,rv);"
    "CREATE INDEX by_change ON revisions(resource,rv);"
    "CREATE INDEX by_end ON revisions(next) WHERE next>0;"
    "CREATE INDEX deletions ON revisions(rv) WHERE op=3;"
    "CREATE TABLE bodies(rv INTEGER PRIMARY KEY, json BLOB NOT NULL);"
    "CREATE TABLE owners(owner TEXT NOT NULL, resource TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
    " PRIMARY KEY(owner,resource,ns,name)) WITHOUT ROWID;"
    "CREATE INDEX owned ON owners(resource,ns,name);"
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO facts VALUES('compacted',0);",
};

int api_store_read_number(struct db_txn *t, const char *sql, int64_t *ret, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, sql, &q, err);

    if (r < 0)
        return r;
    r = db_step(q, err);
    if (r < 0)
        return r;
    *ret = r > 0 ? db_int(q, 0) : 0;
    return 0;
}

int api_store_open(const char *path, struct api_store **ret, struct err **err)
{
    const struct db_options o = { .schema = schema, .n_schema = ARRAY_SIZE(schema), .readers = READERS };
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_close) struct db *d = NULL;
    struct api_store *s;
    int64_t rv = 0;
    int r;

    r = db_open(path, &o, &d, err);
    if (r < 0)
        return r;
    r = db_read(d, &t, err);
    if (r < 0)
        return r;
    r = api_store_read_number(t, SQL_SEQUENCE, &rv, err);
    if (r < 0)
        return r;
    s = xcalloc(1, sizeof(*s));
    s->db = TAKE(d);
    s->rv = rv;
    api_store_bucket_init(&s->any, rv);
    for (size_t i = 0; i < BUCKETS; i++)
        api_store_bucket_init(&s->buckets[i], rv);
    *ret = s;
    return 0;
}

void api_store_close(struct api_store *s)
{
    if (!s)
        return;
    db_close(s->db);
    api_store_bucket_done(&s->any);
    for (size_t i = 0; i < BUCKETS; i++)
        api_store_bucket_done(&s->buckets[i]);
    free(s);
}

int64_t api_store_rv(struct api_store *s)
{
    return s->rv;
}

int api_store_stamp(struct api_store *s, struct str resource, int64_t *ret, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_read(s->db, &t, err);

    if (r < 0)
        return r;
    r = db_prepare(t, "SELECT max(rv) FROM revisions WHERE resource=?", &q, err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, resource);
    r = db_step(q, err);
    if (r < 0)
        return r;
    *ret = db_int(q, 0);
    return 0;
}

int api_store_check(struct api_store *s, struct err **err)
{
    return db_check(s->db, err);
}

/* ---- labels -------------------------------------------------------------------------------------------------- */

static void api_labels_pack(struct value object, struct buf *out)
{
    struct value labels = value_path(object, "metadata.labels");

    for (struct value_iter it = value_iter(labels); value_next(&it);) {
        buf_addstr(out, it.key);
        buf_addc(out, '\x1f');
        buf_addstr(out, value_str(it.v));
        buf_addc(out, '\x1e');
    }
}

bool api_labels_get(struct str packed, struct str key, struct str *ret)
{
    while (packed.n > 0) {
        size_t end = str_find_char(packed, '\x1e'), sep = str_find_char(packed, '\x1f');

        if (end == STR_NPOS || sep == STR_NPOS || sep > end)
            return false;
        if (str_eq(str_sub(packed, 0, sep), key)) {
            *ret = str_sub(packed, sep + 1, end);
            return true;
        }
        packed = str_sub(packed, end + 1, packed.n);
    }
    return false;
}

/* ---- keys ---------------------------------------------------------------------------------------------------- */

struct str api_store_ns_column(struct str ns, struct buf *space)
{
    buf_clear(space);
    if (ns.n == 0)
        return STR("");
    buf_addstr(space, ns);
    buf_addc(space, '/');
    return buf_str(space);
}

static struct str ns_of_column(struct str column)
{
    return str_trim_suffix(column, STR("/"));
}

static void bind_key(struct db_stmt *q, const struct api_key *key, struct buf *space)
{
    db_bind_text(q, 1, key->resource);
    db_bind_text(q, 2, api_store_ns_column(key->ns, space));
    db_bind_text(q, 3, key->name);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

struct api_row api_store_row_copy(struct arena *a, const struct api_row *row)
{
    return (struct api_row){ .key = { arena_dup(a, row->key.resource), arena_dup(a, row->key.ns),
                                      arena_dup(a, row->key.name) },
                             .rv = row->rv,
                             .json = arena_dup(a, row->json),
                             .labels = arena_dup(a, row->labels) };
}

struct api_row api_store_row_borrow(struct db_stmt *q)
{
    return (struct api_row){ .key = { db_text(q, 0), ns_of_column(db_text(q, 1)), db_text(q, 2) },
                             .rv = db_int(q, 3),
                             .labels = db_text(q, 4),
                             .json = db_text(q, 5) };
}

int api_store_get(struct api_store *s, const struct api_key *key, struct arena *a, struct api_row *ret,
                  struct err **err)
{
    CLEANUP(buf_done) struct buf space = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct api_row row;
    int r;

    r = db_read(s->db, &t, err);
    if (r < 0)
        return r;
    r = db_prepare(t,
                   "SELECT " ROW_COLUMNS " FROM revisions r JOIN bodies b ON b.rv=r.rv"
                   " WHERE r.resource=? AND r.ns=? AND r.name=? AND r.next=0 AND r.op<3",
                   &q, err);
    if (r < 0)
        return r;
    bind_key(q, key, &space);
    r = db_step(q, err);
    if (r < 0)
        return r;
    if (r == 0)
        return err_set(err, ERRC_NOT_FOUND, STR_FMT " " STR_FMT " not found", STR_ARG(key->resource),
                       STR_ARG(key->name));
    row = api_store_row_borrow(q);
    *ret = api_store_row_copy(a, &row);
    return 0;
}

/* One statement for all lists: absent bounds are bound to what does not bind. */
#define LIST_WHERE                                                             \
    " WHERE r.resource=?1 AND r.rv<=?2 AND (r.next=0 OR r.next>?2) AND r.op<3" \
    " AND (?3='' OR r.ns=?3) AND (r.ns,r.name)>(?4,?5) AND (?6='' OR r.name=?6)"

static void bind_list(struct db_stmt *q, const struct api_list *l, int64_t at, const struct api_key *after,
                      struct buf *ns, struct buf *after_ns)
{
    db_bind_text(q, 1, l->resource);
    db_bind_int(q, 2, at);
    db_bind_text(q, 3, api_store_ns_column(l->ns, ns));
    db_bind_text(q, 4, api_store_ns_column(after->ns, after_ns));
    db_bind_text(q, 5, after->name);
    db_bind_text(q, 6, l->name);
}

#define LIST_NS_WHERE                                                          \
    " WHERE r.resource=?1 AND r.rv<=?2 AND (r.next=0 OR r.next>?2) AND r.op<3" \
    " AND r.ns=?3 AND (r.ns,r.name)>(?4,?5) AND (?6='' OR r.name=?6)"

static int list_prepare(struct db_txn *t, const struct api_list *l, struct db_stmt **ret, struct err **err)
{
    if (l->ns.n > 0)
        return db_prepare(t,
                          "SELECT " ROW_COLUMNS " FROM revisions r JOIN bodies b ON b.rv=r.rv" LIST_NS_WHERE
                          " ORDER BY r.resource,r.ns,r.name",
                          ret, err);
    return db_prepare(t,
                      "SELECT " ROW_COLUMNS " FROM revisions r JOIN bodies b ON b.rv=r.rv" LIST_WHERE
                      " ORDER BY r.resource,r.ns,r.name",
                      ret, err);
}

static int list_count(struct db_txn *t, const struct api_list *l, int64_t at, const struct api_key *after,
                      int64_t *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf ns = BUF_INIT(FS_PATH_MAX);
    CLEANUP(buf_done) struct buf after_ns = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, "SELECT count(*) FROM revisions r" LIST_WHERE, &q, err);

    if (r < 0)
        return r;
    bind_list(q, l, at, after, &ns, &after_ns);
    r = db_step(q, err);
    if (r < 0)
        return r;
    *ret = db_int(q, 0);
    return 0;
}

static int list_bounds(struct db_txn *t, int64_t at, int64_t *ret_rv, struct err **err)
{
    int64_t compacted = 0, rv = 0;
    int r = api_store_read_number(t, SQL_SEQUENCE, &rv, err);

    if (r < 0)
        return r;
    r = api_store_read_number(t, SQL_COMPACTED, &compacted, err);
    if (r < 0)
        return r;
    if (at > 0 && at < compacted)
        return err_set(err, ERRC_GONE, "resource version %lld was compacted", (long long)at);
    *ret_rv = at > 0 ? MIN(at, rv) : rv;
    return 0;
}

static int list_rows(struct db_txn *t, const struct api_list *l, api_row_fn fn, void *ctx,
                     struct api_list_end *end, struct err **err)
{
    CLEANUP(buf_done) struct buf ns = BUF_INIT(FS_PATH_MAX);
    CLEANUP(buf_done) struct buf after_ns = BUF_INIT(FS_PATH_MAX);
    CLEANUP(buf_done) struct buf last_ns = BUF_INIT(FS_PATH_MAX);
    CLEANUP(buf_done) struct buf last_name = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    size_t taken = 0;
    int r = list_prepare(t, l, &q, err);

    if (r < 0)
        return r;
    bind_list(q, l, end->rv, &l->after, &ns, &after_ns);
    while ((r = db_step(q, err)) > 0) {
        struct api_row row = api_store_row_borrow(q);

        if (l->limit > 0 && taken == l->limit) {
            end->more = true;
            break;
        }
        r = fn(ctx, &row, err);
        if (r < 0)
            return r;
        taken += (size_t)r;
        if (l->limit > 0 && taken == l->limit) {
            buf_clear(&last_ns);
            buf_clear(&last_name);
            buf_addstr(&last_ns, row.key.ns);
            buf_addstr(&last_name, row.key.name);
        }
    }
    if (r < 0)
        return r;
    if (end->more && l->count) {
        struct api_key last = { l->resource, buf_str(&last_ns), buf_str(&last_name) };

        return list_count(t, l, end->rv, &last, &end->remaining, err);
    }
    return 0;
}

int api_store_list(struct api_store *s, const struct api_list *l, api_row_fn fn, void *ctx,
                   struct api_list_end *ret, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    struct api_list_end end = { 0 };
    int r = db_read(s->db, &t, err);

    if (r < 0)
        return r;
    r = list_bounds(t, l->at, &end.rv, err);
    if (r < 0)
        return r;
    r = list_rows(t, l, fn, ctx, &end, err);
    if (r < 0)
        return r;
    *ret = end;
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

struct current {
    bool found;
    int64_t rv;
    int64_t owners;
};

static int read_current(struct db_txn *t, const struct api_key *key, struct current *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf space = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(
        t, "SELECT rv,owners FROM revisions WHERE resource=? AND ns=? AND name=? AND next=0 AND op<3", &q,
        err);

    if (r < 0)
        return r;
    bind_key(q, key, &space);
    r = db_step(q, err);
    if (r <= 0)
        return r;
    *ret = (struct current){ .found = true, .rv = db_int(q, 0), .owners = db_int(q, 1) };
    return 0;
}

static int check_current(const struct api_write *w, const struct current *now, struct err **err)
{
    if (w->op == API_OP_CREATE) {
        if (now->found)
            return err_set(err, ERRC_EXISTS, STR_FMT " already exists", STR_ARG(w->key.name));
        return 0;
    }
    if (!now->found)
        return err_set(err, ERRC_NOT_FOUND, STR_FMT " not found", STR_ARG(w->key.name));
    if (now->rv != w->expect)
        return err_set(err, ERRC_CONFLICT, STR_FMT " was changed", STR_ARG(w->key.name));
    return 0;
}

static int write_owners(struct db_txn *t, const struct api_write *w, int64_t had, int64_t has,
                        struct err **err)
{
    CLEANUP(buf_done) struct buf space = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_stmt_done) struct db_stmt *drop = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *add = NULL;
    struct value owners = value_path(w->object, "metadata.ownerReferences");
    int r;

    if (had > 0) {
        r = db_prepare(t, "DELETE FROM owners WHERE resource=? AND ns=? AND name=?", &drop, err);
        if (r < 0)
            return r;
        bind_key(drop, &w->key, &space);
        r = db_run(drop, err);
        if (r < 0)
            return r;
    }
    if (has == 0)
        return 0;
    r = db_prepare(t, "INSERT OR IGNORE INTO owners(resource,ns,name,owner) VALUES(?,?,?,?)", &add, err);
    if (r < 0)
        return r;
    for (struct value_iter it = value_iter(owners); value_next(&it);) {
        bind_key(add, &w->key, &space);
        db_bind_text(add, 4, value_str(value_getz(it.v, "uid")));
        r = db_run(add, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int write_revision(struct db_txn *t, const struct api_write *w, int64_t rv, int64_t prev,
                          int64_t owners, struct str labels, struct err **err)
{
    CLEANUP(buf_done) struct buf space = BUF_INIT(FS_PATH_MAX);
    CLEANUP(db_stmt_done) struct db_stmt *old = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct wall_time now = clock_wall();
    int r;

    if (prev > 0) {
        r = db_prepare(t, "UPDATE revisions SET next=? WHERE rv=?", &old, err);
        if (r < 0)
            return r;
        db_bind_int(old, 1, rv);
        db_bind_int(old, 2, prev);
        r = db_run(old, err);
        if (r < 0)
            return r;
    }
    r = db_prepare(t,
                   "INSERT INTO revisions(resource,ns,name,rv,op,prev,at,owners,labels)"
                   " VALUES(?,?,?,?,?,?,?,?,?)",
                   &q, err);
    if (r < 0)
        return r;
    bind_key(q, &w->key, &space);
    db_bind_int(q, 4, rv);
    db_bind_int(q, 5, w->op);
    db_bind_int(q, 6, prev);
    db_bind_int(q, 7, now.s * 1000 + now.ns / 1000000);
    db_bind_int(q, 8, owners);
    db_bind_text(q, 9, labels);
    return db_run(q, err);
}

static int write_body(struct db_txn *t, int64_t rv, struct str json, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, "INSERT INTO bodies(rv,json) VALUES(?,?)", &q, err);

    if (r < 0)
        return r;
    db_bind_int(q, 1, rv);
    db_bind_blob(q, 2, json);
    return db_run(q, err);
}

static void set_rv(struct value object, int64_t rv)
{
    struct value meta = value_getz(object, "metadata");

    assert(value_is_map(meta) && meta.map->arena);
    value_setz(meta, "resourceVersion", value_from_str(arena_printf(meta.map->arena, "%lld", (long long)rv)));
}

static int write_in(struct api_store *s, struct db_txn *t, const struct api_write *w, int64_t *ret_rv,
                    struct err **err)
{
    CLEANUP(buf_done) struct buf json = BUF_INIT(API_OBJECT_MAX);
    CLEANUP(buf_done) struct buf labels = BUF_INIT(API_OBJECT_MAX);
    struct current now = { 0 };
    int64_t rv = s->rv + 1, owners;
    int r = read_current(t, &w->key, &now, err);

    if (r < 0)
        return r;
    r = check_current(w, &now, err);
    if (r < 0)
        return r;
    set_rv(w->object, rv);
    r = json_print(w->object, JSON_ESCAPE_HTML, &json, err);
    if (r < 0)
        return r;
    api_labels_pack(w->object, &labels);
    owners =
        w->op == API_OP_DELETE ? 0 : (int64_t)value_len(value_path(w->object, "metadata.ownerReferences"));
    r = write_revision(t, w, rv, now.rv, owners, buf_str(&labels), err);
    if (r < 0)
        return r;
    r = write_body(t, rv, buf_str(&json), err);
    if (r < 0)
        return r;
    r = write_owners(t, w, now.owners, owners, err);
    if (r < 0)
        return r;
    *ret_rv = rv;
    return db_commit(t, err);
}

int api_store_write(struct api_store *s, const struct api_write *w, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    int64_t rv = 0;
    int r = db_write(s->db, &t, err);

    if (r < 0)
        return r;
    r = write_in(s, t, w, &rv, err);
    if (r < 0)
        return r;
    s->rv = rv; /* still the one writer */
    db_end(TAKE(t));
    api_store_tell(s, w->key.resource, rv);
    return 0;
}

int api_store_dependents(struct api_store *s, struct str uid, struct arena *a, struct api_key **ret,
                         size_t *ret_n, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct api_key *keys = NULL;
    size_t n = 0, cap = 0;
    int r = db_read(s->db, &t, err);

    if (r < 0)
        return r;
    r = db_prepare(t, "SELECT resource,ns,name FROM owners WHERE owner=?", &q, err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, uid);
    while ((r = db_step(q, err)) > 0) {
        if (n == cap) {
            size_t more = cap ? cap * 2 : 8;

            keys = arena_grow(a, keys, cap * sizeof(*keys), more * sizeof(*keys));
            cap = more;
        }
        keys[n++] = (struct api_key){ arena_dup(a, db_text(q, 0)), arena_dup(a, ns_of_column(db_text(q, 1))),
                                      arena_dup(a, db_text(q, 2)) };
    }
    if (r < 0)
        return r;
    *ret = keys;
    *ret_n = n;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"
#include "json/json.h"

#define LOG_MODULE "registry"
#include "base/log.h"

static const char *const schema[] = {
    "CREATE TABLE repositories (name TEXT PRIMARY KEY, url TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT "
    "NOT NULL,"
    " digest TEXT NOT NULL, charts INTEGER NOT NULL, versions INTEGER NOT NULL, skipped INTEGER NOT NULL) "
    "WITHOUT ROWID;"
    "CREATE TABLE versions (repository TEXT NOT NULL, chart TEXT NOT NULL, position INTEGER NOT NULL, "
    "version TEXT NOT NULL,"
    " entry TEXT NOT NULL, PRIMARY KEY (repository, chart, position)) WITHOUT ROWID;",
};

struct registry_db {
    struct db *db;
};

/* A cache that cannot be opened is worth nothing: it is set aside, once, and built anew. */
static int open_or_rebuild(const char *path, struct db **ret, struct err **err)
{
    struct db_options o = { .schema = schema, .n_schema = ARRAY_SIZE(schema) };
    CLEANUP(err_free) struct err *cause = NULL;
    CLEANUP(free_ptr) char *aside = xasprintf("%s.damaged", path);
    int r = db_open(path, &o, ret, &cause);

    if (r != -ERRC_PARSE && r != -ERRC_UNSUPPORTED) {
        if (r < 0 && err)
            *err = TAKE(cause);
        return r;
    }
    log_warn("index database set aside and built anew", LOG_Z("path", path), LOG_ERR(cause));
    if (rename(path, aside) < 0)
        remove(path);
    return db_open(path, &o, ret, err);
}

int registry_db_open(const char *path, struct registry_db **ret, struct err **err)
{
    struct registry_db *d;
    struct db *db;
    int r = open_or_rebuild(path, &db, err);

    if (r < 0)
        return err_wrap(err, r, "index database");
    d = xcalloc(1, sizeof(*d));
    d->db = db;
    *ret = d;
    return 0;
}

void registry_db_close(struct registry_db *d)
{
    if (!d)
        return;
    db_close(d->db);
    free(d);
}

struct db *registry_db_handle(struct registry_db *d)
{
    return d->db;
}

static struct str column(struct db_stmt *q, int i, struct arena *a)
{
    return arena_dup(a, db_text(q, i));
}

int registry_fetched_find(struct registry_db *d, struct str repository, struct arena *a,
                          struct registry_fetched *ret, bool *ret_found, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_read(d->db, &t, err);

    if (r == 0)
        r = db_prepare(
            t,
            "SELECT url, etag, modified, digest, charts, versions, skipped FROM repositories WHERE name = ?1",
            &q, err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, repository);
    r = db_step(q, err);
    *ret_found = r == 1;
    if (r == 1)
        *ret = (struct registry_fetched){
            .url = column(q, 0, a),
            .etag = column(q, 1, a),
            .last_modified = column(q, 2, a),
            .digest = column(q, 3, a),
            .figures = { db_int(q, 4), db_int(q, 5), db_int(q, 6) },
        };
    return r < 0 ? r : 0;
}

int registry_fetched_set(struct registry_db *d, struct str repository, struct str etag,
                         struct str last_modified, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_write(d->db, &t, err);

    if (r == 0)
        r = db_prepare(t, "UPDATE repositories SET etag = ?2, modified = ?3 WHERE name = ?1", &q, err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, etag);
    db_bind_text(q, 3, last_modified);
    r = db_run(q, err);
    return r < 0 ? r : db_commit(t, err);
}

static int delete_rows(struct db_txn *t, const char *sql, struct str repository, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, sql, &q, err);

    if (r < 0)
        return r;
    db_bind_text(q, 1, repository);
    return db_run(q, err);
}

int registry_db_clear(struct db_txn *t, struct str repository, struct err **err)
{
    int r = delete_rows(t, "DELETE FROM versions WHERE repository = ?1", repository, err);

    return r < 0 ? r : delete_rows(t, "DELETE FROM repositories WHERE name = ?1", repository, err);
}

int registry_forget(struct registry_db *d, struct str repository, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    int r = db_write(d->db, &t, err);

    if (r == 0)
        r = registry_db_clear(t, repository, err);
    return r < 0 ? r : db_commit(t, err);
}

int registry_charts(struct registry_db *d, struct str repository, struct arena *a, struct str **ret,
                    size_t *ret_n, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct str *names = NULL;
    size_t n = 0, cap = 0;
    int r = db_read(d->db, &t, err);

    if (r == 0)
        r = db_prepare(t, "SELECT DISTINCT chart FROM versions WHERE repository = ?1 ORDER BY chart", &q,
                       err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, repository);
    while ((r = db_step(q, err)) == 1) {
        if (n == cap) {
            names = arena_grow(a, names, cap * sizeof(*names), (cap * 2 + 16) * sizeof(*names));
            cap = cap * 2 + 16;
        }
        names[n++] = column(q, 0, a);
    }
    *ret = names;
    *ret_n = n;
    return r;
}

static int read_version(struct db_stmt *q, struct str chart, struct arena *a, struct registry_version *ret,
                        struct err **err)
{
    struct str text = column(q, 1, a);
    struct value entry;
    int r = json_parse(a, text, &(struct json_options){ .borrow = true }, &entry, err);

    if (r < 0)
        return err_wrap(err, -ERRC_PARSE, "index database");
    *ret = (struct registry_version){
        .name = chart,
        .version = column(q, 0, a),
        .app_version = value_str(value_getz(entry, "appVersion")),
        .digest = str_trim_prefix(value_str(value_getz(entry, "digest")), STR("sha256:")),
        .entry = entry,
    };
    return 0;
}

int registry_versions(struct registry_db *d, struct str repository, struct str chart, struct arena *a,
                      struct registry_version **ret, size_t *ret_n, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct registry_version *all = NULL;
    size_t n = 0, cap = 0;
    int r = db_read(d->db, &t, err);

    if (r == 0)
        r = db_prepare(
            t, "SELECT version, entry FROM versions WHERE repository = ?1 AND chart = ?2 ORDER BY position",
            &q, err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, chart);
    while ((r = db_step(q, err)) == 1) {
        if (n == cap) {
            all = arena_grow(a, all, cap * sizeof(*all), (cap * 2 + 16) * sizeof(*all));
            cap = cap * 2 + 16;
        }
        r = read_version(q, chart, a, &all[n], err);
        if (r < 0)
            return r;
        n++;
    }
    *ret = all;
    *ret_n = n;
    return r;
}

int registry_pick(const struct registry_version *versions, size_t n, struct str wanted,
                  const struct registry_version **ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct semver v;
    int r;

    *ret = NULL;
    for (size_t i = 0; i < n && wanted.n > 0; i++) {
        if (str_eq(versions[i].version, wanted)) {
            *ret = &versions[i];
            return 0;
        }
    }
    r = semver_constraint_parse(wanted.n ? wanted : STR("*"), &c, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && !*ret; i++)
        if (semver_parse(versions[i].version, &v, NULL) == 0 && semver_constraint_check(c, &v))
            *ret = &versions[i];
    return 0;
}

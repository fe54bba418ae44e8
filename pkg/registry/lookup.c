/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the index database. Damage is never an answer: the file goes, and there is nothing known then. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"

struct reading {
    struct registry_db *db;
    struct str repository;
    struct index_file *file;
    struct db_txn *txn;
};

/* 1; 0 when the repository was never loaded. Always followed by reading_end(). */
static int reading_begin(struct reading *rd, struct err **err)
{
    int r = index_file_open(rd->db, rd->repository, &rd->file, err);

    if (r <= 0)
        return r;
    r = db_read(index_file_db(rd->file), &rd->txn, err);
    return r < 0 ? r : 1;
}

/* What the question came to: r, or 0 ("nothing there") when the file turned out to be damaged. */
static int reading_end(struct reading *rd, int r, struct err **cause, struct err **err)
{
    db_end(rd->txn);
    if (rd->file && index_file_discard(rd->db, rd->repository, rd->file, r, *cause)) {
        err_free(TAKE(*cause));
        r = 0;
    }
    index_file_unref(rd->file);
    if (err)
        *err = *cause;
    else
        err_free(*cause);
    return r;
}

static int row_or_damage(const struct reading *rd, struct arena *a, struct index_row *ret, struct err **err)
{
    bool found;
    int r = index_row_read(rd->txn, rd->repository, a, ret, &found, err);

    if (r == 0 && !found)
        return err_set(err, ERRC_PARSE, "index database: the repository's row is missing");
    return r;
}

/* "There is no such chart" is only true of a complete list. */
static int check_list(const struct reading *rd, struct arena *a, struct err **err)
{
    CLEANUP(buf_done) struct buf digest = BUF_INIT(DIGEST_BYTES_MAX);
    struct index_row row;
    int r = row_or_damage(rd, a, &row, err);

    if (r == 0)
        r = index_list_digest(rd->txn, &digest, err);
    if (r == 0 && !str_eq(buf_str(&digest), row.list))
        return err_set(err, ERRC_PARSE, "index database: the list of charts is not what was written");
    return r;
}

int registry_fetched_find(struct registry_db *d, struct str repository, struct arena *a,
                          struct registry_fetched *ret, bool *ret_found, struct err **err)
{
    struct reading rd = { .db = d, .repository = repository };
    struct err *cause = NULL;
    struct index_row row;
    int r = reading_begin(&rd, &cause);

    if (r == 1) {
        r = row_or_damage(&rd, a, &row, &cause);
        r = r == 0 ? 1 : r;
    }
    r = reading_end(&rd, r, &cause, err);
    *ret_found = r == 1;
    if (r == 1)
        *ret = row.fetched;
    return r < 0 ? r : 0;
}

static int read_names(const struct reading *rd, struct arena *a, struct str **ret, size_t *ret_n,
                      struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct str *names = NULL;
    size_t n = 0, cap = 0;
    int r = db_prepare(rd->txn, "SELECT name FROM charts ORDER BY name", &q, err);

    while (r == 0 && (r = db_step(q, err)) == 1) {
        if (n == cap) {
            names = arena_grow(a, names, cap * sizeof(*names), (cap * 2 + 16) * sizeof(*names));
            cap = cap * 2 + 16;
        }
        names[n++] = arena_dup(a, db_text(q, 0));
        r = 0;
    }
    *ret = names;
    *ret_n = n;
    return r;
}

int registry_charts(struct registry_db *d, struct str repository, struct arena *a, struct str **ret,
                    size_t *ret_n, struct err **err)
{
    struct reading rd = { .db = d, .repository = repository };
    struct err *cause = NULL;
    struct str *names = NULL;
    size_t n = 0;
    int r = reading_begin(&rd, &cause);

    if (r == 1) {
        r = check_list(&rd, a, &cause);
        if (r == 0)
            r = read_names(&rd, a, &names, &n, &cause);
        r = r == 0 ? 1 : r;
    }
    r = reading_end(&rd, r, &cause, err);
    *ret = names;
    *ret_n = r == 1 ? n : 0;
    return r < 0 ? r : 0;
}

/* 1; 0 when there is no such chart. */
static int read_catalog(const struct reading *rd, struct str chart, struct arena *a,
                        struct registry_version **ret, size_t *ret_n, struct err **err)
{
    int r = index_catalog_read(rd->file, rd->txn, chart, a, ret, ret_n, err);

    return r == 0 ? check_list(rd, a, err) : r;
}

int registry_versions(struct registry_db *d, struct str repository, struct str chart, struct arena *a,
                      struct registry_version **ret, size_t *ret_n, struct err **err)
{
    struct reading rd = { .db = d, .repository = repository };
    struct err *cause = NULL;
    int r = reading_begin(&rd, &cause);

    *ret = NULL;
    *ret_n = 0;
    if (r == 1)
        r = read_catalog(&rd, arena_dup(a, chart), a, ret, ret_n, &cause);
    r = reading_end(&rd, r, &cause, err);
    if (r <= 0)
        *ret_n = 0;
    return r < 0 ? r : 0;
}

/* 1; 0 when there is no such row. */
static int read_entry(const struct reading *rd, struct arena *a, struct registry_version *v, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    unsigned char hash[INDEX_HASH];
    struct str text;
    int r = db_prepare(rd->txn, "SELECT entry FROM entries WHERE id = ?1", &q, err);

    if (r < 0)
        return r;
    db_bind_int(q, 1, v->row);
    r = db_step(q, err);
    if (r <= 0)
        return r;
    text = arena_dup(a, db_text(q, 0));
    index_hash(text, hash);
    if (memcmp(hash, v->hash, INDEX_HASH) != 0)
        return 0;
    r = index_entry_parse(a, text, &v->entry, err);
    if (r < 0)
        return r;
    index_entry_make_strings(a, v->entry); /* it was validated when it was written */
    v->digest = str_trim_prefix(value_str(value_getz(v->entry, "digest")), STR("sha256:"));
    return 1;
}

/* Is the version still in the chart's catalogue as it was? Else the index has changed, which is no damage. */
static int check_listed(const struct reading *rd, struct arena *a, const struct registry_version *v,
                        struct err **err)
{
    struct registry_version *versions;
    size_t n = 0;
    int r = read_catalog(rd, v->chart, a, &versions, &n, err);

    for (size_t i = 0; r == 1 && i < n; i++)
        if (versions[i].row == v->row && memcmp(versions[i].hash, v->hash, INDEX_HASH) == 0)
            return err_set(err, ERRC_PARSE, "index database: an entry is not what was written");
    return r < 0 ? r : 0;
}

int registry_versions_load(struct registry_db *d, struct str repository, struct arena *a,
                           struct registry_version *versions, size_t n, struct err **err)
{
    struct reading rd = { .db = d, .repository = repository };
    struct err *cause = NULL;
    int r = reading_begin(&rd, &cause);

    for (size_t i = 0; i < n && r == 1; i++) {
        r = read_entry(&rd, a, &versions[i], &cause);
        if (r == 0)
            r = check_listed(&rd, a, &versions[i], &cause);
    }
    r = reading_end(&rd, r, &cause, err);
    if (r == 0 && n > 0)
        return err_set(err, ERRC_CONFLICT, "the index of repository %.*s has changed", STR_ARG(repository));
    return r < 0 ? r : 0;
}

int registry_pick(struct registry_version *versions, size_t n, struct str wanted,
                  struct registry_version **ret, struct err **err)
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

static int pick_and_read(struct reading *rd, struct str chart, struct str wanted, struct arena *a,
                         struct registry_version *ret, struct err **err)
{
    struct err *cause = NULL;
    int r = index_catalog_pick(rd->file, rd->txn, chart, wanted, a, ret, err);

    if (r <= 0 || (r = read_entry(rd, a, ret, &cause)) == 1)
        return r;
    err_free(cause);
    return err_set(err, ERRC_PARSE, "index database: an entry is not what was written");
}

/* True: it was found without a lock. Whatever else comes out of that has to be asked again. */
static bool find_at_a_glance(struct registry_db *d, struct str repository, struct str chart,
                             struct str wanted, struct arena *a, struct registry_version *ret)
{
    struct reading rd = { .db = d, .repository = repository };
    struct arena_mark mark = arena_mark(a);
    struct registry_version picked = { 0 };
    bool found = false;

    if (index_file_open(d, repository, &rd.file, NULL) != 1)
        return false;
    if (db_glance(index_file_db(rd.file), &rd.txn)) {
        found = pick_and_read(&rd, chart, wanted, a, &picked, NULL) == 1;
        found = db_glance_end(rd.txn) && found;
    }
    index_file_unref(rd.file);
    if (found)
        *ret = picked;
    else
        arena_rewind(a, mark);
    return found;
}

int registry_find(struct registry_db *d, struct str repository, struct str chart, struct str wanted,
                  struct arena *a, struct registry_version *ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct reading rd = { .db = d, .repository = repository };
    struct registry_version picked = { 0 };
    struct semver exact;
    struct err *cause = NULL;
    int r = 0;

    if (wanted.n > 0 && semver_parse(wanted, &exact, NULL) < 0)
        r = semver_constraint_parse(wanted, &c, err);
    if (r < 0)
        return r;
    if (find_at_a_glance(d, repository, chart, wanted, a, ret))
        return 1;
    r = reading_begin(&rd, &cause);
    if (r == 1)
        r = pick_and_read(&rd, chart, wanted, a, &picked, &cause);
    if (r == 0 && rd.txn)
        r = check_list(&rd, a, &cause);
    r = r == -ERRC_NOT_FOUND && !cause ? 0 : r;
    r = reading_end(&rd, r, &cause, err);
    if (r == 1)
        *ret = picked;
    return r;
}

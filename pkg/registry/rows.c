/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/rows.h"

#include <stdlib.h>

#include "base/limits.h"
#include "semver/semver.h"

void index_chart_begin(struct index_chart *c, struct str name)
{
    c->arena = arena_new(INDEX_TEXT_MAX);
    c->name = arena_dup(c->arena, name);
}

void index_chart_done(struct index_chart *c)
{
    arena_free(c->arena);
    *c = (struct index_chart){ 0 };
}

struct registry_version *index_chart_add(struct index_chart *c)
{
    if (c->n == c->cap) {
        size_t cap = c->cap * 2 + 16;

        c->items = arena_grow(c->arena, c->items, c->cap * sizeof(*c->items), cap * sizeof(*c->items));
        c->cap = cap;
    }
    return &c->items[c->n++];
}

struct ranked {
    struct semver version;
    size_t at;
};

/* From new to old, as Helm sorts; equal ones keep their order. */
static int compare_ranked(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    int c = semver_cmp(&b->version, &a->version);

    return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

static void sort(struct index_chart *c)
{
    struct ranked *ranks = ARENA_ARRAY(c->arena, struct ranked, c->n);
    struct registry_version *sorted;
    bool in_order = true;

    for (size_t i = 0; i < c->n; i++) {
        IGNORE_ERROR(semver_parse(c->items[i].version, &ranks[i].version, NULL)); /* it was validated */
        ranks[i].at = i;
        in_order = in_order && (i == 0 || compare_ranked(&ranks[i - 1], &ranks[i]) < 0);
    }
    if (in_order)
        return;
    qsort(ranks, c->n, sizeof(*ranks), compare_ranked);
    sorted = ARENA_ARRAY(c->arena, struct registry_version, c->n);
    for (size_t i = 0; i < c->n; i++)
        sorted[i] = c->items[ranks[i].at];
    c->items = sorted;
    c->cap = c->n;
}

int index_chart_encode(struct index_chart *c, struct buf *out, struct err **err)
{
    sort(c);
    index_catalog_encode(c->items, c->n, out);
    return buf_check(out, err);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

int index_row_put_entry(struct db_txn *t, int64_t row, struct str text, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t, "INSERT INTO entries (id, entry) VALUES (?1, ?2)", &q, err);

    if (r < 0)
        return r;
    db_bind_int(q, 1, row);
    db_bind_text(q, 2, text);
    return db_run(q, err);
}

int index_row_put_chart(struct db_txn *t, struct str chart, struct str catalog, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    unsigned char digest[DIGEST_BYTES_MAX];
    int r = db_prepare(t,
                       "INSERT INTO charts (name, digest, catalog) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO"
                       " UPDATE SET digest = excluded.digest, catalog = excluded.catalog",
                       &q, err);

    if (r < 0)
        return r;
    index_catalog_digest(chart, catalog, digest);
    db_bind_text(q, 1, chart);
    db_bind_blob(q, 2, (struct str){ (const char *)digest, digest_bytes(DIGEST_SHA256) });
    db_bind_blob(q, 3, catalog);
    return db_run(q, err);
}

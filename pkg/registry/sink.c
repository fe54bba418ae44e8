/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "registry/registry.h"
#include "registry/twin.h"
#include "json/json.h"

#define STAGE_MAX (4 * MIB) /* changes of an update that are kept in memory; more are a new file */

static struct index_sink *sink_new(struct registry_db *d, struct str repository)
{
    struct index_sink *s = xcalloc(1, sizeof(*s));

    s->owner = d;
    s->repository = repository;
    s->text = BUF_INIT(INDEX_TEXT_MAX);
    s->next_row = 1;
    return s;
}

static void chart_done(struct index_sink *s)
{
    map_done(&s->by_hash);
    index_chart_done(&s->chart);
    s->known = NULL;
    s->used = NULL;
    s->n_known = 0;
}

void index_sink_free(struct index_sink *s)
{
    if (!s)
        return;
    index_filler_free(s->filler); /* before what it writes to */
    db_end(s->txn);
    db_close(s->fresh);
    if (s->fresh_path)
        unlink(s->fresh_path);
    free(s->fresh_path);
    db_end(s->snapshot);
    index_file_unref(s->file);
    arena_free(s->stage);
    free(s->changes);
    map_done(&s->charts);
    chart_done(s);
    buf_done(&s->text);
    free(s);
}

int index_sink_new_file(struct registry_db *d, struct str repository, struct index_sink **ret,
                        struct err **err)
{
    CLEANUP(index_sink_free) struct index_sink *s = sink_new(d, repository);
    int r = index_file_begin(d, repository, &s->fresh, &s->fresh_path, err);

    if (r == 0)
        r = db_write(s->fresh, &s->txn, err);
    if (r == 0)
        r = index_filler_start(s->txn, &s->filler, err);
    if (r < 0)
        return r;
    *ret = TAKE(s);
    return 0;
}

/* ---- comparing with the present file ----------------------------------------------------------------------------------- */

static int gone(struct err **err)
{
    return err_set(err, ERRC_GONE, "the present file cannot be brought up to date");
}

/* What cannot be read of the present file is no failure: a new file takes its place. */
static int or_gone(int r, struct err **cause, struct err **err)
{
    if (r >= 0)
        return r;
    err_free(TAKE(*cause));
    return gone(err);
}

static int read_next_row(struct index_sink *s, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(s->snapshot, "SELECT max(id) FROM entries", &q, err);

    if (r == 0)
        r = db_step(q, err);
    if (r == 1)
        s->next_row = db_int(q, 0) + 1;
    return r;
}

int index_sink_new_update(struct registry_db *d, struct str repository, struct index_sink **ret,
                          struct err **err)
{
    CLEANUP(index_sink_free) struct index_sink *s = sink_new(d, repository);
    struct err *cause = NULL;
    int r = index_file_open(d, repository, &s->file, &cause);

    if (r == 1)
        r = db_read(index_file_db(s->file), &s->snapshot, &cause);
    if (r == 0 && s->snapshot)
        r = read_next_row(s, &cause);
    if (r < 0)
        return or_gone(r, &cause, err);
    if (!s->snapshot)
        return gone(err);
    s->stage = arena_new(2 * STAGE_MAX);
    *ret = TAKE(s);
    return 0;
}

static int stage(struct index_sink *s, const struct index_change *change, struct err **err)
{
    if (arena_used(s->stage) + change->text.n > STAGE_MAX)
        return gone(err);
    ARRAY_GROW(s->changes, s->cap_changes, s->n_changes + 1);
    s->changes[s->n_changes++] = (struct index_change){ .kind = change->kind,
                                                        .row = change->row,
                                                        .chart = arena_dup(s->stage, change->chart),
                                                        .text = arena_dup(s->stage, change->text) };
    return 0;
}

static struct str hash_key(const unsigned char *hash)
{
    return (struct str){ (const char *)hash, INDEX_HASH };
}

static int read_known(struct index_sink *s, struct str chart, struct err **err)
{
    struct err *cause = NULL;
    int r = index_catalog_read(s->file, s->snapshot, chart, s->chart.arena, &s->known, &s->n_known, &cause);

    if (r < 0)
        return or_gone(r, &cause, err);
    s->used = arena_calloc(s->chart.arena, s->n_known + 1);
    for (size_t i = 0; i < s->n_known; i++) /* of equal entries the first is found */
        if (!map_has(&s->by_hash, hash_key(s->known[i].hash)))
            map_put(&s->by_hash, hash_key(s->known[i].hash), (void *)(uintptr_t)(i + 1));
    return 0;
}

/* An entry of the present file that is not used yet. */
static struct registry_version *find_known(struct index_sink *s, const unsigned char *hash)
{
    uintptr_t at = s->n_known ? (uintptr_t)map_get(&s->by_hash, hash_key(hash)) : 0;

    return at > 0 && !s->used[at - 1] ? &s->known[at - 1] : NULL;
}

/* ---- entries --------------------------------------------------------------------------------------------------------- */

int index_sink_chart(struct index_sink *s, struct str chart, struct err **err)
{
    if (map_has(&s->charts, chart))
        return err_set(err, ERRC_EXISTS, "entries.%.*s is there twice", STR_ARG(chart));
    map_put(&s->charts, chart, NULL);
    chart_done(s);
    index_chart_begin(&s->chart, chart);
    return s->snapshot ? read_known(s, s->chart.name, err) : 0;
}

int index_sink_chart_once(struct index_sink *s, struct str chart, struct err **err)
{
    int r;

    if (map_has(&s->charts, chart))
        return 0;
    r = index_sink_chart(s, chart, err);
    return r < 0 ? r : 1;
}

static void take_over(struct index_sink *s, const struct registry_version *known)
{
    s->used[known - s->known] = true;
    *index_chart_add(&s->chart) = *known;
}

bool index_sink_updates(const struct index_sink *s)
{
    return s->snapshot;
}

bool index_sink_knows(const struct index_sink *s)
{
    return s->n_known > 0;
}

bool index_sink_reuse(struct index_sink *s, struct str text)
{
    unsigned char hash[INDEX_HASH];
    const struct registry_version *known;

    if (s->n_known == 0)
        return false;
    index_hash(text, hash);
    known = find_known(s, hash);
    if (known)
        take_over(s, known);
    return known;
}

/* Versions of a chart have most texts in common. */
static struct str keep_text(struct index_sink *s, struct str text, struct str last)
{
    if (text.n == 0)
        return STR("");
    return str_eq(text, last) ? last : arena_dup(s->chart.arena, text);
}

static void keep_texts(struct index_sink *s, struct registry_version *v)
{
    static const struct registry_version none;
    const struct registry_version *last = s->chart.n ? &s->chart.items[s->chart.n - 1] : &none;

    v->chart = s->chart.name;
    v->version = arena_dup(s->chart.arena, v->version);
    v->name = keep_text(s, v->name, last->name);
    v->app_version = keep_text(s, v->app_version, last->app_version);
    v->description = keep_text(s, v->description, last->description);
    v->keywords = keep_text(s, v->keywords, last->keywords);
}

static int store_entry(struct index_sink *s, int64_t row, struct str text, struct err **err)
{
    struct index_change change = { .kind = INDEX_PUT_ENTRY, .row = row, .text = text };

    if (s->snapshot)
        return stage(s, &change, err);
    s->rows++;
    return index_filler_entry(s->filler, row, text, err);
}

static int print_entry(struct index_sink *s, struct value entry, struct str *ret, struct err **err)
{
    int r;

    buf_clear(&s->text);
    r = json_print(entry, 0, &s->text, err);
    *ret = buf_str(&s->text);
    return r;
}

size_t index_sink_n(const struct index_sink *s)
{
    return s->chart.n;
}

/* `item` has its texts in the sink's arena already. */
static int take_entry(struct index_sink *s, struct registry_version *item, struct str text, struct err **err)
{
    int r;

    if (s->snapshot)
        index_hash(text, item->hash); /* of a new file the filler does it */
    item->row = s->next_row++;
    r = store_entry(s, item->row, text, err);
    if (r < 0)
        return r;
    *index_chart_add(&s->chart) = *item;
    if (arena_failed(s->chart.arena))
        return err_set(err, ERRC_LIMIT, "entries.%.*s has too many versions", STR_ARG(s->chart.name));
    return 0;
}

int index_sink_twin(struct index_sink *s, size_t at, const struct index_twin_found *twin, struct err **err)
{
    struct registry_version item = s->chart.items[at];

    if (twin->version.p)
        item.version = arena_dup(s->chart.arena, twin->version);
    if (twin->app_version.p)
        item.app_version = arena_dup(s->chart.arena, twin->app_version);
    if (twin->description.p)
        item.description = arena_dup(s->chart.arena, twin->description);
    return take_entry(s, &item, twin->text, err);
}

int index_sink_item(struct index_sink *s, const struct registry_version *item, struct str text,
                    struct err **err)
{
    struct registry_version kept;

    if (!item) {
        s->figures.skipped++;
        return 0;
    }
    kept = *item;
    keep_texts(s, &kept);
    return take_entry(s, &kept, text, err);
}

int index_sink_entry(struct index_sink *s, struct arena *a, struct value entry, struct str text,
                     struct err **err)
{
    struct registry_version item;
    bool valid = index_entry_read(a, entry, &item);
    int r;

    if (valid && text.n == 0) {
        r = print_entry(s, entry, &text, err);
        if (r < 0)
            return r;
        if (index_sink_reuse(s, text))
            return 0;
    }
    return index_sink_item(s, valid ? &item : NULL, text, err);
}

/* ---- charts ------------------------------------------------------------------------------------------------------------ */

static int drop_known(struct index_sink *s, struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < s->n_known && r == 0; i++)
        if (!s->used[i])
            r = stage(s, &(struct index_change){ .kind = INDEX_DROP_ENTRY, .row = s->known[i].row }, err);
    if (r == 0 && s->chart.n == 0 && s->n_known > 0)
        r = stage(s, &(struct index_change){ .kind = INDEX_DROP_CHART, .chart = s->chart.name }, err);
    return r;
}

/* The same catalogue as before? Then nothing about the chart has changed, its entries' hashes included. */
static bool is_as_known(struct index_sink *s)
{
    CLEANUP(buf_done) struct buf before = BUF_INIT(INDEX_TEXT_MAX);

    if (s->n_known != s->chart.n)
        return false;
    index_catalog_encode(s->known, s->n_known, &before);
    return str_eq(buf_str(&before), buf_str(&s->text));
}

static int fill_chart(struct index_sink *s, struct err **err)
{
    s->rows++;
    map_put(&s->charts, s->chart.name, s);
    return index_filler_chart(s->filler, &s->chart, err);
}

static int update_chart(struct index_sink *s, struct err **err)
{
    struct index_change change = { .kind = INDEX_PUT_CHART, .chart = s->chart.name };
    int r;

    buf_clear(&s->text);
    r = index_chart_encode(&s->chart, &s->text, err);
    if (r < 0 || is_as_known(s))
        return r;
    change.text = buf_str(&s->text);
    return stage(s, &change, err);
}

int index_sink_chart_end(struct index_sink *s, struct err **err)
{
    int r = drop_known(s, err);

    if (r < 0 || s->chart.n == 0)
        return r;
    s->figures.charts++;
    s->figures.versions += (int64_t)s->chart.n;
    return s->snapshot ? update_chart(s, err) : fill_chart(s, err);
}

/* ---- the end of a load --------------------------------------------------------------------------------------------------- */

static int finish_row(struct db_txn *t, struct index_row *row, struct err **err)
{
    CLEANUP(buf_done) struct buf list = BUF_INIT(DIGEST_BYTES_MAX);
    int r = index_list_digest(t, &list, err);

    if (r < 0)
        return r;
    row->list = buf_str(&list);
    r = index_row_write(t, row, err);
    row->list = STR("");
    return r < 0 ? r : db_commit(t, err);
}

int index_sink_publish(struct index_sink *s, struct index_row *row, struct err **err)
{
    int r = index_filler_finish(s->filler, err);

    if (r == 0)
        r = finish_row(s->txn, row, err);
    if (r < 0)
        return r;
    s->rows++;
    db_end(TAKE(s->txn));
    db_close(TAKE(s->fresh));
    r = index_file_replace(s->owner, s->repository, s->fresh_path, err);
    if (r < 0)
        return r;
    free(TAKE(s->fresh_path));
    return 0;
}

/* Charts of the present file that the index does not name any more. */
static int drop_unseen(struct index_sink *s, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(s->snapshot, "SELECT name FROM charts", &q, err);

    while (r == 0 && (r = db_step(q, err)) == 1) {
        r = 0;
        if (map_has(&s->charts, db_text(q, 0)))
            continue;
        chart_done(s);
        index_chart_begin(&s->chart, db_text(q, 0));
        r = read_known(s, s->chart.name, err);
        if (r == 0)
            r = drop_known(s, err);
    }
    return r;
}

static int delete_row(struct db_txn *t, const struct index_change *c, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_prepare(t,
                       c->kind == INDEX_DROP_ENTRY ? "DELETE FROM entries WHERE id = ?1"
                                                   : "DELETE FROM charts WHERE name = ?1",
                       &q, err);

    if (r < 0)
        return r;
    if (c->kind == INDEX_DROP_ENTRY)
        db_bind_int(q, 1, c->row);
    else
        db_bind_text(q, 1, c->chart);
    return db_run(q, err);
}

static int apply_change(struct db_txn *t, const struct index_change *c, struct err **err)
{
    switch (c->kind) {
    case INDEX_PUT_ENTRY:
        return index_row_put_entry(t, c->row, c->text, err);
    case INDEX_PUT_CHART:
        return index_row_put_chart(t, c->chart, c->text, err);
    default:
        return delete_row(t, c, err);
    }
}

/* Another process may have written since the snapshot. */
static int check_before(struct db_txn *t, const struct index_row *before, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct index_row now;
    bool found;
    int r = index_row_read(t, before->name, a, &now, &found, err);

    if (r < 0)
        return r;
    return found && str_eq(now.list, before->list) ? 0 : gone(err);
}

static int apply(struct index_sink *s, struct db_txn *t, struct index_row *row,
                 const struct index_row *before, struct err **err)
{
    int r = check_before(t, before, err);

    for (size_t i = 0; i < s->n_changes && r == 0; i++)
        r = apply_change(t, &s->changes[i], err);
    return r < 0 ? r : finish_row(t, row, err);
}

int index_sink_apply(struct index_sink *s, struct index_row *row, const struct index_row *before,
                     struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    struct err *cause = NULL;
    int r = drop_unseen(s, &cause);

    db_end(TAKE(s->snapshot)); /* a reader would hold the commit up */
    if (r == 0)
        r = db_write(index_file_db(s->file), &t, &cause);
    if (r == 0)
        r = apply(s, t, row, before, &cause);
    if (r == 0)
        s->rows = (int64_t)s->n_changes + 1;
    return or_gone(r, &cause, err);
}

void index_sink_changed(const struct index_sink *s, struct arena *a, struct str **ret, size_t *ret_n)
{
    struct str *names = ARENA_ARRAY(a, struct str, s->n_changes + map_n(&s->charts)), name;
    size_t n = 0;
    void *filled;

    for (size_t i = 0; map_next(&s->charts, &i, &name, &filled);)
        if (filled)
            names[n++] = arena_dup(a, name);
    for (size_t i = 0; i < s->n_changes; i++)
        if (s->changes[i].kind == INDEX_PUT_CHART || s->changes[i].kind == INDEX_DROP_CHART)
            names[n++] = arena_dup(a, s->changes[i].chart);
    *ret = names;
    *ret_n = n;
}

/* ---- the row alone ------------------------------------------------------------------------------------------------------- */

int index_find_row(struct registry_db *d, struct str repository, struct arena *a, struct index_row *ret,
                   bool *ret_found, struct err **err)
{
    CLEANUP(index_file_unref) struct index_file *f = NULL;
    CLEANUP(err_free) struct err *cause = NULL;
    struct db_txn *t = NULL;
    int r = index_file_open(d, repository, &f, err);

    *ret_found = false;
    if (r <= 0)
        return r;
    r = db_read(index_file_db(f), &t, &cause);
    if (r == 0)
        r = index_row_read(t, repository, a, ret, ret_found, &cause);
    db_end(t);
    if (r < 0 && !index_file_discard(d, repository, f, r, cause)) {
        if (err)
            *err = TAKE(cause);
        return r;
    }
    return 0;
}

int index_replace_row(struct registry_db *d, struct index_row *row, const struct index_row *before,
                      struct err **err)
{
    CLEANUP(index_file_unref) struct index_file *f = NULL;
    CLEANUP(db_end) struct db_txn *t = NULL;
    struct err *cause = NULL;
    int r = index_file_open(d, row->name, &f, &cause);

    if (r == 0)
        return gone(err);
    if (r == 1)
        r = db_write(index_file_db(f), &t, &cause);
    if (r == 0)
        r = check_before(t, before, &cause);
    if (r == 0)
        r = index_row_write(t, row, &cause);
    if (r == 0)
        r = db_commit(t, &cause);
    return or_gone(r, &cause, err);
}

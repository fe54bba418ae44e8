/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of the index database hold and how it is known to be right: the repository's row has a seal and the digest of
 * the list of charts, a chart's row the digest of its catalogue, the catalogue the hash of each entry. */
#include <string.h>
#include <xxhash.h>

#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"
#include "json/json.h"

void index_hash(struct str text, unsigned char out[INDEX_HASH])
{
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(text.p, text.n));
    memcpy(out, hash.digest, INDEX_HASH);
}

static int damaged(struct err **err, const char *what)
{
    return err_set(err, ERRC_PARSE, "index database: %s is not what was written", what);
}

/* ---- the catalogue of a chart -------------------------------------------------------------------------------------- */

/* How many bytes of texts there are, the texts, then the versions. Texts that most versions share are there once. The order of the
 * columns is that of column(). */
enum { COLUMNS = 4 };

static struct str *column(struct registry_version *v, size_t i)
{
    struct str *const all[COLUMNS] = { &v->name, &v->app_version, &v->description, &v->keywords };

    return all[i];
}

static void put_number(struct buf *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_addc(b, (char)(n | 0x80));
    buf_addc(b, (char)n);
}

static void put_text(struct buf *b, struct str s)
{
    put_number(b, s.n);
    buf_addstr(b, s);
}

/* The texts of a version and their numbers. Neighbours mostly have the same, which needs no looking. */
struct numbered {
    struct str text[COLUMNS];
    uint64_t number[COLUMNS];
};

/* Numbers texts from 0 in the order in which they come. */
static void number_texts(const struct registry_version *item, struct map *texts, struct numbered *last)
{
    struct registry_version v = *item;

    for (size_t c = 0; c < COLUMNS; c++) {
        struct str text = *column(&v, c);
        uint64_t found;

        if (last->text[c].p && str_eq(text, last->text[c]))
            continue;
        found = (uint64_t)(uintptr_t)map_get(texts, text);
        if (found == 0) {
            found = map_n(texts) + 1;
            map_put(texts, text, (void *)(uintptr_t)found);
        }
        last->text[c] = text;
        last->number[c] = found - 1;
    }
}

void index_catalog_encode(const struct registry_version *items, size_t n, struct buf *out)
{
    CLEANUP(buf_done) struct buf front = BUF_INIT(out->max);
    CLEANUP(map_done) struct map texts = MAP_INIT;
    struct numbered last = { 0 };
    struct str text;

    for (size_t i = 0; i < n; i++)
        number_texts(&items[i], &texts, &last);
    put_number(&front, map_n(&texts));
    for (size_t i = 0; map_next(&texts, &i, &text, NULL);)
        put_text(&front, text);
    put_text(out, buf_str(&front));
    put_number(out, n);
    for (size_t i = 0; i < n; i++) {
        number_texts(&items[i], &texts, &last);
        put_number(out, (uint64_t)items[i].row);
        buf_add(out, items[i].hash, INDEX_HASH);
        put_text(out, items[i].version);
        for (size_t c = 0; c < COLUMNS; c++)
            put_number(out, last.number[c]);
    }
}

/* Takes from the front; a failed read leaves p at NULL and yields nothing from then on. */
static uint64_t take_number(struct str *s)
{
    uint64_t n = 0;

    for (size_t i = 0; s->p && i < s->n && i < 9; i++) {
        unsigned char c = (unsigned char)s->p[i];

        n |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c < 0x80) {
            *s = str_sub(*s, i + 1, s->n);
            return n;
        }
    }
    *s = STR_NONE;
    return 0;
}

static struct str take_bytes(struct str *s, uint64_t n)
{
    struct str taken;

    if (!s->p || n > s->n) {
        *s = STR_NONE;
        return STR("");
    }
    taken = str_sub(*s, 0, (size_t)n);
    *s = str_sub(*s, (size_t)n, s->n);
    return taken;
}

static struct str take_text(struct str *s)
{
    uint64_t n = take_number(s);

    return take_bytes(s, n);
}

/* A count of things that take a byte or more each. */
static size_t take_count(struct str *s)
{
    uint64_t n = take_number(s);

    if (n > s->n)
        *s = STR_NONE;
    return s->p ? (size_t)n : 0;
}

/* A version whose texts are still numbers. */
static void take_item(struct str *s, struct registry_version *item, uint64_t numbers[COLUMNS])
{
    struct str hash;

    item->row = (int64_t)take_number(s);
    hash = take_bytes(s, INDEX_HASH);
    item->version = take_text(s);
    for (size_t c = 0; c < COLUMNS; c++)
        numbers[c] = take_number(s);
    if (s->p)
        memcpy(item->hash, hash.p, INDEX_HASH);
}

static size_t take_texts(struct arena *a, struct str front, struct str **ret)
{
    size_t n = take_count(&front);

    *ret = ARENA_ARRAY(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        (*ret)[i] = take_text(&front);
    return front.p ? n : 0;
}

static int index_catalog_decode(struct arena *a, struct str chart, struct str text,
                                struct registry_version **ret, size_t *ret_n, struct err **err)
{
    struct str front = take_text(&text), *texts;
    size_t n_texts = take_texts(a, front, &texts), n = take_count(&text);
    struct registry_version *items = ARENA_ARRAY(a, struct registry_version, n);
    uint64_t numbers[COLUMNS];

    for (size_t i = 0; i < n && text.p; i++) {
        items[i] = (struct registry_version){ .chart = chart };
        take_item(&text, &items[i], numbers);
        for (size_t c = 0; c < COLUMNS; c++) {
            if (numbers[c] >= n_texts)
                return damaged(err, "a catalogue");
            *column(&items[i], c) = texts[numbers[c]];
        }
    }
    if (!text.p || text.n > 0)
        return damaged(err, "a catalogue");
    *ret = items;
    *ret_n = n;
    return 0;
}

/* One of the texts: those of the first versions are in front. */
static bool find_text(struct str front, uint64_t number, struct str *ret)
{
    if (number >= take_count(&front))
        return false;
    for (; number > 0; number--)
        take_text(&front);
    *ret = take_text(&front);
    return front.p;
}

static int give_texts(struct str front, const uint64_t numbers[COLUMNS], struct registry_version *item,
                      struct err **err)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (!find_text(front, numbers[c], column(item, c)))
            return damaged(err, "a catalogue");
    return 1;
}

/* Which version is wanted: this one; else what the constraint accepts; else any release. */
struct rule {
    struct str exact;
    const struct semver_constraint *constraint;
};

static bool accepts(const struct rule *rule, struct str version)
{
    struct semver v;

    if (rule->exact.n > 0)
        return str_eq(version, rule->exact);
    return semver_parse(version, &v, NULL) == 0 &&
           (rule->constraint ? semver_constraint_check(rule->constraint, &v) : v.pre.n == 0);
}

/* The first version that the rule accepts. 1, 0, or damage. */
static int pick_in_text(struct str text, const struct rule *rule, struct registry_version *ret,
                        struct err **err)
{
    struct str front = take_text(&text);
    size_t n = take_count(&text);

    for (size_t i = 0; i < n && text.p; i++) {
        struct registry_version item = { 0 };
        uint64_t numbers[COLUMNS];

        take_item(&text, &item, numbers);
        if (text.p && accepts(rule, item.version)) {
            *ret = item;
            return give_texts(front, numbers, ret, err);
        }
    }
    return text.p ? 0 : damaged(err, "a catalogue");
}

/* Every version is a semantic version: what is none cannot be one of them. Without a wish it is "*", as in Helm. */
static int pick_by_rule(struct str text, struct str wanted, struct registry_version *ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    struct semver v;
    int r = 0;

    if (wanted.n == 0)
        return pick_in_text(text, &(struct rule){ 0 }, ret, err);
    if (semver_parse(wanted, &v, NULL) == 0)
        r = pick_in_text(text, &(struct rule){ .exact = wanted }, ret, err);
    if (r == 0 && semver_constraint_parse(wanted, &c, NULL) == 0)
        r = pick_in_text(text, &(struct rule){ .constraint = c }, ret, err);
    return r;
}

static void digest_add_sized(struct digest *d, struct str s)
{
    uint64_t n = s.n;

    digest_add(d, (struct str){ (const char *)&n, sizeof(n) });
    digest_add(d, s);
}

void index_catalog_digest(struct str chart, struct str text, unsigned char out[DIGEST_BYTES_MAX])
{
    CLEANUP(digest_free) struct digest *d = digest_new(DIGEST_SHA256);

    digest_add_sized(d, chart);
    digest_add_sized(d, text);
    digest_finish(d, out);
}

/* 1: the statement is at the chart's row, whose catalogue (*ret) is right; it is borrowed from the statement. */
static int find_row(struct index_file *f, struct db_stmt *q, struct str chart, struct str *ret,
                    struct err **err)
{
    unsigned char digest[DIGEST_BYTES_MAX];
    struct str want;
    int r;

    db_bind_text(q, 1, chart);
    r = db_step(q, err);
    if (r <= 0)
        return r;
    want = db_text(q, 0);
    *ret = db_text(q, 1);
    if (want.n != digest_bytes(DIGEST_SHA256))
        return damaged(err, "a digest");
    if (!index_file_is_verified(f, chart, (const unsigned char *)want.p)) {
        index_catalog_digest(chart, *ret, digest);
        if (memcmp(digest, want.p, want.n) != 0)
            return damaged(err, "a catalogue");
        index_file_set_verified(f, chart, digest);
    }
    return 1;
}

static const char select_chart[] = "SELECT digest, catalog FROM charts WHERE name = ?1";

int index_catalog_read(struct index_file *f, struct db_txn *t, struct str chart, struct arena *a,
                       struct registry_version **ret, size_t *ret_n, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct str text;
    int r = db_prepare(t, select_chart, &q, err);

    if (r == 0)
        r = find_row(f, q, chart, &text, err);
    if (r <= 0)
        return r;
    r = index_catalog_decode(a, chart, arena_dup(a, text), ret, ret_n, err);
    return r < 0 ? r : 1;
}

int index_catalog_pick(struct index_file *f, struct db_txn *t, struct str chart, struct str wanted,
                       struct arena *a, struct registry_version *ret, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    struct str text;
    int r = db_prepare(t, select_chart, &q, err);

    if (r == 0)
        r = find_row(f, q, chart, &text, err);
    if (r <= 0)
        return r;
    r = pick_by_rule(text, wanted, ret, err);
    if (r <= 0)
        return r < 0 ? r : -ERRC_NOT_FOUND;
    ret->chart = arena_dup(a, chart);
    ret->version = arena_dup(a, ret->version);
    for (size_t i = 0; i < COLUMNS; i++)
        *column(ret, i) = arena_dup(a, *column(ret, i));
    return 1;
}

/* ---- the repository's row ------------------------------------------------------------------------------------------- */

static void seal(const struct index_row *row, unsigned char out[DIGEST_BYTES_MAX])
{
    const struct registry_fetched *f = &row->fetched;
    const struct str texts[] = { row->name,      f->url,    f->etag,  f->last_modified,
                                 f->index_stamp, f->digest, row->list };
    const int64_t numbers[] = { f->figures.charts, f->figures.versions, f->figures.skipped };
    CLEANUP(digest_free) struct digest *d = digest_new(DIGEST_SHA256);

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        digest_add_sized(d, texts[i]);
    digest_add(d, (struct str){ (const char *)numbers, sizeof(numbers) });
    digest_finish(d, out);
}

static struct str text_column(struct db_stmt *q, int i, struct arena *a)
{
    return arena_dup(a, db_text(q, i));
}

int index_row_read(struct db_txn *t, struct str repository, struct arena *a, struct index_row *ret,
                   bool *ret_found, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    unsigned char want[DIGEST_BYTES_MAX];
    struct index_row row;
    int r =
        db_prepare(t,
                   "SELECT name, url, etag, modified, stamp, digest, charts, versions, skipped, list, seal "
                   "FROM repository",
                   &q, err);

    *ret_found = false;
    if (r == 0)
        r = db_step(q, err);
    if (r <= 0)
        return r;
    row = (struct index_row){
        .name = text_column(q, 0, a),
        .fetched = { .url = text_column(q, 1, a),
                     .etag = text_column(q, 2, a),
                     .last_modified = text_column(q, 3, a),
                     .index_stamp = text_column(q, 4, a),
                     .digest = text_column(q, 5, a),
                     .figures = { db_int(q, 6), db_int(q, 7), db_int(q, 8) } },
        .list = text_column(q, 9, a),
    };
    seal(&row, want);
    if (!str_eq(db_text(q, 10), (struct str){ (const char *)want, digest_bytes(DIGEST_SHA256) }) ||
        !str_eq(row.name, repository))
        return damaged(err, "the repository's row");
    *ret = row;
    *ret_found = true;
    return 0;
}

int index_row_write(struct db_txn *t, const struct index_row *row, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    const struct registry_fetched *f = &row->fetched;
    const struct str texts[] = { row->name, f->url, f->etag, f->last_modified, f->index_stamp, f->digest };
    unsigned char digest[DIGEST_BYTES_MAX];
    int r =
        db_prepare(t,
                   "INSERT OR REPLACE INTO repository (id, name, url, etag, modified, stamp, digest, charts,"
                   " versions, skipped, list, seal) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                   &q, err);

    if (r < 0)
        return r;
    seal(row, digest);
    for (int i = 0; i < (int)ARRAY_SIZE(texts); i++)
        db_bind_text(q, i + 1, texts[i]);
    db_bind_int(q, 7, f->figures.charts);
    db_bind_int(q, 8, f->figures.versions);
    db_bind_int(q, 9, f->figures.skipped);
    db_bind_blob(q, 10, row->list);
    db_bind_blob(q, 11, (struct str){ (const char *)digest, digest_bytes(DIGEST_SHA256) });
    return db_run(q, err);
}

int index_list_digest(struct db_txn *t, struct buf *out, struct err **err)
{
    CLEANUP(digest_free) struct digest *d = digest_new(DIGEST_SHA256);
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    unsigned char raw[DIGEST_BYTES_MAX];
    int r = db_prepare(t, "SELECT name, digest FROM charts ORDER BY name", &q, err);

    while (r == 0 && (r = db_step(q, err)) == 1) {
        digest_add_sized(d, db_text(q, 0));
        digest_add_sized(d, db_text(q, 1));
        r = 0;
    }
    if (r < 0)
        return r;
    digest_finish(d, raw);
    buf_add(out, raw, digest_bytes(DIGEST_SHA256));
    return buf_check(out, err);
}

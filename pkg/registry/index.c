/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/map.h"
#include "db/db.h"
#include "metadata/metadata.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* One chart's entries on their way into the database. */
struct entry {
    struct str version, json;
    struct semver parsed;
    bool has_semver;
    size_t place; /* in the index: ties keep their order */
};

struct loader {
    struct db_txn *txn;
    struct db_stmt *insert;
    struct yml_reader *reader;
    struct str repository;
    struct digest *digest;
    int fd;
    size_t bytes;
    struct map charts; /* names seen so far */
    bool has_api_version;
    struct registry_figures figures;
};

static int read_bytes(void *ctx, char *to, size_t n, struct err **err)
{
    struct loader *l = ctx;
    ssize_t got;

    do
        got = read(l->fd, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(err, errno, "index");
    l->bytes += (size_t)got;
    if (l->bytes > INDEX_TEXT_MAX)
        return err_set(err, ERRC_LIMIT, "index is larger than the limit of %zu bytes", INDEX_TEXT_MAX);
    digest_add(l->digest, (struct str){ to, (size_t)got });
    return (int)got;
}

/* Helm sorts the versions of a chart from new to old; what is no version comes last. */
static int compare_entries(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    int c;

    if (a->has_semver != b->has_semver)
        return a->has_semver ? -1 : 1;
    c = a->has_semver ? semver_cmp(&b->parsed, &a->parsed) : 0;
    return c ? c : a->place < b->place ? -1 : a->place > b->place;
}

/* As Helm, an entry without apiVersion is v1, and one that fails validation is left out. False: leave it out. */
static bool check_entry(struct arena *a, struct value v, struct str *ret_version)
{
    struct metadata md = { 0 };

    if (!value_is_map(v) || metadata_decode(a, v, &md, NULL) < 0)
        return false;
    if (md.api_version.n == 0)
        md.api_version = STR("v1");
    if (metadata_check(a, &md, NULL) < 0)
        return false;
    *ret_version = md.version;
    return true;
}

static int add_entry(struct loader *l, struct arena *a, struct value v, struct entry *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
    int r;

    if (!check_entry(a, v, &ret->version)) {
        l->figures.skipped += !value_is_null(v);
        return 0;
    }
    r = json_print(v, 0, &text, err);
    if (r < 0)
        return r;
    ret->json = arena_dup(a, buf_str(&text));
    ret->has_semver = semver_parse(ret->version, &ret->parsed, NULL) == 0;
    return 1;
}

static int store_chart(struct loader *l, struct str chart, struct entry *entries, size_t n, struct err **err)
{
    if (n > 1)
        qsort(entries, n, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < n; i++) {
        int r;

        db_bind_text(l->insert, 1, l->repository);
        db_bind_text(l->insert, 2, chart);
        db_bind_int(l->insert, 3, (int64_t)i);
        db_bind_text(l->insert, 4, entries[i].version);
        db_bind_text(l->insert, 5, entries[i].json);
        r = db_run(l->insert, err);
        db_reset(l->insert);
        if (r < 0)
            return r;
    }
    l->figures.charts += n > 0;
    l->figures.versions += (int64_t)n;
    return 0;
}

/* entries.<chart>: a list of maps, or null. */
static int load_chart(struct loader *l, struct str chart, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct yml_options options = { .strict = true };
    struct entry *entries = NULL;
    size_t n = 0, cap = 0, place = 0;
    struct yml_event e;
    int r = yml_reader_next(l->reader, &e, err);

    chart = arena_dup(a, chart);
    if (r < 0)
        return r;
    if (e.kind == YML_SCALAR || e.kind == YML_ALIAS)
        return 0;
    if (e.kind != YML_LIST)
        return err_set(err, ERRC_PARSE, "line %zu: entries.%.*s is not a list", e.line, STR_ARG(chart));
    while ((r = yml_reader_next(l->reader, &e, err)) >= 0 && e.kind != YML_LIST_END) {
        struct value v;

        r = yml_reader_value(l->reader, &e, a, &options, &v, err);
        if (r < 0)
            return err_wrap(err, r, "entries.%.*s", STR_ARG(chart));
        if (n == cap) {
            entries = arena_grow(a, entries, cap * sizeof(*entries), (cap * 2 + 16) * sizeof(*entries));
            cap = cap * 2 + 16;
        }
        entries[n] = (struct entry){ .place = place };
        place++;
        r = add_entry(l, a, v, &entries[n], err);
        if (r < 0)
            return r;
        n += r == 1;
        if (arena_failed(a))
            return err_set(err, ERRC_LIMIT, "entries.%.*s is larger than %zu bytes", STR_ARG(chart),
                           INDEX_TEXT_MAX);
    }
    return r < 0 ? r : store_chart(l, chart, entries, n, err);
}

static int load_entries(struct loader *l, struct err **err)
{
    struct yml_event e;
    int r = yml_reader_next(l->reader, &e, err);

    if (r < 0 || e.kind == YML_SCALAR)
        return r;
    if (e.kind != YML_MAP)
        return err_set(err, ERRC_PARSE, "line %zu: entries is not a map", e.line);
    while ((r = yml_reader_next(l->reader, &e, err)) >= 0 && e.kind != YML_MAP_END) {
        CLEANUP(free_ptr) char *name = str_dup(e.text);
        size_t line = e.line;

        if (map_put(&l->charts, str_from(name), l))
            return err_set(err, ERRC_PARSE, "line %zu: entries.%s is there twice", line, name);
        r = load_chart(l, str_from(name), err);
        if (r < 0)
            return r;
    }
    return r;
}

static int skip_value(struct loader *l, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct yml_event e;
    struct value ignored;
    int r = yml_reader_next(l->reader, &e, err);

    return r < 0 ? r : yml_reader_value(l->reader, &e, a, NULL, &ignored, err);
}

static int load_api_version(struct loader *l, struct err **err)
{
    struct yml_event e;
    int r = yml_reader_next(l->reader, &e, err);

    if (r == 0)
        l->has_api_version = e.kind == YML_SCALAR && e.text.n > 0;
    return r;
}

static int load_document(struct loader *l, struct err **err)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    struct yml_event e;
    int r = yml_reader_next(l->reader, &e, err);

    if (r == 0 && e.kind == YML_DOCUMENT)
        r = yml_reader_next(l->reader, &e, err);
    if (r < 0)
        return r;
    if (e.kind == YML_END)
        return err_set(err, ERRC_PARSE, "empty index.yaml file");
    if (e.kind != YML_MAP)
        return err_set(err, ERRC_PARSE, "line %zu: not a map: this is no index.yaml", e.line);
    while ((r = yml_reader_next(l->reader, &e, err)) >= 0 && e.kind != YML_MAP_END) {
        if (map_put(&seen, e.text, l))
            return err_set(err, ERRC_PARSE, "line %zu: key %.*s is there twice", e.line, STR_ARG(e.text));
        if (str_eq(e.text, STR("entries")))
            r = load_entries(l, err);
        else if (str_eq(e.text, STR("apiVersion")))
            r = load_api_version(l, err);
        else
            r = skip_value(l, err);
        if (r < 0)
            return r;
    }
    if (r == 0 && !l->has_api_version)
        return err_set(err, ERRC_INVALID, "no API version specified");
    return r;
}

static int store_repository(struct loader *l, struct str url, struct err **err)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    char hex[SHA256_HEX];
    int r = db_prepare(l->txn, "INSERT INTO repositories VALUES (?1, ?2, '', '', ?3, ?4, ?5, ?6)", &q, err);

    if (r < 0)
        return r;
    digest_finish_hex(l->digest, hex);
    db_bind_text(q, 1, l->repository);
    db_bind_text(q, 2, url);
    db_bind_text(q, 3, str_from(hex));
    db_bind_int(q, 4, l->figures.charts);
    db_bind_int(q, 5, l->figures.versions);
    db_bind_int(q, 6, l->figures.skipped);
    return db_run(q, err);
}

/* What follows the document still counts for the digest. */
static int read_rest(struct loader *l, struct err **err)
{
    char rest[16 * 1024];
    int r;

    while ((r = read_bytes(l, rest, sizeof(rest), err)) > 0)
        ;
    return r;
}

static int load(struct loader *l, struct str url, struct err **err)
{
    int r = registry_db_clear(l->txn, l->repository, err);

    if (r == 0)
        r = db_prepare(l->txn, "INSERT INTO versions VALUES (?1, ?2, ?3, ?4, ?5)", &l->insert, err);
    if (r == 0)
        r = load_document(l, err);
    if (r == 0)
        r = read_rest(l, err);
    db_stmt_done(l->insert);
    return r < 0 ? r : store_repository(l, url, err);
}

int registry_index_load(struct registry_db *d, struct str repository, struct str url, const char *path,
                        struct registry_figures *ret, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct loader l = { .repository = repository, .fd = fd };
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", path);
    r = db_write(registry_db_handle(d), &t, err);
    if (r < 0)
        return r;
    l.txn = t;
    l.digest = digest_new(DIGEST_SHA256);
    l.reader = yml_reader_new(read_bytes, &l);
    r = load(&l, url, err);
    if (r == 0)
        r = db_commit(t, err);
    yml_reader_free(l.reader);
    digest_free(l.digest);
    map_done(&l.charts);
    if (r == 0)
        *ret = l.figures;
    return r < 0 ? err_wrap(err, r, "index of repository %.*s", STR_ARG(repository)) : 0;
}

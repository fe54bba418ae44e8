/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a mirror, one below, at them, one above. Names and tags: test_store.c; manifests of a version, a full mirror:
 * test_prune.c; what is pushed: tests/e2e/mirror.sh. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mirror/bundle.h"
#include "mirror/mirror_int.h"
#include "registry/registry.h"
#include "unit/mirror/mirror_lib.h"

static const int beside[] = { -1, 0, 1 };

static struct str text_of(struct fixture *f, size_t n)
{
    char *p = arena_alloc(f->arena, n);

    memset(p, 'x', n);
    return (struct str){ p, n };
}

static void test_a_provenance_file_has_a_limit(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        const char *version = arena_dupz(f->arena, arena_printf(f->arena, "1.%zu.0", i));
        struct mirror_addition what = { .archive = make_chart(f->arena, "web", version, 1),
                                        .provenance =
                                            text_of(f, (size_t)((int)MIRROR_PROVENANCE_MAX + beside[i])) };
        enum mirror_outcome outcome;
        struct err *err = NULL;

        if (beside[i] > 0)
            assert_fails(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, &err), ERRC_LIMIT, err,
                         "the provenance file is larger than 1048576 bytes");
        else
            assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, &err), err);
    }
}

static int64_t record_size(struct fixture *f, const char *version)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/charts/web/@%s", f->folder, version);
    CLEANUP(buf_done) struct buf text = BUF_INIT(2 * MIRROR_RECORD_MAX);
    struct err *err = NULL;

    assert_ok(fs_read_file(path, &text, &err), err);
    return (int64_t)text.n;
}

static int add_described(struct fixture *f, const char *version, size_t n, struct err **err)
{
    struct mirror_addition what = { .archive = make_chart(f->arena, "web", version, 1) };
    enum mirror_outcome outcome;

    what.entry = value_new_map(f->arena);
    value_setz(what.entry, "name", VALUE_STR("web"));
    value_setz(what.entry, "version", value_from_str(str_from(version)));
    value_setz(what.entry, "created", VALUE_STR("2026-01-01T00:00:00Z"));
    value_setz(what.entry, "description", value_from_str(text_of(f, n)));
    return mirror_add(f->mirror, f->arena, &what, &outcome, NULL, err);
}

static void test_a_record_has_a_limit(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    int64_t rest;

    assert_ok(add_described(f, "1.0.0", 1000, &err), err);
    rest = record_size(f, "1.0.0") - 1000;
    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        const char *version = arena_dupz(f->arena, arena_printf(f->arena, "2.%zu.0", i));
        int r = add_described(f, version, (size_t)((int64_t)MIRROR_RECORD_MAX - rest + beside[i]), &err);

        if (beside[i] > 0) {
            assert_fails(r, ERRC_LIMIT, err, NULL);
        } else {
            assert_ok(r, err);
            assert_num(record_size(f, version), (int64_t)MIRROR_RECORD_MAX + beside[i]);
        }
    }
}

/* Each version adds a file, so that it has pieces of all that were before. */
static void test_an_archive_has_pieces_of_so_many_others(void **state)
{
    struct fixture *f = *state;
    struct archive_file files[MIRROR_SOURCES_MAX + 3] = { 0 };

    for (size_t i = 0; i <= MIRROR_SOURCES_MAX + 1; i++) {
        CLEANUP(buf_done) struct buf packed = BUF_INIT(8 * MIB), text = BUF_INIT(MIB);
        struct mirror_record r;
        struct str *sources;
        struct err *err = NULL;
        size_t n;

        files[0].name = STR("Chart.yaml");
        files[0].data = arena_printf(f->arena, "apiVersion: v2\nname: web\nversion: 1.%zu.0\n", i);
        add_noise(&text, (uint32_t)(i + 1) * 77777, 200);
        files[i + 1].name = arena_printf(f->arena, "templates/file%zu.yaml", i);
        files[i + 1].data = arena_dup(f->arena, buf_str(&text));
        assert_ok(archive_write(STR("web"), files, i + 2, &packed, &err), err);
        add(f, buf_str(&packed), &r);
        assert_ok(mirror_pack_sources(f->mirror, f->arena, r.archive, &sources, &n, &err), err);
        assert_num(n, i <= MIRROR_SOURCES_MAX ? i : 0);
        assert_given_back(f, &r, arena_dup(f->arena, buf_str(&packed)));
    }
}

static void test_a_larger_archive_is_kept_whole(void **state)
{
    static const struct str header = { "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10 };

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        struct fixture *f = *state;
        CLEANUP(arena_free) struct arena *a = arena_new(4 * MIRROR_TAR_MAX);
        CLEANUP(buf_done)
        struct buf tar = BUF_INIT(2 * MIRROR_TAR_MAX), packed = BUF_INIT(2 * MIRROR_TAR_MAX),
                   out = BUF_INIT(MIRROR_TAR_MAX);
        size_t n = (size_t)((int64_t)MIRROR_TAR_MAX + beside[i]);
        struct err *err = NULL;
        struct pack p;

        UNUSED(f);
        memset(buf_reserve(&tar, n), 0, n);
        buf_commit(&tar, n);
        assert_ok(archive_gzip_join(header, 0, buf_str(&tar), &packed, &err), err);
        assert_num(pack_make(a, buf_str(&packed), NULL, &p, &out, &err), beside[i] > 0 ? 0 : 1);
    }
}

static void test_the_manifest_of_a_bundle_has_a_limit(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr) char *path = fs_join(f->dir, "bundle");

    for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(MIRROR_BUNDLE_MANIFEST_MAX);
        CLEANUP(fd_close) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        unsigned char header[512];
        unsigned sum = 0;
        struct err *err = NULL;

        assert_ok(bundle_write(fd, BUNDLE_MANIFEST, STR("{}"), &err), err);
        assert_int_equal(pread(fd, header, sizeof(header), 0), sizeof(header));
        snprintf((char *)header + 124, 12, "%011zo",
                 (size_t)((int64_t)MIRROR_BUNDLE_MANIFEST_MAX + beside[i]));
        memset(header + 148, ' ', 8);
        for (size_t k = 0; k < sizeof(header); k++)
            sum += header[k];
        snprintf((char *)header + 148, 8, "%06o", sum);
        header[155] = ' ';
        assert_int_equal(pwrite(fd, header, sizeof(header), 0), sizeof(header));
        lseek(fd, 0, SEEK_SET);
        if (beside[i] > 0)
            assert_fails(bundle_read(fd, BUNDLE_MANIFEST, &out, &err), ERRC_LIMIT, err,
                         "manifest.json in the bundle has 268435457 bytes");
        else
            assert_fails(bundle_read(fd, BUNDLE_MANIFEST, &out, &err), ERRC_PARSE, err,
                         "the bundle is cut short");
    }
}

/* Their archives cannot be had, which is quick. */
static void add_versions(struct buf *index, const char *name, size_t n)
{
    buf_addf(index, "  %s:\n", name);
    for (size_t i = 0; i < n; i++)
        buf_addf(index, "  - {apiVersion: v2, name: %s, version: 1.0.%zu, urls: ['file:///none']}\n", name,
                 i);
}

static void test_a_sync_looks_at_so_many_versions(void **state)
{
    struct fixture *f = *state;
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    CLEANUP(buf_done) struct buf index = BUF_INIT(8 * MIB);
    CLEANUP(free_ptr) char *path = fs_join(f->dir, "index.yaml");
    CLEANUP(free_ptr) char *folder = fs_join(f->dir, "db");
    struct mirror_wanted charts[] = { { STR("a"), STR("") }, { STR("b"), STR("") }, { STR("c"), STR("") } };
    struct registry_source source = { .name = STR("test"), .url = STR("http://127.0.0.1:1") };
    struct mirror_sync_options o = { .source = &source, .charts = charts, .repository = STR("test") };
    struct registry_load load = { .repository = STR("test"), .path = path };
    struct registry_loaded loaded;
    struct mirror_sync_figures figures;
    struct err *err = NULL;

    buf_adds(&index, "apiVersion: v1\nentries:\n");
    add_versions(&index, "a", MIRROR_SYNC_MAX - 1);
    add_versions(&index, "b", 1);
    add_versions(&index, "c", 1);
    assert_ok(fs_write_file(path, buf_str(&index), 0600, &err), err);
    assert_ok(registry_db_open(folder, &db, &err), err);
    assert_ok(registry_index_load(db, &load, f->arena, &loaded, &err), err);
    o.db = db;
    for (size_t n = 1; n <= ARRAY_SIZE(charts); n++) {
        o.n_charts = n;
        if (n == 3) {
            assert_fails(mirror_sync(f->mirror, &o, &figures, &err), ERRC_LIMIT, err,
                         "more than 20000 versions");
        } else {
            assert_ok(mirror_sync(f->mirror, &o, &figures, &err), err);
            assert_num(figures.failed, MIRROR_SYNC_MAX - 2 + n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_provenance_file_has_a_limit),           TEST(test_a_record_has_a_limit),
        TEST(test_an_archive_has_pieces_of_so_many_others), TEST(test_a_larger_archive_is_kept_whole),
        TEST(test_the_manifest_of_a_bundle_has_a_limit),    TEST(test_a_sync_looks_at_so_many_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

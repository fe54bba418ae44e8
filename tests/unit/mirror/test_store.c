/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "unit/mirror/mirror_lib.h"
#include "json/json.h"

static char *object_file(const struct fixture *f, struct str digest, const char *suffix)
{
    return xasprintf("%s/objects/%.2s/%.*s%s", f->folder, digest.p, STR_ARG(digest), suffix);
}

static int64_t pack_size(const struct fixture *f, struct str digest)
{
    CLEANUP(free_ptr) char *path = object_file(f, digest, ".pack");
    struct stat st;

    return stat(path, &st) < 0 ? -1 : st.st_size;
}

static void test_versions_that_share_files_cost_little_and_come_back_whole(void **state)
{
    struct fixture *f = *state;
    struct mirror_record r[12];
    struct str archives[12];

    for (uint32_t i = 0; i < ARRAY_SIZE(r); i++) {
        archives[i] =
            make_chart(f->arena, "web", arena_dupz(f->arena, arena_printf(f->arena, "1.%u.0", i)), i);
        assert_num(add(f, archives[i], &r[i]), MIRROR_ADDED);
    }
    assert_true(pack_size(f, r[0].archive) > 0);
    for (size_t i = 1; i < ARRAY_SIZE(r); i++)
        assert_true(pack_size(f, r[i].archive) > 0 &&
                    pack_size(f, r[i].archive) < (int64_t)archives[i].n / 8);
    for (size_t i = 0; i < ARRAY_SIZE(r); i++)
        assert_given_back(f, &r[i], archives[i]);
}

/* Exact: what one more version of a chart costs that changes one of twenty files. */
static void test_twenty_versions_cost_less_than_three(void **state)
{
    struct fixture *f = *state;
    int64_t archives = 0, stored = 0, first = 0;

    for (uint32_t i = 0; i < 20; i++) {
        struct str archive =
            make_chart(f->arena, "web", arena_dupz(f->arena, arena_printf(f->arena, "1.%u.0", i)), i);
        struct mirror_record r;

        add(f, archive, &r);
        archives += (int64_t)archive.n;
        stored += pack_size(f, r.archive);
        first = i ? first : stored;
    }
    assert_num(archives, 611663);
    assert_num(first, 30235);
    assert_num(stored, 72810);
}

static void test_more_versions_than_an_archive_may_have_sources(void **state)
{
    struct fixture *f = *state;
    struct mirror_record last;
    struct str archive = STR("");

    for (uint32_t i = 0; i < MIRROR_SOURCES_MAX + 3; i++) {
        archive = make_chart(f->arena, "web", arena_dupz(f->arena, arena_printf(f->arena, "1.%u.0", i)), i);
        add(f, archive, &last);
    }
    assert_given_back(f, &last, archive);
}

/* zlib at level 4: none of the encoders that are known. */
static void test_an_archive_that_cannot_be_made_again_is_kept_whole(void **state)
{
    struct fixture *f = *state;
    struct str archive = make_chart(f->arena, "web", "1.0.0", 0), header;
    CLEANUP(buf_done) struct buf tar = BUF_INIT(8 * MIB), odd = BUF_INIT(8 * MIB);
    struct err *err = NULL;
    struct mirror_record r;
    z_stream z = { 0 };

    assert_ok(archive_gzip_split(archive, &header, &tar, &err), err);
    assert_int_equal(deflateInit2(&z, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)tar.p;
    z.avail_in = (uInt)tar.n;
    z.next_out = (Bytef *)buf_reserve(&odd, 4 * MIB);
    z.avail_out = (uInt)(4 * MIB);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_commit(&odd, z.total_out);
    deflateEnd(&z);
    add(f, buf_str(&odd), &r);
    assert_given_back(f, &r, buf_str(&odd));
    assert_num(pack_size(f, r.archive), -1);
}

static void test_the_same_bytes_are_kept_once(void **state)
{
    struct fixture *f = *state;
    struct str archive = make_chart(f->arena, "web", "1.0.0+b", 0);
    struct mirror_record r;

    assert_num(add(f, archive, &r), MIRROR_ADDED);
    assert_str(r.tag, "1.0.0_b");
    assert_num(add(f, archive, &r), MIRROR_KEPT);
}

static void test_other_bytes_for_a_version_are_refused_until_accepted(void **state)
{
    struct fixture *f = *state;
    struct str one = make_chart(f->arena, "web", "1.0.0", 1), two = make_chart(f->arena, "web", "1.0.0", 2);
    struct mirror_addition what = { .archive = two };
    enum mirror_outcome outcome;
    struct mirror_record r, now;
    struct err *err = NULL;
    char hex[SHA256_HEX];

    add(f, one, &r);
    sha256_hex(two, hex);
    assert_int_equal(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, &err), -ERRC_DIGEST);
    assert_true(str_contains(str_from(err_message(err)), r.archive));
    assert_true(str_contains(str_from(err_message(err)), str_from(hex)));
    err_free(TAKE(err));

    assert_fails(mirror_accept(f->mirror, STR("web"), STR("1.0.0"), STR("sha256:12"), &err), ERRC_INVALID,
                 err, "\"12\" is no sha256 digest");
    assert_fails(mirror_accept(f->mirror, STR("web"), STR("2.0.0"), str_from(hex), &err), ERRC_NOT_FOUND, err,
                 "the mirror has no web 2.0.0");
    assert_ok(mirror_accept(f->mirror, STR("web"), STR("1.0.0"), str_from(hex), &err), err);
    assert_num(add(f, one, &r), MIRROR_KEPT); /* accepting alone changes nothing */
    assert_num(add(f, two, &r), MIRROR_REPLACED);
    assert_ok(mirror_find(f->mirror, f->arena, STR("web"), STR("1.0.0"), &now, &err), err);
    assert_str(now.archive, hex);
    assert_int_equal(
        mirror_add(f->mirror, f->arena, &(struct mirror_addition){ .archive = one }, &outcome, NULL, NULL),
        -ERRC_DIGEST);
}

static void test_a_provenance_file_may_come_later(void **state)
{
    struct fixture *f = *state;
    struct mirror_addition what = { .archive = make_chart(f->arena, "web", "1.0.0", 1) };
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct err *err = NULL;

    add(f, what.archive, &r);
    assert_num(r.provenance.n, 0);
    what.provenance = STR("-----BEGIN PGP SIGNED MESSAGE-----\n");
    assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, &r, &err), err);
    assert_num(outcome, MIRROR_KEPT);
    assert_num(r.provenance.n, 64);
    add(f, what.archive, &r);
    assert_num(r.provenance.n, 64);
}

static void test_names_that_leave_the_folder_are_refused(void **state)
{
    static const char *const names[] = { "..",     ".",  "../up", "a/b", "/etc/x", ".git",
                                         "a\\\\b", "-a", "a b",   "@a",  "é" };
    static const char *const versions[] = { "../1.0.0", "1.0.0/..", "1.0.0 ", "" };
    struct fixture *f = *state;
    enum mirror_outcome outcome;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_true(
            mirror_add(f->mirror, f->arena,
                       &(struct mirror_addition){ .archive = make_chart(f->arena, names[i], "1.0.0", 0) },
                       &outcome, NULL, NULL) < 0);
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
        assert_true(
            mirror_add(f->mirror, f->arena,
                       &(struct mirror_addition){ .archive = make_chart(f->arena, "web", versions[i], 0) },
                       &outcome, NULL, NULL) < 0);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct mirror_addition what = { .archive = make_chart(f->arena, "web", "1.0.0", 0),
                                        .folder = str_from(names[i]) };

        if (!strchr(names[i], 'b') || names[i][0] == '/')
            assert_true(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, NULL) < 0);
    }
    assert_false(mirror_path_valid(STR("v2/web")));
}

static void test_names_have_a_limit(void **state)
{
    struct fixture *f = *state;

    UNUSED(f);
    for (size_t n = MIRROR_NAME_MAX - 1; n <= MIRROR_NAME_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf name = BUF_INIT(KIB);

        buf_add_repeat(&name, 'a', n);
        assert_int_equal(mirror_path_valid(buf_str(&name)), n <= MIRROR_NAME_MAX);
    }
    for (size_t n = MIRROR_TAG_MAX - 1; n <= MIRROR_TAG_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf tag = BUF_INIT(KIB);

        buf_add_repeat(&tag, '1', n);
        assert_int_equal(mirror_tag_valid(buf_str(&tag)), n <= MIRROR_TAG_MAX);
    }
}

static void test_an_index_entry_must_speak_of_the_archive(void **state)
{
    struct fixture *f = *state;
    struct mirror_addition what = { .archive = make_chart(f->arena, "web", "1.0.0", 0) };
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct err *err = NULL;

    assert_ok(json_parse(f->arena, STR("{\"name\":\"web\",\"version\":\"1.0.1\"}"), NULL, &what.entry, &err),
              err);
    assert_fails(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, &err), ERRC_INVALID, err,
                 "the index says web 1.0.1, the archive is web 1.0.0");
    assert_ok(json_parse(f->arena,
                         STR("{\"name\":\"web\",\"version\":\"1.0.0\",\"own\":{\"x\":1},\"created\":\"then\","
                             "\"urls\":[\"http://elsewhere/a.tgz\"]}"),
                         NULL, &what.entry, &err),
              err);
    assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, &r, &err), err);
    assert_num(value_int(value_path(r.entry, "own.x"), 0), 1);
    assert_str(value_str(value_getz(r.entry, "created")), "then");
    assert_false(value_has(r.entry, STR("urls")));
    assert_str(value_str(value_getz(r.entry, "digest")), arena_dupz(f->arena, r.archive));
}

static void verify(struct fixture *f, struct buf *problems, struct mirror_figures *ret)
{
    struct err *err = NULL;

    assert_ok(mirror_verify(f->mirror, problems, ret, &err), err);
}

static void test_verify_finds_what_is_damaged(void **state)
{
    static const char *const suffixes[] = { ".pack", "" };
    struct fixture *f = *state;
    struct mirror_record r;
    struct mirror_figures figures;

    add(f, make_chart(f->arena, "web", "1.0.0", 0), &r);
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        CLEANUP(free_ptr) char *path = object_file(f, i == 0 ? r.archive : r.manifest, suffixes[i]);
        CLEANUP(buf_done) struct buf good = BUF_INIT(MIB), problems = BUF_INIT(MIB), none = BUF_INIT(MIB);
        struct err *err = NULL;

        assert_ok(fs_read_file(path, &good, &err), err);
        for (size_t at = 0; at < good.n; at += 1 + good.n / 20) {
            good.p[at] ^= 1;
            assert_ok(fs_write_file(path, buf_str(&good), 0644, &err), err);
            buf_clear(&problems);
            verify(f, &problems, &figures);
            if (figures.problems == 0)
                fail_case("byte %zu of %s", at, path);
            good.p[at] ^= 1;
        }
        assert_ok(fs_write_file(path, str_sub(buf_str(&good), 0, good.n / 2), 0644, &err), err);
        verify(f, &problems, &figures);
        assert_true(figures.problems > 0);
        assert_ok(fs_write_file(path, buf_str(&good), 0644, &err), err);
        verify(f, &none, &figures);
        assert_case_str("repaired", buf_str(&none), "");
        assert_num(figures.versions, 1);
    }
}

static void test_a_folder_of_other_things_is_left_alone(void **state)
{
    struct fixture *f = *state;
    struct mirror *m = NULL;
    struct err *err = NULL;
    CLEANUP(free_ptr) char *absent = fs_join(f->dir, "absent");

    assert_int_equal(mirror_open(f->dir, true, &m, &err), -ERRC_INVALID);
    err_free(TAKE(err));
    assert_int_equal(mirror_open(f->dir, false, &m, &err), -ERRC_INVALID);
    err_free(TAKE(err));
    assert_int_equal(mirror_open(absent, false, &m, &err), -ERRC_NOT_FOUND);
    err_free(TAKE(err));
}

static void test_what_a_killed_writer_left_is_swept_and_never_seen(void **state)
{
    struct fixture *f = *state;
    struct mirror_record r;
    struct str *tags;
    size_t n;
    struct err *err = NULL;
    CLEANUP(free_ptr) char *record = NULL;
    CLEANUP(mirror_close) struct mirror *next = NULL;

    add(f, make_chart(f->arena, "web", "1.0.0", 0), &r);
    record = xasprintf("%s/charts/web/@1.1.0.12345678.new", f->folder);
    assert_ok(fs_write_file(record, STR("{"), 0644, &err), err);
    assert_ok(mirror_tags(f->mirror, f->arena, STR("web"), &tags, &n, &err), err);
    assert_num(n, 1);
    assert_ok(mirror_open(f->folder, false, &next, &err), err);
    assert_ok(mirror_accept(next, STR("web"), STR("1.0.0"), r.archive, &err), err);
    assert_false(fs_exists(record));
}

static void test_old_downloads_of_killed_processes_go(void **state)
{
    static const struct {
        const char *name;
        bool old, goes;
    } files[] = {
        { "cache/1234abcd.index", true, true },
        { "cache/1234abcd.index2", true, false },
        { "cache/5678abcd.index", false, false },
        { "cache/ab.12345678.new", true, true },
        { "cache/abcd", true, false },
    };
    struct fixture *f = *state;
    struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    CLEANUP(free_ptr) char *dir = fs_join(f->folder, "cache");
    struct mirror_record r;
    struct err *err = NULL;

    assert_ok(fs_make_dirs(dir, 0755, &err), err);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        CLEANUP(free_ptr) char *path = fs_join(f->folder, files[i].name);

        assert_ok(fs_write_file(path, STR("x"), 0644, &err), err);
        if (files[i].old)
            assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    add(f, make_chart(f->arena, "web", "1.0.0", 1), &r);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        CLEANUP(free_ptr) char *path = fs_join(f->folder, files[i].name);

        if (fs_is_file(path) == files[i].goes)
            fail_case("%s", files[i].name);
    }
}

static void test_records_come_newest_first(void **state)
{
    static const char *const versions[] = { "1.9.0", "1.10.0", "2.0.0-rc1", "2.0.0" };
    struct fixture *f = *state;
    struct mirror_record *all, r;
    struct str *paths;
    size_t n;
    struct err *err = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
        add(f, make_chart(f->arena, "web", versions[i], 0), &r);
    assert_ok(mirror_records(f->mirror, f->arena, STR("web"), &all, &n, &err), err);
    assert_num(n, 4);
    assert_str(all[0].version, "2.0.0");
    assert_str(all[1].version, "2.0.0-rc1");
    assert_str(all[2].version, "1.10.0");
    assert_str(all[3].version, "1.9.0");
    assert_ok(mirror_paths(f->mirror, f->arena, &paths, &n, &err), err);
    assert_num(n, 1);
    assert_str(paths[0], "web");
}

static void test_an_index_has_what_is_in_its_folder(void **state)
{
    struct fixture *f = *state;
    struct mirror_addition what = { .folder = STR("team"),
                                    .archive = make_chart(f->arena, "api", "1.0.0", 0) };
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct err *err = NULL;

    assert_ok(mirror_index(f->mirror, STR(""), &text, &err), err);
    assert_true(str_has_prefix(buf_str(&text), STR("apiVersion: v1\nentries: {}\ngenerated: \"")));
    add(f, make_chart(f->arena, "web", "1.0.0+x", 0), &r);
    assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, &r, &err), err);
    assert_str(r.path, "team/api");
    buf_clear(&text);
    assert_ok(mirror_index(f->mirror, STR(""), &text, &err), err);
    assert_true(str_contains(buf_str(&text), STR("\n  web:\n  - apiVersion: v2\n")));
    assert_true(str_contains(buf_str(&text), STR("\n    urls:\n    - web-1.0.0+x.tgz\n")));
    assert_false(str_contains(buf_str(&text), STR("api:")));
    buf_clear(&text);
    assert_ok(mirror_index(f->mirror, STR("team"), &text, &err), err);
    assert_true(str_contains(buf_str(&text), STR("\n  api:\n")));
    buf_done(&text);
    text = BUF_INIT(20);
    assert_fails(mirror_index(f->mirror, STR(""), &text, &err), ERRC_LIMIT, err, NULL);
}

/* RFC 8032's keys are not in PEM; these are `openssl genpkey -algorithm ed25519`. */

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_versions_that_share_files_cost_little_and_come_back_whole),
        TEST(test_twenty_versions_cost_less_than_three),
        TEST(test_more_versions_than_an_archive_may_have_sources),
        TEST(test_an_archive_that_cannot_be_made_again_is_kept_whole),
        TEST(test_the_same_bytes_are_kept_once),
        TEST(test_other_bytes_for_a_version_are_refused_until_accepted),
        TEST(test_a_provenance_file_may_come_later),
        TEST(test_names_that_leave_the_folder_are_refused),
        TEST(test_names_have_a_limit),
        TEST(test_an_index_entry_must_speak_of_the_archive),
        TEST(test_verify_finds_what_is_damaged),
        TEST(test_a_folder_of_other_things_is_left_alone),
        TEST(test_what_a_killed_writer_left_is_swept_and_never_seen),
        TEST(test_old_downloads_of_killed_processes_go),
        TEST(test_records_come_newest_first),
        TEST(test_an_index_has_what_is_in_its_folder),
    };

    return RUN_TESTS(tests);
}

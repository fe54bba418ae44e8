/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "mirror/mirror_int.h"
#include "registry/registry.h"
#include "unit/mirror/mirror_lib.h"

static const char *version(struct fixture *f, uint32_t i)
{
    return arena_dupz(f->arena, arena_printf(f->arena, "1.%u.0", i));
}

static struct mirror_prune_figures prune(struct fixture *f, int64_t min_age_s)
{
    struct mirror_prune_figures figures;
    struct err *err = NULL;

    assert_ok(mirror_prune(f->mirror, min_age_s, &figures, &err), err);
    return figures;
}

static void assert_whole(struct fixture *f, size_t versions)
{
    CLEANUP(buf_done) struct buf problems = BUF_INIT(MIB);
    struct mirror_figures figures;
    struct err *err = NULL;

    assert_ok(mirror_verify(f->mirror, &problems, &figures, &err), err);
    if (figures.problems > 0)
        fail_case("%s", buf_z(&problems));
    assert_num(figures.versions, versions);
}

static void drop(struct fixture *f, const char *name, const char *tag)
{
    struct err *err = NULL;

    assert_ok(mirror_remove(f->mirror, str_from(name), str_from(tag), &err), err);
}

static void test_nothing_that_is_named_goes(void **state)
{
    struct fixture *f = *state;
    struct mirror_record r;

    for (uint32_t i = 0; i < 6; i++)
        add(f, make_chart(f->arena, "web", version(f, i), i), &r);
    assert_num(prune(f, 0).objects, 0);
    assert_whole(f, 6);
}

static void test_what_brought_pieces_stays_as_pieces(void **state)
{
    struct fixture *f = *state;
    struct mirror_record r[6];
    struct str archives[6];
    struct mirror_prune_figures figures;
    CLEANUP(free_ptr) char *pieces = NULL;

    for (uint32_t i = 0; i < ARRAY_SIZE(r); i++) {
        archives[i] = make_chart(f->arena, "web", version(f, i), i);
        add(f, archives[i], &r[i]);
    }
    for (uint32_t i = 0; i < 5; i++)
        drop(f, "web", version(f, i));
    figures = prune(f, 0);
    assert_true(figures.objects >= 10); /* manifests and configs at least */
    assert_false(mirror_has(f->mirror, r[0].archive));
    assert_given_back(f, &r[5], archives[5]);
    assert_whole(f, 1);
    pieces = xasprintf("%s/objects/%.2s/%.*s.pieces", f->folder, r[0].archive.p, STR_ARG(r[0].archive));
    assert_true(fs_is_file(pieces));
    assert_num(prune(f, 0).objects, 0);

    /* It comes back: whole, for others point into its old pieces. */
    assert_num(add(f, archives[0], &r[0]), MIRROR_ADDED);
    assert_given_back(f, &r[0], archives[0]);
    assert_given_back(f, &r[5], archives[5]);
    assert_true(fs_is_file(pieces));

    /* The last one that took pieces goes: they go too. */
    drop(f, "web", version(f, 5));
    prune(f, 0);
    assert_false(fs_is_file(pieces));
    assert_given_back(f, &r[0], archives[0]);
    drop(f, "web", version(f, 0));
    prune(f, 0);
    assert_whole(f, 0);
    assert_num(mirror_objects_bytes(f->mirror), 0);
}

static void test_young_objects_stay(void **state)
{
    struct fixture *f = *state;
    struct str archive = make_chart(f->arena, "web", "1.0.0", 1);
    struct mirror_record r;

    add(f, archive, &r);
    drop(f, "web", "1.0.0");
    assert_num(prune(f, 3600).objects, 0);
    assert_given_back(f, &r, archive);
    assert_num(prune(f, 0).objects, 3);
    assert_false(mirror_has(f->mirror, r.archive));
}

static void make_old(struct fixture *f, struct str digest)
{
    static const char *const suffixes[] = { "", ".pack" };
    struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        CLEANUP(free_ptr) char *path = mirror_object_path(f->mirror, digest, suffixes[i]);

        if (fs_is_file(path))
            assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
}

static void test_what_is_asked_for_again_is_young(void **state)
{
    struct fixture *f = *state;
    char hex[SHA256_HEX];
    struct err *err = NULL;

    assert_ok(mirror_lock(f->mirror, &err), err);
    assert_ok(mirror_put(f->mirror, STR("a layer"), hex, &err), err);
    make_old(f, str_from(hex));
    assert_ok(mirror_put(f->mirror, STR("a layer"), hex, &err),
              err); /* pushed once more, its manifest follows */
    mirror_unlock(f->mirror);
    assert_num(prune(f, 3600).objects, 0);
    make_old(f, str_from(hex));
    assert_num(prune(f, 3600).objects, 1);
}

static void test_all_manifests_of_a_version_stay(void **state)
{
    struct fixture *f = *state;
    struct str archive = make_chart(f->arena, "web", "1.0.0", 1);
    struct mirror_addition what = { .archive = archive };
    char config[SHA256_HEX], manifest[SHA256_HEX];
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct str blob = STR("{\"name\":\"web\"}");
    struct err *err = NULL;

    add(f, archive, &r);
    sha256_hex(blob, config);
    what.manifest = arena_printf(
        f->arena, "{\"config\":{\"digest\":\"sha256:%s\"},\"layers\":[{\"digest\":\"sha256:%.*s\"}]}", config,
        STR_ARG(r.archive));
    what.blobs = &blob;
    what.n_blobs = 1;
    sha256_hex(what.manifest, manifest);
    for (int i = 0; i < 2; i++) { /* twice is once */
        assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, &r, &err), err);
        assert_num(outcome, MIRROR_KEPT);
        assert_num(value_len(r.manifests), 1);
    }
    assert_true(mirror_record_has_manifest(&r, str_from(manifest)));
    assert_num(prune(f, 0).objects, 0);
    assert_true(mirror_has(f->mirror, str_from(config)));
    assert_whole(f, 1);
    drop(f, "web", "1.0.0");
    prune(f, 0);
    assert_false(mirror_has(f->mirror, str_from(manifest)));
    assert_num(mirror_objects_bytes(f->mirror), 0);
}

static void test_a_version_has_so_many_manifests(void **state)
{
    struct fixture *f = *state;
    struct str archive = make_chart(f->arena, "web", "1.0.0", 1);
    struct mirror_addition what = { .archive = archive };
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct err *err = NULL;

    add(f, archive, &r);
    for (size_t i = 2; i <= MIRROR_MANIFESTS_MAX + 1; i++) {
        what.manifest = arena_printf(f->arena, "{\"layers\":[{\"digest\":\"sha256:%.*s\"}],\"n\":%zu}",
                                     STR_ARG(r.archive), i);
        if (i > MIRROR_MANIFESTS_MAX)
            assert_fails(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, &err), ERRC_LIMIT, err,
                         "web 1.0.0 has 32 manifests, more are not kept");
        else
            assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, &r, &err), err);
    }
    assert_num(1 + value_len(r.manifests), MIRROR_MANIFESTS_MAX);
}

static void test_a_damaged_mirror_loses_nothing(void **state)
{
    struct fixture *f = *state;
    struct mirror_prune_figures figures;
    struct mirror_record r[2];
    CLEANUP(free_ptr) char *path = NULL;
    struct err *err = NULL;

    for (uint32_t i = 0; i < 2; i++)
        add(f, make_chart(f->arena, "web", version(f, i), i), &r[i]);
    drop(f, "web", version(f, 0));
    path = mirror_object_path(f->mirror, r[1].manifest, "");
    assert_ok(fs_write_file(path, STR("{}"), 0644, &err), err);
    assert_int_equal(mirror_prune(f->mirror, 0, &figures, &err), -ERRC_DIGEST);
    assert_true(str_contains(str_from(err_message(err)), STR("nothing is deleted: web 1.1.0: manifest ")));
    err_free(TAKE(err));
    assert_true(mirror_has(f->mirror, r[0].archive));
}

/* 0: whatever a kill between two deletions leaves is a mirror, and the next run ends the work. */
static void test_pieces_are_never_mistaken_for_an_archive(void **state)
{
    struct fixture *f = *state;
    struct mirror_record r[3];
    struct str archives[3];
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(free_ptr) char *pack = NULL;
    CLEANUP(free_ptr) char *pieces = NULL;
    struct err *err = NULL;

    for (uint32_t i = 0; i < ARRAY_SIZE(r); i++) {
        archives[i] = make_chart(f->arena, "web", version(f, i), i);
        add(f, archives[i], &r[i]);
    }
    drop(f, "web", version(f, 1));
    pack = mirror_object_path(f->mirror, r[1].archive, ".pack");
    pieces = mirror_object_path(f->mirror, r[1].archive, ".pieces");
    assert_int_equal(rename(pack, pieces), 0); /* the kill */
    assert_fails(mirror_read(f->mirror, r[1].archive, &out, &err), ERRC_NOT_FOUND, err, NULL);
    assert_given_back(f, &r[2], archives[2]);
    assert_num(add(f, archives[1], &r[1]), MIRROR_ADDED);
    assert_given_back(f, &r[1], archives[1]);
    prune(f, 0);
    assert_whole(f, 3);
}

static void test_a_folder_goes_as_one(void **state)
{
    struct fixture *f = *state;
    struct mirror_addition what = { .folder = STR("team") };
    enum mirror_outcome outcome;
    struct err *err = NULL;
    struct mirror_record r;
    struct str *paths;
    size_t n;

    add(f, make_chart(f->arena, "web", "1.0.0", 1), &r);
    for (uint32_t i = 0; i < 3; i++) {
        what.archive = make_chart(f->arena, i ? "web" : "db", version(f, i), i);
        assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, NULL, &err), err);
    }
    assert_ok(mirror_remove_folder(f->mirror, STR("team"), &n, &err), err);
    assert_num(n, 3);
    assert_ok(mirror_paths(f->mirror, f->arena, &paths, &n, &err), err);
    assert_num(n, 1);
    assert_str(paths[0], "web");
    assert_fails(mirror_remove(f->mirror, STR("team/web"), STR("1.1.0"), &err), ERRC_NOT_FOUND, err,
                 "the mirror has no team/web 1.1.0");
    assert_fails(mirror_remove(f->mirror, STR("../x"), STR("1.1.0"), &err), ERRC_NOT_FOUND, err, NULL);
    prune(f, 0);
    assert_whole(f, 1);
}

/* A chart with a fixed time of making: Go's times end at their last digit that is not 0, and a size would follow. */
static struct mirror_addition of_1970(struct fixture *f, const char *name, uint32_t i)
{
    struct mirror_addition what = { .archive = make_chart(f->arena, name, "1.0.0", i) };
    struct metadata metadata;
    struct err *err = NULL;

    assert_ok(
        registry_archive_entry(f->arena, what.archive, (struct wall_time){ 0 }, &metadata, &what.entry, &err),
        err);
    return what;
}

static void test_a_full_mirror_takes_no_more(void **state)
{
    static const int beyond[] = { 0, 1 };
    struct fixture *f = *state;
    struct mirror_addition one = of_1970(f, "web", 1), two = of_1970(f, "db", 2);
    struct mirror_prune_figures figures;
    enum mirror_outcome outcome;
    int64_t small, large;
    struct err *err = NULL;

    assert_ok(mirror_add(f->mirror, f->arena, &one, &outcome, NULL, &err), err);
    assert_ok(mirror_size(f->mirror, &small, &err), err);
    assert_ok(mirror_add(f->mirror, f->arena, &two, &outcome, NULL, &err), err);
    assert_ok(mirror_size(f->mirror, &large, &err), err);
    assert_true(large > small);
    for (size_t i = 0; i < ARRAY_SIZE(beyond); i++) {
        drop(f, "db", "1.0.0");
        assert_ok(mirror_prune(f->mirror, 0, &figures, &err), err);
        mirror_set_limit(f->mirror, large - beyond[i]);
        if (beyond[i]) {
            assert_int_equal(mirror_add(f->mirror, f->arena, &two, &outcome, NULL, &err), -ERRC_LIMIT);
            assert_true(str_has_prefix(str_from(err_message(err)), STR("the mirror is full: it takes ")));
            err_free(TAKE(err));
        } else {
            assert_ok(mirror_add(f->mirror, f->arena, &two, &outcome, NULL, &err), err);
        }
    }
    assert_whole(f, 1);
    mirror_set_limit(f->mirror, large + 1);
    assert_ok(mirror_add(f->mirror, f->arena, &two, &outcome, NULL, &err), err);
    assert_num(outcome, MIRROR_ADDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_that_is_named_goes),
        TEST(test_what_brought_pieces_stays_as_pieces),
        TEST(test_young_objects_stay),
        TEST(test_what_is_asked_for_again_is_young),
        TEST(test_all_manifests_of_a_version_stay),
        TEST(test_a_version_has_so_many_manifests),
        TEST(test_a_damaged_mirror_loses_nothing),
        TEST(test_pieces_are_never_mistaken_for_an_archive),
        TEST(test_a_folder_goes_as_one),
        TEST(test_a_full_mirror_takes_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

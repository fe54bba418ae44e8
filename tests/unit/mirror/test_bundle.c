/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "unit/mirror/mirror_lib.h"

static const char *const private_key = "-----BEGIN PRIVATE KEY-----\n"
                                       "MC4CAQAwBQYDK2VwBCIEIJCYImSVHK2pK/T1PJ99OQ0E/dl3tQZtWU98/pvQVIUR\n"
                                       "-----END PRIVATE KEY-----\n";
static const char *const public_key = "-----BEGIN PUBLIC KEY-----\n"
                                      "MCowBQYDK2VwAyEAYQqkGJ1H+Pm1wneJiGnhFMJzXrJdyqMXj1eTEajNC+c=\n"
                                      "-----END PUBLIC KEY-----\n";
static const char *const other_key = "-----BEGIN PUBLIC KEY-----\n"
                                     "MCowBQYDK2VwAyEA00oVTM39k+PoAOPGNeXaTMm/XHI/i4inCaWRfDlMZII=\n"
                                     "-----END PUBLIC KEY-----\n";

static void test_a_bundle_carries_charts_to_another_mirror(void **state)
{
    struct fixture *f = *state;
    struct str one = make_chart(f->arena, "web", "1.0.0", 1), two = make_chart(f->arena, "web", "1.1.0", 2);
    CLEANUP(free_ptr) char *file = fs_join(f->dir, "bundle");
    CLEANUP(free_ptr) char *folder = fs_join(f->dir, "other");
    CLEANUP(mirror_close) struct mirror *other = NULL;
    CLEANUP(buf_done) struct buf problems = BUF_INIT(MIB), bytes = BUF_INIT(MIB);
    struct mirror_bundle_figures figures;
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct err *err = NULL;

    add(f, one, &r);
    add(f, two, &r);
    assert_ok(mirror_export(f->mirror, NULL, 0, file, str_from(private_key), &figures, &err), err);
    assert_num(figures.versions, 2);
    assert_ok(mirror_open(folder, true, &other, &err), err);
    assert_fails(mirror_import(other, file, str_from(other_key), &problems, &figures, NULL), ERRC_FORBIDDEN,
                 err, NULL);
    assert_fails(mirror_import(other, file, str_from(private_key), &problems, &figures, NULL), ERRC_INVALID,
                 err, NULL);
    assert_ok(mirror_add(other, f->arena,
                         &(struct mirror_addition){ .archive = make_chart(f->arena, "web", "1.0.0", 9) },
                         &outcome, NULL, &err),
              err);
    assert_ok(mirror_import(other, file, str_from(public_key), &problems, &figures, &err), err);
    assert_num(figures.added, 1);
    assert_num(figures.refused, 1);
    assert_true(str_has_prefix(buf_str(&problems), STR("refused web 1.0.0: web 1.0.0 is kept with sha256:")));
    assert_ok(mirror_read(other, r.archive, &bytes, &err), err);
    assert_true(str_eq(buf_str(&bytes), two));
    assert_ok(mirror_import(other, file, str_from(public_key), &problems, &figures, &err), err);
    assert_num(figures.kept, 1);
}

static void test_a_changed_bundle_is_refused_or_whole(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr) char *file = fs_join(f->dir, "bundle");
    CLEANUP(buf_done) struct buf good = BUF_INIT(MIB);
    struct mirror_bundle_figures figures;
    struct mirror_record r;
    struct err *err = NULL;

    add(f, make_chart(f->arena, "web", "1.0.0", 1), &r);
    assert_ok(mirror_export(f->mirror, NULL, 0, file, str_from(private_key), &figures, &err), err);
    assert_ok(fs_read_file(file, &good, &err), err);
    for (size_t at = 0, round = 0; at < good.n; at += 1 + good.n / 60, round++) {
        CLEANUP(free_ptr) char *folder = xasprintf("%s/copy%zu", f->dir, round);
        CLEANUP(mirror_close) struct mirror *other = NULL;
        CLEANUP(buf_done) struct buf problems = BUF_INIT(MIB);
        struct mirror_figures checked;
        int result;

        good.p[at] ^= 4;
        assert_ok(fs_write_file(file, buf_str(&good), 0600, &err), err);
        good.p[at] ^= 4;
        assert_ok(mirror_open(folder, true, &other, &err), err);
        result = mirror_import(other, file, str_from(public_key), &problems, &figures, NULL);
        assert_ok(mirror_verify(other, &problems, &checked, &err), err);
        if (checked.problems > 0 || checked.versions != (result == 0))
            fail_case("byte %zu", at);
    }
}

/* Each mirror cuts its archives as they came: what one brings must not be mixed with the pieces of the other. */
static void test_a_bundle_of_a_mirror_that_grew_in_another_order(void **state)
{
    struct fixture *f = *state;
    struct str archives[4];
    CLEANUP(free_ptr) char *file = fs_join(f->dir, "bundle");
    CLEANUP(free_ptr) char *folder = fs_join(f->dir, "other");
    CLEANUP(mirror_close) struct mirror *other = NULL;
    CLEANUP(buf_done) struct buf problems = BUF_INIT(MIB);
    struct mirror_bundle_figures figures;
    struct mirror_figures checked;
    enum mirror_outcome outcome;
    struct mirror_record r;
    struct err *err = NULL;

    for (uint32_t i = 0; i < ARRAY_SIZE(archives); i++) {
        archives[i] =
            make_chart(f->arena, "web", arena_dupz(f->arena, arena_printf(f->arena, "1.%u.0", i)), i);
        add(f, archives[i], &r);
    }
    assert_ok(mirror_open(folder, true, &other, &err), err);
    for (size_t i = 3; i-- > 1;)
        assert_ok(mirror_add(other, f->arena, &(struct mirror_addition){ .archive = archives[i] }, &outcome,
                             NULL, &err),
                  err);
    assert_ok(mirror_export(f->mirror, NULL, 0, file, str_from(private_key), &figures, &err), err);
    assert_ok(mirror_import(other, file, str_from(public_key), &problems, &figures, &err), err);
    assert_num(figures.added, 2);
    assert_num(figures.kept, 2);
    assert_ok(mirror_verify(other, &problems, &checked, &err), err);
    assert_num(checked.versions, 4);
    assert_num(checked.problems, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_bundle_carries_charts_to_another_mirror),
        TEST(test_a_changed_bundle_is_refused_or_whole),
        TEST(test_a_bundle_of_a_mirror_that_grew_in_another_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

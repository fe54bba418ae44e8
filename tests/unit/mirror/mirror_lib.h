/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* For the tests of pkg/mirror: an empty mirror, charts, and what comes back. */
#include <stdlib.h>

#include "archive/archive.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "lib/check.h"
#include "mirror/mirror.h"

struct fixture {
    char *dir, *folder;
    struct mirror *mirror;
    struct arena *arena;
};

static inline int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct err *err = NULL;

    f->dir = check_temp_dir();
    f->folder = fs_join(f->dir, "mirror");
    f->arena = arena_new(64 * MIB);
    assert_ok(mirror_open(f->folder, true, &f->mirror, &err), err);
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;

    mirror_close(f->mirror);
    arena_free(f->arena);
    check_temp_done(f->dir);
    free(f->folder);
    free(f);
    return 0;
}

static inline void add_noise(struct buf *text, uint32_t seed, size_t n)
{
    while (n-- > 0) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        buf_addf(text, "key%u: value %x\n", seed % 97, seed);
    }
}

/* A chart of twenty templates; `changed` has another text in one of them. */
static inline struct str make_chart(struct arena *a, const char *name, const char *version, uint32_t changed)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(8 * MIB);
    struct archive_file files[21] = { 0 };
    struct err *err = NULL;

    files[0].name = STR("Chart.yaml");
    files[0].data =
        arena_printf(a, "apiVersion: v2\nname: \"%s\"\nversion: \"%s\"\ndescription: made\n", name, version);
    for (size_t i = 1; i < ARRAY_SIZE(files); i++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

        add_noise(&text, (uint32_t)i + (i == 7 ? changed * 1000 : 0), 200);
        files[i].name = arena_printf(a, "templates/file%zu.yaml", i);
        files[i].data = arena_dup(a, buf_str(&text));
        files[i].modified.s = 1700000000 + (int64_t)changed;
    }
    assert_ok(archive_write(STR("chart"), files, ARRAY_SIZE(files), &packed, &err), err);
    return arena_dup(a, buf_str(&packed));
}

static inline enum mirror_outcome add(struct fixture *f, struct str archive, struct mirror_record *ret)
{
    struct mirror_addition what = { .archive = archive };
    enum mirror_outcome outcome;
    struct err *err = NULL;

    assert_ok(mirror_add(f->mirror, f->arena, &what, &outcome, ret, &err), err);
    return outcome;
}

static inline void assert_given_back(struct fixture *f, const struct mirror_record *r, struct str archive)
{
    CLEANUP(buf_done) struct buf again = BUF_INIT(8 * MIB);
    struct err *err = NULL;

    assert_ok(mirror_read(f->mirror, r->archive, &again, &err), err);
    assert_true(str_eq(buf_str(&again), archive));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

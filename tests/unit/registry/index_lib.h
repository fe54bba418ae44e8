/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* index_lib: what the tests of the index database share. */
#include "base/fs.h"
#include "base/limits.h"
#include "lib/check.h"
#include "registry/registry.h"
#include "json/json.h"

/* A folder with a database; fixture of each test. */
struct index_test {
    char *dir;
    struct registry_db *db;
    struct arena *arena;
    struct err *err;
};

static inline int index_test_begin(void **state)
{
    struct index_test *t = xcalloc(1, sizeof(*t));

    t->dir = check_temp_dir();
    t->arena = arena_new(256 * MIB);
    *state = t;
    return registry_db_open(t->dir, &t->db, &t->err);
}

static inline int index_test_end(void **state)
{
    struct index_test *t = *state;

    registry_db_close(t->db);
    arena_free(t->arena);
    err_free(t->err);
    check_temp_done(t->dir);
    free(t);
    return 0;
}

/* Opened anew, as by the next process. */
static inline void index_test_reopen(struct index_test *t)
{
    registry_db_close(TAKE(t->db));
    assert_ok(registry_db_open(t->dir, &t->db, &t->err), t->err);
}

static inline int index_test_load_as(struct index_test *t, const struct registry_fetched *fetched,
                                     const char *text, size_t max, struct registry_loaded *ret)
{
    CLEANUP(free_ptr) char *path = fs_join(t->dir, "index.yaml");
    struct registry_load load = { .repository = STR("r"), .path = path, .max = max, .fetched = *fetched };

    assert_ok(fs_write_file(path, str_from(text), 0600, &t->err), t->err);
    return registry_index_load(t->db, &load, t->arena, ret, &t->err);
}

static inline int index_test_load(struct index_test *t, const char *text, struct registry_loaded *ret)
{
    return index_test_load_as(t, &(struct registry_fetched){ .url = STR("http://h/") }, text, 0, ret);
}

/* Everything that the database knows of repository "r", as JSON lines; less when it is found out meanwhile to be damaged. */
static inline void index_test_dump(struct index_test *t, struct buf *out)
{
    struct str *charts;
    size_t n;

    assert_ok(registry_charts(t->db, STR("r"), t->arena, &charts, &n, &t->err), t->err);
    for (size_t i = 0; i < n; i++) {
        struct registry_version *v;
        size_t m;

        assert_ok(registry_versions(t->db, STR("r"), charts[i], t->arena, &v, &m, &t->err), t->err);
        if (registry_versions_load(t->db, STR("r"), t->arena, v, m, &t->err) == -ERRC_CONFLICT) {
            err_free(TAKE(t->err));
            return;
        }
        assert_null(t->err);
        for (size_t k = 0; k < m; k++) {
            buf_addf(out, STR_FMT " " STR_FMT " (" STR_FMT "|" STR_FMT "|" STR_FMT ") ", STR_ARG(charts[i]),
                     STR_ARG(v[k].version), STR_ARG(v[k].app_version), STR_ARG(v[k].description),
                     STR_ARG(v[k].keywords));
            assert_ok(json_print(v[k].entry, 0, out, &t->err), t->err);
            buf_addc(out, '\n');
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A database file that was flipped, cut or killed at a write never gives a wrong answer: what is read is right, or there is
 * nothing and the next load brings it back. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "registry/registry.h"
#include "unit/registry/index_lib.h"

enum { CHARTS = 6, VERSIONS = 4, FLIPS = 1000, CUTS = 200 };

/* How many places are tried: $INDEX_FLIPS asks for more. */
static int how_many(int otherwise)
{
    const char *z = getenv("INDEX_FLIPS");
    int64_t n;

    return z && str_to_int64(str_from(z), &n) && n > 0 && n < 10000000 ? (int)n : otherwise;
}

/* `extra` versions more of the first chart. */
static void make_index(struct buf *out, int extra)
{
    buf_adds(out, "apiVersion: v1\nentries:\n");
    for (int c = 0; c < CHARTS; c++) {
        buf_addf(out, "  chart-%02d:\n", c);
        for (int v = 0; v < VERSIONS + (c == 0 ? extra : 0); v++)
            buf_addf(out,
                     "  - apiVersion: v2\n    appVersion: %d.0\n    description: chart number %d of %d\n"
                     "    digest: %064d\n    keywords:\n    - k%d\n    name: chart-%02d\n    urls:\n"
                     "    - chart-%02d-1.%d.0.tgz\n    version: 1.%d.0\n",
                     v, c, CHARTS, c * 100 + v, c, c, c, v, v);
    }
}

static char *db_path(const struct index_test *t)
{
    return fs_join(t->dir, "r-index.db");
}

static void copy_into(int fd, struct str content)
{
    assert_true(ftruncate(fd, 0) == 0);
    assert_true(pwrite(fd, content.p, content.n, 0) == (ssize_t)content.n);
}

/* The answers of one process that opens the files as they are: all, none, or (false) something else. */
static bool answers_are_right(struct index_test *t, struct str want, bool *ret_empty)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(4 * MIB);
    struct arena_mark mark = arena_mark(t->arena);
    struct registry_fetched fetched;
    bool found;

    index_test_reopen(t);
    index_test_dump(t, &got);
    assert_ok(registry_fetched_find(t->db, STR("r"), t->arena, &fetched, &found, &t->err), t->err);
    arena_rewind(t->arena, mark);
    *ret_empty = !found;
    return str_eq(buf_str(&got), want) ? found || want.n == 0 : !found && str_has_prefix(want, buf_str(&got));
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void load(struct index_test *t, const char *text, struct registry_loaded *ret)
{
    assert_ok(index_test_load(t, text, ret), t->err);
}

struct original {
    struct buf index, file, answers;
};

static void make_original(struct index_test *t, struct original *o)
{
    CLEANUP(free_ptr) char *path = db_path(t);
    struct registry_loaded got;

    *o = (struct original){ BUF_INIT(4 * MIB), BUF_INIT(4 * MIB), BUF_INIT(4 * MIB) };
    make_index(&o->index, 0);
    load(t, buf_z(&o->index), &got);
    index_test_dump(t, &o->answers);
    registry_db_close(TAKE(t->db));
    assert_ok(registry_db_open(t->dir, &t->db, &t->err), t->err);
    assert_ok(fs_read_file(path, &o->file, &t->err), t->err);
}

static void drop_original(struct original *o)
{
    buf_done(&o->index);
    buf_done(&o->file);
    buf_done(&o->answers);
}

/* Puts the damaged bytes in place and asks everything; then the index is loaded again and all is there. */
static bool survives(struct index_test *t, struct original *o, struct str damaged, bool reload)
{
    CLEANUP(free_ptr) char *path = db_path(t);
    CLEANUP(fd_close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct arena_mark mark = arena_mark(t->arena);
    struct registry_loaded got;
    bool empty, right;

    assert_true(fd >= 0);
    copy_into(fd, damaged);
    right = answers_are_right(t, buf_str(&o->answers), &empty);
    if (right && reload) {
        load(t, buf_z(&o->index), &got);
        right = answers_are_right(t, buf_str(&o->answers), &empty) && !empty;
    }
    arena_rewind(t->arena, mark);
    return right;
}

static void test_flipped_bytes_never_give_a_wrong_answer(void **state)
{
    struct index_test *t = *state;
    struct original o;
    uint64_t seed = 20261121;
    int wrong = 0;

    make_original(t, &o);
    for (int i = 0; i < how_many(FLIPS); i++) {
        size_t at = next_random(&seed) % o.file.n;
        char was = o.file.p[at];

        o.file.p[at] = (char)(was ^ (1 << next_random(&seed) % 8));
        wrong += !survives(t, &o, buf_str(&o.file), i % 20 == 0);
        o.file.p[at] = was;
    }
    assert_num(wrong, 0);
    drop_original(&o);
}

static void test_a_file_cut_anywhere_never_gives_a_wrong_answer(void **state)
{
    struct index_test *t = *state;
    struct original o;
    uint64_t seed = 4711;
    int wrong = 0;

    make_original(t, &o);
    for (int i = 0; i < how_many(CUTS); i++) {
        size_t n = i % 2 ? next_random(&seed) % o.file.n : (size_t)(i / 2) % (o.file.n / 512 + 1) * 512;

        wrong += !survives(t, &o, str_sub(buf_str(&o.file), 0, n), i % 20 == 0);
    }
    assert_num(wrong, 0);
    drop_original(&o);
}

/* ---- killed at a write -------------------------------------------------------------------------------------------------- */

/* A VFS that ends the process at its nth write, sync, truncation or removal. */
static int calls_left;
/* SQLite has one table of methods for databases and another for journals. */
static struct counted {
    sqlite3_io_methods methods; /* first: a file's pMethods points here */
    const sqlite3_io_methods *real;
} tables[4];
static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static int (*real_delete)(sqlite3_vfs *, const char *, int);

static const sqlite3_io_methods *real_methods(const sqlite3_file *f)
{
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        if (f->pMethods == &tables[i].methods)
            return tables[i].real;
    abort();
}

static void count_call(void)
{
    if (calls_left > 0 && --calls_left == 0)
        _exit(9);
}

static int counted_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (calls_left == 1 && n > 1) /* half of it is written */
        real_methods(f)->xWrite(f, p, n / 2, at);
    count_call();
    return real_methods(f)->xWrite(f, p, n, at);
}

static int counted_truncate(sqlite3_file *f, sqlite3_int64 n)
{
    count_call();
    return real_methods(f)->xTruncate(f, n);
}

static int counted_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    count_call();
    return real_delete(vfs, name, sync);
}

static int counted_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    int rc = real_open(vfs, name, f, flags, out);

    if (rc != SQLITE_OK || !f->pMethods)
        return rc;
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        struct counted *c = &tables[i];

        if (c->real && c->real != f->pMethods)
            continue;
        if (!c->real) {
            c->real = f->pMethods;
            c->methods = *f->pMethods;
            c->methods.xWrite = counted_write;
            c->methods.xTruncate = counted_truncate;
        }
        f->pMethods = &c->methods;
        break;
    }
    return rc;
}

static void count_calls(void)
{
    static sqlite3_vfs vfs;

    sqlite3_initialize();
    vfs = *sqlite3_vfs_find(NULL);
    real_open = vfs.xOpen;
    real_delete = vfs.xDelete;
    vfs.zName = "counting";
    vfs.xOpen = counted_open;
    vfs.xDelete = counted_delete;
    sqlite3_vfs_register(&vfs, 1);
}

/* Loads the index in another process, which dies at its nth call. True: it came to the end. */
static bool load_and_die(const char *dir, const char *index, int nth)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct index_test t = { .dir = xstrdup(dir), .arena = arena_new(64 * MIB) };
        struct registry_loaded got;

        count_calls();
        if (registry_db_open(dir, &t.db, NULL) < 0)
            _exit(1);
        calls_left = nth;
        _exit(index_test_load(&t, index, &got) < 0 ? 1 : 0);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
    return WEXITSTATUS(status) == 0;
}

static size_t count_files(const char *dir)
{
    char **names;
    size_t n;

    assert_true(fs_list_dir(dir, &names, &n, NULL) == 0);
    fs_names_free(names, n);
    return n;
}

static void test_killed_at_any_write_of_a_first_load(void **state)
{
    struct index_test *t = *state;
    struct original o;
    bool ended = false, empty;
    int nth;

    make_original(t, &o);
    for (nth = 1; !ended; nth++) {
        struct registry_loaded got;

        assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
        ended = load_and_die(t->dir, buf_z(&o.index), nth);
        assert_true(answers_are_right(t, ended ? buf_str(&o.answers) : STR(""), &empty));
        load(t, buf_z(&o.index), &got);
        assert_true(answers_are_right(t, buf_str(&o.answers), &empty) && !empty);
        assert_num(count_files(t->dir), 2); /* the index and its database */
    }
    assert_true(nth > 10);
    drop_original(&o);
}

static void test_killed_at_any_write_of_an_update(void **state)
{
    CLEANUP(buf_done) struct buf newer = BUF_INIT(4 * MIB), answers = BUF_INIT(4 * MIB);
    struct index_test *t = *state;
    struct registry_loaded got;
    struct original o;
    bool ended = false, empty;
    int nth;

    make_original(t, &o);
    make_index(&newer, 2);
    load(t, buf_z(&newer), &got);
    assert_true(!got.all);
    index_test_dump(t, &answers);
    for (nth = 1; !ended; nth++) {
        load(t, buf_z(&o.index), &got);
        registry_db_close(TAKE(t->db));
        ended = load_and_die(t->dir, buf_z(&newer), nth);
        assert_true(answers_are_right(t, buf_str(ended ? &answers : &o.answers), &empty) ||
                    answers_are_right(t, buf_str(&answers), &empty));
        assert_true(!empty);
        load(t, buf_z(&newer), &got);
        assert_true(answers_are_right(t, buf_str(&answers), &empty) && !empty);
        assert_num(count_files(t->dir), 2);
    }
    assert_true(nth > 5);
    drop_original(&o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, index_test_begin, index_test_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flipped_bytes_never_give_a_wrong_answer),
        TEST(test_a_file_cut_anywhere_never_gives_a_wrong_answer),
        TEST(test_killed_at_any_write_of_a_first_load),
        TEST(test_killed_at_any_write_of_an_update),
    };

    return RUN_TESTS(tests);
}

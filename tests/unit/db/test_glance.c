/* SPDX-License-Identifier: Apache-2.0 */
/* Looks without locks at a file that others write. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "db/db.h"
#include "lib/check.h"

enum { ROWS = 40, FILLER_BYTES = 3000 };

static const char *const schema[] = { "CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER, filler TEXT)" };
static const struct db_options options = {
    .schema = schema, .n_schema = 1, .disposable = true, .strangers = true, .deadline_ms = 2000
};

struct fixture {
    char *dir, *path;
    struct db *db;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->dir = check_temp_dir();
    f->path = fs_join(f->dir, "a b?c=1&d%41#e.db"); /* all that has a meaning in a URI */
    *state = f;
    return db_open(f->path, &options, &f->db, NULL);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    db_close(f->db);
    check_temp_done(f->dir);
    free(f->path);
    free(f);
    return 0;
}

/* All rows get the same value, in one transaction that touches many pages. */
static int write_all_rows(struct db *d, int64_t v, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    char filler[FILLER_BYTES];
    int r = db_write(d, &t, err);

    if (r == 0)
        r = db_prepare(t, "INSERT OR REPLACE INTO t(id, v, filler) VALUES(?1, ?2, ?3)", &q, err);
    memset(filler, 'a' + (int)(v % 26), sizeof(filler));
    for (int i = 0; i < ROWS && r == 0; i++) {
        db_bind_int(q, 1, i);
        db_bind_int(q, 2, v);
        db_bind_text(q, 3, (struct str){ filler, sizeof(filler) });
        r = db_run(q, err);
    }
    return r == 0 ? db_commit(t, err) : r;
}

/* The value that all rows have; -1 when they do not agree. */
static int64_t read_all_rows(struct db_txn *t)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int64_t v = -1;
    int n = 0;

    if (db_prepare(t, "SELECT v, filler FROM t", &q, NULL) < 0)
        return -1;
    for (; db_step(q, NULL) == 1; n++) {
        struct str filler = db_text(q, 1);

        if ((n > 0 && db_int(q, 0) != v) || filler.n != FILLER_BYTES)
            return -1;
        v = db_int(q, 0);
        for (size_t i = 0; i < filler.n; i++)
            if (filler.p[i] != 'a' + (int)(v % 26))
                return -1;
    }
    return n == ROWS ? v : -1;
}

/* *ret when the glance held. */
static bool glance(struct db *d, int64_t *ret)
{
    struct db_txn *t;

    if (!db_glance(d, &t))
        return false;
    *ret = read_all_rows(t);
    return db_glance_end(t);
}

static void a_glance_sees_what_was_committed_last(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    int64_t v = 0;

    for (int64_t i = 1; i <= 3; i++) {
        assert_ok(write_all_rows(f->db, i, &err), err);
        if (i > 1)
            assert_false(glance(f->db, &v)); /* what it has is old: it is opened anew the next time */
        assert_true(glance(f->db, &v));
        assert_num(v, i);
        assert_true(glance(f->db, &v));
        assert_num(v, i);
    }
}

static void a_glance_does_not_hold_when_somebody_wrote(void **state)
{
    struct fixture *f = *state;
    struct db_txn *t;
    struct err *err = NULL;

    assert_ok(write_all_rows(f->db, 1, &err), err);
    assert_true(db_glance(f->db, &t));
    assert_num(read_all_rows(t), 1);
    assert_ok(write_all_rows(f->db, 2, &err), err);
    assert_false(db_glance_end(t));
}

static void there_is_one_glance_at_a_time_and_none_while_there_is_a_journal(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr) char *journal = xasprintf("%s-journal", f->path);
    struct db_txn *t, *other;
    struct err *err = NULL;

    assert_ok(write_all_rows(f->db, 1, &err), err);
    assert_true(db_glance(f->db, &t));
    assert_false(db_glance(f->db, &other));
    assert_true(db_glance_end(t));
    assert_num(fs_write_file(journal, STR("x"), 0600, NULL), 0);
    assert_false(db_glance(f->db, &t));
    unlink(journal);
    assert_true(db_glance(f->db, &t));
    assert_true(db_glance_end(t));
}

static void only_disposable_files_are_glanced_at(void **state)
{
    struct fixture *f = *state;
    CLEANUP(free_ptr) char *path = fs_join(f->dir, "wal.db");
    CLEANUP(db_close) struct db *d = NULL;
    struct db_options o = options;
    struct db_txn *t;
    struct err *err = NULL;

    o.disposable = false;
    assert_ok(db_open(path, &o, &d, &err), err);
    assert_false(db_glance(d, &t));
}

static void write_for_ever(const char *path)
{
    struct db *d;

    if (db_open(path, &options, &d, NULL) < 0)
        _exit(1);
    for (int64_t i = 1;; i++)
        if (write_all_rows(d, i, NULL) < 0)
            _exit(1);
}

/* Another process writes, and is killed in the middle of it again and again. */
static void what_held_was_whole(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    int held = 0, status;

    assert_ok(write_all_rows(f->db, 0, &err), err);
    for (int round = 0; round < 12; round++) {
        int64_t until = clock_mono_ms() + 40, v = 0;
        pid_t pid = fork();

        if (pid == 0)
            write_for_ever(f->path);
        while (clock_mono_ms() < until) {
            if (glance(f->db, &v)) {
                assert_true(v >= 0);
                held++;
            }
        }
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        assert_true(WIFSIGNALED(status));
        assert_true(!glance(f->db, &v) || v >= 0);
        assert_ok(write_all_rows(f->db, 0, &err), err); /* undoes what was left */
        while (!glance(f->db, &v))
            ;
        assert_num(v, 0);
    }
    assert_true(held > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_glance_sees_what_was_committed_last),
        TEST(a_glance_does_not_hold_when_somebody_wrote),
        TEST(there_is_one_glance_at_a_time_and_none_while_there_is_a_journal),
        TEST(only_disposable_files_are_glanced_at),
        TEST(what_held_was_whole),
    };

    return RUN_TESTS(tests);
}

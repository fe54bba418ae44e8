/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "db/db.h"
#include "lib/check.h"

static const char *const schema[] = { "CREATE TABLE kv(k TEXT PRIMARY KEY, v INTEGER) WITHOUT ROWID",
                                      "ALTER TABLE kv ADD COLUMN note TEXT" };
static const struct db_options options = {
    .schema = schema, .n_schema = 2, .readers = 2, .deadline_ms = 300
};

struct fixture {
    char *dir, *path;
    struct db *db;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->dir = check_temp_dir();
    f->path = fs_join(f->dir, "test.db");
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

static int put(struct db *d, const char *k, int64_t v, bool commit, struct err **err)
{
    CLEANUP(db_end) struct db_txn *t = NULL;
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;
    int r = db_write(d, &t, err);

    if (r < 0)
        return r;
    r = db_prepare(t, "INSERT INTO kv(k,v) VALUES(?,?)", &q, err);
    if (r < 0)
        return r;
    db_bind_text(q, 1, str_from(k));
    db_bind_int(q, 2, v);
    r = db_run(q, err);
    if (r < 0)
        return r;
    return commit ? db_commit(t, err) : 0;
}

static int64_t count_in(struct db_txn *t)
{
    CLEANUP(db_stmt_done) struct db_stmt *q = NULL;

    if (db_prepare(t, "SELECT count(*) FROM kv", &q, NULL) < 0 || db_step(q, NULL) != 1)
        return -1;
    return db_int(q, 0);
}

static int64_t count(struct db *d)
{
    CLEANUP(db_end) struct db_txn *t = NULL;

    return db_read(d, &t, NULL) < 0 ? -1 : count_in(t);
}

static void what_is_not_committed_is_rolled_back(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;

    assert_ok(put(f->db, "a", 1, false, &err), err);
    assert_num(count(f->db), 0);
    assert_ok(put(f->db, "a", 1, true, &err), err);
    assert_num(count(f->db), 1);
}

static void a_second_row_of_the_same_key_is_exists(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;

    assert_ok(put(f->db, "a", 1, true, &err), err);
    assert_fails(put(f->db, "a", 2, true, &err), ERRC_EXISTS, err,
                 "database: UNIQUE constraint failed: kv.k");
}

static void a_reader_keeps_its_snapshot(void **state)
{
    struct fixture *f = *state;
    struct db_txn *t = NULL;
    struct err *err = NULL;

    assert_ok(db_read(f->db, &t, &err), err);
    assert_num(count_in(t), 0);
    assert_ok(put(f->db, "a", 1, true, &err), err);
    assert_num(count_in(t), 0);
    db_end(t);
    assert_num(count(f->db), 1);
}

static void a_second_writer_waits_until_the_deadline(void **state)
{
    struct fixture *f = *state;
    struct db_txn *t = NULL, *other = NULL;
    struct err *err = NULL;

    assert_ok(db_write(f->db, &t, &err), err);
    assert_int_equal(db_write(f->db, &other, &err), -ERRC_TIMEOUT);
    err_free(err);
    db_end(t);
    err = NULL;
    assert_ok(db_write(f->db, &other, &err), err);
    db_end(other);
}

static void a_statement_without_end_is_stopped_at_the_deadline(void **state)
{
    struct fixture *f = *state;
    struct db_txn *t = NULL;
    struct err *err = NULL;

    assert_ok(db_read(f->db, &t, &err), err);
    assert_fails(db_exec(t,
                         "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c",
                         &err),
                 ERRC_TIMEOUT, err, "database: interrupted");
    db_end(t);
}

static void a_file_in_use_is_refused(void **state)
{
    struct fixture *f = *state;
    struct db *other = NULL;

    /* flock() belongs to the open file, so a second open in this process meets it as another process would. */
    assert_int_equal(db_open(f->path, &options, &other, NULL), -ERRC_FORBIDDEN);
    assert_null(other);
}

static void a_file_of_a_later_version_is_refused(void **state)
{
    struct fixture *f = *state;
    struct db_options older = options;
    struct db *d = NULL;

    db_close(f->db);
    f->db = NULL;
    older.n_schema = 1;
    assert_int_equal(db_open(f->path, &older, &d, NULL), -ERRC_UNSUPPORTED);
    assert_null(d);
}

static void a_file_that_is_no_database_is_a_parse_error(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    char *path = fs_join(f->dir, "text.db");
    struct db *d = NULL;

    assert_ok(fs_write_file(path,
                            STR("this is not a database, and it is long enough to be looked at as one: "
                                "a header of SQLite has 100 bytes, so here are some more of them"),
                            0600, &err),
              err);
    assert_int_equal(db_open(path, &options, &d, NULL), -ERRC_PARSE);
    assert_null(d);
    free(path);
}

static void the_file_is_private(void **state)
{
    struct fixture *f = *state;
    struct stat st;

    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* Writes rows until it is killed, reporting each acknowledged one through the pipe. */
static void NORETURN child_writes(const char *path, int fd)
{
    struct db *d = NULL;
    char name[32];

    if (db_open(path, &options, &d, NULL) < 0)
        _exit(1);
    for (int i = 0;; i++) {
        snprintf(name, sizeof(name), "row%d", i);
        if (put(d, name, i, true, NULL) < 0 || write(fd, "x", 1) != 1)
            _exit(1);
    }
}

static void acknowledged_rows_survive_kill_9(void **state)
{
    struct fixture *f = *state;
    char *path = fs_join(f->dir, "killed.db"), buf[64];
    struct err *err = NULL;
    int64_t acknowledged = 0;
    struct db *d = NULL;
    int fds[2], status;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0)
        child_writes(path, fds[1]);
    close(fds[1]);
    while (acknowledged < 200) {
        ssize_t n = read(fds[0], buf, sizeof(buf));

        assert_true(n > 0);
        acknowledged += n;
    }
    kill(pid, SIGKILL);
    for (ssize_t n; (n = read(fds[0], buf, sizeof(buf))) > 0;)
        acknowledged += n;
    close(fds[0]);
    waitpid(pid, &status, 0);
    assert_ok(db_open(path, &options, &d, &err), err);
    assert_ok(db_check(d, &err), err);
    assert_true(count(d) >= acknowledged);
    assert_true(count(d) <= acknowledged + 1);
    db_close(d);
    free(path);
}

static void *write_many(void *arg)
{
    struct db *d = arg;
    char name[48];

    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "%lx-%d", (unsigned long)pthread_self(), i);
        if (put(d, name, i, true, NULL) < 0 || count(d) < i)
            return arg;
    }
    return NULL;
}

static void threads_share_a_database(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[4];
    void *failed;

    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, f->db), 0);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_num(count(f->db), 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_is_not_committed_is_rolled_back),
        TEST(a_second_row_of_the_same_key_is_exists),
        TEST(a_reader_keeps_its_snapshot),
        TEST(a_second_writer_waits_until_the_deadline),
        TEST(a_statement_without_end_is_stopped_at_the_deadline),
        TEST(a_file_in_use_is_refused),
        TEST(a_file_of_a_later_version_is_refused),
        TEST(a_file_that_is_no_database_is_a_parse_error),
        TEST(the_file_is_private),
        TEST(acknowledged_rows_survive_kill_9),
        TEST(threads_share_a_database),
    };

    return RUN_TESTS(tests);
}

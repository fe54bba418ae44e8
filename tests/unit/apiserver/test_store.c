/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/store.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "lib/check.h"
#include "json/json.h"

struct fixture {
    char *dir, *path;
    struct api_store *store;
    struct arena *arena;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->dir = check_temp_dir();
    f->path = fs_join(f->dir, "store.db");
    f->arena = arena_new(64 << 20);
    *state = f;
    return api_store_open(f->path, &f->store, NULL);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    api_store_close(f->store);
    arena_free(f->arena);
    check_temp_done(f->dir);
    free(f->path);
    free(f);
    return 0;
}

static struct api_key key_of(const char *ns, const char *name)
{
    return (struct api_key){ STR("configmaps"), str_from(ns), str_from(name) };
}

static struct value object(struct arena *a, const char *name, const char *text)
{
    struct value v = value_new_map(a), meta = value_new_map(a), labels = value_new_map(a);

    value_setz(v, "metadata", meta);
    value_setz(meta, "name", value_from_str(arena_dup(a, str_from(name))));
    value_setz(meta, "labels", labels);
    value_setz(labels, "text", value_from_str(arena_dup(a, str_from(text))));
    return v;
}

static int write_one(struct api_store *s, enum api_op op, const char *ns, const char *name, const char *text,
                     int64_t expect, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(1 << 20);
    const struct api_write w = {
        .op = op, .key = key_of(ns, name), .expect = expect, .object = object(a, name, text)
    };

    return api_store_write(s, &w, err);
}

static int64_t rv_of(struct fixture *f, const char *ns, const char *name)
{
    const struct api_key key = key_of(ns, name);
    struct api_row row;

    return api_store_get(f->store, &key, f->arena, &row, NULL) < 0 ? -1 : row.rv;
}

static int on_row(void *ctx, const struct api_row *row, struct err **err)
{
    struct buf *b = ctx;
    struct str text;

    UNUSED(err);
    buf_addstr(b, row->key.name);
    if (api_labels_get(row->labels, STR("text"), &text) && text.n > 0)
        buf_addf(b, "=" STR_FMT, STR_ARG(text));
    buf_addc(b, ' ');
    return 1;
}

/* The names that a list gives, each followed by its text. */
static struct str listed(struct fixture *f, struct api_list q, struct api_list_end *end)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(1 << 20);
    struct err *err = NULL;

    q.resource = STR("configmaps");
    assert_ok(api_store_list(f->store, &q, on_row, &b, end, &err), err);
    return arena_dup(f->arena, buf_str(&b));
}

static void what_was_written_is_read_with_its_number(void **state)
{
    struct fixture *f = *state;
    const struct api_key key = key_of("a", "x");
    struct err *err = NULL;
    struct api_row row;
    struct value v;

    assert_ok(write_one(f->store, API_OP_CREATE, "a", "x", "1", 0, &err), err);
    assert_ok(api_store_get(f->store, &key, f->arena, &row, &err), err);
    assert_ok(json_parse(f->arena, row.json, NULL, &v, &err), err);
    assert_num(row.rv, 1);
    assert_str(value_str(value_path(v, "metadata.resourceVersion")), "1");
    assert_num(api_store_rv(f->store), 1);
}

static void a_name_is_created_once(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;

    assert_ok(write_one(f->store, API_OP_CREATE, "a", "x", "1", 0, &err), err);
    assert_fails(write_one(f->store, API_OP_CREATE, "a", "x", "2", 0, &err), ERRC_EXISTS, err, NULL);
    assert_ok(write_one(f->store, API_OP_CREATE, "b", "x", "1", 0, &err), err);
    assert_num(api_store_rv(f->store), 2);
}

static void an_update_needs_the_current_number(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;

    assert_fails(write_one(f->store, API_OP_UPDATE, "a", "x", "2", 1, &err), ERRC_NOT_FOUND, err, NULL);
    assert_ok(write_one(f->store, API_OP_CREATE, "a", "x", "1", 0, &err), err);
    assert_ok(write_one(f->store, API_OP_UPDATE, "a", "x", "2", 1, &err), err);
    assert_fails(write_one(f->store, API_OP_UPDATE, "a", "x", "3", 1, &err), ERRC_CONFLICT, err, NULL);
    assert_fails(write_one(f->store, API_OP_DELETE, "a", "x", "3", 1, &err), ERRC_CONFLICT, err, NULL);
    assert_ok(write_one(f->store, API_OP_DELETE, "a", "x", "3", 2, &err), err);
    assert_num(rv_of(f, "a", "x"), -1);
    assert_ok(write_one(f->store, API_OP_CREATE, "a", "x", "4", 0, &err), err);
    assert_num(rv_of(f, "a", "x"), 4);
}

static void fill(struct fixture *f, int n)
{
    char name[16];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "n%02d", i);
        assert_int_equal(write_one(f->store, API_OP_CREATE, "a", name, "", 0, NULL), 0);
    }
}

static void a_list_goes_on_behind_the_last_name(void **state)
{
    struct fixture *f = *state;
    struct api_list_end end;

    fill(f, 5);
    assert_str(listed(f, (struct api_list){ .limit = 2, .count = true }, &end), "n00 n01 ");
    assert_true(end.more);
    assert_num(end.remaining, 3);
    assert_str(
        listed(f, (struct api_list){ .limit = 2, .continued = true, .after = key_of("a", "n01") }, &end),
        "n02 n03 ");
    assert_true(end.more);
    assert_str(
        listed(f, (struct api_list){ .limit = 2, .continued = true, .after = key_of("a", "n03") }, &end),
        "n04 ");
    assert_false(end.more);
}

static void the_limit_that_is_just_reached_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct api_list_end end;

    fill(f, 3);
    listed(f, (struct api_list){ .limit = 3, .count = true }, &end);
    assert_false(end.more);
    listed(f, (struct api_list){ .limit = 2, .count = true }, &end);
    assert_true(end.more);
    assert_num(end.remaining, 1);
}

static void an_older_state_can_be_listed(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct api_list_end end;

    fill(f, 3); /* 1, 2, 3 */
    assert_ok(write_one(f->store, API_OP_UPDATE, "a", "n00", "new", 1, &err), err);
    assert_ok(write_one(f->store, API_OP_DELETE, "a", "n01", "", 2, &err), err);
    assert_ok(write_one(f->store, API_OP_CREATE, "a", "n09", "", 0, &err), err);
    assert_str(listed(f, (struct api_list){ .at = 3 }, &end), "n00 n01 n02 ");
    assert_str(listed(f, (struct api_list){ .at = 4 }, &end), "n00=new n01 n02 ");
    assert_str(listed(f, (struct api_list){ .at = 0 }, &end), "n00=new n02 n09 ");
    assert_num(end.rv, 6);
}

static void rows_come_in_the_order_of_etcd_keys(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct api_list_end end;

    assert_ok(write_one(f->store, API_OP_CREATE, "web", "one", "", 0, &err), err);
    assert_ok(write_one(f->store, API_OP_CREATE, "web-2", "two", "", 0, &err), err);
    /* '-' comes before '/' */
    assert_str(listed(f, (struct api_list){ .limit = 0 }, &end), "two one ");
    assert_str(listed(f, (struct api_list){ .ns = STR("web") }, &end), "one ");
}

static struct str changes_after(struct fixture *f, int64_t after, size_t max, int64_t *rv)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(1 << 20);
    const struct api_changes q = {
        .resource = STR("configmaps"), .after = after, .max = max, .before = true
    };
    static const char ops[] = "?+~-";
    struct api_change *c;
    struct err *err = NULL;
    size_t n;

    assert_ok(api_store_changes(f->store, &q, f->arena, &c, &n, rv, &err), err);
    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%c" STR_FMT "@%lld%s ", ops[c[i].op], STR_ARG(c[i].row.key.name),
                 (long long)c[i].row.rv, c[i].has_before ? "*" : "");
    return arena_dup(f->arena, buf_str(&b));
}

static void changes_are_told_in_order(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    int64_t rv;

    fill(f, 2);
    assert_ok(write_one(f->store, API_OP_UPDATE, "a", "n00", "new", 1, &err), err);
    assert_ok(write_one(f->store, API_OP_DELETE, "a", "n01", "", 2, &err), err);
    assert_str(changes_after(f, 0, 10, &rv), "+n00@1 +n01@2 ~n00@3* -n01@4* ");
    assert_num(rv, 4);
    assert_str(changes_after(f, 2, 10, &rv), "~n00@3* -n01@4* ");
    assert_str(changes_after(f, 0, 3, &rv), "+n00@1 +n01@2 ~n00@3* ");
    assert_num(rv, 3);
    assert_str(changes_after(f, 4, 10, &rv), "");
    assert_num(rv, 4);
}

static void what_was_compacted_is_gone(void **state)
{
    struct fixture *f = *state;
    const struct api_changes q = { .resource = STR("configmaps"), .after = 1, .max = 10 };
    const struct api_list old = { .resource = STR("configmaps"), .at = 1 };
    struct api_list_end end;
    struct api_change *c;
    struct err *err = NULL;
    int64_t rv;
    size_t n;

    fill(f, 2);
    assert_ok(write_one(f->store, API_OP_UPDATE, "a", "n00", "new", 1, &err), err);
    assert_ok(write_one(f->store, API_OP_DELETE, "a", "n01", "", 2, &err), err);
    assert_ok(write_one(f->store, API_OP_CREATE, "a", "n05", "", 0, &err), err);
    assert_ok(api_store_compact(f->store, 3600000, 1, &err), err);
    assert_fails(api_store_changes(f->store, &q, f->arena, &c, &n, &rv, &err), ERRC_GONE, err,
                 "too old resource version: 1 (4)");
    assert_int_equal(api_store_list(f->store, &old, on_row, NULL, &end, NULL), -ERRC_GONE);
    assert_str(changes_after(f, 4, 10, &rv), "+n05@5 ");
    assert_str(listed(f, (struct api_list){ .at = 0 }, &end), "n00=new n05 ");
}

static void the_counter_survives_a_restart(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    int64_t rv;

    fill(f, 3);
    assert_ok(write_one(f->store, API_OP_DELETE, "a", "n02", "", 3, &err), err);
    assert_ok(api_store_compact(f->store, 3600000, 0, &err), err);
    api_store_close(f->store);
    f->store = NULL;
    assert_ok(api_store_open(f->path, &f->store, &err), err);
    assert_num(api_store_rv(f->store), 4);
    assert_ok(write_one(f->store, API_OP_CREATE, "a", "n03", "", 0, &err), err);
    assert_num(rv_of(f, "a", "n03"), 5);
    assert_str(changes_after(f, 4, 10, &rv), "+n03@5 ");
}

static void dependents_are_found_by_the_owner(void **state)
{
    struct fixture *f = *state;
    struct value v = object(f->arena, "x", "1"), ref = value_new_map(f->arena);
    struct value_list l = VALUE_LIST_INIT(f->arena);
    struct api_write w = { .op = API_OP_CREATE, .key = key_of("a", "x"), .object = v };
    struct api_key *keys;
    struct err *err = NULL;
    size_t n;

    value_setz(ref, "uid", VALUE_STR("u-1"));
    value_list_add(&l, ref);
    value_set_path(v, "metadata.ownerReferences", value_list_done(&l));
    assert_ok(api_store_write(f->store, &w, &err), err);
    assert_ok(api_store_dependents(f->store, STR("u-1"), f->arena, &keys, &n, &err), err);
    assert_num(n, 1);
    assert_str(keys[0].name, "x");
    assert_str(keys[0].ns, "a");
    assert_ok(write_one(f->store, API_OP_UPDATE, "a", "x", "2", 1, &err), err);
    assert_ok(api_store_dependents(f->store, STR("u-1"), f->arena, &keys, &n, &err), err);
    assert_num(n, 0);
}

static void *write_later(void *arg)
{
    const struct timespec pause = { .tv_nsec = 50000000 };

    nanosleep(&pause, NULL);
    return write_one(arg, API_OP_CREATE, "a", "late", "", 0, NULL) < 0 ? arg : NULL;
}

static void a_wait_ends_with_the_change(void **state)
{
    struct fixture *f = *state;
    int64_t start = clock_mono_ms();
    pthread_t thread;
    void *failed;

    assert_false(api_store_wait(f->store, STR("configmaps"), 0, 20));
    assert_int_equal(pthread_create(&thread, NULL, write_later, f->store), 0);
    assert_true(api_store_wait(f->store, STR("configmaps"), 0, 10000));
    assert_true(clock_mono_ms() - start < 5000);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
}

enum { WRITERS = 4, WRITES = 50 };

static void *write_many(void *arg)
{
    char name[48];

    for (int i = 0; i < WRITES; i++) {
        snprintf(name, sizeof(name), "%lx-%d", (unsigned long)pthread_self(), i);
        if (write_one(arg, API_OP_CREATE, "a", name, "", 0, NULL) < 0)
            return arg;
    }
    return NULL;
}

/* Follows all changes as a watch does: every number once, in order. */
static void *follow(void *arg)
{
    struct api_store *s = arg;
    int64_t rv = 0, seen = 0;

    while (seen < WRITERS * WRITES) {
        CLEANUP(arena_free) struct arena *a = arena_new(16 << 20);
        const struct api_changes q = { .resource = STR("configmaps"), .after = rv, .max = 7 };
        struct api_change *c;
        int64_t next = rv;
        size_t n;

        if (!api_store_wait(s, STR("configmaps"), rv, 20000) ||
            api_store_changes(s, &q, a, &c, &n, &next, NULL) < 0)
            return arg;
        for (size_t i = 0; i < n; i++)
            if (c[i].row.rv != ++seen)
                return arg;
        rv = next;
    }
    return NULL;
}

static void followers_see_every_write_once(void **state)
{
    struct fixture *f = *state;
    pthread_t writers[WRITERS], followers[2];
    void *failed;

    for (size_t i = 0; i < ARRAY_SIZE(followers); i++)
        assert_int_equal(pthread_create(&followers[i], NULL, follow, f->store), 0);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_many, f->store), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i], &failed), 0);
        assert_null(failed);
    }
    for (size_t i = 0; i < ARRAY_SIZE(followers); i++) {
        assert_int_equal(pthread_join(followers[i], &failed), 0);
        assert_null(failed);
    }
    assert_num(api_store_rv(f->store), WRITERS * WRITES);
}

static void NORETURN child_writes(const char *path, int fd)
{
    struct api_store *s = NULL;
    char name[32];

    if (api_store_open(path, &s, NULL) < 0)
        _exit(1);
    for (int i = 0;; i++) {
        snprintf(name, sizeof(name), "row%d", i);
        if (write_one(s, API_OP_CREATE, "a", name, "", 0, NULL) < 0 || write(fd, "x", 1) != 1)
            _exit(1);
    }
}

static void acknowledged_writes_survive_kill_9(void **state)
{
    struct fixture *f = *state;
    char *path = fs_join(f->dir, "killed.db"), buf[64];
    struct err *err = NULL;
    struct api_store *s = NULL;
    int64_t acknowledged = 0;
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
    assert_ok(api_store_open(path, &s, &err), err);
    assert_ok(api_store_check(s, &err), err);
    assert_true(api_store_rv(s) >= acknowledged);
    assert_true(api_store_rv(s) <= acknowledged + 1);
    api_store_close(s);
    free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_read_with_its_number),
        TEST(a_name_is_created_once),
        TEST(an_update_needs_the_current_number),
        TEST(a_list_goes_on_behind_the_last_name),
        TEST(the_limit_that_is_just_reached_leaves_nothing),
        TEST(an_older_state_can_be_listed),
        TEST(rows_come_in_the_order_of_etcd_keys),
        TEST(changes_are_told_in_order),
        TEST(what_was_compacted_is_gone),
        TEST(the_counter_survives_a_restart),
        TEST(dependents_are_found_by_the_owner),
        TEST(a_wait_ends_with_the_change),
        TEST(followers_see_every_write_once),
        TEST(acknowledged_writes_survive_kill_9),
    };

    return RUN_TESTS(tests);
}

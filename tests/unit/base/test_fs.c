/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "lib/check.h"

static int set_up(void **state)
{
    *state = check_temp_dir();
    return 0;
}

static int tear_down(void **state)
{
    check_temp_done(*state);
    return 0;
}

static void test_a_file_is_written_whole_and_read_back(void **state)
{
    CLEANUP(free_ptr) char *path = fs_join(*state, "file");
    CLEANUP(buf_done) struct buf text = BUF_INIT(100);
    struct err *err = NULL;
    struct stat st;

    assert_ok(fs_write_file(path, STR("one"), 0644, &err), err);
    assert_ok(fs_write_file(path, STR("second"), 0600, &err), err);
    assert_ok(fs_read_file(path, &text, &err), err);
    assert_str(buf_str(&text), "second");
    assert_num(stat(path, &st), 0);
    assert_num(st.st_mode & 0777, 0600);
}

static size_t count_names(const char *folder)
{
    struct err *err = NULL;
    char **names;
    size_t n;

    assert_ok(fs_list_dir(folder, &names, &n, &err), err);
    fs_names_free(names, n);
    return n;
}

static void test_a_staged_file_has_no_name_until_it_is_put(void **state)
{
    const char *folder = *state;
    CLEANUP(free_ptr) char *path = fs_join(folder, "staged");
    CLEANUP(buf_done) struct buf text = BUF_INIT(100);
    size_t before = count_names(folder);
    struct fs_staged *s = fs_stage(path, STR("next"), 0600);
    struct err *err = NULL;
    struct stat st;

    assert_non_null(s);
    assert_int_equal(count_names(folder), before);
    assert_false(fs_staged_put(s, STR("other")));
    assert_false(fs_exists(path));
    assert_true(fs_staged_put(s, STR("next")));
    fs_staged_free(s);
    assert_int_equal(count_names(folder), before + 1);
    assert_ok(fs_read_file(path, &text, &err), err);
    assert_str(buf_str(&text), "next");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    s = fs_stage(path, STR("third"), 0600);
    assert_true(fs_staged_put(s, STR("third"))); /* in the place of what is there */
    fs_staged_free(s);
    assert_int_equal(count_names(folder), before + 1);
    assert_null(fs_stage("/nowhere/at/all", STR(""), 0600));
    fs_staged_free(NULL);
}

static void test_a_file_is_opened_empty(void **state)
{
    CLEANUP(free_ptr) char *path = fs_join(*state, "empty");
    CLEANUP(buf_done) struct buf text = BUF_INIT(100);

    for (int i = 0; i < 2; i++) { /* a new one, and one with more in it */
        CLEANUP(fd_close) int fd = fs_open_empty(path, 0600);

        assert_int_equal(write(fd, "content", 7 - 2 * (size_t)i), 7 - 2 * i);
    }
    assert_int_equal(fs_read_file(path, &text, NULL), 0);
    assert_str(buf_str(&text), "conte");
    assert_int_equal(fs_open_empty("/nowhere/at/all", 0600), -1);
    assert_int_equal(errno, ENOENT);
}

static void test_writing_replaces_a_link_and_leaves_its_target(void **state)
{
    CLEANUP(free_ptr) char *path = fs_join(*state, "link"), *target = fs_join(*state, "target");
    CLEANUP(buf_done) struct buf text = BUF_INIT(100);
    struct err *err = NULL;

    assert_ok(fs_write_file(target, STR("mine"), 0644, &err), err);
    assert_num(symlink(target, path), 0);
    assert_ok(fs_write_file(path, STR("new"), 0644, &err), err);
    assert_ok(fs_read_file(target, &text, &err), err);
    assert_str(buf_str(&text), "mine");
}

static void test_a_file_larger_than_the_buffer_is_refused(void **state)
{
    static const struct {
        size_t n;
        enum errc code;
    } cases[] = { { 99, ERRC_NONE }, { 100, ERRC_NONE }, { 101, ERRC_LIMIT } };
    CLEANUP(free_ptr) char *path = fs_join(*state, "file");
    char text[101];
    struct err *err = NULL;

    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(100);

        assert_ok(fs_write_file(path, (struct str){ text, cases[i].n }, 0644, &err), err);
        if (cases[i].code)
            assert_fails(fs_read_file(path, &b, &err), cases[i].code, err, NULL);
        else
            assert_ok(fs_read_file(path, &b, &err), err);
    }
}

static void test_errors_name_the_path_and_the_reason(void **state)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(100);
    CLEANUP(free_ptr) char *file = fs_join(*state, "file"), *below = fs_join(file, "x");
    struct err *err = NULL;
    char **names;
    size_t n;

    assert_fails(fs_read_file("tests/absent", &b, &err), ERRC_NOT_FOUND, err,
                 "tests/absent: No such file or directory");
    assert_fails(fs_list_dir("tests/absent", &names, &n, &err), ERRC_NOT_FOUND, err,
                 "tests/absent: No such file or directory");
    assert_ok(fs_write_file(file, STR(""), 0644, &err), err);
    assert_true(fs_make_dirs(below, 0755, NULL) < 0);
    assert_true(fs_write_file(below, STR(""), 0644, NULL) < 0);
}

static void test_directories_are_made_listed_and_removed(void **state)
{
    CLEANUP(free_ptr) char *deep = fs_join(*state, "a/b/c"), *top = fs_join(*state, "a");
    CLEANUP(free_ptr) char *z = fs_join(top, "z"), *m = fs_join(top, "m"), *outside = fs_join(*state, "kept");
    struct err *err = NULL;
    char **names;
    size_t n;

    assert_ok(fs_make_dirs(deep, 0755, &err), err);
    assert_ok(fs_make_dirs(deep, 0755, &err), err);
    assert_true(fs_is_dir(deep));
    assert_false(fs_is_file(deep));
    assert_ok(fs_write_file(outside, STR("x"), 0644, &err), err);
    assert_ok(fs_write_file(z, STR(""), 0644, &err), err);
    assert_num(symlink(outside, m), 0);
    assert_ok(fs_list_dir(top, &names, &n, &err), err);
    assert_num(n, 3);
    assert_string_equal(names[0], "b");
    assert_string_equal(names[1], "m");
    assert_string_equal(names[2], "z");
    fs_names_free(names, n);
    assert_ok(fs_remove_tree(top, &err), err);
    assert_false(fs_exists(top));
    assert_true(fs_is_file(outside));
    assert_ok(fs_remove_tree(top, &err), err);
}

static void test_paths_that_leave_their_place_are_known(void **state)
{
    static const struct {
        const char *path;
        bool below;
    } cases[] = {
        { "a", true },    { "a/b.yaml", true }, { "a..b/c", true }, { ".hidden", true }, { "", false },
        { "/a", false },  { "a/", false },      { "a//b", false },  { "..", false },     { "a/../b", false },
        { "./a", false }, { "a/.", false },     { "a\\b", false },  { "a/..", false },
    };
    char long_path[FS_PATH_MAX + 1];

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_case_num(cases[i].path, fs_path_is_below(str_from(cases[i].path)), cases[i].below);
    assert_false(fs_path_is_below((struct str){ "a\0b", 3 }));
    memset(long_path, 'a', sizeof(long_path));
    assert_true(fs_path_is_below((struct str){ long_path, FS_PATH_MAX - 1 }));
    assert_true(fs_path_is_below((struct str){ long_path, FS_PATH_MAX }));
    assert_false(fs_path_is_below((struct str){ long_path, FS_PATH_MAX + 1 }));
}

static void test_paths_are_cleaned_as_in_go(void **state)
{
    static const struct {
        const char *path, *want;
    } cases[] = {
        { "", "." },
        { ".", "." },
        { "a//b/./c/..", "a/b" },
        { "a/..", "." },
        { "../a/..", ".." },
        { "../../a", "../../a" },
        { "/..", "/" },
        { "/a/../..", "/" },
        { "/a/b/../c/", "/a/c" },
        { "./x", "x" },
        { "a/../../b", "../b" },
        { "//", "/" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr) char *got = fs_clean(cases[i].path);

        assert_string_equal(got, cases[i].want);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_is_written_whole_and_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_staged_file_has_no_name_until_it_is_put, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_is_opened_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writing_replaces_a_link_and_leaves_its_target, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_larger_than_the_buffer_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_errors_name_the_path_and_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directories_are_made_listed_and_removed, set_up, tear_down),
        cmocka_unit_test(test_paths_that_leave_their_place_are_known),
        cmocka_unit_test(test_paths_are_cleaned_as_in_go),
    };

    return RUN_TESTS(tests);
}

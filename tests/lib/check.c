/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"

void check_fail(const char *file, int line, const char *fmt, ...)
{
    char text[4096];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    print_error("%s\n", text);
    _fail(file, line);
}

void check_ok(int r, struct err **err, const char *call, const char *file, int line)
{
    char text[2048];

    if (r >= 0) {
        if (*err)
            check_fail(file, line, "%s succeeded and set an error: %s", call, err_message(*err));
        return;
    }
    snprintf(text, sizeof(text), "%s", err_message(*err));
    err_free(TAKE(*err));
    check_fail(file, line, "%s failed (%s): %s", call, errc_text((enum errc) - r), text);
}

void check_fails(int r, enum errc code, struct err **err, const char *text, const char *call,
                 const char *file, int line)
{
    char got[2048];

    snprintf(got, sizeof(got), "%s", err_message(*err));
    err_free(TAKE(*err));
    if (r >= 0)
        check_fail(file, line, "%s succeeded; expected: %s", call, errc_text(code));
    if (r != -(int)code)
        check_fail(file, line, "%s failed with '%s' (%s); expected '%s'", call, errc_text((enum errc) - r),
                   got, errc_text(code));
    if (text && strcmp(got, text) != 0)
        check_fail(file, line, "%s\n  got:  %s\n  want: %s", call, got, text);
}

void check_str(struct str got, struct str want, const char *name, const char *file, int line)
{
    size_t at = 0;

    if (str_eq(got, want))
        return;
    while (at < MIN(got.n, want.n) && got.p[at] == want.p[at])
        at++;
    check_fail(file, line,
               "%s: differs at byte %zu\n--- got (%zu bytes)\n" STR_FMT "\n--- want (%zu bytes)\n" STR_FMT,
               name, at, got.n, STR_ARG(got), want.n, STR_ARG(want));
}

void check_num(int64_t got, int64_t want, const char *name, const char *file, int line)
{
    if (got != want)
        check_fail(file, line, "%s: got %lld, want %lld", name, (long long)got, (long long)want);
}

static char *data_path(const char *path)
{
    const char *root = getenv("TESTDATA");

    return fs_join(root ? root : "tests/data", path);
}

void check_read_data(const char *path, struct buf *out)
{
    CLEANUP(free_ptr) char *full = data_path(path);
    struct err *err = NULL;

    out->max = MAX(out->max, 256 * MIB);
    assert_ok(fs_read_file(full, out, &err), err);
}

void assert_golden(const char *path, struct str got)
{
    CLEANUP(buf_done) struct buf want = BUF_INIT(256 * MIB);
    CLEANUP(free_ptr) char *full = data_path(path);
    struct err *err = NULL;

    if (getenv("UPDATE_GOLDEN")) {
        assert_ok(fs_write_file(full, got, 0644, &err), err);
        return;
    }
    check_read_data(path, &want);
    check_str(got, buf_str(&want), path, __FILE__, __LINE__);
}

char *check_temp_dir(void)
{
    struct err *err = NULL;
    char *dir = NULL;

    assert_ok(fs_make_temp_dir("pintle-test", &dir, &err), err);
    return dir;
}

void check_temp_done(char *dir)
{
    if (!getenv("KEEP_TMP"))
        IGNORE_ERROR(fs_remove_tree(dir, NULL));
    free(dir);
}

int check_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
    const char *filter = getenv("TESTFILTER");

    if (filter && *filter)
        cmocka_set_test_filter(filter);
    return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
}

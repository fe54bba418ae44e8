/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* check: cmocka with assertions that show what they compared.
 *
 * cmocka jumps out of a failing test: assert only in the main thread, and keep what must be released in fixtures.
 * $TESTFILTER selects tests by pattern; UPDATE_GOLDEN=1 rewrites files that assert_golden() compares with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Runs the call, fails with the error's text unless it returned 0 or more; frees the error. Use: assert_ok(f(x, &err), err) */
#define assert_ok(call, err) check_ok((call), &(err), #call, __FILE__, __LINE__)
void check_ok(int r, struct err **err, const char *call, const char *file, int line);

/* The call failed with -code, and with exactly this text (text may be NULL). Frees the error. */
#define assert_fails(call, code, err, text) \
    check_fails((call), (code), &(err), (text), #call, __FILE__, __LINE__)
void check_fails(int r, enum errc code, struct err **err, const char *text, const char *call,
                 const char *file, int line);

/* Text equality; prints both and the first difference. `name` says which case of a table it was. */
#define assert_str(got, want) check_str((got), str_from(want), #got, __FILE__, __LINE__)
#define assert_case_str(name, got, want) check_str((got), str_from(want), (name), __FILE__, __LINE__)
void check_str(struct str got, struct str want, const char *name, const char *file, int line);

/* Integers in decimal (cmocka prints hex). */
#define assert_num(got, want) check_num((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
#define assert_case_num(name, got, want) \
    check_num((int64_t)(got), (int64_t)(want), (name), __FILE__, __LINE__)
void check_num(int64_t got, int64_t want, const char *name, const char *file, int line);

/* Fails and names the case. */
#define fail_case(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
void check_fail(const char *file, int line, const char *fmt, ...) PRINTF(3, 4);

/* The content of a file under tests/data, read once per call; owned by the caller (buf_done). */
void check_read_data(const char *path, struct buf *out);
/* Compares with tests/data/<path>; UPDATE_GOLDEN=1 writes it instead. */
void assert_golden(const char *path, struct str got);

/* A private directory, removed by check_temp_done(). Fixture: */
char *check_temp_dir(void) NODISCARD;
void check_temp_done(char *dir);

/* Every test program ends with this. */
#define RUN_TESTS(tests) check_run(#tests, (tests), ARRAY_SIZE(tests))
int check_run(const char *name, const struct CMUnitTest *tests, size_t n);

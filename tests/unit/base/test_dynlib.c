/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dynlib.h"
#include "lib/check.h"

static struct {
    double (*cosine)(double);
    int (*missing)(void);
} table;

static void test_open_fills_the_table(void **state)
{
    static const struct dynlib_symbol symbols[] = { DYNLIB_SYMBOL(table, cosine, "cos") };
    static struct dynlib lib = DYNLIB("libm", "libc6", &table, symbols, "libm.so.6");
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_ok(dynlib_open(&lib, &err), err);
    assert_ok(dynlib_open(&lib, &err), err);
    assert_true(table.cosine(0.0) == 1.0);
}

static void test_open_names_the_package_of_a_missing_library(void **state)
{
    static const struct dynlib_symbol symbols[] = { DYNLIB_SYMBOL(table, cosine, "cos") };
    static struct dynlib lib = DYNLIB("libabsent", "absent1", &table, symbols, "libabsent.so.1");
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_fails(
        dynlib_open(&lib, &err), ERRC_UNSUPPORTED, err,
        "libabsent is not installed: libabsent.so.1: cannot open shared object file: No such file or "
        "directory (Debian package absent1)");
}

static void test_open_names_a_missing_symbol(void **state)
{
    static const struct dynlib_symbol symbols[] = { DYNLIB_SYMBOL(table, missing, "no_such_function") };
    static struct dynlib lib = DYNLIB("libm", "libc6", &table, symbols, "libm.so.6");
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_fails(dynlib_open(&lib, &err), ERRC_UNSUPPORTED, err,
                 "libm is too old: libm.so.6 has no no_such_function (Debian package libc6)");
    assert_null(lib.handle);
}

static void test_open_takes_the_first_file_that_has_all_symbols(void **state)
{
    static const struct dynlib_symbol symbols[] = { DYNLIB_SYMBOL(table, cosine, "cos") };
    static struct dynlib lib =
        DYNLIB("libm", "libc6", &table, symbols, "$ORIGIN/libabsent.so.1", "libcmocka.so.0", "libm.so.6");
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    table.cosine = NULL;
    assert_ok(dynlib_open(&lib, &err), err);
    assert_null(err);
    assert_true(table.cosine(0.0) == 1.0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_fills_the_table),
        cmocka_unit_test(test_open_names_the_package_of_a_missing_library),
        cmocka_unit_test(test_open_names_a_missing_symbol),
        cmocka_unit_test(test_open_takes_the_first_file_that_has_all_symbols),
    };

    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/check.h"

static void test_an_error_keeps_its_code_and_the_way_it_took(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(1000);
    int r = err_set(&err, ERRC_PARSE, "line %d: bad", 3);

    UNUSED(state);
    r = err_wrap(&err, r, "file %s", "a.yaml");
    r = err_wrap(&err, r, "chart web");
    assert_num(r, -ERRC_PARSE);
    assert_num(err_code(err), ERRC_PARSE);
    assert_string_equal(err_message(err), "chart web: file a.yaml: line 3: bad");
    err_format(err, &text);
    assert_str(buf_str(&text), "chart web: file a.yaml: line 3: bad");
}

static void test_only_the_code_travels_when_nobody_asks_for_the_error(void **state)
{
    UNUSED(state);
    assert_num(err_set(NULL, ERRC_LIMIT, "x"), -ERRC_LIMIT);
    assert_num(err_wrap(NULL, -ERRC_LIMIT, "x"), -ERRC_LIMIT);
    assert_num(err_code(NULL), ERRC_NONE);
    assert_string_equal(err_message(NULL), "");
    err_free(NULL);
}

static void test_system_errors_get_the_code_that_fits(void **state)
{
    static const struct {
        int errnum;
        enum errc code;
    } cases[] = {
        { ENOENT, ERRC_NOT_FOUND }, { EACCES, ERRC_FORBIDDEN }, { EIO, ERRC_IO }, { ETIMEDOUT, ERRC_TIMEOUT }
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_num(err_errno(NULL, cases[i].errnum, "x"), -(int)cases[i].code);
}

static void test_what_a_server_said_stays_with_the_error(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    IGNORE_ERROR(err_set(&err, ERRC_UNAVAILABLE, "busy"));
    assert_num(err_http_status(err), 0);
    err_set_http(err, 429, STR("TooManyRequests"), 1500);
    IGNORE_ERROR(err_wrap(&err, -ERRC_UNAVAILABLE, "list pods"));
    assert_num(err_http_status(err), 429);
    assert_str(err_http_reason(err), "TooManyRequests");
    assert_num(err_retry_after_ms(err), 1500);
}

static void test_every_code_has_a_text_and_says_whether_a_retry_helps(void **state)
{
    UNUSED(state);
    for (int code = ERRC_NONE + 1; code < ERRC_MAX_; code++)
        assert_true(errc_text((enum errc)code)[0] != '\0');
    assert_true(errc_retryable(ERRC_UNAVAILABLE));
    assert_true(errc_retryable(ERRC_CONFLICT));
    assert_false(errc_retryable(ERRC_INVALID));
    assert_false(errc_retryable(ERRC_FORBIDDEN));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_keeps_its_code_and_the_way_it_took),
        cmocka_unit_test(test_only_the_code_travels_when_nobody_asks_for_the_error),
        cmocka_unit_test(test_system_errors_get_the_code_that_fits),
        cmocka_unit_test(test_what_a_server_said_stays_with_the_error),
        cmocka_unit_test(test_every_code_has_a_text_and_says_whether_a_retry_helps),
    };

    return RUN_TESTS(tests);
}

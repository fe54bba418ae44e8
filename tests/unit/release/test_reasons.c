/* SPDX-License-Identifier: Apache-2.0 */
#include "release/report.h"

#include "base/fs.h"
#include "base/limits.h"
#include "lib/check.h"

static void test_every_reason_is_documented(void **state)
{
    static const struct {
        const char *name, *text;
    } reasons[] = {
#define X(name, text) { #name, text },
        RELEASE_REASON_MAP(X)
#undef X
    };
    CLEANUP(buf_done) struct buf doc = BUF_INIT(MIB);
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(fs_read_file("docs/reasons.md", &doc, &err), err);
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        CLEANUP(buf_done) struct buf row = BUF_INIT(KIB);

        buf_addf(&row, "| %s | %s |\n", reasons[i].name, reasons[i].text);
        if (!str_contains(buf_str(&doc), buf_str(&row)))
            fail_case("docs/reasons.md lacks: %s", buf_z(&row));
    }
}

static bool is_known(const char *reason)
{
#define X(name, text)                         \
    if (str_eq(str_from(reason), STR(#name))) \
        return true;
    RELEASE_REASON_MAP(X)
#undef X
    return false;
}

static void test_every_failure_has_a_known_reason(void **state)
{
    UNUSED(state);
    for (int stage = 0; stage < RELEASE_STAGE_MAX_; stage++) {
        for (int code = ERRC_NONE + 1; code < ERRC_MAX_; code++) {
            struct err *err = NULL;
            const char *reason;

            IGNORE_ERROR(err_set(&err, (enum errc)code, "what happened"));
            reason = release_reason((enum release_stage)stage, err);
            err_free(err);
            if (!is_known(reason))
                fail_case("stage %d, code %d: reason %s is not in the table", stage, code, reason);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reason_is_documented),
        cmocka_unit_test(test_every_failure_has_a_known_reason),
    };

    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"
#include "lib/check.h"

static void pack(const char *text, struct buf *out)
{
    struct err *err = NULL;

    assert_ok(archive_gzip(str_from(text), out, &err), err);
}

static void test_text_comes_back(void **state)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
    struct err *err = NULL;

    UNUSED(state);
    pack("hello hello hello", &packed);
    assert_ok(archive_gunzip(buf_str(&packed), &text, &err), err);
    assert_str(buf_str(&text), "hello hello hello");
}

static void test_joined_members_are_one_text(void **state)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
    struct err *err = NULL;

    UNUSED(state);
    pack("a", &packed);
    pack("b", &packed);
    assert_ok(archive_gunzip(buf_str(&packed), &text, &err), err);
    assert_str(buf_str(&text), "ab");
}

static void test_the_limit_counts_unpacked_bytes(void **state)
{
    CLEANUP(buf_done) struct buf zeros = BUF_INIT(1 << 20), packed = BUF_INIT(1 << 20);

    UNUSED(state);
    buf_add_repeat(&zeros, '0', 1000);
    pack(buf_z(&zeros), &packed);
    for (size_t max = 999; max <= 1001; max++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(max);
        struct err *err = NULL;
        int r = archive_gunzip(buf_str(&packed), &text, &err);

        if (max < 1000)
            assert_fails(r, ERRC_LIMIT, err, "larger than the limit of 999 bytes when unpacked");
        else
            assert_ok(r, err);
    }
}

static void test_cut_and_damaged_streams_are_refused(void **state)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(1 << 20);

    UNUSED(state);
    pack("some text that is long enough to be cut in the middle", &packed);
    for (size_t n = 0; n < packed.n; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(1 << 20);
        struct err *err = NULL;

        assert_fails(archive_gunzip(str_sub(buf_str(&packed), 0, n), &text, &err), ERRC_PARSE, err, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_comes_back),
        cmocka_unit_test(test_joined_members_are_one_text),
        cmocka_unit_test(test_the_limit_counts_unpacked_bytes),
        cmocka_unit_test(test_cut_and_damaged_streams_are_refused),
    };

    return RUN_TESTS(tests);
}

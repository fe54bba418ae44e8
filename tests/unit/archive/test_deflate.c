/* SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

#include "archive/archive.h"
#include "base/digest.h"
#include "base/limits.h"
#include "lib/check.h"
#include "lib/rows.h"

/* The texts of tests/conformance/flateoracle. */
static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void add_piece(struct buf *out, int kind, uint32_t r)
{
    static const char *const words[] = {
        "apiVersion: ", "kind: Deployment\n", "metadata:\n", "  name: ", "{{ .Values.image }}", "\n", "true",
        "    - "
    };
    unsigned ones = 0;

    if (kind == 0)
        buf_addc(out, 0);
    else if (kind == 1)
        buf_addc(out, (char)(r >> 8));
    else if (kind == 2)
        buf_adds(out, words[r >> 8 & 7]);
    else if (kind == 3)
        buf_addc(out, (char)('a' + (r >> 8) % 4));
    else if (kind == 4)
        buf_addc(out, out->n > 32700 && (r >> 8 & 15) ? out->p[out->n - 32700] : (char)(r >> 16));
    else {
        for (; r & 1; r >>= 1)
            ones++;
        buf_addc(out, (char)(ones * 7 + (out->n >> 14)));
    }
}

static void make_text(int kind, size_t n, struct buf *out)
{
    uint32_t state = (uint32_t)n * 31 + (uint32_t)kind + 1;

    while (out->n < n)
        add_piece(out, kind, next(&state));
    buf_truncate(out, n);
}

static void test_streams_are_those_of_go(void **state)
{
    CLEANUP(rows_done) struct rows rows = { 0 };
    struct row row;

    UNUSED(state);
    rows_open(&rows, "archive/deflate_go.txt");
    while (rows_next(&rows, &row)) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB), packed = BUF_INIT(MIB);
        struct err *err = NULL;
        int64_t kind = 0, n = 0, want = 0;
        char hex[SHA256_HEX];

        assert_true(str_to_int64(row.field[0], &kind) && str_to_int64(row.field[1], &n) &&
                    str_to_int64(row.field[2], &want));
        make_text((int)kind, (size_t)n, &text);
        assert_ok(archive_deflate(ARCHIVE_DEFLATE_GO, buf_str(&text), &packed, &err), err);
        assert_case_num(row.name, packed.n, want);
        sha256_hex(buf_str(&packed), hex);
        assert_case_str(row.name, row.field[3], hex);
    }
}

static void inflate_raw(struct str packed, struct buf *out)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)packed.p, .avail_in = (uInt)packed.n };
    int r;

    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    z.next_out = (Bytef *)buf_reserve(out, MIB);
    z.avail_out = (uInt)MIB;
    r = inflate(&z, Z_FINISH);
    buf_commit(out, MIB - z.avail_out);
    inflateEnd(&z);
    assert_int_equal(r, Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
}

static void test_every_encoder_can_be_undone(void **state)
{
    UNUSED(state);
    for (int how = 0; how < ARCHIVE_DEFLATE_MAX_; how++) {
        for (int kind = 0; kind < 6; kind++) {
            CLEANUP(buf_done)
            struct buf text = BUF_INIT(MIB), packed = BUF_INIT(2 * MIB), again = BUF_INIT(2 * MIB);
            struct err *err = NULL;

            make_text(kind, 70000, &text);
            assert_ok(archive_deflate(how, buf_str(&text), &packed, &err), err);
            inflate_raw(buf_str(&packed), &again);
            assert_true(str_eq(buf_str(&again), buf_str(&text)));
        }
    }
}

static void test_a_full_buffer_is_an_error(void **state)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

    UNUSED(state);
    make_text(1, 5000, &text);
    for (int how = 0; how < ARCHIVE_DEFLATE_MAX_; how++) {
        CLEANUP(buf_done) struct buf packed = BUF_INIT(4999);
        struct err *err = NULL;

        assert_fails(archive_deflate(how, buf_str(&text), &packed, &err), ERRC_LIMIT, err, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_those_of_go),
        cmocka_unit_test(test_every_encoder_can_be_undone),
        cmocka_unit_test(test_a_full_buffer_is_an_error),
    };

    return RUN_TESTS(tests);
}

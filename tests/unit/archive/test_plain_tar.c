/* SPDX-License-Identifier: Apache-2.0 */
/* Tars that are read where they stand give what libarchive gives. Two joined gzip members are always libarchive's, so each tar
 * is packed both ways. */
#include <stdio.h>

#include "archive/archive.h"
#include "archive/plain_tar.h"
#include "base/limits.h"
#include "lib/check.h"

#define BLOCK 512

struct tar {
    char bytes[16 * BLOCK];
    size_t n;
};

static void put_checksum(char *header)
{
    unsigned sum = 0;

    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
}

static void add(struct tar *t, const char *prefix, const char *name, char type, const char *content)
{
    char *h = t->bytes + t->n;
    unsigned n = (unsigned)strlen(content);

    memset(h, 0, BLOCK);
    memcpy(h, name, strlen(name));
    memcpy(h + 345, prefix, strlen(prefix));
    memcpy(h + 100, "0000644\0000000000\0000000000", 24);
    snprintf(h + 124, 12, "%011o", n % (1U << 24));
    snprintf(h + 136, 12, "%011o", 1234567890U);
    h[156] = type;
    memcpy(h + 257, "ustar\00000", 8);
    put_checksum(h);
    memcpy(h + BLOCK, content, n);
    t->n += BLOCK + ((size_t)n + BLOCK - 1) / BLOCK * BLOCK;
}

static struct tar sample(void)
{
    struct tar t = { .n = 0 };

    add(&t, "", "web/", '5', "");
    add(&t, "", "web/Chart.yaml", '0', "name: web\n");
    add(&t, "web/templates", "a.yaml", '0', "kind: A\n");
    add(&t, "", "web/values.yaml", '0', "\xef\xbb\xbfx: 1\n");
    t.n += 2 * BLOCK;
    return t;
}

static void print_result(struct str packed, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct archive_files files = { 0 };

    if (archive_read(a, packed, &files, &err) < 0) {
        buf_addf(out, "error: %s", err_message(err));
        return;
    }
    for (size_t i = 0; i < files.n; i++) {
        const struct archive_file *f = &files.files[i];

        buf_addf(out, STR_FMT " %lld.%d ", STR_ARG(f->name), (long long)f->modified.s, (int)f->modified.ns);
        buf_addstr(out, f->data);
    }
}

static void assert_same(const struct tar *t, const char *what)
{
    struct str whole = { t->bytes, t->n };
    CLEANUP(buf_done)
    struct buf one = BUF_INIT(MIB), two = BUF_INIT(MIB), got = BUF_INIT(MIB), want = BUF_INIT(MIB);

    assert_num(archive_gzip(whole, &one, NULL), 0);
    assert_num(archive_gzip(str_sub(whole, 0, t->n / 2), &two, NULL), 0);
    assert_num(archive_gzip(str_sub(whole, t->n / 2, t->n), &two, NULL), 0);
    print_result(buf_str(&one), &got);
    print_result(buf_str(&two), &want);
    if (!str_eq(buf_str(&got), buf_str(&want))) /* contents may have NULs */
        fail_case("%s: got %s, libarchive %s", what, buf_z(&got), buf_z(&want));
}

static bool is_plain(const struct tar *t)
{
    return plain_tar_is((struct str){ t->bytes, t->n });
}

static void test_a_usual_chart_is_plain(void **state)
{
    struct tar t = sample();

    UNUSED(state);
    assert_true(is_plain(&t));
    assert_same(&t, "sample");
    for (size_t i = 0; i < t.n; i += BLOCK) /* GNU's magic */
        if (memcmp(t.bytes + i + 257, "ustar", 5) == 0 && t.bytes[i + 345] == '\0') {
            memcpy(t.bytes + i + 257, "ustar  ", 8);
            put_checksum(t.bytes + i);
        }
    assert_true(is_plain(&t));
    assert_same(&t, "GNU");
}

/* Of names and link: one byte is like the next. */
static bool is_inside_text(size_t at)
{
    return (at >= 20 && at < 80) || (at >= 160 && at < 240) || (at >= 270 && at < 320) ||
           (at >= 360 && at < 490);
}

static void test_every_byte_of_a_header_changed(void **state)
{
    static const char values[] = { 0, ' ', '/', '0', '7', '8', 'x', (char)0x80 };
    const size_t headers[] = { 0, BLOCK, 3 * BLOCK };
    size_t plain = 0;

    UNUSED(state);
    for (size_t h = 0; h < ARRAY_SIZE(headers); h++) {
        for (size_t i = 0; i < BLOCK; i += is_inside_text(i) ? 16 : 1) {
            for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
                CLEANUP(free_ptr) char *what = xasprintf("header %zu byte %zu is %d", h, i, values[v]);
                struct tar t = sample();

                t.bytes[headers[h] + i] = values[v];
                if (v % 4 == 0) {
                    assert_same(&t, what);
                    t.bytes[headers[h] + i] = values[v];
                }
                put_checksum(t.bytes + headers[h]);
                plain += is_plain(&t);
                assert_same(&t, what);
            }
        }
    }
    assert_true(plain > 50);
}

static void test_cut_anywhere(void **state)
{
    UNUSED(state);
    for (size_t n = 1; n < sample().n; n += 31) {
        CLEANUP(free_ptr) char *what = xasprintf("%zu bytes", n);
        struct tar t = sample();

        t.n = n;
        assert_same(&t, what);
    }
}

static void test_what_is_not_plain(void **state)
{
    static const struct {
        const char *prefix, *name, type;
    } cases[] = {
        { "", "web/long", 'L' },     { "", "web/pax", 'x' },    { "", "web/global", 'g' },
        { "", "web/hard", '1' },     { "", "web/soft", '2' },   { "", "web/device", '3' },
        { "", "web/old", '\0' },     { "", "web/sparse", 'S' }, { "", "web/folder/", '0' },
        { "", "web/\xc3\xa4", '0' }, { "a\x01", "x", '0' },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct tar t = sample();

        t.n -= 2 * BLOCK;
        add(&t, cases[i].prefix, cases[i].name, cases[i].type, "");
        t.n += 2 * BLOCK;
        assert_false(is_plain(&t));
        assert_same(&t, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_usual_chart_is_plain),
        cmocka_unit_test(test_every_byte_of_a_header_changed),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_what_is_not_plain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

#include "archive/archive.h"
#include "base/limits.h"
#include "lib/check.h"

struct fixture {
    struct arena *arena;
    struct buf tar, packed;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->arena = arena_new(512 * MIB);
    f->tar = BUF_INIT(512 * MIB);
    f->packed = BUF_INIT(512 * MIB);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_free(f->arena);
    buf_done(&f->tar);
    buf_done(&f->packed);
    free(f);
    return 0;
}

/* One ustar header with whatever is asked for, right or wrong; the checksum is always right. */
static void add_header(struct buf *tar, const char *name, char type, const char *size_field, const char *link)
{
    char h[512] = { 0 };
    unsigned sum = 0;

    snprintf(h, 100, "%s", name);
    memcpy(h + 100, "0000644", 8);
    memcpy(h + 108, "0000000", 8);
    memcpy(h + 116, "0000000", 8);
    memcpy(h + 124, size_field, 12);
    memcpy(h + 136, "00000000001", 12);
    memcpy(h + 148, "        ", 8);
    h[156] = type;
    snprintf(h + 157, 100, "%s", link);
    memcpy(h + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof(h); i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    h[155] = ' ';
    buf_add(tar, h, sizeof(h));
}

static void pad(struct buf *tar)
{
    buf_add_repeat(tar, '\0', (512 - tar->n % 512) % 512);
}

static void add_file(struct buf *tar, const char *name, struct str data)
{
    char size[16];

    snprintf(size, sizeof(size), "%011zo", data.n);
    add_header(tar, name, '0', size, "");
    buf_addstr(tar, data);
    pad(tar);
}

static void add_zeros(struct buf *tar, const char *name, size_t n)
{
    char size[16];

    snprintf(size, sizeof(size), "%011zo", n);
    add_header(tar, name, '0', size, "");
    buf_add_repeat(tar, '\0', n);
    pad(tar);
}

static struct str packed(struct fixture *f)
{
    struct err *err = NULL;

    buf_add_repeat(&f->tar, '\0', 1024);
    buf_clear(&f->packed);
    assert_ok(archive_gzip(buf_str(&f->tar), &f->packed, &err), err);
    return buf_str(&f->packed);
}

static void test_paths_that_leave_the_chart_are_refused(void **state)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "c/../x", "chart illegally references parent directory" },
        { "c/a/../../b", "chart illegally references parent directory" },
        { "c/..", "chart illegally references parent directory" },
        { "c/..x", "chart illegally references parent directory" },
        { "c//etc/passwd", "chart illegally contains absolute paths" },
        { "c\\\\etc", "chart illegally contains absolute paths" },
        { "c\\..\\..\\x", "chart illegally references parent directory" },
        { "c/C:/x", "chart contains illegally named files" },
        { "c\\C:\\x", "chart contains illegally named files" },
        { "c", "chart illegally contains content outside the base directory: \"c\"" },
        { "c/.", "chart illegally contains content outside the base directory: \"c/.\"" },
        { "Chart.yaml/x", "chart yaml not in base directory" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err *err = NULL;
        struct archive_files got;

        buf_clear(&f->tar);
        add_file(&f->tar, cases[i].name, STR("x"));
        assert_fails(archive_read(f->arena, packed(f), &got, &err), ERRC_PARSE, err, cases[i].want);
    }
}

static void test_names_are_cleaned_below_the_first_part(void **state)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "c/Chart.yaml", "Chart.yaml" },
        { "./c/x", "c/x" },
        { "c/./a//b/../d", "a/d" },
        { "/c/x", "c/x" },
        { "c\\templates\\a.yaml", "templates/a.yaml" },
        { "c/%2e%2e/x", "%2e%2e/x" },
        { "c/\xef\xbc\x8e\xef\xbc\x8e/x", "\xef\xbc\x8e\xef\xbc\x8e/x" },
        { "c/caf\xc3\xa9", "caf\xc3\xa9" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err *err = NULL;
        struct archive_files got = { 0 };

        buf_clear(&f->tar);
        add_file(&f->tar, cases[i].name, STR("x"));
        assert_ok(archive_read(f->arena, packed(f), &got, &err), err);
        assert_num(got.n, 1);
        assert_case_str(cases[i].name, got.files[0].name, cases[i].want);
        assert_str(got.files[0].data, "x");
    }
}

static void test_links_and_devices_come_out_empty(void **state)
{
    static const char types[] = { '1', '2', '3', '4', '6' };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(types); i++) {
        struct err *err = NULL;
        struct archive_files got = { 0 };

        buf_clear(&f->tar);
        add_header(&f->tar, "c/Chart.yaml", types[i], "00000000000", "/etc/passwd");
        add_file(&f->tar, "c/b", STR("after"));
        assert_ok(archive_read(f->arena, packed(f), &got, &err), err);
        assert_num(got.n, 2);
        assert_str(got.files[0].name, "Chart.yaml");
        assert_str(got.files[0].data, "");
        assert_str(got.files[1].data, "after");
    }
}

static void test_folders_and_pax_headers_are_no_files(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct archive_files got = { 0 };

    add_header(&f->tar, "pax_global_header", 'g', "00000000064", "");
    buf_adds(&f->tar, "52 comment=0123456789012345678901234567890123456789\n");
    pad(&f->tar);
    add_header(&f->tar, "c/", '5', "00000000000", "");
    add_file(&f->tar, "c/a", STR("\xef\xbb\xbftext"));
    assert_ok(archive_read(f->arena, packed(f), &got, &err), err);
    assert_num(got.n, 1);
    assert_str(got.files[0].data, "text");
    assert_num(got.files[0].modified.s, 1);
}

static void test_one_file_may_have_five_mebibytes(void **state)
{
    static const struct {
        size_t n;
        bool fits;
    } cases[] = { { ARCHIVE_FILE_MAX - 1, true },
                  { ARCHIVE_FILE_MAX, true },
                  { ARCHIVE_FILE_MAX + 1, false } };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err *err = NULL;
        struct archive_files got = { 0 };

        buf_clear(&f->tar);
        add_zeros(&f->tar, "c/big", cases[i].n);
        if (cases[i].fits)
            assert_ok(archive_read(f->arena, packed(f), &got, &err), err);
        else
            assert_fails(archive_read(f->arena, packed(f), &got, &err), ERRC_LIMIT, err,
                         "decompressed chart file \"c/big\" is larger than the maximum file size 5242880");
    }
}

/* As in Helm, a chart of exactly the maximum is already too large. */
static void test_all_files_may_have_less_than_hundred_mebibytes(void **state)
{
    static const struct {
        size_t last;
        bool fits;
    } cases[] = { { ARCHIVE_FILE_MAX - 1, true }, { ARCHIVE_FILE_MAX, false } };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
        struct err *err = NULL;
        struct archive_files got = { 0 };

        buf_clear(&f->tar);
        for (size_t k = 0; k < 19; k++)
            add_zeros(&f->tar, "c/big", ARCHIVE_FILE_MAX);
        add_zeros(&f->tar, "c/last", cases[i].last);
        if (cases[i].fits)
            assert_ok(archive_read(a, packed(f), &got, &err), err);
        else
            assert_fails(archive_read(a, packed(f), &got, &err), ERRC_LIMIT, err,
                         "decompressed chart is larger than the maximum size 104857600");
    }
}

static void test_number_of_entries_is_bounded(void **state)
{
    static const struct {
        size_t n;
        bool fits;
    } cases[] = { { ARCHIVE_ENTRIES_MAX - 1, true },
                  { ARCHIVE_ENTRIES_MAX, true },
                  { ARCHIVE_ENTRIES_MAX + 1, false } };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err *err = NULL;
        struct archive_files got = { 0 };

        buf_clear(&f->tar);
        for (size_t k = 0; k < cases[i].n; k++)
            add_header(&f->tar, "c/e", '0', "00000000000", "");
        if (cases[i].fits)
            assert_ok(archive_read(f->arena, packed(f), &got, &err), err);
        else
            assert_fails(archive_read(f->arena, packed(f), &got, &err), ERRC_LIMIT, err,
                         "chart archive has more than 20000 entries");
    }
}

static void test_sizes_that_lie_are_refused(void **state)
{
    static const struct {
        const char *field;
        enum errc code;
    } cases[] = {
        { "00000010000\0", ERRC_PARSE },                                    /* more than there is */
        { "77777777777\0", ERRC_LIMIT },                                    /* 8 GiB */
        { "\x80\0\0\0\0\0\0\xff\xff\xff\xff\xff", ERRC_LIMIT },             /* base 256, huge */
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", ERRC_PARSE }, /* base 256, -1 */
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct archive_files got;
        int r;

        buf_clear(&f->tar);
        add_header(&f->tar, "c/a", '0', cases[i].field, "");
        buf_adds(&f->tar, "x");
        r = archive_read(f->arena, packed(f), &got, &err);
        if (r != -(int)cases[i].code)
            fail_case("case %zu: %d (%s)", i, r, err_message(err));
    }
}

/* An extension header may claim any size: what is read past is inflated too, so it is counted. */
static void test_extension_headers_are_bounded(void **state)
{
    static const char types[] = { 'g', 'x', 'L', 'K' };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(types); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct archive_files got;

        buf_clear(&f->tar);
        add_header(&f->tar, "c/d", types[i], "00040000000", ""); /* 8 MiB */
        buf_add_repeat(&f->tar, '\0', 8 * MIB);
        add_file(&f->tar, "c/a", STR("x"));
        if (archive_read(f->arena, packed(f), &got, &err) >= 0)
            fail_case("a header of type %c with 8 MiB was taken", types[i]);
    }
}

static void test_only_one_layer_of_gzip_is_opened(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct archive_files got;
    struct buf twice = BUF_INIT(MIB);

    add_file(&f->tar, "c/a", STR("x"));
    assert_ok(archive_gzip(packed(f), &twice, &err), err);
    assert_fails(archive_read(f->arena, buf_str(&twice), &got, &err), ERRC_PARSE, err, NULL);
    buf_done(&twice);
}

static void test_joined_gzip_members_are_one_stream(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct archive_files got = { 0 };
    struct buf joined = BUF_INIT(MIB);

    add_file(&f->tar, "c/a", STR("x"));
    assert_ok(archive_gzip(str_sub(buf_str(&f->tar), 0, 100), &joined, &err), err);
    assert_ok(archive_gzip(str_sub(buf_str(&f->tar), 100, f->tar.n), &joined, &err), err);
    assert_ok(archive_read(f->arena, buf_str(&joined), &got, &err), err);
    assert_num(got.n, 1);
    buf_done(&joined);
}

static void test_a_header_with_a_wrong_checksum_is_refused(void **state)
{
    struct fixture *f = *state;
    struct err *err = NULL;
    struct archive_files got = { 0 };
    struct buf with = BUF_INIT(MIB);
    struct str whole;

    add_file(&f->tar, "c/a", STR("x"));
    whole = packed(f);
    buf_addstr(&with, str_sub(whole, 0, 10));
    with.p[3] |= 2; /* RFC 1952: FHCRC */
    buf_add(&with, "\0\0", 2);
    buf_addstr(&with, str_sub(whole, 10, whole.n));
    assert_fails(archive_read(f->arena, buf_str(&with), &got, &err), ERRC_PARSE, err, "gzip: invalid header");
    with.p[10] = (char)crc32_z(0, (const Bytef *)with.p, 10);
    with.p[11] = (char)(crc32_z(0, (const Bytef *)with.p, 10) >> 8);
    assert_ok(archive_read(f->arena, buf_str(&with), &got, &err), err);
    assert_num(got.n, 1);
    buf_done(&with);
}

static void test_what_is_no_archive_has_gos_words(void **state)
{
    struct fixture *f = *state;
    struct archive_files got;
    struct err *err = NULL;
    struct str whole;

    assert_fails(archive_read(f->arena, STR(""), &got, &err), ERRC_PARSE, err, "EOF");
    assert_fails(archive_read(f->arena, STR("\x1f\x8b"), &got, &err), ERRC_PARSE, err, "unexpected EOF");
    assert_fails(archive_read(f->arena, STR("name: web\nversion: 1"), &got, &err), ERRC_PARSE, err,
                 "gzip: invalid header");
    assert_fails(archive_read(f->arena, packed(f), &got, &err), ERRC_PARSE, err, "no files in chart archive");
    buf_clear(&f->tar);
    add_file(&f->tar, "c/a", STR("some text that is longer"));
    whole = packed(f);
    assert_fails(archive_read(f->arena, str_sub(whole, 0, whole.n / 2), &got, &err), ERRC_PARSE, err,
                 "unexpected EOF");
}

static void test_a_long_name_is_refused(void **state)
{
    static const struct {
        size_t n;
        bool fits;
    } cases[] = {
        { FS_PATH_MAX - 1, true }, { FS_PATH_MAX, true }, { FS_PATH_MAX + 1, false }, { 200000, false }
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err *err = NULL;
        struct archive_files got;
        char size[16];

        buf_clear(&f->tar);
        snprintf(size, sizeof(size), "%011zo", cases[i].n + 1);
        add_header(&f->tar, "././@LongLink", 'L', size, "");
        for (size_t k = 0; k + 1 < cases[i].n; k++)
            buf_addc(&f->tar, k % 2 ? '/' : 'd');
        buf_add(&f->tar, "f", 2);
        pad(&f->tar);
        add_header(&f->tar, "short", '0', "00000000000", "");
        if (cases[i].fits)
            assert_ok(archive_read(f->arena, packed(f), &got, &err), err);
        else
            assert_fails(archive_read(f->arena, packed(f), &got, &err), ERRC_LIMIT, err,
                         "chart contains a file whose name is longer than 4096 bytes");
    }
}

static void test_content_types_are_gos(void **state)
{
    static const struct {
        struct str head;
        const char *want;
    } cases[] = {
        { { "\x1f\x8b\x08", 3 }, "application/x-gzip" },
        { { "PK\x03\x04", 4 }, "application/zip" },
        { { "apiVersion: v2\n", 15 }, "text/plain; charset=utf-8" },
        { { "  <html>", 8 }, "text/html; charset=utf-8" },
        { { "a\0", 2 }, "application/octet-stream" },
        { { "", 0 }, "text/plain; charset=utf-8" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_case_str(cases[i].want, str_from(archive_content_type(cases[i].head)), cases[i].want);
}

static void test_written_archives_read_back(void **state)
{
    static const struct archive_file files[] = {
        { STR("Chart.yaml"), STR("name: web\n"), { 1700000000, 0 } },
        { STR("templates/empty.yaml"), STR(""), { 0, 0 } },
        { STR("files/"
              "a-name-that-is-much-longer-than-one-hundred-bytes-so-that-it-needs-an-extended-header-in-the-"
              "archive/and/then/some/more/folders/caf\xc3\xa9.txt"),
          STR("x"),
          { 5, 0 } },
    };
    struct fixture *f = *state;
    struct err *err = NULL;
    struct archive_files got = { 0 };
    struct buf again = BUF_INIT(MIB);

    assert_ok(archive_write(STR("web"), files, ARRAY_SIZE(files), &f->packed, &err), err);
    assert_ok(archive_write(STR("web"), files, ARRAY_SIZE(files), &again, &err), err);
    assert_true(str_eq(buf_str(&f->packed), buf_str(&again)));
    buf_done(&again);
    assert_ok(archive_read(f->arena, buf_str(&f->packed), &got, &err), err);
    assert_num(got.n, ARRAY_SIZE(files));
    for (size_t i = 0; i < got.n; i++) {
        assert_true(str_eq(got.files[i].name, files[i].name));
        assert_true(str_eq(got.files[i].data, files[i].data));
        assert_num(got.files[i].modified.s, files[i].modified.s);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_paths_that_leave_the_chart_are_refused),
        TEST(test_names_are_cleaned_below_the_first_part),
        TEST(test_links_and_devices_come_out_empty),
        TEST(test_folders_and_pax_headers_are_no_files),
        TEST(test_one_file_may_have_five_mebibytes),
        TEST(test_all_files_may_have_less_than_hundred_mebibytes),
        TEST(test_number_of_entries_is_bounded),
        TEST(test_sizes_that_lie_are_refused),
        TEST(test_extension_headers_are_bounded),
        TEST(test_only_one_layer_of_gzip_is_opened),
        TEST(test_joined_gzip_members_are_one_stream),
        TEST(test_a_header_with_a_wrong_checksum_is_refused),
        TEST(test_what_is_no_archive_has_gos_words),
        TEST(test_a_long_name_is_refused),
        TEST(test_content_types_are_gos),
        TEST(test_written_archives_read_back),
    };

    return RUN_TESTS(tests);
}

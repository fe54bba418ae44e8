/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a .prov: what is signed in it, and which digests it gives. */
#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "provenance/provenance_int.h"

static struct arena *a;

static int setup(void **state)
{
    UNUSED(state);
    a = arena_new(64 * MIB);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    arena_free(a);
    return 0;
}

#define BEGIN "-----BEGIN PGP SIGNED MESSAGE-----\n"
#define SIGNATURE "-----BEGIN PGP SIGNATURE-----\n\n"
#define END "-----END PGP SIGNATURE-----\n"
#define NOT_FOUND "signature block not found"
#define TWO "the provenance has more than one signature, and which of them counts is not said"
#define EMPTY_PACKET "wgA=\n" /* a signature packet without content, new format */

static void test_the_signed_lines_are_those_between_header_and_signature(void **state)
{
    static const struct {
        const char *text, *plain, *canonical;
    } cases[] = {
        { BEGIN "Hash: SHA512\n\na\nb\n" SIGNATURE EMPTY_PACKET END, "a\nb", "a\r\nb" },
        { BEGIN "\na\n" SIGNATURE EMPTY_PACKET END, "a", "a" },
        { BEGIN "\n\n" SIGNATURE EMPTY_PACKET END, "", "" },
        { BEGIN "\n\n\na\n\n" SIGNATURE EMPTY_PACKET END, "\n\na\n", "\r\n\r\na\r\n" },
        { BEGIN "\n" SIGNATURE EMPTY_PACKET END, "", "" },
        { "text\n" BEGIN "\na\n" SIGNATURE EMPTY_PACKET END "text", "a", "a" },
        { BEGIN " \t\na \t\n- -b\n- - c\n-d\n" SIGNATURE EMPTY_PACKET END, "a\n-b\n- c\n-d",
          "a\r\n-b\r\n- c\r\n-d" },
        { BEGIN "Hash: sha256, SHA3-512\nHash: MD5\n\na\n" SIGNATURE EMPTY_PACKET END, "a", "a" },
        { "-----BEGIN PGP SIGNED MESSAGE-----\r\n\r\na\r\nb\r\n-----BEGIN PGP SIGNATURE-----\r\nVersion: "
          "1\r\n\r\n"
          "wgA=\r\n=abcd\r\n-----END PGP SIGNATURE-----\r\n",
          "a\nb", "a\r\nb" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct provenance_message m;
        struct err *err = NULL;

        assert_ok(provenance_message_parse(a, str_from(cases[i].text), &m, &err), err);
        assert_case_str(cases[i].text, m.plain, cases[i].plain);
        assert_case_str(cases[i].text, m.canonical, cases[i].canonical);
        assert_num(m.signature.n, 2);
    }
}

static void test_what_is_no_signed_message_is_refused(void **state)
{
    static const struct {
        const char *text;
        enum errc code;
        const char *message;
    } cases[] = {
        { "", ERRC_PARSE, NOT_FOUND },
        { "garbage", ERRC_PARSE, NOT_FOUND },
        { BEGIN, ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n", ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n" SIGNATURE, ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n" SIGNATURE EMPTY_PACKET, ERRC_PARSE, NOT_FOUND },
        { " " BEGIN "\na\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { "-----BEGIN PGP SIGNED MESSAGE-----x\n\na\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "Comment: x\n\na\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "Hash: SHA1024\n\na\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "Hash:\n\na\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "Hash\n\na\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "a\nb\n" SIGNATURE EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n" SIGNATURE "w*A=\n" END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n-----BEGIN PGP SIGNATURE-----\nx\n\n" EMPTY_PACKET END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n" SIGNATURE "wgA=\n-----BEGIN PGP SIGNATURE-----\n" END, ERRC_PARSE, NOT_FOUND },
        { BEGIN "\na\n" SIGNATURE END, ERRC_UNAUTHORIZED, "openpgp: signature made by unknown entity" },
        { BEGIN "\na\n" SIGNATURE "AAAA\n" END, ERRC_PARSE,
          "openpgp: invalid data: tag byte does not have MSB set" },
        { BEGIN "\na\n" SIGNATURE "yAA=\n" END, ERRC_PARSE,
          "openpgp: invalid data: non signature packet found" },
        { BEGIN "\na\n" SIGNATURE "wgE=\n" END, ERRC_PARSE, "unexpected EOF" },
        { BEGIN "\na\n" SIGNATURE "wuA=\n" END, ERRC_PARSE, "unexpected EOF" }, /* a partial length */
        { BEGIN "\na\n" SIGNATURE "iwA=\n" END, ERRC_PARSE, "unexpected EOF" }, /* an indeterminate one */
        { BEGIN "\na\n" SIGNATURE "wgDCAA==\n" END, ERRC_UNAUTHORIZED, TWO },
        { BEGIN "\na\n" SIGNATURE "iAAA\n" END, ERRC_UNAUTHORIZED, TWO },
        { BEGIN "\na\n" SIGNATURE EMPTY_PACKET END BEGIN, ERRC_UNAUTHORIZED,
          "the provenance has more than one signed message, and which of them counts is not said" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct provenance_message m;
        struct err *err = NULL;

        assert_fails(provenance_message_parse(a, str_from(cases[i].text), &m, &err), cases[i].code, err,
                     cases[i].message);
    }
}

static void test_a_packet_may_have_its_length_in_each_form(void **state)
{
    static const struct {
        const char *head;
        size_t head_n, body;
    } cases[] = {
        { "\xc2\xbf", 2, 191 },         { "\xc2\xc0\x00", 3, 192 },
        { "\xc2\xdf\xff", 3, 8383 },    { "\xc2\xff\0\0\x20\xc0", 6, 8384 },
        { "\x88\xff", 2, 255 },         { "\x89\x01\x00", 3, 256 },
        { "\x8a\0\0\x01\x00", 5, 256 },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (int off = -1; off <= 1; off++) {
            CLEANUP(buf_done) struct buf packet = BUF_INIT(64 * KIB), text = BUF_INIT(64 * KIB);
            struct provenance_message m;

            buf_add(&packet, cases[i].head, cases[i].head_n);
            buf_add_repeat(&packet, 'x', (size_t)((int)cases[i].body + off));
            buf_adds(&text, BEGIN "\na\n" SIGNATURE);
            base64_encode(BASE64_STD, buf_str(&packet), &text);
            buf_adds(&text, "\n" END);
            assert_case_num(arena_printf(a, "case %zu%+d", i, off).p,
                            provenance_message_parse(a, buf_str(&text), &m, NULL),
                            off < 0   ? -ERRC_PARSE
                            : off > 0 ? -ERRC_UNAUTHORIZED
                                      : 0);
        }
    }
}

static void test_a_provenance_file_has_a_limit(void **state)
{
    UNUSED(state);
    for (size_t n = PROVENANCE_MAX - 1; n <= PROVENANCE_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * PROVENANCE_MAX);
        struct provenance_message m;

        buf_adds(&text, BEGIN "\n");
        while (text.n < n - 100)
            buf_addc(&text, '\n'); /* the worst for the bytes that are signed: twice as many */
        buf_adds(&text, SIGNATURE EMPTY_PACKET END);
        buf_add_repeat(&text, ' ', n - text.n);
        assert_num(provenance_message_parse(a, buf_str(&text), &m, NULL),
                   n <= PROVENANCE_MAX ? 0 : -ERRC_LIMIT);
    }
}

static void test_a_digest_is_found_by_the_archives_name(void **state)
{
    static const struct {
        const char *text;
        enum errc code;
        const char *want;
    } cases[] = {
        { "name: web\n\n...\nfiles:\n  web-1.0.0.tgz: sha256:ab\n", ERRC_NONE, "sha256:ab" },
        { "name: web\n...\nfiles: {web-1.0.0.tgz: \"x\", b: y}", ERRC_NONE, "x" },
        { "\n...\nfiles:\n  web-1.0.0.tgz: a\n...\nfiles:\n  web-1.0.0.tgz: b\n", ERRC_NONE, "a" },
        { "files:\n  web-1.0.0.tgz: a\n", ERRC_PARSE, "message block must have at least two parts" },
        { "...\nfiles:\n  web-1.0.0.tgz: a\n", ERRC_PARSE, "message block must have at least two parts" },
        { "\n...\nfiles:\n  web-1.0.1.tgz: a\n", ERRC_DIGEST,
          "provenance does not contain a SHA for a file named \"web-1.0.0.tgz\"" },
        { "\n...\nfiles:\n  web-1.0.0.tgz: null\n", ERRC_DIGEST,
          "provenance does not contain a SHA for a file named \"web-1.0.0.tgz\"" },
        { "\n...\n[]\n", ERRC_DIGEST,
          "provenance does not contain a SHA for a file named \"web-1.0.0.tgz\"" },
        { "\n...\nfiles: web-1.0.0.tgz\n", ERRC_DIGEST,
          "provenance does not contain a SHA for a file named \"web-1.0.0.tgz\"" },
        { "\n...\nfiles:\n  web-1.0.0.tgz: [a]\n", ERRC_PARSE,
          "the provenance's SHA for web-1.0.0.tgz is no text" },
        { "\n...\nfiles:\n  web-1.0.0.tgz: a\n  web-1.0.0.tgz: b\n", ERRC_PARSE, NULL },
        { "\n...\nfiles: {\n", ERRC_PARSE, NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str got = STR("");
        struct err *err = NULL;
        int r = provenance_sum_find(a, str_from(cases[i].text), STR("web-1.0.0.tgz"), &got, &err);

        if (cases[i].code == ERRC_NONE) {
            assert_ok(r, err);
            assert_case_str(cases[i].text, got, cases[i].want);
        } else {
            assert_fails(r, cases[i].code, err, cases[i].want);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_signed_lines_are_those_between_header_and_signature, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_signed_message_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_packet_may_have_its_length_in_each_form, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_provenance_file_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_digest_is_found_by_the_archives_name, setup, teardown),
    };

    return RUN_TESTS(tests);
}

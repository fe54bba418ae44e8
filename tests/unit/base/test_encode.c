/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/encode.h"
#include "lib/check.h"

/* Answers and offsets of Go's encoding/base64 and base32; -1: no error. */
static void test_base64_and_base32_decode_as_go(void **state)
{
    static const struct {
        const char *text, *want;
        int at;
        bool is32;
    } cases[] = {
        { "", "", -1, false },
        { "Zg==", "f", -1, false },
        { "Zm8=", "fo", -1, false },
        { "Zm9v", "foo", -1, false },
        { "Zm9vYg==", "foob", -1, false },
        { "Zm\n8=", "fo", -1, false },
        { "Zm9v\r\n", "foo", -1, false },
        { "Zg=", "", 3, false },
        { "Zg", "", 0, false },
        { "Z", "", 0, false },
        { "Zg==x", "", 4, false },
        { "Zm 8=", "", 2, false },
        { "====", "", 0, false },
        { "Zm8=Zm8=", "", 4, false },
        { "Zm8*", "", 3, false },
        { "Zm9vY", "", 4, false },
        { "MY======", "f", -1, true },
        { "MZXQ====", "fo", -1, true },
        { "MZXW6===", "foo", -1, true },
        { "MZXW6YQ=", "foob", -1, true },
        { "MZXW6YTB", "fooba", -1, true },
        { "MY", "", 0, true },
        { "MZXW6YTBO", "", 8, true },
        { "MZ!", "", 2, true },
        { "M=======", "", 1, true },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(100);
        struct str s = str_from(cases[i].text);
        size_t at = 999;
        bool ok = cases[i].is32 ? base32_decode(s, &out, &at) : base64_decode(BASE64_STD, s, &out, &at);

        assert_case_num(cases[i].text, ok, cases[i].at < 0);
        if (ok)
            assert_case_str(cases[i].text, buf_str(&out), cases[i].want);
        else
            assert_case_num(cases[i].text, at, cases[i].at);
    }
}

static void test_every_length_comes_back_from_every_encoding(void **state)
{
    char bytes[64];

    UNUSED(state);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 37 + 200);
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        for (int way = 0; way < 6; way++) {
            CLEANUP(buf_done) struct buf text = BUF_INIT(1000), back = BUF_INIT(1000);
            struct str s = { bytes, n };
            bool ok;

            if (way < 3) {
                base64_encode((enum base64_alphabet)way, s, &text);
                ok = base64_decode((enum base64_alphabet)way, buf_str(&text), &back, NULL);
            } else if (way == 3) {
                base32_encode(s, &text);
                ok = base32_decode(buf_str(&text), &back, NULL);
            } else if (way == 4) {
                hex_encode(s, &text);
                ok = hex_decode(buf_str(&text), &back);
            } else {
                url_escape(s, "", &text);
                ok = url_unescape(buf_str(&text), &back);
            }
            assert_true(ok);
            assert_true(str_eq(buf_str(&back), s));
        }
    }
}

static void test_alphabets(void **state)
{
    CLEANUP(buf_done) struct buf a = BUF_INIT(100), b = BUF_INIT(100), c = BUF_INIT(100);

    UNUSED(state);
    base64_encode(BASE64_STD, STR("\xfb\xff\xfe\xfb"), &a);
    base64_encode(BASE64_URL, STR("\xfb\xff\xfe\xfb"), &b);
    base64_encode(BASE64_RAW_URL, STR("\xfb\xff\xfe\xfb"), &c);
    assert_str(buf_str(&a), "+//++w==");
    assert_str(buf_str(&b), "-__--w==");
    assert_str(buf_str(&c), "-__--w");
}

static void test_url_escapes(void **state)
{
    CLEANUP(buf_done) struct buf a = BUF_INIT(100), b = BUF_INIT(100), c = BUF_INIT(100);

    UNUSED(state);
    url_escape(STR("a b/c?~-._\xc3\xa4"), "/", &a);
    assert_str(buf_str(&a), "a%20b/c%3F~-._%C3%A4");
    assert_true(url_unescape(STR("a+b%2fc"), &b));
    assert_str(buf_str(&b), "a+b/c");
    assert_false(url_unescape(STR("%2"), &c));
    assert_false(url_unescape(STR("%zz"), &c));
    assert_false(hex_decode(STR("abc"), &c));
    assert_false(hex_decode(STR("zz"), &c));
}

static void test_control_characters_do_not_reach_a_terminal(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(1000);

    UNUSED(state);
    escape_controls(STR("a\n\t\x1b[31m\x7f\xc2\x85\xe2\x80\xae\xff\xc3\xa4"), &out);
    assert_str(buf_str(&out), "a\\n\\t\\u001b[31m\\u007f\\u0085\\u202e\\xff\xc3\xa4");
}

static void test_digests(void **state)
{
    CLEANUP(digest_free) struct digest *d = digest_new(DIGEST_SHA256);
    char whole[SHA256_HEX], pieces[SHA256_HEX], sha1[41], sha512[129];

    UNUSED(state);
    sha256_hex(STR("abc"), whole);
    assert_string_equal(whole, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_add(d, STR("a"));
    digest_add(d, STR_NONE);
    digest_add(d, STR("bc"));
    digest_finish_hex(d, pieces);
    assert_string_equal(pieces, whole);
    digest_hex(DIGEST_SHA1, STR(""), sha1);
    assert_string_equal(sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    digest_hex(DIGEST_SHA512, STR("abc"), sha512);
    sha512[16] = '\0';
    assert_string_equal(sha512, "ddaf35a193617aba");
    assert_num(digest_bytes(DIGEST_SHA512), 64);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64_and_base32_decode_as_go),
        cmocka_unit_test(test_every_length_comes_back_from_every_encoding),
        cmocka_unit_test(test_alphabets),
        cmocka_unit_test(test_url_escapes),
        cmocka_unit_test(test_control_characters_do_not_reach_a_terminal),
        cmocka_unit_test(test_digests),
    };

    return RUN_TESTS(tests);
}

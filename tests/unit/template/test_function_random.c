/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose results nobody can know beforehand: what they must be like. And that all of Helm's names exist. */
#include <crypt.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "lib/check.h"
#include "lib/rows.h"
#include "template/template.h"

#define NAME STR("c/templates/x")
#define NOW_S INT64_C(1700000000)

static struct wall_time fixed_now(void *ctx)
{
    UNUSED(ctx);
    return (struct wall_time){ NOW_S, 0 };
}

static void render(const char *template, struct buf *out)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    const struct tpl_env env = { .now = fixed_now };
    struct err *err = NULL;

    assert_ok(tpl_set_add(set, NAME, str_from(template), &err), err);
    run = tpl_run_new(set, &env);
    assert_ok(tpl_render(run, NAME, value_new_map(tpl_run_arena(run)), out, &err), err);
}

static BIO *bio_of(struct str s)
{
    return BIO_new_mem_buf(s.p, (int)s.n);
}

static X509 *read_cert(struct str *pem)
{
    size_t end = str_find(*pem, STR("-----END CERTIFICATE-----\n"));
    BIO *bio;
    X509 *x;

    assert_true(end != STR_NPOS);
    end += strlen("-----END CERTIFICATE-----\n");
    bio = bio_of(str_sub(*pem, 0, end));
    x = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(x);
    *pem = str_sub(*pem, end, pem->n);
    return x;
}

static EVP_PKEY *read_key(struct str pem)
{
    BIO *bio = bio_of(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    BIO_free(bio);
    assert_non_null(key);
    return key;
}

static void check_extension(X509 *x, int nid, int at, bool critical)
{
    X509_EXTENSION *ext = X509_get_ext(x, at);

    assert_non_null(ext);
    assert_num(OBJ_obj2nid(X509_EXTENSION_get_object(ext)), nid);
    assert_num(X509_EXTENSION_get_critical(ext), critical);
}

static void test_a_signed_certificate_is_accepted_by_openssl(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    X509 *ca, *leaf;
    EVP_PKEY *key;
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    struct str rest;
    time_t now = (time_t)NOW_S + 60, end = (time_t)(NOW_S + 10 * 86400);

    UNUSED(state);
    render("{{ $ca := genCA \"my ca\" 365 }}{{ $c := genSignedCert \"web\" (list \"10.0.0.1\" \"::1\") (list "
           "\"web.svc\" "
           "\"*.web.svc\") 10 $ca }}{{ $ca.Cert }}{{ $c.Cert }}{{ $c.Key }}",
           &out);
    rest = buf_str(&out);
    ca = read_cert(&rest);
    leaf = read_cert(&rest);
    key = read_key(rest);
    assert_true(str_has_prefix(rest, STR("-----BEGIN RSA PRIVATE KEY-----\n")));
    assert_num(EVP_PKEY_get_bits(key), 2048);
    assert_num(X509_check_private_key(leaf, key), 1);

    X509_STORE_add_cert(store, ca);
    X509_STORE_CTX_init(ctx, store, leaf, NULL);
    X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(ctx), now);
    assert_num(X509_verify_cert(ctx), 1);
    assert_num(X509_check_host(leaf, "web.svc", 0, 0, NULL), 1);
    assert_num(X509_check_host(leaf, "a.web.svc", 0, 0, NULL), 1);
    assert_num(X509_check_host(leaf, "other", 0, 0, NULL), 0);
    assert_num(X509_check_ip_asc(leaf, "10.0.0.1", 0), 1);
    assert_num(X509_check_ip_asc(leaf, "::1", 0), 1);
    assert_num(X509_cmp_time(X509_get0_notAfter(leaf), &end), -1); /* equal counts as before */
    end--;
    assert_num(X509_cmp_time(X509_get0_notAfter(leaf), &end), 1);

    check_extension(ca, NID_key_usage, 0, true);
    check_extension(ca, NID_ext_key_usage, 1, false);
    check_extension(ca, NID_basic_constraints, 2, true);
    check_extension(ca, NID_subject_key_identifier, 3, false);
    assert_num(X509_get_ext_count(ca), 4);
    assert_num(X509_check_ca(ca), 1);
    check_extension(leaf, NID_authority_key_identifier, 3, false);
    check_extension(leaf, NID_subject_alt_name, 4, false);
    assert_num(X509_get_ext_count(leaf), 5);
    assert_num(X509_get_key_usage(leaf), KU_DIGITAL_SIGNATURE | KU_KEY_ENCIPHERMENT);
    assert_num(X509_get_key_usage(ca), KU_DIGITAL_SIGNATURE | KU_KEY_ENCIPHERMENT | KU_KEY_CERT_SIGN);

    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    X509_free(ca);
    X509_free(leaf);
    EVP_PKEY_free(key);
}

static void test_keys_of_all_kinds_sign_themselves(void **state)
{
    static const struct {
        const char *kind, *begin;
        int type;
    } cases[] = {
        { "ecdsa", "-----BEGIN EC PRIVATE KEY-----\n", EVP_PKEY_EC },
        { "ed25519", "-----BEGIN PRIVATE KEY-----\n", EVP_PKEY_ED25519 },
        { "rsa", "-----BEGIN RSA PRIVATE KEY-----\n", EVP_PKEY_RSA },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
        char template[256];
        struct str rest;
        EVP_PKEY *key;
        X509 *x;

        snprintf(template, sizeof(template),
                 "{{ $k := genPrivateKey \"%s\" }}{{ $c := genSelfSignedCertWithKey \"é*\" nil (list \"a\") "
                 "1 $k }}"
                 "{{ $c.Cert }}{{ $c.Key }}{{ if ne $k $c.Key }}differs{{ end }}",
                 cases[i].kind);
        render(template, &out);
        rest = buf_str(&out);
        x = read_cert(&rest);
        key = read_key(rest);
        assert_true(str_has_prefix(rest, str_from(cases[i].begin)));
        assert_false(str_contains(rest, STR("differs")));
        assert_case_num(cases[i].kind, EVP_PKEY_get_base_id(key), cases[i].type);
        assert_case_num(cases[i].kind, X509_verify(x, key), 1);
        X509_free(x);
        EVP_PKEY_free(key);
    }
}

static void test_bcrypt_hashes_verify(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
    struct crypt_data data = { 0 };

    UNUSED(state);
    render("{{ bcrypt \"päss\" }}", &out);
    assert_string_equal(crypt_r("päss", buf_z(&out), &data), buf_z(&out));
    buf_clear(&out);
    render("{{ htpasswd \"user\" \"secret\" }}", &out);
    assert_true(str_has_prefix(buf_str(&out), STR("user:$2a$10$")));
    assert_string_equal(crypt_r("secret", buf_z(&out) + 5, &data), buf_z(&out) + 5);
}

static void test_random_texts_have_their_alphabet(void **state)
{
    static const struct {
        const char *template, *pattern;
    } cases[] = {
        { "{{ randAlpha 300 }}", "^[A-Za-z]{300}$" },
        { "{{ randAlphaNum 300 }}", "^[A-Za-z0-9]{300}$" },
        { "{{ randNumeric 300 }}", "^[0-9]{300}$" },
        { "{{ randAscii 300 }}", "^[ -~]{300}$" },
        { "{{ uuidv4 }}", "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" },
        { "{{ randBytes 30 }}", "^[A-Za-z0-9+/]{40}$" },
        { "{{ range 50 }}{{ randInt -2 3 }},{{ end }}", "^(?:(?:-2|-1|0|1|2),){50}$" },
        { "{{ encryptAES \"k\" \"secret\" | b64dec | len }}", "^32$" },
        { "{{ encryptAES \"k\" \"secret\" | decryptAES \"k\" }}", "^secret$" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf out = BUF_INIT(KIB), again = BUF_INIT(KIB), answer = BUF_INIT(KIB);
        CLEANUP(buf_done) struct buf quoted = BUF_INIT(4 * KIB), check = BUF_INIT(8 * KIB);

        render(cases[i].template, &out);
        render(cases[i].template, &again);
        if (i < 5 && str_eq(buf_str(&out), buf_str(&again)))
            fail_case("%s: twice the same", cases[i].template);
        for (size_t k = 0; k < out.n; k++)
            buf_addf(&quoted, "\\x%02x", (unsigned char)out.p[k]);
        buf_addf(&check, "{{ regexMatch `%s` \"%s\" }}", cases[i].pattern, buf_z(&quoted));
        render(buf_z(&check), &answer);
        assert_case_str(cases[i].template, buf_str(&answer), "true");
    }
}

static void test_no_random_bytes_are_given_out_twice(void **state)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * KIB);

    UNUSED(state);
    render("{{ $seen := dict }}{{ range 1000 }}{{ $_ := set $seen (randAlphaNum 11) true }}"
           "{{ $_ := set $seen (uuidv4) true }}{{ $_ := set $seen (randBytes 300) true }}{{ end }}"
           "{{ len $seen }}",
           &out);
    assert_str(buf_str(&out), "3000");
}

static void test_all_names_of_helm_exist(void **state)
{
    CLEANUP(rows_done) struct rows rows = { 0 };
    struct row row;
    size_t n = 0;

    UNUSED(state);
    rows_open(&rows, "template/function_names.txt");
    for (; rows_next(&rows, &row); n++) {
        CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
        CLEANUP(err_free) struct err *err = NULL;

        buf_addf(&text, "{{ " STR_FMT " }}", STR_ARG(row.field[0]));
        assert_ok(tpl_set_add(set, NAME, buf_str(&text), &err), err);
    }
    assert_num(n, 222);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signed_certificate_is_accepted_by_openssl),
        cmocka_unit_test(test_keys_of_all_kinds_sign_themselves),
        cmocka_unit_test(test_bcrypt_hashes_verify),
        cmocka_unit_test(test_random_texts_have_their_alphabet),
        cmocka_unit_test(test_no_random_bytes_are_given_out_twice),
        cmocka_unit_test(test_all_names_of_helm_exist),
    };

    return RUN_TESTS(tests);
}

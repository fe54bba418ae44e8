/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "lib/check.h"

EVP_PKEY *gocert_rsa_new(
    int bits); /* its header brings the table of OpenSSL's functions, which lacks those of this test */

static BIGNUM *part(EVP_PKEY *key, const char *name)
{
    BIGNUM *n = NULL;

    assert_num(EVP_PKEY_get_bn_param(key, name, &n), 1);
    return n;
}

/* EVP_PKEY_check() looks at primes, exponents and coefficient, as `openssl pkey -check`. */
static void test_keys_are_sound_and_differ(void **state)
{
    static const int sizes[] = { 1024, 2048, 2048 };
    BIGNUM *before = NULL;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        EVP_PKEY *key = gocert_rsa_new(sizes[i]);
        EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
        BIGNUM *n = part(key, OSSL_PKEY_PARAM_RSA_N), *e = part(key, OSSL_PKEY_PARAM_RSA_E);
        BIGNUM *p = part(key, OSSL_PKEY_PARAM_RSA_FACTOR1), *q = part(key, OSSL_PKEY_PARAM_RSA_FACTOR2);

        assert_num(EVP_PKEY_get_bits(key), sizes[i]);
        assert_num(EVP_PKEY_check(ctx), 1);
        assert_num(BN_num_bits(p), sizes[i] / 2);
        assert_num(BN_num_bits(q), sizes[i] / 2);
        assert_true(BN_cmp(p, q) > 0);
        assert_true(BN_is_word(e, 65537));
        assert_true(!before || BN_cmp(n, before) != 0);
        BN_free(before);
        before = n;
        BN_free(e);
        BN_free(p);
        BN_free(q);
        EVP_PKEY_CTX_free(ctx);
        EVP_PKEY_free(key);
    }
    BN_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_sound_and_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

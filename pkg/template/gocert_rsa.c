/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's own generator makes each prime from two smaller ones (FIPS 186-4 B.3.6), which takes more than twice as long and which
 * the standard asks of keys below 2048 bits only. Go takes random primes, as this does with OpenSSL's. */
#include "template/gocert_rsa.h"

#include <pthread.h>

#define EXPONENT 65537
/* FIPS 186-4 B.3.3: the primes differ in one of their first 100 bits. */
#define DISTANCE_BITS 100

struct prime_job {
    int bits;
    BIGNUM *prime; /* NULL: failed */
};

/* A prime p with its first two bits set and p - 1 no multiple of the exponent. */
static void *find_prime(void *arg)
{
    struct prime_job *job = arg;
    BIGNUM *p = BN_new();

    do {
        if (!p || BN_generate_prime_ex(p, job->bits, 0, NULL, NULL, NULL) != 1) {
            BN_clear_free(p);
            return NULL;
        }
    } while (BN_mod_word(p, EXPONENT) == 1);
    BN_set_flags(p, BN_FLG_CONSTTIME);
    job->prime = p;
    return NULL;
}

static bool find_two_primes(int bits, BIGNUM **ret_p, BIGNUM **ret_q)
{
    struct prime_job one = { .bits = bits }, two = { .bits = bits };
    pthread_t thread;
    bool runs = pthread_create(&thread, NULL, find_prime, &two) == 0;

    find_prime(&one);
    if (runs)
        pthread_join(thread, NULL);
    else
        find_prime(&two);
    if (one.prime && two.prime &&
        BN_cmp(one.prime, two.prime) < 0) { /* the larger one comes first, as everywhere */
        BIGNUM *larger = two.prime;

        two.prime = one.prime;
        one.prime = larger;
    }
    *ret_p = one.prime;
    *ret_q = two.prime;
    return one.prime && two.prime;
}

/* The numbers of a key, from its primes. */
struct numbers {
    BN_CTX *ctx;
    BIGNUM *p, *q, *e, *n, *d, *dp, *dq, *q_inverse, *p1, *q1, *lambda, *scratch;
};

static void numbers_done(struct numbers *k)
{
    BIGNUM *all[] = { k->p,  k->q,         k->e,  k->n,  k->d,      k->dp,
                      k->dq, k->q_inverse, k->p1, k->q1, k->lambda, k->scratch };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        BN_clear_free(all[i]);
    BN_CTX_free(k->ctx);
}
DEFINE_CLEANUP_VALUE(struct numbers, numbers_done)

static bool are_far_apart(const struct numbers *k)
{
    return BN_sub(k->scratch, k->p, k->q) && BN_num_bits(k->scratch) > BN_num_bits(k->p) - DISTANCE_BITS;
}

/* n = pq, λ = lcm(p - 1, q - 1), d = 1/e mod λ, and what the Chinese remainder theorem needs. */
static bool derive(struct numbers *k)
{
    return BN_set_word(k->e, EXPONENT) && BN_mul(k->n, k->p, k->q, k->ctx) && BN_copy(k->p1, k->p) &&
           BN_sub_word(k->p1, 1) && BN_copy(k->q1, k->q) && BN_sub_word(k->q1, 1) &&
           BN_gcd(k->scratch, k->p1, k->q1, k->ctx) && BN_mul(k->lambda, k->p1, k->q1, k->ctx) &&
           BN_div(k->lambda, NULL, k->lambda, k->scratch, k->ctx) &&
           BN_mod_inverse(k->d, k->e, k->lambda, k->ctx) && BN_div(NULL, k->dp, k->d, k->p1, k->ctx) &&
           BN_div(NULL, k->dq, k->d, k->q1, k->ctx) && BN_mod_inverse(k->q_inverse, k->q, k->p, k->ctx);
}

static bool prepare(struct numbers *k)
{
    BIGNUM **made[] = { &k->e,         &k->n,  &k->d,  &k->dp,     &k->dq,
                        &k->q_inverse, &k->p1, &k->q1, &k->lambda, &k->scratch };

    k->ctx = BN_CTX_new();
    for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
        *made[i] = BN_new();
        if (!*made[i])
            return false;
        BN_set_flags(*made[i], BN_FLG_CONSTTIME);
    }
    return k->ctx != NULL;
}

static EVP_PKEY *key_from(const struct numbers *k)
{
    const struct {
        const char *name;
        const BIGNUM *value;
    } parts[] = {
        { OSSL_PKEY_PARAM_RSA_N, k->n },          { OSSL_PKEY_PARAM_RSA_E, k->e },
        { OSSL_PKEY_PARAM_RSA_D, k->d },          { OSSL_PKEY_PARAM_RSA_FACTOR1, k->p },
        { OSSL_PKEY_PARAM_RSA_FACTOR2, k->q },    { OSSL_PKEY_PARAM_RSA_EXPONENT1, k->dp },
        { OSSL_PKEY_PARAM_RSA_EXPONENT2, k->dq }, { OSSL_PKEY_PARAM_RSA_COEFFICIENT1, k->q_inverse },
    };
    CLEANUP(openssl_key_context_free) EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    EVP_PKEY *key = NULL;
    bool ok = builder != NULL;

    for (size_t i = 0; i < ARRAY_SIZE(parts) && ok; i++)
        ok = OSSL_PARAM_BLD_push_BN(builder, parts[i].name, parts[i].value) == 1;
    if (ok)
        params = OSSL_PARAM_BLD_to_param(builder);
    if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) <= 0 ||
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) <= 0)
        key = NULL;
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

EVP_PKEY *gocert_rsa_new(int bits)
{
    CLEANUP(numbers_done) struct numbers k = { 0 };

    if (!prepare(&k) || !find_two_primes(bits / 2, &k.p, &k.q) || !are_far_apart(&k) || !derive(&k))
        return NULL;
    return key_from(&k);
}

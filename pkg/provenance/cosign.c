/* SPDX-License-Identifier: Apache-2.0 */
/* cosign's signatures with a key of one's own (sigstore/cosign specs/SIGNATURE_SPEC.md): no certificates, no log. */
#include "base/encode.h"
#include "base/limits.h"
#include "base/openssl.h"
#include "provenance/provenance.h"
#include "value/value.h"
#include "json/json.h"

#define RSA_BITS_MIN 2048
#define PAYLOAD_TYPE "cosign container image signature"

static void free_key(EVP_PKEY *key)
{
    EVP_PKEY_free(key);
}
DEFINE_CLEANUP(EVP_PKEY *, free_key)

static void free_context(EVP_MD_CTX *c)
{
    EVP_MD_CTX_free(c);
}
DEFINE_CLEANUP(EVP_MD_CTX *, free_context)

static int read_key(struct str pem, EVP_PKEY **ret, struct err **err)
{
    CLEANUP(free_key) EVP_PKEY *key = NULL;
    BIO *bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)MIN(pem.n, (size_t)INT32_MAX));
    int kind;

    key = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    ERR_clear_error();
    if (!key)
        return err_set(err, ERRC_INVALID, "the key is no public key in PEM form");
    kind = EVP_PKEY_get_base_id(key);
    if (kind != EVP_PKEY_EC && kind != EVP_PKEY_ED25519 && kind != EVP_PKEY_RSA)
        return err_set(err, ERRC_INVALID, "the key is none of ECDSA, Ed25519 and RSA");
    if (kind == EVP_PKEY_RSA && EVP_PKEY_get_bits(key) < RSA_BITS_MIN)
        return err_set(err, ERRC_INVALID, "the key has %d bits; RSA needs %d", EVP_PKEY_get_bits(key),
                       RSA_BITS_MIN);
    *ret = TAKE(key);
    return 0;
}

static bool is_signed_by(EVP_PKEY *key, struct str payload, struct str signature)
{
    CLEANUP(free_context) EVP_MD_CTX *c = EVP_MD_CTX_new();
    const EVP_MD *md = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
    bool good = c && EVP_DigestVerifyInit(c, NULL, md, NULL, key) == 1 &&
                EVP_DigestVerify(c, (const unsigned char *)signature.p, signature.n,
                                 (const unsigned char *)payload.p, payload.n) == 1;

    ERR_clear_error();
    return good;
}

static int check_payload(struct str payload, struct str digest, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * COSIGN_PAYLOAD_MAX);
    struct value root, critical;
    struct str said;
    int r = json_parse(a, payload, &(struct json_options){ .refuse_duplicates = true }, &root, err);

    if (r < 0)
        return err_wrap(err, r, "the signed payload");
    critical = value_getz(root, "critical");
    said = value_str(value_path(critical, "image.docker-manifest-digest"));
    if (!str_eq(value_str(value_getz(critical, "type")), STR(PAYLOAD_TYPE)) || said.n == 0)
        return err_set(err, ERRC_PARSE, "the signed payload is no " PAYLOAD_TYPE);
    if (!str_eq(said, digest))
        return err_set(err, ERRC_DIGEST, "the signature is for " STR_FMT ", not for " STR_FMT, STR_ARG(said),
                       STR_ARG(digest));
    return 0;
}

int provenance_cosign_verify(const struct provenance_cosign *job, struct err **err)
{
    CLEANUP(buf_done) struct buf signature = BUF_INIT(COSIGN_SIGNATURE_MAX);
    bool is_good = false;
    int r = 0;

    if (job->payload.n > COSIGN_PAYLOAD_MAX)
        return err_set(err, ERRC_LIMIT, "the signed payload has more than %zu bytes", COSIGN_PAYLOAD_MAX);
    if (!base64_decode(BASE64_STD, job->signature, &signature, NULL) || signature.failed || signature.n == 0)
        return err_set(err, ERRC_PARSE, "the signature is not base64 of at most %zu bytes",
                       COSIGN_SIGNATURE_MAX);
    for (size_t i = 0; i < job->n_keys && !is_good; i++) {
        CLEANUP(free_key) EVP_PKEY *key = NULL;

        r = read_key(job->keys[i], &key, err);
        if (r < 0)
            return r;
        is_good = is_signed_by(key, job->payload, buf_str(&signature));
    }
    if (!is_good)
        return err_set(err, ERRC_UNAUTHORIZED, "no key of the %zu made this signature", job->n_keys);
    return check_payload(job->payload, job->digest, err);
}

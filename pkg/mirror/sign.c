/* SPDX-License-Identifier: Apache-2.0 */
#include "base/encode.h"
#include "base/openssl.h"
#include "mirror/mirror_int.h"

#define SIGNATURE_BYTES 64

static int read_key(struct str pem, bool is_private, EVP_PKEY **ret, struct err **err)
{
    CLEANUP(openssl_bio_free) BIO *bio = BIO_new_mem_buf(pem.p, (int)MIN(pem.n, MIB));
    EVP_PKEY *key = NULL;

    if (bio)
        key = is_private ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL)
                         : PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    if (!key || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(key);
        ERR_clear_error();
        return err_set(err, ERRC_INVALID, "not an Ed25519 %s key in PEM", is_private ? "private" : "public");
    }
    *ret = key;
    return 0;
}

int mirror_sign(struct str pem, struct str text, struct buf *out, struct err **err)
{
    CLEANUP(openssl_key_free) EVP_PKEY *key = NULL;
    CLEANUP(openssl_digest_free) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    unsigned char signature[SIGNATURE_BYTES];
    size_t n = sizeof(signature);
    int r = read_key(pem, true, &key, err);

    if (r < 0)
        return r;
    if (!ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) != 1 ||
        EVP_DigestSign(ctx, signature, &n, (const unsigned char *)text.p, text.n) != 1)
        return err_set(err, ERRC_INTERNAL, "OpenSSL cannot sign");
    base64_encode(BASE64_STD, (struct str){ (const char *)signature, n }, out);
    return buf_check(out, err);
}

int mirror_check_signature(struct str pem, struct str text, struct str signature, struct err **err)
{
    CLEANUP(openssl_key_free) EVP_PKEY *key = NULL;
    CLEANUP(openssl_digest_free) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CLEANUP(buf_done) struct buf raw = BUF_INIT(KIB);
    int r = read_key(pem, false, &key, err);

    if (r < 0)
        return r;
    if (!base64_decode(BASE64_STD, str_trim(signature), &raw, NULL) || raw.failed || raw.n != SIGNATURE_BYTES)
        return err_set(err, ERRC_FORBIDDEN, "the signature is damaged");
    if (!ctx || EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) != 1 ||
        EVP_DigestVerify(ctx, (const unsigned char *)raw.p, raw.n, (const unsigned char *)text.p, text.n) !=
            1) {
        ERR_clear_error();
        return err_set(err, ERRC_FORBIDDEN, "the signature is not one of this key over this manifest");
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* openssl: libcrypto, opened at the first call. Linked in, its relocations alone cost 1.2 ms of every start, more than
 * everything else that a small command does.
 *
 * Include this instead of <openssl/…> and write OpenSSL's names: those in the list go through one table. A function that
 * is missing in the list links libcrypto after all, which tests/e2e/start.sh notices. base/digest.h does without. */
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/dsa.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/base.h"

/* clang-format off */
#define OPENSSL_FUNCTIONS(X) \
    X(ASN1_BIT_STRING_free) X(ASN1_BIT_STRING_new) X(ASN1_BIT_STRING_set_bit) X(ASN1_IA5STRING_new) \
    X(ASN1_OBJECT_free) X(ASN1_OCTET_STRING_dup) X(ASN1_OCTET_STRING_free) X(ASN1_OCTET_STRING_new) \
    X(ASN1_OCTET_STRING_set) X(ASN1_STRING_free) X(ASN1_STRING_set) X(ASN1_TIME_set) X(AUTHORITY_KEYID_free) \
    X(AUTHORITY_KEYID_new) X(BASIC_CONSTRAINTS_free) X(BASIC_CONSTRAINTS_new) X(BIO_ctrl) X(BIO_free) \
    X(BIO_new) X(BIO_new_mem_buf) X(BIO_s_mem) X(BN_CTX_free) X(BN_CTX_new) X(BN_add) X(BN_add_word) \
    X(BN_bin2bn) X(BN_bn2binpad) X(BN_bn2dec) X(BN_clear_free) X(BN_cmp) X(BN_copy) X(BN_dec2bn) X(BN_div) \
    X(BN_dup) X(BN_exp) X(BN_free) X(BN_gcd) X(BN_generate_prime_ex) X(BN_is_negative) X(BN_is_zero) \
    X(BN_lshift1) X(BN_mod_inverse) X(BN_mod_word) X(BN_mul) X(BN_new) X(BN_num_bits) X(BN_set_flags) \
    X(BN_set_negative) X(BN_set_word) X(BN_sub) X(BN_sub_word) X(BN_to_ASN1_INTEGER) X(CRYPTO_free) \
    X(CRYPTO_memcmp) X(ECDSA_SIG_free) X(ECDSA_SIG_get0_r) X(ECDSA_SIG_get0_s) X(ECDSA_SIG_new) \
    X(ECDSA_SIG_set0) X(ERR_clear_error) X(ERR_error_string_n) X(ERR_get_error) X(EVP_CIPHER_CTX_free) \
    X(EVP_CIPHER_CTX_new) X(EVP_CIPHER_CTX_set_padding) X(EVP_CipherFinal_ex) X(EVP_CipherInit_ex) \
    X(EVP_CipherUpdate) X(EVP_Digest) X(EVP_DigestFinal_ex) X(EVP_DigestInit_ex) X(EVP_DigestSign) \
    X(EVP_DigestSignInit) X(EVP_DigestUpdate) X(EVP_DigestVerify) X(EVP_DigestVerifyInit) X(EVP_MD_CTX_free) \
    X(EVP_MD_CTX_new) X(EVP_MD_get_size) X(EVP_PBE_scrypt) X(EVP_PKCS82PKEY) X(EVP_PKEY2PKCS8) \
    X(EVP_PKEY_CTX_free) X(EVP_PKEY_CTX_new) X(EVP_PKEY_CTX_new_id) X(EVP_PKEY_CTX_set_dsa_paramgen_bits) \
    X(EVP_PKEY_CTX_set_dsa_paramgen_q_bits) X(EVP_PKEY_Q_keygen) X(EVP_PKEY_eq) X(EVP_PKEY_free) \
    X(EVP_PKEY_fromdata) X(EVP_PKEY_fromdata_init) X(EVP_PKEY_get_base_id) X(EVP_PKEY_get_bits) \
    X(EVP_PKEY_get_octet_string_param) X(EVP_PKEY_keygen) X(EVP_PKEY_keygen_init) X(EVP_PKEY_paramgen) \
    X(EVP_PKEY_paramgen_init) X(EVP_aes_256_cbc) X(EVP_sha1) X(EVP_sha256) X(EVP_sha384) X(EVP_sha512) \
    X(GENERAL_NAME_free) X(GENERAL_NAME_new) X(GENERAL_NAME_set0_value) X(HMAC) X(OBJ_nid2obj) \
    X(OPENSSL_cleanse) X(OPENSSL_sk_new_null) X(OPENSSL_sk_num) X(OPENSSL_sk_pop_free) X(OPENSSL_sk_push) \
    X(OSSL_PARAM_BLD_free) X(OSSL_PARAM_BLD_new) X(OSSL_PARAM_BLD_push_BN) X(OSSL_PARAM_BLD_to_param) \
    X(OSSL_PARAM_free) X(PEM_read_bio) X(PEM_read_bio_PUBKEY) X(PEM_read_bio_PrivateKey) \
    X(PEM_read_bio_X509) X(PEM_write_bio_PrivateKey) X(PEM_write_bio_X509) X(PKCS8_PRIV_KEY_INFO_free) \
    X(SHA256) X(X509V3_EXT_conf_nid) X(X509V3_set_ctx) X(X509_EXTENSION_free) X(X509_NAME_add_entry_by_NID) \
    X(X509_NAME_add_entry_by_txt) X(X509_NAME_cmp) X(X509_add1_ext_i2d) X(X509_add_ext) X(X509_free) \
    X(X509_get0_pubkey) X(X509_get0_pubkey_bitstr) X(X509_get0_subject_key_id) X(X509_get_serialNumber) \
    X(X509_get_subject_name) X(X509_getm_notAfter) X(X509_getm_notBefore) X(X509_gmtime_adj) X(X509_new) \
    X(X509_set_issuer_name) X(X509_set_pubkey) X(X509_set_version) X(X509_sign) X(X509_time_adj_ex) \
    X(d2i_ECDSA_SIG) X(d2i_PKCS8_PRIV_KEY_INFO) X(d2i_PrivateKey) X(d2i_X509) X(i2d_ECDSA_SIG) \
    X(i2d_PKCS8_PRIV_KEY_INFO) X(i2d_PUBKEY) X(i2d_PrivateKey) X(i2d_X509)

struct openssl {
#define X(name) __typeof__(name) *name;
    OPENSSL_FUNCTIONS(X)
#undef X
};

/* Never NULL: without libcrypto the process says so and ends, as it would if it were linked. From any thread. */
const struct openssl *openssl_get(void);

#ifndef OPENSSL_TABLE_ONLY
#define ASN1_BIT_STRING_free (openssl_get()->ASN1_BIT_STRING_free)
#define ASN1_BIT_STRING_new (openssl_get()->ASN1_BIT_STRING_new)
#define ASN1_BIT_STRING_set_bit (openssl_get()->ASN1_BIT_STRING_set_bit)
#define ASN1_IA5STRING_new (openssl_get()->ASN1_IA5STRING_new)
#define ASN1_OBJECT_free (openssl_get()->ASN1_OBJECT_free)
#define ASN1_OCTET_STRING_dup (openssl_get()->ASN1_OCTET_STRING_dup)
#define ASN1_OCTET_STRING_free (openssl_get()->ASN1_OCTET_STRING_free)
#define ASN1_OCTET_STRING_new (openssl_get()->ASN1_OCTET_STRING_new)
#define ASN1_OCTET_STRING_set (openssl_get()->ASN1_OCTET_STRING_set)
#define ASN1_STRING_free (openssl_get()->ASN1_STRING_free)
#define ASN1_STRING_set (openssl_get()->ASN1_STRING_set)
#define ASN1_TIME_set (openssl_get()->ASN1_TIME_set)
#define AUTHORITY_KEYID_free (openssl_get()->AUTHORITY_KEYID_free)
#define AUTHORITY_KEYID_new (openssl_get()->AUTHORITY_KEYID_new)
#define BASIC_CONSTRAINTS_free (openssl_get()->BASIC_CONSTRAINTS_free)
#define BASIC_CONSTRAINTS_new (openssl_get()->BASIC_CONSTRAINTS_new)
#define BIO_ctrl (openssl_get()->BIO_ctrl)
#define BIO_free (openssl_get()->BIO_free)
#define BIO_new (openssl_get()->BIO_new)
#define BIO_new_mem_buf (openssl_get()->BIO_new_mem_buf)
#define BIO_s_mem (openssl_get()->BIO_s_mem)
#define BN_CTX_free (openssl_get()->BN_CTX_free)
#define BN_CTX_new (openssl_get()->BN_CTX_new)
#define BN_add (openssl_get()->BN_add)
#define BN_add_word (openssl_get()->BN_add_word)
#define BN_bin2bn (openssl_get()->BN_bin2bn)
#define BN_bn2binpad (openssl_get()->BN_bn2binpad)
#define BN_bn2dec (openssl_get()->BN_bn2dec)
#define BN_clear_free (openssl_get()->BN_clear_free)
#define BN_cmp (openssl_get()->BN_cmp)
#define BN_copy (openssl_get()->BN_copy)
#define BN_dec2bn (openssl_get()->BN_dec2bn)
#define BN_div (openssl_get()->BN_div)
#define BN_dup (openssl_get()->BN_dup)
#define BN_exp (openssl_get()->BN_exp)
#define BN_free (openssl_get()->BN_free)
#define BN_gcd (openssl_get()->BN_gcd)
#define BN_generate_prime_ex (openssl_get()->BN_generate_prime_ex)
#define BN_is_negative (openssl_get()->BN_is_negative)
#define BN_is_zero (openssl_get()->BN_is_zero)
#define BN_lshift1 (openssl_get()->BN_lshift1)
#define BN_mod_inverse (openssl_get()->BN_mod_inverse)
#define BN_mod_word (openssl_get()->BN_mod_word)
#define BN_mul (openssl_get()->BN_mul)
#define BN_new (openssl_get()->BN_new)
#define BN_num_bits (openssl_get()->BN_num_bits)
#define BN_set_flags (openssl_get()->BN_set_flags)
#define BN_set_negative (openssl_get()->BN_set_negative)
#define BN_set_word (openssl_get()->BN_set_word)
#define BN_sub (openssl_get()->BN_sub)
#define BN_sub_word (openssl_get()->BN_sub_word)
#define BN_to_ASN1_INTEGER (openssl_get()->BN_to_ASN1_INTEGER)
#define CRYPTO_free (openssl_get()->CRYPTO_free)
#define CRYPTO_memcmp (openssl_get()->CRYPTO_memcmp)
#define ECDSA_SIG_free (openssl_get()->ECDSA_SIG_free)
#define ECDSA_SIG_get0_r (openssl_get()->ECDSA_SIG_get0_r)
#define ECDSA_SIG_get0_s (openssl_get()->ECDSA_SIG_get0_s)
#define ECDSA_SIG_new (openssl_get()->ECDSA_SIG_new)
#define ECDSA_SIG_set0 (openssl_get()->ECDSA_SIG_set0)
#define ERR_clear_error (openssl_get()->ERR_clear_error)
#define ERR_error_string_n (openssl_get()->ERR_error_string_n)
#define ERR_get_error (openssl_get()->ERR_get_error)
#define EVP_CIPHER_CTX_free (openssl_get()->EVP_CIPHER_CTX_free)
#define EVP_CIPHER_CTX_new (openssl_get()->EVP_CIPHER_CTX_new)
#define EVP_CIPHER_CTX_set_padding (openssl_get()->EVP_CIPHER_CTX_set_padding)
#define EVP_CipherFinal_ex (openssl_get()->EVP_CipherFinal_ex)
#define EVP_CipherInit_ex (openssl_get()->EVP_CipherInit_ex)
#define EVP_CipherUpdate (openssl_get()->EVP_CipherUpdate)
#define EVP_Digest (openssl_get()->EVP_Digest)
#define EVP_DigestFinal_ex (openssl_get()->EVP_DigestFinal_ex)
#define EVP_DigestInit_ex (openssl_get()->EVP_DigestInit_ex)
#define EVP_DigestSign (openssl_get()->EVP_DigestSign)
#define EVP_DigestSignInit (openssl_get()->EVP_DigestSignInit)
#define EVP_DigestUpdate (openssl_get()->EVP_DigestUpdate)
#define EVP_DigestVerify (openssl_get()->EVP_DigestVerify)
#define EVP_DigestVerifyInit (openssl_get()->EVP_DigestVerifyInit)
#define EVP_MD_CTX_free (openssl_get()->EVP_MD_CTX_free)
#define EVP_MD_CTX_new (openssl_get()->EVP_MD_CTX_new)
#define EVP_MD_get_size (openssl_get()->EVP_MD_get_size)
#define EVP_PBE_scrypt (openssl_get()->EVP_PBE_scrypt)
#define EVP_PKCS82PKEY (openssl_get()->EVP_PKCS82PKEY)
#define EVP_PKEY2PKCS8 (openssl_get()->EVP_PKEY2PKCS8)
#define EVP_PKEY_CTX_free (openssl_get()->EVP_PKEY_CTX_free)
#define EVP_PKEY_CTX_new (openssl_get()->EVP_PKEY_CTX_new)
#define EVP_PKEY_CTX_new_id (openssl_get()->EVP_PKEY_CTX_new_id)
#define EVP_PKEY_CTX_set_dsa_paramgen_bits (openssl_get()->EVP_PKEY_CTX_set_dsa_paramgen_bits)
#define EVP_PKEY_CTX_set_dsa_paramgen_q_bits (openssl_get()->EVP_PKEY_CTX_set_dsa_paramgen_q_bits)
#define EVP_PKEY_Q_keygen (openssl_get()->EVP_PKEY_Q_keygen)
#define EVP_PKEY_eq (openssl_get()->EVP_PKEY_eq)
#define EVP_PKEY_free (openssl_get()->EVP_PKEY_free)
#define EVP_PKEY_fromdata (openssl_get()->EVP_PKEY_fromdata)
#define EVP_PKEY_fromdata_init (openssl_get()->EVP_PKEY_fromdata_init)
#define EVP_PKEY_get_base_id (openssl_get()->EVP_PKEY_get_base_id)
#define EVP_PKEY_get_bits (openssl_get()->EVP_PKEY_get_bits)
#define EVP_PKEY_get_octet_string_param (openssl_get()->EVP_PKEY_get_octet_string_param)
#define EVP_PKEY_keygen (openssl_get()->EVP_PKEY_keygen)
#define EVP_PKEY_keygen_init (openssl_get()->EVP_PKEY_keygen_init)
#define EVP_PKEY_paramgen (openssl_get()->EVP_PKEY_paramgen)
#define EVP_PKEY_paramgen_init (openssl_get()->EVP_PKEY_paramgen_init)
#define EVP_aes_256_cbc (openssl_get()->EVP_aes_256_cbc)
#define EVP_sha1 (openssl_get()->EVP_sha1)
#define EVP_sha256 (openssl_get()->EVP_sha256)
#define EVP_sha384 (openssl_get()->EVP_sha384)
#define EVP_sha512 (openssl_get()->EVP_sha512)
#define GENERAL_NAME_free (openssl_get()->GENERAL_NAME_free)
#define GENERAL_NAME_new (openssl_get()->GENERAL_NAME_new)
#define GENERAL_NAME_set0_value (openssl_get()->GENERAL_NAME_set0_value)
#define HMAC (openssl_get()->HMAC)
#define OBJ_nid2obj (openssl_get()->OBJ_nid2obj)
#define OPENSSL_cleanse (openssl_get()->OPENSSL_cleanse)
#define OPENSSL_sk_new_null (openssl_get()->OPENSSL_sk_new_null)
#define OPENSSL_sk_num (openssl_get()->OPENSSL_sk_num)
#define OPENSSL_sk_pop_free (openssl_get()->OPENSSL_sk_pop_free)
#define OPENSSL_sk_push (openssl_get()->OPENSSL_sk_push)
#define OSSL_PARAM_BLD_free (openssl_get()->OSSL_PARAM_BLD_free)
#define OSSL_PARAM_BLD_new (openssl_get()->OSSL_PARAM_BLD_new)
#define OSSL_PARAM_BLD_push_BN (openssl_get()->OSSL_PARAM_BLD_push_BN)
#define OSSL_PARAM_BLD_to_param (openssl_get()->OSSL_PARAM_BLD_to_param)
#define OSSL_PARAM_free (openssl_get()->OSSL_PARAM_free)
#define PEM_read_bio (openssl_get()->PEM_read_bio)
#define PEM_read_bio_PUBKEY (openssl_get()->PEM_read_bio_PUBKEY)
#define PEM_read_bio_PrivateKey (openssl_get()->PEM_read_bio_PrivateKey)
#define PEM_read_bio_X509 (openssl_get()->PEM_read_bio_X509)
#define PEM_write_bio_PrivateKey (openssl_get()->PEM_write_bio_PrivateKey)
#define PEM_write_bio_X509 (openssl_get()->PEM_write_bio_X509)
#define PKCS8_PRIV_KEY_INFO_free (openssl_get()->PKCS8_PRIV_KEY_INFO_free)
#define SHA256 (openssl_get()->SHA256)
#define X509V3_EXT_conf_nid (openssl_get()->X509V3_EXT_conf_nid)
#define X509V3_set_ctx (openssl_get()->X509V3_set_ctx)
#define X509_EXTENSION_free (openssl_get()->X509_EXTENSION_free)
#define X509_NAME_add_entry_by_NID (openssl_get()->X509_NAME_add_entry_by_NID)
#define X509_NAME_add_entry_by_txt (openssl_get()->X509_NAME_add_entry_by_txt)
#define X509_NAME_cmp (openssl_get()->X509_NAME_cmp)
#define X509_add1_ext_i2d (openssl_get()->X509_add1_ext_i2d)
#define X509_add_ext (openssl_get()->X509_add_ext)
#define X509_free (openssl_get()->X509_free)
#define X509_get0_pubkey (openssl_get()->X509_get0_pubkey)
#define X509_get0_pubkey_bitstr (openssl_get()->X509_get0_pubkey_bitstr)
#define X509_get0_subject_key_id (openssl_get()->X509_get0_subject_key_id)
#define X509_get_serialNumber (openssl_get()->X509_get_serialNumber)
#define X509_get_subject_name (openssl_get()->X509_get_subject_name)
#define X509_getm_notAfter (openssl_get()->X509_getm_notAfter)
#define X509_getm_notBefore (openssl_get()->X509_getm_notBefore)
#define X509_gmtime_adj (openssl_get()->X509_gmtime_adj)
#define X509_new (openssl_get()->X509_new)
#define X509_set_issuer_name (openssl_get()->X509_set_issuer_name)
#define X509_set_pubkey (openssl_get()->X509_set_pubkey)
#define X509_set_version (openssl_get()->X509_set_version)
#define X509_sign (openssl_get()->X509_sign)
#define X509_time_adj_ex (openssl_get()->X509_time_adj_ex)
#define d2i_ECDSA_SIG (openssl_get()->d2i_ECDSA_SIG)
#define d2i_PKCS8_PRIV_KEY_INFO (openssl_get()->d2i_PKCS8_PRIV_KEY_INFO)
#define d2i_PrivateKey (openssl_get()->d2i_PrivateKey)
#define d2i_X509 (openssl_get()->d2i_X509)
#define i2d_ECDSA_SIG (openssl_get()->i2d_ECDSA_SIG)
#define i2d_PKCS8_PRIV_KEY_INFO (openssl_get()->i2d_PKCS8_PRIV_KEY_INFO)
#define i2d_PUBKEY (openssl_get()->i2d_PUBKEY)
#define i2d_PrivateKey (openssl_get()->i2d_PrivateKey)
#define i2d_X509 (openssl_get()->i2d_X509)
/* clang-format on */

/* For CLEANUP(openssl_bio_free) and so on. */
#define OPENSSL_CLEANUP(type, name)                   \
    static inline void openssl_##name##_free(type *p) \
    {                                                 \
        type##_free(p);                               \
    }                                                 \
    DEFINE_CLEANUP(type *, openssl_##name##_free)

OPENSSL_CLEANUP(BIO, bio)
OPENSSL_CLEANUP(ECDSA_SIG, ecdsa)
OPENSSL_CLEANUP(EVP_MD_CTX, digest)
OPENSSL_CLEANUP(EVP_PKEY, key)
OPENSSL_CLEANUP(EVP_PKEY_CTX, key_context)
OPENSSL_CLEANUP(X509, x509)
#undef OPENSSL_CLEANUP
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gocert: private keys and certificates with the formats, extensions and validity of Go's crypto/x509 as sprig uses it.
 * Private to the module. */
#include "base/buf.h"
#include "base/err.h"
#include "value/value.h"

struct gocert_key; /* a private key */
enum gocert_kind { GOCERT_RSA, GOCERT_DSA, GOCERT_ECDSA /* P-256 */, GOCERT_ED25519 };

NODISCARD int gocert_key_new(enum gocert_kind kind, int rsa_bits, struct gocert_key **ret, struct err **err);
/* sprig's parsePrivateKeyPEM() with its texts. */
NODISCARD int gocert_key_parse(struct str pem, struct gocert_key **ret, struct err **err);
void gocert_key_free(struct gocert_key *k); /* k may be NULL */
DEFINE_CLEANUP(struct gocert_key *, gocert_key_free)
/* PKCS#1, SEC 1 or OpenSSL's DSA form; PKCS#8 for Ed25519. */
void gocert_key_format(const struct gocert_key *k, struct buf *out);

struct gocert_request {
    struct str common_name;
    struct value ips, dns_names; /* lists of texts; null or empty: none */
    int64_t not_before_s, days;
    bool ca;
    unsigned char serial[16];
};
/* Checks the parts that an outsider chose; TEMPLATE with sprig's and Go's texts. */
NODISCARD int gocert_check(const struct gocert_request *q, struct err **err);

struct gocert; /* a certificate */
NODISCARD int gocert_parse(struct str pem, const char *field, struct gocert **ret, struct err **err);
void gocert_free(struct gocert *cert); /* may be NULL */
DEFINE_CLEANUP(struct gocert *, gocert_free)

/* A certificate of `key` signed with `signer` in the name of `issuer`; self-signed when issuer is NULL. PEM. */
NODISCARD int gocert_sign(const struct gocert_request *q, const struct gocert_key *key,
                          const struct gocert *issuer, const struct gocert_key *signer, struct buf *out,
                          struct err **err);

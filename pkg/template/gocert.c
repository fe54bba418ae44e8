/* SPDX-License-Identifier: Apache-2.0 */
#include "template/gocert.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/openssl.h"
#include "base/utf8.h"
#include "template/func.h"
#include "template/gocert_rsa.h"

#define PEM_MAX ((size_t)1 << 20)
#define PEM_LINE 64
#define DAY_S 86400
#define YEAR_10000_S INT64_C(253402300800) /* X.509 times end before it */

struct gocert_key {
    EVP_PKEY *key;
};

struct gocert {
    X509 *x509;
};

static void free_bytes(unsigned char *p)
{
    OPENSSL_free(p);
}
DEFINE_CLEANUP(unsigned char *, free_bytes)

static void free_chars(char *p)
{
    OPENSSL_free(p);
}
DEFINE_CLEANUP(char *, free_chars)

static int failed(struct err **err, const char *what)
{
    return err_set(err, ERRC_TEMPLATE, "%s", what);
}

/* ---- PEM ---- */

static void add_pem(const char *type, const unsigned char *der, size_t n, struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(PEM_MAX);

    base64_encode(BASE64_STD, (struct str){ (const char *)der, n }, &text);
    buf_addf(out, "-----BEGIN %s-----\n", type);
    for (size_t at = 0; at < text.n; at += PEM_LINE) {
        buf_add(out, text.p + at, MIN(PEM_LINE, text.n - at));
        buf_addc(out, '\n');
    }
    buf_addf(out, "-----END %s-----\n", type);
}

/* The first block: its type and bytes, both from OpenSSL. */
static bool read_pem(struct str pem, char **ret_type, unsigned char **ret_der, long *ret_n)
{
    CLEANUP(openssl_bio_free) BIO *bio = NULL;
    CLEANUP(free_chars) char *header = NULL;

    if (pem.n > PEM_MAX)
        return false;
    bio = BIO_new_mem_buf(pem.n > 0 ? pem.p : "", (int)pem.n);
    return bio && PEM_read_bio(bio, ret_type, &header, ret_der, ret_n) == 1;
}

/* ---- keys ---- */

static struct gocert_key *key_wrap(EVP_PKEY *key)
{
    struct gocert_key *k = xcalloc(1, sizeof(*k));

    k->key = key;
    return k;
}

void gocert_key_free(struct gocert_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->key);
    free(k);
}

static EVP_PKEY *new_dsa(void)
{
    CLEANUP(openssl_key_context_free) EVP_PKEY_CTX *params = EVP_PKEY_CTX_new_id(EVP_PKEY_DSA, NULL);
    CLEANUP(openssl_key_context_free) EVP_PKEY_CTX *ctx = NULL;
    EVP_PKEY *domain = NULL, *key = NULL;

    if (params && EVP_PKEY_paramgen_init(params) > 0 &&
        EVP_PKEY_CTX_set_dsa_paramgen_bits(params, 2048) > 0 &&
        EVP_PKEY_CTX_set_dsa_paramgen_q_bits(params, 256) > 0 && EVP_PKEY_paramgen(params, &domain) > 0)
        ctx = EVP_PKEY_CTX_new(domain, NULL);
    if (!ctx || EVP_PKEY_keygen_init(ctx) <= 0 || EVP_PKEY_keygen(ctx, &key) <= 0)
        key = NULL;
    EVP_PKEY_free(domain);
    return key;
}

int gocert_key_new(enum gocert_kind kind, int rsa_bits, struct gocert_key **ret, struct err **err)
{
    EVP_PKEY *key = NULL;

    switch (kind) {
    case GOCERT_RSA:
        key = gocert_rsa_new(rsa_bits);
        break;
    case GOCERT_DSA:
        key = new_dsa();
        break;
    case GOCERT_ECDSA:
        key = EVP_EC_gen("P-256");
        break;
    case GOCERT_ED25519:
        key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        break;
    }
    if (!key)
        return err_set(err, ERRC_INTERNAL, "failed to generate private key");
    *ret = key_wrap(key);
    return 0;
}

static EVP_PKEY *read_pkcs8(const unsigned char *der, long n)
{
    PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &der, n);
    EVP_PKEY *key = info ? EVP_PKCS82PKEY(info) : NULL;

    PKCS8_PRIV_KEY_INFO_free(info);
    return key;
}

static int read_traditional(struct str kind, const unsigned char *der, long n, EVP_PKEY **ret,
                            struct err **err)
{
    static const struct {
        const char *name;
        int type;
    } kinds[] = { { "RSA", EVP_PKEY_RSA }, { "EC", EVP_PKEY_EC }, { "DSA", EVP_PKEY_DSA } };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (!str_eq(kind, str_from(kinds[i].name)))
            continue;
        *ret = d2i_PrivateKey(kinds[i].type, NULL, &der, n);
        if (*ret)
            return 0;
        return err_set(err, ERRC_TEMPLATE, "parsing %s private key from PEM: asn1: structure error",
                       kinds[i].name);
    }
    return err_set(err, ERRC_TEMPLATE, "invalid private key type " STR_FMT " PRIVATE KEY", STR_ARG(kind));
}

int gocert_key_parse(struct str pem, struct gocert_key **ret, struct err **err)
{
    CLEANUP(free_chars) char *type = NULL;
    CLEANUP(free_bytes) unsigned char *der = NULL;
    EVP_PKEY *key = NULL;
    struct str kind;
    long n = 0;
    int r = 0;

    if (!read_pem(pem, &type, &der, &n))
        return failed(err, "no PEM data in input");
    kind = str_from(type);
    if (str_eq(kind, STR("PRIVATE KEY"))) {
        key = read_pkcs8(der, n);
        if (!key)
            r = failed(err, "decoding PEM as PKCS#8: asn1: structure error");
    } else if (!str_has_suffix(kind, STR(" PRIVATE KEY"))) {
        r = err_set(err, ERRC_TEMPLATE, "no private key data in PEM block of type %s", type);
    } else {
        r = read_traditional(str_trim_suffix(kind, STR(" PRIVATE KEY")), der, n, &key, err);
    }
    if (r < 0)
        return r;
    *ret = key_wrap(key);
    return 0;
}

static int key_der(const struct gocert_key *k, const char **ret_type, unsigned char **ret)
{
    PKCS8_PRIV_KEY_INFO *info;
    int n;

    switch (EVP_PKEY_get_base_id(k->key)) {
    case EVP_PKEY_RSA:
        *ret_type = "RSA PRIVATE KEY";
        return i2d_PrivateKey(k->key, ret);
    case EVP_PKEY_DSA:
        *ret_type = "DSA PRIVATE KEY";
        return i2d_PrivateKey(k->key, ret);
    case EVP_PKEY_EC:
        *ret_type = "EC PRIVATE KEY";
        return i2d_PrivateKey(k->key, ret);
    default:
        *ret_type = "PRIVATE KEY";
        info = EVP_PKEY2PKCS8(k->key);
        n = info ? i2d_PKCS8_PRIV_KEY_INFO(info, ret) : -1;
        PKCS8_PRIV_KEY_INFO_free(info);
        return n;
    }
}

void gocert_key_format(const struct gocert_key *k, struct buf *out)
{
    CLEANUP(free_bytes) unsigned char *der = NULL;
    const char *type;
    int n = key_der(k, &type, &der);

    if (n <= 0)
        abort(); /* a key that was made or read can be written */
    add_pem(type, der, (size_t)n, out);
}

/* ---- requests ---- */

static bool parse_ip(struct str text, unsigned char ip[16], size_t *ret_n)
{
    static const unsigned char v4_in_v6[12] = { [10] = 0xff, [11] = 0xff };
    char z[INET6_ADDRSTRLEN];

    if (text.n >= sizeof(z) || text.n == 0)
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = '\0';
    *ret_n = 4;
    if (inet_pton(AF_INET, z, ip) == 1)
        return true;
    if (inet_pton(AF_INET6, z, ip) != 1)
        return false;
    if (memcmp(ip, v4_in_v6, sizeof(v4_in_v6)) == 0)
        memmove(ip, ip + sizeof(v4_in_v6), 4);
    else
        *ret_n = 16;
    return true;
}

static int not_a_string(struct value v, const char *what, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4096);

    tpl_print_value(v, &text);
    return err_set(err, ERRC_TEMPLATE, "%s: %s is not a string", what, buf_z(&text));
}

static int check_names(const struct gocert_request *q, struct err **err)
{
    unsigned char ip[16];
    size_t n;

    for (size_t i = 0; i < value_len(q->ips); i++) {
        struct value v = value_at(q->ips, i);

        if (!value_is_string(v))
            return not_a_string(v, "error parsing ip", err);
        if (!parse_ip(value_str(v), ip, &n))
            return err_set(err, ERRC_TEMPLATE, "error parsing ip: " STR_FMT, STR_ARG(value_str(v)));
    }
    for (size_t i = 0; i < value_len(q->dns_names); i++)
        if (!value_is_string(value_at(q->dns_names, i)))
            return not_a_string(value_at(q->dns_names, i), "error processing alternate dns name", err);
    return 0;
}

static int64_t not_after(const struct gocert_request *q)
{
    return (int64_t)((uint64_t)q->not_before_s + (uint64_t)q->days * DAY_S);
}

int gocert_check(const struct gocert_request *q, struct err **err)
{
    int r = check_names(q, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < value_len(q->dns_names); i++) {
        struct str name = value_str(value_at(q->dns_names, i));

        for (size_t k = 0; k < name.n; k++)
            if ((unsigned char)name.p[k] >= 0x80) {
                CLEANUP(buf_done) struct buf quoted = BUF_INIT(4096);

                utf8_quote(name, &quoted);
                return err_set(err, ERRC_TEMPLATE,
                               "error creating certificate: x509: %s cannot be encoded as an IA5String",
                               buf_z(&quoted));
            }
    }
    if (!utf8_valid(q->common_name))
        return failed(err, "error creating certificate: asn1: string not valid UTF-8");
    if (q->days > YEAR_10000_S / DAY_S || q->days < -YEAR_10000_S / DAY_S || not_after(q) >= YEAR_10000_S)
        return failed(
            err,
            "error creating certificate: asn1: structure error: cannot represent time as GeneralizedTime");
    return 0;
}

/* ---- certificates ---- */

int gocert_parse(struct str pem, const char *field, struct gocert **ret, struct err **err)
{
    CLEANUP(free_chars) char *type = NULL;
    CLEANUP(free_bytes) unsigned char *der = NULL;
    const unsigned char *p;
    struct gocert *cert;
    X509 *x509;
    long n = 0;

    if (!read_pem(pem, &type, &der, &n))
        return failed(err, "unable to decode certificate");
    p = der;
    x509 = d2i_X509(NULL, &p, n);
    if (!x509)
        return err_set(err, ERRC_TEMPLATE, "error parsing certificate: %s: x509: malformed certificate",
                       field);
    cert = xcalloc(1, sizeof(*cert));
    cert->x509 = x509;
    *ret = cert;
    return 0;
}

void gocert_free(struct gocert *cert)
{
    if (!cert)
        return;
    X509_free(cert->x509);
    free(cert);
}

/* encoding/asn1's choice: PrintableString where it can. */
static int string_type(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !ascii_is_one_of(s.p[i], " '()+,-./:=?"))
            return V_ASN1_UTF8STRING;
    return V_ASN1_PRINTABLESTRING;
}

static bool set_subject(X509 *x, struct str common_name)
{
    X509_NAME *name = X509_get_subject_name(x);

    return common_name.n == 0 ||
           X509_NAME_add_entry_by_NID(name, NID_commonName, string_type(common_name),
                                      (const unsigned char *)common_name.p, (int)common_name.n, -1, 0) == 1;
}

static bool set_serial(X509 *x, const unsigned char serial[16])
{
    BIGNUM *n = BN_bin2bn(serial, 16, NULL);
    bool ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x));

    BN_free(n);
    return ok;
}

static bool add_ext(X509 *x, int nid, void *value, bool critical)
{
    return value && X509_add1_ext_i2d(x, nid, value, critical, X509V3_ADD_APPEND) == 1;
}

static bool add_key_usage(X509 *x, bool ca)
{
    ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();
    bool ok = bits && ASN1_BIT_STRING_set_bit(bits, 0, 1) && ASN1_BIT_STRING_set_bit(bits, 2, 1) &&
              (!ca || ASN1_BIT_STRING_set_bit(bits, 5, 1)) && add_ext(x, NID_key_usage, bits, true);

    ASN1_BIT_STRING_free(bits);
    return ok;
}

static bool add_extended_usage(X509 *x)
{
    EXTENDED_KEY_USAGE *usage = sk_ASN1_OBJECT_new_null();
    bool ok = usage && sk_ASN1_OBJECT_push(usage, OBJ_nid2obj(NID_server_auth)) > 0 &&
              sk_ASN1_OBJECT_push(usage, OBJ_nid2obj(NID_client_auth)) > 0 &&
              add_ext(x, NID_ext_key_usage, usage, false);

    sk_ASN1_OBJECT_pop_free(usage, ASN1_OBJECT_free);
    return ok;
}

static bool add_basic_constraints(X509 *x, bool ca)
{
    BASIC_CONSTRAINTS *constraints = BASIC_CONSTRAINTS_new();
    bool ok;

    if (constraints)
        constraints->ca = ca ? 0xFF : 0;
    ok = add_ext(x, NID_basic_constraints, constraints, true);
    BASIC_CONSTRAINTS_free(constraints);
    return ok;
}

#define KEY_ID_BYTES 20 /* of the SHA-256: RFC 7093, method 1 */

static bool add_subject_key_id(X509 *x)
{
    const ASN1_BIT_STRING *key = X509_get0_pubkey_bitstr(x);
    ASN1_OCTET_STRING *id = ASN1_OCTET_STRING_new();
    unsigned char digest[SHA256_DIGEST_LENGTH];
    bool ok;

    SHA256(key->data, (size_t)key->length, digest);
    ok = id && ASN1_OCTET_STRING_set(id, digest, KEY_ID_BYTES) &&
         add_ext(x, NID_subject_key_identifier, id, false);
    ASN1_OCTET_STRING_free(id);
    return ok;
}

/* Only where the issuer has another name and a key id. */
static bool add_authority_key_id(X509 *x, X509 *issuer)
{
    const ASN1_OCTET_STRING *id = issuer ? X509_get0_subject_key_id(issuer) : NULL;
    AUTHORITY_KEYID *authority;
    bool ok;

    if (!id || X509_NAME_cmp(X509_get_subject_name(x), X509_get_subject_name(issuer)) == 0)
        return true;
    authority = AUTHORITY_KEYID_new();
    if (!authority)
        return false;
    authority->keyid = ASN1_OCTET_STRING_dup(id);
    ok = authority->keyid && add_ext(x, NID_authority_key_identifier, authority, false);
    AUTHORITY_KEYID_free(authority);
    return ok;
}

static bool push_name(GENERAL_NAMES *names, int type, const void *p, size_t n)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *s = type == GEN_DNS ? ASN1_IA5STRING_new() : ASN1_OCTET_STRING_new();

    if (name && s && ASN1_STRING_set(s, p, (int)n) == 1) {
        GENERAL_NAME_set0_value(name, type, s);
        s = NULL;
        if (sk_GENERAL_NAME_push(names, name) > 0)
            return true;
    }
    ASN1_STRING_free(s);
    GENERAL_NAME_free(name);
    return false;
}

static bool add_alternative_names(X509 *x, const struct gocert_request *q)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool ok = names != NULL;

    for (size_t i = 0; ok && i < value_len(q->dns_names); i++) {
        struct str name = value_str(value_at(q->dns_names, i));

        ok = push_name(names, GEN_DNS, name.p, name.n);
    }
    for (size_t i = 0; ok && i < value_len(q->ips); i++) {
        unsigned char ip[16];
        size_t n = 0;

        ok = parse_ip(value_str(value_at(q->ips, i)), ip, &n) && push_name(names, GEN_IPADD, ip, n);
    }
    if (ok && sk_GENERAL_NAME_num(names) > 0)
        ok = add_ext(x, NID_subject_alt_name, names, q->common_name.n == 0);
    sk_GENERAL_NAME_pop_free(names, GENERAL_NAME_free);
    return ok;
}

static bool fill(X509 *x, const struct gocert_request *q, const struct gocert_key *key, X509 *issuer)
{
    return X509_set_version(x, X509_VERSION_3) && set_serial(x, q->serial) &&
           set_subject(x, q->common_name) &&
           X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer : x)) &&
           ASN1_TIME_set(X509_getm_notBefore(x), (time_t)q->not_before_s) &&
           ASN1_TIME_set(X509_getm_notAfter(x), (time_t)not_after(q)) && X509_set_pubkey(x, key->key) &&
           add_key_usage(x, q->ca) && add_extended_usage(x) && add_basic_constraints(x, q->ca) &&
           (!q->ca || add_subject_key_id(x)) && add_authority_key_id(x, issuer) &&
           add_alternative_names(x, q);
}

/* The hash that Go takes for a key; NULL: the algorithm has its own. */
static const EVP_MD *signature_hash(const EVP_PKEY *key)
{
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
        return NULL;
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && EVP_PKEY_get_bits(key) > 384)
        return EVP_sha512();
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && EVP_PKEY_get_bits(key) > 256)
        return EVP_sha384();
    return EVP_sha256();
}

int gocert_sign(const struct gocert_request *q, const struct gocert_key *key, const struct gocert *issuer,
                const struct gocert_key *signer, struct buf *out, struct err **err)
{
    CLEANUP(openssl_x509_free) X509 *x = X509_new();
    CLEANUP(free_bytes) unsigned char *der = NULL;
    int n;

    if (EVP_PKEY_get_base_id(signer->key) == EVP_PKEY_DSA)
        return failed(
            err,
            "error creating certificate: x509: certificate private key does not implement crypto.Signer");
    if (EVP_PKEY_get_base_id(key->key) == EVP_PKEY_DSA)
        return failed(err, "error creating certificate: x509: unsupported public key type: *dsa.PublicKey");
    if (issuer && EVP_PKEY_eq(X509_get0_pubkey(issuer->x509), signer->key) != 1)
        return failed(
            err, "error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey");
    if (!x || !fill(x, q, key, issuer ? issuer->x509 : NULL) ||
        X509_sign(x, signer->key, signature_hash(signer->key)) <= 0)
        return err_set(err, ERRC_INTERNAL, "error creating certificate");
    n = i2d_X509(x, &der);
    if (n <= 0)
        return err_set(err, ERRC_INTERNAL, "error creating certificate");
    add_pem("CERTIFICATE", der, (size_t)n, out);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/keys.h"

#include <arpa/inet.h>
#include <assert.h>
#include <openssl/core_names.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/encode.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/openssl.h"
#include "base/random.h"
#include "json/json.h"

enum {
    CA_DAYS = 3650,
    SERVER_DAYS = 365,
    TOKEN_BYTES = 32,
    PEM_MAX = 65536,
    JWT_MAX = 16384,
    ES256_HALF = 32
};

struct api_keys {
    EVP_PKEY *ca_key, *sa_key;
    X509 *ca;
    char *ca_pem, *cert_pem, *key_pem, *token;
    char kid[SHA256_HEX];
};

static int ssl_fail(const char *what, struct err **err)
{
    char text[160];

    ERR_error_string_n(ERR_get_error(), text, sizeof(text));
    ERR_clear_error();
    return err_set(err, ERRC_INTERNAL, "%s: %s", what, text);
}

/* ---- PEM ----------------------------------------------------------------------------------------------------- */

static char *bio_text(BIO *b)
{
    char *p;
    long n = BIO_get_mem_data(b, &p);

    return xstrndup(p, (size_t)n);
}

static int key_to_pem(EVP_PKEY *key, char **ret, struct err **err)
{
    CLEANUP(openssl_bio_free) BIO *b = BIO_new(BIO_s_mem());

    if (!b || PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL) != 1)
        return ssl_fail("write key", err);
    *ret = bio_text(b);
    return 0;
}

static int cert_to_pem(X509 *cert, char **ret, struct err **err)
{
    CLEANUP(openssl_bio_free) BIO *b = BIO_new(BIO_s_mem());

    if (!b || PEM_write_bio_X509(b, cert) != 1)
        return ssl_fail("write certificate", err);
    *ret = bio_text(b);
    return 0;
}

static int key_from_pem(struct str pem, EVP_PKEY **ret, struct err **err)
{
    CLEANUP(openssl_bio_free) BIO *b = BIO_new_mem_buf(pem.p, (int)pem.n);

    *ret = b ? PEM_read_bio_PrivateKey(b, NULL, NULL, NULL) : NULL;
    return *ret ? 0 : ssl_fail("read key", err);
}

static int cert_from_pem(struct str pem, X509 **ret, struct err **err)
{
    CLEANUP(openssl_bio_free) BIO *b = BIO_new_mem_buf(pem.p, (int)pem.n);

    *ret = b ? PEM_read_bio_X509(b, NULL, NULL, NULL) : NULL;
    return *ret ? 0 : ssl_fail("read certificate", err);
}

/* ---- certificates -------------------------------------------------------------------------------------------- */

static int add_extension(X509 *cert, X509 *issuer, int nid, const char *text, struct err **err)
{
    X509_EXTENSION *e;
    X509V3_CTX ctx;
    int ok;

    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    e = X509V3_EXT_conf_nid(NULL, &ctx, nid, text);
    if (!e)
        return ssl_fail("certificate extension", err);
    ok = X509_add_ext(cert, e, -1);
    X509_EXTENSION_free(e);
    return ok == 1 ? 0 : ssl_fail("certificate extension", err);
}

static int set_serial(X509 *cert, struct err **err)
{
    unsigned char raw[16];
    BIGNUM *n;
    int ok;

    random_bytes(raw, sizeof(raw));
    raw[0] &= 0x7f; /* positive */
    n = BN_bin2bn(raw, sizeof(raw), NULL);
    ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return ok ? 0 : ssl_fail("certificate serial", err);
}

/* A certificate for `key`; `issuer` NULL: signed by itself. */
static int new_cert(EVP_PKEY *key, const char *name, int days, X509 *issuer, X509 **ret, struct err **err)
{
    CLEANUP(openssl_x509_free) X509 *c = X509_new();
    X509_NAME *subject;
    int r;

    if (!c || X509_set_version(c, 2) != 1)
        return ssl_fail("certificate", err);
    r = set_serial(c, err);
    if (r < 0)
        return r;
    X509_gmtime_adj(X509_getm_notBefore(c), -3600); /* clocks differ */
    X509_time_adj_ex(X509_getm_notAfter(c), days, 0, NULL);
    subject = X509_get_subject_name(c);
    if (X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) !=
            1 ||
        X509_set_issuer_name(c, issuer ? X509_get_subject_name(issuer) : subject) != 1 ||
        X509_set_pubkey(c, key) != 1)
        return ssl_fail("certificate", err);
    *ret = TAKE(c);
    return 0;
}

struct extension {
    int nid;
    const char *text;
};

static int finish_cert(X509 *cert, X509 *issuer, EVP_PKEY *key, const struct extension *e, size_t n,
                       struct err **err)
{
    for (size_t i = 0; i < n; i++) {
        int r = add_extension(cert, issuer, e[i].nid, e[i].text, err);

        if (r < 0)
            return r;
    }
    return X509_sign(cert, key, EVP_sha256()) > 0 ? 0 : ssl_fail("sign certificate", err);
}

static int make_ca(struct api_keys *k, struct err **err)
{
    static const struct extension extensions[] = {
        { NID_basic_constraints, "critical,CA:TRUE" },
        { NID_key_usage, "critical,keyCertSign,cRLSign" },
        { NID_subject_key_identifier, "hash" },
    };
    int r;

    k->ca_key = EVP_EC_gen("P-256");
    if (!k->ca_key)
        return ssl_fail("make key", err);
    r = new_cert(k->ca_key, "pintle-ca", CA_DAYS, NULL, &k->ca, err);
    if (r < 0)
        return r;
    return finish_cert(k->ca, k->ca, k->ca_key, extensions, ARRAY_SIZE(extensions), err);
}

static char *server_names(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    bool ip = inet_pton(AF_INET, address, &v4) == 1 || inet_pton(AF_INET6, address, &v6) == 1;

    return xasprintf("IP:127.0.0.1,IP:::1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,"
                     "DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,%s:%s",
                     ip ? "IP" : "DNS", address);
}

static int issue_server_cert(struct api_keys *k, const char *address, struct err **err)
{
    CLEANUP(openssl_key_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    CLEANUP(openssl_x509_free) X509 *cert = NULL;
    CLEANUP(free_ptr) char *names = server_names(address);
    CLEANUP(free_ptr) char *leaf = NULL;
    const struct extension extensions[] = {
        { NID_basic_constraints, "critical,CA:FALSE" },
        { NID_key_usage, "critical,digitalSignature" },
        { NID_ext_key_usage, "serverAuth" },
        { NID_authority_key_identifier, "keyid" },
        { NID_subject_alt_name, names },
    };
    int r;

    if (!key)
        return ssl_fail("make key", err);
    r = new_cert(key, "pintle-apiserver", SERVER_DAYS, k->ca, &cert, err);
    if (r < 0)
        return r;
    r = finish_cert(cert, k->ca, k->ca_key, extensions, ARRAY_SIZE(extensions), err);
    if (r < 0)
        return r;
    r = cert_to_pem(cert, &leaf, err);
    if (r < 0)
        return r;
    k->cert_pem = xasprintf("%s%s", leaf, k->ca_pem);
    return key_to_pem(key, &k->key_pem, err);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static int read_pem(const char *dir, const char *name, struct buf *out, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(dir, name);

    return fs_read_file(path, out, err);
}

static bool has_file(const char *dir, const char *name)
{
    CLEANUP(free_ptr) char *path = fs_join(dir, name);

    return fs_exists(path);
}

static int write_private(const char *dir, const char *name, const char *text, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(dir, name);

    return fs_write_file(path, str_from(text), 0600, err);
}

static int write_key(const char *dir, const char *name, EVP_PKEY *key, struct err **err)
{
    CLEANUP(free_ptr) char *pem = NULL;
    int r = key_to_pem(key, &pem, err);

    if (r < 0)
        return r;
    r = write_private(dir, name, pem, err);
    OPENSSL_cleanse(pem, strlen(pem));
    return r;
}

static int load_ca(struct api_keys *k, const char *dir, struct err **err)
{
    CLEANUP(buf_done) struct buf cert = BUF_INIT(PEM_MAX);
    CLEANUP(buf_done) struct buf key = BUF_INIT(PEM_MAX);
    int r = read_pem(dir, "ca.crt", &cert, err);

    if (r < 0)
        return r;
    r = read_pem(dir, "ca.key", &key, err);
    if (r < 0)
        return r;
    r = cert_from_pem(buf_str(&cert), &k->ca, err);
    if (r < 0)
        return err_wrap(err, r, "%s/ca.crt", dir);
    r = key_from_pem(buf_str(&key), &k->ca_key, err);
    return r < 0 ? err_wrap(err, r, "%s/ca.key", dir) : 0;
}

/* The key is written first: a start that was cut between the two makes both again. */
static int open_ca(struct api_keys *k, const char *dir, struct err **err)
{
    int r;

    if (has_file(dir, "ca.crt")) {
        r = load_ca(k, dir, err);
        return r < 0 ? r : cert_to_pem(k->ca, &k->ca_pem, err);
    }
    r = make_ca(k, err);
    if (r < 0)
        return r;
    r = cert_to_pem(k->ca, &k->ca_pem, err);
    if (r < 0)
        return r;
    r = write_key(dir, "ca.key", k->ca_key, err);
    return r < 0 ? r : write_private(dir, "ca.crt", k->ca_pem, err);
}

static int open_sa_key(struct api_keys *k, const char *dir, struct err **err)
{
    CLEANUP(buf_done) struct buf pem = BUF_INIT(PEM_MAX);
    int r;

    if (has_file(dir, "sa.key")) {
        r = read_pem(dir, "sa.key", &pem, err);
        if (r < 0)
            return r;
        r = key_from_pem(buf_str(&pem), &k->sa_key, err);
        return r < 0 ? err_wrap(err, r, "%s/sa.key", dir) : 0;
    }
    k->sa_key = EVP_EC_gen("P-256");
    if (!k->sa_key)
        return ssl_fail("make key", err);
    return write_key(dir, "sa.key", k->sa_key, err);
}

static int open_token(struct api_keys *k, const char *dir, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(PEM_MAX);
    unsigned char raw[TOKEN_BYTES];
    struct str s;
    int r;

    if (!has_file(dir, "token")) {
        random_bytes(raw, sizeof(raw));
        hex_encode((struct str){ (const char *)raw, sizeof(raw) }, &text);
        r = write_private(dir, "token", buf_z(&text), err);
    } else {
        r = read_pem(dir, "token", &text, err);
    }
    if (r < 0)
        return r;
    s = str_trim(buf_str(&text));
    if (s.n < 16)
        return err_set(err, ERRC_INVALID, "%s/token: shorter than 16 characters", dir);
    k->token = str_dup(s);
    return 0;
}

static int set_kid(struct api_keys *k, struct err **err)
{
    unsigned char *der = NULL;
    int n = i2d_PUBKEY(k->sa_key, &der);

    if (n <= 0)
        return ssl_fail("public key", err);
    sha256_hex((struct str){ (const char *)der, (size_t)n }, k->kid);
    OPENSSL_free(der);
    return 0;
}

int api_keys_open(const char *dir, const char *address, struct api_keys **ret, struct err **err)
{
    CLEANUP(api_keys_free) struct api_keys *k = xcalloc(1, sizeof(*k));
    int r = open_ca(k, dir, err);

    if (r < 0)
        return r;
    r = open_sa_key(k, dir, err);
    if (r < 0)
        return r;
    r = open_token(k, dir, err);
    if (r < 0)
        return r;
    r = set_kid(k, err);
    if (r < 0)
        return r;
    r = issue_server_cert(k, address, err);
    if (r < 0)
        return r;
    *ret = TAKE(k);
    return 0;
}

void api_keys_free(struct api_keys *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->ca_key);
    EVP_PKEY_free(k->sa_key);
    X509_free(k->ca);
    free(k->ca_pem);
    free(k->cert_pem);
    if (k->key_pem)
        OPENSSL_cleanse(k->key_pem, strlen(k->key_pem));
    free(k->key_pem);
    if (k->token)
        OPENSSL_cleanse(k->token, strlen(k->token));
    free(k->token);
    free(k);
}

const char *api_keys_ca(const struct api_keys *k)
{
    return k->ca_pem;
}

const char *api_keys_server_cert(const struct api_keys *k)
{
    return k->cert_pem;
}

const char *api_keys_server_key(const struct api_keys *k)
{
    return k->key_pem;
}

struct str api_keys_token(const struct api_keys *k)
{
    return str_from(k->token);
}

bool api_keys_token_is(const struct api_keys *k, struct str token)
{
    size_t n = strlen(k->token);

    return token.n == n && CRYPTO_memcmp(token.p, k->token, n) == 0;
}

int api_keys_write_kubeconfig(const struct api_keys *k, const char *path, const char *url, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(PEM_MAX);

    buf_addf(&b,
             "apiVersion: v1\nkind: Config\ncurrent-context: pintle\nclusters:\n- name: pintle\n  cluster:\n"
             "    server: %s\n    certificate-authority-data: ",
             url);
    base64_encode(BASE64_STD, str_from(k->ca_pem), &b);
    buf_addf(&b,
             "\nusers:\n- name: admin\n  user:\n    token: %s\ncontexts:\n- name: pintle\n  context:\n"
             "    cluster: pintle\n    user: admin\n    namespace: default\n",
             k->token);
    return fs_write_file(path, buf_str(&b), 0600, err);
}

/* ---- service-account tokens ---------------------------------------------------------------------------------- */

/* ES256 (RFC 7518 3.4) is r and s side by side; OpenSSL gives DER. */
static int der_to_raw(const unsigned char *der, size_t n, unsigned char raw[2 * ES256_HALF], struct err **err)
{
    CLEANUP(openssl_ecdsa_free) ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);

    if (!sig || BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, ES256_HALF) < 0 ||
        BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + ES256_HALF, ES256_HALF) < 0)
        return ssl_fail("signature", err);
    return 0;
}

static int raw_to_der(const unsigned char raw[2 * ES256_HALF], unsigned char *der, size_t *n)
{
    CLEANUP(openssl_ecdsa_free) ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw, ES256_HALF, NULL), *s = BN_bin2bn(raw + ES256_HALF, ES256_HALF, NULL);
    int len;

    if (!sig || !r || !s || ECDSA_SIG_set0(sig, r, s) != 1) {
        BN_free(r);
        BN_free(s);
        return -1;
    }
    len = i2d_ECDSA_SIG(sig, &der);
    *n = (size_t)len;
    return len > 0 ? 0 : -1;
}

static int sign_text(const struct api_keys *k, struct str text, unsigned char raw[2 * ES256_HALF],
                     struct err **err)
{
    CLEANUP(openssl_digest_free) EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char der[128];
    size_t n = sizeof(der);

    if (!c || EVP_DigestSignInit(c, NULL, EVP_sha256(), NULL, k->sa_key) != 1 ||
        EVP_DigestSign(c, der, &n, (const unsigned char *)text.p, text.n) != 1)
        return ssl_fail("sign token", err);
    return der_to_raw(der, n, raw, err);
}

int api_keys_sign(const struct api_keys *k, struct value claims, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(JWT_MAX);
    CLEANUP(buf_done) struct buf json = BUF_INIT(JWT_MAX);
    unsigned char raw[2 * ES256_HALF];
    int r;

    buf_addf(&json, "{\"alg\":\"ES256\",\"kid\":\"%s\"}", k->kid);
    base64_encode(BASE64_RAW_URL, buf_str(&json), &b);
    buf_clear(&json);
    r = json_print(claims, 0, &json, err);
    if (r < 0)
        return r;
    buf_addc(&b, '.');
    base64_encode(BASE64_RAW_URL, buf_str(&json), &b);
    r = buf_check(&b, err);
    if (r < 0)
        return r;
    r = sign_text(k, buf_str(&b), raw, err);
    if (r < 0)
        return r;
    buf_addstr(out, buf_str(&b));
    buf_addc(out, '.');
    base64_encode(BASE64_RAW_URL, (struct str){ (const char *)raw, sizeof(raw) }, out);
    return buf_check(out, err);
}

static bool signature_fits(const struct api_keys *k, struct str text, struct str sig)
{
    CLEANUP(openssl_digest_free) EVP_MD_CTX *c = EVP_MD_CTX_new();
    unsigned char der[128];
    size_t n = sizeof(der);
    bool fits;

    if (!c || sig.n != 2 * ES256_HALF || raw_to_der((const unsigned char *)sig.p, der, &n) < 0)
        return false;
    fits = EVP_DigestVerifyInit(c, NULL, EVP_sha256(), NULL, k->sa_key) == 1 &&
           EVP_DigestVerify(c, der, n, (const unsigned char *)text.p, text.n) == 1;
    ERR_clear_error();
    return fits;
}

int api_keys_verify(const struct api_keys *k, struct str jwt, struct arena *a, struct value *ret,
                    struct err **err)
{
    CLEANUP(buf_done) struct buf sig = BUF_INIT(JWT_MAX);
    CLEANUP(buf_done) struct buf json = BUF_INIT(JWT_MAX);
    size_t dot = str_find_char(jwt, '.'), last = str_rfind_char(jwt, '.');
    struct value claims;

    if (jwt.n > JWT_MAX || dot == STR_NPOS || last == dot)
        return err_set(err, ERRC_UNAUTHORIZED, "invalid bearer token");
    if (!base64_decode(BASE64_RAW_URL, str_sub(jwt, last + 1, jwt.n), &sig, NULL) ||
        !base64_decode(BASE64_RAW_URL, str_sub(jwt, dot + 1, last), &json, NULL) ||
        !signature_fits(k, str_sub(jwt, 0, last), buf_str(&sig)))
        return err_set(err, ERRC_UNAUTHORIZED, "invalid bearer token");
    if (json_parse(a, arena_dup(a, buf_str(&json)), NULL, &claims, NULL) < 0 || !value_is_map(claims))
        return err_set(err, ERRC_UNAUTHORIZED, "invalid bearer token");
    *ret = claims;
    return 0;
}

int api_keys_jwks(const struct api_keys *k, struct buf *out, struct err **err)
{
    unsigned char point[1 + 2 * ES256_HALF];
    size_t n = 0;

    if (EVP_PKEY_get_octet_string_param(k->sa_key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point), &n) != 1 ||
        n != sizeof(point))
        return ssl_fail("public key", err);
    buf_addf(out,
             "{\"keys\":[{\"use\":\"sig\",\"kty\":\"EC\",\"kid\":\"%s\",\"crv\":\"P-256\",\"alg\":\"ES256\","
             "\"x\":\"",
             k->kid);
    base64_encode(BASE64_RAW_URL, (struct str){ (const char *)point + 1, ES256_HALF }, out);
    buf_adds(out, "\",\"y\":\"");
    base64_encode(BASE64_RAW_URL, (struct str){ (const char *)point + 1 + ES256_HALF, ES256_HALF }, out);
    buf_adds(out, "\"}]}");
    return buf_check(out, err);
}

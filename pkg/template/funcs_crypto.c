/* SPDX-License-Identifier: Apache-2.0 */
#include <crypt.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/encode.h"
#include "base/openssl.h"
#include "template/funcs.h"
#include "template/gocert.h"

/* Steps of the render's budget for what takes long by design: 200 million are ten or twenty seconds of it. */
#define COST_RSA_2048 1000000
#define COST_RSA_4096 5000000
#define COST_DSA 10000000
#define COST_BCRYPT 1000000
#define COST_SCRYPT 2500000
#define COST_SIGNATURE 100000

/* ---- digests ---- */

static int ret_digest(FN_ARGS, enum digest_kind kind)
{
    char hex[2 * DIGEST_BYTES_MAX + 1];
    int r = fn_pay(c, fn_str(c, 0).n, err);

    if (r < 0)
        return r;
    digest_hex(kind, fn_str(c, 0), hex);
    return fn_ret_str(ret, arena_dup(c->arena, str_from(hex)));
}

static int fn_sha1sum(FN_ARGS)
{
    return ret_digest(c, ret, err, DIGEST_SHA1);
}

static int fn_sha256sum(FN_ARGS)
{
    return ret_digest(c, ret, err, DIGEST_SHA256);
}

static int fn_sha512sum(FN_ARGS)
{
    return ret_digest(c, ret, err, DIGEST_SHA512);
}

#define ADLER_MODULUS 65521

static int fn_adler32sum(FN_ARGS)
{
    struct str s = fn_str(c, 0);
    uint32_t a = 1, b = 0;
    int r = fn_pay(c, s.n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < s.n; i++) {
        a = (a + (unsigned char)s.p[i]) % ADLER_MODULUS;
        b = (b + a) % ADLER_MODULUS;
    }
    return fn_ret_str(ret, arena_printf(c->arena, "%u", b << 16 | a));
}

/* ---- passwords ---- */

#define BCRYPT_COST 10
#define BCRYPT_PASSWORD_MAX 72
#define BCRYPT_FAILED "failed to encrypt string with bcrypt: "

/* The hash, or upstream's text of why there is none. */
static int bcrypt_text(struct tpl_call *c, struct str password, struct str *ret, struct err **err)
{
    CLEANUP(free_ptr) struct crypt_data *data = NULL;
    char salt[CRYPT_GENSALT_OUTPUT_SIZE], random[16];
    CLEANUP(free_ptr) char *z = NULL;
    const char *hash;
    int r;

    if (password.n > BCRYPT_PASSWORD_MAX) {
        *ret = STR(BCRYPT_FAILED "bcrypt: password length exceeds 72 bytes");
        return 0;
    }
    if (password.n > 0 && memchr(password.p, '\0', password.n)) {
        *ret = STR(BCRYPT_FAILED "the password holds a zero byte");
        return 0;
    }
    r = tpl_spend(c->x, COST_BCRYPT, err);
    if (r < 0)
        return r;
    tpl_random(c->x, random, sizeof(random));
    data = xcalloc(1, sizeof(*data));
    z = str_dup(password);
    hash = crypt_gensalt_rn("$2a$", BCRYPT_COST, random, sizeof(random), salt, sizeof(salt))
               ? crypt_r(z, salt, data)
               : NULL;
    if (!hash || hash[0] == '*')
        return err_set(err, ERRC_INTERNAL, BCRYPT_FAILED "crypt");
    *ret = arena_dup(c->arena, str_from(hash));
    return 0;
}

static int fn_bcrypt(FN_ARGS)
{
    struct str hash;
    int r = bcrypt_text(c, fn_str(c, 0), &hash, err);

    return r < 0 ? r : fn_ret_str(ret, hash);
}

static int fn_htpasswd(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str user = fn_str(c, 0), hash;
    bool invalid = str_find_char(user, ':') != STR_NPOS;
    int r = invalid ? 0 : bcrypt_text(c, fn_str(c, 1), &hash, err);

    if (r < 0)
        return r;
    if (invalid)
        buf_adds(&b, "invalid username: ");
    buf_addstr(&b, user);
    if (!invalid) {
        buf_addc(&b, ':');
        buf_addstr(&b, hash);
    }
    return fn_ret_buf(c, &b, ret, err);
}

/* The master password algorithm: kinds of passwords, their patterns, and what the letters of a pattern stand for. */
static const struct {
    const char *kind;
    const char *patterns[22];
} passwords[] = {
    { "maximum", { "anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno" } },
    { "long", { "CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv", "CvccCvcvnoCvcv",
                "CvccCvcvCvcvno", "CvcvnoCvccCvcv", "CvcvCvccnoCvcv", "CvcvCvccCvcvno", "CvcvnoCvcvCvcc",
                "CvcvCvcvnoCvcc", "CvcvCvcvCvccno", "CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno",
                "CvcvnoCvccCvcc", "CvcvCvccnoCvcc", "CvcvCvccCvccno", "CvccnoCvcvCvcc", "CvccCvcvnoCvcc",
                "CvccCvcvCvccno" } },
    { "medium", { "CvcnoCvc", "CvcCvcno" } },
    { "short", { "Cvcn" } },
    { "basic", { "aaanaaan", "aannaaan", "aaannaaa" } },
    { "pin", { "nnnn" } },
};

static const struct {
    char letter;
    const char *characters;
} alphabets[] = {
    { 'V', "AEIOU" },
    { 'C', "BCDFGHJKLMNPQRSTVWXYZ" },
    { 'v', "aeiou" },
    { 'c', "bcdfghjklmnpqrstvwxyz" },
    { 'A', "AEIOUBCDFGHJKLMNPQRSTVWXYZ" },
    { 'a', "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz" },
    { 'n', "0123456789" },
    { 'o', "@&%?,=[]_:-+*$#!'^~;()/." },
    { 'x', "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()" },
};

static const char *characters_of(char letter)
{
    for (size_t i = 0; i < ARRAY_SIZE(alphabets); i++)
        if (alphabets[i].letter == letter)
            return alphabets[i].characters;
    abort(); /* the patterns above hold no other letter */
}

static void add_uint32(struct buf *b, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_addc(b, (char)(v >> shift & 0xFF));
}

#define SCRYPT_N 32768
#define SCRYPT_R 8
#define SCRYPT_P 2
#define SCRYPT_MEMORY ((uint64_t)64 << 20)
#define MASTER_SEED "com.lyndir.masterpassword"

/* args: counter, kind, password, user, site. The seed that chooses the characters. */
static int password_seed(struct tpl_call *c, unsigned char seed[32], struct err **err)
{
    CLEANUP(buf_done) struct buf salt = FN_BUF;
    struct str password = fn_str(c, 2), user = fn_str(c, 3), site = fn_str(c, 4);
    unsigned char key[64];
    unsigned n = 0;
    int r = tpl_spend(c->x, COST_SCRYPT, err);

    if (r < 0)
        return r;
    buf_adds(&salt, MASTER_SEED);
    add_uint32(&salt, (uint32_t)user.n);
    buf_addstr(&salt, user);
    if (EVP_PBE_scrypt(password.n > 0 ? password.p : "", password.n, (const unsigned char *)salt.p, salt.n,
                       SCRYPT_N, SCRYPT_R, SCRYPT_P, SCRYPT_MEMORY, key, sizeof(key)) != 1)
        return err_set(err, ERRC_INTERNAL, "failed to derive password");
    buf_truncate(&salt, strlen(MASTER_SEED));
    add_uint32(&salt, (uint32_t)site.n);
    buf_addstr(&salt, site);
    add_uint32(&salt, (uint32_t)c->args[0].u);
    r = buf_check(&salt, err);
    if (r == 0 && !HMAC(EVP_sha256(), key, sizeof(key), (const unsigned char *)salt.p, salt.n, seed, &n))
        r = err_set(err, ERRC_INTERNAL, "failed to derive password");
    return r;
}

static int fn_derive_password(FN_ARGS)
{
    const char *const *patterns = NULL, *pattern;
    struct str kind = fn_str(c, 1);
    unsigned char seed[32];
    size_t n = 0, length;
    char *text = NULL;
    int r;

    for (size_t i = 0; i < ARRAY_SIZE(passwords); i++)
        if (str_eq(kind, str_from(passwords[i].kind)))
            patterns = passwords[i].patterns;
    if (!patterns)
        return fn_ret_str(ret,
                          arena_printf(c->arena, "cannot find password template " STR_FMT, STR_ARG(kind)));
    while (patterns[n])
        n++;
    r = password_seed(c, seed, err);
    if (r < 0)
        return r;
    pattern = patterns[seed[0] % n];
    length = strlen(pattern);
    r = fn_text(c, length, &text, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < length; i++) {
        const char *characters = characters_of(pattern[i]);

        text[i] = characters[seed[i + 1] % strlen(characters)];
    }
    return fn_ret_str(ret, (struct str){ text, length });
}

/* ---- AES-256-CBC with PKCS#7 padding, the IV in front ---- */

#define AES_BLOCK 16
#define AES_KEY 32

static bool aes_cbc(bool encrypt, struct str password, const char *iv, const char *from, size_t n, char *to)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    unsigned char key[AES_KEY] = { 0 };
    int done = 0, last = 0;
    bool ok;

    memcpy(key, password.n > 0 ? password.p : "", MIN(password.n, sizeof(key)));
    ok = ctx &&
         EVP_CipherInit_ex(ctx, EVP_aes_256_cbc(), NULL, key, (const unsigned char *)iv, encrypt) == 1 &&
         EVP_CIPHER_CTX_set_padding(ctx, 0) == 1 &&
         EVP_CipherUpdate(ctx, (unsigned char *)to, &done, (const unsigned char *)from, (int)n) == 1 &&
         EVP_CipherFinal_ex(ctx, (unsigned char *)to + done, &last) == 1;
    EVP_CIPHER_CTX_free(ctx);
    return ok;
}

static int fn_encrypt_aes(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str password = fn_str(c, 0), text = fn_str(c, 1);
    size_t padding = AES_BLOCK - text.n % AES_BLOCK, n = text.n + padding;
    char *plain = NULL, *cipher = NULL;
    int r;

    if (text.n == 0)
        return fn_ret_str(ret, STR(""));
    r = fn_text(c, n, &plain, err);
    if (r == 0)
        r = fn_text(c, n + 2 * AES_BLOCK, &cipher, err);
    if (r < 0)
        return r;
    memcpy(plain, text.p, text.n);
    memset(plain + text.n, (int)padding, padding);
    tpl_random(c->x, cipher, AES_BLOCK);
    if (!aes_cbc(true, password, cipher, plain, n, cipher + AES_BLOCK))
        return err_set(err, ERRC_INTERNAL, "AES failed");
    base64_encode(BASE64_STD, (struct str){ cipher, AES_BLOCK + n }, &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* Go panics on texts that are too short; `room` is what it has for the decoded bytes. */
static int check_cipher(size_t n, size_t room, struct err **err)
{
    if (room < AES_BLOCK)
        return err_set(err, ERRC_TEMPLATE, "runtime error: slice bounds out of range [:16] with capacity %zu",
                       room);
    if (n < AES_BLOCK)
        return err_set(err, ERRC_TEMPLATE, "runtime error: slice bounds out of range [16:%zu]", n);
    if (n % AES_BLOCK != 0)
        return err_set(err, ERRC_TEMPLATE, "crypto/cipher: input not full blocks");
    if (n == AES_BLOCK)
        return err_set(err, ERRC_TEMPLATE, "runtime error: index out of range [-1]");
    return 0;
}

static int fn_decrypt_aes(FN_ARGS)
{
    CLEANUP(buf_done) struct buf cipher = FN_BUF;
    struct str password = fn_str(c, 0), text = fn_str(c, 1);
    size_t at = 0, n, padding;
    char *plain = NULL;
    int r;

    if (text.n == 0)
        return fn_ret_str(ret, STR(""));
    if (!base64_decode(BASE64_STD, text, &cipher, &at))
        return err_set(err, ERRC_TEMPLATE, "illegal base64 data at input byte %zu", at);
    r = check_cipher(cipher.n, text.n / 4 * 3, err);
    if (r == 0)
        r = fn_text(c, cipher.n + AES_BLOCK, &plain, err);
    if (r < 0)
        return r;
    n = cipher.n - AES_BLOCK;
    if (!aes_cbc(false, password, cipher.p, cipher.p + AES_BLOCK, n, plain))
        return err_set(err, ERRC_INTERNAL, "AES failed");
    padding = (unsigned char)plain[n - 1];
    if (padding > n)
        return err_set(err, ERRC_TEMPLATE, "runtime error: slice bounds out of range [:-%zu]", padding - n);
    return fn_ret_str(ret, (struct str){ plain, n - padding });
}

/* ---- random ---- */

static int fn_rand_bytes(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    int64_t n = fn_int(c, 0);
    char *p = NULL;
    int r;

    if (n < 0)
        return err_set(err, ERRC_TEMPLATE, "runtime error: makeslice: len out of range");
    r = fn_text(c, (size_t)n, &p, err);
    if (r < 0)
        return r;
    tpl_random(c->x, p, (size_t)n);
    base64_encode(BASE64_STD, (struct str){ p, (size_t)n }, &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_uuidv4(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);
    unsigned char id[16];

    tpl_random(c->x, id, sizeof(id));
    id[6] = (unsigned char)((id[6] & 0x0F) | 0x40);
    id[8] = (unsigned char)((id[8] & 0x3F) | 0x80);
    for (size_t i = 0; i < sizeof(id); i++)
        buf_addf(&b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
    return fn_ret_buf(c, &b, ret, err);
}

/* ---- certificates ---- */

struct pair {
    struct tpl_object object;
    struct str cert, key;
};

static bool pair_field(const struct tpl_object *o, struct arena *a FN_UNUSED, struct str name,
                       struct value *ret)
{
    const struct pair *p = (const struct pair *)o;

    if (!str_eq(name, STR("Cert")) && !str_eq(name, STR("Key")))
        return false;
    *ret = value_from_str(name.p[0] == 'C' ? p->cert : p->key);
    return true;
}

static bool pair_struct_field(const struct tpl_object *o, size_t i, const char **ret_name, struct value *ret)
{
    const struct pair *p = (const struct pair *)o;

    if (i > 1)
        return false;
    *ret_name = i == 0 ? "Cert" : "Key";
    *ret = value_from_str(i == 0 ? p->cert : p->key);
    return true;
}

static struct value pair_to_json(const struct tpl_object *o, struct arena *a)
{
    const struct pair *p = (const struct pair *)o;
    struct value map = value_new_map(a);

    value_setz(map, "Cert", value_from_str(p->cert));
    value_setz(map, "Key", value_from_str(p->key));
    return map;
}

static bool pair_equal(const struct tpl_object *a, const struct tpl_object *b)
{
    const struct pair *pa = (const struct pair *)a, *pb = (const struct pair *)b;

    return str_eq(pa->cert, pb->cert) && str_eq(pa->key, pb->key);
}

static const struct tpl_object_type pair_type = {
    .go_name = "sprig.certificate",
    .go_kind = "struct",
    .field = pair_field,
    .struct_field = pair_struct_field,
    .to_json = pair_to_json,
    .equal = pair_equal,
};

static int ret_pair(FN_ARGS, struct str cert, struct str key)
{
    struct pair *p = ARENA_NEW(c->arena, struct pair);
    int r = tpl_reserve(c->x, cert.n + key.n, err);

    if (r < 0)
        return r;
    p->object.type = &pair_type;
    p->cert = arena_dup(c->arena, cert);
    p->key = arena_dup(c->arena, key);
    *ret = tpl_object_value(&p->object);
    return 0;
}

static int fn_gen_private_key(FN_ARGS)
{
    static const struct {
        const char *name;
        enum gocert_kind kind;
        size_t cost;
    } kinds[] = {
        { "", GOCERT_RSA, COST_RSA_4096 },
        { "rsa", GOCERT_RSA, COST_RSA_4096 },
        { "dsa", GOCERT_DSA, COST_DSA },
        { "ecdsa", GOCERT_ECDSA, COST_SIGNATURE },
        { "ed25519", GOCERT_ED25519, COST_SIGNATURE },
    };
    CLEANUP(gocert_key_free) struct gocert_key *key = NULL;
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct str name = fn_str(c, 0);
    int r = 0;

    for (size_t i = 0; r == 0 && !key && i < ARRAY_SIZE(kinds); i++) {
        if (!str_eq(name, str_from(kinds[i].name)))
            continue;
        r = tpl_spend(c->x, kinds[i].cost, err);
        if (r == 0)
            r = gocert_key_new(kinds[i].kind, 4096, &key, err);
    }
    if (r < 0)
        return r;
    if (key) {
        gocert_key_format(key, &b);
    } else {
        buf_adds(&b, "Unknown type ");
        buf_addstr(&b, name);
    }
    return fn_ret_buf(c, &b, ret, err);
}

/* How a certificate function reads its arguments. */
struct cert_args {
    bool names, ca, signed_by_ca, with_key;
};

/* The key of the new certificate: the last argument, or a new one. */
static int subject_key(struct tpl_call *c, const struct cert_args *a, struct gocert_key **ret,
                       struct err **err)
{
    int r;

    if (!a->with_key) {
        r = tpl_spend(c->x, COST_RSA_2048, err);
        return r < 0 ? r : gocert_key_new(GOCERT_RSA, 2048, ret, err);
    }
    r = gocert_key_parse(fn_str(c, c->n - 1), ret, err);
    return r < 0 ? err_wrap(err, r, "parsing private key") : r;
}

static int read_issuer(const struct pair *ca, struct gocert **ret_cert, struct gocert_key **ret_key,
                       struct err **err)
{
    int r = gocert_parse(ca->cert, "decodedSignerCert.Bytes", ret_cert, err);

    if (r < 0)
        return r;
    r = gocert_key_parse(ca->key, ret_key, err);
    return r < 0 ? err_wrap(err, r, "error parsing private key") : r;
}

static int make_certificate(FN_ARGS, const struct cert_args *a)
{
    CLEANUP(gocert_key_free) struct gocert_key *key = NULL, *issuer_key = NULL;
    CLEANUP(gocert_free) struct gocert *issuer = NULL;
    CLEANUP(buf_done) struct buf cert = FN_BUF, key_text = FN_BUF;
    struct gocert_request q = { .common_name = fn_str(c, 0), .ca = a->ca, .not_before_s = tpl_now(c->x).s };
    int r = tpl_spend(c->x, COST_SIGNATURE, err);

    if (a->names) {
        q.ips = c->args[1];
        q.dns_names = c->args[2];
    }
    q.days = fn_int(c, a->names ? 3 : 1);
    tpl_random(c->x, q.serial, sizeof(q.serial));
    if (r == 0 && a->with_key)
        r = subject_key(c, a, &key, err);
    if (r == 0 && a->signed_by_ca)
        r = read_issuer((const struct pair *)c->args[4].object, &issuer, &issuer_key, err);
    if (r == 0)
        r = gocert_check(&q, err);
    if (r == 0 && !a->with_key) /* last, as it takes long */
        r = subject_key(c, a, &key, err);
    if (r == 0)
        r = gocert_sign(&q, key, issuer, issuer ? issuer_key : key, &cert, err);
    if (r < 0)
        return r;
    gocert_key_format(key, &key_text);
    return ret_pair(c, ret, err, buf_str(&cert), buf_str(&key_text));
}

static int fn_gen_ca(FN_ARGS)
{
    return make_certificate(c, ret, err, &(struct cert_args){ .ca = true });
}

static int fn_gen_ca_with_key(FN_ARGS)
{
    return make_certificate(c, ret, err, &(struct cert_args){ .ca = true, .with_key = true });
}

static int fn_gen_self_signed(FN_ARGS)
{
    return make_certificate(c, ret, err, &(struct cert_args){ .names = true });
}

static int fn_gen_self_signed_with_key(FN_ARGS)
{
    return make_certificate(c, ret, err, &(struct cert_args){ .names = true, .with_key = true });
}

static int fn_gen_signed(FN_ARGS)
{
    return make_certificate(c, ret, err, &(struct cert_args){ .names = true, .signed_by_ca = true });
}

static int fn_gen_signed_with_key(FN_ARGS)
{
    return make_certificate(c, ret, err,
                            &(struct cert_args){ .names = true, .signed_by_ca = true, .with_key = true });
}

static int fn_build_custom_cert(FN_ARGS)
{
    CLEANUP(buf_done) struct buf cert = FN_BUF, key = FN_BUF;
    CLEANUP(gocert_free) struct gocert *parsed = NULL;
    CLEANUP(gocert_key_free) struct gocert_key *parsed_key = NULL;
    int r;

    if (!base64_decode(BASE64_STD, fn_str(c, 0), &cert, NULL))
        return err_set(err, ERRC_TEMPLATE, "unable to decode base64 certificate");
    if (!base64_decode(BASE64_STD, fn_str(c, 1), &key, NULL))
        return err_set(err, ERRC_TEMPLATE, "unable to decode base64 private key");
    r = gocert_parse(buf_str(&cert), "decodedCert.Bytes", &parsed, err);
    if (r < 0)
        return r;
    r = gocert_key_parse(buf_str(&key), &parsed_key, err);
    if (r < 0)
        return err_wrap(err, r, "error parsing private key");
    return ret_pair(c, ret, err, buf_str(&cert), buf_str(&key));
}

static const struct tpl_func funcs[] = {
    { "adler32sum", "s", 's', fn_adler32sum },
    { "bcrypt", "s", 's', fn_bcrypt },
    { "buildCustomCert", "ss", '?', fn_build_custom_cert },
    { "decryptAES", "ss", 's', fn_decrypt_aes },
    { "derivePassword", "ussss", 's', fn_derive_password },
    { "encryptAES", "ss", 's', fn_encrypt_aes },
    { "genCA", "si", '?', fn_gen_ca },
    { "genCAWithKey", "sis", '?', fn_gen_ca_with_key },
    { "genPrivateKey", "s", 's', fn_gen_private_key },
    { "genSelfSignedCert", "sLLi", '?', fn_gen_self_signed },
    { "genSelfSignedCertWithKey", "sLLis", '?', fn_gen_self_signed_with_key },
    { "genSignedCert", "sLLiC", '?', fn_gen_signed },
    { "genSignedCertWithKey", "sLLiCs", '?', fn_gen_signed_with_key },
    { "htpasswd", "ss", 's', fn_htpasswd },
    { "randBytes", "i", 's', fn_rand_bytes },
    { "sha1sum", "s", 's', fn_sha1sum },
    { "sha256sum", "s", 's', fn_sha256sum },
    { "sha512sum", "s", 's', fn_sha512sum },
    { "uuidv4", "", 's', fn_uuidv4 },
};

const struct tpl_func_table tpl_funcs_crypto = { funcs, ARRAY_SIZE(funcs) };

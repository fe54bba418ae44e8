/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures made by openssl as cosign makes them (tests/data/provenance/make.sh). */
#include "base/digest.h"
#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "provenance/provenance.h"

static struct arena *a;
static struct str payload, digest;

static struct str read_data(const char *name)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

    check_read_data(arena_printf(a, "provenance/%s", name).p, &text);
    return arena_dup(a, buf_str(&text));
}

static int setup(void **state)
{
    char hex[SHA256_HEX];

    UNUSED(state);
    a = arena_new(64 * MIB);
    payload = read_data("payload.json");
    sha256_hex(STR("manifest"), hex);
    digest = arena_printf(a, "sha256:%s", hex);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    arena_free(a);
    return 0;
}

static int verify(const struct str *keys, size_t n, struct str text, struct str signature, struct str of,
                  struct err **err)
{
    struct provenance_cosign job = {
        .keys = keys, .n_keys = n, .payload = text, .signature = signature, .digest = of
    };

    return provenance_cosign_verify(&job, err);
}

static void test_the_right_key_of_each_kind_is_found(void **state)
{
    static const char *const names[] = { "p256", "p384", "rsa", "ed25519" };
    struct str keys[ARRAY_SIZE(names)];
    struct err *err = NULL;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        keys[i] = read_data(arena_printf(a, "%s.pub", names[i]).p);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct str signature = read_data(arena_printf(a, "%s.sig", names[i]).p);

        assert_ok(verify(&keys[i], 1, payload, signature, digest, &err), err);
        assert_ok(verify(keys, ARRAY_SIZE(keys), payload, signature, digest, &err), err);
        for (size_t other = 0; other < ARRAY_SIZE(names); other++)
            if (other != i)
                assert_fails(verify(&keys[other], 1, payload, signature, digest, &err), ERRC_UNAUTHORIZED,
                             err, "no key of the 1 made this signature");
    }
    assert_fails(verify(NULL, 0, payload, read_data("rsa.sig"), digest, &err), ERRC_UNAUTHORIZED, err,
                 "no key of the 0 made this signature");
}

static void test_a_signature_is_for_one_manifest(void **state)
{
    struct str key = read_data("p256.pub");
    struct str other = arena_dup(a, digest);
    struct err *err = NULL;

    UNUSED(state);
    ((char *)(uintptr_t)other.p)[8] ^= 1;
    assert_fails(verify(&key, 1, payload, read_data("p256.sig"), other, &err), ERRC_DIGEST, err,
                 arena_printf(a, "the signature is for %s, not for %s", digest.p, other.p).p);
}

static void test_changed_bytes_are_refused(void **state)
{
    struct str key = read_data("p256.pub"), signature = read_data("p256.sig");
    CLEANUP(buf_done) struct buf raw = BUF_INIT(KIB);
    struct err *err = NULL;

    UNUSED(state);
    for (size_t i = 0; i < payload.n; i++) {
        struct str changed = arena_dup(a, payload);

        ((char *)(uintptr_t)changed.p)[i] ^= 1;
        assert_fails(verify(&key, 1, changed, signature, digest, &err), ERRC_UNAUTHORIZED, err, NULL);
    }
    assert_true(base64_decode(BASE64_STD, signature, &raw, NULL));
    for (size_t i = 0; i < raw.n; i++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);

        raw.p[i] ^= 1;
        base64_encode(BASE64_STD, buf_str(&raw), &text);
        raw.p[i] ^= 1;
        assert_fails(verify(&key, 1, payload, buf_str(&text), digest, &err), ERRC_UNAUTHORIZED, err, NULL);
    }
}

static void test_what_is_malformed_is_named(void **state)
{
    struct str good = read_data("p256.pub"), weak = read_data("rsa1024.pub"),
               signature = read_data("p256.sig");
    const struct {
        struct str key, signature;
        enum errc code;
        const char *message;
    } cases[] = {
        { STR(""), signature, ERRC_INVALID, "the key is no public key in PEM form" },
        { STR("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), signature, ERRC_INVALID,
          "the key is no public key in PEM form" },
        { weak, read_data("rsa1024.sig"), ERRC_INVALID, "the key has 1024 bits; RSA needs 2048" },
        { good, STR(""), ERRC_PARSE, "the signature is not base64 of at most 8192 bytes" },
        { good, STR("MEUCIQ*"), ERRC_PARSE, "the signature is not base64 of at most 8192 bytes" },
        { good, STR("AAAA"), ERRC_UNAUTHORIZED, "no key of the 1 made this signature" },
    };
    struct err *err = NULL;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_fails(verify(&cases[i].key, 1, payload, cases[i].signature, digest, &err), cases[i].code, err,
                     cases[i].message);
}

static void test_limits(void **state)
{
    struct str key = read_data("p256.pub");

    UNUSED(state);
    for (size_t n = COSIGN_PAYLOAD_MAX - 1; n <= COSIGN_PAYLOAD_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * COSIGN_PAYLOAD_MAX);

        buf_add_repeat(&text, ' ', n);
        assert_num(verify(&key, 1, buf_str(&text), read_data("p256.sig"), digest, NULL),
                   n <= COSIGN_PAYLOAD_MAX ? -ERRC_UNAUTHORIZED : -ERRC_LIMIT);
    }
    for (size_t n = COSIGN_SIGNATURE_MAX - 1; n <= COSIGN_SIGNATURE_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf raw = BUF_INIT(2 * COSIGN_SIGNATURE_MAX), text = BUF_INIT(64 * KIB);

        buf_add_repeat(&raw, 'x', n);
        base64_encode(BASE64_STD, buf_str(&raw), &text);
        assert_num(verify(&key, 1, payload, buf_str(&text), digest, NULL),
                   n <= COSIGN_SIGNATURE_MAX ? -ERRC_UNAUTHORIZED : -ERRC_PARSE);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_the_right_key_of_each_kind_is_found),
        TEST(test_a_signature_is_for_one_manifest),
        TEST(test_changed_bytes_are_refused),
        TEST(test_what_is_malformed_is_named),
        TEST(test_limits),
    };

    return RUN_TESTS(tests);
}

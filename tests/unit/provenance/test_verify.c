/* SPDX-License-Identifier: Apache-2.0 */
/* H27: provenance files made by gpg (tests/data/provenance/make.sh) against a keyring, on a day of 2025. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "lib/check.h"
#include "provenance/provenance.h"
#include "provenance/rnp.h"

#define FILE_NAME "web-1.0.0.tgz"
#define UNKNOWN "openpgp: signature made by unknown entity"
#define NOT_FOUND "signature block not found"
#define WEAK "openpgp: weak algorithms are rejected: "

static struct arena *a;
static struct buf ring, prov, archive;
static char digest[SHA256_HEX];

static void today(int64_t year, int month, int day)
{
    static struct clock_fake fake;

    fake.wall.s = clock_days_from_civil(year, month, day) * 86400;
    clock_set_fake(&fake);
}

static int setup(void **state)
{
    UNUSED(state);
    a = arena_new(64 * MIB);
    ring = BUF_INIT(2 * KEYRING_MAX);
    prov = BUF_INIT(2 * PROVENANCE_MAX);
    archive = BUF_INIT(MIB);
    check_read_data("provenance/ring.gpg", &ring);
    check_read_data("provenance/" FILE_NAME, &archive);
    sha256_hex(buf_str(&archive), digest);
    today(2025, 6, 1);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    clock_set_fake(NULL);
    buf_done(&ring);
    buf_done(&prov);
    buf_done(&archive);
    arena_free(a);
    return 0;
}

static int verify(const char *name, struct provenance_verified *ret, struct err **err)
{
    struct str keyring = buf_str(&ring);
    struct provenance_job job = {
        .keyrings = &keyring, .n_keyrings = 1, .file_name = STR(FILE_NAME), .digest = str_from(digest)
    };

    buf_clear(&prov);
    check_read_data(arena_printf(a, "provenance/%s.prov", name).p, &prov);
    job.text = buf_str(&prov);
    return provenance_verify(a, &job, ret, err);
}

static void test_good_signatures_name_their_key(void **state)
{
    static const struct {
        const char *prov, *identity;
    } cases[] = {
        { "rsa", "rsa <rsa@example.com>" },
        { "sha256", "rsa <rsa@example.com>" },
        { "ed25519", "ed25519 <ed25519@example.com>" },
        { "crlf", "ed25519 <ed25519@example.com>" },
        { "around", "ed25519 <ed25519@example.com>" },
        { "dashes", "ed25519 <ed25519@example.com>" },
        { "p256", "p256 <p256@example.com>" },
        { "sub", "sub <sub@example.com>" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct provenance_verified v = { 0 };
        struct err *err = NULL;

        assert_ok(verify(cases[i].prov, &v, &err), err);
        assert_case_num(cases[i].prov, v.n_identities, 1);
        assert_case_str(cases[i].prov, v.identities[0], cases[i].identity);
        assert_case_num(cases[i].prov, v.fingerprint.n, 40);
        assert_case_str(cases[i].prov, v.digest, arena_printf(a, "sha256:%s", digest).p);
    }
}

static void test_a_key_has_all_its_names(void **state)
{
    struct provenance_verified v = { 0 };
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(verify("two", &v, &err), err);
    assert_num(v.n_identities, 2);
    assert_str(v.identities[0], "two <two@example.com>");
    assert_str(v.identities[1], "second <second@example.com>");
}

static void test_everything_else_is_refused_with_its_reason(void **state)
{
    static const struct {
        const char *prov;
        enum errc code;
        const char *message;
    } cases[] = {
        { "empty", ERRC_PARSE, NOT_FOUND },
        { "garbage", ERRC_PARSE, NOT_FOUND },
        { "cut", ERRC_PARSE, NOT_FOUND },
        { "not-clear", ERRC_PARSE, NOT_FOUND },
        { "stranger", ERRC_UNAUTHORIZED, UNKNOWN },
        { "expired", ERRC_UNAUTHORIZED, "openpgp: key expired" },
        { "expiredsub", ERRC_UNAUTHORIZED, "openpgp: key expired" },
        { "revoked", ERRC_UNAUTHORIZED, "openpgp: signature made by revoked key" },
        { "revokedsub", ERRC_UNAUTHORIZED, "openpgp: signature made by revoked key" },
        { "expired-signature", ERRC_UNAUTHORIZED, "openpgp: signature expired" },
        { "tomorrow", ERRC_UNAUTHORIZED, "openpgp: signature expired" },
        { "weak", ERRC_UNAUTHORIZED, WEAK "RSA with 1024 bits" },
        { "sha1", ERRC_UNAUTHORIZED, WEAK "SHA1" },
        { "md5", ERRC_UNAUTHORIZED, WEAK "MD5" },
        { "ripemd160", ERRC_UNAUTHORIZED, WEAK "RIPEMD160" },
        { "changed", ERRC_UNAUTHORIZED, "openpgp: invalid signature: EdDSA verification failure" },
        { "other-signature", ERRC_UNAUTHORIZED, "openpgp: invalid signature: EdDSA verification failure" },
        { "two-signatures", ERRC_UNAUTHORIZED,
          "the provenance has more than one signature, and which of them counts is not said" },
        { "first-of-a-stranger", ERRC_UNAUTHORIZED,
          "the provenance has more than one signature, and which of them counts is not said" },
        { "second-of-a-stranger", ERRC_UNAUTHORIZED,
          "the provenance has more than one signature, and which of them counts is not said" },
        { "two-messages", ERRC_UNAUTHORIZED,
          "the provenance has more than one signed message, and which of them counts is not said" },
        { "other-chart", ERRC_DIGEST,
          "provenance does not contain a SHA for a file named \"web-1.0.0.tgz\"" },
        { "other-digest", ERRC_DIGEST, NULL },
        { "one-part", ERRC_PARSE, "message block must have at least two parts" },
        { "bad-yaml", ERRC_PARSE, NULL },
        { "same-file-twice", ERRC_PARSE, NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct provenance_verified v = { 0 };
        struct err *err = NULL;
        int r = verify(cases[i].prov, &v, &err);

        if (r == 0)
            fail_case("%s was let through", cases[i].prov);
        assert_fails(r, cases[i].code, err, cases[i].message);
        assert_num(v.n_identities, 0);
    }
}

static void test_a_wrong_digest_shows_both(void **state)
{
    struct provenance_verified v;
    struct err *err = NULL;
    struct str want =
        arena_printf(a, "sha256 sum does not match for web-1.0.0.tgz: \"sha256:00%s\" != \"sha256:%s\"",
                     digest + 2, digest);

    UNUSED(state);
    assert_fails(verify("other-digest", &v, &err), ERRC_DIGEST, err, want.p);
}

/* A key of 2024 that expired in 2025 was good when it signed: what counts is the day of the check. */
static void test_a_key_is_good_until_it_expires_and_after_it_was_made(void **state)
{
    struct provenance_verified v;
    struct err *err = NULL;

    UNUSED(state);
    today(2024, 12, 31);
    assert_ok(verify("expired", &v, &err), err);
    assert_ok(verify("expiredsub", &v, &err), err);
    today(2025, 1, 2);
    assert_fails(verify("expired", &v, &err), ERRC_UNAUTHORIZED, err, "openpgp: key expired");
    today(2024, 6, 3);
    assert_ok(verify("expired-signature", &v, &err), err);
    today(2024, 6, 1);
    assert_fails(verify("ed25519", &v, &err), ERRC_UNAUTHORIZED, err, "openpgp: signature expired");
}

static void test_every_kind_of_keyring_is_read(void **state)
{
    struct provenance_verified v;
    struct err *err = NULL;

    UNUSED(state);
    buf_clear(&ring);
    check_read_data("provenance/ring.asc", &ring);
    assert_ok(verify("rsa", &v, &err), err);
    assert_ok(verify("sub", &v, &err), err);
    assert_fails(verify("stranger", &v, &err), ERRC_UNAUTHORIZED, err, UNKNOWN);
    assert_fails(verify("revoked", &v, &err), ERRC_UNAUTHORIZED, err,
                 "openpgp: signature made by revoked key");
    buf_adds(&ring,
             "text\n-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nbroken\n-----END PGP PUBLIC KEY BLOCK-----\n");
    check_read_data("provenance/ring.asc", &ring);
    assert_ok(verify("p256", &v, &err), err);
    assert_fails(verify("stranger", &v, &err), ERRC_UNAUTHORIZED, err, UNKNOWN);
    buf_clear(&ring);
    assert_fails(verify("rsa", &v, &err), ERRC_UNAUTHORIZED, err, UNKNOWN);
    buf_adds(&ring, "no keyring");
    assert_fails(verify("rsa", &v, &err), ERRC_INVALID, err,
                 "failed to load keyring: openpgp: invalid data: tag byte does not have MSB set");
}

/* Bytes of the keyring are damaged one after the other: no signature gets better by that. */
static void test_a_damaged_keyring_lets_no_stranger_in(void **state)
{
    struct provenance_verified v;

    UNUSED(state);
    for (size_t i = 0; i < ring.n; i += 37) {
        ring.p[i] ^= 0x41;
        if (verify("stranger", &v, NULL) == 0 || verify("changed", &v, NULL) == 0)
            fail_case("with byte %zu of the keyring changed", i);
        ring.p[i] ^= 0x41;
    }
}

static void test_limits(void **state)
{
    struct provenance_verified v;
    struct err *err = NULL;
    size_t keys;

    UNUSED(state);
    buf_clear(&ring);
    check_read_data("provenance/ring.asc", &ring);
    keys = ring.n;
    for (size_t n = KEYRING_MAX - 1; n <= KEYRING_MAX + 1; n++) {
        buf_truncate(&ring, keys);
        buf_add_repeat(&ring, '\n', n - ring.n);
        assert_num(verify("rsa", &v, &err), n <= KEYRING_MAX ? 0 : -ERRC_LIMIT);
        err_clear(&err);
    }
}

static void test_files_are_checked_in_the_order_and_words_of_helm(void **state)
{
    static const char dir[] = "tests/data/provenance/";
    static const struct {
        const char *archive, *prov, *keyring;
        enum errc code;
        const char *message;
    } cases[] = {
        { "none.tgz", "rsa.prov", "ring.gpg", ERRC_NOT_FOUND,
          "stat tests/data/provenance/none.tgz: no such file or directory" },
        { "", "rsa.prov", "ring.gpg", ERRC_INVALID, "unpacked charts cannot be verified" },
        { "rsa.prov", "rsa.prov", "ring.gpg", ERRC_INVALID, "chart must be a tgz file" },
        { FILE_NAME, "none", "none", ERRC_NOT_FOUND,
          "could not load provenance file tests/data/provenance/none: stat tests/data/provenance/none: no "
          "such "
          "file or directory" },
        { FILE_NAME, "rsa.prov", "none", ERRC_NOT_FOUND,
          "failed to load keyring: open tests/data/provenance/none: no such file or directory" },
        { FILE_NAME, "rsa.prov", FILE_NAME, ERRC_INVALID,
          "failed to load keyring: openpgp: invalid data: tag byte does not have MSB set" },
        { FILE_NAME, "empty.prov", "ring.gpg", ERRC_PARSE, NOT_FOUND },
    };
    struct provenance_verified v = { 0 };
    struct err *err = NULL;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_fails(provenance_verify_file(a, arena_printf(a, "%s%s", dir, cases[i].archive).p,
                                            arena_printf(a, "%s%s", dir, cases[i].prov).p,
                                            arena_printf(a, "%s%s", dir, cases[i].keyring).p, &v, &err),
                     cases[i].code, err, cases[i].message);
    assert_ok(provenance_verify_file(a, "tests/data/provenance/" FILE_NAME, "tests/data/provenance/rsa.prov",
                                     "tests/data/provenance/ring.gpg", &v, &err),
              err);
    assert_str(v.identities[0], "rsa <rsa@example.com>");
}

struct job {
    struct str ring, good, bad;
    int wrong; /* answers */
};

static void *verify_often(void *ctx)
{
    struct job *j = ctx;

    for (int i = 0; i < 40; i++) {
        CLEANUP(arena_free) struct arena *own = arena_new(64 * MIB);
        struct provenance_job job = { .keyrings = &j->ring,
                                      .n_keyrings = 1,
                                      .text = i % 2 ? j->good : j->bad,
                                      .file_name = STR(FILE_NAME),
                                      .digest = str_from(digest) };
        struct provenance_verified v = { 0 };
        int r = provenance_verify(own, &job, &v, NULL);

        j->wrong += i % 2 ? r != 0 || v.fingerprint.n != 40 : r != -ERRC_UNAUTHORIZED;
    }
    return NULL;
}

static void test_threads_verify_side_by_side(void **state)
{
    CLEANUP(buf_done) struct buf good = BUF_INIT(MIB), bad = BUF_INIT(MIB);
    pthread_t threads[4];
    struct job jobs[ARRAY_SIZE(threads)];

    UNUSED(state);
    check_read_data("provenance/sub.prov", &good);
    check_read_data("provenance/changed.prov", &bad);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        jobs[i] = (struct job){ buf_str(&ring), buf_str(&good), buf_str(&bad), 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, verify_often, &jobs[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        assert_num(jobs[i].wrong, 0);
}

static void *speak(void *ctx)
{
    UNUSED(ctx);
    fputs("other ", stderr);
    return NULL;
}

static void test_only_the_thread_that_verifies_is_silent(void **state)
{
    int ends[2], before = dup(STDERR_FILENO);
    char heard[64] = "";
    pthread_t other;

    UNUSED(state);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    rnp_quiet_begin();
    rnp_quiet_begin();
    rnp_quiet_end();
    fputs("silent ", stderr);
    pthread_create(&other, NULL, speak, NULL);
    pthread_join(other, NULL);
    rnp_quiet_end();
    fputs("loud", stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    assert_true(read(ends[0], heard, sizeof heard - 1) > 0);
    close(ends[0]);
    assert_string_equal(heard, "other loud");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_good_signatures_name_their_key),
        TEST(test_a_key_has_all_its_names),
        TEST(test_everything_else_is_refused_with_its_reason),
        TEST(test_a_wrong_digest_shows_both),
        TEST(test_a_key_is_good_until_it_expires_and_after_it_was_made),
        TEST(test_every_kind_of_keyring_is_read),
        TEST(test_a_damaged_keyring_lets_no_stranger_in),
        TEST(test_limits),
        TEST(test_threads_verify_side_by_side),
        TEST(test_only_the_thread_that_verifies_is_silent),
        TEST(test_files_are_checked_in_the_order_and_words_of_helm),
    };

    return RUN_TESTS(tests);
}

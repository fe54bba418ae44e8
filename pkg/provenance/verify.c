/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures and the keys that made them. librnp says whether a signature is one and whether its key was good when it was made;
 * as go-crypto does, the key must be good now. */
#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "provenance/provenance_int.h"
#include "provenance/rnp.h"

#define KEY_BITS_MIN 2048 /* of RSA and DSA */

static const char *const hashes[] = { "SHA224", "SHA256", "SHA384", "SHA512", "SHA3-256", "SHA3-512" };

static void free_text(char *text)
{
    rnp.buffer_destroy(text);
}
DEFINE_CLEANUP(char *, free_text)

static void free_op(rnp_op_verify_t op)
{
    rnp.op_verify_destroy(op);
}
DEFINE_CLEANUP(rnp_op_verify_t, free_op)

static void free_key(rnp_key_handle_t key)
{
    rnp.key_handle_destroy(key);
}
DEFINE_CLEANUP(rnp_key_handle_t, free_key)

static void free_uid(rnp_uid_handle_t uid)
{
    rnp.uid_handle_destroy(uid);
}
DEFINE_CLEANUP(rnp_uid_handle_t, free_uid)

/* ---- keys ---------------------------------------------------------------------------------------------------------- */

static int unauthorized(struct err **err, const char *why)
{
    return err_set(err, ERRC_UNAUTHORIZED, "openpgp: %s", why);
}

/* The question could not be answered: then the answer is the one that refuses. */
static bool ask(rnp_result_t (*question)(rnp_key_handle_t, bool *), rnp_key_handle_t key, bool otherwise)
{
    bool answer = otherwise;

    return question(key, &answer) == RNP_SUCCESS ? answer : otherwise;
}

static int check_one_key(rnp_key_handle_t key, struct err **err)
{
    CLEANUP(free_text) char *algorithm = NULL;
    uint32_t bits = 0;

    if (ask(rnp.key_is_revoked, key, true))
        return unauthorized(err, "signature made by revoked key");
    if (ask(rnp.key_is_expired, key, true))
        return unauthorized(err, "key expired");
    if (rnp.key_get_alg(key, &algorithm) != RNP_SUCCESS || rnp.key_get_bits(key, &bits) != RNP_SUCCESS)
        return rnp_failed(err);
    if ((strcmp(algorithm, "RSA") == 0 || strcmp(algorithm, "DSA") == 0) && bits < KEY_BITS_MIN)
        return err_set(err, ERRC_UNAUTHORIZED, "openpgp: weak algorithms are rejected: %s with %u bits",
                       algorithm, bits);
    if (!ask(rnp.key_is_valid, key, false))
        return unauthorized(err, "invalid key: what the key says about itself is not signed well enough");
    return 0;
}

/* The key and, when it is a subkey, the one that vouches for it. */
static int find_primary(rnp_ffi_t ffi, rnp_key_handle_t key, char **fingerprint, rnp_key_handle_t *ret,
                        struct err **err)
{
    rnp_result_t result = ask(rnp.key_is_primary, key, false) ? rnp.key_get_fprint(key, fingerprint)
                                                              : rnp.key_get_primary_fprint(key, fingerprint);

    if (result == RNP_SUCCESS && *fingerprint)
        result = rnp.locate_key(ffi, "fingerprint", *fingerprint, ret);
    return result == RNP_SUCCESS && *fingerprint && *ret
               ? 0
               : unauthorized(err, "signature made by unknown entity");
}

/* ---- signatures ---------------------------------------------------------------------------------------------------- */

static int check_hash(rnp_op_verify_signature_t signature, struct err **err)
{
    CLEANUP(free_text) char *hash = NULL;

    if (rnp.op_verify_signature_get_hash(signature, &hash) != RNP_SUCCESS)
        return rnp_failed(err);
    for (size_t i = 0; i < ARRAY_SIZE(hashes); i++)
        if (strcmp(hash, hashes[i]) == 0)
            return 0;
    return err_set(err, ERRC_UNAUTHORIZED, "openpgp: weak algorithms are rejected: %s", hash);
}

/* Go's names in its messages. */
static const char *algorithm_name(const char *algorithm)
{
    return strcmp(algorithm, "EDDSA") == 0 ? "EdDSA" : algorithm;
}

static int check_result(rnp_op_verify_signature_t signature, rnp_key_handle_t key, struct err **err)
{
    rnp_result_t result = rnp.op_verify_signature_get_status(signature);
    CLEANUP(free_text) char *algorithm = NULL;
    uint32_t signed_at = 0, made_at = 0;
    bool may_sign = false;

    if (rnp.key_allows_usage(key, "sign", &may_sign) != RNP_SUCCESS || !may_sign)
        return unauthorized(err, "signature made by unknown entity");
    if (rnp.op_verify_signature_get_times(signature, &signed_at, NULL) != RNP_SUCCESS ||
        rnp.key_get_creation(key, &made_at) != RNP_SUCCESS)
        return rnp_failed(err);
    if (signed_at < made_at)
        return unauthorized(err, "signature is older than the key");
    if (result == RNP_ERROR_SIGNATURE_EXPIRED)
        return unauthorized(err, "signature expired");
    if (result != RNP_SUCCESS) {
        if (rnp.key_get_alg(key, &algorithm) != RNP_SUCCESS)
            return rnp_failed(err);
        return err_set(err, ERRC_UNAUTHORIZED, "openpgp: invalid signature: %s verification failure",
                       algorithm_name(algorithm));
    }
    if ((int64_t)signed_at > clock_wall().s) /* go-crypto has no other word for a signature of tomorrow */
        return unauthorized(err, "signature expired");
    return 0;
}

static int add_identities(struct arena *a, rnp_key_handle_t key, struct provenance_verified *ret)
{
    size_t n = 0;

    if (rnp.key_get_uid_count(key, &n) != RNP_SUCCESS)
        return -1;
    ret->identities = ARENA_ARRAY(a, struct str, n);
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_uid) rnp_uid_handle_t uid = NULL;
        CLEANUP(free_text) char *name = NULL;
        void *data = NULL;
        uint32_t type = 0;
        size_t length = 0;
        bool valid = false;

        if (rnp.key_get_uid_handle_at(key, i, &uid) != RNP_SUCCESS ||
            rnp.uid_get_type(uid, &type) != RNP_SUCCESS || type != RNP_USER_ID ||
            rnp.uid_is_valid(uid, &valid) != RNP_SUCCESS || !valid ||
            rnp.uid_get_data(uid, &data, &length) != RNP_SUCCESS)
            continue;
        name = data;
        ret->identities[ret->n_identities++] = arena_dup(a, (struct str){ name, length });
    }
    return 0;
}

static int check_signer(struct arena *a, rnp_ffi_t ffi, rnp_op_verify_signature_t signature,
                        struct provenance_verified *ret, struct err **err)
{
    CLEANUP(free_key) rnp_key_handle_t key = NULL, primary = NULL;
    CLEANUP(free_text) char *fingerprint = NULL;
    int r;

    if (rnp.op_verify_signature_get_key(signature, &key) != RNP_SUCCESS || !key)
        return unauthorized(err, "signature made by unknown entity");
    r = find_primary(ffi, key, &fingerprint, &primary, err);
    if (r == 0)
        r = check_hash(signature, err);
    if (r == 0)
        r = check_one_key(primary, err);
    if (r == 0)
        r = check_one_key(key, err);
    if (r == 0)
        r = check_result(signature, key, err);
    if (r < 0)
        return r;
    ret->fingerprint = arena_dup(a, str_from(fingerprint));
    return add_identities(a, primary, ret) < 0 ? rnp_failed(err) : 0;
}

static int check_message(struct arena *a, rnp_ffi_t ffi, const struct provenance_message *m,
                         struct provenance_verified *ret, struct err **err)
{
    CLEANUP(rnp_input_free) rnp_input_t text = NULL, packet = NULL;
    CLEANUP(free_op) rnp_op_verify_t op = NULL;
    rnp_op_verify_signature_t signature = NULL;
    rnp_result_t result;
    size_t n = 0;
    int r = rnp_input_open(m->canonical, &text, err);

    if (r == 0)
        r = rnp_input_open(m->signature, &packet, err);
    if (r < 0)
        return r;
    if (rnp.op_verify_detached_create(&op, ffi, text, packet) != RNP_SUCCESS)
        return rnp_failed(err);
    result = rnp.op_verify_execute(op);
    if (rnp.op_verify_get_signature_count(op, &n) != RNP_SUCCESS || n != 1 ||
        rnp.op_verify_get_signature_at(op, 0, &signature) != RNP_SUCCESS)
        return err_set(err, ERRC_PARSE, "openpgp: invalid data: the signature cannot be read");
    r = check_signer(a, ffi, signature, ret, err);
    if (r == 0 && result != RNP_SUCCESS)
        return unauthorized(err, "invalid signature");
    return r;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

static int check_digest(struct arena *a, const struct provenance_job *job, struct str plain,
                        struct provenance_verified *ret, struct err **err)
{
    struct str sum = arena_printf(a, "sha256:" STR_FMT, STR_ARG(job->digest)), said;
    int r = provenance_sum_find(a, plain, job->file_name, &said, err);

    if (r < 0)
        return r;
    if (!str_eq(said, sum))
        return err_set(err, ERRC_DIGEST,
                       "sha256 sum does not match for " STR_FMT ": \"" STR_FMT "\" != \"" STR_FMT "\"",
                       STR_ARG(job->file_name), STR_ARG(said), STR_ARG(sum));
    ret->digest = sum;
    return 0;
}

static int verify(struct arena *a, const struct provenance_job *job, struct provenance_verified *v,
                  struct err **err)
{
    CLEANUP(rnp_ffi_free) rnp_ffi_t ffi = NULL;
    struct provenance_message m;
    int r = rnp_keyrings_open(job, &ffi, err);

    if (r == 0)
        r = provenance_message_parse(a, job->text, &m, err);
    if (r == 0)
        r = check_message(a, ffi, &m, v, err);
    return r < 0 ? r : check_digest(a, job, m.plain, v, err);
}

int provenance_verify(struct arena *a, const struct provenance_job *job, struct provenance_verified *ret,
                      struct err **err)
{
    struct provenance_verified v = { 0 };
    int r = rnp_open(err);

    if (r < 0)
        return err_wrap(err, r, "provenance files cannot be verified");
    rnp_quiet_begin();
    r = verify(a, job, &v, err);
    rnp_quiet_end();
    if (r < 0)
        return r;
    *ret = v;
    return 0;
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

int provenance_keyring_read(const char *path, struct buf *out, struct err **err)
{
    int r = fs_read_path(path, out, err);

    return r < 0 ? err_wrap(err, r, "failed to load keyring") : 0;
}

static int check_archive(const char *path, struct err **err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return fs_path_error(err, "stat", path, errno);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERRC_INVALID, "unpacked charts cannot be verified");
    if (strlen(path) < 4 || !str_ieq(str_from(path + strlen(path) - 4), STR(".tgz")))
        return err_set(err, ERRC_INVALID, "chart must be a tgz file");
    return 0;
}

static int check_prov(const char *path, struct err **err)
{
    struct stat st;
    int r = 0;

    if (stat(path, &st) < 0)
        r = fs_path_error(err, "stat", path, errno);
    return r < 0 ? err_wrap(err, r, "could not load provenance file %s", path) : 0;
}

int provenance_verify_file(struct arena *a, const char *archive, const char *prov, const char *keyring,
                           struct provenance_verified *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(PROVENANCE_MAX);
    CLEANUP(buf_done) struct buf keys = BUF_INIT(KEYRING_MAX);
    struct str ring;
    struct provenance_job job = { .keyrings = &ring,
                                  .n_keyrings = 1,
                                  .file_name = str_basename(str_from(archive)) };
    char hex[SHA256_HEX];
    int r = check_archive(archive, err);

    if (r == 0)
        r = check_prov(prov, err);
    if (r < 0)
        return r;
    r = provenance_keyring_read(keyring, &keys, err);
    if (r < 0)
        return r;
    r = fs_read_path(archive, &packed, err);
    if (r < 0)
        return err_wrap(err, r, "failed to read chart archive");
    r = fs_read_path(prov, &text, err);
    if (r < 0)
        return err_wrap(err, r, "failed to read provenance file");
    sha256_hex(buf_str(&packed), hex);
    job.digest = str_from(hex);
    ring = buf_str(&keys);
    job.text = buf_str(&text);
    return provenance_verify(a, &job, ret, err);
}

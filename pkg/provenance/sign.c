/* SPDX-License-Identifier: Apache-2.0 */
/* Provenance files, made as Helm makes them (pkg/provenance/sign.go): the chart's metadata and the archive's digest, signed in
 * clear text by the primary key. */
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "provenance/provenance.h"
#include "provenance/rnp.h"

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

static void free_iterator(rnp_identifier_iterator_t it)
{
    rnp.identifier_iterator_destroy(it);
}
DEFINE_CLEANUP(rnp_identifier_iterator_t, free_iterator)

static void free_op(rnp_op_sign_t op)
{
    rnp.op_sign_destroy(op);
}
DEFINE_CLEANUP(rnp_op_sign_t, free_op)

static void free_output(rnp_output_t output)
{
    rnp.output_destroy(output);
}
DEFINE_CLEANUP(rnp_output_t, free_output)

/* ---- the key ------------------------------------------------------------------------------------------------------- */

struct search {
    struct str wanted;
    struct buf name; /* of the key that was found */
    rnp_key_handle_t found;
    bool exact, vague;
};

/* A name that is the wanted one ends the search; of those that contain it there must be one. */
static void look_at_name(struct search *s, rnp_key_handle_t *key, struct str name)
{
    bool exact = str_eq(name, s->wanted);

    if (s->exact || (!exact && !str_contains(name, s->wanted)))
        return;
    s->vague = !exact && (s->vague || s->found || s->name.n > 0);
    s->exact = exact;
    buf_clear(&s->name);
    buf_addstr(&s->name, name);
    if (*key) {
        if (s->found)
            rnp.key_handle_destroy(s->found);
        s->found = TAKE(*key);
    }
}

static int look_at_key(rnp_ffi_t ffi, struct search *s, const char *fingerprint, struct err **err)
{
    CLEANUP(free_key) rnp_key_handle_t key = NULL;
    bool primary = false;
    size_t n = 0;

    if (rnp.locate_key(ffi, "fingerprint", fingerprint, &key) != RNP_SUCCESS || !key ||
        rnp.key_is_primary(key, &primary) != RNP_SUCCESS)
        return rnp_failed(err);
    if (!primary || rnp.key_get_uid_count(key, &n) != RNP_SUCCESS)
        return 0;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_uid) rnp_uid_handle_t uid = NULL;
        rnp_key_handle_t one = key ? key : s->found;
        void *data = NULL;
        size_t length = 0;

        if (rnp.key_get_uid_handle_at(one, i, &uid) != RNP_SUCCESS ||
            rnp.uid_get_data(uid, &data, &length) != RNP_SUCCESS)
            continue;
        look_at_name(s, &key, (struct str){ data, length });
        rnp.buffer_destroy(data);
    }
    return 0;
}

static int find_key(rnp_ffi_t ffi, struct search *s, struct err **err)
{
    CLEANUP(free_iterator) rnp_identifier_iterator_t it = NULL;
    const char *fingerprint = NULL;
    bool secret = false;
    int r = 0;

    if (rnp.identifier_iterator_create(ffi, &it, "fingerprint") != RNP_SUCCESS)
        return rnp_failed(err);
    while (r == 0 && !s->exact && rnp.identifier_iterator_next(it, &fingerprint) == RNP_SUCCESS &&
           fingerprint)
        r = look_at_key(ffi, s, fingerprint, err);
    if (r < 0)
        return r;
    if (s->vague && !s->exact) {
        CLEANUP(buf_done) struct buf quoted = BUF_INIT(4 * MIB);

        utf8_quote(s->wanted, &quoted);
        return err_set(err, ERRC_INVALID, "more than one key contain the id %s", buf_z(&quoted));
    }
    if (!s->found)
        return err_set(err, ERRC_NOT_FOUND, "private key not found");
    if (rnp.key_have_secret(s->found, &secret) != RNP_SUCCESS || !secret)
        return err_set(err, ERRC_INVALID,
                       "provided key is not a private key. Try providing a keyring with secret keys");
    return 0;
}

/* The passphrase is nowhere but in this buffer, and not for longer than this. */
static int unlock(const struct provenance_signing *job, const struct search *s, struct err **err)
{
    CLEANUP(buf_done) struct buf passphrase = BUF_INIT(64 * KIB);
    bool locked = false;
    int r;

    if (rnp.key_is_locked(s->found, &locked) != RNP_SUCCESS)
        return rnp_failed(err);
    if (!locked)
        return 0;
    r = job->passphrase(job->ctx, buf_z((struct buf *)(uintptr_t)&s->name), &passphrase, err);
    if (r >= 0 && rnp.key_unlock(s->found, buf_z(&passphrase)) != RNP_SUCCESS)
        r = err_set(err, ERRC_UNAUTHORIZED, "openpgp: invalid data: private key checksum failure");
    if (passphrase.cap > 0)
        explicit_bzero(passphrase.p, passphrase.cap);
    return r < 0 ? r : 0;
}

/* ---- the message ---------------------------------------------------------------------------------------------------- */

static int sign(rnp_ffi_t ffi, rnp_key_handle_t key, struct str text, struct buf *out, struct err **err)
{
    CLEANUP(rnp_input_free) rnp_input_t input = NULL;
    CLEANUP(free_output) rnp_output_t output = NULL;
    CLEANUP(free_op) rnp_op_sign_t op = NULL;
    uint8_t *bytes = NULL;
    size_t n = 0;
    int r = rnp_input_open(text, &input, err);

    if (r < 0)
        return r;
    if (rnp.output_to_memory(&output, 0) != RNP_SUCCESS ||
        rnp.op_sign_cleartext_create(&op, ffi, input, output) != RNP_SUCCESS ||
        rnp.op_sign_set_hash(op, "SHA512") != RNP_SUCCESS ||
        rnp.op_sign_set_creation_time(op, (uint32_t)clock_wall().s) != RNP_SUCCESS)
        return rnp_failed(err);
    if (rnp.op_sign_add_signature(op, key, NULL) != RNP_SUCCESS || rnp.op_sign_execute(op) != RNP_SUCCESS)
        return err_set(err, ERRC_INVALID, "the key cannot sign");
    if (rnp.output_memory_get_buf(output, &bytes, &n, false) != RNP_SUCCESS)
        return rnp_failed(err);
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != '\r') /* librnp ends lines as networks do */
            buf_addc(out, (char)bytes[i]);
    return buf_check(out, err);
}

static int make(const struct provenance_signing *job, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(PROVENANCE_MAX);
    CLEANUP(rnp_ffi_free) rnp_ffi_t ffi = NULL;
    struct search s = { .wanted = job->key, .name = BUF_INIT(MIB) };
    int r = rnp_secret_keyring_open(job->keyring, &ffi, err);

    if (r == 0)
        r = find_key(ffi, &s, err);
    if (r == 0)
        r = unlock(job, &s, err);
    buf_addf(&text, STR_FMT "\n...\nfiles:\n  " STR_FMT ": sha256:" STR_FMT "\n", STR_ARG(job->metadata),
             STR_ARG(job->file_name), STR_ARG(job->digest));
    if (r == 0)
        r = buf_check(&text, err);
    if (r == 0)
        r = sign(ffi, s.found, buf_str(&text), out, err);
    if (s.found)
        rnp.key_handle_destroy(s.found);
    buf_done(&s.name);
    return r;
}

int provenance_sign(const struct provenance_signing *job, struct buf *out, struct err **err)
{
    int r = rnp_open(err);

    if (r < 0)
        return err_wrap(err, r, "provenance files cannot be made");
    rnp_quiet_begin();
    r = make(job, out, err);
    rnp_quiet_end();
    return r;
}

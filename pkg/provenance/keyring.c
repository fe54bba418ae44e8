/* SPDX-License-Identifier: Apache-2.0 */
/* Keyrings: what gpg --export writes, with --armor or without, one or more of them. */
#include "base/clock.h"
#include "base/limits.h"
#include "provenance/provenance.h"
#include "provenance/rnp.h"

int rnp_failed(struct err **err)
{
    return err_set(err, ERRC_INTERNAL, "librnp failed");
}

void rnp_input_free(rnp_input_t input)
{
    rnp.input_destroy(input);
}

void rnp_ffi_free(rnp_ffi_t ffi)
{
    rnp.ffi_destroy(ffi);
}

int rnp_input_open(struct str s, rnp_input_t *ret, struct err **err)
{
    const void *p = s.n > 0 ? s.p : "";

    return rnp.input_from_memory(ret, p, s.n, false) == RNP_SUCCESS ? 0 : rnp_failed(err);
}

static int import(rnp_ffi_t ffi, struct str keys, uint32_t which, size_t *n_read, struct err **err)
{
    CLEANUP(rnp_input_free) rnp_input_t input = NULL;
    int r = rnp_input_open(keys, &input, err);

    if (r == 0 && rnp.import_keys(ffi, input, which | RNP_LOAD_SAVE_PERMISSIVE, NULL) == RNP_SUCCESS)
        ++*n_read;
    return r;
}

/* Block by block: librnp wants nothing between them. */
static int import_armored(rnp_ffi_t ffi, struct str keys, uint32_t which, size_t *n_read, struct err **err)
{
    static const struct str begin = STR("-----BEGIN PGP "), end = STR("-----END PGP ");
    struct str rest, last;
    int r = 0;

    while (r == 0) {
        size_t from = str_find(keys, begin), to;

        if (from == STR_NPOS)
            break;
        keys = str_sub(keys, from, keys.n);
        to = str_find(keys, end);
        if (to == STR_NPOS)
            break;
        rest = str_sub(keys, to, keys.n);
        str_split(&rest, '\n', &last);
        r = import(ffi, str_sub(keys, 0, to + last.n), which, n_read, err);
        keys = rest;
    }
    return r;
}

/* A keyring without keys is one, too: everybody is unknown to it. */
static int load_keyring(rnp_ffi_t ffi, struct str keys, uint32_t which, struct err **err)
{
    size_t n_read = 0;
    int r;

    if (keys.n > KEYRING_MAX)
        return err_set(err, ERRC_LIMIT, "it has more than %zu bytes", KEYRING_MAX);
    if (keys.n == 0)
        return 0;
    r = keys.p[0] & 0x80 ? import(ffi, keys, which, &n_read, err)
                         : import_armored(ffi, keys, which, &n_read, err);
    if (r == 0 && n_read == 0)
        return err_set(err, ERRC_INVALID, "openpgp: invalid data: %s",
                       keys.p[0] & 0x80 ? "no key can be read" : "tag byte does not have MSB set");
    return r;
}

static int open_store(rnp_ffi_t *ret, struct err **err)
{
    if (rnp.ffi_create(ret, "GPG", "GPG") != RNP_SUCCESS)
        return rnp_failed(err);
    rnp.set_timestamp(*ret, (uint64_t)clock_wall().s);
    return 0;
}

int rnp_secret_keyring_open(struct str keys, rnp_ffi_t *ret, struct err **err)
{
    CLEANUP(rnp_ffi_free) rnp_ffi_t ffi = NULL;
    int r = open_store(&ffi, err);

    if (r == 0)
        r = load_keyring(ffi, keys, RNP_LOAD_SAVE_PUBLIC_KEYS | RNP_LOAD_SAVE_SECRET_KEYS, err);
    if (r < 0)
        return r;
    *ret = TAKE(ffi);
    return 0;
}

int rnp_keyrings_open(const struct provenance_job *job, rnp_ffi_t *ret, struct err **err)
{
    CLEANUP(rnp_ffi_free) rnp_ffi_t ffi = NULL;
    int r = open_store(&ffi, err);

    for (size_t i = 0; i < job->n_keyrings && r == 0; i++)
        r = load_keyring(ffi, job->keyrings[i], RNP_LOAD_SAVE_PUBLIC_KEYS, err);
    if (r < 0)
        return err_wrap(err, r, "failed to load keyring");
    *ret = TAKE(ffi);
    return 0;
}

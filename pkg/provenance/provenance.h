/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* provenance: who made a chart archive: Helm's provenance files (<archive>.prov: an OpenPGP message in clear text that lists
 * digests) and keyed cosign signatures of charts in registries.
 *
 * What is refused by Helm is refused here, with Helm's words (pkg/provenance, go-crypto's errors); what weaker rules would let
 * pass is refused too: docs/differences.md has the list. librnp does the OpenPGP part and is opened at the first use; nothing
 * here reads a file or speaks to a server but provenance_verify_file(). Safe from any thread. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct provenance_job {
    const struct str
        *keyrings; /* public keys, each binary or armored; keys that cannot be read are left out */
    size_t n_keyrings;
    struct str text;      /* of the .prov */
    struct str file_name; /* the archive's, as the .prov names it: "web-1.0.0.tgz" */
    struct str digest;    /* SHA-256 of the archive, hex in lower case */
};
struct provenance_verified {
    struct str *identities; /* of the key: "Jane <jane@example.com>" */
    size_t n_identities;
    struct str fingerprint; /* of the primary key; hex in upper case */
    struct str digest;      /* "sha256:…" */
};
/* Is the text signed by one key of the keyring, once, and does it say that this file has this digest? *ret lives in `a`.
 * UNAUTHORIZED when the signature or its key is not good enough; DIGEST when the signed text has another digest for the file, or
 * none; PARSE for a text that is none, INVALID for such a keyring; LIMIT over PROVENANCE_MAX or KEYRING_MAX; UNSUPPORTED without librnp. */
NODISCARD int provenance_verify(struct arena *a, const struct provenance_job *job,
                                struct provenance_verified *ret, struct err **err);

/* The same for files, as `helm verify` does it: `archive` is a .tgz, and no folder. */
NODISCARD int provenance_verify_file(struct arena *a, const char *archive, const char *prov,
                                     const char *keyring, struct provenance_verified *ret, struct err **err);

struct provenance_signing {
    struct str keyring; /* secret keys, as `gpg --export-secret-keys` writes them */
    struct str key;     /* the name of one, or a part of it that no other has */
    /* Asked for when the key is locked: appends its passphrase. */
    int (*passphrase)(void *ctx, const char *name, struct buf *out, struct err **err);
    void *ctx;
    struct str metadata;          /* of the chart, as YAML with a line's end */
    struct str file_name, digest; /* of the archive; SHA-256 in hex */
};
/* Appends what `helm package --sign` writes beside the archive. NOT_FOUND without such a key, INVALID when there is more than one, or
 * it cannot sign; UNAUTHORIZED for a wrong passphrase; UNSUPPORTED without librnp. */
NODISCARD int provenance_sign(const struct provenance_signing *job, struct buf *out, struct err **err);

/* Appends the file: "failed to load keyring: open x: no such file or directory". */
NODISCARD int provenance_keyring_read(const char *path, struct buf *out, struct err **err);

/* Is `payload` signed (`signature`: base64 of what the key's algorithm makes; of ECDSA in DER) with one of the PEM public keys,
 * and does it say that it is about the manifest with this digest ("sha256:…")? UNAUTHORIZED when no key made it, DIGEST for
 * another manifest, PARSE for what is no payload, INVALID for keys that are none. */
struct provenance_cosign {
    const struct str *keys;
    size_t n_keys;
    struct str payload, signature;
    struct str digest;
};
NODISCARD int provenance_cosign_verify(const struct provenance_cosign *job, struct err **err);

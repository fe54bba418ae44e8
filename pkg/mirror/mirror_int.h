/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files of pkg/mirror share. Digests are SHA-256 in 64 lower-case hex digits. */
#include <pthread.h>

#include "base/digest.h"
#include "base/limits.h"
#include "metadata/metadata.h"
#include "mirror/mirror.h"
#include "mirror/pack.h"
#include "oci/oci.h"

#define MIRROR_STAGING "import-"     /* and random digits: a bundle that is being unpacked */
#define MIRROR_INDEX_SUFFIX ".index" /* of an index that is being read, in cache/ */
#define MIRROR_NESTED_MAX 4          /* indexes of manifests in each other */
#define MIRROR_CACHE_MAX (512 * MIB) /* of cache/, unless told otherwise */

struct mirror {
    char *folder;
    pthread_mutex_t lock; /* the writers of this process; those of others wait for the file */
    int lock_fd;
    bool swept; /* what a killed writer left is gone */
    size_t cache_max;
    int64_t limit; /* of what objects may take; 0: none */
    int64_t used;  /* what they take, -1: to be counted; by writers */
    bool full;     /* the last object did not fit; by writers */
};

/* cut.c: the length of the first piece of `s`, which begins at `at` in its tar. Pieces end where the content says so, so that
 * equal files in two archives are cut alike, and before and after each tar header. */
size_t mirror_cut(struct str s, size_t at);

/* store.c: writers hold the lock. */
NODISCARD int mirror_lock(struct mirror *m, struct err **err);
void mirror_unlock(struct mirror *m);
/* For a mirror of one's own, until it is closed: other processes see that it is in use; threads are not kept apart. */
NODISCARD int mirror_hold(struct mirror *m, struct err **err);
bool mirror_digest_valid(struct str digest);
char *mirror_file(const struct mirror *m, const char *fmt, ...) PRINTF(2, 3)
    NODISCARD; /* a path below the folder; owned */
/* Writes a file for good, its folders too. */
NODISCARD int mirror_write_file(struct mirror *m, const char *path, struct str content, struct err **err);

/* store.c: what objects/ takes; did the last object that was to be written not fit? */
int64_t mirror_objects_bytes(struct mirror *m);
bool mirror_is_full(struct mirror *m);

/* cache.c: a file without a name that holds these bytes. */
NODISCARD int mirror_open_bytes(struct str bytes, int *ret_fd, int64_t *ret_size, struct err **err);

/* object.c: makes what is kept young again, so that it is not pruned before it is named. */
void mirror_touch(struct mirror *m, struct str digest);
/* Under the lock: */
NODISCARD int mirror_put(struct mirror *m, struct str bytes, char hex[SHA256_HEX], struct err **err);
/* An archive, as a pack when that is smaller; `like` are archives of neighbouring versions, best first. */
NODISCARD int mirror_put_archive(struct mirror *m, struct str bytes, const struct str *like, size_t n_like,
                                 char hex[SHA256_HEX], struct err **err);

/* add.c: may bytes with this digest take the place of those that are kept? `accepted`: as in struct mirror_addition. DIGEST. */
NODISCARD int mirror_check_replacement(const struct mirror_record *old, struct str accepted,
                                       struct str digest, struct err **err);

/* fetch.c: versions as a chart repository or a registry has them. */
struct registry_source;
struct registry_version;
struct mirror_fetcher {
    struct mirror *m;
    struct arena *arena; /* for what lives as long as the fetcher */
    const struct registry_source *source;
    struct oci_client *client; /* of the source, when it is a registry */
};
void mirror_fetcher_done(struct mirror_fetcher *f);
/* From where the next versions come; must outlive the fetcher. */
void mirror_fetcher_use(struct mirror_fetcher *f, const struct registry_source *source);
/* Are these the bytes that the record speaks of, as far as the source tells without sending them? */
NODISCARD int mirror_fetcher_is_kept(struct mirror_fetcher *f, struct arena *a,
                                     const struct registry_version *v, const struct mirror_record *record,
                                     bool *ret, struct err **err);
/* Adds archive, provenance file and, of a registry, the manifest with all that it names to `what`; in `a` and `archive`. */
NODISCARD int mirror_fetcher_get(struct mirror_fetcher *f, struct arena *a, const struct registry_version *v,
                                 struct buf *archive, struct mirror_addition *what, struct err **err);

/* record.c */
/* mirror_find() where it is no failure that there is none. */
NODISCARD int mirror_look_up(struct mirror *m, struct arena *a, struct str path, struct str tag,
                             struct mirror_record *ret, bool *ret_found, struct err **err);
/* A record without path and tag, and back. PARSE. */
NODISCARD int mirror_record_read(struct value v, struct mirror_record *ret, struct err **err);
struct value mirror_record_value(struct arena *a, const struct mirror_record *record);
/* Is it the record's own manifest, or another one for the same bytes? */
bool mirror_record_has_manifest(const struct mirror_record *record, struct str digest);
NODISCARD int mirror_write_record(struct mirror *m, const struct mirror_record *record,
                                  struct err **err); /* under the lock */

/* manifest.c */
/* The manifest that `helm push` makes for a chart, and its config. `created` is RFC 3339. */
struct mirror_manifest_parts {
    const struct metadata *metadata;
    struct str created;
    struct str archive, provenance; /* digests; provenance may be "" */
    size_t archive_size, provenance_size;
};
NODISCARD int mirror_make_manifest(struct arena *a, const struct mirror_manifest_parts *parts,
                                   struct buf *config, struct buf *out, struct err **err);

/* What a manifest names: its config and layers; of an index its manifests. In `a`. */
struct mirror_named {
    struct str digest;
    bool is_manifest;
};
struct mirror_named *mirror_manifest_names(struct arena *a, struct value manifest, size_t *ret_n);
/* The manifest that is kept under this digest. In `a`. */
NODISCARD int mirror_read_manifest(struct mirror *m, struct arena *a, struct str digest, struct value *ret,
                                   struct err **err);

/* object.c: where an object is kept; `suffix` "", ".pack" or ".pieces". Owned. */
char *mirror_object_path(struct mirror *m, struct str digest, const char *suffix) NODISCARD;
/* The digests that a pack takes pieces from; in `a`. */
NODISCARD int mirror_pack_sources(struct mirror *m, struct arena *a, struct str digest, struct str **ret,
                                  size_t *ret_n, struct err **err);

/* sign.c: Ed25519. `pem` is a private key (PKCS #8), the signature comes as base64; `pem` is a public key. INVALID for other keys;
 * FORBIDDEN for a signature that does not fit. */
NODISCARD int mirror_sign(struct str pem, struct str text, struct buf *out, struct err **err);
NODISCARD int mirror_check_signature(struct str pem, struct str text, struct str signature, struct err **err);

/* add.c: a tag that is no chart. DIGEST when the tag is a chart's. */
NODISCARD int mirror_add_tag(struct mirror *m, struct str path, struct str tag, struct str manifest,
                             struct str media_type, struct err **err);

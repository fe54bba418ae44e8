/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* mirror: chart archives kept for good, in a folder, and given back to the byte.
 *
 * The folder holds plain files, so that it can be looked at, copied with any tool while it is in use, and read by any number of
 * processes without a lock:
 *
 *     pintle-mirror                    says what the folder is
 *     objects/ab/abcd…                 bytes under their SHA-256: archives, provenance files, OCI manifests and configs
 *     objects/ab/abcd….pack            an archive in pieces, most of them those of an earlier version (pack.h)
 *     objects/ab/abcd….pieces          what was a pack: later archives take pieces from it, itself is not kept any more
 *     charts/<path>/<name>/@<tag>      one version: its digests and its index entry, JSON; the tag is the version, "+" as "_"
 *     cache/                           archives put together again for serving; may be removed at any time
 *     import-…/                        a bundle that is being unpacked
 *
 * Every file is written beside its place, synced and renamed, objects before the record that names them: a process killed at
 * any moment leaves the old state or the new one, and temporary files that the next writer sweeps away. A full disk fails the
 * one addition. Writers take turns (a lock on the file `lock`); a struct mirror may be shared by threads.
 *
 * Digests never change: other bytes for a version that is kept are refused (DIGEST), unless mirror_accept() named them. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

struct mirror;

/* `create`: the folder may be absent or empty. NOT_FOUND; INVALID for a folder that is something else; FORBIDDEN. */
NODISCARD int mirror_open(const char *folder, bool create, struct mirror **ret, struct err **err);
void mirror_close(struct mirror *m); /* may be NULL */
DEFINE_CLEANUP(struct mirror *, mirror_close)
bool mirror_is_folder(const char *folder); /* is it a mirror's? */

/* ---- versions ---------------------------------------------------------------------------------------------------- */

/* Strings and values in the arena they were read into. Digests are 64 hex digits, "" when there is none. */
struct mirror_record {
    struct str path; /* "nginx", "bitnami/nginx": where it is served, the chart's name last */
    struct str tag;
    struct str name, version; /* "" for a tag that is no chart */
    struct str archive, provenance, manifest;
    int64_t size;          /* of the archive */
    struct str media_type; /* of the manifest */
    struct str source;     /* where it came from: a URL without credentials; "" when it was added by hand */
    struct str accepted;   /* the digest that may take its place */
    struct value entry;    /* of the index, unknown fields too; without urls */
    struct value
        manifests; /* digests of other manifests that were pushed or published for these bytes; may be null */
};

/* Is this a place that a chart can be kept at: parts of letters, digits, '.', '_', '-' that begin with a letter or digit? */
bool mirror_path_valid(struct str path);
bool mirror_tag_valid(struct str tag); /* the tag of a version is oci_tag_of_version() */

/* NOT_FOUND; PARSE for a damaged record. */
NODISCARD int mirror_find(struct mirror *m, struct arena *a, struct str path, struct str tag,
                          struct mirror_record *ret, struct err **err);
/* All tags of a path, sorted; no such path is none. */
NODISCARD int mirror_tags(struct mirror *m, struct arena *a, struct str path, struct str **ret, size_t *ret_n,
                          struct err **err);
/* Paths that have tags, sorted. */
NODISCARD int mirror_paths(struct mirror *m, struct arena *a, struct str **ret, size_t *ret_n,
                           struct err **err);
/* The records of a path, newest version first as Helm sorts; tags that are no charts last. */
NODISCARD int mirror_records(struct mirror *m, struct arena *a, struct str path, struct mirror_record **ret,
                             size_t *ret_n, struct err **err);

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

bool mirror_has(struct mirror *m, struct str digest);
/* Appends what is kept under the digest, checked. NOT_FOUND, DIGEST when it is damaged, LIMIT. */
NODISCARD int mirror_read(struct mirror *m, struct str digest, struct buf *out, struct err **err);
/* A descriptor of it and its size: of the object itself, or of the copy in cache/. */
NODISCARD int mirror_open_object(struct mirror *m, struct str digest, int *ret_fd, int64_t *ret_size,
                                 struct err **err);

/* ---- adding ------------------------------------------------------------------------------------------------------ */

enum mirror_outcome {
    MIRROR_ADDED,
    MIRROR_KEPT,     /* these bytes were there */
    MIRROR_REPLACED, /* other bytes, which had been accepted */
};

struct mirror_addition {
    struct str folder;     /* put before the chart's name: "" or "bitnami" */
    struct str archive;    /* the .tgz */
    struct str provenance; /* the .prov, or "" */
    struct value entry;    /* of the upstream index; null: made from the archive */
    struct str source;
    struct str manifest; /* the OCI manifest that it came with; "": made as Helm does */
    const struct str
        *blobs; /* what the manifest names beside archive and provenance file, unless it is kept already */
    size_t n_blobs;
    struct str place, tag; /* where it was found or is to go, which the chart must agree to; "": wherever */
    struct str accepted;   /* digests, commas between them, that may take the place of what is kept */
};
/* Checks that it is a chart and keeps it. *ret_record (may be NULL) lives in `a`. PARSE for what is no chart archive; INVALID for
 * names that cannot be kept; DIGEST, naming both digests, when the version is there with other bytes. */
NODISCARD int mirror_add(struct mirror *m, struct arena *a, const struct mirror_addition *what,
                         enum mirror_outcome *ret, struct mirror_record *ret_record, struct err **err);
/* Lets the next addition of this version have this digest. NOT_FOUND. */
NODISCARD int mirror_accept(struct mirror *m, struct str path, struct str tag, struct str digest,
                            struct err **err);
/* Objects may take so many bytes on disk: what would take more is refused with LIMIT, and cache/ stays below an eighth of it. 0: no limit. Before other threads use m. */
void mirror_set_limit(struct mirror *m, int64_t bytes);
/* The bytes that they take. */
NODISCARD int mirror_size(struct mirror *m, int64_t *ret, struct err **err);

/* ---- removing ---------------------------------------------------------------------------------------------------- */

/* Forgets a version or tag; its bytes stay until mirror_prune(). NOT_FOUND. */
NODISCARD int mirror_remove(struct mirror *m, struct str path, struct str tag, struct err **err);
/* ... and every version and tag of the charts directly in the folder; how many. */
NODISCARD int mirror_remove_folder(struct mirror *m, struct str folder, size_t *ret_n, struct err **err);

struct mirror_prune_figures {
    size_t objects;
    int64_t bytes;
};
/* Deletes objects that no version or tag names: neither its record, nor one of its manifests, nor an archive that takes pieces
 * from them. Younger ones than `min_age_s` stay: a push brings what its manifest names before the manifest. May be killed at any
 * moment. When something that is kept cannot be read, nothing is deleted. */
NODISCARD int mirror_prune(struct mirror *m, int64_t min_age_s, struct mirror_prune_figures *ret,
                           struct err **err);

/* ---- checking ---------------------------------------------------------------------------------------------------- */

struct mirror_figures {
    size_t charts, versions, tags; /* tags: that are no charts */
    size_t problems;
    int64_t archive_bytes; /* of all archives, as they are given back */
    int64_t disk_bytes;    /* of all objects, as they are kept */
};
/* Gives every archive, provenance file and manifest back and compares digests. What is wrong goes to `problems`, one a line;
 * a damaged mirror is not an error of this function. */
NODISCARD int mirror_verify(struct mirror *m, struct buf *problems, struct mirror_figures *ret,
                            struct err **err);

/* Of the charts directly in a folder, from their records alone: nothing is checked. archive_bytes, disk_bytes: of these. */
NODISCARD int mirror_folder_figures(struct mirror *m, struct str folder, struct mirror_figures *ret,
                                    struct err **err);

/* ---- serving ----------------------------------------------------------------------------------------------------- */

/* Appends the index.yaml of the charts directly in `folder` ("" or "bitnami"), as `helm repo index` writes it; urls are file names.
 * LIMIT when `out` is full. */
NODISCARD int mirror_index(struct mirror *m, struct str folder, struct buf *out, struct err **err);

/* Borrowed until mirror_serve() returns. */
struct mirror_serve_options {
    const char *address;          /* as httpd's */
    struct str cert_pem, key_pem; /* TLS; empty: plain HTTP */
    struct str htpasswd;          /* text: user:hash a line; who is in it may read */
    struct str read_token;        /* who shows it may read. Without this and htpasswd anyone may */
    struct str push_token;        /* who shows it may read and push; "": nothing can be pushed */
};
/* Over HTTP:
 *
 *     /index.yaml, /<folder>/index.yaml            a chart repository: index, archives, provenance files
 *     /[<folder>/]<name>-<version>.tgz[.prov]      ETag, conditional requests, ranges, HEAD
 *     /v2/…                                        the same charts as an OCI registry (distribution-spec 1.1): pull, and push
 *     /healthz
 *
 * Tokens are taken as Bearer, and as the password of any user. New versions are seen at once, whoever added them. INVALID for an
 * htpasswd that cannot be read; else as httpd_start(). */
struct mirror_server;
NODISCARD int mirror_serve(struct mirror *m, const struct mirror_serve_options *o, struct mirror_server **ret,
                           struct err **err);
int mirror_server_port(const struct mirror_server *s);
void mirror_server_stop(struct mirror_server *s); /* may be NULL */
DEFINE_CLEANUP(struct mirror_server *, mirror_server_stop)

/* ---- syncing ----------------------------------------------------------------------------------------------------- */

struct registry_source;
struct registry_db;
struct mirror_wanted {
    struct str name;
    struct str constraint; /* "" is "*": stable versions */
};
struct mirror_sync_options {
    const struct registry_source *source; /* an index.yaml's, or a registry: oci://host/path */
    struct str folder;                    /* where the charts go */
    const struct mirror_wanted *charts;   /* none: all of the index; of a registry they must be named */
    size_t n_charts;
    size_t latest;     /* of the versions that satisfy, the newest so many; 0: all */
    bool devel;        /* pre-releases too where no constraint speaks of them */
    bool dependencies; /* the newest version that each dependency may have, from wherever it is */
    bool prune; /* when all was had: versions in the folder that are not wanted go, and mirror_prune() */
    int64_t prune_min_age_s;
    struct str accepted;    /* as in struct mirror_addition */
    int64_t until_ms;       /* clock_mono_ms(): what is not here then is left for the next sync; 0: none */
    struct registry_db *db; /* has the source's index, up to date, as `repository`; NULL: it is fetched */
    struct str repository;
    void (*line)(void *ctx, struct str text); /* what happened to each version; may be NULL */
    void *ctx;
};
struct mirror_sync_figures {
    size_t added, kept, replaced; /* versions */
    size_t refused;               /* published again with other bytes */
    size_t failed;                /* could not be had, or cannot be kept */
    size_t left;                  /* by until_ms */
    size_t removed;               /* by prune */
    bool full;                    /* something failed because of mirror_set_limit() */
};
/* Makes the mirror have what is wanted; nothing is removed without `prune`. One version's failure does not stop the others. A
 * version whose digest is in the index and in the mirror costs no request, one of a registry costs a HEAD of its manifest; an
 * unchanged index costs one. What a registry has keeps its manifest, byte for byte. Credentials go to the source's
 * origin alone. Fails when the source's index cannot be had, and with LIMIT beyond MIRROR_SYNC_MAX versions. */
NODISCARD int mirror_sync(struct mirror *m, const struct mirror_sync_options *o,
                          struct mirror_sync_figures *ret, struct err **err);

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* A bundle is a tar: manifest.json, which lists records and objects with their digests; manifest.sig, its Ed25519 signature in
 * base64; the objects. Keys are PEM as OpenSSL makes them:
 *
 *     openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out pub.pem */
struct mirror_bundle_figures {
    size_t versions, objects;
    size_t added, kept, replaced, refused; /* by import: versions */
    int64_t bytes;
};
/* Writes the charts at these paths (none: all) to a new file, which is renamed to `file` when it is complete. */
NODISCARD int mirror_export(struct mirror *m, const struct str *paths, size_t n, const char *file,
                            struct str key_pem, struct mirror_bundle_figures *ret, struct err **err);
/* Puts a bundle into the mirror. Nothing of it is looked at before its signature has been found good (FORBIDDEN), no record is
 * written before its archive was put together and has its digest. Versions that are kept with other bytes are counted as refused, and
 * named in `problems`, one a line. PARSE, DIGEST for a damaged bundle. */
NODISCARD int mirror_import(struct mirror *m, const char *file, struct str public_pem, struct buf *problems,
                            struct mirror_bundle_figures *ret, struct err **err);

/* ---- in the controller ---------------------------------------------------------------------------------------------- */

/* Keeps the archives of Repositories that have spec.mirror, each in the folder of its name, and says so in their status: the
 * condition Mirrored and status.mirror (docs/reasons.md). All folders of the mirror are the manager's: those of Repositories
 * that are gone go. */
struct mirror_manager;
struct registry_follower;
/* `mirror`: borrowed; NULL when this controller keeps none, which those that want one are told. `url`: where it is served. */
struct mirror_manager *mirror_manager_new(struct mirror *mirror, struct str url) NODISCARD;
void mirror_manager_free(struct mirror_manager *g); /* may be NULL */
/* What the Repository's reconcile calls. */
struct registry_follower mirror_manager_follower(struct mirror_manager *g);

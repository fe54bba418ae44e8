/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* registry: chart repositories: their indexes in a local SQLite file, fetching archives, the kinds Repository and RepoGroup,
 * and a folder of archives as a repository.
 *
 * An index is streamed into the database once; nothing of it stays in memory and look-ups are SQL. The database is a cache:
 * a damaged or old one is set aside and built anew. Any number of threads may share a registry. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "controller/controller.h"
#include "http/http.h"
#include "kube/kube.h"
#include "metadata/metadata.h"
#include "provenance/provenance.h"
#include "value/value.h"

/* ---- the index database ------------------------------------------------------------------------------------------ */

struct registry_db;

/* `folder` is created when absent; each repository has a file of its own in it. Several processes may use one folder. What a
 * file says is checked by digests; a damaged one is set aside, and its repository is one that was never loaded. */
NODISCARD int registry_db_open(const char *folder, struct registry_db **ret, struct err **err);
void registry_db_close(struct registry_db *d); /* may be NULL */
DEFINE_CLEANUP(struct registry_db *, registry_db_close)
/* fn is called, on the thread that noticed, when a repository's file was set aside: its index has to be fetched again. Set it
 * before other threads use the database. */
typedef void (*registry_lost_fn)(void *ctx, struct str repository);
void registry_db_on_lost(struct registry_db *d, registry_lost_fn fn, void *ctx);

struct registry_figures {
    int64_t charts, versions, skipped; /* skipped: entries that are null or fail validation, as in Helm */
};
/* What is remembered of the last load. Strings in the caller's arena. */
struct registry_fetched {
    struct str url, etag, last_modified;
    struct str digest; /* SHA-256 of the index.yaml, in hex; empty: not known */
    struct str
        index_stamp; /* of the file it was read from: registry_file_stamp(); "" when it was a temporary one */
    struct registry_figures figures;
};

struct registry_load {
    struct str repository;
    const char *path; /* index.yaml or index.json */
    size_t max;       /* bytes of it; 0: INDEX_TEXT_MAX */
    struct registry_fetched
        fetched; /* url, etag, last_modified, index_stamp to remember; digest when it is known */
};
struct registry_loaded {
    struct registry_figures figures;
    struct str digest;
    bool unchanged;      /* the same bytes as the last time: nothing was read */
    bool all;            /* there was nothing before, or nothing that could be compared: every chart is new */
    struct str *changed; /* names of charts that have other entries now, came or went */
    size_t n_changed;
    int64_t rows; /* rows written or deleted */
};
/* Makes the index in the file what is known of the repository: all or nothing. The file is streamed; of an index that is known
 * already only rows that differ are written. PARSE naming the line for text that cannot be read and for a key that is there
 * twice; INVALID "no API version specified"; LIMIT over `max`. What was known stays then. Strings in `a`. */
NODISCARD int registry_index_load(struct registry_db *d, const struct registry_load *load, struct arena *a,
                                  struct registry_loaded *ret, struct err **err);

/* The same for a file that other programs write too (helm's <name>-index.yaml): nothing is read when it is as it was at the last
 * load, by its stamp. */
NODISCARD int registry_index_follow(struct registry_db *d, struct str repository, struct str url,
                                    const char *path, struct arena *a, struct err **err);

/* What is remembered of the last load; *ret_found is false when there was none. */
NODISCARD int registry_fetched_find(struct registry_db *d, struct str repository, struct arena *a,
                                    struct registry_fetched *ret, bool *ret_found, struct err **err);
/* Names of the repositories that have a file; in `a`. */
size_t registry_known(struct registry_db *d, struct arena *a, struct str **ret);
NODISCARD int registry_forget(struct registry_db *d, struct str repository, struct err **err);
/* Size, time and number of a file, so that another one at the same path is noticed; "" when it is absent. In `a`. */
struct str registry_file_stamp(struct arena *a, const char *path);

enum { REGISTRY_HASH = 16 };

struct registry_version {
    struct str chart;         /* its name in the index */
    struct str name, version; /* name: as the entry has it */
    struct str app_version, description;
    struct str keywords; /* with blanks between them */
    /* Of the entry, null until registry_version_load(): */
    struct str digest;  /* of the archive, without "sha256:" */
    struct value entry; /* all of it, unknown fields too; what Go reads as a string is one */
    /* Private: where the entry is and what tells it from another. */
    int64_t row;
    unsigned char hash[REGISTRY_HASH];
};
/* Names of all charts of a repository, sorted; in `a`. */
NODISCARD int registry_charts(struct registry_db *d, struct str repository, struct arena *a, struct str **ret,
                              size_t *ret_n, struct err **err);
/* All versions of a chart, in Helm's order (newest first), without their entries; in `a`. None is not an error. */
NODISCARD int registry_versions(struct registry_db *d, struct str repository, struct str chart,
                                struct arena *a, struct registry_version **ret, size_t *ret_n,
                                struct err **err);
/* Fetches the entries of versions that registry_versions() gave. CONFLICT when the index has changed since. */
NODISCARD int registry_versions_load(struct registry_db *d, struct str repository, struct arena *a,
                                     struct registry_version *versions, size_t n, struct err **err);
/* Helm's rule (pkg/repo/v1 IndexFile.Get): the exact text first, else the first that satisfies the constraint; "" is "*".
 * NULL when none does; PARSE for a constraint that is none. */
NODISCARD int registry_pick(struct registry_version *versions, size_t n, struct str wanted,
                            struct registry_version **ret, struct err **err);
/* registry_pick() among the chart's versions, with its entry: 1, or 0 when there is none. */
NODISCARD int registry_find(struct registry_db *d, struct str repository, struct str chart, struct str wanted,
                            struct arena *a, struct registry_version *ret, struct err **err);

/* ---- searching -------------------------------------------------------------------------------------------------- */

struct registry_query {
    /* Offset of the first match in a version's line ("name\vrepository/name\vdescription\vkeywords"), -1 for none; NULL:
     * everything matches. */
    ptrdiff_t (*match)(void *ctx, struct str line);
    void *ctx;
    const struct semver_constraint *constraint;
    bool versions; /* all of them; else the best one of each chart */
};
struct registry_hit {
    struct str name; /* "repository/chart" */
    struct str version, app_version, description;
    int score; /* the field that matched; lower is better */
};
struct registry_hits {
    struct arena *arena; /* where they are */
    struct registry_hit *items;
    size_t n, cap;
};
/* Adds what is found in one repository. */
NODISCARD int registry_search(struct registry_db *d, struct str repository,
                              const struct registry_query *query, struct registry_hits *hits,
                              struct err **err);
/* Helm's order: score, name, from new to old. */
void registry_hits_sort(struct registry_hits *h);

/* ---- fetching ---------------------------------------------------------------------------------------------------- */

/* Credentials of a repository. Strings in the arena they were made in. */
struct registry_auth {
    struct str user, password, bearer;
    struct str ca_pem, cert_pem, key_pem;
    struct str proxy_user, proxy_password; /* for the source's proxy */
    struct str
        logins; /* of registries: the text of a docker config.json; used when there is no user or bearer */
};
/* From a Secret's data: user|username, password, token, proxyUsername, proxyPassword, ca.crt|caFile, tls.crt|certFile, tls.key|keyFile,
 * .dockerconfigjson|config.json; values that were encoded twice are recognised. INVALID naming the missing key. */
NODISCARD int registry_auth_from_secret(struct arena *a, struct value secret, struct registry_auth *ret,
                                        struct err **err);

/* Where charts come from, and as whom. */
struct registry_source {
    struct http_client *http;
    struct str name;                  /* of the repository, for messages */
    struct str url;                   /* http(s)://… or oci://host/path */
    const struct registry_auth *auth; /* may be NULL; sent to the url's origin alone */
    struct str auth_secret;           /* that registry_source_login() reads; "" for none */
    const char *proxy;                /* NULL: from the environment */
    bool pass_credentials;            /* ... or to every server that the index names */
    bool insecure;                    /* certificates are not checked */
    bool plain_http;                  /* registries speak http */
    bool files;                       /* file:// URLs are read: for command lines only */
    unsigned refuse_nets;             /* http.h; 0: none */
    int64_t deadline_ms;              /* 0: 60 s */
    int64_t interval_ms;              /* between two looks at its index */
    struct value verify;              /* spec.verify of the Repository, for registry_policy_read() */
};
/* GET <url>/index.yaml into a new file at `path`. 1: new bytes; *ret has the url, etag, last_modified and digest to remember, in
 * `a`. 0: the server says that nothing has changed since `known` (may be NULL). The error reads as Helm's: looks like "URL" is not a valid chart
 * repository or cannot be reached: … */
NODISCARD int registry_fetch_index(const struct registry_source *s, struct arena *a,
                                   const struct registry_fetched *known, const char *path,
                                   struct registry_fetched *ret, struct err **err);
/* For a registry, which has no index: writes one of the tags of these charts, below the source's url; charts that it has not
 * are left out. 1: written; 0: the same as `known` (may be NULL) was made from. NOT_FOUND when it has none of them. */
NODISCARD int registry_fetch_tags(const struct registry_source *s, struct arena *a,
                                  const struct registry_fetched *known, const struct str *charts, size_t n,
                                  const char *path, struct err **err);
/* Appends what an http, https, oci or (with s->files) file URL names; `max` bytes at most. An archive of a registry is its chart
 * layer, with ".prov" behind the URL its provenance. "failed to fetch URL : 404 Not Found". */
NODISCARD int registry_fetch_url(const struct registry_source *s, struct str url, size_t max, struct buf *out,
                                 struct err **err);
struct oci_client;
/* A client of a registry as this source's identity; what it needs lives in `a`. */
NODISCARD int registry_oci_open(const struct registry_source *s, struct arena *a, struct str host,
                                struct oci_client **ret, struct err **err);
/* The archive of a version: its urls are tried in order; checked against the entry's digest. Appends to `out`. DIGEST with both
 * digests; NOT_FOUND for an entry without urls. */
NODISCARD int registry_fetch_chart(const struct registry_source *s, const struct registry_version *v,
                                   struct buf *out, struct err **err);
/* "http://proxy:3128" with the login in it, as libcurl wants it; `proxy` itself when there is none. In `a`. */
const char *registry_proxy_url(struct arena *a, const char *proxy, const struct registry_auth *auth);
/* A chart URL as the index gives it, resolved against the repository's (RFC 3986; the repository's query is kept). In `a`. */
struct str registry_resolve_url(struct arena *a, struct str repository_url, struct str chart_url);
/* Scheme and host in lower case, default port and trailing slash dropped: for comparing. In `a`. */
struct str registry_normalize_url(struct arena *a, struct str url);

/* ---- chart references --------------------------------------------------------------------------------------------
 * How a command line or a Chart.yaml names a chart, resolved as Helm's ChartDownloader does, with its words:
 *
 *   "web"  with `repository` "https://charts.example.com" (--repo, a dependency's repository), "oci://host/charts" (the same),
 *          "@name" or "alias:name" (of repositories.yaml)
 *   "stable/web"                           a repository of repositories.yaml and its cached index
 *   "https://host/web-1.0.0.tgz"           an archive; the version is not looked at
 *   "oci://host/charts/web[:tag][@sha256:…]"
 *   "file:///dir/web-1.0.0.tgz"            with source.files
 *
 * Paths are the caller's business. */

enum registry_verify { /* Helm's strategies (pkg/downloader) */
                       REGISTRY_VERIFY_NEVER,
                       REGISTRY_VERIFY_LATER, /* the provenance file is fetched when it is there, and not looked at */
                       REGISTRY_VERIFY_IF_POSSIBLE, /* it must be good when it is there; that it is not is told on `line` */
                       REGISTRY_VERIFY_ALWAYS,
};

struct registry_locator {
    struct registry_source source; /* http, auth, flags; name and url are not looked at */
    const char *repositories;      /* helm's repositories.yaml; absent is fine */
    const char *cache;             /* folder with <name>-index.yaml of those */
    const char *logins; /* helm's registry/config.json; docker's is looked at behind it; absent is fine */
    bool
        configured; /* a `repository` URL that is one of repositories.yaml: with its credentials (dependencies) */
    enum registry_verify verify;
    const char *keyring; /* file of public keys, for those that verify */
    void (*line)(void *ctx,
                 struct str text); /* "Pulled: …", "WARNING: …": what helm prints on the way; may be NULL */
    /* An index does not have the version that was asked for, and another one is taken; may be NULL. */
    void (*other_version)(void *line_ctx, struct str chart, struct str requested, struct str selected);
    void *line_ctx;
};
struct registry_found {
    struct arena *memory;     /* the strings */
    struct str name, version; /* as the index or the registry has them; "" of a plain URL */
    struct str url;           /* of the archive: "https://…/web-1.0.0.tgz", "oci://host/charts/web:1.0.0" */
    struct str file;          /* name for it on disk: "web-1.0.0.tgz" */
    struct str digest;        /* sha256 of the archive, hex; after fetching */
    struct buf archive;
    struct buf prov;                   /* empty when none was asked for, or there is none */
    struct provenance_verified signer; /* when it was verified; in `memory` */
    struct str reference;              /* what was asked for, for messages */
    struct registry_source source;     /* private: who to fetch it as */
    struct registry_auth auth;
    struct registry_version entry;
};
void registry_found_done(struct registry_found *f);
DEFINE_CLEANUP_VALUE(struct registry_found, registry_found_done)
/* Name, version and URL, without the archive: "" is the newest stable version, ranges as Helm. NOT_FOUND (repo x not found; chart
 * "x" version "1" not found in URL repository; …), INVALID, and what fetching the index fails with. */
NODISCARD int registry_resolve(const struct registry_locator *l, struct str reference, struct str repository,
                               struct str version, struct registry_found *ret, struct err **err);
/* The archive (and provenance) of what was resolved, checked against the index's or manifest's digest, and verified as l->verify
 * says: failed to fetch provenance "URL.prov", and what provenance_verify() fails with. */
NODISCARD int registry_fetch_found(const struct registry_locator *l, struct registry_found *f,
                                   struct err **err);
/* Both. */
NODISCARD int registry_locate(const struct registry_locator *l, struct str reference, struct str repository,
                              struct str version, struct registry_found *ret, struct err **err);

/* The same for an archive of a web server that somebody else fetched from `url`; `reference` is for messages. */
struct registry_archive {
    struct str url, file, packed, reference;
};
NODISCARD int registry_verify_archive(const struct registry_locator *l, const struct registry_source *s,
                                      struct arena *a, const struct registry_archive *x, struct buf *prov,
                                      struct provenance_verified *ret, struct err **err);

/* The annotations of a chart's manifest as helm push writes them (pkg/registry/chart.go): what the chart says about itself, then
 * its own annotations, which may replace all but title and version. In `a`. */
struct value registry_chart_annotations(struct arena *a, const struct metadata *md, struct str created);

struct registry_push {
    struct str archive, prov; /* prov "" when there is none */
    const struct metadata *metadata;
    struct str created; /* RFC 3339 */
};
/* Uploads to remote/<name>:<version> as helm push does; tells on l->line. UNSUPPORTED: scheme "http" not supported. */
NODISCARD int registry_push(const struct registry_locator *l, const struct registry_push *p,
                            struct str remote, struct err **err);
/* Does the registry let this login in? Then it is written to the file l->logins (0600). `host` "registry.example.com:5000". */
NODISCARD int registry_login(const struct registry_locator *l, struct str host, struct str user,
                             struct str password, struct err **err);
/* Takes the login out of the file; none there is fine. */
NODISCARD int registry_logout(const struct registry_locator *l, struct str host, struct err **err);

/* ---- helm's files ------------------------------------------------------------------------------------------------- */

/* helm's cache, a folder with <name>-index.yaml and <name>-charts.txt for each repository; the database is in the same folder.
 * Fetches the index when the server has something new. Errors as registry_fetch_index() and registry_index_load().
 * `meanwhile` is called once, when the server has been asked or before, unless there is an error earlier; NULL: there is nothing
 * else to do. */
struct registry_meanwhile {
    void (*fn)(void *ctx);
    void *ctx;
};
NODISCARD int registry_cache_update(struct registry_db *d, const char *cache, const struct registry_source *s,
                                    const struct registry_meanwhile *meanwhile, struct err **err);
/* Brings the database up to date with the cached index, whoever wrote it. NOT_FOUND when there is none. */
NODISCARD int registry_cache_open(struct registry_db *d, const char *cache, struct str name, struct str url,
                                  struct err **err);
NODISCARD int registry_cache_remove(struct registry_db *d, const char *cache, struct str name,
                                    struct err **err);

/* One row of helm's repositories.yaml. */
struct registry_entry {
    struct str name, url, user, password;
    struct str ca_file, cert_file, key_file;
    bool insecure, pass_credentials;
};
/* All rows, in the file's order; in `a`. None when the file is absent. PARSE naming the file. */
NODISCARD int registry_entries_read(struct arena *a, const char *path, struct registry_entry **ret,
                                    size_t *ret_n, struct err **err);

/* ---- the kinds Repository and RepoGroup ---------------------------------------------------------------------------- */

/* Work that follows a Repository's index, in the same reconcile: what it finds is part of the same status. */
struct registry_follow {
    struct kube *kube;
    struct arena *arena;
    struct value object; /* the Repository, as it was read */
    const struct registry_source *source;
    struct registry_db *db; /* has the index under the Repository's name */
    struct str index_digest;
    bool waits; /* the status has to be written first: nothing is to be done now, but again_ms is heeded */
};
struct registry_followed {
    struct kube_condition condition; /* as `other` of struct controller_report */
    struct value fields;             /* members of the status; null: as they are */
    int64_t again_ms;                /* 0: with the next look at the index */
};
struct registry_follower {
    void (*run)(void *ctx, const struct registry_follow *call, struct registry_followed *ret);
    void (*forget)(void *ctx, struct str repository); /* the Repository is gone */
    void *ctx;
};

struct registry_manager;
struct registry_manager_options {
    struct kube *kube;              /* referenced */
    struct kube_recorder *recorder; /* borrowed; may be NULL */
    struct http_client *http;       /* borrowed */
    struct registry_db *db;         /* borrowed */
    struct str ns;                  /* where Secrets are looked up and index ConfigMaps go */
    unsigned refuse_nets;
    struct registry_follower follower; /* run may be NULL */
};
struct registry_manager *registry_manager_new(const struct registry_manager_options *o) NODISCARD;
void registry_manager_free(struct registry_manager *m); /* may be NULL */
DEFINE_CLEANUP(struct registry_manager *, registry_manager_free)
const struct controller_kind *registry_manager_kinds(struct registry_manager *m, size_t *ret_n);

/* The repository behind a Repository object, without credentials: one read. *ret lives in `a`. NOT_FOUND naming the Repository. */
NODISCARD int registry_source_read(struct registry_manager *m, struct arena *a, struct str repository,
                                   struct registry_source *ret, struct err **err);
/* For who fetches of it: reads its Secret, when it has one, into *auth, which stays with the source. Once is enough: then it does
 * nothing. Strings live in `a`. NOT_FOUND or INVALID naming the Secret. */
NODISCARD int registry_source_login(struct registry_manager *m, struct arena *a,
                                    struct registry_source *source, struct registry_auth *auth,
                                    struct err **err);
struct registry_db *registry_manager_db(struct registry_manager *m);
/* The Repository object whose URL is the same after normalising, or whose name is the alias ("@name", "alias:name"); ""
 * when there is none. In `a`. */
NODISCARD int registry_find_by_url(struct registry_manager *m, struct arena *a, struct str url,
                                   struct str *ret, struct err **err);

/* ---- signatures of what a Chart keeps -------------------------------------------------------------------------------- */

/* `spec.verify` of a Chart or Repository. */
struct registry_policy {
    enum registry_verify verify; /* NEVER, IF_POSSIBLE (ifPresent) or ALWAYS */
    bool is_cosign;              /* signatures of cosign beside a registry's chart; else provenance files */
    struct str secret;           /* where the keys are from */
    struct str *keys;            /* keyrings, or PEM keys */
    size_t n_keys;
    struct str
        digest; /* of all this: what was verified with another one has to be verified again; "" for NEVER */
};
/* Keys are read from the Secret in the controller's namespace; `verify` null is NEVER. Lives in `a`. NOT_FOUND and INVALID naming
 * the field and the Secret. */
NODISCARD int registry_policy_read(struct registry_manager *m, struct arena *a, struct value verify,
                                   struct registry_policy *ret, struct err **err);

struct registry_signature {
    const struct registry_source *source;
    const struct registry_policy *policy;
    const struct registry_version *version; /* with its entry */
    struct str digest;                      /* SHA-256 of the archive, hex in lower case */
    /* Told: */
    struct str signer;  /* who signed, for people; "" when nobody did and the policy lets that pass; in `a` */
    const char *reason; /* of a failure: one of the words in docs/reasons.md */
    bool is_refused;    /* a failure that is about the signature, and not about fetching it */
};
/* Fetches the signature as the source's identity and checks it. Whatever is not a good signature is a failure, but for none with
 * IF_POSSIBLE: there the server must have said that there is none (404, no such layer). */
NODISCARD int registry_signature_check(struct arena *a, struct registry_signature *s, struct err **err);

/* ---- a folder of archives as a repository ---------------------------------------------------------------------------- */

struct registry_index_options {
    struct str url; /* stands before file names; may be empty */
    const char *
        merge; /* another index, whose versions come in unless they are there; made when it is absent. NULL: none */
    bool json;
};
/* The index.yaml of the .tgz files in a folder and one level below, as `helm repo index` writes it. Those that are no charts
 * are left out. */
NODISCARD int registry_index_folder(const char *folder, const struct registry_index_options *o,
                                    struct buf *out, struct err **err);

/* What an index says about the archive `packed`: its metadata, `created` and digest; no urls. Both live in `a`. PARSE for what is
 * no chart archive, INVALID for metadata that Helm refuses. */
NODISCARD int registry_archive_entry(struct arena *a, struct str packed, struct wall_time created,
                                     struct metadata *ret, struct value *ret_entry, struct err **err);

struct registry_server;
/* Serves the folder over HTTP: index.yaml (made when it is absent or older than an archive), archives, provenance files,
 * /healthz; ETag, ranges. `address` "127.0.0.1:8879"; port 0 chooses one. */
NODISCARD int registry_serve(const char *folder, const char *address, struct registry_server **ret,
                             struct err **err);
int registry_server_port(const struct registry_server *s);
void registry_server_stop(struct registry_server *s); /* may be NULL */
DEFINE_CLEANUP(struct registry_server *, registry_server_stop)
/* Writes the file (0600): these rows, in this order. What else it says stays: its apiVersion and time. `staged` may be NULL: else it
 * is taken if it is the same. */
struct fs_staged;
NODISCARD int registry_entries_write(const char *path, const struct registry_entry *entries, size_t n,
                                     struct fs_staged *staged, struct err **err);
/* What that would write is brought to the disk (fs_stage()); NULL where it cannot be. */
struct fs_staged *registry_entries_stage(const char *path, const struct registry_entry *entries, size_t n)
    NODISCARD;
/* Who a repository is spoken to as: the locator's flags, and what its row says, which goes first. Strings in `a`; *ret has a
 * source and the credentials that it points to. */
NODISCARD int registry_entry_source(const struct registry_locator *l, struct arena *a,
                                    const struct registry_entry *e, struct registry_found *ret,
                                    struct err **err);

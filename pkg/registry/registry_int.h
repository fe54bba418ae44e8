/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* registry_int: what the files of this module share. */
#include "base/digest.h"
#include "base/map.h"
#include "db/db.h"
#include "registry/registry.h"

#define REGISTRY_API_VERSION "pintle.dev/v1alpha1"
#define REGISTRY_FIELD_MANAGER "pintle"

/* ---- files of the database (db.c) --------------------------------------------------------------------------------- */

/* One repository's file, open. Counted: a file that was replaced or set aside lives until its last user is done. */
struct index_file;
struct db *index_file_db(const struct index_file *f);
/* 1, or 0 when there is none. Release with index_file_unref(). What cannot be opened is set aside and counts as none. */
NODISCARD int index_file_open(struct registry_db *d, struct str repository, struct index_file **ret,
                              struct err **err);
void index_file_unref(struct index_file *f); /* may be NULL */
DEFINE_CLEANUP(struct index_file *, index_file_unref)
/* True when a failure means damage (`cause` then says so in the log): the file was set aside and is gone. */
bool index_file_discard(struct registry_db *d, struct str repository, struct index_file *f, int r,
                        const struct err *cause);
/* The chart's digest was found to be right since the file was opened. */
bool index_file_is_verified(struct index_file *f, struct str chart, const unsigned char *digest);
void index_file_set_verified(struct index_file *f, struct str chart, const unsigned char *digest);

/* An empty file beside the repository's, to be filled and put in its place. *ret_path is owned by the caller. */
NODISCARD int index_file_begin(struct registry_db *d, struct str repository, struct db **ret, char **ret_path,
                               struct err **err);
NODISCARD int index_file_replace(struct registry_db *d, struct str repository, const char *path,
                                 struct err **err);
/* Where the text of an index is put before it is loaded; owned by the caller. What a process leaves there that dies is removed by
 * the next one. */
char *index_file_download_path(struct registry_db *d, struct str repository);
/* One load of a repository at a time within the process. */
void index_load_lock(struct registry_db *d, struct str repository);
void index_load_unlock(struct registry_db *d, struct str repository);

/* ---- rows (catalog.c) ----------------------------------------------------------------------------------------------- */

enum { INDEX_HASH = REGISTRY_HASH };

/* The chart's row: all versions in Helm's order. */
void index_catalog_encode(const struct registry_version *items, size_t n, struct buf *out);
/* SHA-256 over the chart's name and its catalogue, which holds the hash of each entry. */
void index_catalog_digest(struct str chart, struct str text, unsigned char out[DIGEST_BYTES_MAX]);
/* XXH3's 128 bits: tells damage and change. Against malice it need not be: who could choose two texts of one hash is who writes
 * the index. */
void index_hash(struct str text, unsigned char out[INDEX_HASH]);
/* What a row of `entries` holds as a value: the index's own bytes (a list of one item in YAML, or JSON), or JSON that we wrote
 * because they could not be cut out. To be made usable by one of the two below. Strings may be borrowed from `text`. */
NODISCARD int index_entry_parse(struct arena *a, struct str text, struct value *ret, struct err **err);
/* The one item of a list that has one. */
bool index_entry_unwrap(struct value list, struct value *ret);
void index_entry_make_strings(struct arena *a, struct value entry); /* what Go reads as a string is one */
/* The same for an entry that was never looked at. False when it fails Helm's validation. */
bool index_entry_read(struct arena *a, struct value entry, struct registry_version *ret);

/* registry_pick() in the chart's row, decoding no more than it must: 1; 0 when there is no such chart; -ERRC_NOT_FOUND without an
 * error when it has no such version. */
NODISCARD int index_catalog_pick(struct index_file *f, struct db_txn *t, struct str chart, struct str wanted,
                                 struct arena *a, struct registry_version *ret, struct err **err);

/* The one row about the repository; `list` is over the names and digests of its charts in their order. */
struct index_row {
    struct registry_fetched fetched;
    struct str name, list;
};
NODISCARD int index_row_read(struct db_txn *t, struct str repository, struct arena *a, struct index_row *ret,
                             bool *ret_found, struct err **err);
NODISCARD int index_row_write(struct db_txn *t, const struct index_row *row, struct err **err);
/* The list digest as the rows have it. */
NODISCARD int index_list_digest(struct db_txn *t, struct buf *out, struct err **err);
/* 1, or 0 when the chart has no row. Strings in `a`. */
NODISCARD int index_catalog_read(struct index_file *f, struct db_txn *t, struct str chart, struct arena *a,
                                 struct registry_version **ret, size_t *ret_n, struct err **err);

/* ---- reading an index (index.c) -------------------------------------------------------------------------------------- */

struct index_sink;
/* What a reader of an index's text hands over, in the order of the text. Names and values are borrowed for the call. */
NODISCARD int index_sink_chart(struct index_sink *s, struct str chart,
                               struct err **err); /* EXISTS: a second time */
/* The same: 1; 0 for a second time, which is for libyaml to report: it knows the line. */
NODISCARD int index_sink_chart_once(struct index_sink *s, struct str chart, struct err **err);
/* `text`: its bytes in the index, which index_entry_parse() can read; "" when they cannot be told apart. */
NODISCARD int index_sink_entry(struct index_sink *s, struct arena *a, struct value entry, struct str text,
                               struct err **err);
/* One that index_entry_read() has read already; NULL: it fails the validation. `text` is not empty. */
NODISCARD int index_sink_item(struct index_sink *s, const struct registry_version *item, struct str text,
                              struct err **err);
/* How many entries of the current chart were taken. */
size_t index_sink_n(const struct index_sink *s);
struct index_twin_found;
/* An entry like the current chart's number `at`. */
NODISCARD int index_sink_twin(struct index_sink *s, size_t at, const struct index_twin_found *twin,
                              struct err **err);
bool index_sink_updates(const struct index_sink *s); /* the present file; else a new one is filled */
bool index_sink_knows(const struct index_sink *s);   /* the present file has entries of the current chart */
/* Is an entry of these bytes among those of the current chart in the present file? Then it is taken over. */
bool index_sink_reuse(struct index_sink *s, struct str text);
NODISCARD int index_sink_chart_end(struct index_sink *s, struct err **err);

struct index_arrival;
/* The bytes of an index as they come from its file. */
struct index_source {
    int fd;
    size_t bytes, max;
    struct digest *digest;
    struct index_arrival *arrival; /* NULL: all of it is there */
};
/* yml_read_fn */
int index_source_read(void *ctx, char *to, size_t n, struct err **err);

/* 1: all was read; 0: not certain of this text, read it in another way (what was handed over is void); or a failure. */
NODISCARD int index_read_block(struct index_source *from, struct index_sink *to, struct err **err);
NODISCARD int index_read_json(struct index_source *from, struct index_sink *to, struct err **err);
NODISCARD int index_read_yaml(struct index_source *from, struct index_sink *to, struct err **err);

/* ---- kinds ------------------------------------------------------------------------------------------------------------ */

struct registry_manager {
    struct kube *kube;
    struct kube_recorder *recorder;
    struct http_client *http;
    struct registry_db *db;
    char *ns;
    unsigned refuse_nets;
    struct registry_follower follower;
    struct controller_watch watches[4];
    struct controller_kind kinds[2];
};
struct oci_ref;
/* The versions that a chart's tags stand for, newest first; in `a`. */
NODISCARD int registry_oci_versions(struct oci_client *c, struct arena *a, const struct oci_ref *ref,
                                    struct str **ret, size_t *ret_n, struct err **err);

/* "https://h/charts/web-1.0.0%2Bb.tgz?sig=1" is saved as "web-1.0.0+b.tgz"; in `a`. */
NODISCARD int registry_name_of_url(struct arena *a, struct str url, struct str *ret, struct err **err);
/* "https://h/web.tgz?sig=1" has its provenance at "https://h/web.tgz.prov?sig=1"; in `a`. */
struct str registry_prov_url(struct arena *a, struct str url);

/* Told how many bytes came to the file, on the thread that fetches. */
struct index_progress {
    void (*fn)(void *ctx, size_t n);
    void *ctx;
};
/* registry_fetch_index(); `progress` may be NULL. With it there is no digest: whoever follows it reads the text itself. */
NODISCARD int index_fetch(const struct registry_source *s, struct arena *a,
                          const struct registry_fetched *known, const char *path,
                          const struct index_progress *progress, struct registry_fetched *ret,
                          struct err **err);
/* registry_fetch_index() and registry_index_load() of a repository of which nothing is known, at once: the index is read while it
 * arrives in the file. The file's stamp is remembered. 1; 0: the server says that it has nothing new. Files are no source.
 * `meanwhile` may be NULL. */
NODISCARD int index_fetch_and_load(struct registry_db *d, const struct registry_source *s, const char *path,
                                   const struct registry_meanwhile *meanwhile, struct arena *a,
                                   struct registry_loaded *ret, struct err **err);

/* registry_fetch_chart() that tells which of the urls (in `a`) it was. */
NODISCARD int registry_fetch_version(const struct registry_source *s, struct arena *a,
                                     const struct registry_version *v, struct buf *out, struct str *ret_url,
                                     struct err **err);

/* The locator's flags, for the server of `url`. */
void registry_use_flags(const struct registry_locator *l, struct str url, struct registry_found *f);
/* The locator's flags and logins, for a registry. f->source and f->auth are set; strings in `a`. */
NODISCARD int registry_use_registry(const struct registry_locator *l, struct arena *a,
                                    const struct oci_ref *ref, struct registry_found *f, struct err **err);
/* "Pulled: host/charts/web:1.0.0", "Digest: sha256:…", and Helm's words about underscores. */
void registry_say_transferred(const struct registry_locator *l, struct arena *a, const char *verb,
                              const struct oci_ref *ref, struct str digest);

int repository_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                         struct err **err);
int repogroup_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                        struct err **err);

/* The Chart object of a chart that a Repository lists. In `a`. */
struct str repository_chart_name(struct arena *a, struct str chart, struct str repository);

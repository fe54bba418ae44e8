/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* registry_int: what the files of this module share. */
#include "db/db.h"
#include "registry/registry.h"

#define REGISTRY_API_VERSION "pintle.dev/v1alpha1"
#define REGISTRY_FIELD_MANAGER "pintle"

struct db *registry_db_handle(struct registry_db *d);
/* Deletes what a repository has in the database, within the transaction. */
NODISCARD int registry_db_clear(struct db_txn *t, struct str repository, struct err **err);

struct registry_manager {
    struct kube *kube;
    struct kube_recorder *recorder;
    struct http_client *http;
    struct registry_db *db;
    char *ns;
    const char *temp_dir;
    unsigned refuse_nets;
    struct controller_watch watches[4];
    struct controller_kind kinds[2];
};
struct oci_client;
struct oci_ref;
/* A client of a registry as this source's identity; what it needs lives in `a`. */
NODISCARD int registry_oci_open(const struct registry_source *s, struct arena *a, struct str host,
                                struct oci_client **ret, struct err **err);
/* The versions that a chart's tags stand for, newest first; in `a`. */
NODISCARD int registry_oci_versions(struct oci_client *c, struct arena *a, const struct oci_ref *ref,
                                    struct str **ret, size_t *ret_n, struct err **err);

/* registry_fetch_chart() that tells which of the urls (in `a`) it was. */
NODISCARD int registry_fetch_version(const struct registry_source *s, struct arena *a,
                                     const struct registry_version *v, struct buf *out, struct str *ret_url,
                                     struct err **err);

void registry_say(const struct registry_locator *l, struct str text);
/* "Pulled: host/charts/web:1.0.0", "Digest: sha256:…", and Helm's words about underscores. */
void registry_say_transferred(const struct registry_locator *l, struct arena *a, const char *verb,
                              const struct oci_ref *ref, struct str digest);

int repository_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                         struct err **err);
int repogroup_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                        struct err **err);

/* The Chart object of a chart that a Repository lists. In `a`. */
struct str repository_chart_name(struct arena *a, struct str chart, struct str repository);

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
int repository_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                         struct err **err);
int repogroup_reconcile(void *ctx, const struct controller_call *call, struct controller_result *ret,
                        struct err **err);

/* The Chart object of a chart that a Repository lists. In `a`. */
struct str repository_chart_name(struct arena *a, struct str chart, struct str repository);

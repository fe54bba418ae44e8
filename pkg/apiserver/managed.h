/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* managed: metadata.managedFields in memory. */
#include "apiserver/fieldset.h"

struct managed_entry {
    struct str manager, api_version, subresource;
    bool applied;      /* operation Apply; else Update */
    struct value time; /* a string, or null: none */
    const struct fieldset *set;
};

/* Entries are found by who they are: manager, operation, subresource, and for updates the version. */
struct managed {
    struct arena *arena;
    struct managed_entry *items;
    size_t n, cap;
};

struct managed_entry *managed_find(const struct managed *m, const struct managed_entry *like); /* or NULL */
struct managed_entry *managed_put(struct managed *m, const struct managed_entry *e); /* finds or adds */
void managed_drop_empty(struct managed *m);
bool managed_same(const struct managed_entry *a, const struct managed_entry *b); /* the same one? */

/* From the list; false when it is no valid managedFields. Null and absent are empty. */
bool managed_parse(struct value list, struct managed *ret); /* ret->arena is set */
struct value managed_value(struct managed *m); /* sorted as the API server sorts; null when empty */

/* The order in which messages name them. */
int managed_compare_identity(const struct managed_entry *a, const struct managed_entry *b);
/* `"kubectl" with subresource "status" using apps/v1` */
void managed_print(const struct managed_entry *e, struct buf *out);

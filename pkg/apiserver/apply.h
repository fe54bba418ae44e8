/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* apply: server-side apply and managedFields, as apimachinery's managedfields on structured-merge-diff v6.
 *
 * Both calls work on whole objects with metadata.managedFields inside and return the object to be stored. They are pure:
 * storage, admission and validation belong to the caller. A managedFields entry keeps its time when its set did not
 * change, so an unchanged object compares equal. */
#include "apiserver/invalid.h"
#include "apiserver/kinds.h"
#include "base/arena.h"
#include "base/clock.h"

struct api_apply_options {
    struct str manager; /* fieldManager; for updates the caller falls back to the User-Agent's first part */
    struct str api_version; /* "apps/v1": the version the request and all values here are in */
    struct str subresource; /* "", "status", "scale", ... */
    bool force;             /* apply only */
    bool has_status;        /* the kind has a status subresource: the main endpoint does not own status */
    bool custom;            /* a custom resource (its status endpoint resets metadata too) */
    struct wall_time now;
};

#define API_APPLY_MANAGER_MAX 128

/* The result may hold empty and null members: a built-in object goes through api_schema_decode_type() next, as Go's
 * conversion does it; then come defaults.
 *
 * Server-side apply of `config` onto `live` (null: the object is new; then the result is what to create). Fails with
 * CONFLICT (409, reason Conflict; one cause FieldManagerConflict per field in `conflicts`) when other managers own
 * fields that would change and force is off; INVALID 400 for a config that does not fit the schema (duplicate list
 * keys, metadata.managedFields set, ...). The message is the real server's:
 * `Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas`. */
NODISCARD int api_apply_patch(struct arena *a, struct api_ref type, const struct api_apply_options *o,
                              struct value live, struct value config, struct api_causes *conflicts,
                              struct value *ret, struct err **err);

/* Ownership after any other write: `live` null for a create. `object` is the new object as the client wants it (its
 * managedFields may be the live ones, changed by the client, or emptied to reset). Never conflicts. */
NODISCARD int api_apply_update(struct arena *a, struct api_ref type, const struct api_apply_options *o,
                               struct value live, struct value object, struct value *ret, struct err **err);

/* Equal apart from the times in managedFields: then a write is no write. */
bool api_apply_same(struct value a, struct value b);

/* 422 texts for fieldManager (too long, unprintable); `apply` also requires one. Adds to `causes`. */
void api_apply_check_manager(struct str manager, bool apply, struct api_causes *causes);

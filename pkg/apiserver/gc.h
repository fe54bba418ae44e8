/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gc: garbage collection by owner references (pkg/controller/garbagecollector). Failures are left for the next turn. */
#include "apiserver/server.h"

/* Decides about an object by the state of its owners: kept, freed of references to absent owners, or deleted. */
void api_gc_object(struct apiserver *s, const struct api_key *key);
/* An object that waits for its dependents: finalizers foregroundDeletion and orphan. */
void api_gc_owner(struct apiserver *s, const struct api_key *key);
/* Its owner is gone: everything that referred to it. */
void api_gc_dependents(struct apiserver *s, struct str uid);
/* A dependent is gone: owners that waited for it. `json` is its last state. */
void api_gc_owners_of(struct apiserver *s, const struct api_key *key, struct str json);

/* Deletes all objects of a resource ("" ns: everywhere); how many are still there afterwards (finalizers). */
size_t api_gc_empty(struct apiserver *s, struct str resource, struct str ns);
/* Removes a finalizer from metadata.finalizers. */
void api_gc_drop_finalizer(struct apiserver *s, const struct api_key *key, const char *finalizer);

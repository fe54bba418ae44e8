/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* wake: watches that are there because of what Releases install and read: the kinds of their objects, the ConfigMaps and
 * Secrets of valuesFrom, Helm's records. They run under the controller's identity and only wake; what it may not watch is looked
 * at in intervals instead. Private to the module. */
#include "controller/controller.h"
#include "release/object.h"

struct release_manager;

struct wake;
struct wake *wake_new(struct release_manager *m) NODISCARD;
void wake_free(struct wake *w); /* may be NULL */

/* Changes of the objects of these kinds wake the Releases whose objects they are. False when one of the kinds cannot be
 * watched. */
bool wake_on_objects(struct wake *w, struct arena *a, const struct release_objects *objects);
/* Changes of what valuesFrom names wake the Releases of the namespace that name it. */
void wake_on_values(struct wake *w, struct arena *a, struct str ns, struct value values_from);
/* Records that another tool writes wake their Release. */
void wake_on_records(struct wake *w, struct arena *a);

/* Index keys under which the watch "releases" notes a Release. In `a`. */
struct str wake_target_key(struct arena *a, struct str target_ns, struct str release);
struct str wake_values_key(struct arena *a, struct str kind, struct str ns, struct str name);

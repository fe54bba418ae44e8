/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* object: the objects of a manifest, ready for the cluster: scope resolved, lists flattened, owner written on them. */
#include "base/arena.h"
#include "base/err.h"
#include "kube/kube.h"
#include "value/value.h"

struct release_object {
    struct kube_ref ref;
    struct str path; /* the template it came from; "" when unknown */
    struct value body;
};
struct release_objects {
    struct release_object *items; /* in install order */
    size_t n;
};

/* Whose the objects are: label and annotations that Helm puts on live objects (pkg/action/validate.go). */
struct release_owner {
    struct str release, ns;
};

/* The documents of a manifest text. Kinds are looked up through `k` for their scope: namespaced objects without a
 * namespace get owner->ns. `List` kinds are flattened. INVALID naming the template for a document without kind or
 * name; NOT_FOUND (kube_err_is_no_match()) for an unknown kind; LIMIT over RELEASE_OBJECTS_MAX. */
NODISCARD int release_objects_parse(struct kube *k, struct arena *a, struct str manifest,
                                    const struct release_owner *owner, struct release_objects *ret,
                                    struct err **err);
/* The same, but objects of unknown kinds are left out: for what older revisions left behind. */
NODISCARD int release_objects_parse_known(struct kube *k, struct arena *a, struct str manifest,
                                          const struct release_owner *owner, struct release_objects *ret,
                                          struct err **err);

/* A copy with Helm's ownership metadata on it. */
struct value release_object_owned(struct arena *a, struct value body, const struct release_owner *owner);
/* Does a live object's metadata say that it belongs to this release? */
bool release_owner_matches(struct value live, const struct release_owner *owner);
/* Appends what is wrong with its ownership, in Helm's words ("label validation error: missing key …; annotation …"). */
void release_owner_explain(struct value live, const struct release_owner *owner, struct buf *out);

/* The object of the same group, kind, namespace and name (the version does not matter), or NULL. */
const struct release_object *release_objects_find(const struct release_objects *set,
                                                  const struct kube_ref *ref);
/* What is in `before` and not in `now`, in uninstall order, in `a`. */
struct release_objects release_objects_removed(struct arena *a, const struct release_objects *before,
                                               const struct release_objects *now);
/* `helm.sh/resource-policy: keep` in a manifest or live object (trimmed, any case). */
bool release_object_is_kept(struct value body);
/* The end of the run of equal kinds that starts at `from`: what may be written together. */
size_t release_objects_group_end(const struct release_objects *set, size_t from);

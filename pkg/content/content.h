/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* content: files kept in ConfigMaps, without loss: readable where they are small text, compressed and split where they are
 * not, checked against digests when they are read.
 *
 * A set of files is one ConfigMap, or several parts (NAME, NAME.part2, …) when it is larger than CONFIGMAP_PART_MAX. Part 1
 * holds the table of contents (key "contents"): for each file its path, size, sha256, encoding and the keys it is in. */
#include "base/arena.h"
#include "base/err.h"
#include "kube/kube.h"
#include "value/value.h"

struct content_file {
    struct str path, data;
    struct str key; /* wanted key, "" to derive it from the path */
};

struct content_set {
    struct str ns, name;
    struct value labels, annotations; /* maps of strings; what identifies the set */
    struct value owner;               /* an ownerReferences item, or null */
    bool immutable;
};

/* "helm-tmpl-REPO-CHART-VERSION" and the like: `kind` is "tmpl", "crds" or "default"; `version` empty and kind "index" gives
 * "helm-REPO-CHART-index". That name when it is valid, at most 200 bytes, and the repository has no '-' in its name;
 * otherwise cut, with 8 hex digits of the identity's digest behind it. In `a`. */
struct str content_name(struct arena *a, const char *kind, struct str repository, struct str chart,
                        struct str version);
/* A label value for any text: itself when it is a valid one, else its cleaned beginning and 8 hex digits of its digest. */
struct str content_label(struct arena *a, struct str text);

/* The ConfigMaps for these files, parts in order, in `a`. Pure. */
struct value *content_objects(struct arena *a, const struct content_set *set,
                              const struct content_file *files, size_t n, size_t *ret_n) NODISCARD;
/* Writes them: creates what is absent, replaces what differs (an immutable part that differs is deleted first), deletes
 * parts that are left over. Part 1 comes last, so a reader never finds a table of contents before its parts. *ret_written
 * and *ret_parts (may be NULL) count write requests (0 when everything was there) and ConfigMaps. */
NODISCARD int content_write(struct kube *k, struct arena *a, const struct content_set *set,
                            const struct content_file *files, size_t n, size_t *ret_written,
                            size_t *ret_parts, struct err **err);
/* The files of a set, in their order; data and paths in `a`. NOT_FOUND when the set or a part is missing, DIGEST when a
 * file does not match the table, LIMIT over the caps for archives. */
NODISCARD int content_read(struct kube *k, struct arena *a, struct str ns, struct str name,
                           struct content_file **ret, size_t *ret_n, struct err **err);
/* The same from objects already read: parts[0] is part 1. */
NODISCARD int content_unpack(struct arena *a, const struct value *parts, size_t n_parts,
                             struct content_file **ret, size_t *ret_n, struct err **err);
/* All parts are deleted; absent is fine. */
NODISCARD int content_delete(struct kube *k, struct arena *a, struct str ns, struct str name,
                             struct err **err);
/* Of the ConfigMaps in `items` (their metadata is enough) deletes what a process left behind that died while it wrote or
 * deleted a set: parts without a part 1, or beyond what part 1 speaks of. Only those that belong to `owner`. */
NODISCARD int content_delete_strays(struct kube *k, struct arena *a, struct str ns, struct value items,
                                    struct value owner, struct err **err);

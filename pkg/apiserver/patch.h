/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* patch: the three patches that are not apply. Results are new values in `a` that share unchanged parts with their
 * inputs; the inputs are not changed. Errors carry the real server's code and reason (err_http_status()). */
#include "apiserver/kinds.h"
#include "base/arena.h"

/* RFC 6902 as evanphx/json-patch v4 does it for kube-apiserver. `ops` is the decoded body. 422 Invalid for a failed
 * operation, 400 for a malformed patch, 413 for more than 10000 operations. */
NODISCARD int api_patch_json(struct arena *a, struct value doc, struct value ops, struct value *ret,
                             struct err **err);

/* RFC 7386; 400 when the patch is not an object. */
NODISCARD int api_patch_merge(struct arena *a, struct value doc, struct value patch, struct value *ret,
                              struct err **err);

/* Strategic merge patch by the type's patchStrategy and patchMergeKey, with all directives ($patch, $retainKeys,
 * $setElementOrder, $deleteFromPrimitiveList). */
NODISCARD int api_patch_strategic(struct arena *a, struct api_ref type, struct value doc, struct value patch,
                                  struct value *ret, struct err **err);

/* 400 for a body that is no object: `<what>json: cannot unmarshal array into Go value of type map[string]interface {}`. */
int api_patch_fail_type(struct value patch, const char *what, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* typed: values together with their types, as server-side apply sees them (structured-merge-diff's typed). */
#include "apiserver/fieldset.h"
#include "apiserver/kinds.h"

/* Is the value what its type says? Lists of kind map and set must not repeat an item unless `duplicates`. INVALID with
 * structured-merge-diff's words, several in lines. */
NODISCARD int typed_check(struct arena *a, struct api_ref type, struct value v, bool duplicates,
                          struct err **err);

/* The paths of all leaves. */
const struct fieldset *typed_fields(struct arena *a, struct api_ref type, struct value v);

struct typed_comparison {
    const struct fieldset *added, *modified, *removed;
};
void typed_compare(struct arena *a, struct api_ref type, struct value before, struct value after,
                   struct typed_comparison *ret);

/* `change` laid over `base`; lists keep the order of `change` as far as it says. */
struct value typed_merge(struct arena *a, struct api_ref type, struct value base, struct value change);

struct value typed_remove(struct arena *a, struct api_ref type, struct value v, const struct fieldset *paths);

/* Fields of structs become members where paths lead through them. */
const struct fieldset *typed_with_parents(struct arena *a, struct api_ref type, const struct fieldset *s);

/* What tells an item of a list of kind map or set from others, in *ret; or the reason why there is none (else NULL). */
const char *typed_item_element(struct arena *a, struct api_ref list, struct value item, struct str *ret);

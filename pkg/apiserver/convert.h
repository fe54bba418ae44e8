/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* convert: between the version of a kind that is stored and the one a URL names. */
#include "apiserver/catalog.h"
#include "base/arena.h"

/* `v` may be changed. Custom kinds: apiVersion, pruning and defaults of the version's schema. */
NODISCARD int api_convert_from_stored(struct arena *a, const struct api_resource *res, struct value v,
                                      struct value *ret, struct err **err);
struct value api_convert_to_stored(struct arena *a, const struct api_resource *res, struct value v);

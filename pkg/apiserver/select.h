/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* select: label and field selectors of lists and watches (apimachinery's labels.Parse and fields.ParseSelector). */
#include "apiserver/catalog.h"
#include "apiserver/store.h"
#include "base/arena.h"
#include "base/err.h"

struct api_selector {
    struct api_label_term *labels;
    size_t n_labels;
    struct api_field_term *fields;
    size_t n_fields;
    struct str name, ns; /* what metadata.name= and metadata.namespace= ask for; "" any */
    bool needs_object;   /* a field term looks into the object */
    bool empty;          /* everything matches */
};

/* INVALID in Kubernetes' words for a selector that cannot be parsed, or a field that `res` does not offer. */
NODISCARD int api_selector_parse(struct arena *a, struct str labels, struct str fields,
                                 const struct api_resource *res, struct api_selector **ret, struct err **err);
bool api_selector_labels(const struct api_selector *s, struct str packed_labels);
/* `object` may be null unless needs_object. */
bool api_selector_fields(const struct api_selector *s, const struct api_key *key, struct value object);

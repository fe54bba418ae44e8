/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* invalid: what is wrong with an object, field by field, as Status.details.causes and in Kubernetes' words
 * (apimachinery/pkg/util/validation/field). */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "value/value.h"

struct api_cause {
    const char *reason; /* "FieldValueInvalid" */
    struct str message; /* without the field */
    struct str field;   /* "spec.replicas" */
};

struct api_causes {
    struct arena *arena;
    struct api_cause *items;
    size_t n, cap;
};
#define API_CAUSES_INIT(a) ((struct api_causes){ .arena = (a) })

/* Each adds one cause; the text is Kubernetes'. `field` is copied; `bad` is printed as Go prints it in that message. */
void api_cause_required(struct api_causes *c, const char *field, const char *detail);
void api_cause_invalid(struct api_causes *c, const char *field, struct value bad, const char *detail);
void api_cause_type_invalid(struct api_causes *c, const char *field, struct value bad, const char *detail);
void api_cause_not_supported(struct api_causes *c, const char *field, struct value bad,
                             const char *const *supported, size_t n); /* shown in this order, quoted */
void api_cause_forbidden(struct api_causes *c, const char *field, const char *detail);
void api_cause_duplicate(struct api_causes *c, const char *field, struct value bad);
void api_cause_too_long(struct api_causes *c, const char *field,
                        size_t max); /* "may not be more than %d bytes" */
void api_cause_too_many(struct api_causes *c, const char *field, int64_t actual, int64_t max);
void api_cause_not_found(struct api_causes *c, const char *field, struct value bad);
void api_cause_add(struct api_causes *c, const char *reason, struct str field, struct str message);

/* The 422's message: `Deployment.apps "web" is invalid: spec.x: Required value`, several in brackets. `kind` is
 * "Deployment", `group` may be "". */
void api_causes_format(const struct api_causes *c, struct str kind, struct str group, struct str name,
                       struct buf *out);
/* Status.details.causes as a list value in the causes' arena. */
struct value api_causes_value(const struct api_causes *c);

/* Plain lines, for strict decoding and Warning headers. */
struct api_notes {
    struct arena *arena;
    struct str *items;
    size_t n, cap;
};
#define API_NOTES_INIT(a) ((struct api_notes){ .arena = (a) })
void api_notes_add(struct api_notes *n, const char *fmt, ...) PRINTF(2, 3);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the parts of `helm lint` share (helm pkg/chart/v2/lint). */
#include "chart/chart_int.h"

struct lint {
    struct arena *arena; /* of the messages */
    const char *dir;     /* the chart's folder, absolute */
    const struct chart_lint_options *o;
    struct chart_lint_message *items;
    size_t n, cap;
};

/* One message. `path` is what the message is about, "" included. */
void lint_say(struct lint *l, enum chart_lint_severity severity, struct str path, const char *fmt, ...)
    PRINTF(4, 5);
/* A failure becomes a message, `before` in front of its text; *err is freed. Did the call succeed? */
bool lint_passed(struct lint *l, enum chart_lint_severity severity, struct str path, const char *before,
                 int r, struct err **err);

/* lint_metadata.c */
void lint_metadata(struct lint *l);

/* lint_url.c: govalidator's checks of text fields */
bool lint_is_email(struct str s);
bool lint_is_url(struct str s);
bool lint_is_request_url(struct str s);

/* lint_templates.c */
void lint_templates(struct lint *l);

/* lint_objects.c */
struct lint_object { /* what is looked at of an object */
    struct str api_version, kind, name;
};
/* The objects of a text, one a call, as Kubernetes' YAMLOrJSONDecoder yields them. */
struct lint_decoder {
    struct arena *arena;
    const char *start; /* of the text */
    struct str rest;
    struct buf document;
    bool json;    /* it looks like JSON, until that fails */
    size_t count; /* objects so far */
};
void lint_decoder_init(struct lint_decoder *d, struct arena *a, struct str text);
void lint_decoder_done(struct lint_decoder *d);
DEFINE_CLEANUP_VALUE(struct lint_decoder, lint_decoder_done)
/* 1: *ret is an object; 2: a document without content; 0: the end; PARSE with Go's words. */
NODISCARD int lint_decoder_next(struct lint_decoder *d, struct lint_object *ret, struct err **err);
/* What the name of an object of that kind breaks ("" when it breaks nothing), as field.ErrorList prints it. */
void lint_name_faults(const struct lint_object *o, struct buf *out);
/* "extensions/v1beta1 Ingress is deprecated in v1.14+, …"; false when it is not at that version of Kubernetes. */
bool lint_is_deprecated(const struct lint_object *o, const struct chart_capabilities *caps, struct buf *out);

/* lint_deprecated_gen.c */
struct chart_lint_deprecated {
    const char *type; /* "policy/v1beta1 PodDisruptionBudget" */
    uint8_t major, minor, gone_major, gone_minor;
    const char *instead; /* NULL: nothing */
};
extern const struct chart_lint_deprecated chart_lint_deprecated[]; /* sorted by type, bytewise */
extern const size_t chart_lint_deprecated_n;

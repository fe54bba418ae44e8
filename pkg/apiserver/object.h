/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* object: request bodies to objects, and what every write does with metadata. */
#include "apiserver/apply.h"
#include "apiserver/request.h"

/* The body by its content type (JSON, YAML, protobuf). 400, 413, 415. Null for an empty body. */
int api_body_read(struct api_request *rq, struct value *ret, struct api_notes *strict);
/* An object of rq->res: kind and apiVersion are checked, unknown fields dropped, defaults filled in. */
int api_body_object(struct api_request *rq, struct value raw, struct value *ret, struct api_notes *strict);
/* The same without the check of kind and version: for what a patch made. */
int api_object_decode(struct api_request *rq, struct value raw, struct value *ret, struct api_notes *strict);
/* What fieldValidation makes of the notes: nothing, warnings, or 400. */
int api_strict_check(struct api_request *rq, const struct api_notes *strict);

struct api_ref api_object_type(const struct api_request *rq);
struct api_apply_options api_apply_options_of(struct api_request *rq);

/* Writes an object in the version of rq->res; sets its resourceVersion. Nothing happens on a dry run. */
int api_object_store(struct api_request *rq, int op, int64_t expect, struct value obj, struct err **err);

/* Creates: metadata, admission, defaults, ownership (unless `owned`), validation, store. */
int api_object_create(struct api_request *rq, struct value obj, bool owned, struct value *ret);

/* Makes the new state out of the live one; both in the version of rq->res. May be called again after a race. */
typedef int (*api_transform)(struct api_request *rq, void *ctx, struct value live, struct value *ret);
struct api_modify {
    api_transform fn;
    void *ctx;
    bool owned;    /* fn did the managedFields */
    bool put;      /* an update that may need a resourceVersion */
    bool raw_spec; /* a subresource of its own (scale, binding): fn changed just what it may change */
};
/* Reads, transforms, checks, stores; again when another write came in between. *ret is the object as it is then. */
int api_object_modify(struct api_request *rq, const struct api_modify *m, struct value *ret);

/* ---- admission: what single kinds need beyond the rules for all ---- */
int api_admit_create(struct api_request *rq, struct value obj); /* before defaults and validation */
int api_admit_update(struct api_request *rq, struct value obj, struct value live);
void api_admit_stored(struct api_request *rq, int op, struct value obj); /* after the write */

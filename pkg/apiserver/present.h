/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* present: stored objects as the client asked to see them: the version of the URL, a Table, or metadata alone. */
#include "apiserver/request.h"
#include "apiserver/store.h"

/* Reads Accept and sets rq->form, form_version and yaml; 406 when nothing in it can be had. */
int api_negotiate(struct api_request *rq);

/* The stored object in the version of rq->res. */
int api_read_stored(struct api_request *rq, const struct api_resource *res, struct str json,
                    struct value *ret);
/* The same for an object of the version `from` that is to be stored. Changes v in place. */
struct value api_to_stored(struct api_request *rq, const struct api_resource *res, struct value v);

/* One object as the answer. */
int api_present(struct api_request *rq, int code, struct value obj);
int api_present_text(struct api_request *rq, int code, struct str json); /* stored text */

/* Rows of a list, or objects of a watch, one after the other. */
struct api_presenter {
    struct api_request *rq;
    bool columns_sent; /* tables of a watch carry the columns once */
    size_t n;
};
/* Appends `{… "items":[` or the table's head. */
void api_present_list_begin(struct api_presenter *p, struct buf *out);
NODISCARD int api_present_list_item(struct api_presenter *p, struct str json, struct buf *out,
                                    struct err **err);
void api_present_list_end(struct api_presenter *p, int64_t rv, struct str token, int64_t remaining,
                          struct buf *out);
/* The object of a watch event. */
NODISCARD int api_present_event(struct api_presenter *p, struct str json, struct buf *out, struct err **err);
/* A bookmark's object: nothing but kind and resourceVersion; `initial_end` adds the annotation. */
void api_present_bookmark(struct api_presenter *p, int64_t rv, bool initial_end, struct buf *out);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* delete: one object, with everything that can stand in the way of its going. */
#include "apiserver/request.h"

enum api_propagation { API_PROPAGATION_UNSET, API_BACKGROUND, API_FOREGROUND, API_ORPHAN };

struct api_delete_options {
    struct str uid, rv; /* preconditions; "" none */
    enum api_propagation propagation;
    bool has_grace;
    int64_t grace_s;
};

/* Deletes the object that rq aims at, or marks it. *ret is its last state; *ret_gone says that it is no longer there. */
int api_object_delete(struct api_request *rq, const struct api_delete_options *o, struct value *ret,
                      bool *ret_gone);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gotext: values as Go's fmt prints them, for messages that must read like kube-apiserver's. */
#include "base/buf.h"
#include "value/value.h"

void api_go_print(struct value v, struct buf *out);  /* %v: map[a:1 b:[x y]] */
void api_go_syntax(struct value v, struct buf *out); /* %#v: map[string]interface {}{"a":1} */
const char *api_go_type(struct value v);             /* %T: "map[string]interface {}" */
const char *api_go_json_kind(struct value v);        /* encoding/json's word: "object", "array", "number" */

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* proto: request bodies of typed Go clients (application/vnd.kubernetes.protobuf) as JSON values. */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

#define API_PROTO_CONTENT_TYPE "application/vnd.kubernetes.protobuf"

/* Decodes the envelope ("k8s\0" + runtime.Unknown) and the typed message in it. The result is a map in `a` with
 * apiVersion and kind from the envelope; zero values of non-pointer fields are absent, as after Go's JSON encoding.
 * Strings are copied. DeleteOptions is found in every group. PARSE when it is not such a body or does not fit the type
 * (then http status 400); UNSUPPORTED for a kind that is not built in (400). Depth and memory are bounded. */
NODISCARD int api_proto_decode(struct arena *a, struct str body, struct value *ret, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the kinds of patches share. */
#include "base/err.h"
#include "value/value.h"

/* 400: `<what>json: cannot unmarshal array into Go value of type map[string]interface {}`. */
int api_patch_fail_type(struct value patch, const char *what, struct err **err);

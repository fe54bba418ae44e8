/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Between the files of defaults. */
#include "apiserver/defaults.h"

/* Sets the member unless it is there. */
void default_json(struct arena *a, struct value map, struct str name, const char *json);

/* Defaults that depend on other fields of the same struct, before and after the table's rows. `type` is an OpenAPI id
 * without "io.k8s.". */
void default_special(struct arena *a, struct str type, struct value v);
void default_special_after(struct arena *a, struct str type, struct value v);
/* Defaults of whole objects. */
void default_kind(struct arena *a, const struct api_kind *k, struct value obj);

bool api_default_rows_sorted(void); /* for the test */

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* schema: JSON Schema, drafts 4, 6, 7, 2019-09 and 2020-12, as github.com/santhosh-tekuri/jsonschema 6.0.2 checks a
 * chart's values for Helm 4: same rules, same texts. Where the library prints errors in the random order of Go's maps, keys
 * come sorted here.
 *
 * Nothing is loaded: a reference to a file or over HTTP is an error, to an unknown urn: it allows everything. `format` is
 * checked up to draft 7, `content*` never. A compiled schema never changes: threads may share it. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

struct schema;

/* Compiles the text of a values.schema.json. PARSE or SCHEMA with the library's text; LIMIT for depth and size.
 * The first use of a draft compiles its metaschema, which stays in memory. */
NODISCARD int schema_compile(struct str text, struct schema **ret, struct err **err);
void schema_free(struct schema *s); /* s may be NULL */
DEFINE_CLEANUP(struct schema *, schema_free)

/* Is the instance certainly valid by the schema in `text`? For a schema that is asked once: it costs a fraction of compiling
 * it. False for everything rare, wrong or invalid: then schema_compile() and schema_validate() decide. */
bool schema_is_surely_valid(struct str text, struct value instance);

/* 0: valid. 1: not, and `report` (may be NULL) got a line for each violation, nested ones indented by two blanks:
 * "- at '/replicas': got string, want integer\n". LIMIT when it takes more than SCHEMA_STEPS_MAX steps, SCHEMA_DEPTH_MAX
 * levels or SCHEMA_REF_DEPTH_MAX references in a row. */
NODISCARD int schema_validate(const struct schema *s, struct value instance, struct buf *report,
                              struct err **err);

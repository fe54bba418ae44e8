/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* plain: the keywords of JSON Schema that can be taken at first sight: what each has to look like for a schema to be certainly
 * valid (plain.c), and what it asks of a value (surely.c). Private to the module. */
#include "schema/schema_int.h"

/* Of a keyword's value, in a schema that is plain. */
enum plain_shape {
    ANYTHING,
    TEXT,
    BOOLEAN,
    NUMBER,
    NUMBER_FROM_6, /* a boolean in draft 4 */
    COUNT,
    LIST_FROM_6,
    PATTERN,
    REFERENCE,
    DRAFT,
    TYPES,
    NAMES,
    ENUM,
    SCHEMA,
    SCHEMA_OR_BOOLEAN,
    SCHEMA_LIST,
    SCHEMA_MAP,
    UNSURE,
};

struct plain_asked; /* surely.c */

struct plain_keyword {
    struct str name;
    enum plain_shape shape;
    unsigned types; /* TYPE_…: values that are asked; 0: it asks nothing by itself */
    bool (*fits)(const struct plain_asked *a);
};
const struct plain_keyword *schema_plain_keyword(struct str name); /* NULL: not among them */

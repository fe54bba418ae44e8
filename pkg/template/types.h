/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* types: which Go type a value has, and what the parameter letters of the function tables mean. Private to the
 * module. */
#include "template/func.h"

/* Go's name of the type: "map[string]interface {}". "interface {}" for what came out of a container when
 * `as_element`; "<nil>" for null otherwise. Static or the object's. */
const char *type_name(struct value v, bool as_element);

/* The type a parameter letter stands for, as error texts print it. */
const char *param_type_name(char letter);
bool param_is_nillable(char letter);
bool param_accepts(char letter, struct value v); /* reflect's AssignableTo; v has no VALUE_FROM_ELEMENT */
struct value param_zero(char letter);            /* of a nillable one */
/* v, which the parameter accepts, as the function gets it. */
struct value param_convert(char letter, struct value v);

struct value map_zero(struct value map); /* what a missing key yields */
struct value element(struct value container, struct value item);

/* Methods of values that are no objects (common.Values, engine.files, common.VersionSet, time.Duration, time.Month,
 * time.Weekday). NULL: none of that name. */
const struct tpl_method *method_find(struct value v, struct str name);
extern const struct tpl_method tpl_methods_values[], tpl_methods_files[], tpl_methods_version_set[],
    tpl_methods_duration[], tpl_methods_named[];

/* String() of named scalar types (time.Duration, time.Month, time.Weekday). False: v has no such method. */
bool print_named_scalar(struct value v, struct buf *out);

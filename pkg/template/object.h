/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* object: Go structs and named types that templates can meet: time.Time, *semver.Version, certificate pairs,
 * .Capabilities. A value of kind VALUE_OBJECT points to a struct whose first member is struct tpl_object. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "value/value.h"

struct tpl_call;
struct tpl_object;

/* Go types beyond those of enum value_type. */
enum tpl_type {
    TPL_TYPE_DURATION = VALUE_TYPE_FIRST_FREE, /* VALUE_INT: time.Duration */
    TPL_TYPE_MONTH,                            /* VALUE_INT: time.Month */
    TPL_TYPE_WEEKDAY,                          /* VALUE_INT: time.Weekday, 0 is Sunday */
    TPL_TYPE_UINT,                             /* VALUE_UINT: uint */
    TPL_TYPE_LIST_LIST,                        /* VALUE_LIST: [][]interface {} */
    TPL_TYPE_MAP_LIST,                         /* VALUE_LIST: []map[string]interface {} */
    TPL_TYPE_VERSION_SET,                      /* VALUE_LIST: common.VersionSet */
};

struct tpl_method {
    const char *name;
    const char *args; /* as in struct tpl_func */
    char result;
    /* The receiver is c->receiver. */
    int (*fn)(struct tpl_call *c, struct value *ret, struct err **err);
};

struct tpl_object_type {
    const char *go_name; /* "time.Time": %T and error texts */
    const char *go_kind; /* "struct", "ptr": kindOf */
    /* Exported field; false when there is none. */
    bool (*field)(const struct tpl_object *o, struct arena *a, struct str name, struct value *ret);
    const struct tpl_method *methods; /* ends with a NULL name; may be NULL */
    const char *const
        *unexported; /* names of fields with an error of their own; ends with NULL; may be NULL */
    /* For structs without a String method: the i-th field in the order of the Go struct, false behind the last one. fmt
     * prints them field by field, with any verb. NULL: `print` tells. */
    bool (*struct_field)(const struct tpl_object *o, size_t i, const char **ret_name, struct value *ret);
    /* What fmt prints for %v; `sharp` for %#v. `verb` is 'v', or 0 for what an action of its own prints
     * ({{ .Capabilities.KubeVersion }}: there Go can take the address and finds the methods of the pointer), or 'n' for
     * a pointer inside of a container (an address, unless it has a String method). May be NULL with struct_field. */
    void (*print)(const struct tpl_object *o, char verb, bool sharp, struct buf *out);
    /* What encoding/json would see, members in the order of the Go struct (only printed, never looked up); NULL: the fields cannot be encoded (an empty object). */
    struct value (*to_json)(const struct tpl_object *o, struct arena *a);
    /* What toYamlPretty and toToml see instead; NULL: the fields by struct_field, or else the same. */
    struct value (*to_moment)(const struct tpl_object *o, struct arena *a, bool toml);
    /* What an interface {} holds after Go has copied the struct into it; NULL: the same object. */
    struct value (*copied)(const struct tpl_object *o);
    /* What deepCopy makes of it: copystructure loses fields that are not exported. NULL: the same object. */
    struct value (*deep_copy)(const struct tpl_object *o, struct arena *a);
    bool (*equal)(const struct tpl_object *a,
                  const struct tpl_object *b); /* reflect.DeepEqual; NULL: identity */
};

struct tpl_object {
    const struct tpl_object_type *type;
};

static inline struct value tpl_object_value(const struct tpl_object *o)
{
    return (struct value){ .kind = VALUE_OBJECT, .object = (void *)(uintptr_t)o };
}

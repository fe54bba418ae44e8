/* SPDX-License-Identifier: Apache-2.0 */
#include "template/types.h"

#include "base/clock.h"
#include "template/complex.h"

static const struct type_info {
    uint8_t kind, type;
    const char *go_name;
    uint8_t elem_kind, elem_type; /* VALUE_NULL: interface {} */
} types[] = {
    { VALUE_BOOL, VALUE_TYPE_PLAIN, "bool", 0, 0 },
    { VALUE_INT, VALUE_TYPE_PLAIN, "int64", 0, 0 },
    { VALUE_INT, VALUE_TYPE_INT, "int", 0, 0 },
    { VALUE_INT, VALUE_TYPE_INT32, "int32", 0, 0 },
    { VALUE_INT, TPL_TYPE_DURATION, "time.Duration", 0, 0 },
    { VALUE_INT, TPL_TYPE_MONTH, "time.Month", 0, 0 },
    { VALUE_INT, TPL_TYPE_WEEKDAY, "time.Weekday", 0, 0 },
    { VALUE_UINT, VALUE_TYPE_PLAIN, "uint64", 0, 0 },
    { VALUE_UINT, VALUE_TYPE_UINT8, "uint8", 0, 0 },
    { VALUE_UINT, VALUE_TYPE_UINT32, "uint32", 0, 0 },
    { VALUE_UINT, TPL_TYPE_UINT, "uint", 0, 0 },
    { VALUE_FLOAT, VALUE_TYPE_PLAIN, "float64", 0, 0 },
    { VALUE_FLOAT, VALUE_TYPE_FLOAT32, "float32", 0, 0 },
    { VALUE_STRING, VALUE_TYPE_PLAIN, "string", 0, 0 },
    { VALUE_BYTES, VALUE_TYPE_PLAIN, "[]uint8", VALUE_UINT, VALUE_TYPE_UINT8 },
    { VALUE_LIST, VALUE_TYPE_PLAIN, "[]interface {}", 0, 0 },
    { VALUE_LIST, VALUE_TYPE_STRING_LIST, "[]string", VALUE_STRING, VALUE_TYPE_PLAIN },
    { VALUE_LIST, VALUE_TYPE_INT_LIST, "[]int", VALUE_INT, VALUE_TYPE_INT },
    { VALUE_LIST, TPL_TYPE_LIST_LIST, "[][]interface {}", VALUE_LIST, VALUE_TYPE_PLAIN },
    { VALUE_LIST, TPL_TYPE_MAP_LIST, "[]map[string]interface {}", VALUE_MAP, VALUE_TYPE_PLAIN },
    { VALUE_LIST, TPL_TYPE_VERSION_SET, "common.VersionSet", VALUE_STRING, VALUE_TYPE_PLAIN },
    { VALUE_MAP, VALUE_TYPE_PLAIN, "map[string]interface {}", 0, 0 },
    { VALUE_MAP, VALUE_TYPE_VALUES, "common.Values", 0, 0 },
    { VALUE_MAP, VALUE_TYPE_STRING_MAP, "map[string]string", VALUE_STRING, VALUE_TYPE_PLAIN },
    { VALUE_MAP, VALUE_TYPE_FILES, "engine.files", VALUE_BYTES, VALUE_TYPE_PLAIN },
};

static const struct type_info *type_of(struct value v)
{
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (types[i].kind == v.kind && types[i].type == v.type)
            return &types[i];
    return NULL;
}

const char *type_name(struct value v, bool as_element)
{
    const struct type_info *t;

    if (as_element && (v.flags & VALUE_FROM_ELEMENT))
        return "interface {}";
    if (v.kind == VALUE_NULL)
        return "<nil>";
    if (v.kind == VALUE_OBJECT)
        return ((const struct tpl_object *)v.object)->type->go_name;
    t = type_of(v);
    return t ? t->go_name : "interface {}";
}

void tpl_print_type(struct value v, struct buf *out)
{
    buf_adds(out, type_name(v, false));
}

const char *tpl_kind_name(struct value v)
{
    const char *name;

    switch (v.kind) {
    case VALUE_NULL:
        return "invalid";
    case VALUE_OBJECT:
        return ((const struct tpl_object *)v.object)->type->go_kind;
    case VALUE_MAP:
        return "map";
    case VALUE_LIST:
    case VALUE_BYTES:
        return "slice";
    default:
        name = type_name(v, false);
        return v.type == TPL_TYPE_DURATION                              ? "int64"
               : v.type == TPL_TYPE_MONTH || v.type == TPL_TYPE_WEEKDAY ? "int"
                                                                        : name;
    }
}

static const struct param {
    char letter;
    uint8_t kind, type;
    const char *go_name;
    bool nillable;
} params[] = {
    { '*', VALUE_NULL, 0, "interface {}", true },
    { 'v', VALUE_NULL, 0, "reflect.Value", true },
    { 's', VALUE_STRING, VALUE_TYPE_PLAIN, "string", false },
    { 'i', VALUE_INT, VALUE_TYPE_INT, "int", false },
    { 'l', VALUE_INT, VALUE_TYPE_PLAIN, "int64", false },
    { 'u', VALUE_UINT, VALUE_TYPE_UINT32, "uint32", false },
    { 'f', VALUE_FLOAT, VALUE_TYPE_PLAIN, "float64", false },
    { 'b', VALUE_BOOL, VALUE_TYPE_PLAIN, "bool", false },
    { 'B', VALUE_BYTES, VALUE_TYPE_PLAIN, "[]uint8", true },
    { 'm', VALUE_MAP, VALUE_TYPE_PLAIN, "map[string]interface {}", true },
    { 'L', VALUE_LIST, VALUE_TYPE_PLAIN, "[]interface {}", true },
    { 'S', VALUE_LIST, VALUE_TYPE_STRING_LIST, "[]string", true },
    { 'D', VALUE_MAP, VALUE_TYPE_STRING_MAP, "map[string]string", true },
    { 'd', VALUE_INT, TPL_TYPE_DURATION, "time.Duration", false },
    { 't', VALUE_OBJECT, 0, "time.Time", false },
    { 'V', VALUE_OBJECT, 0, "*semver.Version", true },
    { 'P', VALUE_OBJECT, 0, "*time.Location", true },
    { 'C', VALUE_OBJECT, 0, "sprig.certificate", false },
    { 'W', VALUE_OBJECT, 0, "io.Writer", true },
};

static const struct param *param(char letter)
{
    for (size_t i = 0; i < ARRAY_SIZE(params); i++)
        if (params[i].letter == letter)
            return &params[i];
    return &params[0];
}

const char *param_type_name(char letter)
{
    return param(letter)->go_name;
}

bool param_is_nillable(char letter)
{
    return param(letter)->nillable;
}

bool param_accepts(char letter, struct value v)
{
    const struct param *p = param(letter);

    if (p->kind == VALUE_NULL)
        return true;
    if (v.kind != p->kind)
        return false;
    if (v.kind == VALUE_OBJECT)
        return strcmp(((const struct tpl_object *)v.object)->type->go_name, p->go_name) == 0;
    /* a named type may go where its underlying type is wanted */
    return v.type == p->type || (p->letter == 'm' && v.type == VALUE_TYPE_VALUES) ||
           (p->letter == 'S' && v.type == TPL_TYPE_VERSION_SET);
}

static struct value_map nil_map;

struct value param_zero(char letter)
{
    const struct param *p = param(letter);
    struct value v = { .kind = p->kind, .type = p->type, .flags = VALUE_NIL };

    if (p->kind == VALUE_NULL || p->kind == VALUE_OBJECT)
        return VALUE_NONE;
    if (p->kind == VALUE_MAP)
        v.map = &nil_map;
    return v;
}

struct value param_convert(char letter, struct value v)
{
    const struct tpl_object *o;

    if (letter == 'm' || letter == 'S') {
        v.type = param(letter)->type;
    } else if (letter == '*' && v.kind == VALUE_OBJECT) {
        o = v.object;
        return o->type->copied ? o->type->copied(o) : v;
    }
    return v;
}

static bool list_holds_interfaces(struct value v)
{
    return (v.kind == VALUE_LIST && v.type == VALUE_TYPE_PLAIN) ||
           (v.kind == VALUE_MAP && (v.type == VALUE_TYPE_PLAIN || v.type == VALUE_TYPE_VALUES));
}

struct value element(struct value container, struct value item)
{
    const struct type_info *t;

    item.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
    if (list_holds_interfaces(container)) {
        item.flags |= VALUE_FROM_ELEMENT;
        return item;
    }
    t = type_of(container);
    if (t && item.kind == t->elem_kind)
        item.type = t->elem_type;
    return item;
}

struct value tpl_element(struct value container, struct value item)
{
    return element(container, item);
}

struct value map_zero(struct value map)
{
    if (list_holds_interfaces(map))
        return (struct value){ .kind = VALUE_NULL, .flags = VALUE_FROM_ELEMENT };
    if (map.type == VALUE_TYPE_FILES)
        return (struct value){ .kind = VALUE_BYTES, .flags = VALUE_NIL, .s = "" };
    return VALUE_STR("");
}

const struct tpl_method *method_find(struct value v, struct str name)
{
    const struct tpl_method *m = NULL;

    if (v.kind == VALUE_MAP && v.type == VALUE_TYPE_VALUES)
        m = tpl_methods_values;
    else if (v.kind == VALUE_MAP && v.type == VALUE_TYPE_FILES)
        m = tpl_methods_files;
    else if (v.kind == VALUE_LIST && v.type == TPL_TYPE_VERSION_SET)
        m = tpl_methods_version_set;
    else if (v.kind == VALUE_INT && v.type == TPL_TYPE_DURATION)
        m = tpl_methods_duration;
    else if (v.kind == VALUE_INT && (v.type == TPL_TYPE_MONTH || v.type == TPL_TYPE_WEEKDAY))
        m = tpl_methods_named;
    else if (v.kind == VALUE_OBJECT)
        m = ((const struct tpl_object *)v.object)->type->methods;
    for (; m && m->name; m++)
        if (str_eq(name, str_from(m->name)))
            return m;
    return NULL;
}

bool print_named_scalar(struct value v, struct buf *out)
{
    static const char *const months[] = { "January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December" };
    static const char *const days[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday" };

    if (v.kind != VALUE_INT)
        return false;
    switch (v.type) {
    case TPL_TYPE_DURATION:
        clock_format_duration(v.i, out);
        return true;
    case TPL_TYPE_MONTH:
        if (v.i >= 1 && v.i <= 12)
            buf_adds(out, months[v.i - 1]);
        else
            buf_addf(out, "%%!Month(%llu)", (unsigned long long)v.i);
        return true;
    case TPL_TYPE_WEEKDAY:
        if (v.i >= 0 && v.i <= 6)
            buf_adds(out, days[v.i]);
        else
            buf_addf(out, "%%!Weekday(%llu)", (unsigned long long)v.i);
        return true;
    default:
        return false;
    }
}

bool tpl_truth(struct value v)
{
    switch (v.kind) {
    case VALUE_NULL:
        return false;
    case VALUE_BOOL:
        return v.b;
    case VALUE_INT:
        return v.i != 0;
    case VALUE_UINT:
        return v.u != 0;
    case VALUE_FLOAT:
        return v.f != 0;
    case VALUE_OBJECT:
        return !complex_is_zero(v);
    default:
        return value_len(v) > 0;
    }
}

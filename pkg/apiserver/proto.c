/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/proto.h"

#include <math.h>

#include "apiserver/kinds.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/limits.h"
#include "json/json.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct proto {
    struct arena *a;
    struct err **err;
    int depth;
};

struct part { /* one field as it came */
    uint32_t number;
    enum wire wire;
    uint64_t u;      /* VARINT, FIXED64, FIXED32 */
    struct str text; /* BYTES */
};

static int refuse(struct proto *p, const char *what)
{
    return err_set(p->err, ERRC_PARSE, "proto: %s", what);
}

static int read_varint(struct proto *p, struct str *in, uint64_t *ret)
{
    uint64_t u = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char c;

        if (in->n == 0)
            return refuse(p, "unexpected end of message");
        c = (unsigned char)in->p[0];
        *in = str_sub(*in, 1, in->n);
        u |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *ret = u;
            return 0;
        }
    }
    return refuse(p, "integer overflow");
}

static int read_fixed(struct proto *p, struct str *in, size_t n, uint64_t *ret)
{
    uint64_t u = 0;

    if (in->n < n)
        return refuse(p, "unexpected end of message");
    for (size_t i = 0; i < n; i++)
        u |= (uint64_t)(unsigned char)in->p[i] << (8 * i);
    *in = str_sub(*in, n, in->n);
    *ret = u;
    return 0;
}

static int read_part(struct proto *p, struct str *in, struct part *part)
{
    uint64_t key = 0, n = 0;
    int r;

    r = read_varint(p, in, &key);
    if (r < 0)
        return r;
    *part = (struct part){ .number = (uint32_t)(key >> 3), .wire = (enum wire)(key & 7) };
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return refuse(p, "illegal field number");
    switch (part->wire) {
    case WIRE_VARINT:
        return read_varint(p, in, &part->u);
    case WIRE_FIXED64:
        return read_fixed(p, in, 8, &part->u);
    case WIRE_FIXED32:
        return read_fixed(p, in, 4, &part->u);
    case WIRE_BYTES:
        r = read_varint(p, in, &n);
        if (r < 0)
            return r;
        if (n > in->n)
            return refuse(p, "unexpected end of message");
        part->text = str_sub(*in, 0, (size_t)n);
        *in = str_sub(*in, (size_t)n, in->n);
        return 0;
    }
    return refuse(p, "illegal wire type");
}

static int read_message(struct proto *p, struct api_ref type, struct str in, struct value into);
static int read_value(struct proto *p, struct api_ref type, const struct part *part, struct value *ret);

/* ---- messages with a JSON form of their own ---- */

static int read_three(struct proto *p, struct str in, struct part ret[3])
{
    while (in.n > 0) {
        struct part part;
        int r = read_part(p, &in, &part);

        if (r < 0)
            return r;
        if (part.number <= 3)
            ret[part.number - 1] = part;
    }
    return 0;
}

static int read_time(struct proto *p, bool micro, struct str in, struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);
    struct part parts[3] = { 0 };
    struct wall_time t;
    int r;

    r = read_three(p, in, parts);
    if (r < 0)
        return r;
    t = (struct wall_time){ (int64_t)parts[0].u, (int32_t)parts[1].u };
    *ret = VALUE_NONE;
    if (parts[0].number == 0 && parts[1].number == 0)
        return 0;
    /* year 1 to 9999, as RFC 3339 can say */
    if (t.s < -62135596800 || t.s > 253402300799 || t.ns < 0 || t.ns > 999999999)
        return refuse(p, "time out of range");
    if (t.s == -62135596800 && t.ns == 0)
        return 0;
    (micro ? clock_format_rfc3339_micro : clock_format_rfc3339)(t, &b);
    *ret = value_from_str(arena_dup(p->a, buf_str(&b)));
    return 0;
}

static int read_duration(struct proto *p, struct str in, struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);
    struct part parts[3] = { 0 };
    int r;

    r = read_three(p, in, parts);
    if (r < 0)
        return r;
    clock_format_duration((int64_t)parts[0].u, &b);
    *ret = value_from_str(arena_dup(p->a, buf_str(&b)));
    return 0;
}

static int read_int_or_string(struct proto *p, struct str in, struct value *ret)
{
    struct part parts[3] = { 0 };
    int r;

    r = read_three(p, in, parts);
    if (r < 0)
        return r;
    *ret = parts[0].u == 0 ? value_from_int((int32_t)parts[1].u)
                           : value_from_str(arena_dup(p->a, parts[2].text));
    return 0;
}

/* FieldsV1, RawExtension, JSON: JSON text in field 1. */
static int read_json(struct proto *p, struct str in, struct value *ret)
{
    struct part parts[3] = { 0 };
    const struct json_options o = { .depth_max = API_PROTO_DEPTH_MAX };
    int r;

    r = read_three(p, in, parts);
    if (r < 0)
        return r;
    *ret = VALUE_NONE;
    return parts[0].text.n == 0 ? 0 : json_parse(p->a, parts[0].text, &o, ret, p->err);
}

static int read_quantity(struct proto *p, struct str in, struct value *ret)
{
    struct part parts[3] = { 0 };
    int r;

    r = read_three(p, in, parts);
    if (r < 0)
        return r;
    *ret = parts[0].text.n ? value_from_str(arena_dup(p->a, parts[0].text)) : VALUE_STR("0");
    return 0;
}

static int read_struct(struct proto *p, struct api_ref type, struct str in, struct value *ret)
{
    struct value m = value_new_map(p->a);
    int r;

    r = read_message(p, type, in, m);
    if (r < 0)
        return r;
    *ret = m;
    return 0;
}

/* JSONSchemaPropsOrBool {1 bool, 2 schema}, ...OrArray {1 schema, 2 schemas}, ...OrStringArray {1 schema, 2 strings}. */
static int read_schema_or(struct proto *p, struct api_ref type, struct str in, struct value *ret)
{
    const enum api_type_kind kind = api_ref_kind(type);
    const uint32_t schema_number = kind == API_TYPE_SCHEMA_OR_BOOL ? 2 : 1;
    const struct api_ref schema = { type.of, api_ref_type(type)->elem, 0 };
    struct value_list items = VALUE_LIST_INIT(p->a);
    struct value single = VALUE_NONE;
    bool allows = false;

    while (in.n > 0) {
        struct part part;
        struct value v = VALUE_NONE;
        int r = read_part(p, &in, &part);

        if (r >= 0 && (part.number == schema_number || kind == API_TYPE_SCHEMA_OR_ARRAY))
            r = read_struct(p, schema, part.text, &v);
        if (r < 0)
            return r;
        if (part.number == schema_number)
            single = v;
        else if (kind == API_TYPE_SCHEMA_OR_BOOL)
            allows = part.u != 0;
        else
            value_list_add(&items, value_is_map(v) ? v : value_from_str(arena_dup(p->a, part.text)));
    }
    if (!value_is_null(single))
        *ret = single;
    else
        *ret = kind == API_TYPE_SCHEMA_OR_BOOL ? value_from_bool(allows) : value_list_done(&items);
    return 0;
}

/* A named slice as a message: its items are in field 1. */
static int read_wrapped(struct proto *p, struct api_ref type, struct str in, struct value *ret)
{
    struct value_list items = VALUE_LIST_INIT(p->a);

    while (in.n > 0) {
        struct part part;
        struct value v = VALUE_NONE;
        int r = read_part(p, &in, &part);

        if (r >= 0 && part.number == 1)
            r = read_value(p, api_ref_items(type), &part, &v);
        if (r < 0)
            return r;
        if (part.number == 1)
            value_list_add(&items, v);
    }
    *ret = value_list_done(&items);
    return 0;
}

/* ---- values ---- */

static int read_bytes(struct proto *p, struct str in, struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(2 * in.n + 16);

    base64_encode(BASE64_STD, in, &b);
    *ret = value_from_str(arena_dup(p->a, buf_str(&b)));
    return 0;
}

static int read_number(struct proto *p, enum api_type_kind kind, const struct part *part, struct value *ret)
{
    union {
        uint64_t u;
        double f;
    } bits = { part->u };

    if (part->wire != (kind == API_TYPE_DOUBLE ? WIRE_FIXED64 : WIRE_VARINT))
        return refuse(p, "wrong wire type");
    if (kind == API_TYPE_DOUBLE && !isfinite(bits.f))
        return refuse(p, "number without JSON form");
    if (kind == API_TYPE_DOUBLE)
        *ret = value_from_float(bits.f);
    else if (kind == API_TYPE_BOOL)
        *ret = value_from_bool(part->u != 0);
    else
        *ret = value_from_int(kind == API_TYPE_INT32 ? (int32_t)part->u : (int64_t)part->u);
    return 0;
}

static int read_value(struct proto *p, struct api_ref type, const struct part *part, struct value *ret)
{
    const enum api_type_kind kind = api_ref_kind(type);

    if (kind == API_TYPE_BOOL || kind == API_TYPE_INT32 || kind == API_TYPE_INT64 || kind == API_TYPE_DOUBLE)
        return read_number(p, kind, part, ret);
    if (part->wire != WIRE_BYTES)
        return refuse(p, "wrong wire type");
    switch (kind) {
    case API_TYPE_STRING:
        *ret = value_from_str(arena_dup(p->a, part->text));
        return 0;
    case API_TYPE_BYTES:
        return read_bytes(p, part->text, ret);
    case API_TYPE_TIME:
    case API_TYPE_MICRO_TIME:
        return read_time(p, kind == API_TYPE_MICRO_TIME, part->text, ret);
    case API_TYPE_DURATION:
        return read_duration(p, part->text, ret);
    case API_TYPE_QUANTITY:
        return read_quantity(p, part->text, ret);
    case API_TYPE_INT_OR_STRING:
        return read_int_or_string(p, part->text, ret);
    case API_TYPE_FIELDS:
    case API_TYPE_RAW:
    case API_TYPE_JSON:
        return read_json(p, part->text, ret);
    case API_TYPE_SCHEMA_OR_BOOL:
    case API_TYPE_SCHEMA_OR_ARRAY:
    case API_TYPE_SCHEMA_OR_STRINGS:
        return read_schema_or(p, type, part->text, ret);
    case API_TYPE_LIST:
        return read_wrapped(p, type, part->text, ret);
    case API_TYPE_STRUCT:
        return read_struct(p, type, part->text, ret);
    default:
        return refuse(p, "field without a type");
    }
}

static const struct api_field *find_number(struct api_ref type, uint32_t number)
{
    const struct api_type *t = api_ref_type(type);

    for (uint32_t i = 0; i < t->n; i++)
        if (type.of->fields[t->first + i].number == number)
            return &type.of->fields[t->first + i];
    return NULL;
}

static bool is_zero(struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return !v.b;
    case VALUE_INT:
        return v.i == 0;
    case VALUE_FLOAT:
        return v.f == 0;
    case VALUE_STRING:
        return v.n == 0;
    default:
        return false;
    }
}

static bool keeps(const struct api_field *f, struct value v)
{
    return !value_is_null(v) &&
           ((f->flags & API_FIELD_POINTER) || !(f->flags & API_FIELD_OMITEMPTY) || !is_zero(v));
}

static bool is_packable(enum api_type_kind kind)
{
    return kind == API_TYPE_INT32 || kind == API_TYPE_INT64 || kind == API_TYPE_BOOL;
}

/* One item of a repeated field, or all of them when a writer packed numbers. */
static int read_items(struct proto *p, struct api_ref items, const struct part *part, struct value_list *into)
{
    struct str rest = part->text;
    struct value v = VALUE_NONE;
    int r;

    if (part->wire != WIRE_BYTES || !is_packable(api_ref_kind(items))) {
        r = read_value(p, items, part, &v);
        if (r < 0)
            return r;
        value_list_add(into, v);
        return 0;
    }
    while (rest.n > 0) {
        struct part one = { .wire = WIRE_VARINT };

        r = read_varint(p, &rest, &one.u);
        if (r >= 0)
            r = read_value(p, items, &one, &v);
        if (r < 0)
            return r;
        value_list_add(into, v);
    }
    return 0;
}

static int read_entry(struct proto *p, struct api_ref items, const struct part *part, struct value into)
{
    static const struct part absent = { .wire = WIRE_BYTES };
    struct part parts[3] = { 0 };
    struct value v = VALUE_NONE;
    int r;

    if (part->wire != WIRE_BYTES)
        return refuse(p, "wrong wire type");
    r = read_three(p, part->text, parts);
    if (r < 0)
        return r;
    r = read_value(p, items, parts[1].number ? &parts[1] : &absent, &v);
    if (r < 0)
        return r;
    value_append(into, arena_dup(p->a, parts[0].text), v);
    return 0;
}

/* Repeated and map fields while their message is being read. */
struct pending {
    struct value_list list;
    struct value map;
};

static int read_field(struct proto *p, struct api_ref type, const struct api_field *f,
                      const struct part *part, struct pending *pending, struct value into)
{
    const struct str name = str_from(api_types_text(type.of, f->name));
    const struct api_ref ref = api_ref_of_field(type, f);
    const enum api_type_kind kind = api_ref_kind(ref);
    struct value v = VALUE_NONE;
    int r;

    if (kind == API_TYPE_LIST && !(api_ref_type(ref)->flags & API_TYPE_WRAPPED)) {
        pending->list.arena = p->a;
        return read_items(p, api_ref_items(ref), part, &pending->list);
    }
    if (kind == API_TYPE_MAP) {
        if (value_is_null(pending->map))
            pending->map = value_new_map(p->a);
        return read_entry(p, api_ref_items(ref), part, pending->map);
    }
    if (name.p[0] == ' ' && part->wire == WIRE_BYTES) /* an embedded struct: its fields are ours */
        return read_message(p, ref, part->text, into);
    r = read_value(p, ref, part, &v);
    if (r >= 0 && keeps(f, v))
        value_set(into, name, v);
    return r;
}

static int read_parts(struct proto *p, struct api_ref type, struct str in, struct value into)
{
    const struct api_type *t = api_ref_type(type);
    const struct api_field *first = &type.of->fields[t->first];
    struct pending *pending = arena_calloc(p->a, t->n * sizeof(*pending) + 1);

    while (in.n > 0) {
        const struct api_field *f;
        struct part part;
        int r = read_part(p, &in, &part);

        if (r < 0)
            return r;
        f = find_number(type, part.number);
        if (!f)
            continue;
        r = read_field(p, type, f, &part, &pending[f - first], into);
        if (r < 0)
            return r;
        if (arena_failed(p->a))
            return err_set(p->err, ERRC_LIMIT, "proto: message too large");
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const struct str name = str_from(api_types_text(type.of, first[i].name));

        if (pending[i].list.n > 0)
            value_set(into, name, value_list_done(&pending[i].list));
        if (value_is_null(pending[i].map))
            continue;
        value_sort(pending[i].map);
        value_set(into, name, pending[i].map);
    }
    return 0;
}

static int read_message(struct proto *p, struct api_ref type, struct str in, struct value into)
{
    int r;

    if (++p->depth > API_PROTO_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "proto: exceeded max depth");
    r = read_parts(p, type, in, into);
    p->depth--;
    return r;
}

/* ---- the envelope ---- */

static struct api_ref find_type(struct str api_version, struct str kind)
{
    const size_t slash = str_find_char(api_version, '/');
    const struct str group = slash == STR_NPOS ? STR("") : str_sub(api_version, 0, slash);
    const struct str version =
        slash == STR_NPOS ? api_version : str_sub(api_version, slash + 1, api_version.n);
    const struct api_kind *all;
    size_t n;

    if (str_eq(kind, STR("DeleteOptions")))
        return api_kind_delete_options();
    all = api_kind_all(&n);
    for (size_t i = 0; i < n; i++) {
        if (str_eq(str_from(all[i].group), group) && str_eq(str_from(all[i].version), version) &&
            str_eq(str_from(all[i].kind), kind))
            return api_kind_ref(&all[i]);
        for (size_t j = 0; j < all[i].n_subresources; j++) {
            const struct api_subresource *s = &all[i].subresources[j];

            if (s->type && str_eq(str_from(s->group), group) && str_eq(str_from(s->version), version) &&
                str_eq(str_from(s->kind), kind))
                return (struct api_ref){ &api_kind_types, s->type, 0 };
        }
    }
    return API_REF_ANY;
}

static int decode(struct proto *p, struct str body, struct value *ret)
{
    struct part unknown[3] = { 0 }, meta[3] = { 0 };
    struct api_ref type;
    struct value obj;
    int r;

    if (!str_has_prefix(body, (struct str){ "k8s\0", 4 }))
        return err_set(
            p->err, ERRC_PARSE,
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    r = read_three(p, str_sub(body, 4, body.n), unknown);
    if (r >= 0)
        r = read_three(p, unknown[0].text, meta);
    if (r < 0)
        return r;
    type = find_type(meta[0].text, meta[1].text);
    if (!type.of)
        return err_set(p->err, ERRC_UNSUPPORTED,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                       STR_ARG(meta[1].text), STR_ARG(meta[0].text));
    obj = value_new_map(p->a);
    r = read_message(p, type, unknown[1].text, obj);
    if (r < 0)
        return r;
    value_setz(obj, "apiVersion", value_from_str(arena_dup(p->a, meta[0].text)));
    value_setz(obj, "kind", value_from_str(arena_dup(p->a, meta[1].text)));
    *ret = obj;
    return 0;
}

int api_proto_decode(struct arena *a, struct str body, struct value *ret, struct err **err)
{
    struct err *failure = NULL;
    struct proto p = { .a = a, .err = &failure };
    int r;

    r = decode(&p, body, ret);
    if (r >= 0)
        return r;
    err_set_http(failure, 400, STR("BadRequest"), 0);
    if (err)
        *err = failure;
    else
        err_free(failure);
    return r;
}

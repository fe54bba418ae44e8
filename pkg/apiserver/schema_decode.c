/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "apiserver/quantity.h"
#include "apiserver/schema.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/number.h"
#include "json/json.h"

/* Where we are, innermost first; on the stack. */
struct place {
    const struct place *up;
    struct str name; /* of a member; or index >= 0 */
    int64_t index;
    struct api_ref in; /* the struct that has the member */
};

struct decoder {
    struct arena *a;
    struct api_notes *strict;
    struct err *err; /* the first one, in Go's words */
};

static int decode(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                  struct value *ret);
static struct value zero(struct decoder *d, struct api_ref t);

/* "spec.containers[0].name", or as Go names fields: "spec.containers.name". */
static void add_place(const struct place *at, bool indices, struct buf *out)
{
    if (!at)
        return;
    add_place(at->up, indices, out);
    if (at->index >= 0) {
        if (indices)
            buf_addf(out, "[%lld]", (long long)at->index);
        return;
    }
    buf_addf(out, "%s" STR_FMT, out->n > 0 ? "." : "", STR_ARG(at->name));
}

/* ---- Go's words for a value of a wrong type ---- */

static struct str short_name(struct api_ref t)
{
    const struct str id = str_from(api_types_text(t.of, api_ref_type(t)->name));
    const size_t dot = str_rfind_char(id, '.');

    return dot == STR_NPOS ? id : str_sub(id, dot + 1, id.n);
}

/* "v1.ObjectMeta": the last part of the package and the type. */
static void add_qualified(struct api_ref t, struct buf *out)
{
    const struct str id = str_from(api_types_text(t.of, api_ref_type(t)->name));
    const size_t dot = str_rfind_char(id, '.');
    const struct str package = str_sub(id, 0, dot == STR_NPOS ? 0 : dot);
    const size_t before = str_rfind_char(package, '.');

    buf_addf(out, STR_FMT "." STR_FMT,
             STR_ARG(before == STR_NPOS ? package : str_sub(package, before + 1, package.n)),
             STR_ARG(short_name(t)));
}

static void add_go_type(struct api_ref t, struct buf *out)
{
    static const char *const names[] = {
        [API_TYPE_STRING] = "string",       [API_TYPE_BOOL] = "bool",         [API_TYPE_INT32] = "int32",
        [API_TYPE_INT64] = "int64",         [API_TYPE_DOUBLE] = "float64",    [API_TYPE_BYTES] = "[]uint8",
        [API_TYPE_TIME] = "string",         [API_TYPE_MICRO_TIME] = "string", [API_TYPE_DURATION] = "string",
        [API_TYPE_INT_OR_STRING] = "int32",
    };
    const enum api_type_kind kind = api_ref_kind(t);

    if (kind == API_TYPE_LIST || kind == API_TYPE_MAP) {
        buf_adds(out, kind == API_TYPE_LIST ? "[]" : "map[string]");
        add_go_type(api_ref_items(t), out);
    } else if (kind < ARRAY_SIZE(names) && names[kind]) {
        buf_adds(out, names[kind]);
    } else if (t.of) {
        add_qualified(t, out);
    }
}

static void add_json_kind(struct api_ref t, struct value v, struct buf *out)
{
    const enum api_type_kind kind = api_ref_kind(t);

    switch ((enum value_kind)v.kind) {
    case VALUE_BOOL:
        buf_adds(out, "bool");
        break;
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_FLOAT:
        buf_adds(out, "number");
        if (kind == API_TYPE_INT32 || kind == API_TYPE_INT64 || kind == API_TYPE_INT_OR_STRING) {
            buf_addc(out, ' ');
            IGNORE_ERROR(json_print(v, 0, out, NULL));
        }
        break;
    case VALUE_LIST:
        buf_adds(out, "array");
        break;
    case VALUE_MAP:
        buf_adds(out, "object");
        break;
    default:
        buf_adds(out, "string");
        break;
    }
}

static const struct place *struct_place(const struct place *at)
{
    while (at && (at->index >= 0 || !at->in.of))
        at = at->up;
    return at;
}

static int mismatch(struct decoder *d, struct api_ref t, struct value v, const struct place *at)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    const struct place *field = struct_place(at);

    buf_adds(&b, "json: cannot unmarshal ");
    add_json_kind(t, v, &b);
    buf_adds(&b, " into Go ");
    if (field) {
        CLEANUP(buf_done) struct buf path = BUF_INIT(64 * KIB);

        add_place(field, false, &path);
        buf_addf(&b, "struct field " STR_FMT ".%s of type ", STR_ARG(short_name(field->in)), buf_z(&path));
    } else {
        buf_adds(&b, "value of type ");
    }
    add_go_type(t, &b);
    return err_set(&d->err, ERRC_PARSE, "%s", buf_z(&b));
}

/* ---- scalars ---- */

static int keep_text(struct decoder *d, struct buf *b, struct value *ret)
{
    *ret = value_from_str(arena_dup(d->a, buf_str(b)));
    return 0;
}

static int decode_integer(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                          struct value *ret)
{
    if (in.kind != VALUE_INT || (api_ref_kind(t) != API_TYPE_INT64 && (in.i < INT32_MIN || in.i > INT32_MAX)))
        return mismatch(d, t, in, at);
    *ret = in;
    return 0;
}

static int decode_time(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                       struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);
    const bool micro = api_ref_kind(t) == API_TYPE_MICRO_TIME;
    const char *layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
    struct wall_time time;

    if (!value_is_string(in))
        return mismatch(d, t, in, at);
    if (in.n == 0) {
        *ret = VALUE_NONE;
        return 0;
    }
    if (!clock_parse_rfc3339(value_str(in), &time)) {
        const struct str s = value_str(in);

        return err_set(&d->err, ERRC_PARSE,
                       "parsing time \"" STR_FMT "\" as \"%s\": cannot parse \"" STR_FMT "\" as \"2006\"",
                       STR_ARG(s), layout, STR_ARG(s));
    }
    (micro ? clock_format_rfc3339_micro : clock_format_rfc3339)(time, &b);
    return keep_text(d, &b, ret);
}

static int decode_bytes(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                        struct value *ret)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(KUBE_OBJECT_MAX), b = BUF_INIT(2 * KUBE_OBJECT_MAX);
    size_t bad = 0;

    if (!value_is_string(in))
        return mismatch(d, t, in, at);
    if (!base64_decode(BASE64_STD, value_str(in), &raw, &bad))
        return err_set(&d->err, ERRC_PARSE, "illegal base64 data at input byte %zu", bad);
    base64_encode(BASE64_STD, buf_str(&raw), &b);
    return keep_text(d, &b, ret);
}

static int decode_quantity(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                           struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    struct api_quantity q;

    if (value_is_string(in))
        buf_addstr(&b, value_str(in));
    else if (in.kind == VALUE_INT || in.kind == VALUE_UINT || in.kind == VALUE_FLOAT)
        IGNORE_ERROR(json_print(in, 0, &b, NULL));
    else
        return mismatch(d, t, in, at);
    if (!api_quantity_parse(buf_str(&b), &q))
        return err_set(&d->err, ERRC_PARSE, "%s", API_QUANTITY_RULE);
    buf_clear(&b);
    api_quantity_print(q, &b);
    return keep_text(d, &b, ret);
}

static int decode_duration(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                           struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    int64_t ns;

    if (!value_is_string(in))
        return mismatch(d, t, in, at);
    if (!clock_parse_duration(value_str(in), &ns))
        return err_set(&d->err, ERRC_PARSE, "time: invalid duration \"" STR_FMT "\"", STR_ARG(value_str(in)));
    clock_format_duration(ns, &b);
    return keep_text(d, &b, ret);
}

static int decode_scalar(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                         struct value *ret)
{
    bool fits = false;

    switch (api_ref_kind(t)) {
    case API_TYPE_STRING:
        fits = in.kind == VALUE_STRING;
        break;
    case API_TYPE_BOOL:
        fits = in.kind == VALUE_BOOL;
        break;
    case API_TYPE_DOUBLE:
        fits = in.kind == VALUE_INT || in.kind == VALUE_UINT || in.kind == VALUE_FLOAT;
        break;
    case API_TYPE_INT_OR_STRING:
        fits = in.kind == VALUE_STRING;
        if (fits)
            break;
        __attribute__((fallthrough));
    case API_TYPE_INT32:
    case API_TYPE_INT64:
        return decode_integer(d, t, in, at, ret);
    case API_TYPE_BYTES:
        return decode_bytes(d, t, in, at, ret);
    case API_TYPE_TIME:
    case API_TYPE_MICRO_TIME:
        return decode_time(d, t, in, at, ret);
    case API_TYPE_QUANTITY:
        return decode_quantity(d, t, in, at, ret);
    case API_TYPE_DURATION:
        return decode_duration(d, t, in, at, ret);
    default:
        fits = true;
        break;
    }
    if (!fits)
        return mismatch(d, t, in, at);
    *ret = in;
    return 0;
}

/* ---- containers ---- */

static int decode_list(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                       struct value *ret)
{
    struct value *items;

    if (!value_is_list(in))
        return mismatch(d, t, in, at);
    items = ARENA_ARRAY(d->a, struct value, in.n + 1);
    for (uint32_t i = 0; i < in.n; i++) {
        const struct place here = { at, STR_NONE, i, API_REF_ANY };
        const struct value v = value_at(in, i);
        int r;

        items[i] = zero(d, api_ref_items(t));
        r = value_is_null(v) ? 0 : decode(d, api_ref_items(t), v, &here, &items[i]);
        if (r < 0)
            return r;
    }
    *ret = value_from_list(items, in.n);
    return 0;
}

static int decode_map(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                      struct value *ret)
{
    struct value m;

    if (!value_is_map(in))
        return mismatch(d, t, in, at);
    m = value_new_map_sized(d->a, value_len(in));
    for (struct value_iter it = value_iter(in); value_next(&it);) {
        const struct place here = { at, it.key, -1, API_REF_ANY };
        struct value v = zero(d, api_ref_items(t));
        int r = value_is_null(it.v) ? 0 : decode(d, api_ref_items(t), it.v, &here, &v);

        if (r < 0)
            return r;
        value_append(m, it.key, v);
    }
    value_sort(m);
    *ret = m;
    return 0;
}

static bool is_empty(struct value v)
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
    case VALUE_LIST:
        return v.n == 0;
    default:
        return false;
    }
}

/* Does Go's encoder leave it out? Empty structs stay, whatever omitempty says; empty maps do not. */
static bool omitted(struct api_ref t, const struct api_field *f, struct value v)
{
    if (!(f->flags & API_FIELD_OMITEMPTY))
        return (f->flags & API_FIELD_OMITZERO) && value_is_null(v);
    if (value_is_null(v)) /* a time is a struct, too */
        return (f->flags & (API_FIELD_POINTER | API_FIELD_OMITZERO)) ||
               (api_ref_kind(t) != API_TYPE_TIME && api_ref_kind(t) != API_TYPE_MICRO_TIME);
    if (api_ref_kind(t) == API_TYPE_MAP)
        return value_len(v) == 0;
    if (f->flags & API_FIELD_POINTER)
        return false;
    if (api_ref_kind(t) == API_TYPE_INT_OR_STRING || api_ref_kind(t) == API_TYPE_QUANTITY)
        return false;
    /* an empty list here is the order to forget all owners: apply_update() must see it */
    if (value_is_list(v) && str_eq(str_from(api_types_text(&api_kind_types, f->name)), STR("managedFields")))
        return false;
    return is_empty(v);
}

static struct value absent(struct decoder *d, struct api_ref t, const struct api_field *f)
{
    return f->flags & API_FIELD_POINTER ? VALUE_NONE : zero(d, t);
}

static struct value zero_struct(struct decoder *d, struct api_ref t)
{
    const struct api_type *type = api_ref_type(t);
    struct value m = value_new_map(d->a);

    for (uint32_t i = 0; i < type->n; i++) {
        const struct api_field *f = &t.of->fields[type->first + i];
        const struct str name = str_from(api_types_text(t.of, f->name));
        const struct api_ref ft = api_ref_of_field(t, f);
        const struct value v = name.p[0] == ' ' ? VALUE_NONE : absent(d, ft, f);

        if (name.p[0] != ' ' && !omitted(ft, f, v))
            value_append(m, name, v);
    }
    value_sort(m);
    return m;
}

static struct value zero(struct decoder *d, struct api_ref t)
{
    switch (api_ref_kind(t)) {
    case API_TYPE_STRING:
        return VALUE_STR("");
    case API_TYPE_BOOL:
        return value_from_bool(false);
    case API_TYPE_INT32:
    case API_TYPE_INT64:
    case API_TYPE_INT_OR_STRING:
        return value_from_int(0);
    case API_TYPE_DOUBLE:
        return value_from_float(0);
    case API_TYPE_QUANTITY:
        return VALUE_STR("0");
    case API_TYPE_DURATION:
        return VALUE_STR("0s");
    case API_TYPE_STRUCT:
        return zero_struct(d, t);
    default:
        return VALUE_NONE;
    }
}

static void note_unknown(struct decoder *d, struct api_ref t, struct str key, const struct place *at)
{
    const struct place here = { at, key, -1, t };
    CLEANUP(buf_done) struct buf path = BUF_INIT(64 * KIB);

    if (!d->strict)
        return;
    add_place(&here, true, &path);
    api_notes_add(d->strict, "unknown field \"%s\"", buf_z(&path));
}

/* Members before `name`, from *i on, have no field: both sides are sorted. *i ends at or behind `name`. */
static void pass_unknown(struct decoder *d, struct api_ref t, struct value in, size_t *i,
                         const struct str *name, const struct place *at)
{
    for (; *i < value_len(in); (*i)++) {
        const struct str key = value_entry_at(in, *i)->key;
        const int order = name ? str_cmp(key, *name) : -1;

        if (order > 0)
            return;
        if (order < 0)
            note_unknown(d, t, key, at);
    }
}

static int decode_field(struct decoder *d, struct api_ref t, const struct api_field *f, struct value in,
                        const struct place *at, struct value into)
{
    const struct str name = str_from(api_types_text(t.of, f->name));
    const struct api_ref ft = api_ref_of_field(t, f);
    const struct place here = { at, name, -1, t };
    struct value v = value_get(in, name);
    int r;

    if (value_is_null(v)) {
        v = absent(d, ft, f);
    } else {
        r = decode(d, ft, v, &here, &v);
        if (r < 0)
            return r;
    }
    if (!omitted(ft, f, v))
        value_append(into, name, v);
    return 0;
}

static int decode_struct(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                         struct value *ret)
{
    const struct api_type *type = api_ref_type(t);
    struct value m;
    size_t passed = 0;

    if (!value_is_map(in))
        return mismatch(d, t, in, at);
    m = value_new_map_sized(d->a, value_len(in));
    for (uint32_t i = 0; i < type->n; i++) {
        const struct api_field *f = &t.of->fields[type->first + i];
        const struct str name = str_from(api_types_text(t.of, f->name));
        int r;

        if (name.p[0] == ' ') /* an embedded message of protobuf: its fields are listed beside it */
            continue;
        pass_unknown(d, t, in, &passed, &name, at);
        r = decode_field(d, t, f, in, at, m);
        if (r < 0)
            return r;
    }
    pass_unknown(d, t, in, &passed, NULL, at);
    value_sort(m);
    *ret = m;
    return 0;
}

static int decode_schema_or(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                            struct value *ret)
{
    const struct api_ref schema = { t.of, api_ref_type(t)->elem, 0 };

    if (value_is_map(in))
        return decode_struct(d, schema, in, at, ret);
    if (api_ref_kind(t) == API_TYPE_SCHEMA_OR_ARRAY && value_is_list(in)) {
        struct value_list l = VALUE_LIST_INIT(d->a);

        for (uint32_t i = 0; i < in.n; i++) {
            struct value v = VALUE_NONE;
            int r = decode_struct(d, schema, value_at(in, i), at, &v);

            if (r < 0)
                return r;
            value_list_add(&l, v);
        }
        *ret = value_list_done(&l);
        return 0;
    }
    *ret = in;
    return 0;
}

static int decode(struct decoder *d, struct api_ref t, struct value in, const struct place *at,
                  struct value *ret)
{
    switch (api_ref_kind(t)) {
    case API_TYPE_LIST:
        return decode_list(d, t, in, at, ret);
    case API_TYPE_MAP:
        return decode_map(d, t, in, at, ret);
    case API_TYPE_STRUCT:
        return decode_struct(d, t, in, at, ret);
    case API_TYPE_SCHEMA_OR_BOOL:
    case API_TYPE_SCHEMA_OR_ARRAY:
    case API_TYPE_SCHEMA_OR_STRINGS:
        return decode_schema_or(d, t, in, at, ret);
    case API_TYPE_FIELDS:
    case API_TYPE_RAW:
        if (!value_is_map(in))
            return mismatch(d, t, in, at);
        *ret = in;
        return 0;
    default:
        return decode_scalar(d, t, in, at, ret);
    }
}

struct value api_schema_zero(struct arena *a, struct api_ref type)
{
    struct decoder d = { .a = a };

    return zero(&d, type);
}

int api_schema_decode_type(struct arena *a, struct api_ref type, struct str version, struct str kind,
                           struct value in, struct value *ret, struct api_notes *strict, struct err **err)
{
    struct decoder d = { .a = a, .strict = strict };
    int r;

    r = decode(&d, type, in, NULL, ret);
    if (r >= 0)
        return r;
    r = version.n == 0 ? err_set(err, ERRC_PARSE, "%s", err_message(d.err))
                       : err_set(err, ERRC_PARSE,
                                 STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": %s",
                                 STR_ARG(kind), STR_ARG(version), STR_ARG(kind), err_message(d.err));
    err_free(d.err);
    if (err)
        err_set_http(*err, 400, STR("BadRequest"), 0);
    return r;
}

int api_schema_decode(struct arena *a, const struct api_kind *k, struct value in, struct value *ret,
                      struct api_notes *strict, struct err **err)
{
    return api_schema_decode_type(a, api_kind_ref(k), str_from(k->version), str_from(k->kind), in, ret,
                                  strict, err);
}

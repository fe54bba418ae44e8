/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "apiserver/schema_int.h"
#include "base/limits.h"
#include "json/json.h"

struct api_schema {
    atomic_int refs;
    struct doc *openapi;
    struct api_types types; /* what server-side apply walks */
    struct api_type *rows;
    struct api_field *fields;
    size_t n_rows, cap_rows, n_fields, cap_fields;
    struct buf text;
    uint16_t root;
    bool has_rules;
};

struct compile {
    struct api_schema *s;
    int depth;
};

static int compile_node(struct compile *c, struct value node, bool resource, uint16_t *ret, struct err **err);

static uint32_t add_text(struct api_schema *s, struct str text)
{
    const uint32_t at = (uint32_t)s->text.n;

    if (text.n == 0)
        return 0;
    buf_addstr(&s->text, text);
    buf_addc(&s->text, '\0');
    return at;
}

static uint16_t add_row(struct api_schema *s, struct api_type row)
{
    ARRAY_GROW(s->rows, s->cap_rows, s->n_rows + 1);
    s->rows[s->n_rows] = row;
    return (uint16_t)s->n_rows++;
}

static uint32_t add_fields(struct api_schema *s, const struct api_field *fields, size_t n)
{
    const uint32_t first = (uint32_t)s->n_fields;

    ARRAY_GROW(s->fields, s->cap_fields, s->n_fields + n + 1);
    if (n > 0)
        memcpy(&s->fields[first], fields, n * sizeof(*fields));
    s->n_fields += n;
    return first;
}

/* A built-in type (ObjectMeta) in the universe of this schema. The types it leads to form no cycle. */
static uint16_t copy_builtin(struct api_schema *s, uint16_t type)
{
    const struct api_type *t = &api_kind_types.types[type];
    struct api_type row = *t;
    CLEANUP(free_ptr) struct api_field *fields = xcalloc(t->n + 1U, sizeof(*fields));

    row.name = row.doc = 0;
    if (t->kind == API_TYPE_LIST || t->kind == API_TYPE_MAP)
        row.elem = copy_builtin(s, t->elem);
    if (t->n_keys > 0 && t->kind == API_TYPE_LIST) /* one key each in metadata */
        row.keys = add_text(s, str_from(api_types_text(&api_kind_types, t->keys)));
    for (uint32_t i = 0; i < t->n; i++) {
        fields[i] = api_kind_types.fields[t->first + i];
        fields[i].name = add_text(s, str_from(api_types_text(&api_kind_types, fields[i].name)));
        fields[i].doc = fields[i].smp_key = fields[i].dflt = 0;
        fields[i].type = copy_builtin(s, fields[i].type);
    }
    row.first = add_fields(s, fields, t->n);
    return add_row(s, row);
}

static int compare_fields(const void *x, const void *y, void *text)
{
    const struct api_field *a = x, *b = y;

    return strcmp((const char *)text + a->name, (const char *)text + b->name);
}

static bool in_list(struct value list, struct str name)
{
    for (size_t i = 0; i < value_len(list); i++)
        if (str_eq(value_str(value_at(list, i)), name))
            return true;
    return false;
}

static int compile_field(struct compile *c, struct str name, struct value node, bool required,
                         struct api_field *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf dflt = BUF_INIT(MIB);
    uint16_t type;
    int r;

    r = compile_node(c, node, false, &type, err);
    if (r < 0)
        return err_wrap(err, r, "properties[" STR_FMT "]", STR_ARG(name));
    if (value_has(node, STR("default")))
        IGNORE_ERROR(json_print(value_getz(node, "default"), 0, &dflt, NULL));
    *ret = (struct api_field){ .name = add_text(c->s, name),
                               .dflt = add_text(c->s, buf_str(&dflt)),
                               .type = type,
                               .flags = required ? API_FIELD_REQUIRED : 0 };
    return 0;
}

static uint16_t scalar_row(struct api_schema *s, enum api_type_kind kind)
{
    return add_row(s, (struct api_type){ .kind = (uint8_t)kind });
}

static const struct {
    const char *name;
    enum api_type_kind kind;
} meta_fields[] = { { "apiVersion", API_TYPE_STRING },
                    { "kind", API_TYPE_STRING },
                    { "metadata", API_TYPE_STRUCT } };

/* apiVersion, kind and metadata are there whatever the schema says. */
static size_t add_meta_fields(struct api_schema *s, struct api_field *fields)
{
    for (size_t i = 0; i < ARRAY_SIZE(meta_fields); i++)
        fields[i] = (struct api_field){ .name = add_text(s, str_from(meta_fields[i].name)),
                                        .type = meta_fields[i].kind == API_TYPE_STRUCT
                                                    ? copy_builtin(s, api_kind_object_meta().type)
                                                    : scalar_row(s, meta_fields[i].kind) };
    return ARRAY_SIZE(meta_fields);
}

static bool is_meta_field(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(meta_fields); i++)
        if (str_eq(name, str_from(meta_fields[i].name)))
            return true;
    return false;
}

static int compile_object(struct compile *c, struct value node, bool resource, struct api_type *row,
                          struct err **err)
{
    const struct value properties = value_getz(node, "properties"),
                       extra = value_getz(node, "additionalProperties");
    CLEANUP(free_ptr) struct api_field *fields = xcalloc(value_len(properties) + 4, sizeof(*fields));
    size_t n = resource ? add_meta_fields(c->s, fields) : 0;
    int r;

    if (str_eq(value_str(value_getz(node, SCHEMA_MAP_TYPE)), STR("atomic")))
        row->flags |= API_TYPE_ATOMIC;
    if (value_is_map(extra) || value_bool(extra)) {
        row->kind = API_TYPE_MAP;
        return compile_node(c, extra, false, &row->elem, err);
    }
    for (struct value_iter it = value_iter(properties); value_next(&it);) {
        if (resource && is_meta_field(it.key))
            continue;
        r = compile_field(c, it.key, it.v, in_list(value_getz(node, "required"), it.key), &fields[n], err);
        if (r < 0)
            return r;
        n++;
    }
    /* without any property there is nothing to say about members */
    row->kind = n > 0 ? API_TYPE_STRUCT : API_TYPE_ANY;
    qsort_r(fields, n, sizeof(*fields), compare_fields, c->s->text.p);
    row->first = add_fields(c->s, fields, n);
    row->n = (uint16_t)n;
    return 0;
}

static int compile_list(struct compile *c, struct value node, struct api_type *row, struct err **err)
{
    const struct str kind = value_str(value_getz(node, SCHEMA_LIST_TYPE));
    const struct value keys = value_getz(node, SCHEMA_LIST_KEYS);

    row->kind = API_TYPE_LIST;
    if (str_eq(kind, STR("set")))
        row->list = API_LIST_SET;
    if (str_eq(kind, STR("map")) && value_len(keys) > 0 && value_len(keys) < 256) {
        row->list = API_LIST_MAP;
        row->n_keys = (uint8_t)value_len(keys);
        row->keys = (uint32_t)c->s->text.n;
        for (size_t i = 0; i < value_len(keys); i++)
            add_text(c->s, value_str(value_at(keys, i)));
    }
    return compile_node(c, value_getz(node, "items"), false, &row->elem, err);
}

static enum api_type_kind scalar_kind(struct value node)
{
    const struct str type = value_str(value_getz(node, "type"));

    if (schema_flag(node, SCHEMA_INT_OR_STRING))
        return API_TYPE_INT_OR_STRING;
    if (str_eq(type, STR("string")))
        return API_TYPE_STRING;
    if (str_eq(type, STR("boolean")))
        return API_TYPE_BOOL;
    if (str_eq(type, STR("integer")))
        return API_TYPE_INT64;
    return str_eq(type, STR("number")) ? API_TYPE_DOUBLE : API_TYPE_ANY;
}

static int compile_node(struct compile *c, struct value node, bool resource, uint16_t *ret, struct err **err)
{
    const struct str type = value_str(value_getz(node, "type"));
    struct api_type row = { .kind = API_TYPE_ANY };
    int r = 0;

    resource = resource || schema_flag(node, SCHEMA_EMBEDDED);
    if (++c->depth > API_SCHEMA_DEPTH_MAX || c->s->n_rows >= UINT16_MAX - 64 ||
        c->s->n_fields >= UINT16_MAX * 4U)
        return err_set(err, ERRC_LIMIT, "schema too large");
    if (value_len(value_getz(node, "x-kubernetes-validations")) > 0)
        c->s->has_rules = true;
    if (schema_flag(node, SCHEMA_PRESERVE))
        row.flags |= API_TYPE_PRESERVE;
    if (schema_flag(node, SCHEMA_EMBEDDED))
        row.flags |= API_TYPE_EMBEDDED;
    if (schema_flag(node, "nullable"))
        row.flags |= API_TYPE_NULLABLE;
    if (str_eq(type, STR("object")) || resource)
        r = compile_object(c, node, resource, &row, err);
    else if (str_eq(type, STR("array")))
        r = compile_list(c, node, &row, err);
    else
        row.kind = (uint8_t)scalar_kind(node);
    c->depth--;
    if (r < 0)
        return r;
    *ret = add_row(c->s, row);
    return 0;
}

int api_schema_new(struct value openapi, struct api_schema **ret, struct err **err)
{
    CLEANUP(api_schema_unref) struct api_schema *s = xcalloc(1, sizeof(*s));
    struct compile c = { .s = s };
    int r;

    atomic_init(&s->refs, 1);
    s->text = BUF_INIT(16 * MIB);
    s->openapi = doc_freeze(openapi);
    buf_addc(&s->text, '\0'); /* offset 0 is "" */
    add_row(s, (struct api_type){ .kind = API_TYPE_ANY });
    r = compile_node(&c, openapi, true, &s->root, err);
    if (r >= 0)
        r = buf_check(&s->text, err);
    if (r < 0)
        return r;
    if (value_is_null(openapi))
        s->rows[s->root].flags |= API_TYPE_PRESERVE;
    s->types = (struct api_types){ .text = s->text.p,
                                   .types = s->rows,
                                   .fields = s->fields,
                                   .n_types = (uint32_t)s->n_rows,
                                   .n_fields = (uint32_t)s->n_fields };
    *ret = TAKE(s);
    return 0;
}

struct api_schema *api_schema_unref(struct api_schema *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1)
        return NULL;
    doc_unref(s->openapi);
    free(s->rows);
    free(s->fields);
    buf_done(&s->text);
    free(s);
    return NULL;
}

struct api_ref api_schema_root(const struct api_schema *s)
{
    return (struct api_ref){ &s->types, s->root, 0 };
}

struct value schema_openapi(const struct api_schema *s)
{
    return doc_root(s->openapi);
}

struct value schema_member(struct value node, struct str name, bool *ret_known)
{
    const struct value properties = value_getz(node, "properties"),
                       extra = value_getz(node, "additionalProperties");
    const struct value_entry *e = value_find(properties, name);

    *ret_known = e || value_is_map(extra) || value_bool(extra);
    return e ? e->v : value_is_map(extra) ? extra : VALUE_NONE;
}

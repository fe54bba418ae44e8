/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/openapi.h"

#include <stdlib.h>

#include "apiserver/kinds_gen.h"
#include "json/json.h"

/* ---- paths ---- */

void openapi_begin(struct buf *out)
{
    buf_adds(
        out,
        "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"unversioned\"},\"paths\":{");
}

static void add_string(struct str s, struct buf *out)
{
    json_print_string(s, 0, out);
}

static void add_parameters(const char *method, struct buf *out)
{
    static const struct {
        const char *name, *type;
        bool patch_only;
    } rows[] = { { "dryRun", "string", false },
                 { "fieldManager", "string", false },
                 { "fieldValidation", "string", false },
                 { "force", "boolean", true } };
    bool first = true;

    buf_adds(out, "\"parameters\":[");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (rows[i].patch_only && strcmp(method, "patch") != 0)
            continue;
        buf_addf(out,
                 "%s{\"name\":\"%s\",\"in\":\"query\",\"schema\":{\"type\":\"%s\",\"uniqueItems\":true}}",
                 first ? "" : ",", rows[i].name, rows[i].type);
        first = false;
    }
    buf_adds(out, "],");
}

static void add_operation(const struct openapi_kind *k, const char *method, const char *action, bool *first,
                          struct buf *out)
{
    buf_addf(out, "%s\"%s\":{", *first ? "" : ",", method);
    if (strcmp(method, "get") != 0 && strcmp(method, "delete") != 0)
        add_parameters(method, out);
    buf_addf(out, "\"responses\":{\"200\":{\"description\":\"OK\"}},\"x-kubernetes-action\":\"%s\",", action);
    buf_addf(out,
             "\"x-kubernetes-group-version-kind\":{\"group\":\"" STR_FMT "\",\"version\":\"" STR_FMT
             "\",\"kind\":\"" STR_FMT "\"}}",
             STR_ARG(k->group), STR_ARG(k->version), STR_ARG(k->kind));
    *first = false;
}

struct operation {
    uint16_t verb;
    const char *method, *action;
};

static void add_path(const struct openapi_kind *k, const char *suffix, const struct operation *ops, size_t n,
                     bool *first, struct buf *out)
{
    bool first_op = true;

    buf_adds(out, *first ? "\"" : ",\"");
    if (k->group.n > 0)
        buf_addf(out, "/apis/" STR_FMT "/" STR_FMT, STR_ARG(k->group), STR_ARG(k->version));
    else
        buf_addf(out, "/api/" STR_FMT, STR_ARG(k->version));
    buf_addf(out, "%s/" STR_FMT "%s\":{", k->namespaced ? "/namespaces/{namespace}" : "", STR_ARG(k->plural),
             suffix);
    for (size_t i = 0; i < n; i++)
        if (k->verbs & ops[i].verb)
            add_operation(k, ops[i].method, ops[i].action, &first_op, out);
    buf_addc(out, '}');
    *first = false;
}

void openapi_paths(const struct openapi_kind *k, bool *first, struct buf *out)
{
    static const struct operation list[] = { { API_VERB_LIST, "get", "list" },
                                             { API_VERB_CREATE, "post", "post" },
                                             { API_VERB_DELETECOLLECTION, "delete", "deletecollection" } };
    static const struct operation item[] = { { API_VERB_GET, "get", "get" },
                                             { API_VERB_UPDATE, "put", "put" },
                                             { API_VERB_PATCH, "patch", "patch" },
                                             { API_VERB_DELETE, "delete", "delete" } };

    add_path(k, "", list, ARRAY_SIZE(list), first, out);
    if (k->verbs & (API_VERB_GET | API_VERB_PATCH))
        add_path(k, "/{name}", item, ARRAY_SIZE(item), first, out);
    if (k->status)
        add_path(k, "/{name}/status", item, 3, first, out);
}

/* ---- schemas ---- */

void openapi_begin_schemas(struct buf *out)
{
    buf_adds(out, "},\"components\":{\"schemas\":{");
}

void openapi_end(struct buf *out)
{
    buf_adds(out, "}}}");
}

static const char *text(uint32_t offset)
{
    return api_types_text(&api_kind_types, offset);
}

/* The types are a graph with cycles (JSONSchemaProps): each is visited once. */
void openapi_mark(uint16_t type, bool *used)
{
    const struct api_type *t = &api_kind_types.types[type];

    if (used[type])
        return;
    used[type] = true;
    if (t->kind == API_TYPE_LIST || t->kind == API_TYPE_MAP || t->kind >= API_TYPE_SCHEMA_OR_BOOL)
        openapi_mark(t->elem, used);
    for (uint32_t i = 0; i < t->n; i++)
        if (text(api_kind_types.fields[t->first + i].name)[0] != ' ')
            openapi_mark(api_kind_types.fields[t->first + i].type, used);
}

static const struct {
    const char *type, *format;
} scalars[] = {
    [API_TYPE_STRING] = { "string", NULL },      [API_TYPE_BOOL] = { "boolean", NULL },
    [API_TYPE_INT32] = { "integer", "int32" },   [API_TYPE_INT64] = { "integer", "int64" },
    [API_TYPE_DOUBLE] = { "number", "double" },  [API_TYPE_BYTES] = { "string", "byte" },
    [API_TYPE_TIME] = { "string", "date-time" }, [API_TYPE_MICRO_TIME] = { "string", "date-time" },
    [API_TYPE_DURATION] = { "string", NULL },    [API_TYPE_FIELDS] = { "object", NULL },
    [API_TYPE_RAW] = { "object", NULL },
};

static void add_list_keys(const struct api_type *t, struct buf *out)
{
    const char *key = text(t->keys);

    if (t->list == API_LIST_SET)
        buf_adds(out, ",\"x-kubernetes-list-type\":\"set\"");
    if (t->list != API_LIST_MAP)
        return;
    buf_adds(out, ",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[");
    for (uint8_t i = 0; i < t->n_keys; i++, key += strlen(key) + 1)
        buf_addf(out, "%s\"%s\"", i ? "," : "", key);
    buf_addc(out, ']');
}

/* The members of a type's schema, without braces. A named type is a reference. */
static void add_inline(uint16_t type, bool reference, struct buf *out)
{
    const struct api_type *t = &api_kind_types.types[type];
    const char *key = text(t->keys);

    if (reference && *text(t->name)) {
        buf_addf(out, "\"allOf\":[{\"$ref\":\"" OPENAPI_REF "%s\"}]", text(t->name));
        return;
    }
    switch ((enum api_type_kind)t->kind) {
    case API_TYPE_LIST:
        buf_adds(out, "\"type\":\"array\",\"items\":{");
        add_inline(t->elem, true, out);
        buf_addc(out, '}');
        add_list_keys(t, out);
        return;
    case API_TYPE_MAP:
        buf_adds(out, "\"type\":\"object\",\"additionalProperties\":{");
        add_inline(t->elem, true, out);
        buf_adds(out, t->flags & API_TYPE_ATOMIC ? "},\"x-kubernetes-map-type\":\"atomic\"" : "}");
        return;
    case API_TYPE_INT_OR_STRING:
        buf_adds(out,
                 "\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]");
        return;
    case API_TYPE_QUANTITY:
        buf_adds(out, "\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]");
        return;
    default:
        break;
    }
    if (t->kind >= ARRAY_SIZE(scalars) || !scalars[t->kind].type)
        return;
    buf_addf(out, "\"type\":\"%s\"", scalars[t->kind].type);
    if (scalars[t->kind].format)
        buf_addf(out, ",\"format\":\"%s\"", scalars[t->kind].format);
    for (uint8_t i = 0; i < t->n_keys; i++, key += strlen(key) + 1)
        buf_addf(out, "%s\"%s\"%s", i ? "," : ",\"enum\":[", key, i + 1 == t->n_keys ? "]" : "");
}

static void add_field(const struct api_field *f, struct buf *out)
{
    const size_t n = out->n + 1;

    add_string(str_from(text(f->name)), out);
    buf_adds(out, ":{");
    if (f->doc) {
        buf_adds(out, "\"description\":");
        add_string(str_from(text(f->doc)), out);
        buf_addc(out, ',');
    }
    if (f->dflt)
        buf_addf(out, "\"default\":%s,", text(f->dflt));
    if (f->flags & API_FIELD_SMP_MERGE)
        buf_adds(out, f->flags & API_FIELD_SMP_RETAIN
                          ? "\"x-kubernetes-patch-strategy\":\"merge,retainKeys\","
                          : "\"x-kubernetes-patch-strategy\":\"merge\",");
    else if (f->flags & (API_FIELD_SMP_REPLACE | API_FIELD_SMP_RETAIN))
        buf_addf(out, "\"x-kubernetes-patch-strategy\":\"%s\",",
                 f->flags & API_FIELD_SMP_RETAIN ? "retainKeys" : "replace");
    if (f->smp_key)
        buf_addf(out, "\"x-kubernetes-patch-merge-key\":\"%s\",", text(f->smp_key));
    if (f->flags & (API_FIELD_ATOMIC | API_FIELD_GRANULAR))
        buf_addf(out, "\"x-kubernetes-map-type\":\"%s\",",
                 f->flags & API_FIELD_ATOMIC ? "atomic" : "granular");
    add_inline(f->type, true, out);
    if (out->n > n && out->p[out->n - 1] == ',')
        buf_truncate(out, out->n - 1);
    buf_addc(out, '}');
}

static void add_properties(const struct api_type *t, struct buf *out)
{
    size_t n = 0, required = 0;

    buf_adds(out, "\"type\":\"object\",\"properties\":{");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct api_field *f = &api_kind_types.fields[t->first + i];

        if (text(f->name)[0] == ' ')
            continue;
        buf_adds(out, n++ ? "," : "");
        add_field(f, out);
    }
    buf_addc(out, '}');
    for (uint32_t i = 0; i < t->n; i++) {
        const struct api_field *f = &api_kind_types.fields[t->first + i];

        if (f->flags & API_FIELD_REQUIRED)
            buf_addf(out, "%s\"%s\"", required++ ? "," : ",\"required\":[", text(f->name));
    }
    buf_adds(out, required ? "]" : "");
    if (t->flags & API_TYPE_ATOMIC)
        buf_adds(out, ",\"x-kubernetes-map-type\":\"atomic\"");
}

static void add_group_kind(uint16_t type, struct str group, struct str version, struct buf *out)
{
    for (size_t i = 0; i < api_gen_n_kinds; i++) {
        const struct api_kind *k = &api_gen_kinds[i];

        if (k->type == type && str_eq(str_from(k->group), group) && str_eq(str_from(k->version), version)) {
            buf_addf(out,
                     ",\"x-kubernetes-group-version-kind\":[{\"group\":\"%s\",\"version\":\"%s\",\"kind\":\"%"
                     "s\"}]",
                     k->group, k->version, k->kind);
            return;
        }
    }
}

void openapi_builtin_schemas(const bool *used, struct str group, struct str version, bool *first,
                             struct buf *out)
{
    for (uint32_t i = 0; i < api_kind_types.n_types; i++) {
        const struct api_type *t = &api_kind_types.types[i];

        if (!used[i] || !*text(t->name))
            continue;
        buf_adds(out, *first ? "" : ",");
        *first = false;
        add_string(str_from(text(t->name)), out);
        buf_adds(out, ":{\"description\":");
        add_string(str_from(text(t->doc)), out);
        if (t->kind == API_TYPE_STRUCT) {
            buf_addc(out, ',');
            add_properties(t, out);
        } else {
            const size_t n = out->n;

            buf_addc(out, ',');
            add_inline((uint16_t)i, false, out);
            if (out->n == n + 1)
                buf_truncate(out, n);
        }
        add_group_kind((uint16_t)i, group, version, out);
        buf_addc(out, '}');
    }
}

/* ---- built-in documents ---- */

int api_kind_openapi_v3(struct str group, struct str version, struct buf *out, struct err **err)
{
    CLEANUP(free_ptr) bool *used = xcalloc(api_kind_types.n_types, sizeof(*used));
    bool first = true, found = false;

    openapi_begin(out);
    for (size_t i = 0; i < api_gen_n_kinds; i++) {
        const struct api_kind *k = &api_gen_kinds[i];
        const struct openapi_kind o = { group,
                                        version,
                                        str_from(k->kind),
                                        str_from(k->plural),
                                        k->namespaced,
                                        k->verbs,
                                        str_from(text(api_kind_types.types[k->type].name)),
                                        api_kind_subresource(k, STR("status")) != NULL,
                                        false };

        if (!str_eq(str_from(k->group), group) || !str_eq(str_from(k->version), version))
            continue;
        found = true;
        openapi_paths(&o, &first, out);
        openapi_mark(k->type, used);
    }
    if (!found)
        return err_set(err, ERRC_NOT_FOUND, "no built-in kinds in " STR_FMT "/" STR_FMT, STR_ARG(group),
                       STR_ARG(version));
    openapi_begin_schemas(out);
    first = true;
    openapi_builtin_schemas(used, group, version, &first, out);
    openapi_end(out);
    return buf_check(out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds.h"

#include <stdlib.h>

#include "apiserver/kinds_gen.h"

const struct api_types api_kind_types = {
    .text = api_gen_text,
    .types = api_gen_types,
    .fields = api_gen_fields,
    .n_types = API_GEN_N_TYPES,
    .n_fields = API_GEN_N_FIELDS,
};

const char *api_kind_tables_version(void)
{
    return API_GEN_VERSION;
}

const struct api_kind *api_kind_all(size_t *ret_n)
{
    *ret_n = api_gen_n_kinds;
    return api_gen_kinds;
}

static bool kind_in(const struct api_kind *k, struct str group, struct str version)
{
    return str_eq(str_from(k->group), group) && str_eq(str_from(k->version), version);
}

const struct api_kind *api_kind_find(struct str group, struct str version, struct str kind)
{
    for (size_t i = 0; i < api_gen_n_kinds; i++) {
        const struct api_kind *k = &api_gen_kinds[i];

        if (str_eq(str_from(k->kind), kind) && kind_in(k, group, version))
            return k;
    }
    return NULL;
}

const struct api_kind *api_kind_find_plural(struct str group, struct str version, struct str plural)
{
    for (size_t i = 0; i < api_gen_n_kinds; i++) {
        const struct api_kind *k = &api_gen_kinds[i];

        if (str_eq(str_from(k->plural), plural) && kind_in(k, group, version))
            return k;
    }
    return NULL;
}

const struct api_subresource *api_kind_subresource(const struct api_kind *k, struct str name)
{
    for (size_t i = 0; i < k->n_subresources; i++)
        if (str_eq(str_from(k->subresources[i].name), name))
            return &k->subresources[i];
    return NULL;
}

struct api_ref api_kind_object_meta(void)
{
    return (struct api_ref){ &api_kind_types, API_GEN_OBJECT_META, 0 };
}

struct api_ref api_kind_delete_options(void)
{
    return (struct api_ref){ &api_kind_types, API_GEN_DELETE_OPTIONS, 0 };
}

struct api_ref api_kind_type_named(struct str id)
{
    for (uint32_t i = 0; i < api_kind_types.n_types; i++)
        if (str_eq(str_from(api_types_text(&api_kind_types, api_gen_types[i].name)), id))
            return (struct api_ref){ &api_kind_types, (uint16_t)i, 0 };
    return API_REF_ANY;
}

void api_kind_each_verb(uint16_t verbs, void (*fn)(void *ctx, const char *verb), void *ctx)
{
    static const char *const names[] = { "create", "delete", "deletecollection", "get",
                                         "list",   "patch",  "update",           "watch" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (verbs & (1U << i))
            fn(ctx, names[i]);
}

/* ---- walking types ---- */

struct field_key {
    const struct api_types *of;
    struct str name;
};

static int compare_field(const void *key, const void *field)
{
    const struct field_key *k = key;
    const struct api_field *f = field;

    return str_cmp(k->name, str_from(api_types_text(k->of, f->name)));
}

const struct api_field *api_ref_field(struct api_ref r, struct str name)
{
    const struct field_key key = { r.of, name };
    const struct api_type *t;

    if (api_ref_kind(r) != API_TYPE_STRUCT)
        return NULL;
    t = api_ref_type(r);
    return bsearch(&key, &r.of->fields[t->first], t->n, sizeof(r.of->fields[0]), compare_field);
}

struct api_ref api_ref_of_field(struct api_ref r, const struct api_field *f)
{
    return (struct api_ref){ r.of, f->type, f->flags & (API_FIELD_ATOMIC | API_FIELD_GRANULAR) };
}

struct api_ref api_ref_items(struct api_ref r)
{
    const struct api_type *t;

    if (!r.of)
        return API_REF_ANY;
    t = api_ref_type(r);
    if (t->kind == API_TYPE_LIST || t->kind == API_TYPE_MAP || (t->flags & API_TYPE_HAS_ELEM))
        return (struct api_ref){ r.of, t->elem, 0 };
    return API_REF_ANY;
}

struct api_ref api_ref_member(struct api_ref r, struct str name, bool *ret_known)
{
    const struct api_field *f = api_ref_field(r, name);
    bool known = true;
    struct api_ref m = API_REF_ANY;

    if (f)
        m = api_ref_of_field(r, f);
    else if (r.of && (api_ref_kind(r) == API_TYPE_MAP || (api_ref_type(r)->flags & API_TYPE_HAS_ELEM)))
        m = api_ref_items(r);
    else
        known = false;
    if (ret_known)
        *ret_known = known;
    return m;
}

bool api_ref_atomic(struct api_ref r)
{
    if (r.field_flags & API_FIELD_GRANULAR)
        return false;
    return (r.field_flags & API_FIELD_ATOMIC) || (r.of && (api_ref_type(r)->flags & API_TYPE_ATOMIC));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "apiserver/jsonpath.h"
#include "apiserver/schema_int.h"
#include "apiserver/validate_int.h"
#include "base/limits.h"
#include "base/map.h"
#include "regex/regex.h"

/* CustomResourceDefinition objects: pkg/apis/apiextensions/validation and pkg/apiserver/schema. */

static bool is(struct value v, const char *path, const char *text)
{
    return str_eq(vtext(v, path), str_from(text));
}

/* ---- structural rules ---- */

struct node_check {
    struct check *c;
    int depth;
};

static void check_node(struct node_check *n, struct value node, const char *path, const char *where);

static const char *const types[] = { "array", "boolean", "integer", "number", "object", "string" };

static const char *const forbidden_always[] = { "$ref", "definitions", "dependencies",   "patternProperties",
                                                "id",   "$schema",     "additionalItems" };

static void check_forbidden(struct node_check *n, struct value node, const char *path)
{
    struct check *c = n->c;

    for (size_t i = 0; i < ARRAY_SIZE(forbidden_always); i++)
        if (!value_is_null(value_get(node, str_from(forbidden_always[i]))))
            api_cause_forbidden(c->causes, vpath(c, "%s.%s", path, forbidden_always[i]),
                                vpath(c, "%s is not supported", forbidden_always[i]));
    if (schema_flag(node, "uniqueItems"))
        api_cause_forbidden(
            c->causes, vpath(c, "%s.uniqueItems", path),
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    if (value_has(node, STR("properties")) && value_len(value_getz(node, "properties")) > 0 &&
        !value_is_null(value_getz(node, "additionalProperties")))
        api_cause_forbidden(c->causes, vpath(c, "%s.additionalProperties", path),
                            "additionalProperties and properties are mutual exclusive");
    if (value_is_list(value_getz(node, "items")))
        api_cause_forbidden(c->causes, vpath(c, "%s.items", path),
                            "items must be a schema object and not an array");
}

static void check_type(struct node_check *n, struct value node, const char *path, const char *where)
{
    const struct str type = vtext(node, "type");

    if (schema_flag(node, SCHEMA_INT_OR_STRING) || value_has(node, STR("$ref")))
        return;
    if (type.n > 0)
        venum(n->c, value_getz(node, "type"), types, ARRAY_SIZE(types), vpath(n->c, "%s.type", path));
    else if (!schema_flag(node, SCHEMA_PRESERVE) || strcmp(where, "at the root") == 0)
        api_cause_required(n->c->causes, vpath(n->c, "%s.type", path),
                           vpath(n->c, "must not be empty %s", where));
}

static bool in_list(struct value list, struct str name)
{
    for (size_t i = 0; i < value_len(list); i++)
        if (str_eq(value_str(value_at(list, i)), name))
            return true;
    return false;
}

static void check_list_keys(struct node_check *n, struct value node, const char *path)
{
    const struct value keys = value_getz(node, SCHEMA_LIST_KEYS), items = value_getz(node, "items");
    const char *keys_path = vpath(n->c, "%s." SCHEMA_LIST_KEYS, path);
    bool all = true;

    if (value_len(keys) == 0)
        api_cause_required(n->c->causes, keys_path, "must not be empty if x-kubernetes-list-type is map");
    if (value_is_map(items) && !is(items, "type", "object"))
        api_cause_invalid(n->c->causes, vpath(n->c, "%s.items.type", path), value_getz(items, "type"),
                          "must be object if parent array's x-kubernetes-list-type is map");
    for (size_t i = 0; i < value_len(keys); i++) {
        const struct str key = value_str(value_at(keys, i));
        const struct value_entry *e = value_find(value_getz(items, "properties"), key);

        all &= e != NULL;
        if (e && !value_has(e->v, STR("default")) && !in_list(value_getz(items, "required"), key))
            api_cause_required(
                n->c->causes, vpath(n->c, "%s.items.properties[" STR_FMT "].default", path, STR_ARG(key)),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required "
                "property");
    }
    if (!all)
        api_cause_invalid(n->c->causes, keys_path, keys, "entries must all be names of item properties");
}

static void check_extensions(struct node_check *n, struct value node, const char *path)
{
    static const char *const list_types[] = { "atomic", "set", "map" };
    static const char *const map_types[] = { "atomic", "granular" };
    struct check *c = n->c;
    const struct value list_type = value_getz(node, SCHEMA_LIST_TYPE),
                       map_type = value_getz(node, SCHEMA_MAP_TYPE);

    if (value_has(node, STR(SCHEMA_PRESERVE)) && !schema_flag(node, SCHEMA_PRESERVE))
        api_cause_invalid(c->causes, vpath(c, "%s." SCHEMA_PRESERVE, path), value_from_bool(false),
                          "must be true or undefined");
    if (!value_is_null(map_type))
        venum(c, map_type, map_types, 2, vpath(c, "%s." SCHEMA_MAP_TYPE, path));
    if (schema_flag(node, SCHEMA_EMBEDDED) && !schema_flag(node, SCHEMA_PRESERVE) &&
        value_len(value_getz(node, "properties")) == 0)
        api_cause_required(c->causes, vpath(c, "%s.properties", path),
                           "must not be empty if x-kubernetes-embedded-resource is true without "
                           "x-kubernetes-preserve-unknown-fields");
    if (schema_flag(node, SCHEMA_EMBEDDED) && !is(node, "type", "object"))
        api_cause_invalid(c->causes, vpath(c, "%s.type", path), value_getz(node, "type"),
                          "must be object if x-kubernetes-embedded-resource is true");
    if (value_is_null(list_type))
        return;
    if (!is(node, "type", "array"))
        api_cause_invalid(c->causes, vpath(c, "%s.type", path), value_getz(node, "type"),
                          "must be array if x-kubernetes-list-type is specified");
    venum(c, list_type, list_types, 3, vpath(c, "%s." SCHEMA_LIST_TYPE, path));
    if (str_eq(value_str(list_type), STR("map")))
        check_list_keys(n, node, path);
}

static void check_pattern(struct node_check *n, struct value node, const char *path)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(regex_unref) struct regex *re = NULL;
    const struct value pattern = value_getz(node, "pattern");

    if (value_str(pattern).n > 0 && regex_compile(value_str(pattern), &re, &err) < 0)
        api_cause_invalid(n->c->causes, vpath(n->c, "%s.pattern", path), pattern,
                          vpath(n->c, "must be a valid regular expression, but isn't: %s", err_message(err)));
}

/* In anyOf and the like only values are constrained; structure belongs outside. */
static void check_logic_node(struct node_check *n, struct value node, bool int_or_string, const char *path)
{
    static const struct {
        const char *name;
        const char *text;
    } rows[] = { { "type", "must be empty to be structural" },
                 { "description", "must be empty to be structural" },
                 { "title", "must be empty to be structural" },
                 { "default", "must be undefined to be structural" },
                 { "nullable", "must be false to be structural" },
                 { SCHEMA_PRESERVE, "must be false to be structural" },
                 { SCHEMA_EMBEDDED, "must be false to be structural" },
                 { SCHEMA_INT_OR_STRING, "must be false to be structural" },
                 { "additionalProperties", "must be undefined to be structural" } };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (!value_is_null(value_get(node, str_from(rows[i].name))) && !(int_or_string && i == 0))
            api_cause_forbidden(n->c->causes, vpath(n->c, "%s.%s", path, rows[i].name), rows[i].text);
}

static void check_logic(struct node_check *n, struct value node, const char *path)
{
    static const char *const lists[] = { "anyOf", "allOf", "oneOf" };
    const bool int_or_string = schema_flag(node, SCHEMA_INT_OR_STRING);

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        const struct value branches = value_get(node, str_from(lists[i]));

        for (size_t j = 0; j < value_len(branches); j++)
            check_logic_node(n, value_at(branches, j), int_or_string,
                             vpath(n->c, "%s.%s[%zu]", path, lists[i], j));
    }
    if (value_is_map(value_getz(node, "not")))
        check_logic_node(n, value_getz(node, "not"), false, vpath(n->c, "%s.not", path));
}

/* A default is checked as a value is, and it must not lose anything to pruning. */
static void check_default(struct node_check *n, struct value node, const char *path)
{
    CLEANUP(api_schema_unref) struct api_schema *s = NULL;
    const struct value v = value_getz(node, "default");
    const char *here = vpath(n->c, "%s.default", path);
    struct api_causes found = API_CAUSES_INIT(n->c->a);
    struct api_notes unknown = API_NOTES_INIT(n->c->a);
    struct value wrapper, properties, object, pruned;

    if (value_is_null(v))
        return;
    schema_check_value(node, v, NULL, "", &found);
    for (size_t i = 0; i < found.n; i++)
        api_cause_add(n->c->causes, found.items[i].reason,
                      str_from(vpath(n->c, "%s%s" STR_FMT, here, found.items[i].field.n ? "." : "",
                                     STR_ARG(found.items[i].field))),
                      found.items[i].message);
    wrapper = value_new_map(n->c->a);
    properties = value_new_map(n->c->a);
    object = value_new_map(n->c->a);
    value_setz(wrapper, "type", VALUE_STR("object"));
    value_setz(wrapper, "properties", properties);
    value_setz(properties, "v", node);
    value_setz(object, "v", v);
    if (api_schema_new(wrapper, &s, NULL) >= 0 &&
        api_schema_decode_custom(n->c->a, s, object, &pruned, &unknown, NULL) >= 0 && unknown.n > 0)
        api_cause_invalid(n->c->causes, here, v, "must not have unknown fields");
}

static void check_node(struct node_check *n, struct value node, const char *path, const char *where)
{
    const struct value items = value_getz(node, "items"), extra = value_getz(node, "additionalProperties");

    if (++n->depth > API_SCHEMA_DEPTH_MAX) {
        api_cause_forbidden(n->c->causes, path, "nested too deeply");
        n->depth--;
        return;
    }
    check_forbidden(n, node, path);
    check_type(n, node, path, where);
    check_extensions(n, node, path);
    check_pattern(n, node, path);
    check_logic(n, node, path);
    check_default(n, node, path);
    if (is(node, "type", "array") && !value_is_map(items) && !value_is_list(items))
        api_cause_required(n->c->causes, vpath(n->c, "%s.items", path), "must be specified");
    if (value_is_map(items))
        check_node(n, items, vpath(n->c, "%s.items", path), "for specified array items");
    if (value_is_map(extra))
        check_node(n, extra, vpath(n->c, "%s.additionalProperties", path), "for specified object fields");
    for (struct value_iter it = value_iter(value_getz(node, "properties")); value_next(&it);)
        check_node(n, it.v, vpath(n->c, "%s.properties[" STR_FMT "]", path, STR_ARG(it.key)),
                   "for specified object fields");
    n->depth--;
}

static void check_meta_property(struct check *c, struct value properties, const char *name, const char *type,
                                const char *path)
{
    const struct value v = value_get(properties, str_from(name));

    if (value_is_map(v) && !is(v, "type", type))
        api_cause_invalid(c->causes, vpath(c, "%s.properties[%s].type", path, name), value_getz(v, "type"),
                          vpath(c, "must be %s", type));
}

static void check_root(struct check *c, struct value schema, const char *path)
{
    struct node_check n = { c, 0 };
    const struct value properties = value_getz(schema, "properties"),
                       meta = value_getz(properties, "metadata");

    if (vtext(schema, "type").n > 0 && !is(schema, "type", "object")) {
        api_cause_invalid(c->causes, vpath(c, "%s.type", path), value_getz(schema, "type"),
                          "must be object at the root");
        return;
    }
    if (!value_is_null(value_getz(schema, "additionalProperties")))
        api_cause_forbidden(c->causes, vpath(c, "%s.additionalProperties", path),
                            "must not be used at the root");
    check_meta_property(c, properties, "apiVersion", "string", path);
    check_meta_property(c, properties, "kind", "string", path);
    check_meta_property(c, properties, "metadata", "object", path);
    for (struct value_iter it = value_iter(value_getz(meta, "properties")); value_next(&it);)
        if (!str_eq(it.key, STR("name")) && !str_eq(it.key, STR("generateName"))) {
            api_cause_forbidden(
                c->causes, vpath(c, "%s.properties[metadata]", path),
                "must not specify anything other than name and generateName, but metadata is implicitly "
                "specified");
            break;
        }
    check_node(&n, schema, path, "at the root");
}

/* ---- the definition ---- */

static void check_label(struct check *c, struct str name, const char *path)
{
    if (name.n == 0)
        api_cause_required(c->causes, path, "");
    else
        vname(c, RULE_LABEL_1035, name, path);
}

static void check_mixed(struct check *c, struct str name, const char *path)
{
    CLEANUP(buf_done) struct buf lower = BUF_INIT(64 * KIB);
    const char *fault;

    for (size_t i = 0; i < name.n; i++)
        buf_addc(&lower, ascii_lower(name.p[i]));
    fault = name.n ? vname_fault(c, RULE_LABEL_1035, buf_str(&lower)) : NULL;
    if (name.n == 0)
        api_cause_required(c->causes, path, "");
    else if (fault)
        api_cause_invalid(c->causes, path, value_from_str(name),
                          vpath(c, "may have mixed case, but should otherwise match: %s", fault));
}

static void check_names(struct check *c, struct value names)
{
    static const char *const lists[] = { "shortNames", "categories" };

    check_label(c, vtext(names, "plural"), "spec.names.plural");
    check_label(c, vtext(names, "singular"), "spec.names.singular");
    check_mixed(c, vtext(names, "kind"), "spec.names.kind");
    check_mixed(c, vtext(names, "listKind"), "spec.names.listKind");
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        const struct value list = value_get(names, str_from(lists[i]));

        for (size_t j = 0; j < value_len(list); j++)
            check_label(c, value_str(value_at(list, j)), vpath(c, "spec.names.%s[%zu]", lists[i], j));
    }
    if (vtext(names, "kind").n > 0 && str_eq(vtext(names, "kind"), vtext(names, "listKind")))
        api_cause_invalid(c->causes, "spec.names.listKind", value_getz(names, "listKind"),
                          "kind and listKind may not be the same");
}

static void check_columns(struct check *c, struct value columns, const char *path)
{
    static const char *const kinds[] = { "boolean", "date", "integer", "number", "string" };
    size_t i = 0;

    for (struct value_iter it = value_iter(columns); value_next(&it); i++) {
        const char *here = vpath(c, "%s[%zu]", path, i);
        const struct value json_path = value_getz(it.v, "jsonPath"), type = value_getz(it.v, "type");
        CLEANUP(api_jsonpath_free) struct api_jsonpath *p = NULL;
        bool known = false;

        if (vtext(it.v, "name").n == 0)
            api_cause_required(c->causes, vpath(c, "%s.name", here), "");
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
            known |= str_eq(value_str(type), str_from(kinds[k]));
        if (value_str(type).n == 0)
            api_cause_required(c->causes, vpath(c, "%s.type", here),
                               "must be one of boolean,date,integer,number,string");
        else if (!known)
            api_cause_invalid(c->causes, vpath(c, "%s.type", here), type,
                              "must be one of boolean,date,integer,number,string");
        if (value_str(json_path).n == 0)
            api_cause_required(c->causes, vpath(c, "%s.JSONPath", here), "");
        else if (value_str(json_path).p[0] != '.' || api_jsonpath_parse(value_str(json_path), &p, NULL) < 0)
            api_cause_invalid(c->causes, vpath(c, "%s.JSONPath", here), json_path,
                              "must be a simple json path starting with .");
    }
}

static void check_scale_path(struct check *c, struct value scale, const char *field, const char *under,
                             const char *path)
{
    const struct value v = value_get(scale, str_from(field));
    const char *here = vpath(c, "%s.scale.%s", path, field);

    if (value_str(v).n == 0)
        api_cause_required(c->causes, here, "");
    else if (value_str(v).p[0] != '.')
        api_cause_invalid(c->causes, here, v, "must be a simple json path starting with .");
    else if (!str_has_prefix(value_str(v), str_from(under)))
        api_cause_invalid(c->causes, here, v,
                          vpath(c, "should be a json path under %.*s", (int)strlen(under) - 1, under));
}

static void check_subresources(struct check *c, struct value subresources, const char *path)
{
    const struct value scale = value_getz(subresources, "scale");

    if (!value_is_map(scale))
        return;
    check_scale_path(c, scale, "specReplicasPath", ".spec.", path);
    check_scale_path(c, scale, "statusReplicasPath", ".status.", path);
}

/* Faults of what all versions have in common are told at the old places, as the conversion puts it there. */
static bool all_equal(struct value versions, const char *field)
{
    for (size_t i = 1; i < value_len(versions); i++)
        if (!value_equal(value_get(value_at(versions, i), str_from(field)),
                         value_get(value_at(versions, 0), str_from(field))))
            return false;
    return true;
}

static void check_version(struct check *c, struct value versions, size_t i)
{
    const struct value v = value_at(versions, i), schema = value_path(v, "schema.openAPIV3Schema");
    const bool same_schema = all_equal(versions, "schema"),
               same_columns = all_equal(versions, "additionalPrinterColumns");
    const bool same_sub = all_equal(versions, "subresources");

    vname(c, RULE_LABEL_1035, vtext(v, "name"), vpath(c, "spec.versions[%zu].name", i));
    if (i == 0) /* once more, where the oldest form of the kind had it */
        vname(c, RULE_LABEL_1035, vtext(v, "name"), "spec.version");
    if (!value_is_map(schema))
        api_cause_required(c->causes, vpath(c, "spec.versions[%zu].schema.openAPIV3Schema", i), "");
    else if (!same_schema || i == 0)
        check_root(c, schema,
                   same_schema ? "spec.validation.openAPIV3Schema"
                               : vpath(c, "spec.versions[%zu].schema.openAPIV3Schema", i));
    if (!same_columns || i == 0)
        check_columns(c, value_getz(v, "additionalPrinterColumns"),
                      same_columns ? "spec.additionalPrinterColumns"
                                   : vpath(c, "spec.versions[%zu].additionalPrinterColumns", i));
    if (!same_sub || i == 0)
        check_subresources(c, value_getz(v, "subresources"),
                           same_sub ? "spec.subresources" : vpath(c, "spec.versions[%zu].subresources", i));
}

/* The internal form of a version, as messages show it. */
static struct value shown_versions(struct check *c, struct value versions)
{
    struct value_list l = VALUE_LIST_INIT(c->a);

    for (size_t i = 0; i < value_len(versions); i++)
        value_list_add(&l, value_getz(value_at(versions, i), "name"));
    return value_list_done(&l);
}

static void check_versions(struct check *c, struct value versions)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;
    size_t storage = 0;
    bool unique = true;

    for (size_t i = 0; i < value_len(versions); i++) {
        check_version(c, versions, i);
        storage += value_bool(value_getz(value_at(versions, i), "storage"));
        unique &= map_put(&seen, vtext(value_at(versions, i), "name"), c) == NULL;
    }
    if (!unique)
        api_cause_invalid(c->causes, "spec.versions", shown_versions(c, versions),
                          "must contain unique version names");
    if (storage != 1)
        api_cause_invalid(c->causes, "spec.versions", shown_versions(c, versions),
                          "must have exactly one version marked as storage version");
}

static void check_conversion(struct check *c, struct value conversion)
{
    static const char *const strategies[] = { "None", "Webhook" };

    if (!value_is_map(conversion))
        return;
    venum(c, value_getz(conversion, "strategy"), strategies, 2, "spec.conversion.strategy");
    if (!is(conversion, "strategy", "Webhook"))
        return;
    if (!vset(conversion, "webhook.clientConfig"))
        api_cause_required(c->causes, "spec.conversion.webhookClientConfig",
                           "required when strategy is set to Webhook");
    if (value_len(value_path(conversion, "webhook.conversionReviewVersions")) == 0)
        api_cause_required(c->causes, "spec.conversion.conversionReviewVersions", "");
}

static void check_changes(struct check *c, struct value crd, struct value old)
{
    static const char *const fixed[] = { "spec.group", "spec.names.plural", "spec.scope", "spec.names.kind" };
    bool established = false;

    if (!value_is_map(old))
        return;
    for (struct value_iter it = value_iter(value_path(old, "status.conditions")); value_next(&it);)
        established |= is(it.v, "type", "Established") && is(it.v, "status", "True");
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        if ((i < 2 || established) && !value_equal(value_path(crd, fixed[i]), value_path(old, fixed[i])))
            api_cause_invalid(c->causes, fixed[i], value_path(crd, fixed[i]), "field is immutable");
    for (struct value_iter it = value_iter(value_path(old, "status.storedVersions")); value_next(&it);) {
        bool there = false;

        for (struct value_iter v = value_iter(value_path(crd, "spec.versions")); value_next(&v);)
            there |= value_equal(value_getz(v.v, "name"), it.v);
        if (!there)
            api_cause_invalid(
                c->causes, vpath(c, "status.storedVersions[%zu]", it.i), it.v,
                vpath(c,
                      "missing from spec.versions; " STR_FMT
                      " was previously a storage version, and must remain in spec.versions until a storage "
                      "migration ensures no data remains persisted in " STR_FMT " and removes " STR_FMT
                      " from status.storedVersions",
                      STR_ARG(value_str(it.v)), STR_ARG(value_str(it.v)), STR_ARG(value_str(it.v))));
    }
}

void api_schema_check_crd(struct value crd, struct value old, struct api_causes *causes)
{
    static const char *const scopes[] = { "Cluster", "Namespaced" };
    struct check c = { causes, causes->arena };
    const struct value spec = value_getz(crd, "spec");
    const struct str group = vtext(spec, "group"), name = vtext(crd, "metadata.name");
    const struct str want =
        arena_printf(c.a, STR_FMT "." STR_FMT, STR_ARG(vtext(spec, "names.plural")), STR_ARG(group));

    if (!str_eq(name, want))
        api_cause_invalid(causes, "metadata.name", value_from_str(name),
                          "must be spec.names.plural+\".\"+spec.group");
    if (group.n == 0)
        api_cause_required(causes, "spec.group", "");
    else if (vname_fault(&c, RULE_SUBDOMAIN, group))
        vname(&c, RULE_SUBDOMAIN, group, "spec.group");
    else if (str_find_char(group, '.') == STR_NPOS)
        api_cause_invalid(causes, "spec.group", value_from_str(group),
                          "should be a domain with at least one dot");
    venum(&c, value_getz(spec, "scope"), scopes, 2, "spec.scope");
    if (schema_flag(spec, "preserveUnknownFields"))
        api_cause_invalid(
            causes, "spec.preserveUnknownFields", value_from_bool(true),
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
            "instead");
    check_versions(&c, value_getz(spec, "versions"));
    check_names(&c, value_getz(spec, "names"));
    check_conversion(&c, value_getz(spec, "conversion"));
    check_changes(&c, crd, old);
}

void api_schema_default_crd(struct arena *a, struct value crd)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * KIB);
    const struct value spec = value_getz(crd, "spec"), names = value_getz(spec, "names");
    const struct str kind = vtext(names, "kind");
    struct value conversion;

    if (!value_is_map(spec))
        return;
    if (value_is_map(names) && vtext(names, "singular").n == 0 && kind.n > 0) {
        for (size_t i = 0; i < kind.n; i++)
            buf_addc(&b, ascii_lower(kind.p[i]));
        value_setz(names, "singular", value_from_str(arena_dup(a, buf_str(&b))));
    }
    if (value_is_map(names) && vtext(names, "listKind").n == 0 && kind.n > 0)
        value_setz(names, "listKind", value_from_str(arena_printf(a, STR_FMT "List", STR_ARG(kind))));
    if (!value_is_map(value_getz(spec, "conversion"))) {
        conversion = value_new_map(a);
        value_setz(conversion, "strategy", VALUE_STR("None"));
        value_setz(spec, "conversion", conversion);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/validate_int.h"
#include "base/limits.h"
#include "regex/regex.h"

#define ANNOTATIONS_MAX (256 * KIB)

const char *vpath(struct check *c, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    return arena_dupz(c->a, str_from(text));
}

struct str vtext(struct value v, const char *path)
{
    return value_str(value_path(v, path));
}

bool vset(struct value v, const char *path)
{
    return !value_is_null(value_path(v, path));
}

void vinvalid_shown(struct check *c, const char *path, const char *reason, const char *words,
                    const char *shown, const char *detail)
{
    api_cause_add(c->causes, reason, str_from(path), str_from(vpath(c, "%s: %s: %s", words, shown, detail)));
}

/* ---- names ---- */

#define SUBDOMAIN_TEXT                                                                                    \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and " \
    "must "                                                                                               \
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "     \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define QUALIFIED_TEXT                                                                                       \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " \
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                  \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

static const struct {
    const char *pattern;
    size_t max;
    const char *text;
} name_rules[] = {
    [RULE_SUBDOMAIN] = { "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", 253,
                         SUBDOMAIN_TEXT },
    [RULE_LABEL] = { "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63,
                     "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
                     "and must start "
                     "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
                     "validation is "
                     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')" },
    [RULE_LABEL_1035] = { "^[a-z]([-a-z0-9]*[a-z0-9])?$", 63,
                          "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
                          "with an "
                          "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
                          "'abc-123', "
                          "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')" },
    [RULE_QUALIFIED] = { "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$", 63, QUALIFIED_TEXT },
    [RULE_CONFIG_KEY] = { "^[-._a-zA-Z0-9]+$", 253,
                          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                          "'key.name',  or "
                          "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')" },
};

static bool matches(const char *pattern, struct str text)
{
    CLEANUP(regex_unref) struct regex *re = NULL;

    return regex_compile(str_from(pattern), &re, NULL) >= 0 && regex_match(re, text);
}

static const char *too_long(struct check *c, size_t max)
{
    return vpath(c, "must be no more than %zu characters", max);
}

/* "prefix/name": a DNS name, and what labels are called. */
static const char *qualified_fault(struct check *c, struct str name)
{
    const size_t slash = str_find_char(name, '/');
    struct str rest = name;
    const char *fault;

    if (slash != STR_NPOS) {
        if (str_find_char(str_sub(name, slash + 1, name.n), '/') != STR_NPOS)
            return "a qualified name " QUALIFIED_TEXT
                   " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
        if (slash == 0)
            return "prefix part must be non-empty";
        fault = vname_fault(c, RULE_SUBDOMAIN, str_sub(name, 0, slash));
        if (fault)
            return vpath(c, "prefix part %s", fault);
        rest = str_sub(name, slash + 1, name.n);
    }
    if (rest.n == 0)
        return "name part must be non-empty";
    if (rest.n > name_rules[RULE_QUALIFIED].max)
        return vpath(c, "name part %s", too_long(c, name_rules[RULE_QUALIFIED].max));
    return matches(name_rules[RULE_QUALIFIED].pattern, rest) ? NULL : "name part " QUALIFIED_TEXT;
}

static const char *segment_fault(struct str name)
{
    if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
        return str_eq(name, STR(".")) ? "may not be '.'" : "may not be '..'";
    if (str_find_char(name, '/') != STR_NPOS)
        return "may not contain '/'";
    return str_find_char(name, '%') != STR_NPOS ? "may not contain '%'" : NULL;
}

static const char *config_key_fault(struct check *c, struct str name)
{
    if (name.n > name_rules[RULE_CONFIG_KEY].max)
        return too_long(c, name_rules[RULE_CONFIG_KEY].max);
    if (!matches(name_rules[RULE_CONFIG_KEY].pattern, name))
        return name_rules[RULE_CONFIG_KEY].text;
    if (str_eq(name, STR(".")))
        return "must not be '.'";
    if (str_eq(name, STR("..")))
        return "must not be '..'";
    return str_has_prefix(name, STR("..")) ? "must not start with '..'" : NULL;
}

const char *vname_fault(struct check *c, enum name_rule rule, struct str name)
{
    if (rule == RULE_QUALIFIED)
        return qualified_fault(c, name);
    if (rule == RULE_PATH_SEGMENT)
        return segment_fault(name);
    if (rule == RULE_CONFIG_KEY)
        return config_key_fault(c, name);
    if (name.n > name_rules[rule].max)
        return too_long(c, name_rules[rule].max);
    return matches(name_rules[rule].pattern, name) ? NULL : name_rules[rule].text;
}

static void port_name(struct check *c, struct str name, const char *path)
{
    const struct value bad = value_from_str(name);

    if (name.n > 15)
        api_cause_invalid(c->causes, path, bad, "must be no more than 15 characters");
    if (!matches("^[-a-z0-9]+$", name))
        api_cause_invalid(c->causes, path, bad,
                          "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!matches("[a-z]", name))
        api_cause_invalid(c->causes, path, bad, "must contain at least one letter (a-z)");
    if (str_contains(name, STR("--")))
        api_cause_invalid(c->causes, path, bad, "must not contain consecutive hyphens");
    if (name.n > 0 && (name.p[0] == '-' || name.p[name.n - 1] == '-'))
        api_cause_invalid(c->causes, path, bad, "must not begin or end with a hyphen");
}

void vname(struct check *c, enum name_rule rule, struct str name, const char *path)
{
    const char *fault;

    if (rule == RULE_PORT_NAME) {
        port_name(c, name, path);
        return;
    }
    fault = vname_fault(c, rule, name);
    if (fault)
        api_cause_invalid(c->causes, path, value_from_str(name), fault);
}

/* ---- small rules ---- */

void vlabels(struct check *c, struct value labels, const char *path)
{
    for (struct value_iter it = value_iter(labels); value_next(&it);) {
        const struct str v = value_str(it.v);

        vname(c, RULE_QUALIFIED, it.key, path);
        if (v.n > 63)
            api_cause_invalid(c->causes, path, it.v, "must be no more than 63 characters");
        else if (!matches("^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$", v))
            api_cause_invalid(
                c->causes, path, it.v,
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
                "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',"
                "  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    }
}

void vlabel_selector(struct check *c, struct value selector, const char *path)
{
    static const char *const operators[] = { "In", "NotIn", "Exists", "DoesNotExist" };
    size_t i = 0;

    vlabels(c, value_getz(selector, "matchLabels"), vpath(c, "%s.matchLabels", path));
    for (struct value_iter it = value_iter(value_getz(selector, "matchExpressions")); value_next(&it); i++) {
        const char *here = vpath(c, "%s.matchExpressions[%zu]", path, i);
        const struct str op = vtext(it.v, "operator");
        const bool takes = str_eq(op, STR("In")) || str_eq(op, STR("NotIn"));
        const size_t n = value_len(value_getz(it.v, "values"));
        bool known = false;

        for (size_t k = 0; k < ARRAY_SIZE(operators); k++)
            known |= str_eq(op, str_from(operators[k]));
        if (!known)
            api_cause_invalid(c->causes, vpath(c, "%s.operator", here), value_getz(it.v, "operator"),
                              "not a valid selector operator");
        else if (takes && n == 0)
            api_cause_required(c->causes, vpath(c, "%s.values", here),
                               "must be specified when `operator` is 'In' or 'NotIn'");
        else if (!takes && n > 0)
            api_cause_forbidden(c->causes, vpath(c, "%s.values", here),
                                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        vname(c, RULE_QUALIFIED, vtext(it.v, "key"), vpath(c, "%s.key", here));
    }
}

void venum(struct check *c, struct value v, const char *const *allowed, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(value_str(v), str_from(allowed[i])))
            return;
    api_cause_not_supported(c->causes, path, v, allowed, n);
}

void vnot_negative(struct check *c, struct value v, const char *path)
{
    if (value_int(v, 0) < 0)
        api_cause_invalid(c->causes, path, v, "must be greater than or equal to 0");
}

void vport(struct check *c, struct value v, const char *path)
{
    const int64_t n = value_int(v, 0);

    if (n < 1 || n > 65535)
        api_cause_invalid(c->causes, path, v, "must be between 1 and 65535, inclusive");
}

void vpercent_or_int(struct check *c, struct value v, const char *path)
{
    const struct str s = value_str(v);
    int64_t n;

    if (value_is_null(v))
        return;
    if (!value_is_string(v)) {
        vnot_negative(c, v, path);
        return;
    }
    if (!matches("^[0-9]+%$", s))
        api_cause_invalid(c->causes, path, v,
                          "a valid percent string must be a numeric string followed by an ending '%' (e.g. "
                          "'1%',  or '93%', "
                          "regex used for validation is '[0-9]+%')");
    else if (!str_to_int64(str_sub(s, 0, s.n - 1), &n) || n > 100)
        api_cause_invalid(c->causes, path, v, "must not be greater than 100%");
}

bool vselector_matches(struct value selector, struct value labels)
{
    for (struct value_iter it = value_iter(value_getz(selector, "matchLabels")); value_next(&it);)
        if (!value_has(labels, it.key) || !value_equal(value_get(labels, it.key), it.v))
            return false;
    for (struct value_iter it = value_iter(value_getz(selector, "matchExpressions")); value_next(&it);) {
        const struct str key = vtext(it.v, "key"), op = vtext(it.v, "operator");
        bool listed = false;

        for (struct value_iter v = value_iter(value_getz(it.v, "values")); value_next(&v);)
            listed |= value_has(labels, key) && value_equal(v.v, value_get(labels, key));
        if (str_eq(op, STR("In"))      ? !listed
            : str_eq(op, STR("NotIn")) ? listed
                                       : value_has(labels, key) != str_eq(op, STR("Exists")))
            return false;
    }
    return true;
}

/* ---- metadata ---- */

static void check_annotations(struct check *c, struct value annotations)
{
    size_t total = 0;

    for (struct value_iter it = value_iter(annotations); value_next(&it);) {
        CLEANUP(buf_done) struct buf lower = BUF_INIT(MIB);

        for (size_t i = 0; i < it.key.n; i++)
            buf_addc(&lower, ascii_lower(it.key.p[i]));
        if (vname_fault(c, RULE_QUALIFIED, buf_str(&lower)))
            api_cause_invalid(c->causes, "metadata.annotations", value_from_str(it.key),
                              vname_fault(c, RULE_QUALIFIED, buf_str(&lower)));
        total += it.key.n + value_str(it.v).n;
    }
    if (total > ANNOTATIONS_MAX)
        api_cause_too_long(c->causes, "metadata.annotations", ANNOTATIONS_MAX);
}

static void check_owners(struct check *c, struct value owners)
{
    static const struct {
        const char *field, *text;
    } needed[] = { { "apiVersion", "version must not be empty" },
                   { "kind", "must not be empty" },
                   { "name", "must not be empty" },
                   { "uid", "must not be empty" } };
    struct value controller = VALUE_NONE;

    for (struct value_iter it = value_iter(owners); value_next(&it);) {
        for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
            if (value_str(value_get(it.v, str_from(needed[i].field))).n == 0)
                api_cause_invalid(c->causes, vpath(c, "metadata.ownerReferences.%s", needed[i].field),
                                  VALUE_STR(""), needed[i].text);
        if (!value_bool(value_getz(it.v, "controller")))
            continue;
        if (!value_is_null(controller))
            api_cause_invalid(c->causes, "metadata.ownerReferences", owners,
                              vpath(c,
                                    "Only one reference can have Controller set to true. Found \"true\" in "
                                    "references for " STR_FMT "/" STR_FMT " and " STR_FMT "/" STR_FMT,
                                    STR_ARG(vtext(controller, "kind")), STR_ARG(vtext(controller, "name")),
                                    STR_ARG(vtext(it.v, "kind")), STR_ARG(vtext(it.v, "name"))));
        controller = it.v;
    }
}

/* Kinds of kube-apiserver itself know a list of plain names; the machinery that CustomResourceDefinitions, APIServices and
 * custom objects are checked with takes any qualified name (apimachinery's ValidateFinalizerName). */
static bool wants_standard_finalizers(struct value obj)
{
    const struct str api_version = vtext(obj, "apiVersion"), group = str_dirname(api_version);

    return api_kind_find(group, str_basename(api_version), vtext(obj, "kind")) &&
           !str_eq(group, STR("apiextensions.k8s.io")) && !str_eq(group, STR("apiregistration.k8s.io"));
}

static void check_finalizers(struct check *c, struct value obj)
{
    const struct value finalizers = value_path(obj, "metadata.finalizers");
    const bool standard_only = wants_standard_finalizers(obj);
    static const char *const standard[] = { "kubernetes", "orphan", "foregroundDeletion" };
    size_t n = 0;

    for (struct value_iter it = value_iter(finalizers); value_next(&it); n++) {
        const struct str name = value_str(it.v);
        bool known = false;

        vname(c, RULE_QUALIFIED, name, "metadata.finalizers");
        for (size_t i = 0; i < ARRAY_SIZE(standard); i++)
            known |= str_eq(name, str_from(standard[i]));
        if (standard_only && !known && str_find_char(name, '/') == STR_NPOS)
            api_cause_invalid(c->causes, vpath(c, "metadata.finalizers[%zu]", n), it.v,
                              "name is neither a standard finalizer name nor is it fully qualified");
    }
}

static void check_name(struct check *c, struct value meta, enum api_name_rule rule)
{
    static const enum name_rule rules[] = { [API_NAME_SUBDOMAIN] = RULE_SUBDOMAIN,
                                            [API_NAME_LABEL] = RULE_LABEL,
                                            [API_NAME_LABEL_1035] = RULE_LABEL_1035,
                                            [API_NAME_PATH_SEGMENT] = RULE_PATH_SEGMENT };
    const struct str name = vtext(meta, "name");

    if (name.n == 0)
        api_cause_required(c->causes, "metadata.name", "name or generateName is required");
    else if (rule == API_NAME_LABEL && str_find_char(name, '.') != STR_NPOS)
        api_cause_invalid(c->causes, "metadata.name", value_from_str(name), "must not contain dots");
    else
        vname(c, rules[rule], name, "metadata.name");
}

static void check_immutable_meta(struct check *c, struct value meta, struct value old)
{
    static const char *const fields[] = {
        "name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"
    };

    if (!value_is_null(value_getz(old, "deletionTimestamp")))
        for (struct value_iter it = value_iter(value_getz(meta, "finalizers")); value_next(&it);) {
            bool known = false;

            for (struct value_iter o = value_iter(value_getz(old, "finalizers")); value_next(&o);)
                known |= value_equal(it.v, o.v);
            if (!known)
                api_cause_forbidden(
                    c->causes, "metadata.finalizers",
                    vpath(c,
                          "no new finalizers can be added if the object is being deleted, found new "
                          "finalizers []string{\"" STR_FMT "\"}",
                          STR_ARG(value_str(it.v))));
        }
    if (vtext(meta, "resourceVersion").n == 0)
        api_cause_invalid(c->causes, "metadata.resourceVersion", VALUE_STR(""),
                          "must be specified for an update");
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const struct value v = value_get(meta, str_from(fields[i]));

        if (!value_equal(v, value_get(old, str_from(fields[i]))))
            api_cause_invalid(c->causes, vpath(c, "metadata.%s", fields[i]), v, "field is immutable");
    }
}

void api_validate_metadata(struct value obj, struct value old, bool namespaced, enum api_name_rule rule,
                           struct api_causes *causes)
{
    struct check c = { causes, causes->arena };
    const struct value meta = value_getz(obj, "metadata");

    if (value_is_null(old)) {
        check_name(&c, meta, rule);
        if (namespaced && vtext(meta, "namespace").n == 0)
            api_cause_required(causes, "metadata.namespace", "");
    } else {
        check_immutable_meta(&c, meta, value_getz(old, "metadata"));
    }
    vlabels(&c, value_getz(meta, "labels"), "metadata.labels");
    check_annotations(&c, value_getz(meta, "annotations"));
    check_owners(&c, value_getz(meta, "ownerReferences"));
    check_finalizers(&c, obj);
}

/* ---- kinds ---- */

static enum api_name_rule name_rule(const struct api_kind *k)
{
    if (strcmp(k->kind, "Namespace") == 0)
        return API_NAME_LABEL;
    if (strcmp(k->kind, "Service") == 0)
        return API_NAME_LABEL_1035;
    if (strcmp(k->group, "rbac.authorization.k8s.io") == 0 || strcmp(k->group, "apiregistration.k8s.io") == 0)
        return API_NAME_PATH_SEGMENT;
    return API_NAME_SUBDOMAIN;
}

static bool is_review(const struct api_kind *k) /* they are answered, not stored, and need no name */
{
    return strcmp(k->group, "authorization.k8s.io") == 0 || strcmp(k->group, "authentication.k8s.io") == 0;
}

void api_validate_create(const struct api_kind *k, struct value obj, struct api_causes *causes)
{
    struct check c = { causes, causes->arena };

    if (is_review(k))
        return;
    api_validate_metadata(obj, VALUE_NONE, k->namespaced, name_rule(k), causes);
    vcheck_workload(&c, k, obj);
    vcheck_core(&c, k, obj);
}

void api_validate_update(const struct api_kind *k, struct value obj, struct value old,
                         struct api_causes *causes)
{
    struct check c = { causes, causes->arena };

    api_validate_metadata(obj, old, k->namespaced, name_rule(k), causes);
    vcheck_workload(&c, k, obj);
    vcheck_core(&c, k, obj);
    vcheck_update(&c, k, obj, old);
}

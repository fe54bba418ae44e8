/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "chart/lint_int.h"
#include "regex/regex.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* ---- the fields that lint looks at ---- */

struct decoding {
    struct arena *arena;
    bool json; /* encoding/json refuses a number where a string is wanted; YAML's numbers become strings */
    struct err **err;
};

static int wrong_type(const struct decoding *d, struct value v, const char *where, const char *type)
{
    return err_set(d->err, ERRC_PARSE, "json: cannot unmarshal %s into Go %s of type %s",
                   metadata_json_kind(v), where, type);
}

static int decode_string(const struct decoding *d, struct value map, const char *name, const char *where,
                         struct str *ret)
{
    struct value v = metadata_member(map, str_from(name));

    *ret = STR("");
    if (value_is_null(v))
        return 0;
    if ((d->json && !value_is_string(v)) || !metadata_scalar_text(d->arena, v, ret))
        return wrong_type(d, v, where, "string");
    return 0;
}

static int decode_metadata(const struct decoding *d, struct value v, struct str *ret_name)
{
    struct str ns;
    int r;

    *ret_name = STR("");
    if (value_is_null(v))
        return 0;
    if (!value_is_map(v))
        return wrong_type(d, v, "struct field k8sYamlStruct.Metadata", "rules.k8sYamlMetadata");
    r = decode_string(d, v, "Name", "struct field k8sYamlMetadata.Metadata.Name", ret_name);
    return r < 0 ? r
                 : decode_string(d, v, "Namespace", "struct field k8sYamlMetadata.Metadata.Namespace", &ns);
}

/* 1: an object, 2: null */
static int decode_object(const struct decoding *d, struct value v, struct lint_object *ret)
{
    struct lint_object o;
    int r;

    if (value_is_null(v))
        return 2;
    if (!value_is_map(v))
        return wrong_type(d, v, "value", "rules.k8sYamlStruct");
    r = decode_string(d, v, "apiVersion", "struct field k8sYamlStruct.apiVersion", &o.api_version);
    if (r >= 0)
        r = decode_string(d, v, "Kind", "struct field k8sYamlStruct.Kind", &o.kind);
    if (r >= 0)
        r = decode_metadata(d, metadata_member(v, STR("Metadata")), &o.name);
    if (r < 0)
        return r;
    *ret = o;
    return 1;
}

/* ---- a stream of objects ---- */

void lint_decoder_init(struct lint_decoder *d, struct arena *a, struct str text)
{
    struct str head = str_trim(str_sub(text, 0, MIN(text.n, 4096)));

    *d = (struct lint_decoder){
        .arena = a,
        .start = text.p,
        .rest = text,
        .document = BUF_INIT(YAML_TEXT_MAX),
        .json = str_has_prefix(head, STR("{")),
    };
}

void lint_decoder_done(struct lint_decoder *d)
{
    buf_done(&d->document);
}

/* Bytes that Go's decoder had read when it found the fault: the shortest text that can no longer be completed. */
static size_t fault_offset(struct str text)
{
    size_t good = 0, bad = text.n;

    while (good + 1 < bad) {
        CLEANUP(arena_free) struct arena *scratch = arena_new(VALUES_MEMORY_MAX);
        CLEANUP(err_free) struct err *err = NULL;
        size_t middle = good + (bad - good) / 2;
        struct value v;
        int r = json_parse(scratch, str_sub(text, 0, middle), NULL, &v, &err);

        if (r >= 0 || str_contains(str_from(err_message(err)), STR("unexpected end")))
            good = middle;
        else
            bad = middle;
    }
    return bad;
}

/* A fault of the first objects says where it is, as JSONSyntaxError does. */
static int syntax_error(const struct lint_decoder *d, struct str text, int r, struct err **err)
{
    if (str_contains(str_from(err_message(*err)), STR("unexpected end"))) {
        err_free(TAKE(*err));
        return err_set(err, ERRC_PARSE, "unexpected EOF");
    }
    if (d->count > 1)
        return r;
    return err_wrap(err, r, "json: offset %zu", (size_t)(text.p - d->start) + fault_offset(text));
}

/* 0: the end */
static int next_json(struct lint_decoder *d, struct lint_object *ret, struct err **err)
{
    const struct decoding decoding = { .arena = d->arena, .json = true, .err = err };
    struct str text = str_trim(d->rest), one = text;
    struct json_scan scan = { 0 };
    struct value v;
    size_t end;
    int r;

    if (text.n == 0)
        return 0;
    if (json_scan_value(&scan, text, &end, NULL) == 1)
        one = str_sub(text, 0, end);
    r = json_parse(d->arena, one, NULL, &v, err);
    if (r < 0)
        return syntax_error(d, one, r, err);
    r = decode_object(&decoding, v, ret);
    if (r >= 0)
        d->rest = str_sub(text, one.n, text.n);
    return r;
}

static int next_yaml(struct lint_decoder *d, struct lint_object *ret, struct err **err)
{
    static const struct yml_options kinds = { .keep_kinds = true };
    const struct decoding decoding = { .arena = d->arena, .err = err };
    struct value v;
    int r = chart_next_document(&d->rest, &d->document, err);

    if (r <= 0)
        return r;
    r = yml_parse(d->arena, arena_dup(d->arena, buf_str(&d->document)), &kinds, &v, err);
    if (r < 0)
        return r;
    r = decode_object(&decoding, v, ret);
    return r < 0 ? err_wrap(err, r, "error unmarshaling JSON: while decoding JSON") : r;
}

/* Up to and with the first line's end, white space alone. */
static struct str skip_line_end(struct str s)
{
    while (s.n > 0 && ascii_is_space(s.p[0])) {
        bool end = s.p[0] == '\n';

        s = str_sub(s, 1, s.n);
        if (end)
            break;
    }
    return s;
}

int lint_decoder_next(struct lint_decoder *d, struct lint_object *ret, struct err **err)
{
    struct err *first = NULL;
    int r;

    if (d->json) {
        r = next_json(d, ret, &first);
        if (r >= 0) {
            d->count++;
            return r;
        }
        if (d->count > 1) {
            *err = first;
            return r;
        }
        d->json = false;
        d->rest = skip_line_end(d->rest);
    }
    r = next_yaml(d, ret, err);
    if (r < 0 && first) {
        err_free(TAKE(*err));
        *err = TAKE(first);
    }
    err_free(first);
    d->count++;
    return r;
}

/* ---- names ---- */

#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL_1035 "[a-z]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN LABEL "(\\." LABEL ")*"
#define EDGES "must start and end with an alphanumeric character (e.g. "

enum name_rule { RULE_SUBDOMAIN, RULE_LABEL, RULE_LABEL_1035, RULE_PATH, RULE_NONE };

static const struct {
    const char *pattern, *text;
    size_t max;
} name_rules[] = {
    [RULE_SUBDOMAIN] = { "^" SUBDOMAIN "$",
                         "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
                         "'-' "
                         "or '.', and " EDGES "'example.com', regex used for validation is '" SUBDOMAIN "')",
                         253 },
    [RULE_LABEL] = { "^" LABEL "$",
                     "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
                     "and " EDGES "'my-name',  or '123-abc', regex used for validation is '" LABEL "')",
                     63 },
    [RULE_LABEL_1035] = { "^" LABEL_1035 "$",
                          "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
                          "with an alphabetic character, and end with an alphanumeric character (e.g. "
                          "'my-name',  or 'abc-123', regex used for validation is '" LABEL_1035 "')",
                          63 },
};

/* Kinds that are not here have names like subdomains. */
static const struct {
    const char *kind;
    enum name_rule rule;
} kind_rules[] = {
    { "certificatesigningrequest", RULE_NONE },
    { "clusterrole", RULE_PATH },
    { "clusterrolebinding", RULE_PATH },
    { "namespace", RULE_LABEL },
    { "role", RULE_PATH },
    { "rolebinding", RULE_PATH },
    { "service", RULE_LABEL_1035 },
};

static enum name_rule rule_of(struct str kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(kind_rules); i++)
        if (str_ieq(kind, str_from(kind_rules[i].kind)))
            return kind_rules[i].rule;
    return RULE_SUBDOMAIN;
}

struct fault_list {
    struct str shown; /* the name in quotes */
    struct buf text;
    size_t n;
};

static void add_fault(struct fault_list *l, const char *fault)
{
    if (l->n++ > 0)
        buf_adds(&l->text, ", ");
    buf_addf(&l->text, "metadata.name: Invalid value: " STR_FMT ": %s", STR_ARG(l->shown), fault);
}

static void path_faults(struct fault_list *l, struct str name)
{
    if (str_eq(name, STR(".")) || str_eq(name, STR(".."))) {
        add_fault(l, name.n == 1 ? "may not be '.'" : "may not be '..'");
        return;
    }
    if (str_contains(name, STR("/")))
        add_fault(l, "may not contain '/'");
    if (str_contains(name, STR("%")))
        add_fault(l, "may not contain '%'");
}

static bool fits(enum name_rule rule, struct str name)
{
    CLEANUP(regex_unref) struct regex *re = NULL;

    return regex_compile(str_from(name_rules[rule].pattern), &re, NULL) >= 0 && regex_match(re, name);
}

static void pattern_faults(struct fault_list *l, enum name_rule rule, struct str name)
{
    if (name.n > name_rules[rule].max)
        add_fault(l, rule == RULE_SUBDOMAIN ? "must be no more than 253 characters"
                                            : "must be no more than 63 characters");
    if (fits(rule, name))
        return;
    add_fault(l, rule == RULE_LABEL && fits(RULE_SUBDOMAIN, name) ? "must not contain dots"
                                                                  : name_rules[rule].text);
}

void lint_name_faults(const struct lint_object *o, struct buf *out)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(MIB);
    struct fault_list l = { .text = BUF_INIT(8 * MIB) };
    enum name_rule rule = rule_of(o->kind);

    utf8_quote(o->name, &quoted);
    l.shown = buf_str(&quoted);
    if (rule == RULE_PATH)
        path_faults(&l, o->name);
    else if (rule != RULE_NONE)
        pattern_faults(&l, rule, o->name);
    buf_addf(out, "%s%s%s", l.n > 1 ? "[" : "", buf_z(&l.text), l.n > 1 ? "]" : "");
    buf_done(&l.text);
}

/* ---- kinds that are on their way out ---- */

static int compare_type(const void *key, const void *row)
{
    return strcmp(key, ((const struct chart_lint_deprecated *)row)->type);
}

bool lint_is_deprecated(const struct lint_object *o, const struct chart_capabilities *caps, struct buf *out)
{
    CLEANUP(free_ptr)
    char *type = xasprintf(STR_FMT " " STR_FMT, STR_ARG(o->api_version), STR_ARG(o->kind));
    const struct chart_lint_deprecated *d =
        bsearch(type, chart_lint_deprecated, chart_lint_deprecated_n, sizeof(*d), compare_type);
    int64_t major, minor;

    if (!d || !str_to_int64(caps->major, &major) || !str_to_int64(caps->minor, &minor))
        return false;
    if (d->major > major || (d->major == major && d->minor > minor))
        return false;
    buf_addf(out, "%s is deprecated in v%u.%u+", type, d->major, d->minor);
    if (d->gone_major > 0)
        buf_addf(out, ", unavailable in v%u.%u+", d->gone_major, d->gone_minor);
    if (d->instead)
        buf_addf(out, "; use %s", d->instead);
    return true;
}

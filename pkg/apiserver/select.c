/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/select.h"

#include "base/buf.h"
#include "base/limits.h"

enum label_op { LABEL_IN, LABEL_NOT_IN, LABEL_EXISTS, LABEL_ABSENT, LABEL_GREATER, LABEL_LESS };

struct api_label_term {
    struct str key;
    enum label_op op;
    struct str *values;
    size_t n;
    int64_t bound;
};

struct api_field_term {
    struct str field, value;
    bool negated;
};

/* ---- labels -------------------------------------------------------------------------------------------------- */

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_GT,
    TOKEN_LT
};

struct lexer {
    struct str rest;
    enum token_kind kind;
    struct str text;
};

static bool is_symbol(char c)
{
    return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

static void take(struct lexer *x, enum token_kind kind, size_t n)
{
    x->kind = kind;
    x->text = str_sub(x->rest, 0, n);
    x->rest = str_sub(x->rest, n, x->rest.n);
}

static void next_token(struct lexer *x)
{
    size_t n = 0;

    while (x->rest.n > 0 && ascii_is_space(x->rest.p[0]))
        x->rest = str_sub(x->rest, 1, x->rest.n);
    if (x->rest.n == 0) {
        x->kind = TOKEN_END;
        x->text = STR("");
        return;
    }
    if (str_has_prefix(x->rest, STR("==")))
        return take(x, TOKEN_EQ, 2);
    if (str_has_prefix(x->rest, STR("!=")))
        return take(x, TOKEN_NE, 2);
    switch (x->rest.p[0]) {
    case '=':
        return take(x, TOKEN_EQ, 1);
    case '!':
        return take(x, TOKEN_NOT, 1);
    case '(':
        return take(x, TOKEN_OPEN, 1);
    case ')':
        return take(x, TOKEN_CLOSE, 1);
    case ',':
        return take(x, TOKEN_COMMA, 1);
    case '>':
        return take(x, TOKEN_GT, 1);
    case '<':
        return take(x, TOKEN_LT, 1);
    default:
        while (n < x->rest.n && !is_symbol(x->rest.p[n]) && !ascii_is_space(x->rest.p[n]))
            n++;
        take(x, TOKEN_WORD, n);
    }
}

static int parse_set(struct arena *a, struct lexer *x, struct api_label_term *t, struct err **err)
{
    size_t cap = 0;
    bool want_value = true;

    next_token(x);
    if (x->kind != TOKEN_OPEN)
        return err_set(err, ERRC_INVALID, "found '" STR_FMT "', expected: '('", STR_ARG(x->text));
    for (next_token(x); x->kind != TOKEN_CLOSE; next_token(x)) {
        if (x->kind == TOKEN_COMMA) {
            want_value = true;
            continue;
        }
        if (x->kind != TOKEN_WORD || !want_value)
            return err_set(err, ERRC_INVALID, "found '" STR_FMT "', expected: %s", STR_ARG(x->text),
                           want_value ? "',', ')' or identifier" : "',' or ')'");
        if (t->n == API_SELECTOR_TERMS_MAX)
            return err_set(err, ERRC_INVALID, "more than %zu values in a selector", API_SELECTOR_TERMS_MAX);
        if (t->n == cap) {
            size_t more = cap ? cap * 2 : 8;

            t->values = arena_grow(a, t->values, cap * sizeof(*t->values), more * sizeof(*t->values));
            cap = more;
        }
        t->values[t->n++] = x->text;
        want_value = false;
    }
    if (t->n == 0) { /* "in ()" is a set with the empty string */
        t->values = ARENA_NEW(a, struct str);
        t->n = 1;
    }
    return 0;
}

/* "=", "==", "!=": the value may be missing, which is the empty string. */
static void parse_value(struct arena *a, struct lexer *x, struct api_label_term *t)
{
    struct lexer ahead = *x;

    t->values = ARENA_NEW(a, struct str);
    t->values[0] = STR("");
    t->n = 1;
    next_token(&ahead);
    if (ahead.kind == TOKEN_WORD) {
        t->values[0] = ahead.text;
        *x = ahead;
    }
}

static int parse_bound(struct lexer *x, struct api_label_term *t, struct err **err)
{
    next_token(x);
    if (x->kind != TOKEN_WORD || !str_to_int64(x->text, &t->bound))
        return err_set(err, ERRC_INVALID, "for 'Gt', 'Lt' operators, the value must be an integer");
    return 0;
}

static int parse_operator(struct arena *a, struct lexer *x, struct api_label_term *t, struct err **err)
{
    switch (x->kind) {
    case TOKEN_EQ:
    case TOKEN_NE:
        t->op = x->kind == TOKEN_EQ ? LABEL_IN : LABEL_NOT_IN;
        parse_value(a, x, t);
        return 0;
    case TOKEN_GT:
    case TOKEN_LT:
        t->op = x->kind == TOKEN_GT ? LABEL_GREATER : LABEL_LESS;
        return parse_bound(x, t, err);
    case TOKEN_WORD:
        if (str_eq(x->text, STR("in")) || str_eq(x->text, STR("notin"))) {
            t->op = str_eq(x->text, STR("in")) ? LABEL_IN : LABEL_NOT_IN;
            return parse_set(a, x, t, err);
        }
        break;
    default:
        break;
    }
    return err_set(err, ERRC_INVALID, "found '" STR_FMT "', expected: in, notin, =, ==, !=, gt, lt",
                   STR_ARG(x->text));
}

static bool label_key_ok(struct str key)
{
    struct str name = str_basename(key);

    if (name.n == 0 || name.n > 63 || !ascii_is_alnum(name.p[0]) || !ascii_is_alnum(name.p[name.n - 1]))
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (!ascii_is_alnum(key.p[i]) && !ascii_is_one_of(key.p[i], "-_./"))
            return false;
    return true;
}

static int parse_label_term(struct arena *a, struct lexer *x, struct api_label_term *t, struct err **err)
{
    int r;

    *t = (struct api_label_term){ .op = LABEL_EXISTS };
    if (x->kind == TOKEN_NOT) {
        t->op = LABEL_ABSENT;
        next_token(x);
    }
    if (x->kind != TOKEN_WORD)
        return err_set(err, ERRC_INVALID, "found '" STR_FMT "', expected: !, identifier, or 'end of string'",
                       STR_ARG(x->text));
    if (!label_key_ok(x->text))
        return err_set(
            err, ERRC_INVALID,
            "key: Invalid value: \"" STR_FMT
            "\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
            "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
            "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            STR_ARG(x->text));
    t->key = x->text;
    next_token(x);
    if (x->kind == TOKEN_END || x->kind == TOKEN_COMMA)
        return 0;
    if (t->op == LABEL_ABSENT)
        return err_set(err, ERRC_INVALID, "found '" STR_FMT "', expected: ',' or 'end of string'",
                       STR_ARG(x->text));
    r = parse_operator(a, x, t, err);
    if (r < 0)
        return r;
    next_token(x);
    return 0;
}

static int parse_labels(struct arena *a, struct str text, struct api_selector *s, struct err **err)
{
    struct lexer x = { .rest = text };

    s->labels = ARENA_ARRAY(a, struct api_label_term, API_SELECTOR_TERMS_MAX);
    for (next_token(&x); x.kind != TOKEN_END; next_token(&x)) {
        int r;

        if (s->n_labels == API_SELECTOR_TERMS_MAX)
            return err_set(err, ERRC_INVALID, "more than %zu terms in a selector", API_SELECTOR_TERMS_MAX);
        r = parse_label_term(a, &x, &s->labels[s->n_labels], err);
        if (r < 0)
            return err_wrap(err, r, "unable to parse requirement");
        s->n_labels++;
        if (x.kind == TOKEN_END)
            return 0;
        if (x.kind != TOKEN_COMMA)
            return err_set(err, ERRC_INVALID, "found '" STR_FMT "', expected: ',' or 'end of string'",
                           STR_ARG(x.text));
    }
    return 0;
}

static bool label_in(const struct api_label_term *t, struct str v)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(t->values[i], v))
            return true;
    return false;
}

static bool label_term_matches(const struct api_label_term *t, struct str packed)
{
    struct str v = STR("");
    bool there = api_labels_get(packed, t->key, &v);
    int64_t n;

    switch (t->op) {
    case LABEL_IN:
        return there && label_in(t, v);
    case LABEL_NOT_IN:
        return !there || !label_in(t, v);
    case LABEL_EXISTS:
        return there;
    case LABEL_ABSENT:
        return !there;
    case LABEL_GREATER:
        return there && str_to_int64(v, &n) && n > t->bound;
    case LABEL_LESS:
        return there && str_to_int64(v, &n) && n < t->bound;
    }
    return false;
}

bool api_selector_labels(const struct api_selector *s, struct str packed)
{
    for (size_t i = 0; i < s->n_labels; i++)
        if (!label_term_matches(&s->labels[i], packed))
            return false;
    return true;
}

/* ---- fields -------------------------------------------------------------------------------------------------- */

/* What each kind offers beside metadata.name and metadata.namespace (pkg/registry: GetAttrs). */
static const struct {
    const char *id, *fields;
} offered[] = {
    { "pods", "spec.nodeName,spec.restartPolicy,spec.schedulerName,spec.serviceAccountName,spec.hostNetwork,"
              "status.phase,status.podIP,status.podIPs,status.nominatedNodeName" },
    { "events", "involvedObject.kind,involvedObject.namespace,involvedObject.name,involvedObject.uid,"
                "involvedObject.apiVersion,involvedObject.resourceVersion,involvedObject.fieldPath,reason,"
                "reportingComponent,source,type" },
    { "secrets", "type" },
    { "services", "spec.clusterIP,spec.type" },
    { "namespaces", "status.phase,name" },
    { "nodes", "spec.unschedulable" },
    { "jobs.batch", "status.successful" },
    { "replicasets.apps", "status.replicas" },
    { "replicationcontrollers", "status.replicas" },
    { "certificatesigningrequests.certificates.k8s.io", "spec.signerName" },
};

static bool in_comma_list(struct str list, struct str name)
{
    struct str one;

    while (str_split(&list, ',', &one))
        if (str_eq(one, name))
            return true;
    return false;
}

static bool has_own_fields(const struct api_resource *res)
{
    for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
        if (str_eq(str_from(offered[i].id), res->id))
            return true;
    return !res->builtin;
}

static bool field_offered(const struct api_resource *res, struct str field)
{
    if (str_eq(field, STR("metadata.name")) || str_eq(field, STR("metadata.namespace")))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
        if (str_eq(str_from(offered[i].id), res->id))
            return in_comma_list(str_from(offered[i].fields), field);
    for (struct value_iter it = value_iter(res->selectable); value_next(&it);)
        if (str_eq(str_trim_prefix(value_str(value_getz(it.v, "jsonPath")), STR(".")), field))
            return true;
    return false;
}

/* A '\' keeps ',', '=' and '\' from having a meaning. */
static struct str unescape_field(struct arena *a, struct str s)
{
    char *p = arena_alloc_bytes(a, s.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 1 < s.n)
            i++;
        p[n++] = s.p[i];
    }
    return (struct str){ p, n };
}

static size_t field_term_end(struct str s)
{
    size_t i = 0;

    while (i < s.n && s.p[i] != ',')
        i += s.p[i] == '\\' ? 2 : 1;
    return MIN(i, s.n);
}

static int parse_field_term(struct arena *a, struct str text, struct api_field_term *t, struct err **err)
{
    size_t at = str_find_char(text, '=');

    if (at == STR_NPOS)
        return err_set(err, ERRC_INVALID, "invalid selector: '" STR_FMT "'; can't understand '" STR_FMT "'",
                       STR_ARG(text), STR_ARG(text));
    t->negated = at > 0 && text.p[at - 1] == '!';
    t->field = str_sub(text, 0, t->negated ? at - 1 : at);
    if (!t->negated && at + 1 < text.n && text.p[at + 1] == '=')
        at++;
    t->value = unescape_field(a, str_sub(text, at + 1, text.n));
    return 0;
}

static int add_field_term(struct api_selector *s, const struct api_field_term *t,
                          const struct api_resource *res, struct err **err)
{
    if (!field_offered(res, t->field)) {
        if (has_own_fields(res))
            return err_set(err, ERRC_INVALID, "field label not supported: " STR_FMT, STR_ARG(t->field));
        return err_set(err, ERRC_INVALID,
                       "\"" STR_FMT "\" is not a known field selector: only \"metadata.name\", "
                       "\"metadata.namespace\"",
                       STR_ARG(t->field));
    }
    if (s->n_fields == API_SELECTOR_TERMS_MAX)
        return err_set(err, ERRC_INVALID, "more than %zu terms in a selector", API_SELECTOR_TERMS_MAX);
    if (!t->negated && str_eq(t->field, STR("metadata.name")) && s->name.n == 0)
        s->name = t->value;
    if (!t->negated && str_eq(t->field, STR("metadata.namespace")) && s->ns.n == 0)
        s->ns = t->value;
    if (!str_has_prefix(t->field, STR("metadata.")))
        s->needs_object = true;
    s->fields[s->n_fields++] = *t;
    return 0;
}

static int parse_fields(struct arena *a, struct str text, const struct api_resource *res,
                        struct api_selector *s, struct err **err)
{
    s->fields = ARENA_ARRAY(a, struct api_field_term, API_SELECTOR_TERMS_MAX);
    while (text.n > 0) {
        size_t end = field_term_end(text);
        struct api_field_term t = { 0 };
        int r;

        if (end > 0) {
            r = parse_field_term(a, str_sub(text, 0, end), &t, err);
            if (r < 0)
                return r;
            r = add_field_term(s, &t, res, err);
            if (r < 0)
                return r;
        }
        text = str_sub(text, MIN(end + 1, text.n), text.n);
    }
    return 0;
}

/* Numbers and booleans as Go prints them; what is absent is the zero value's text. */
static struct str field_text(struct str field, const struct api_key *key, struct value object,
                             struct buf *space)
{
    struct value v;
    const char *path;

    if (str_eq(field, STR("metadata.name")) || str_eq(field, STR("name")))
        return key->name;
    if (str_eq(field, STR("metadata.namespace")))
        return key->ns;
    buf_clear(space);
    if (str_eq(field, STR("source")))
        path = "source.component";
    else if (str_eq(field, STR("status.successful")))
        path = "status.succeeded";
    else {
        buf_addstr(space, field);
        path = buf_z(space);
    }
    v = value_path(object, path);
    if (value_is_string(v))
        return value_str(v);
    buf_clear(space);
    if (v.kind == VALUE_BOOL)
        return value_bool(v) ? STR("true") : STR("false");
    if (v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT) {
        buf_addf(space, "%lld", (long long)value_int(v, 0));
        return buf_str(space);
    }
    if (str_eq(field, STR("spec.hostNetwork")) || str_eq(field, STR("spec.unschedulable")))
        return STR("false");
    if (str_eq(field, STR("status.successful")) || str_eq(field, STR("status.replicas")))
        return STR("0");
    return STR("");
}

bool api_selector_fields(const struct api_selector *s, const struct api_key *key, struct value object)
{
    CLEANUP(buf_done) struct buf space = BUF_INIT(64 * KIB);

    for (size_t i = 0; i < s->n_fields; i++) {
        const struct api_field_term *t = &s->fields[i];

        if (str_eq(field_text(t->field, key, object, &space), t->value) == t->negated)
            return false;
    }
    return true;
}

int api_selector_parse(struct arena *a, struct str labels, struct str fields, const struct api_resource *res,
                       struct api_selector **ret, struct err **err)
{
    struct api_selector *s = ARENA_NEW(a, struct api_selector);
    int r;

    s->name = s->ns = STR("");
    r = labels.n > 0 ? parse_labels(a, labels, s, err) : 0;
    if (r < 0)
        return r;
    r = fields.n > 0 ? parse_fields(a, fields, res, s, err) : 0;
    if (r < 0)
        return r;
    s->empty = s->n_labels == 0 && s->n_fields == 0;
    *ret = s;
    return 0;
}

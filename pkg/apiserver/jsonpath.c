/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/jsonpath.h"

#include <stdlib.h>

#include "base/limits.h"
#include "json/json.h"

enum step_kind { STEP_FIELD, STEP_INDEX, STEP_ALL, STEP_FILTER };
enum filter_op { FILTER_EXISTS, FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE };

struct step {
    enum step_kind kind;
    char *name; /* FIELD */
    size_t name_n;
    int64_t index;
    struct api_jsonpath *left; /* FILTER: a path from the item */
    enum filter_op op;
    char *literal; /* its text as JSON; owned */
};

struct api_jsonpath {
    struct step *steps;
    size_t n, cap;
};

void api_jsonpath_free(struct api_jsonpath *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++) {
        free(p->steps[i].name);
        free(p->steps[i].literal);
        api_jsonpath_free(p->steps[i].left);
    }
    free(p->steps);
    free(p);
}

static struct step *add_step(struct api_jsonpath *p, enum step_kind kind)
{
    ARRAY_GROW(p->steps, p->cap, p->n + 1);
    p->steps[p->n] = (struct step){ .kind = kind };
    return &p->steps[p->n++];
}

static void add_field(struct api_jsonpath *p, struct str raw)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(API_JSONPATH_MAX);
    struct step *s = add_step(p, STEP_FIELD);

    for (size_t i = 0; i < raw.n; i++) {
        i += raw.p[i] == '\\' && i + 1 < raw.n;
        buf_addc(&b, raw.p[i]);
    }
    s->name_n = b.n;
    s->name = str_dup(buf_str(&b));
}

static int refuse(struct str text, const char *why, struct err **err)
{
    return err_set(err, ERRC_INVALID, "%s: " STR_FMT, why, STR_ARG(text));
}

/* The end of what is in brackets or parentheses at text[from]; quotes are respected. STR_NPOS when there is none. */
static size_t closing(struct str text, size_t from)
{
    int depth = 0;
    char quote = '\0';

    for (size_t i = from; i < text.n; i++) {
        const char c = text.p[i];

        if (c == '\\') {
            i++;
        } else if (quote) {
            if (c == quote)
                quote = '\0';
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[' || c == '(') {
            depth++;
        } else if ((c == ']' || c == ')') && --depth == 0) {
            return i;
        }
    }
    return STR_NPOS;
}

static const struct {
    const char *text;
    enum filter_op op;
} operators[] = { { "==", FILTER_EQ }, { "!=", FILTER_NE }, { "<=", FILTER_LE },
                  { ">=", FILTER_GE }, { "<", FILTER_LT },  { ">", FILTER_GT } };

/* @.type=="Ready" */
static int parse_filter(struct api_jsonpath *p, struct str inner, struct err **err)
{
    CLEANUP(api_jsonpath_free) struct api_jsonpath *left = NULL;
    struct step *s;
    struct str path = inner, literal = STR_NONE;
    enum filter_op op = FILTER_EXISTS;
    int r;

    for (size_t i = 0; i < ARRAY_SIZE(operators) && op == FILTER_EXISTS; i++) {
        const size_t at = str_find(inner, str_from(operators[i].text));

        if (at == STR_NPOS)
            continue;
        op = operators[i].op;
        path = str_trim(str_sub(inner, 0, at));
        literal = str_trim(str_sub(inner, at + strlen(operators[i].text), inner.n));
    }
    path = str_trim(path);
    if (!str_has_prefix(path, STR("@")))
        return refuse(inner, "unsupported filter", err);
    r = api_jsonpath_parse(str_sub(path, 1, path.n), &left, err);
    if (r < 0)
        return r;
    s = add_step(p, STEP_FILTER);
    s->op = op;
    s->left = TAKE(left);
    s->literal = str_dup(literal);
    if (literal.n >= 2 && literal.p[0] == '\'') /* JSON knows double quotes alone */
        s->literal[0] = s->literal[literal.n - 1] = '"';
    return 0;
}

static int parse_brackets(struct api_jsonpath *p, struct str inner, struct err **err)
{
    int64_t index;

    if (str_eq(inner, STR("*"))) {
        add_step(p, STEP_ALL);
        return 0;
    }
    if (str_has_prefix(inner, STR("?(")) && str_has_suffix(inner, STR(")")))
        return parse_filter(p, str_sub(inner, 2, inner.n - 1), err);
    if (inner.n >= 2 && (inner.p[0] == '\'' || inner.p[0] == '"') && inner.p[inner.n - 1] == inner.p[0]) {
        add_field(p, str_sub(inner, 1, inner.n - 1));
        return 0;
    }
    if (str_to_int64(inner, &index)) {
        add_step(p, STEP_INDEX)->index = index;
        return 0;
    }
    return refuse(inner, "unsupported index", err);
}

static int parse(struct api_jsonpath *p, struct str text, struct err **err)
{
    for (size_t i = 0; i < text.n;) {
        size_t end = i + 1;

        if (text.p[i] == '[') {
            const size_t close = closing(text, i);
            int r = close == STR_NPOS ? refuse(text, "unterminated array", err)
                                      : parse_brackets(p, str_trim(str_sub(text, i + 1, close)), err);

            if (r < 0)
                return r;
            i = close + 1;
            continue;
        }
        if (text.p[i] != '.' || (i + 1 < text.n && text.p[i + 1] == '.'))
            return refuse(text, "unsupported path", err);
        while (end < text.n && text.p[end] != '.' && text.p[end] != '[')
            end += 1 + (text.p[end] == '\\');
        end = MIN(end, text.n);
        if (str_eq(str_sub(text, i + 1, end), STR("*")))
            add_step(p, STEP_ALL);
        else if (end > i + 1)
            add_field(p, str_sub(text, i + 1, end));
        i = end;
    }
    return 0;
}

int api_jsonpath_parse(struct str text, struct api_jsonpath **ret, struct err **err)
{
    CLEANUP(api_jsonpath_free) struct api_jsonpath *p = NULL;
    int r;

    if (text.n > API_JSONPATH_MAX)
        return err_set(err, ERRC_LIMIT, "path too long");
    p = xcalloc(1, sizeof(*p));
    text = str_trim(text);
    if (text.n >= 2 && text.p[0] == '{' && text.p[text.n - 1] == '}')
        text = str_sub(text, 1, text.n - 1);
    if (text.n > 0 && text.p[0] == '$')
        text = str_sub(text, 1, text.n);
    r = parse(p, text, err);
    if (r < 0)
        return r;
    *ret = TAKE(p);
    return 0;
}

/* ---- evaluation ---- */

static void walk(const struct api_jsonpath *p, size_t step, struct arena *a, struct value v,
                 struct value_list *out);

static int compare(struct value x, struct value y)
{
    if (value_is_string(x) && value_is_string(y))
        return str_cmp(value_str(x), value_str(y));
    if (x.kind == VALUE_INT && y.kind == VALUE_INT)
        return x.i < y.i ? -1 : x.i > y.i;
    return 2;
}

static bool passes(const struct step *s, struct arena *a, struct value item)
{
    const struct value found = api_jsonpath_find(s->left, a, item);
    struct value literal = VALUE_NONE;
    int order;

    if (value_len(found) == 0)
        return false;
    if (s->op == FILTER_EXISTS)
        return true;
    if (json_parse(a, str_from(s->literal), NULL, &literal, NULL) < 0)
        return false;
    if (s->op == FILTER_EQ || s->op == FILTER_NE)
        return value_equal(value_at(found, 0), literal) == (s->op == FILTER_EQ);
    order = compare(value_at(found, 0), literal);
    if (order == 2)
        return false;
    return s->op == FILTER_LT   ? order < 0
           : s->op == FILTER_LE ? order <= 0
           : s->op == FILTER_GT ? order > 0
                                : order >= 0;
}

static void walk(const struct api_jsonpath *p, size_t step, struct arena *a, struct value v,
                 struct value_list *out)
{
    const struct step *s = &p->steps[step];

    if (step == p->n) {
        value_list_add(out, v);
    } else if (s->kind == STEP_FIELD) {
        const struct value_entry *e = value_find(v, (struct str){ s->name, s->name_n });

        if (e)
            walk(p, step + 1, a, e->v, out);
    } else if (s->kind == STEP_INDEX) {
        const int64_t i = s->index < 0 ? s->index + (int64_t)value_len(v) : s->index;

        if (value_is_list(v) && i >= 0 && i < v.n)
            walk(p, step + 1, a, value_at(v, (size_t)i), out);
    } else {
        for (struct value_iter it = value_iter(v); value_next(&it);)
            if (s->kind == STEP_ALL || passes(s, a, it.v))
                walk(p, step + 1, a, it.v, out);
    }
}

struct value api_jsonpath_find(const struct api_jsonpath *p, struct arena *a, struct value v)
{
    struct value_list l = VALUE_LIST_INIT(a);

    walk(p, 0, a, v, &l);
    return value_list_done(&l);
}

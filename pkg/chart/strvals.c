/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "chart/chart_int.h"
#include "json/json.h"

#define NAME_MAX_BYTES ((size_t)4 * 1024 * 1024)

/* Helm's pkg/strvals, its odd ends included: the end of the text is not an error wherever Helm's parser takes it for one
 * that wraps io.EOF ("a[" sets nothing). Steps return 0, STEP_END at the end of the text, or a failure. */
enum { STEP_END = 1 };

struct parser {
    struct arena *arena;
    enum strvals_kind kind;
    const struct chart_value_sources *sources;
    struct str rest;
    size_t list_depth;
    struct err **err;
};

/* ---- reading ---- */

static bool stops_at(const char *stops, uint32_t r)
{
    return r < 0x80 && ascii_is_one_of((char)r, stops);
}

static uint32_t take_rune(struct parser *p)
{
    uint32_t r;
    size_t width = utf8_decode(p->rest, &r);

    p->rest = str_sub(p->rest, width, p->rest.n);
    return r == UTF8_INVALID ? 0xfffd : r;
}

/* The text up to one of `stops`, backslashes taken out (but not with --set-literal); *ret_stop is 0 at the end. */
static struct str take_until(struct parser *p, const char *stops, char *ret_stop)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(NAME_MAX_BYTES);

    *ret_stop = 0;
    while (p->rest.n > 0) {
        uint32_t r = take_rune(p);

        if (stops_at(stops, r)) {
            *ret_stop = (char)r;
            break;
        }
        if (r == '\\' && p->kind != STRVALS_LITERAL) {
            if (p->rest.n == 0)
                break;
            r = take_rune(p);
        }
        buf_add_rune(&text, r);
    }
    return arena_dup(p->arena, buf_str(&text));
}

/* ---- errors ---- */

static int fail_named(struct parser *p, const char *before, struct str name, const char *after)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(4 * NAME_MAX_BYTES);

    utf8_quote(name, &quoted);
    return err_set(p->err, ERRC_PARSE, "%s%s%s", before, buf_z(&quoted), after);
}

static const char *go_type(struct value v)
{
    switch (v.kind) {
    case VALUE_NULL:
        return "nil";
    case VALUE_BOOL:
        return "bool";
    case VALUE_INT:
        return "int64";
    case VALUE_UINT:
        return "uint64";
    case VALUE_FLOAT:
        return "float64";
    case VALUE_LIST:
        return "[]interface {}";
    case VALUE_MAP:
        return "map[string]interface {}";
    default:
        return "string";
    }
}

static int fail_conversion(struct parser *p, struct value v, const char *wanted)
{
    return err_set(p->err, ERRC_PARSE,
                   "unable to parse key: interface conversion: interface {} is %s, not %s", go_type(v),
                   wanted);
}

/* Go's %q of a []rune: ['x' 'y']. */
static int fail_after_index(struct parser *p, struct str k)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(4 * NAME_MAX_BYTES);

    for (size_t i = 0; i < k.n;) {
        CLEANUP(buf_done) struct buf one = BUF_INIT(16);
        uint32_t r;
        size_t width = utf8_decode(str_sub(k, i, k.n), &r);

        utf8_quote(str_sub(k, i, i + width), &one);
        buf_addc(&out, out.n ? ' ' : '[');
        if (r == '"')
            buf_adds(&out, "'\"'");
        else if (r == '\'')
            buf_adds(&out, "'\\''");
        else
            buf_addf(&out, "'" STR_FMT "'", STR_ARG(str_trim_chars(buf_str(&one), "\"")));
        i += width;
    }
    return err_set(p->err, ERRC_PARSE, "unexpected data at end of array index: %s]", buf_z(&out));
}

/* ---- changing the tree: all of it was made for this merge, so lists may be written in place ---- */

static void set_key(struct value map, struct str key, struct value v)
{
    if (key.n > 0)
        value_set(map, key, v);
}

static int set_index(struct parser *p, struct value *list, int64_t index, struct value v)
{
    struct value *items;

    if (index > STRVALS_INDEX_MAX)
        return err_set(p->err, ERRC_LIMIT, "index of %lld is greater than maximum supported index of %d",
                       (long long)index, STRVALS_INDEX_MAX);
    if (list->n <= (size_t)index) {
        items = ARENA_ARRAY(p->arena, struct value, (size_t)index + 1);
        for (size_t i = 0; i <= (size_t)index; i++)
            items[i] = i < list->n ? list->list[i] : VALUE_NONE;
        *list = value_from_list(items, (size_t)index + 1);
        if (arena_failed(p->arena))
            return err_set(p->err, ERRC_LIMIT, "the lists are too large");
    }
    items = (struct value *)(uintptr_t)list->list;
    items[index] = v;
    return 0;
}

/* ---- values ---- */

static struct value typed(struct parser *p, struct str s)
{
    int64_t i;

    if (p->kind == STRVALS_STRING)
        return value_from_str(s);
    if (str_ieq(s, STR("true")) || str_ieq(s, STR("false")))
        return value_from_bool(s.n == 4);
    if (str_ieq(s, STR("null")))
        return VALUE_NONE;
    if (str_eq(s, STR("0")))
        return value_from_int(0);
    if (s.n > 0 && s.p[0] != '0' && number_parse_int(s, 10, 64, &i) == NUMBER_OK)
        return value_from_int(i);
    return value_from_str(s);
}

static int convert(struct parser *p, struct str s, struct value *ret)
{
    CLEANUP(buf_done) struct buf content = BUF_INIT(YAML_TEXT_MAX);
    int r;

    if (p->kind != STRVALS_FILE) {
        *ret = typed(p, s);
        return 0;
    }
    r = chart_values_read(p->sources, arena_dupz(p->arena, s), &content, p->err);
    if (r >= 0)
        *ret = value_from_str(arena_dup(p->arena, buf_str(&content)));
    return r;
}

/* What follows '{'. */
static int take_list(struct parser *p, struct value *ret)
{
    struct value_list items = VALUE_LIST_INIT(p->arena);

    for (;;) {
        struct value v;
        char stop;
        struct str text = take_until(p, ",}", &stop);
        int r;

        if (!stop)
            return err_set(p->err, ERRC_PARSE, "list must terminate with '}'");
        r = convert(p, text, &v);
        if (r < 0)
            return r;
        value_list_add(&items, v);
        if (stop == '}') {
            p->rest = str_trim_prefix(p->rest, STR(","));
            *ret = value_list_done(&items);
            return 0;
        }
    }
}

/* Blanks and one comma. True when nothing else came before it: the value is empty. */
static bool take_empty(struct parser *p)
{
    while (p->rest.n > 0) {
        struct str before = p->rest;
        uint32_t r = take_rune(p);

        if (r == ',')
            return true;
        if (!utf8_is_space(r)) {
            p->rest = before;
            return false;
        }
    }
    return true;
}

static int take_json(struct parser *p, struct value *ret)
{
    static const struct json_options options = { .floats = true };
    struct json_scan scan = { 0 };
    size_t end = p->rest.n;
    int r;

    if (take_empty(p)) {
        *ret = VALUE_NONE;
        return 0;
    }
    end = p->rest.n;
    r = json_scan_value(&scan, p->rest, &end, p->err);
    if (r >= 0)
        r = json_parse(p->arena, str_sub(p->rest, 0, end), &options, ret, p->err);
    if (r < 0)
        return r;
    p->rest = str_sub(p->rest, end, p->rest.n);
    take_empty(p);
    return 0;
}

/* What follows '='. STEP_END: the text ended right there, *ret is "". */
static int take_value(struct parser *p, struct value *ret)
{
    char stop;

    if (p->kind == STRVALS_JSON)
        return take_json(p, ret);
    if (p->kind == STRVALS_LITERAL) {
        *ret = value_from_str(take_until(p, "", &stop));
        return 0;
    }
    if (p->rest.n == 0) {
        *ret = value_from_str(STR(""));
        return STEP_END;
    }
    if (p->rest.p[0] == '{') {
        p->rest = str_sub(p->rest, 1, p->rest.n);
        return take_list(p, ret);
    }
    return convert(p, take_until(p, ",", &stop), ret);
}

/* ---- names ---- */

static int parse_key(struct parser *p, struct value map, int level);

static int take_index(struct parser *p, int64_t *ret)
{
    char stop;
    struct str text = take_until(p, "]", &stop);
    enum number_result result;

    if (!stop)
        return STEP_END;
    result = number_parse_int(text, 10, 64, ret);
    if (result == NUMBER_OK)
        return 0;
    return fail_named(p, "error parsing index: strconv.Atoi: parsing ", text,
                      result == NUMBER_SYNTAX ? ": invalid syntax" : ": value out of range");
}

static int parse_item(struct parser *p, struct value *list, int64_t index, int level);

/* "[0][1]": the list in the list. */
static int parse_nested_item(struct parser *p, struct value *list, int64_t index, int level)
{
    struct value inner = value_from_list(NULL, 0);
    int64_t next;
    int r = take_index(p, &next);

    if (r != 0)
        return r;
    if (index < (int64_t)list->n && !value_is_null(value_at(*list, (size_t)index))) {
        inner = value_at(*list, (size_t)index);
        if (!value_is_list(inner))
            return fail_conversion(p, inner, "[]interface {}");
    }
    if (++p->list_depth > STRVALS_LIST_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "lists are nested more than %d levels deep",
                       STRVALS_LIST_DEPTH_MAX);
    r = parse_item(p, &inner, next, level);
    p->list_depth--;
    return r != 0 ? r : set_index(p, list, index, inner);
}

static int parse_map_item(struct parser *p, struct value *list, int64_t index, int level)
{
    struct value inner = value_new_map(p->arena);
    int r;

    if (index < (int64_t)list->n) {
        if (value_is_map(value_at(*list, (size_t)index)))
            inner = value_at(*list, (size_t)index);
        else
            IGNORE_ERROR(set_index(p, list, index, inner));
    }
    if (++p->list_depth > STRVALS_LIST_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "lists are nested more than %d levels deep",
                       STRVALS_LIST_DEPTH_MAX);
    r = parse_key(p, inner, level);
    p->list_depth--;
    return r != 0 ? r : set_index(p, list, index, inner);
}

/* What follows "[index]". The list is changed as far as Helm changes it before it fails. */
static int parse_item(struct parser *p, struct value *list, int64_t index, int level)
{
    struct value v;
    struct str k;
    char stop;
    int r;

    if (index < 0)
        return err_set(p->err, ERRC_PARSE, "negative %lld index not allowed", (long long)index);
    k = take_until(p, "[.=", &stop);
    if (k.n > 0)
        return fail_after_index(p, k);
    switch (stop) {
    case '=':
        r = take_value(p, &v);
        return r < 0 ? r : set_index(p, list, index, v);
    case '[':
        return parse_nested_item(p, list, index, level);
    case '.':
        return parse_map_item(p, list, index, level);
    default:
        return STEP_END;
    }
}

static int parse_list_key(struct parser *p, struct value map, struct str k, int level)
{
    const struct value_entry *old = value_find(map, k);
    struct value list = value_from_list(NULL, 0);
    int64_t index;
    int r = take_index(p, &index);

    if (r != 0)
        return r;
    if (old) {
        list = old->v;
        if (!value_is_list(list))
            return fail_conversion(p, list, "[]interface {}");
    }
    r = parse_item(p, &list, index, level);
    if (r >= 0)
        set_key(map, k, list);
    return r;
}

static int parse_nested_key(struct parser *p, struct value map, struct str k, int level)
{
    const struct value_entry *old = value_find(map, k);
    struct value inner;
    int r;

    if (level + 1 > STRVALS_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT,
                       "value name nested level is greater than maximum supported nested level of %d",
                       STRVALS_DEPTH_MAX);
    if (old && !value_is_map(old->v))
        return fail_conversion(p, old->v, "map[string]interface {}");
    inner = old ? old->v : value_new_map(p->arena);
    r = parse_key(p, inner, level + 1);
    if (r == 0 && value_len(inner) == 0)
        return fail_named(p, "key map ", k, " has no value");
    if (r >= 0 && value_len(inner) > 0)
        set_key(map, k, inner);
    return r;
}

static int parse_key(struct parser *p, struct value map, int level)
{
    char stop;
    struct value v;
    struct str k = take_until(p, p->kind == STRVALS_LITERAL ? "=[." : "=[,.", &stop);
    int r;

    switch (stop) {
    case '[':
        return parse_list_key(p, map, k, level);
    case '.':
        return parse_nested_key(p, map, k, level);
    case ',':
        return fail_named(p, "key ", k, " has no value (cannot end with ,)");
    case '=':
        r = take_value(p, &v);
        if (r >= 0)
            set_key(map, k, v);
        return r;
    default:
        return k.n == 0 ? STEP_END : fail_named(p, "key ", k, " has no value");
    }
}

int chart_strvals_parse_from(struct arena *a, enum strvals_kind kind, struct str text,
                             const struct chart_value_sources *sources, struct value into, struct err **err)
{
    struct parser p = { .arena = a, .kind = kind, .sources = sources, .rest = text, .err = err };
    int r;

    do {
        r = parse_key(&p, into, 0);
        if (r >= 0 && arena_failed(a))
            return err_set(err, ERRC_LIMIT, "the values are too large");
    } while (r == 0);
    return r < 0 ? r : 0;
}

int chart_strvals_parse(struct arena *a, enum strvals_kind kind, struct str text, struct value into,
                        struct err **err)
{
    return chart_strvals_parse_from(a, kind, text, NULL, into, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "template/time_object.h"
#include "toml/toml.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* ---- base64, base32 ---- */

static int fn_b64enc(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    base64_encode(BASE64_STD, fn_str(c, 0), &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_b32enc(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    base32_encode(fn_str(c, 0), &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* What cannot be decoded yields the error's text, as upstream. */
static int ret_decoded(FN_ARGS, struct buf *b, bool ok, const char *what, size_t at)
{
    if (!ok && !b->failed) {
        buf_clear(b);
        buf_addf(b, "illegal %s data at input byte %zu", what, at);
    }
    return fn_ret_buf(c, b, ret, err);
}

static int fn_b64dec(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    size_t at = 0;
    bool ok = base64_decode(BASE64_STD, fn_str(c, 0), &b, &at);

    return ret_decoded(c, ret, err, &b, ok, "base64", at);
}

static int fn_b32dec(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    size_t at = 0;
    bool ok = base32_decode(fn_str(c, 0), &b, &at);

    return ret_decoded(c, ret, err, &b, ok, "base32", at);
}

/* ---- printing values ---- */

typedef int (*print_fn)(struct value v, struct buf *out, struct err **err);

static int print_json(struct value v, struct buf *out, struct err **err)
{
    return json_print(v, JSON_ESCAPE_HTML, out, err);
}

static int print_pretty_json(struct value v, struct buf *out, struct err **err)
{
    return json_print(v, JSON_ESCAPE_HTML | JSON_INDENT, out, err);
}

static int print_raw_json(struct value v, struct buf *out, struct err **err)
{
    return json_print(v, 0, out, err);
}

static enum tpl_form form_of(print_fn print)
{
    return print == yml_print_pretty ? TPL_FORM_YAML3 : print == toml_print ? TPL_FORM_TOML : TPL_FORM_JSON;
}

static int print_to_buf(struct tpl_call *c, print_fn print, struct buf *out, struct err **err)
{
    struct value plain;
    int r = tpl_to_plain(c->arena, c->args[0], form_of(print), &plain, err);

    if (r == -ERRC_INVALID && print == yml_print)
        return err_wrap(err, r, "error marshaling into JSON");

    return r < 0 ? r : print(plain, out, err);
}

/* The text without its last newline; what cannot be printed is the function's error. */
static int must_print(FN_ARGS, print_fn print)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    int r = print_to_buf(c, print, &b, err);

    if (r < 0)
        return r;
    if (b.n > 0 && b.p[b.n - 1] == '\n' && !b.failed)
        buf_truncate(&b, b.n - 1);
    return fn_ret_buf(c, &b, ret, err);
}

/* Values that Go refuses print as ""; budgets stay errors. */
static int print_or_nothing(FN_ARGS, print_fn print)
{
    struct err *failure = NULL;
    int r = must_print(c, ret, &failure, print);

    if (r < 0 && r != -ERRC_LIMIT && r != -ERRC_TEMPLATE) {
        err_free(failure);
        return fn_ret_str(ret, STR(""));
    }
    if (r < 0 && err)
        *err = failure;
    else
        err_free(failure);
    return r;
}

static int fn_to_json(FN_ARGS)
{
    return print_or_nothing(c, ret, err, print_json);
}

static int fn_must_to_json(FN_ARGS)
{
    return must_print(c, ret, err, print_json);
}

static int fn_to_pretty_json(FN_ARGS)
{
    return print_or_nothing(c, ret, err, print_pretty_json);
}

static int fn_must_to_pretty_json(FN_ARGS)
{
    return must_print(c, ret, err, print_pretty_json);
}

static int fn_must_to_raw_json(FN_ARGS)
{
    return must_print(c, ret, err, print_raw_json);
}

static int fn_to_yaml(FN_ARGS)
{
    return print_or_nothing(c, ret, err, yml_print);
}

static int fn_must_to_yaml(FN_ARGS)
{
    return must_print(c, ret, err, yml_print);
}

static int fn_to_yaml_pretty(FN_ARGS)
{
    return print_or_nothing(c, ret, err, yml_print_pretty);
}

static int fn_must_to_toml(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    int r = print_to_buf(c, toml_print, &b, err);

    return r < 0 ? r : fn_ret_buf(c, &b, ret, err);
}

/* Its error's text is the result; nil is no error but a panic. */
static int fn_to_toml(FN_ARGS)
{
    CLEANUP(err_free) struct err *failure = NULL;
    int r = fn_must_to_toml(c, ret, &failure);

    if (r == -ERRC_LIMIT || (r < 0 && fn_is_nil(c->args[0]))) {
        if (err)
            *err = TAKE(failure);
        return r;
    }
    if (r < 0)
        return fn_ret_str(ret, arena_dup(c->arena, str_from(err_message(failure))));
    return 0;
}

/* ---- reading values ---- */

static int parse_json(struct tpl_call *c, struct value *ret, struct err **err)
{
    return json_parse(c->arena, fn_str(c, 0), &(struct json_options){ .floats = true }, ret, err);
}

static int parse_yaml(struct tpl_call *c, struct value *ret, struct err **err)
{
    return yml_parse(c->arena, fn_str(c, 0), &(struct yml_options){ .floats = true, .borrow = true }, ret,
                     err);
}

/* Dates become time.Time, in place: nobody else has the document. */
static void make_times(struct tpl_call *c, struct value *v, int64_t now_s)
{
    if (v->kind == VALUE_STRING && v->type != VALUE_TYPE_PLAIN)
        *v = time_object_from_toml(c->arena, *v, now_s);
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        make_times(c, (struct value *)(uintptr_t)&v->list[i], now_s);
    for (size_t i = 0; v->kind == VALUE_MAP && i < v->map->n; i++)
        make_times(c, &v->map->e[i].v, now_s);
}

static int parse_toml(struct tpl_call *c, struct value *ret, struct err **err)
{
    int r = toml_parse(c->arena, fn_str(c, 0), ret, err);

    if (r == 0)
        make_times(c, ret, tpl_now(c->x).s);
    return r;
}

typedef int (*parse_fn)(struct tpl_call *c, struct value *ret, struct err **err);

/* encoding/json's words when a document of another kind stands where `want` belongs. */
static int check_kind(struct value v, enum value_kind want, const char *before, struct err **err)
{
    static const char *const names[] = {
        [VALUE_BOOL] = "bool",     [VALUE_INT] = "number", [VALUE_UINT] = "number", [VALUE_FLOAT] = "number",
        [VALUE_STRING] = "string", [VALUE_LIST] = "array", [VALUE_MAP] = "object",
    };

    if (v.kind == want || v.kind == VALUE_NULL)
        return 0;
    return err_set(err, ERRC_PARSE, "%sjson: cannot unmarshal %s into Go value of type %s", before,
                   names[v.kind], want == VALUE_MAP ? "map[string]interface {}" : "[]interface {}");
}

static struct value nothing(struct tpl_call *c, enum value_kind kind, bool nil)
{
    struct value v = kind == VALUE_MAP ? value_new_map(c->arena) : value_from_list(NULL, 0);

    if (nil) {
        v.flags |= VALUE_NIL;
        if (kind == VALUE_MAP)
            v.map->arena = NULL;
    }
    return v;
}

/* Parses a document of kind `want`; what fails is data too: {Error: text} or [text]. A null document is a nil map or
 * list in JSON, and an empty one in YAML (`before` not empty). */
static int parse_as(FN_ARGS, parse_fn parse, enum value_kind want, const char *before)
{
    CLEANUP(err_free) struct err *failure = NULL;
    struct value v = VALUE_NONE, *item = NULL;
    int r = fn_pay(c, fn_str(c, 0).n * 8, err);

    if (r < 0)
        return r;
    r = parse(c, &v, &failure);
    if (r == 0)
        r = check_kind(v, want, before, &failure);
    if (r < 0 && arena_failed(c->arena)) {
        if (err)
            *err = TAKE(failure);
        return r;
    }
    if (r < 0) {
        struct value text = value_from_str(arena_dup(c->arena, str_from(err_message(failure))));

        if (want == VALUE_MAP) {
            v = value_new_map(c->arena);
            value_setz(v, "Error", text);
        } else {
            item = ARENA_NEW(c->arena, struct value);
            *item = text;
            v = value_from_list(item, 1);
        }
    } else if (v.kind == VALUE_NULL) {
        v = nothing(c, want, before[0] == '\0');
    }
    *ret = v;
    return 0;
}

#define IN_YAML "error unmarshaling JSON: while decoding JSON: "

static int fn_from_json(FN_ARGS)
{
    return parse_as(c, ret, err, parse_json, VALUE_MAP, "");
}

static int fn_from_json_array(FN_ARGS)
{
    return parse_as(c, ret, err, parse_json, VALUE_LIST, "");
}

static int fn_from_yaml(FN_ARGS)
{
    return parse_as(c, ret, err, parse_yaml, VALUE_MAP, IN_YAML);
}

static int fn_from_yaml_array(FN_ARGS)
{
    return parse_as(c, ret, err, parse_yaml, VALUE_LIST, IN_YAML);
}

static int fn_from_toml(FN_ARGS)
{
    return parse_as(c, ret, err, parse_toml, VALUE_MAP, "");
}

static int fn_must_from_json(FN_ARGS)
{
    struct value v;
    int r = fn_pay(c, fn_str(c, 0).n * 8, err);

    if (r == 0)
        r = parse_json(c, &v, err);
    if (r == 0)
        *ret = v;
    return r;
}

static const struct tpl_func funcs[] = {
    { "b32dec", "s", 's', fn_b32dec },
    { "b32enc", "s", 's', fn_b32enc },
    { "b64dec", "s", 's', fn_b64dec },
    { "b64enc", "s", 's', fn_b64enc },
    { "fromJson", "s", 'm', fn_from_json },
    { "fromJsonArray", "s", 'L', fn_from_json_array },
    { "fromToml", "s", 'm', fn_from_toml },
    { "fromYaml", "s", 'm', fn_from_yaml },
    { "fromYamlArray", "s", 'L', fn_from_yaml_array },
    { "mustFromJson", "s", '*', fn_must_from_json },
    { "mustToJson", "*", 's', fn_must_to_json },
    { "mustToPrettyJson", "*", 's', fn_must_to_pretty_json },
    { "mustToRawJson", "*", 's', fn_must_to_raw_json },
    { "mustToToml", "*", 's', fn_must_to_toml },
    { "mustToYaml", "*", 's', fn_must_to_yaml },
    { "toJson", "*", 's', fn_to_json },
    { "toPrettyJson", "*", 's', fn_to_pretty_json },
    { "toRawJson", "*", 's', fn_must_to_raw_json },
    { "toToml", "*", 's', fn_to_toml },
    { "toYaml", "*", 's', fn_to_yaml },
    { "toYamlPretty", "*", 's', fn_to_yaml_pretty },
};

const struct tpl_func_table tpl_funcs_encoding = { funcs, ARRAY_SIZE(funcs) };

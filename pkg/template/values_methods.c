/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of common.Values (pkg/chart/common/values.go), which templates can call on `.` and `.Values`. */
#include "base/limits.h"
#include "template/template.h"
#include "template/types.h"
#include "yaml/yaml.h"

struct value tpl_values_from_map(struct value map)
{
    map.type = VALUE_TYPE_VALUES;
    return map;
}

static struct value plain_map(struct value map)
{
    map.type = VALUE_TYPE_PLAIN;
    return map;
}

/* "KEY"<suffix> */
static int fail_key(struct str key, const char *suffix, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    tpl_print_quoted(key, &b);
    return err_set(err, ERRC_TEMPLATE, STR_FMT "%s", STR_ARG(buf_str(&b)), suffix);
}

/* A table by dotted name, or the first name that is none in *ret_key. */
static bool find_table(struct value values, struct str path, struct value *ret, struct str *ret_key)
{
    struct str name;

    if (!path.p)
        path = STR("");
    while (str_split(&path, '.', &name)) {
        struct value v = value_get(values, name);

        if (v.kind != VALUE_MAP || (v.type != VALUE_TYPE_PLAIN && v.type != VALUE_TYPE_VALUES)) {
            *ret_key = name;
            return false;
        }
        values = v;
    }
    *ret = tpl_values_from_map(values);
    return true;
}

static int values_table(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct str key;

    return find_table(c->receiver, value_str(c->args[0]), ret, &key) ? 0
                                                                     : fail_key(key, " is not a table", err);
}

static int values_path_value(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct str path = value_str(c->args[0]), key = path, ignored;
    struct value table = c->receiver, v;
    size_t dot = str_rfind_char(path, '.');
    bool found = true;

    if (path.n == 0)
        return err_set(err, ERRC_TEMPLATE, "YAML path cannot be empty");
    if (dot != STR_NPOS) {
        key = str_sub(path, dot + 1, path.n);
        found = find_table(c->receiver, str_sub(path, 0, dot), &table, &ignored);
    }
    if (!found || !value_has(table, key))
        return fail_key(key, " is not a value", err);
    v = value_get(table, key);
    if (v.kind == VALUE_MAP && v.type == VALUE_TYPE_PLAIN)
        return fail_key(key, " is not a value", err);
    *ret = v;
    return 0;
}

static int values_as_map(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = value_len(c->receiver) > 0 ? plain_map(c->receiver) : value_new_map(c->arena);
    return 0;
}

static int values_yaml(struct tpl_call *c, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct value plain;
    int r = tpl_to_plain(c->arena, c->receiver, TPL_FORM_JSON, &plain, err);

    if (r == 0)
        r = yml_print(plain, &out, err);
    if (r == 0)
        r = tpl_reserve(c->x, out.n, err);
    if (r == 0)
        *ret = value_from_str(arena_dup(c->arena, buf_str(&out)));
    return r;
}

/* Only a nil io.Writer can get here. */
static int values_encode(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(c);
    UNUSED(ret);
    return err_set(err, ERRC_TEMPLATE, "runtime error: invalid memory address or nil pointer dereference");
}

const struct tpl_method tpl_methods_values[] = {
    { "AsMap", "", 'm', values_as_map },
    { "Encode", "W", '*', values_encode },
    { "PathValue", "s", '*', values_path_value },
    { "Table", "s", '?', values_table },
    { "YAML", "", 's', values_yaml },
    { NULL, NULL, 0, NULL },
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/gotext.h"

#include "base/utf8.h"
#include "json/json.h"

static const struct {
    const char *type, *json;
} kinds[] = {
    [VALUE_NULL] = { "<nil>", "null" },
    [VALUE_BOOL] = { "bool", "bool" },
    [VALUE_INT] = { "int64", "number" },
    [VALUE_UINT] = { "uint64", "number" },
    [VALUE_FLOAT] = { "float64", "number" },
    [VALUE_STRING] = { "string", "string" },
    [VALUE_BYTES] = { "[]uint8", "string" },
    [VALUE_LIST] = { "[]interface {}", "array" },
    [VALUE_MAP] = { "map[string]interface {}", "object" },
    [VALUE_OBJECT] = { "struct {}", "object" },
};

const char *api_go_type(struct value v)
{
    return kinds[v.kind].type;
}

const char *api_go_json_kind(struct value v)
{
    return kinds[v.kind].json;
}

void api_go_print(struct value v, struct buf *out)
{
    bool first = true;

    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        buf_adds(out, "<nil>");
        break;
    case VALUE_STRING:
        buf_addstr(out, value_str(v));
        break;
    case VALUE_LIST:
    case VALUE_MAP:
        buf_adds(out, v.kind == VALUE_MAP ? "map[" : "[");
        for (struct value_iter it = value_iter(v); value_next(&it); first = false) {
            buf_adds(out, first ? "" : " ");
            if (v.kind == VALUE_MAP)
                buf_addf(out, STR_FMT ":", STR_ARG(it.key));
            api_go_print(it.v, out);
        }
        buf_addc(out, ']');
        break;
    default:
        IGNORE_ERROR(json_print(v, 0, out, NULL));
        break;
    }
}

void api_go_syntax(struct value v, struct buf *out)
{
    bool first = true;

    if (v.kind == VALUE_STRING) {
        utf8_quote(value_str(v), out);
        return;
    }
    if (!value_is_map(v) && !value_is_list(v)) {
        api_go_print(v, out);
        return;
    }
    buf_addf(out, "%s{", api_go_type(v));
    for (struct value_iter it = value_iter(v); value_next(&it); first = false) {
        buf_adds(out, first ? "" : ", ");
        if (value_is_map(v)) {
            utf8_quote(it.key, out);
            buf_addc(out, ':');
        }
        api_go_syntax(it.v, out);
    }
    buf_addc(out, '}');
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/present.h"

#include "apiserver/convert.h"
#include "apiserver/server.h"
#include "base/limits.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* ---- Accept -------------------------------------------------------------------------------------------------- */

struct clause {
    struct str type, as, group, version;
};

static struct clause parse_clause(struct str text)
{
    struct clause c = { .as = STR(""), .group = STR(""), .version = STR("") };
    struct str part, key;

    str_split(&text, ';', &c.type);
    c.type = str_trim(c.type);
    while (str_split(&text, ';', &part)) {
        part = str_trim(part);
        str_split(&part, '=', &key);
        if (str_eq(key, STR("as")))
            c.as = part;
        else if (str_eq(key, STR("g")))
            c.group = part;
        else if (str_eq(key, STR("v")))
            c.version = part;
    }
    return c;
}

static bool type_served(struct str type, bool *yaml)
{
    *yaml = str_eq(type, STR("application/yaml"));
    return *yaml || str_eq(type, STR("application/json")) || str_eq(type, STR("*/*")) ||
           str_eq(type, STR("application/*"));
}

static bool take_clause(struct api_request *rq, const struct clause *c)
{
    bool yaml, list = str_eq(c->as, STR("PartialObjectMetadataList"));

    if (!type_served(c->type, &yaml))
        return false;
    if (c->as.n == 0) {
        rq->form = API_FORM_OBJECT;
        rq->yaml = yaml;
        return true;
    }
    if (!str_eq(c->group, STR("meta.k8s.io")) ||
        (!str_eq(c->version, STR("v1")) && !str_eq(c->version, STR("v1beta1"))))
        return false;
    if (str_eq(c->as, STR("Table")))
        rq->form = API_FORM_TABLE;
    else if (list || str_eq(c->as, STR("PartialObjectMetadata")))
        rq->form = API_FORM_META;
    else
        return false;
    rq->form_version = c->version;
    rq->yaml = yaml;
    return true;
}

int api_negotiate(struct api_request *rq)
{
    struct str rest = rq->accept, text;

    if (rest.n == 0)
        return 0;
    while (str_split(&rest, ',', &text)) {
        const struct clause c = parse_clause(text);

        if (take_clause(rq, &c))
            return 0;
    }
    api_fail(rq, 406, "NotAcceptable",
             "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
             "application/json;stream=watch");
    value_setz(rq->failure, "details", value_new_map(rq->arena));
    return -1;
}

/* ---- versions ------------------------------------------------------------------------------------------------ */

int api_read_stored(struct api_request *rq, const struct api_resource *res, struct str json,
                    struct value *ret)
{
    const struct json_options o = { .borrow = true };
    struct err *err = NULL;
    struct value v;
    int r = json_parse(rq->arena, json, &o, &v, &err);

    if (r < 0)
        return api_fail_err(rq, err);
    r = api_convert_from_stored(rq->arena, res, v, ret, &err);
    return r < 0 ? api_fail_err(rq, err) : 0;
}

struct value api_to_stored(struct api_request *rq, const struct api_resource *res, struct value v)
{
    return api_convert_to_stored(rq->arena, res, v);
}

static bool api_text_is_answer(const struct api_request *rq)
{
    return rq->form == API_FORM_OBJECT && rq->res->builtin &&
           str_eq(rq->res->api_version, rq->res->stored_version);
}

/* ---- forms --------------------------------------------------------------------------------------------------- */

static struct str form_api_version(struct api_request *rq)
{
    return arena_printf(rq->arena, "meta.k8s.io/" STR_FMT, STR_ARG(rq->form_version));
}

static struct value partial(struct api_request *rq, struct value obj)
{
    struct value v = value_new_map(rq->arena);

    value_setz(v, "apiVersion", value_from_str(form_api_version(rq)));
    value_setz(v, "kind", VALUE_STR("PartialObjectMetadata"));
    value_setz(v, "metadata", api_meta(obj));
    return v;
}

static struct value table_row(struct api_request *rq, struct value obj)
{
    struct str include = api_param(rq, "includeObject");
    struct value row = value_new_map(rq->arena), cells, conditions;

    api_printer_row(rq->res->printer, rq->arena, obj, rq->now, &cells, &conditions);
    value_setz(row, "cells", cells);
    if (!value_is_null(conditions))
        value_setz(row, "conditions", conditions);
    if (str_eq(include, STR("Object")))
        value_setz(row, "object", obj);
    else if (!str_eq(include, STR("None")))
        value_setz(row, "object", partial(rq, obj));
    else
        value_setz(row, "object", VALUE_NONE);
    return row;
}

static struct value one_row_table(struct api_request *rq, struct value obj, bool columns)
{
    struct value t = value_new_map(rq->arena), meta = value_new_map(rq->arena);
    const struct value none = { .kind = VALUE_LIST, .flags = VALUE_NIL };
    struct value *row = ARENA_NEW(rq->arena, struct value);

    *row = table_row(rq, obj);
    value_setz(t, "kind", VALUE_STR("Table"));
    value_setz(t, "apiVersion", value_from_str(form_api_version(rq)));
    value_setz(meta, "resourceVersion", value_from_str(api_meta_str(obj, "resourceVersion")));
    value_setz(t, "metadata", meta);
    value_setz(t, "columnDefinitions", columns ? api_printer_columns(rq->res->printer, rq->arena) : none);
    value_setz(t, "rows", value_from_list(row, 1));
    return t;
}

static struct value in_form(struct api_request *rq, struct value obj, bool columns)
{
    switch (rq->form) {
    case API_FORM_TABLE:
        return one_row_table(rq, obj, columns);
    case API_FORM_META:
        return partial(rq, obj);
    default:
        return obj;
    }
}

static int answer_yaml(struct api_request *rq, int code, struct value v)
{
    struct err *err = NULL;

    rq->code = code;
    rq->type = "application/yaml";
    buf_clear(&rq->out);
    return yml_print(v, &rq->out, &err) < 0 ? api_fail_err(rq, err) : 0;
}

int api_present(struct api_request *rq, int code, struct value obj)
{
    struct value v = in_form(rq, obj, true);

    return rq->yaml ? answer_yaml(rq, code, v) : api_answer_value(rq, code, v);
}

int api_present_text(struct api_request *rq, int code, struct str json)
{
    struct value obj;

    if (api_text_is_answer(rq) && !rq->yaml && !api_param_has(rq, "pretty")) {
        api_answer_text(rq, code, "application/json", json);
        buf_addc(&rq->out, '\n');
        return 0;
    }
    if (api_read_stored(rq, rq->res, json, &obj) < 0)
        return -1;
    return api_present(rq, code, obj);
}

/* ---- lists --------------------------------------------------------------------------------------------------- */

static void print(struct value v, struct buf *out)
{
    if (json_print(v, JSON_ESCAPE_HTML, out, NULL) < 0)
        out->failed = true;
}

void api_present_list_begin(struct api_presenter *p, struct buf *out)
{
    struct api_request *rq = p->rq;
    struct str v = rq->form_version;

    switch (rq->form) {
    case API_FORM_TABLE:
        buf_addf(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/" STR_FMT "\",\"columnDefinitions\":",
                 STR_ARG(v));
        print(api_printer_columns(rq->res->printer, rq->arena), out);
        buf_adds(out, ",\"rows\":[");
        return;
    case API_FORM_META:
        buf_addf(out,
                 "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/" STR_FMT
                 "\",\"items\":[",
                 STR_ARG(v));
        return;
    default:
        buf_addf(out, "{\"kind\":\"" STR_FMT "\",\"apiVersion\":\"" STR_FMT "\",\"items\":[",
                 STR_ARG(rq->res->list_kind), STR_ARG(rq->res->api_version));
    }
}

/* The memory of one row is given back before the next. */
static int print_item(struct api_presenter *p, struct str json, bool event, struct buf *out, struct err **err)
{
    const struct json_options o = { .borrow = true };
    struct api_request *rq = p->rq;
    struct arena_mark m = arena_mark(rq->arena);
    struct value v, obj;
    int r = json_parse(rq->arena, json, &o, &v, err);

    if (r < 0)
        return r;
    r = api_convert_from_stored(rq->arena, rq->res, v, &obj, err);
    if (r < 0)
        return r;
    if (event)
        v = in_form(rq, obj, !p->columns_sent);
    else
        v = rq->form == API_FORM_TABLE ? table_row(rq, obj) : in_form(rq, obj, false);
    p->columns_sent = true;
    r = json_print(v, JSON_ESCAPE_HTML, out, err);
    arena_rewind(rq->arena, m);
    return r;
}

int api_present_list_item(struct api_presenter *p, struct str json, struct buf *out, struct err **err)
{
    if (p->n++ > 0)
        buf_addc(out, ',');
    if (!api_text_is_answer(p->rq))
        return print_item(p, json, false, out, err);
    buf_addstr(out, json);
    return buf_check(out, err);
}

void api_present_list_end(struct api_presenter *p, int64_t rv, struct str token, int64_t remaining,
                          struct buf *out)
{
    UNUSED(p);
    buf_addf(out, "],\"metadata\":{\"resourceVersion\":\"%lld\"", (long long)rv);
    if (token.n > 0)
        buf_addf(out, ",\"continue\":\"" STR_FMT "\"", STR_ARG(token));
    if (token.n > 0 && remaining > 0)
        buf_addf(out, ",\"remainingItemCount\":%lld", (long long)remaining);
    buf_adds(out, "}}\n");
}

int api_present_event(struct api_presenter *p, struct str json, struct buf *out, struct err **err)
{
    if (!api_text_is_answer(p->rq))
        return print_item(p, json, true, out, err);
    buf_addstr(out, json);
    return buf_check(out, err);
}

void api_present_bookmark(struct api_presenter *p, int64_t rv, bool initial_end, struct buf *out)
{
    struct api_request *rq = p->rq;
    struct arena_mark m = arena_mark(rq->arena);
    struct value obj = value_new_map(rq->arena), meta = value_new_map(rq->arena), notes;

    value_setz(obj, "kind", value_from_str(rq->res->kind));
    value_setz(obj, "apiVersion", value_from_str(rq->res->api_version));
    value_setz(meta, "resourceVersion", value_from_str(arena_printf(rq->arena, "%lld", (long long)rv)));
    value_setz(meta, "creationTimestamp", VALUE_NONE);
    if (initial_end) {
        notes = value_new_map(rq->arena);
        value_setz(notes, "k8s.io/initial-events-end", VALUE_STR("true"));
        value_setz(meta, "annotations", notes);
    }
    value_setz(obj, "metadata", meta);
    print(in_form(rq, obj, !p->columns_sent), out);
    p->columns_sent = true;
    arena_rewind(rq->arena, m);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An index that is JSON. What is not valid, or has a key twice, goes to libyaml: Helm takes a text that is no JSON as YAML, and
 * libyaml knows the line of the second key. */
#include "base/limits.h"
#include "registry/window.h"
#include "json/json.h"

struct json_reader {
    struct index_window window;
    struct index_sink *sink;
    struct arena *arena; /* of what is being looked at */
    struct map seen;     /* keys of the top */
    bool has_api_version;
};

/* The next byte that is not white space, not taken. 1; 0 at the end. */
static int peek(struct json_reader *j, char *ret, struct err **err)
{
    struct index_window *w = &j->window;

    for (;;) {
        for (; w->at < w->n; w->at++) {
            *ret = w->p[w->at];
            if (*ret != ' ' && *ret != '\n' && *ret != '\r' && *ret != '\t')
                return 1;
        }
        int r = index_window_more(w, err);

        if (r <= 0)
            return r;
    }
}

/* 1 when the next byte is `c`: it is taken then. */
static int take_char(struct json_reader *j, char c, struct err **err)
{
    char next;
    int r = peek(j, &next, err);

    if (r == 1 && next == c)
        j->window.at++;
    return r <= 0 ? r : next == c;
}

/* The text of one value. */
static int take_text(struct json_reader *j, struct str *ret, struct err **err)
{
    struct json_scan state = { 0 };
    size_t end;
    char first;
    int r = peek(j, &first, err);

    while (r == 1) {
        r = json_scan_value(&state, index_window_text(&j->window), &end, NULL);
        if (r == 1) {
            *ret = str_sub(index_window_text(&j->window), 0, end);
            j->window.at += end;
            return 1;
        }
        r = r < 0 ? 0 : index_window_more(&j->window, err);
    }
    return r;
}

/* One value; strings are borrowed from the window. */
static int take_value(struct json_reader *j, struct str *ret_text, struct value *ret, struct err **err)
{
    static const struct json_options options = { .refuse_duplicates = true, .borrow = true };
    int r = take_text(j, ret_text, err);

    if (r <= 0)
        return r;
    return json_parse(j->arena, *ret_text, &options, ret, NULL) == 0;
}

static int take_key(struct json_reader *j, struct str *ret, struct err **err)
{
    struct str text;
    struct value key;
    int r = take_value(j, &text, &key, err);

    if (r <= 0 || !value_is_string(key))
        return MIN(r, 0);
    *ret = arena_dup(j->arena, value_str(key));
    return take_char(j, ':', err);
}

/* Behind an item: 1 when there is another, 2 when `close` was there and is taken; 0 for anything else. */
static int take_separator(struct json_reader *j, char close, struct err **err)
{
    int r = take_char(j, ',', err);

    if (r != 0)
        return r;
    r = take_char(j, close, err);
    return r == 1 ? 2 : r;
}

static int read_entry(struct json_reader *j, struct err **err)
{
    struct str text;
    struct value v;
    int r = take_value(j, &text, &v, err);

    if (r <= 0)
        return r;
    if (index_sink_reuse(j->sink, text))
        return 1;
    r = index_sink_entry(j->sink, j->arena, v, text, err);
    return r < 0 ? r : 1;
}

/* An empty list or map, or null. */
static int take_empty(struct json_reader *j, struct err **err)
{
    struct str text;
    struct value v;
    int r = take_value(j, &text, &v, err);

    return r == 1 ? value_len(v) == 0 && v.kind != VALUE_STRING : r;
}

static int read_versions(struct json_reader *j, struct err **err)
{
    char next = 0;
    int r = take_char(j, '[', err);

    if (r == 1)
        r = peek(j, &next, err);
    else if (r == 0)
        return take_empty(j, err);
    if (r == 1 && next == ']')
        return take_char(j, ']', err);
    while (r == 1) {
        struct arena_mark mark = arena_mark(j->arena);

        r = read_entry(j, err);
        if (r == 1)
            r = take_separator(j, ']', err);
        arena_rewind(j->arena, mark);
    }
    return r == 2 ? 1 : r;
}

static int read_chart(struct json_reader *j, struct err **err)
{
    struct err *cause = NULL;
    struct str name;
    int r = take_key(j, &name, err);

    if (r <= 0)
        return r;
    r = index_sink_chart(j->sink, name, &cause);
    if (r == -ERRC_EXISTS) {
        err_free(cause);
        return 0;
    }
    if (r < 0) {
        if (err)
            *err = cause;
        else
            err_free(cause);
        return r;
    }
    r = read_versions(j, err);
    if (r <= 0)
        return r;
    r = index_sink_chart_end(j->sink, err);
    return r < 0 ? r : 1;
}

static int read_entries(struct json_reader *j, struct err **err)
{
    char next = 0;
    int r = take_char(j, '{', err);

    if (r == 0)
        return take_empty(j, err);
    if (r == 1)
        r = peek(j, &next, err);
    if (r == 1 && next == '}')
        return take_char(j, '}', err);
    while (r == 1) {
        struct arena_mark mark = arena_mark(j->arena);

        r = read_chart(j, err);
        if (r == 1)
            r = take_separator(j, '}', err);
        arena_rewind(j->arena, mark);
    }
    return r == 2 ? 1 : r;
}

static int read_member(struct json_reader *j, struct err **err)
{
    struct str key, text;
    struct value v;
    int r = take_key(j, &key, err);

    if (r <= 0)
        return r;
    if (map_put(&j->seen, key, j))
        return 0;
    if (str_eq(key, STR("entries")))
        return read_entries(j, err);
    r = take_value(j, &text, &v, err);
    if (r == 1 && str_eq(key, STR("apiVersion")))
        j->has_api_version = value_is_string(v) && v.n > 0;
    return r;
}

static int read_top(struct json_reader *j, struct err **err)
{
    char next;
    int r = take_char(j, '{', err);

    while (r == 1) {
        struct arena_mark mark = arena_mark(j->arena);

        r = read_member(j, err);
        if (r == 1)
            r = take_separator(j, '}', err);
        arena_rewind(j->arena, mark);
    }
    if (r <= 0)
        return r;
    r = peek(j, &next, err);
    if (r != 0 || !j->window.end)
        return MIN(r, 0);
    if (!j->has_api_version)
        return err_set(err, ERRC_INVALID, "no API version specified");
    return 1;
}

int index_read_json(struct index_source *from, struct index_sink *to, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct json_reader j = { .window = { .from = from }, .sink = to, .arena = a };
    int r = read_top(&j, err);

    index_window_done(&j.window);
    map_done(&j.seen);
    return r;
}

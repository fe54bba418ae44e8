/* SPDX-License-Identifier: Apache-2.0 */
/* Any index, from libyaml's events. */
#include "base/limits.h"
#include "registry/registry_int.h"
#include "yaml/yaml.h"

/* A list or a map may be a key in YAML, but not in JSON. */
static int check_key(const struct yml_event *e, struct err **err)
{
    return e->kind == YML_SCALAR ? 0 : err_set(err, ERRC_PARSE, "line %zu: a key that is no text", e->line);
}

struct yaml_reader {
    struct yml_reader *events;
    struct index_sink *sink;
    struct arena *arena; /* of one entry */
    bool has_api_version;
};

/* entries.<chart>: a list of maps, or null. */
static int read_versions(struct yaml_reader *y, struct str chart, struct err **err)
{
    static const struct yml_options strict = { .strict = true };
    struct arena_mark mark = arena_mark(y->arena);
    struct yml_event e;
    struct value v = VALUE_NONE;
    int r = yml_reader_next(y->events, &e, err);

    if (r == 0 && e.kind == YML_SCALAR)
        r = yml_reader_value(y->events, &e, y->arena, &strict, &v, err);
    if (r < 0 || (e.kind == YML_SCALAR && value_is_null(v)))
        return r;
    if (e.kind != YML_LIST)
        return err_set(err, ERRC_PARSE, "line %zu: entries.%.*s is not a list", e.line, STR_ARG(chart));
    while ((r = yml_reader_next(y->events, &e, err)) >= 0 && e.kind != YML_LIST_END) {
        r = yml_reader_value(y->events, &e, y->arena, &strict, &v, err);
        if (r < 0)
            return err_wrap(err, r, "entries.%.*s", STR_ARG(chart));
        r = index_sink_entry(y->sink, y->arena, v, STR(""), err);
        if (r < 0)
            return r;
        arena_rewind(y->arena, mark);
    }
    return r;
}

static int read_chart(struct yaml_reader *y, const struct yml_event *name, struct err **err)
{
    CLEANUP(free_ptr) char *chart = str_dup(name->text);
    int r = index_sink_chart(y->sink, str_from(chart), NULL);

    if (r == -ERRC_EXISTS)
        return err_set(err, ERRC_PARSE, "line %zu: entries.%s is there twice", name->line, chart);
    if (r < 0)
        return err_set(err, (enum errc) - r, "entries.%s", chart);
    r = read_versions(y, str_from(chart), err);
    return r < 0 ? r : index_sink_chart_end(y->sink, err);
}

static int read_entries(struct yaml_reader *y, struct err **err)
{
    struct yml_event e;
    int r = yml_reader_next(y->events, &e, err);

    if (r < 0 || e.kind == YML_SCALAR)
        return r;
    if (e.kind != YML_MAP)
        return err_set(err, ERRC_PARSE, "line %zu: entries is not a map", e.line);
    while ((r = yml_reader_next(y->events, &e, err)) >= 0 && e.kind != YML_MAP_END) {
        r = check_key(&e, err);
        if (r == 0)
            r = read_chart(y, &e, err);
        if (r < 0)
            return r;
    }
    return r;
}

/* The value of a key at the top; gone with the next one. */
static int read_value(struct yaml_reader *y, struct value *ret, struct err **err)
{
    struct arena_mark mark = arena_mark(y->arena);
    struct yml_event e;
    int r = yml_reader_next(y->events, &e, err);

    if (r == 0)
        r = yml_reader_value(y->events, &e, y->arena, NULL, ret, err);
    arena_rewind(y->arena, mark);
    return r;
}

static bool says_version(struct value v)
{
    return value_is_string(v) ? v.n > 0 : v.kind >= VALUE_BOOL && v.kind <= VALUE_FLOAT;
}

static int read_member(struct yaml_reader *y, struct str key, struct err **err)
{
    bool is_version = str_eq(key, STR("apiVersion"));
    struct value v;
    int r;

    if (str_eq(key, STR("entries")))
        return read_entries(y, err);
    r = read_value(y, &v, err);
    if (r == 0 && is_version)
        y->has_api_version = says_version(v);
    return r;
}

static int read_document(struct yaml_reader *y, struct map *seen, struct err **err)
{
    struct yml_event e;
    int r = yml_reader_next(y->events, &e, err);

    if (r == 0 && e.kind == YML_DOCUMENT)
        r = yml_reader_next(y->events, &e, err);
    if (r < 0)
        return r;
    if (e.kind == YML_END)
        return err_set(err, ERRC_PARSE, "empty index.yaml file");
    if (e.kind != YML_MAP)
        return err_set(err, ERRC_PARSE, "line %zu: not a map: this is no index.yaml", e.line);
    while ((r = yml_reader_next(y->events, &e, err)) >= 0 && e.kind != YML_MAP_END) {
        r = check_key(&e, err);
        if (r < 0)
            return r;
        if (map_put(seen, e.text, y))
            return err_set(err, ERRC_PARSE, "line %zu: key %.*s is there twice", e.line, STR_ARG(e.text));
        r = read_member(y, e.text, err);
        if (r < 0)
            return r;
    }
    return r;
}

int index_read_yaml(struct index_source *from, struct index_sink *to, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    CLEANUP(yml_reader_free) struct yml_reader *events = yml_reader_new_ahead(index_source_read, from);
    CLEANUP(map_done) struct map seen = MAP_INIT;
    struct yaml_reader y = { .events = events, .sink = to, .arena = a };
    int r = read_document(&y, &seen, err);

    if (r < 0)
        return r;
    if (!y.has_api_version)
        return err_set(err, ERRC_INVALID, "no API version specified");
    return 1;
}

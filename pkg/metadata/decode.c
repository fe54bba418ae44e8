/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/metadata.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/utf8.h"
#include "yaml/yaml.h"

/* Go's decoder goes on after a value of the wrong type and reports the first one: so do we. */
struct decoder {
    struct arena *arena;
    struct err **err;
    bool strict; /* unknown keys are errors */
    bool failed;
};

struct place {
    const char *type; /* Go name of the struct the field is in */
    const char *path; /* "dependencies." or "" */
};

const char *metadata_json_kind(struct value v)
{
    static const char *const names[] = {
        [VALUE_BOOL] = "bool",    [VALUE_INT] = "number",    [VALUE_UINT] = "number",
        [VALUE_FLOAT] = "number", [VALUE_STRING] = "string", [VALUE_BYTES] = "string",
        [VALUE_LIST] = "array",   [VALUE_MAP] = "object",
    };

    return v.kind < ARRAY_SIZE(names) && names[v.kind] ? names[v.kind] : "value";
}

static void wrong_type(struct decoder *d, struct value v, const struct place *at, const char *field,
                       const char *go_type)
{
    if (d->failed)
        return;
    d->failed = true;
    if (at)
        IGNORE_ERROR(err_set(d->err, ERRC_PARSE,
                             "json: cannot unmarshal %s into Go struct field %s.%s%s of type %s",
                             metadata_json_kind(v), at->type, at->path, field, go_type));
    else
        IGNORE_ERROR(err_set(d->err, ERRC_PARSE, "json: cannot unmarshal %s into Go value of type %s",
                             metadata_json_kind(v), go_type));
}

static void unknown_field(struct decoder *d, struct str name)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT((size_t)64 * 1024);

    if (d->failed)
        return;
    d->failed = true;
    utf8_quote(name, &quoted);
    IGNORE_ERROR(err_set(d->err, ERRC_PARSE, "json: unknown field %s", buf_z(&quoted)));
}

bool metadata_scalar_text(struct arena *a, struct value v, struct str *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    switch (v.kind) {
    case VALUE_NULL:
        *ret = STR("");
        return true;
    case VALUE_STRING:
        *ret = value_str(v);
        return true;
    case VALUE_BOOL:
        *ret = v.b ? STR("true") : STR("false");
        return true;
    case VALUE_INT:
        *ret = arena_printf(a, "%lld", (long long)v.i);
        return true;
    case VALUE_UINT:
        *ret = arena_printf(a, "%llu", (unsigned long long)v.u);
        return true;
    case VALUE_FLOAT:
        number_format_float(v.f, 'g', -1, 32, &b);
        *ret = arena_dup(a, buf_str(&b));
        return true;
    default:
        return false;
    }
}

struct value metadata_member(struct value map, struct str name)
{
    struct value found = VALUE_NONE;

    for (struct value_iter it = value_iter(map); value_next(&it);)
        if (!value_is_null(it.v) && str_ieq(it.key, name))
            found = it.v;
    return found;
}

static const struct yml_options kinds = { .keep_kinds = true };

/* ---- fields ---- */

enum field_kind {
    FIELD_STRING,
    FIELD_BOOL,
    FIELD_STRINGS,
    FIELD_STRING_MAP,
    FIELD_ANYS,
    FIELD_MAINTAINERS,
    FIELD_DEPENDENCIES
};

struct field {
    struct str name;
    enum field_kind kind;
    size_t offset;
};

static void decode_fields(struct decoder *d, const struct field *fields, size_t n, const struct place *at,
                          struct value map, void *to);

static void decode_string(struct decoder *d, struct value v, const struct place *at, const char *field,
                          struct str *to)
{
    if (!value_is_null(v) && !metadata_scalar_text(d->arena, v, to))
        wrong_type(d, v, at, field, "string");
}

static void decode_strings(struct decoder *d, struct value v, const struct place *at, const char *field,
                           struct metadata_strings *to)
{
    *to = (struct metadata_strings){ 0 };
    if (value_is_null(v))
        return;
    if (!value_is_list(v)) {
        wrong_type(d, v, at, field, "[]string");
        return;
    }
    to->items = ARENA_ARRAY(d->arena, struct str, value_len(v));
    to->n = value_len(v);
    for (size_t i = 0; i < to->n; i++) {
        to->items[i] = STR("");
        decode_string(d, value_at(v, i), at, field, &to->items[i]);
    }
}

static void decode_string_map(struct decoder *d, struct value v, const struct place *at, const char *field,
                              struct value *to)
{
    if (value_is_null(v)) {
        *to = VALUE_NONE;
        return;
    }
    if (!value_is_map(v)) {
        wrong_type(d, v, at, field, "map[string]string");
        return;
    }
    if (!value_is_map(*to))
        *to = value_new_map_sized(d->arena, value_len(v));
    to->type = VALUE_TYPE_STRING_MAP;
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        struct str text = STR("");

        decode_string(d, it.v, at, field, &text);
        value_set(*to, it.key, value_from_str(text));
    }
}

static const struct field maintainer_fields[] = {
    { { "name", 4 }, FIELD_STRING, offsetof(struct metadata_maintainer, name) },
    { { "email", 5 }, FIELD_STRING, offsetof(struct metadata_maintainer, email) },
    { { "url", 3 }, FIELD_STRING, offsetof(struct metadata_maintainer, url) },
};

static const struct field dependency_fields[] = {
    { { "name", 4 }, FIELD_STRING, offsetof(struct metadata_dependency, name) },
    { { "version", 7 }, FIELD_STRING, offsetof(struct metadata_dependency, version) },
    { { "repository", 10 }, FIELD_STRING, offsetof(struct metadata_dependency, repository) },
    { { "condition", 9 }, FIELD_STRING, offsetof(struct metadata_dependency, condition) },
    { { "tags", 4 }, FIELD_STRINGS, offsetof(struct metadata_dependency, tags) },
    { { "enabled", 7 }, FIELD_BOOL, offsetof(struct metadata_dependency, enabled) },
    { { "import-values", 13 }, FIELD_ANYS, offsetof(struct metadata_dependency, import_values) },
    { { "alias", 5 }, FIELD_STRING, offsetof(struct metadata_dependency, alias) },
};

static const struct field metadata_fields[] = {
    { { "name", 4 }, FIELD_STRING, offsetof(struct metadata, name) },
    { { "home", 4 }, FIELD_STRING, offsetof(struct metadata, home) },
    { { "sources", 7 }, FIELD_STRINGS, offsetof(struct metadata, sources) },
    { { "version", 7 }, FIELD_STRING, offsetof(struct metadata, version) },
    { { "description", 11 }, FIELD_STRING, offsetof(struct metadata, description) },
    { { "keywords", 8 }, FIELD_STRINGS, offsetof(struct metadata, keywords) },
    { { "maintainers", 11 }, FIELD_MAINTAINERS, offsetof(struct metadata, maintainers) },
    { { "icon", 4 }, FIELD_STRING, offsetof(struct metadata, icon) },
    { { "apiVersion", 10 }, FIELD_STRING, offsetof(struct metadata, api_version) },
    { { "condition", 9 }, FIELD_STRING, offsetof(struct metadata, condition) },
    { { "tags", 4 }, FIELD_STRING, offsetof(struct metadata, tags) },
    { { "appVersion", 10 }, FIELD_STRING, offsetof(struct metadata, app_version) },
    { { "deprecated", 10 }, FIELD_BOOL, offsetof(struct metadata, deprecated) },
    { { "annotations", 11 }, FIELD_STRING_MAP, offsetof(struct metadata, annotations) },
    { { "kubeVersion", 11 }, FIELD_STRING, offsetof(struct metadata, kube_version) },
    { { "dependencies", 12 }, FIELD_DEPENDENCIES, offsetof(struct metadata, dependencies) },
    { { "type", 4 }, FIELD_STRING, offsetof(struct metadata, type) },
};

static bool list_wanted(struct decoder *d, struct value v, const struct place *at, const char *field,
                        const char *go_type)
{
    if (value_is_null(v))
        return false;
    if (!value_is_list(v))
        wrong_type(d, v, at, field, go_type);
    return value_is_list(v);
}

static void decode_maintainers(struct decoder *d, struct value v, struct metadata *md)
{
    static const struct place top = { "Metadata", "" }, at = { "Maintainer", "maintainers." };

    md->n_maintainers = 0;
    if (!list_wanted(d, v, &top, "maintainers", "[]*v2.Maintainer"))
        return;
    md->maintainers = ARENA_ARRAY(d->arena, struct metadata_maintainer, value_len(v));
    md->n_maintainers = value_len(v);
    for (size_t i = 0; i < md->n_maintainers; i++) {
        struct value item = value_at(v, i);

        md->maintainers[i] = (struct metadata_maintainer){ .is_null = value_is_null(item) };
        if (value_is_map(item))
            decode_fields(d, maintainer_fields, ARRAY_SIZE(maintainer_fields), &at, item,
                          &md->maintainers[i]);
        else if (!value_is_null(item))
            wrong_type(d, item, &top, "maintainers", "v2.Maintainer");
    }
}

static void decode_dependencies(struct decoder *d, struct value v, const char *owner,
                                struct metadata_dependency **ret, size_t *ret_n)
{
    const struct place top = { owner, "" }, at = { "Dependency", "dependencies." };

    *ret = NULL;
    *ret_n = 0;
    if (!list_wanted(d, v, &top, "dependencies", "[]*v2.Dependency"))
        return;
    *ret = ARENA_ARRAY(d->arena, struct metadata_dependency, value_len(v));
    *ret_n = value_len(v);
    for (size_t i = 0; i < *ret_n; i++) {
        struct value item = value_at(v, i);

        (*ret)[i] = (struct metadata_dependency){ .is_null = value_is_null(item) };
        if (value_is_map(item))
            decode_fields(d, dependency_fields, ARRAY_SIZE(dependency_fields), &at, item, &(*ret)[i]);
        else if (!value_is_null(item))
            wrong_type(d, item, &top, "dependencies", "v2.Dependency");
    }
}

static void decode_bool(struct decoder *d, struct value v, const struct place *at, const char *field,
                        bool *to)
{
    if (v.kind == VALUE_BOOL)
        *to = v.b;
    else if (!value_is_null(v))
        wrong_type(d, v, at, field, "bool");
}

static void decode_field(struct decoder *d, const struct field *f, const struct place *at, struct value v,
                         void *base)
{
    void *to = (char *)base + f->offset;
    const char *name = f->name.p;

    switch (f->kind) {
    case FIELD_STRING:
        decode_string(d, v, at, name, to);
        break;
    case FIELD_BOOL:
        decode_bool(d, v, at, name, to);
        break;
    case FIELD_STRINGS:
        decode_strings(d, v, at, name, to);
        break;
    case FIELD_STRING_MAP:
        decode_string_map(d, v, at, name, to);
        break;
    case FIELD_ANYS:
        if (list_wanted(d, v, at, name, "[]interface {}"))
            *(struct value *)to = v;
        break;
    case FIELD_MAINTAINERS:
        decode_maintainers(d, v, base);
        break;
    case FIELD_DEPENDENCIES: {
        struct metadata *md = base;

        decode_dependencies(d, v, "Metadata", &md->dependencies, &md->n_dependencies);
        break;
    }
    }
}

static void decode_fields(struct decoder *d, const struct field *fields, size_t n, const struct place *at,
                          struct value map, void *to)
{
    for (struct value_iter it = value_iter(map); value_next(&it);) {
        size_t i = 0;

        while (i < n && (it.key.n != fields[i].name.n || !str_ieq(it.key, fields[i].name)))
            i++;
        if (i < n)
            decode_field(d, &fields[i], at, it.v, to);
        else if (d->strict)
            unknown_field(d, it.key);
    }
}

static int decode(struct arena *a, struct value v, bool strict, struct metadata *md, struct err **err)
{
    static const struct place at = { "Metadata", "" };
    struct decoder d = { .arena = a, .err = err, .strict = strict };

    if (value_is_map(v))
        decode_fields(&d, metadata_fields, ARRAY_SIZE(metadata_fields), &at, v, md);
    else if (!value_is_null(v))
        wrong_type(&d, v, NULL, NULL, "v2.Metadata");
    return d.failed ? -ERRC_PARSE : 0;
}

int metadata_decode(struct arena *a, struct value v, struct metadata *md, struct err **err)
{
    return decode(a, v, false, md, err);
}

static int wrap_decoding(struct err **err, int r)
{
    return r < 0 ? err_wrap(err, r, "error unmarshaling JSON: while decoding JSON") : r;
}

static int parse(struct arena *a, struct str yaml, bool strict, struct metadata *md, struct err **err)
{
    const struct yml_options options = { .keep_kinds = true, .strict = strict };
    struct value v;
    int r = yml_parse(a, yaml, &options, &v, err);

    if (r < 0)
        return r;
    return wrap_decoding(err, decode(a, v, strict, md, err));
}

int metadata_parse(struct arena *a, struct str yaml, struct metadata *md, struct err **err)
{
    return parse(a, yaml, false, md, err);
}

int metadata_parse_strict(struct arena *a, struct str yaml, struct metadata *md, struct err **err)
{
    return parse(a, yaml, true, md, err);
}

/* ---- Chart.lock ---- */

/* Go keeps the offset, drops trailing zeros of the fraction and writes a zero offset as Z. */
static bool normal_time(struct arena *a, struct str text, struct str *ret)
{
    struct wall_time t;
    struct str head, tail;
    size_t at = 19, end;

    if (text.n < 20 || !clock_parse_rfc3339(text, &t))
        return false;
    head = str_sub(text, 0, at);
    end = at;
    if (text.p[at] == '.' || text.p[at] == ',') {
        for (end = at + 1; end < text.n && ascii_is_digit(text.p[end]);)
            end++;
    }
    tail = str_sub(text, end, text.n);
    if (end - at > 10)
        end = at + 10;
    while (end > at && (text.p[end - 1] == '0' || text.p[end - 1] == '.'))
        end--;
    if (str_eq(tail, STR("+00:00")) || str_eq(tail, STR("-00:00")))
        tail = STR("Z");
    *ret = arena_printf(a, STR_FMT STR_FMT STR_FMT, STR_ARG(head), STR_ARG(str_sub(text, at, end)),
                        STR_ARG(tail));
    return true;
}

/* What Go's time.Parse() says of text that does not follow RFC 3339: where the first element is missing. */
static int not_a_time(struct str text, struct err **err)
{
    static const char *const layout[] = { "2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05" };
    CLEANUP(buf_done) struct buf all = BUF_INIT((size_t)64 * 1024), rest = BUF_INIT((size_t)64 * 1024);
    const char *wanted = "Z07:00";
    size_t at = 0;

    for (size_t i = 0; i < ARRAY_SIZE(layout); i++) {
        size_t n = strlen(layout[i]), k = 0;

        while (k < n && at + k < text.n &&
               (n > 1 ? ascii_is_digit(text.p[at + k]) : text.p[at + k] == layout[i][0]))
            k++;
        if (k < n) {
            wanted = layout[i];
            break;
        }
        at += n;
    }
    utf8_quote(text, &all);
    utf8_quote(str_sub(text, at, text.n), &rest);
    return err_set(err, ERRC_PARSE,
                   "parsing time %s as \"2006-01-02T15:04:05Z07:00\": cannot parse %s as \"%s\"", buf_z(&all),
                   buf_z(&rest), wanted);
}

static int decode_time(struct arena *a, struct value v, struct str *to, struct err **err)
{
    struct str text = value_str(v);

    if (value_is_null(v))
        return 0;
    if (!value_is_string(v))
        return err_set(err, ERRC_PARSE, "Time.UnmarshalJSON: input is not a JSON string");
    if (!normal_time(a, text, to))
        return not_a_time(text, err);
    return 0;
}

static int decode_lock(struct arena *a, struct value v, struct metadata_lock *lock, struct err **err)
{
    static const struct place at = { "Lock", "" };
    struct decoder d = { .arena = a, .err = err };
    int r;

    if (!value_is_map(v)) {
        wrong_type(&d, v, NULL, NULL, "v2.Lock");
        return -ERRC_PARSE;
    }
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        if (str_ieq(it.key, STR("dependencies")))
            decode_dependencies(&d, it.v, "Lock", &lock->dependencies, &lock->n_dependencies);
        else if (str_ieq(it.key, STR("digest")))
            decode_string(&d, it.v, &at, "digest", &lock->digest);
    }
    if (d.failed)
        return -ERRC_PARSE;
    r = decode_time(a, metadata_member(v, STR("generated")), &lock->generated, err);
    return r;
}

int metadata_lock_parse(struct arena *a, struct str yaml, struct metadata_lock *ret, struct err **err)
{
    struct metadata_lock lock = { .generated = STR("0001-01-01T00:00:00Z"), .digest = STR("") };
    struct value v;
    int r = yml_parse(a, yaml, &kinds, &v, err);

    if (r < 0)
        return r;
    if (value_is_null(v))
        return 0;
    r = wrap_decoding(err, decode_lock(a, v, &lock, err));
    if (r < 0)
        return r;
    *ret = lock;
    return 1;
}

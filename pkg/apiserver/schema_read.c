/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "apiserver/schema.h"
#include "base/encode.h"
#include "base/limits.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* ---- duplicate keys: a second look at text that json_parse() accepted ---- */

struct dup_level {
    struct str *keys; /* of an object, as written */
    size_t n, cap;
    size_t path_n; /* length of the path up to this container */
    int64_t index; /* of a list's current item; -1 in an object */
    bool after_key;
};

struct dup_scan {
    struct arena *a;
    struct buf path;
    struct api_notes *notes;
    struct dup_level *levels;
    size_t depth, cap;
};

static int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str read_key(struct arena *a, struct str raw)
{
    struct value v = VALUE_NONE;

    return json_parse(a, raw, NULL, &v, NULL) < 0 ? raw : value_str(v);
}

static void note_duplicates(struct dup_scan *s, const struct dup_level *l)
{
    qsort(l->keys, l->n, sizeof(*l->keys), compare_str);
    for (size_t i = 1; i < l->n; i++)
        if (str_eq(l->keys[i - 1], l->keys[i]) && (i + 1 == l->n || !str_eq(l->keys[i], l->keys[i + 1])))
            api_notes_add(s->notes, "duplicate field \"" STR_FMT "%s" STR_FMT "\"", (int)l->path_n,
                          buf_z(&s->path), l->path_n ? "." : "", STR_ARG(l->keys[i]));
}

static void open_level(struct dup_scan *s, bool list)
{
    if (s->depth == s->cap) {
        const size_t cap = s->cap ? 2 * s->cap : 16;

        s->levels = arena_grow(s->a, s->levels, s->cap * sizeof(*s->levels), cap * sizeof(*s->levels));
        s->cap = cap;
    }
    if (s->depth > 0 && s->levels[s->depth - 1].index >= 0)
        buf_addf(&s->path, "[%lld]", (long long)s->levels[s->depth - 1].index);
    s->levels[s->depth++] = (struct dup_level){ .path_n = s->path.n, .index = list ? 0 : -1 };
}

static void close_level(struct dup_scan *s)
{
    const struct dup_level *l = &s->levels[--s->depth];

    buf_truncate(&s->path, l->path_n);
    if (l->n > 1)
        note_duplicates(s, l);
    buf_truncate(&s->path, s->depth > 0 ? s->levels[s->depth - 1].path_n : 0);
}

static void add_key(struct dup_scan *s, struct str key)
{
    struct dup_level *l = &s->levels[s->depth - 1];

    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 8;

        l->keys = arena_grow(s->a, l->keys, l->cap * sizeof(*l->keys), cap * sizeof(*l->keys));
        l->cap = cap;
    }
    l->keys[l->n++] = key;
    l->after_key = true;
    buf_truncate(&s->path, l->path_n);
    buf_addf(&s->path, "%s" STR_FMT, l->path_n ? "." : "", STR_ARG(key));
}

static size_t string_end(struct str text, size_t i)
{
    for (i++; i < text.n && text.p[i] != '"'; i++)
        i += text.p[i] == '\\';
    return i;
}

static void scan_duplicates(struct arena *a, struct str text, struct api_notes *notes)
{
    struct dup_scan s = { .a = a, .path = BUF_INIT(MIB), .notes = notes };

    for (size_t i = 0; i < text.n; i++) {
        struct dup_level *l = s.depth > 0 ? &s.levels[s.depth - 1] : NULL;

        switch (text.p[i]) {
        case '{':
        case '[':
            open_level(&s, text.p[i] == '[');
            break;
        case '}':
        case ']':
            close_level(&s);
            break;
        case ',':
            assert(l);
            l->index += l->index >= 0;
            l->after_key = false;
            break;
        case '"': {
            const size_t end = string_end(text, i);

            if (l && l->index < 0 && !l->after_key)
                add_key(&s, read_key(a, str_sub(text, i, end + 1)));
            i = end;
            break;
        }
        default:
            break;
        }
    }
    buf_done(&s.path);
}

/* ---- bodies ---- */

/* sigs.k8s.io/yaml says what it was doing, the API server's decoder does not. */
static struct str plain_message(const struct err *cause)
{
    return str_trim_prefix(str_from(err_message(cause)), STR("error converting YAML to JSON: "));
}

static int fail_bad_request(struct err **err, struct err *cause, const char *what)
{
    const int r = err_set(err, ERRC_PARSE, "%s" STR_FMT, what, STR_ARG(plain_message(cause)));

    if (err)
        err_set_http(*err, 400, STR("BadRequest"), 0);
    err_free(cause);
    return r;
}

static int read_json(struct arena *a, struct str text, struct value *ret, struct api_notes *strict,
                     struct err **err)
{
    static const struct json_options lenient = { .depth_max = API_DEPTH_MAX },
                                     refuse = { .refuse_duplicates = true, .depth_max = API_DEPTH_MAX };
    struct err *cause = NULL;
    int r;

    if (strict && json_parse(a, text, &refuse, ret, NULL) >= 0)
        return 0;
    r = json_parse(a, text, &lenient, ret, &cause);
    if (r < 0)
        return fail_bad_request(err, cause, "couldn't get version/kind; json parse error: ");
    if (strict)
        scan_duplicates(a, text, strict);
    return 0;
}

static int read_yaml(struct arena *a, struct str text, struct value *ret, struct api_notes *strict,
                     struct err **err)
{
    static const struct yml_options refuse = { .strict = true };
    struct err *cause = NULL, *duplicate = NULL;
    int r;

    r = strict ? yml_parse(a, text, &refuse, ret, &duplicate) : -1;
    if (r >= 0)
        return 0;
    r = yml_parse(a, text, NULL, ret, &cause);
    if (r < 0) {
        err_free(duplicate);
        return fail_bad_request(err, cause, "");
    }
    if (strict)
        api_notes_add(strict, STR_FMT, STR_ARG(plain_message(duplicate)));
    err_free(duplicate);
    return 0;
}

int api_schema_read(struct arena *a, struct str text, enum api_schema_format format, struct value *ret,
                    struct api_notes *strict, struct err **err)
{
    struct err *cause = NULL;
    struct value v = VALUE_NONE;
    int r;

    r = (format == API_SCHEMA_YAML ? read_yaml : read_json)(a, text, &v, strict, err);
    if (r < 0)
        return r;
    if (!value_is_map(v)) {
        static const char *const names[] = { "null",   "bool",   "number", "number", "number",
                                             "string", "string", "array",  "object", "object" };

        IGNORE_ERROR(
            err_set(&cause, ERRC_PARSE,
                    "json: cannot unmarshal %s into Go value of type struct { APIVersion string "
                    "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
                    names[v.kind]));
        return fail_bad_request(err, cause, "couldn't get version/kind; json parse error: ");
    }
    *ret = v;
    return 0;
}

void api_schema_unrecognized(struct str body, struct str kind, const struct err *cause, struct buf *out)
{
    const size_t shown = MIN(body.n, (size_t)30);

    buf_addf(out, "the object provided is unrecognized (must be of type " STR_FMT "): %s (", STR_ARG(kind),
             err_message(cause));
    if (body.n == 0)
        buf_adds(out, "<empty>");
    else if (body.p[0] == '{')
        buf_add(out, body.p, shown);
    else
        hex_encode(str_sub(body, 0, shown), out);
    buf_adds(out, shown < body.n ? " ...)" : ")");
}

void api_schema_strict_message(const struct api_notes *strict, struct buf *out)
{
    buf_adds(out, "strict decoding error: ");
    for (size_t i = 0; i < strict->n; i++)
        buf_addf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(strict->items[i]));
}

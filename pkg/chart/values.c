/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/fs.h"
#include "base/gourl.h"
#include "base/limits.h"
#include "chart/chart_int.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* ---- values files ---- */

struct value chart_values_merge(struct arena *a, struct value base, struct value over)
{
    struct value out = value_new_map_sized(a, value_len(base) + value_len(over));

    for (struct value_iter it = value_iter(base); value_next(&it);)
        value_set(out, it.key, it.v);
    for (struct value_iter it = value_iter(over); value_next(&it);) {
        struct value old = value_is_map(it.v) ? value_get(base, it.key) : VALUE_NONE;

        value_set(out, it.key, value_is_map(old) ? chart_values_merge(a, old, it.v) : it.v);
    }
    return out;
}

/* One document onto *values; yaml.Unmarshal() into a Go map. */
static int merge_document(struct arena *a, struct str text, struct value *values, struct err **err)
{
    static const struct yml_options options = { .floats = true, .borrow = true };
    struct value v;
    int r = yml_parse(a, text, &options, &v, err);

    if (r < 0)
        return err_wrap(err, r, "cannot unmarshal yaml document");
    if (value_is_null(v))
        return 0;
    if (!value_is_map(v))
        return err_set(
            err, ERRC_PARSE,
            "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot "
            "unmarshal %s into Go value of type map[string]interface {}",
            metadata_json_kind(v));
    *values = value_len(*values) == 0 ? v : chart_values_merge(a, *values, v);
    return 0;
}

/* Can the text be parsed where it stands? */
static bool is_one_document(struct str text)
{
    return text.n > 0 && text.p[text.n - 1] == '\n' && chart_find_separator(text, 0) == STR_NPOS &&
           !memchr(text.p, '\r', text.n);
}

int chart_values_parse(struct arena *a, struct str yaml, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf document = BUF_INIT(YAML_TEXT_MAX);
    struct value values = value_new_map(a);
    int r;

    if (is_one_document(yaml)) {
        r = merge_document(a, yaml, &values, err);
    } else {
        while ((r = chart_next_document(&yaml, &document, err)) > 0) {
            r = merge_document(a, arena_dup(a, buf_str(&document)), &values, err);
            if (r < 0)
                return r;
        }
        r = r < 0 ? err_wrap(err, r, "error reading yaml document") : r;
    }
    if (r < 0)
        return r;
    *ret = values;
    return 0;
}

/* ---- everything from the command line ---- */

static bool is_fetched(struct str scheme)
{
    return str_eq(scheme, STR("http")) || str_eq(scheme, STR("https")) || str_eq(scheme, STR("oci"));
}

int chart_values_read(const struct chart_value_sources *s, const char *name, struct buf *out,
                      struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct gourl u;
    int r;

    if (str_eq(str_trim(str_from(name)), STR("-")))
        return fs_read_file("-", out, err);
    r = gourl_parse(a, str_from(name), &u, err);
    if (r < 0)
        return r;
    if (!is_fetched(u.scheme))
        return fs_read_path(name, out, err);
    if (!s || !s->fetch)
        return err_set(err, ERRC_UNSUPPORTED, "%s: values are not fetched here", name);
    return s->fetch(s->fetch_ctx, str_from(name), out, err);
}

static int add_file(struct arena *a, const struct chart_value_sources *s, const char *path,
                    struct value *base, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(YAML_TEXT_MAX);
    struct value v;
    int r = chart_values_read(s, path, &text, err);

    if (r < 0)
        return r;
    r = chart_values_parse(a, arena_dup(a, buf_str(&text)), &v, err);
    if (r < 0)
        return err_wrap(err, r, "failed to parse %s", path);
    *base = chart_values_merge(a, *base, v);
    return 0;
}

/* The reason stays out of the text, as in Helm: it may quote a secret. */
static int set_json_failed(const char *what, const char *text, struct err **cause, struct err **err)
{
    err_clear(cause);
    return err_set(err, ERRC_PARSE, "failed parsing --set-json data%s %s", what, text);
}

static int add_json(struct arena *a, const char *text, struct value *base, struct err **err)
{
    static const struct json_options options = { .floats = true };
    struct str trimmed = str_trim(str_from(text));
    struct err *cause = NULL;
    struct value v;

    if (trimmed.n > 0 && trimmed.p[0] == '{') {
        if (json_parse(a, trimmed, &options, &v, &cause) < 0)
            return set_json_failed(" JSON:", text, &cause, err);
        *base = chart_values_merge(a, *base, v);
        return 0;
    }
    if (chart_strvals_parse(a, STRVALS_JSON, str_from(text), *base, &cause) < 0)
        return set_json_failed("", text, &cause, err);
    return 0;
}

static int add_sets(struct arena *a, const struct chart_value_sources *s, enum strvals_kind kind,
                    const char *flag, const char *const *texts, size_t n, struct value base, struct err **err)
{
    for (size_t i = 0; i < n; i++) {
        int r = chart_strvals_parse_from(a, kind, str_from(texts[i]), s, base, err);

        if (r < 0)
            return err_wrap(err, r, "failed parsing %s data", flag);
    }
    return 0;
}

int chart_values_collect(struct arena *a, const struct chart_value_sources *s, struct value *ret,
                         struct err **err)
{
    const struct {
        enum strvals_kind kind;
        const char *flag;
        const char *const *texts;
        size_t n;
    } sets[] = {
        { STRVALS_SET, "--set", s->set, s->n_set },
        { STRVALS_STRING, "--set-string", s->set_string, s->n_set_string },
        { STRVALS_FILE, "--set-file", s->set_file, s->n_set_file },
        { STRVALS_LITERAL, "--set-literal", s->set_literal, s->n_set_literal },
    };
    struct value base = value_new_map(a);
    int r;

    for (size_t i = 0; i < s->n_files; i++) {
        r = add_file(a, s, s->files[i], &base, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < s->n_set_json; i++) {
        r = add_json(a, s->set_json[i], &base, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        r = add_sets(a, s, sets[i].kind, sets[i].flag, sets[i].texts, sets[i].n, base, err);
        if (r < 0)
            return r;
    }
    *ret = base;
    return 0;
}

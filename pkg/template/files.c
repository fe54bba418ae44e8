/* SPDX-License-Identifier: Apache-2.0 */
/* .Files (pkg/engine/files.go): a map from path to bytes with methods. */
#include "base/encode.h"
#include "base/limits.h"
#include "template/glob.h"
#include "template/template.h"
#include "template/types.h"
#include "yaml/yaml.h"

struct value tpl_files_new(struct arena *a, size_t n)
{
    struct value v = value_new_map_sized(a, n);

    v.type = VALUE_TYPE_FILES;
    return v;
}

static int files_get(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = value_from_str(value_str(value_get(c->receiver, value_str(c->args[0]))));
    return 0;
}

static int files_get_bytes(struct tpl_call *c, struct value *ret, struct err **err)
{
    const struct value_entry *e = value_find(c->receiver, value_str(c->args[0]));

    UNUSED(err);
    *ret = e ? e->v : tpl_bytes(STR(""));
    return 0;
}

static int files_glob(struct tpl_call *c, struct value *ret, struct err **err)
{
    const struct glob *g = glob_parse(c->arena, value_str(c->args[0]));
    struct value found = tpl_files_new(c->arena, 0);
    size_t n = value_len(c->receiver);
    int r = tpl_spend(c->x, n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        const struct value_entry *e = value_entry_at(c->receiver, i);

        if (!g || glob_matches(g, c->arena, e->key))
            value_append(found, e->key, e->v);
    }
    *ret = found;
    return r;
}

/* path.Base */
static struct str base_name(struct str path)
{
    while (path.n > 0 && path.p[path.n - 1] == '/')
        path.n--;
    if (path.n == 0)
        return STR("/");
    return str_basename(path);
}

/* A YAML map from base name to content, without the last line break. */
static int as_yaml(struct tpl_call *c, bool encoded, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct value map = value_new_map(c->arena);
    struct str text;
    int r;

    for (size_t i = 0; i < value_len(c->receiver); i++) {
        const struct value_entry *e = value_entry_at(c->receiver, i);
        struct str content = value_str(e->v);

        if (encoded) {
            CLEANUP(buf_done) struct buf b64 = BUF_INIT(TEMPLATE_OUTPUT_MAX);

            r = tpl_reserve(c->x, content.n * 4 / 3 + 4, err);
            if (r < 0)
                return r;
            base64_encode(BASE64_STD, content, &b64);
            content = arena_dup(c->arena, buf_str(&b64));
        }
        value_set(map, base_name(e->key), value_from_str(content));
    }
    r = yml_print(map, &out, NULL);
    if (r == -ERRC_LIMIT)
        return err_set(err, ERRC_LIMIT, "more than %zu bytes of output", out.max);
    text = r < 0 ? STR("") : str_trim_suffix(buf_str(&out), STR("\n"));
    r = tpl_reserve(c->x, text.n, err);
    if (r == 0)
        *ret = value_from_str(arena_dup(c->arena, text));
    return r;
}

static int files_as_config(struct tpl_call *c, struct value *ret, struct err **err)
{
    return as_yaml(c, false, ret, err);
}

static int files_as_secrets(struct tpl_call *c, struct value *ret, struct err **err)
{
    return as_yaml(c, true, ret, err);
}

static int files_lines(struct tpl_call *c, struct value *ret, struct err **err)
{
    const struct value_entry *e = value_find(c->receiver, value_str(c->args[0]));
    struct value_list list = VALUE_LIST_INIT(c->arena);
    struct str text, line;
    int r;

    if (e) {
        text = value_str(e->v);
        if (text.n == 0) /* Helm looks at the last byte */
            return err_set(err, ERRC_TEMPLATE, "runtime error: index out of range [-1]");
        text = str_trim_suffix(text, STR("\n"));
        r = tpl_reserve(c->x, text.n, err);
        if (r < 0)
            return r;
        if (text.n == 0)
            value_list_add(&list, VALUE_STR(""));
        for (struct str rest = text; text.n > 0 && str_split(&rest, '\n', &line);)
            value_list_add(&list, value_from_str(line));
    }
    *ret = value_list_done(&list);
    ret->type = VALUE_TYPE_STRING_LIST;
    return 0;
}

const struct tpl_method tpl_methods_files[] = {
    { "AsConfig", "", 's', files_as_config },
    { "AsSecrets", "", 's', files_as_secrets },
    { "Get", "s", 's', files_get },
    { "GetBytes", "s", 'B', files_get_bytes },
    { "Glob", "s", '?', files_glob },
    { "Lines", "s", 'S', files_lines },
    { NULL, NULL, 0, NULL },
};

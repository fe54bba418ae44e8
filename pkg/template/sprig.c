/* SPDX-License-Identifier: Apache-2.0 */
/* Templates with Sprig's functions alone (template.New().Funcs(sprig.TxtFuncMap())), as helm runs --name-template. */
#include <stdlib.h>

#include "base/limits.h"
#include "template/template.h"
#include "template/tree.h"

struct tpl_set *tpl_set_new_sprig(void)
{
    struct tpl_set *s = tpl_set_new();

    s->sprig = true;
    return s;
}

static int fn_env(struct tpl_call *c, struct value *ret, struct err **err)
{
    const char *v = getenv(arena_dupz(c->arena, value_str(c->args[0])));

    UNUSED(err);
    *ret = value_from_str(v ? arena_dup(c->arena, str_from(v)) : STR(""));
    return 0;
}

/* os.Expand(): what follows '$'; *ret_n bytes belong to it. */
static struct str variable(struct str s, size_t *ret_n)
{
    static const char special[] = "*#$@!?-0123456789";
    size_t n = 0, close;

    *ret_n = 0;
    if (s.n > 0 && s.p[0] == '{') {
        close = str_find_char(s, '}');
        *ret_n = close == STR_NPOS ? 1 : close + 1; /* bad syntax is eaten */
        return close == STR_NPOS ? STR("") : str_sub(s, 1, close);
    }
    if (s.n > 0 && ascii_is_one_of(s.p[0], special)) {
        *ret_n = 1;
        return str_sub(s, 0, 1);
    }
    while (n < s.n && (ascii_is_alnum(s.p[n]) || s.p[n] == '_'))
        n++;
    *ret_n = n;
    return str_sub(s, 0, n);
}

static int fn_expandenv(struct tpl_call *c, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct str s = value_str(c->args[0]);

    for (size_t i = 0; i < s.n; i++) {
        struct str name;
        size_t n;
        const char *v;

        if (s.p[i] != '$' || i + 1 == s.n) {
            buf_addc(&out, s.p[i]);
            continue;
        }
        name = variable(str_sub(s, i + 1, s.n), &n);
        if (n == 0) /* no name: the dollar stays */
            buf_addc(&out, '$');
        v = name.n > 0 ? getenv(arena_dupz(c->arena, name)) : NULL;
        buf_adds(&out, v ? v : "");
        i += n;
    }
    *ret = value_from_str(arena_dup(c->arena, buf_str(&out)));
    return buf_check(&out, err);
}

static int fn_fail(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(ret);
    return err_set(err, ERRC_TEMPLATE, STR_FMT, STR_ARG(value_str(c->args[0])));
}

static const struct tpl_func funcs[] = {
    { "env", "s", 's', fn_env },
    { "expandenv", "s", 's', fn_expandenv },
    { "fail", "s", 's', fn_fail },
};

static const char *const helm_alone[] = {
    "fromJsonArray", "fromToml", "fromYaml", "fromYamlArray", "include",      "lookup", "mustToToml",
    "mustToYaml",    "required", "toToml",   "toYaml",        "toYamlPretty", "tpl",
};

const struct tpl_func *func_find_sprig(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
        if (str_eq(name, str_from(funcs[i].name)))
            return &funcs[i];
    for (size_t i = 0; i < ARRAY_SIZE(helm_alone); i++)
        if (str_eq(name, str_from(helm_alone[i])))
            return NULL;
    return func_find(name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What Helm adds that needs the evaluator: include, tpl, required, fail, lookup (pkg/engine/engine.go). */
#include "base/limits.h"
#include "base/random.h"
#include "template/exec.h"

#define NO_VALUE STR("<no value>")

/* str_find(), for what is nearly never there and starts with a rare byte. */
static size_t find_no_value(struct str s)
{
    const char *end = s.p + s.n;

    for (const char *p = s.p; s.n > 0 && (p = memchr(p, NO_VALUE.p[0], (size_t)(end - p))); p++)
        if (str_has_prefix((struct str){ p, (size_t)(end - p) }, NO_VALUE))
            return (size_t)(p - s.p);
    return STR_NPOS;
}

void exec_drop_no_value(struct buf *out, size_t from)
{
    struct str rest = str_sub(buf_str(out), from, out->n);
    size_t at = find_no_value(rest), to = from;

    if (at == STR_NPOS)
        return;
    for (; at != STR_NPOS; at = find_no_value(rest)) {
        memmove(out->p + to, rest.p, at);
        to += at;
        rest = str_sub(rest, at + NO_VALUE.n, rest.n);
    }
    memmove(out->p + to, rest.p, rest.n);
    buf_truncate(out, to + rest.n);
}

/* `prefix` "quoted" `suffix`, as a text of the arena. */
static struct str quoted_text(struct tpl_exec *x, const char *prefix, struct str quoted, const char *suffix)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    buf_adds(&b, prefix);
    tpl_print_quoted(quoted, &b);
    buf_adds(&b, suffix);
    return arena_dup(x->arena, buf_str(&b));
}

/* ---- include ---- */

static int fn_include(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct tpl_exec *x = c->x;
    struct str name = value_str(c->args[0]), text;
    const struct tree *t = tpl_set_find(x->set, name);
    void **at = map_at(&x->nesting, name);
    uintptr_t depth = (uintptr_t)*at;
    int r;

    if (depth > TEMPLATE_DEPTH_MAX)
        return err_set(err, ERRC_TEMPLATE,
                       "rendering template has a nested reference name: " STR_FMT
                       ": unable to execute template",
                       STR_ARG(name));
    if (!t)
        return err_set(
            err, ERRC_TEMPLATE, STR_FMT,
            STR_ARG(quoted_text(x, "template: no template ", name, " associated with template \"gotpl\"")));
    *at = (void *)(depth + 1);
    r = exec_to_string(x, t, c->args[1], false, &text);
    *map_at(&x->nesting, name) = (void *)depth;
    if (r == 0)
        *ret = value_from_str(text);
    return r;
}

/* ---- tpl ---- */

static int exec_overlay(struct tpl_exec *x, struct str text, struct tpl_set **ret, struct err **err)
{
    struct tpl_set *s = map_get(&x->set->texts, text);
    int r;

    if (s) {
        *ret = s;
        return 0;
    }
    r = tpl_spend(x, text.n / 8, err);
    if (r == 0)
        r = tpl_reserve(x, 8 * text.n, err);
    if (r < 0)
        return r;
    s = exec_new_overlay(x);
    r = tpl_parse_overlay(s, text, err);
    if (r < 0)
        return r;
    map_put(&x->set->texts, text, s);
    *ret = s;
    return 0;
}

static int overlay_of(struct tpl_exec *x, struct str text, struct tpl_set **ret, struct err **err)
{
    CLEANUP(err_free) struct err *why = NULL;
    int r = exec_overlay(x, text, ret, &why);

    if (r < 0)
        err_set(err, err_code(why), STR_FMT "%s",
                STR_ARG(quoted_text(x, "cannot parse template ", text, ": ")), err_message(why));
    return r;
}

static struct str without_no_value(struct tpl_exec *x, struct str text)
{
    size_t mark = x->out.n;
    struct str s;

    if (str_find(text, NO_VALUE) == STR_NPOS)
        return text;
    buf_addstr(&x->out, text);
    if (x->out.failed)
        return text;
    exec_drop_no_value(&x->out, mark);
    s = arena_dup(x->arena, str_sub(buf_str(&x->out), mark, x->out.n));
    buf_truncate(&x->out, mark);
    return s;
}

static int fn_tpl(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct tpl_exec *x = c->x;
    struct tpl_set *set = x->set, *overlay = NULL;
    struct str text = value_str(c->args[0]), result;
    int r;

    if (!str_contains(text, STR("{{"))) {
        *ret = value_from_str(without_no_value(x, text));
        return 0;
    }
    r = overlay_of(x, text, &overlay, err);
    if (r < 0)
        return r;
    x->set = overlay;
    r = exec_to_string(x, tpl_set_find(overlay, TPL_ROOT_NAME), c->args[1], true, &result);
    x->set = set;
    if (r == 0)
        *ret = value_from_str(result);
    else if (!x->limit)
        exec_wrap(x, quoted_text(x, "error during tpl function execution for ", text, ": "));
    return r;
}

/* ---- required, fail ---- */

static int warn(struct tpl_exec *x, enum tpl_warning what, struct str message, struct value *ret,
                struct err **err)
{
    if (!x->env.lint)
        return err_set(err, ERRC_TEMPLATE, "HELM_ERR_START" STR_FMT "HELM_ERR_END", STR_ARG(message));
    if (x->env.warn)
        x->env.warn(x->env.ctx, what, message);
    *ret = VALUE_STR("");
    return 0;
}

static int fn_required(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct value v = c->args[1];

    if (v.kind == VALUE_NULL)
        return warn(c->x, TPL_WARN_REQUIRED_NULL, value_str(c->args[0]), ret, err);
    if (v.kind == VALUE_STRING && v.n == 0)
        return warn(c->x, TPL_WARN_REQUIRED_EMPTY, value_str(c->args[0]), ret, err);
    *ret = v;
    return 0;
}

static int fn_fail(struct tpl_call *c, struct value *ret, struct err **err)
{
    return warn(c->x, TPL_WARN_FAIL, value_str(c->args[0]), ret, err);
}

/* ---- lookup ---- */

static int fn_lookup(struct tpl_call *c, struct value *ret, struct err **err)
{
    const struct tpl_env *env = &c->x->env;

    if (env->lint || !env->lookup) {
        *ret = value_new_map(c->arena);
        return 0;
    }
    return env->lookup(env->ctx, c->arena, value_str(c->args[0]), value_str(c->args[1]),
                       value_str(c->args[2]), value_str(c->args[3]), ret, err);
}

static const struct tpl_func funcs[] = {
    { "fail", "s", 's', fn_fail },        { "include", "s*", 's', fn_include },
    { "lookup", "ssss", 'm', fn_lookup }, { "required", "s*", '*', fn_required },
    { "tpl", "s*", 's', fn_tpl },
};

const struct tpl_func_table tpl_funcs_engine = { funcs, ARRAY_SIZE(funcs) };

/* ---- what functions may ask ---- */

struct wall_time tpl_now(const struct tpl_exec *x)
{
    return x->env.now ? x->env.now(x->env.ctx) : clock_wall();
}

/* A password takes a few bytes a letter: the kernel is asked for many at once. None is given out twice. */
void tpl_random(struct tpl_exec *x, void *p, size_t n)
{
    if (x->env.random) {
        x->env.random(x->env.ctx, p, n);
        return;
    }
    if (n > sizeof(x->random)) {
        random_bytes(p, n);
        return;
    }
    if (x->n_random < n) {
        random_bytes(x->random, sizeof(x->random));
        x->n_random = sizeof(x->random);
    }
    x->n_random -= n;
    memcpy(p, x->random + x->n_random, n);
    explicit_bzero(x->random + x->n_random, n);
}

int tpl_resolve(struct tpl_exec *x, struct str host, struct str *ret, struct err **err)
{
    if (x->env.resolve)
        return x->env.resolve(x->env.ctx, x->arena, host, ret, err);
    *ret = STR("");
    return 0;
}

static struct list_tail *tail_of(struct tpl_exec *x, const struct value *items)
{
    return &x->tails[(uintptr_t)items / sizeof(*items) % LIST_TAILS];
}

void tpl_list_keep_tail(struct tpl_exec *x, struct value *items, size_t n, size_t cap)
{
    *tail_of(x, items) = (struct list_tail){ items, n, cap };
}

struct value *tpl_list_take_tail(struct tpl_exec *x, struct value list)
{
    struct list_tail *t;

    if (list.kind != VALUE_LIST || list.type != VALUE_TYPE_PLAIN)
        return NULL;
    t = tail_of(x, list.list);
    return t->items == list.list && t->n == list.n && t->n < t->cap ? &t->items[t->n++] : NULL;
}

int tpl_spend(struct tpl_exec *x, size_t n, struct err **err)
{
    if (n > x->steps_max - MIN(x->steps, x->steps_max))
        return err_set(err, ERRC_LIMIT, "more than %zu steps", x->steps_max);
    x->steps += n;
    return 0;
}

int tpl_reserve(struct tpl_exec *x, size_t n, struct err **err)
{
    if (arena_fits(x->arena, n))
        return 0;
    return err_set(err, ERRC_LIMIT, "more than %zu bytes of memory", arena_limit(x->arena));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a render: Go's chain of wrapped errors, and what Helm 4 makes of it (pkg/engine/engine.go,
 * reformatExecErrorMsg). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "template/exec.h"

/* `required` and `fail` mark their message so that it can be cut out of whatever is wrapped around it. */
#define WARN_START STR("HELM_ERR_START")
#define WARN_END STR("HELM_ERR_END")

void exec_wrap(struct tpl_exec *x, struct str text)
{
    ARRAY_GROW(x->chain, x->cap_chain, x->n_chain + 1);
    x->chain[x->n_chain++] = text;
}

/* "template: FILE:LINE:COL: executing "NAME" at <NODE>: " */
static void print_context(const struct tpl_exec *x, struct buf *out)
{
    buf_adds(out, "template: ");
    if (!x->node) {
        buf_addstr(out, x->tree->name);
        buf_adds(out, ": ");
        return;
    }
    source_print_position(x->tree->source, x->node->pos, out);
    buf_adds(out, ": executing ");
    tpl_print_quoted(x->tree->name, out);
    buf_adds(out, " at <");
    node_print(x->node, out);
    buf_adds(out, ">: ");
}

int exec_fail_text(struct tpl_exec *x, struct str text)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    print_context(x, &b);
    buf_addstr(&b, text);
    exec_wrap(x, arena_dup(x->arena, buf_str(&b)));
    return -ERRC_TEMPLATE;
}

int exec_fail(struct tpl_exec *x, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        abort();
    return exec_fail_text(x, (struct str){ text, (size_t)n });
}

int exec_fail_limit(struct tpl_exec *x, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;

    if (x->limit)
        return -ERRC_LIMIT;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    x->n_chain = 0;
    exec_fail_text(x, str_from(text));
    x->limit = true;
    return -ERRC_LIMIT;
}

int exec_fail_call(struct tpl_exec *x, struct str name, int r, struct err *why)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);

    if (x->limit || err_code(why) == ERRC_LIMIT) {
        r = exec_fail_limit(x, "%s", err_message(why));
        err_free(why);
        return r;
    }
    if (why)
        exec_wrap(x, arena_dup(x->arena, str_from(err_message(why))));
    err_free(why);
    print_context(x, &b);
    buf_adds(&b, "error calling ");
    buf_addstr(&b, name);
    buf_adds(&b, ": ");
    exec_wrap(x, arena_dup(x->arena, buf_str(&b)));
    return -ERRC_TEMPLATE;
}

/* ---- Helm's view ---- */

struct trace {
    struct str location, message,
        executed; /* executed: what is between "executing " and ": " with its NODE */
    bool has_executed;
};

static bool cut(struct str s, struct str sep, struct str *before, struct str *after)
{
    size_t at = str_find(s, sep);

    if (at == STR_NPOS)
        return false;
    *before = str_sub(s, 0, at);
    *after = str_sub(s, at + sep.n, s.n);
    return true;
}

/* Without the next error that the message wraps. */
static struct str own_message(struct str s)
{
    size_t at = str_find(s, STR(" template:"));

    return at == STR_NPOS ? s : str_sub(s, 0, at);
}

/* `LOCATION: executing "NAME" at <NODE>: MESSAGE` */
static bool parse_executing(struct str s, struct trace *t)
{
    struct str location, after, behind_name, node, message;
    size_t quote;

    if (!cut(s, STR(": executing "), &location, &after) || !str_has_prefix(after, STR("\"")))
        return false;
    quote = str_find_char(str_sub(after, 1, after.n), '"');
    if (quote == STR_NPOS)
        return false;
    behind_name = str_sub(after, quote + 2, after.n);
    if (!str_has_prefix(behind_name, STR(" at <")) ||
        !cut(str_sub(behind_name, 5, behind_name.n), STR(">: "), &node, &message))
        return false;
    *t = (struct trace){ location, own_message(message),
                         str_sub(after, 0, (size_t)(node.p + node.n - after.p)), true };
    return true;
}

static bool parse_trace(struct str text, struct trace *t)
{
    struct str rest;
    size_t at, last = STR_NPOS;

    if (!str_has_prefix(text, STR("template: ")))
        return false;
    rest = str_sub(text, 10, text.n);
    if (str_has_prefix(rest, STR("no template "))) {
        *t = (struct trace){ .message = text };
        return true;
    }
    if (parse_executing(rest, t))
        return true;
    for (size_t from = 0; (at = str_find(str_sub(rest, from, rest.n), STR(": "))) != STR_NPOS;
         from = last + 2)
        last = from + at;
    if (last == STR_NPOS)
        return false;
    *t = (struct trace){ str_sub(rest, 0, last), own_message(str_sub(rest, last + 2, rest.n)), STR(""),
                         false };
    return true;
}

static bool same_trace(const struct trace *a, const struct trace *b)
{
    return str_eq(a->location, b->location) && str_eq(a->message, b->message) &&
           str_eq(a->executed, b->executed);
}

static void print_trace(const struct trace *t, struct buf *out)
{
    if (t->location.n > 0) {
        buf_addstr(out, t->location);
        buf_adds(out, "\n  ");
    }
    if (t->has_executed) {
        buf_adds(out, "executing ");
        buf_addstr(out, t->executed);
        buf_adds(out, ">:\n    ");
    }
    if (t->message.n > 0) {
        buf_addstr(out, t->message);
        buf_addc(out, '\n');
    }
}

/* The message of `required` or `fail`, wherever it is in the text. */
static bool find_warning(struct str text, struct str *ret)
{
    struct str rest, before;
    size_t at, last = STR_NPOS;

    if (!cut(text, WARN_START, &before, &rest))
        return false;
    for (size_t from = 0; (at = str_find(str_sub(rest, from, rest.n), WARN_END)) != STR_NPOS; from = last + 1)
        last = from + at;
    if (last == STR_NPOS)
        return false;
    *ret = str_sub(rest, 0, last);
    return true;
}

/* Every error of the chain, one below the other; false when one of them is no template error. */
static bool print_traces(const struct tpl_exec *x, struct str whole, struct buf *out)
{
    struct trace last = { 0 }, t;
    struct str text = whole;

    for (size_t i = x->n_chain; i-- > 0; text = str_sub(text, x->chain[i].n, text.n)) {
        if (!parse_trace(text, &t))
            return false;
        if (i + 1 < x->n_chain && same_trace(&t, &last))
            continue;
        print_trace(&t, out);
        last = t;
    }
    return true;
}

int exec_report(struct tpl_exec *x, struct str file, struct err **err)
{
    CLEANUP(buf_done) struct buf whole = BUF_INIT(SIZE_MAX / 4), traces = BUF_INIT(SIZE_MAX / 4);
    struct str text, location, rest, warning;

    for (size_t i = x->n_chain; i-- > 0;)
        buf_addstr(&whole, x->chain[i]);
    text = buf_str(&whole);
    if (x->limit)
        return err_set(err, ERRC_LIMIT, "rendering " STR_FMT " stopped: " STR_FMT, STR_ARG(file),
                       STR_ARG(str_trim_prefix(text, STR("template: "))));
    if (x->run->top.below->sprig || (x->n_chain == 1 && str_has_prefix(text, STR("template: no template "))))
        return err_set(err, ERRC_TEMPLATE, STR_FMT, STR_ARG(text));
    if (!cut(text, STR(": "), &location, &rest) || !cut(rest, STR(": "), &location, &rest))
        return err_set(err, ERRC_TEMPLATE, "execution error in (" STR_FMT "): " STR_FMT, STR_ARG(file),
                       STR_ARG(text));
    if (find_warning(rest, &warning))
        return err_set(err, ERRC_TEMPLATE, "execution error at (" STR_FMT "): " STR_FMT, STR_ARG(location),
                       STR_ARG(warning));
    if (print_traces(x, text, &traces))
        text = str_trim(buf_str(&traces));
    return err_set(err, ERRC_TEMPLATE, STR_FMT, STR_ARG(text));
}

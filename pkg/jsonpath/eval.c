/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/number.h"
#include "jsonpath/jsonpath_int.h"
#include "json/json.h"

#define RESULTS_MEMORY_MAX (JSONPATH_STEPS_MAX * 128) /* more than so many steps make */

/* As in client-go, one state for a whole template: "range" and "end" may stand anywhere in an action. */
struct run {
    struct arena *arena; /* lists of results; rewound behind each round of a range */
    struct buf *out;
    size_t begun, inside, ended; /* ranges: read and not entered, entered, ends read and not left */
    const struct node *last_end; /* the action that ended a range last */
    size_t silent;               /* ranges without a result, which are walked through to find their end */
    size_t depth, steps;
};

/* What a filter asks for may fail and still have results: client-go leaves what it had then. So *ret is always set. */
static int walk(struct run *run, const struct node *n, struct value in, struct value *ret, struct err **err);

/* A null in a map or list is Go's nil in an interface; the null that a range makes the current object is no value. */
static struct value element(struct value v)
{
    v.flags |= VALUE_FROM_ELEMENT;
    return v;
}

static bool is_no_value(struct value v)
{
    return value_is_null(v) && !(v.flags & VALUE_FROM_ELEMENT);
}

static int over(struct err **err, const char *what, size_t max)
{
    return err_set(err, ERRC_LIMIT, "jsonpath template: more than %zu %s", max, what);
}

static int step(struct run *run, struct err **err)
{
    run->steps++;
    return run->steps > JSONPATH_STEPS_MAX || arena_failed(run->arena)
               ? over(err, "steps", JSONPATH_STEPS_MAX)
               : 0;
}

static int add(struct run *run, struct value_list *l, struct value v, struct err **err)
{
    value_list_add(l, v);
    return step(run, err);
}

/* ---- the kinds of nodes ---- */

static int walk_list(struct run *run, const struct node_list *nodes, struct value in, struct value *ret,
                     struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < nodes->n && r == 0; i++)
        r = walk(run, &nodes->p[i], in, &in, err);
    *ret = in;
    return r;
}

static int walk_text(struct run *run, const struct node *n, struct value in, struct value *ret,
                     struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    int r = add(run, &l, value_from_str(n->text), err);

    UNUSED(in);
    *ret = value_list_done(&l);
    return r;
}

static int walk_literal(struct run *run, const struct node *n, struct value in, struct value *ret,
                        struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    int r = 0;

    for (size_t i = 0; i < in.n && r == 0; i++)
        r = add(run, &l, n->literal, err);
    *ret = value_list_done(&l);
    return r;
}

static int walk_identifier(struct run *run, const struct node *n, struct value in, struct value *ret,
                           struct err **err)
{
    *ret = in;
    if (str_eq(n->text, STR("range"))) {
        run->begun++;
        return 0;
    }
    if (!str_eq(n->text, STR("end")))
        return err_set(err, ERRC_INVALID, "unrecognized identifier " STR_FMT, STR_ARG(n->text));
    *ret = value_from_list(NULL, 0);
    if (run->inside == 0)
        return err_set(err, ERRC_INVALID, "not in range, nothing to end");
    run->ended++;
    return 0;
}

static int walk_field(struct run *run, const struct node *n, struct value in, struct value *ret,
                      struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    int r = 0;

    for (size_t i = 0; i < in.n && r == 0; i++) {
        const struct value_entry *e = value_find(value_at(in, i), n->text);

        if (e)
            r = add(run, &l, element(e->v), err);
    }
    *ret = value_list_done(&l);
    if (r == 0 && in.n > 0 && l.n == 0)
        return err_set(err, ERRC_NOT_FOUND, STR_FMT " is not found", STR_ARG(n->text));
    return r;
}

/* The bounds within a list of `len` items; *ret_from == *ret_to when nothing is asked for. */
static int resolve_bounds(const struct bound b[3], int64_t len, int64_t *ret_from, int64_t *ret_to,
                          struct err **err)
{
    int64_t from = b[0].known ? b[0].at : 0, to = b[1].known ? b[1].at : len;

    if (from < 0)
        from += len;
    if (to < 0 || (to == 0 && b[1].derived))
        to += len;
    if (from != to) {
        if (from >= len || from < 0)
            return err_set(err, ERRC_INVALID, "array index out of bounds: index %lld, length %lld",
                           (long long)from, (long long)len);
        if (to > len || to < 0)
            return err_set(err, ERRC_INVALID, "array index out of bounds: index %lld, length %lld",
                           (long long)((uint64_t)to - 1), (long long)len);
        if (from > to)
            return err_set(err, ERRC_INVALID, "starting index %lld is greater than ending index %lld",
                           (long long)from, (long long)to);
        if (b[2].known && b[2].at <= 0)
            return err_set(err, ERRC_INVALID, "step must be > 0");
    }
    *ret_from = from;
    *ret_to = to;
    return 0;
}

static int slice(struct run *run, const struct node *n, struct value list, struct value_list *l,
                 bool *ret_stop, struct err **err)
{
    int64_t from = 0, to = 0, by = n->bounds[2].known ? n->bounds[2].at : 1;
    int r;

    if (!value_is_list(list))
        return err_set(err, ERRC_INVALID, "not an array or slice");
    r = resolve_bounds(n->bounds, list.n, &from, &to, err);
    if (r < 0)
        return r;
    *ret_stop = from == to;
    for (; from < to && r == 0; from += MIN(by, to - from))
        r = add(run, l, element(value_at(list, (size_t)from)), err);
    return r;
}

static int walk_array(struct run *run, const struct node *n, struct value in, struct value *ret,
                      struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    bool stop = false; /* an empty slice of one list leaves out those behind it */

    for (size_t i = 0; i < in.n && !stop; i++) {
        const struct value v = value_at(in, i);
        int r = value_is_null(v) && !is_no_value(v) ? 0 : slice(run, n, v, &l, &stop, err);

        if (r < 0) {
            *ret = in;
            return r;
        }
    }
    *ret = value_list_done(&l);
    return 0;
}

/* Members of a map, items of a list, bytes of a string. */
static int add_children(struct run *run, struct value v, struct value_list *l, struct err **err)
{
    const struct str s = value_str(v);
    int r = 0;

    for (struct value_iter it = value_iter(v); r == 0 && value_next(&it);)
        r = add(run, l, element(it.v), err);
    for (size_t i = 0; i < s.n && r == 0; i++)
        r = add(run, l, value_from_uint((unsigned char)s.p[i]), err);
    return r;
}

static int walk_wildcard(struct run *run, const struct node *n, struct value in, struct value *ret,
                         struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    int r = 0;

    UNUSED(n);
    for (size_t i = 0; i < in.n && r == 0; i++)
        r = add_children(run, value_at(in, i), &l, err);
    *ret = value_list_done(&l);
    return r;
}

static int add_descendants(struct run *run, struct value v, struct value_list *l, struct err **err)
{
    int r;

    if (value_len(v) == 0)
        return 0;
    if (run->depth >= JSONPATH_DEPTH_MAX)
        return over(err, "levels", JSONPATH_DEPTH_MAX);
    run->depth++;
    r = add(run, l, v, err);
    for (struct value_iter it = value_iter(v); r == 0 && value_next(&it);)
        r = add_descendants(run, it.v, l, err);
    run->depth--;
    return r;
}

/* All maps, lists and strings that are not empty, each before what is in it. */
static int walk_recursive(struct run *run, const struct node *n, struct value in, struct value *ret,
                          struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    int r = 0;

    UNUSED(n);
    for (size_t i = 0; i < in.n && r == 0; i++)
        r = add_descendants(run, value_at(in, i), &l, err);
    *ret = value_list_done(&l);
    return r;
}

static int walk_union(struct run *run, const struct node *n, struct value in, struct value *ret,
                      struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);

    for (size_t i = 0; i < n->nodes.n; i++) {
        struct value found;
        int r = walk_list(run, &n->nodes.p[i].nodes, in, &found, err);

        for (size_t j = 0; j < found.n && r == 0; j++)
            r = add(run, &l, value_at(found, j), err);
        if (r < 0) {
            *ret = in;
            return r;
        }
    }
    *ret = value_list_done(&l);
    return 0;
}

/* ---- filters ---- */

/* Without an operator: whether the left side has results, be it that it failed. */
static int is_there(struct run *run, const struct node *n, struct value item, bool *ret, struct err **err)
{
    CLEANUP(err_free) struct err *failure = NULL;
    struct value found;
    int r = walk_list(run, &n->nodes, item, &found, &failure);

    if (r == -ERRC_LIMIT) {
        if (err)
            *err = TAKE(failure);
        return r;
    }
    *ret = found.n > 0;
    return 0;
}

/* 1 and *ret when a side has one result, 0 when it has none. */
static int one_side(struct run *run, const struct node_list *nodes, struct value item, struct value *ret,
                    struct err **err)
{
    struct value found;
    int r = walk_list(run, nodes, item, &found, err);

    if (r < 0 || found.n == 0)
        return r;
    if (found.n > 1)
        return err_set(err, ERRC_INVALID, "can only compare one element at a time");
    *ret = value_at(found, 0);
    return 1;
}

static int passes(struct run *run, const struct node *n, struct value item, bool *ret, struct err **err)
{
    struct value left, right;
    int r;

    *ret = false;
    if (n->text.n == 0)
        return is_there(run, n, item, ret, err);
    r = one_side(run, &n->nodes, item, &left, err);
    if (r == 1)
        r = one_side(run, &n->rights, item, &right, err);
    return r == 1 ? jsonpath_compare(n->text, left, right, ret, err) : r;
}

static int walk_filter(struct run *run, const struct node *n, struct value in, struct value *ret,
                       struct err **err)
{
    struct value_list l = VALUE_LIST_INIT(run->arena);
    int r = 0;

    for (size_t i = 0; i < in.n && r == 0; i++) {
        const struct value list = value_at(in, i);

        if (!value_is_list(list))
            r = err_set(err, ERRC_INVALID, "not an array or slice and cannot be filtered");
        for (size_t j = 0; r == 0 && j < list.n; j++) {
            const struct arena_mark mark = arena_mark(run->arena);
            const struct value item = element(value_at(list, j));
            bool pass = false;

            r = passes(run, n, value_from_list(&item, 1), &pass, err);
            arena_rewind(run->arena, mark);
            if (r == 0 && pass)
                r = add(run, &l, item, err);
            if (r == 0)
                r = step(run, err);
        }
    }
    *ret = r < 0 ? in : value_list_done(&l);
    return r;
}

static int walk_inner(struct run *run, const struct node *n, struct value in, struct value *ret,
                      struct err **err)
{
    return walk_list(run, &n->nodes, in, ret, err);
}

static int walk(struct run *run, const struct node *n, struct value in, struct value *ret, struct err **err)
{
    static int (*const walkers[])(struct run * run, const struct node *n, struct value in, struct value *ret,
                                  struct err **err) = {
        [NODE_TEXT] = walk_text,           [NODE_LIST] = walk_inner,
        [NODE_FIELD] = walk_field,         [NODE_IDENTIFIER] = walk_identifier,
        [NODE_ARRAY] = walk_array,         [NODE_FILTER] = walk_filter,
        [NODE_LITERAL] = walk_literal,     [NODE_WILDCARD] = walk_wildcard,
        [NODE_RECURSIVE] = walk_recursive, [NODE_UNION] = walk_union,
    };

    return walkers[n->kind](run, n, in, ret, err);
}

/* ---- printing ---- */

/* fmt.Fprint; maps and lists as json.Marshal. */
static int print_value(struct value v, struct buf *out, struct err **err)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_NULL:
        buf_adds(out, is_no_value(v) ? "<no value>" : "null");
        return 0;
    case VALUE_STRING:
    case VALUE_BYTES:
        buf_addstr(out, value_str(v));
        return 0;
    case VALUE_FLOAT:
        number_format_float(v.f, 'g', -1, 64, out);
        return 0;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_OBJECT:
        break;
    }
    return json_print(v, JSON_ESCAPE_HTML, out, err);
}

static int print_results(struct run *run, struct value results, struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < results.n && r == 0 && run->silent == 0; i++) {
        if (i > 0)
            buf_addc(run->out, ' ');
        r = print_value(value_at(results, i), run->out, err);
        if (r == 0)
            r = buf_check(run->out, err);
    }
    return r;
}

/* ---- templates ---- */

static int print_nodes(struct run *run, const struct node *nodes, size_t n, struct value v, struct err **err);

/* The nodes behind a range, up to its end, for each of its results. */
static int print_rounds(struct run *run, const struct node *nodes, size_t n, struct value results,
                        struct err **err)
{
    const bool is_empty = results.n == 0;
    int r = 0;

    if (run->depth >= JSONPATH_DEPTH_MAX)
        return over(err, "levels", JSONPATH_DEPTH_MAX);
    run->depth++;
    run->inside++;
    run->silent += is_empty;
    if (is_empty)
        r = print_nodes(run, nodes, n, VALUE_NONE, err);
    for (size_t i = 0; i < results.n && r == 0; i++) {
        const struct arena_mark mark = arena_mark(run->arena);
        struct value v = value_at(results, i);

        if (is_no_value(v))
            return err_set(err, ERRC_INVALID, "there is nothing to range over");
        v.flags &= (uint16_t)~VALUE_FROM_ELEMENT;
        r = print_nodes(run, nodes, n, v, err);
        arena_rewind(run->arena, mark);
    }
    run->silent -= is_empty;
    run->inside--;
    run->depth--;
    return r;
}

static int print_nodes(struct run *run, const struct node *nodes, size_t n, struct value v, struct err **err)
{
    struct value *current = arena_alloc(run->arena, sizeof(*current));

    *current = v;
    for (size_t i = 0; i < n; i++) {
        struct value results;
        int r = step(run, err);

        if (r == 0)
            r = walk(run, &nodes[i], value_from_list(current, 1), &results, err);
        if (r < 0)
            return r;
        if (run->ended > 0 && run->ended <= run->inside) {
            run->ended--;
            run->last_end = &nodes[i];
            return 0;
        }
        if (run->begun == 0) {
            r = print_results(run, results, err);
        } else {
            run->begun--;
            r = print_rounds(run, nodes + i + 1, n - i - 1, results, err);
            if (run->last_end > nodes + i && run->last_end < nodes + n) /* else there is no end: once more */
                i = (size_t)(run->last_end - nodes);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

int jsonpath_print(const struct jsonpath *p, struct value v, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *arena = arena_new(RESULTS_MEMORY_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(JSONPATH_OUTPUT_MAX);
    struct run run = { .arena = arena, .out = &text };
    int r = print_nodes(&run, p->root.p, p->root.n, v, err);

    if (r < 0)
        return r;
    buf_addstr(out, buf_str(&text));
    return buf_check(out, err);
}

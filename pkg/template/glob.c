/* SPDX-License-Identifier: Apache-2.0 */
#include "template/glob.h"

#include "template/quote.h"

#define BRACES_MAX 100
#define STATES_MAX 100000

/* A nondeterministic automaton: all states that could have been reached move on with each character. */
enum op { ONE, NOT_SEPARATOR, SET, RANGE, SPLIT, MATCH };

struct state {
    uint8_t op;
    bool negated;
    uint32_t lo, hi; /* ONE: lo; RANGE */
    struct str set;
    uint32_t next, other; /* other: of a SPLIT */
};

struct glob {
    struct state *states;
    uint32_t n, cap, start;
    bool ends; /* "prefix**suffix": gobwas looks at both ends alone, so they may overlap */
    struct str prefix, suffix;
};

struct parser {
    struct arena *a;
    struct glob *g;
    struct str in;
    int braces;
    bool bad;
};

#define NOWHERE UINT32_MAX

static uint32_t add(struct parser *p, struct state s)
{
    struct glob *g = p->g;

    if (g->n == g->cap) {
        uint32_t cap = g->cap ? g->cap * 2 : 32;

        g->states = arena_grow(p->a, g->states, g->cap * sizeof(s), cap * sizeof(s));
        g->cap = cap;
    }
    p->bad |= g->n >= STATES_MAX;
    g->states[g->n] = s;
    return g->n++;
}

static bool next_rune(struct parser *p, uint32_t *ret)
{
    size_t n;

    if (p->in.n == 0 || p->bad)
        return false;
    n = go_decode_rune(p->in, ret);
    if (*ret == GO_RUNE_ERROR) { /* gobwas refuses it, even where it is written out */
        p->bad = true;
        return false;
    }
    if (*ret == 0) /* its end mark */
        return false;
    p->in = str_sub(p->in, n, p->in.n);
    return true;
}

static char peek(const struct parser *p)
{
    return p->in.n > 0 ? p->in.p[0] : '\0';
}

/* "a-z]" behind '['; false: it is no range. */
static bool range(struct parser *p, bool negated, uint32_t lo, struct state *ret)
{
    uint32_t hi, close;

    if (peek(p) != '-')
        return false;
    p->in = str_sub(p->in, 1, p->in.n);
    p->bad |= !next_rune(p, &hi) || !next_rune(p, &close) || close != ']' || hi < lo;
    *ret = (struct state){ .op = RANGE, .negated = negated, .lo = lo, .hi = p->bad ? lo : hi };
    return true;
}

/* Behind '['. */
static struct state brackets(struct parser *p)
{
    CLEANUP(buf_done) struct buf set = BUF_INIT(SIZE_MAX / 4);
    struct state s = { .op = SET };
    bool escaped = false;
    struct str start;
    uint32_t r;

    if (peek(p) == '!') {
        s.negated = true;
        p->in = str_sub(p->in, 1, p->in.n);
    }
    start = p->in;
    if (!next_rune(p, &r)) {
        p->bad = true;
        return s;
    }
    if (range(p, s.negated, r, &s))
        return s;
    p->in = start;
    for (;;) {
        if (!next_rune(p, &r)) {
            p->bad = true;
            return s;
        }
        if (!escaped && r == ']')
            break;
        if (!escaped && r == '\\') {
            escaped = true;
            continue;
        }
        escaped = false;
        buf_add_rune(&set, r);
    }
    p->bad |= set.n == 0;
    s.set = arena_dup(p->a, buf_str(&set));
    return s;
}

/* A piece of the automaton: where it starts and the states whose `next` is still open, chained through it. */
struct piece {
    uint32_t start, last; /* last: a state whose next is to be set */
};

static struct piece single(struct parser *p, struct state s)
{
    uint32_t i;

    s.next = NOWHERE;
    i = add(p, s);
    return (struct piece){ i, i };
}

/* Any number of what `body` takes. */
static struct piece loop(struct parser *p, struct state body)
{
    uint32_t split = add(p, (struct state){ .op = SPLIT, .next = NOWHERE, .other = NOWHERE });

    body.next = split;
    p->g->states[split].other = add(p, body);
    return (struct piece){ split, split };
}

static struct piece sequence(struct parser *p);

/* "{a,b}", behind '{'; a missing '}' is forgiven. */
static struct piece alternatives(struct parser *p)
{
    uint32_t join = add(p, (struct state){ .op = SPLIT, .next = NOWHERE, .other = NOWHERE });
    struct piece all = { NOWHERE, join }, one;

    p->bad |= ++p->braces > BRACES_MAX;
    while (!p->bad) {
        one = sequence(p);
        p->g->states[one.last].next = join;
        all.start = all.start == NOWHERE
                        ? one.start
                        : add(p, (struct state){ .op = SPLIT, .next = all.start, .other = one.start });
        if (peek(p) != ',')
            break;
        p->in = str_sub(p->in, 1, p->in.n);
    }
    if (peek(p) == '}')
        p->in = str_sub(p->in, 1, p->in.n);
    p->braces--;
    if (all.start == NOWHERE)
        all.start = join;
    return all;
}

static struct piece term(struct parser *p, uint32_t r)
{
    switch (r) {
    case '*':
        if (peek(p) != '*')
            return loop(p, (struct state){ .op = NOT_SEPARATOR });
        p->in = str_sub(p->in, 1, p->in.n);
        return loop(p, (struct state){ .op = RANGE, .hi = UINT32_MAX });
    case '?':
        return single(p, (struct state){ .op = NOT_SEPARATOR });
    case '[':
        return single(p, brackets(p));
    case '{':
        return alternatives(p);
    case '\\':
        if (!next_rune(p, &r))
            return single(p, (struct state){ .op = SPLIT, .other = NOWHERE });
        break;
    default:
        break;
    }
    return single(p, (struct state){ .op = ONE, .lo = r });
}

/* Up to the end, or to ',' or '}' within braces. */
static struct piece sequence(struct parser *p)
{
    struct piece all = single(p, (struct state){ .op = SPLIT, .other = NOWHERE }), one;
    uint32_t r;

    while (!(p->braces > 0 && (peek(p) == ',' || peek(p) == '}')) && next_rune(p, &r)) {
        one = term(p, r);
        p->g->states[all.last].next = one.start;
        all.last = one.last;
    }
    return all;
}

/* Up to a character that means something; escapes are resolved. */
static struct str literal(struct arena *a, struct str *rest)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(SIZE_MAX / 4);
    size_t i = 0;

    for (; i < rest->n && !ascii_is_one_of(rest->p[i], "*?[{"); i++) {
        i += rest->p[i] == '\\' && i + 1 < rest->n;
        buf_addc(&b, rest->p[i]);
    }
    *rest = str_sub(*rest, i, rest->n);
    return arena_dup(a, buf_str(&b));
}

/* dir + "**" + name finds "dir/name" too when both have the slash. */
static void find_ends(struct arena *a, struct glob *g, struct str pattern)
{
    g->prefix = literal(a, &pattern);
    if (!str_has_prefix(pattern, STR("**")))
        return;
    pattern = str_sub(pattern, 2, pattern.n);
    g->suffix = literal(a, &pattern);
    g->ends = pattern.n == 0 && g->prefix.n > 0 && g->suffix.n > 0;
}

const struct glob *glob_parse(struct arena *a, struct str pattern)
{
    struct glob *g = ARENA_NEW(a, struct glob);
    struct parser p = { .a = a, .g = g, .in = pattern };
    struct piece all = sequence(&p);
    uint32_t end = add(&p, (struct state){ .op = MATCH });

    g->states[all.last].next = end;
    g->start = all.start;
    find_ends(a, g, pattern);
    return p.bad ? NULL : g;
}

struct threads {
    uint32_t *at, *seen; /* seen: by state, the round it was added in */
    uint32_t *stack;
    uint32_t n, round;
};

static void reach(const struct glob *g, struct threads *t, uint32_t state)
{
    uint32_t depth = 0;

    t->stack[depth++] = state;
    while (depth > 0) {
        uint32_t i = t->stack[--depth];
        const struct state *s;

        if (i == NOWHERE || t->seen[i] == t->round)
            continue;
        t->seen[i] = t->round;
        s = &g->states[i];
        if (s->op != SPLIT) {
            t->at[t->n++] = i;
            continue;
        }
        t->stack[depth++] = s->next;
        t->stack[depth++] = s->other;
    }
}

static bool takes(const struct state *s, uint32_t r)
{
    struct str rest = s->set;
    bool in = false;

    switch (s->op) {
    case ONE:
        return r == s->lo;
    case NOT_SEPARATOR:
        return r != '/';
    case RANGE:
        return (r >= s->lo && r <= s->hi) != s->negated;
    case SET:
        while (rest.n > 0 && !in) {
            uint32_t member;

            rest = str_sub(rest, go_decode_rune(rest, &member), rest.n);
            in = member == r;
        }
        return in != s->negated;
    default:
        return false;
    }
}

bool glob_matches(const struct glob *g, struct arena *a, struct str text)
{
    struct threads now = { .round = 1 }, then;
    struct arena_mark mark = arena_mark(a);
    bool found = false;

    if (g->ends)
        return str_has_prefix(text, g->prefix) && str_has_suffix(text, g->suffix);
    now.at = ARENA_ARRAY(a, uint32_t, g->n);
    now.stack = ARENA_ARRAY(a, uint32_t, 2 * g->n + 2);
    now.seen = arena_calloc(a, g->n * sizeof(uint32_t));
    then = now;
    then.at = ARENA_ARRAY(a, uint32_t, g->n);
    reach(g, &now, g->start);
    while (text.n > 0 && now.n > 0) {
        uint32_t r, *at = now.at;

        text = str_sub(text, go_decode_rune(text, &r), text.n);
        then.n = 0;
        then.round = now.round + 1;
        for (uint32_t i = 0; i < now.n; i++)
            if (takes(&g->states[at[i]], r))
                reach(g, &then, g->states[at[i]].next);
        now.at = then.at;
        then.at = at;
        now.n = then.n;
        now.round = then.round;
    }
    for (uint32_t i = 0; i < now.n && text.n == 0; i++)
        found = found || g->states[now.at[i]].op == MATCH;
    arena_rewind(a, mark);
    return found;
}

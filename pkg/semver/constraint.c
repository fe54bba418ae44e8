/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "semver/semver_int.h"

/* One comparison: what upstream calls a constraint. Strings point into semver_constraint.text. */
struct comparison {
    const struct operator_row *op;
    struct str orig; /* the version as it was written, without the operator */
    struct semver con;
    bool minor_dirty, patch_dirty, dirty; /* which parts were left out or wildcards */
    bool ends_group;
    bool group_pre; /* on the last of a group: one of the group carries a pre-release */
};

struct semver_constraint {
    char *text; /* after the ranges were rewritten */
    struct comparison *items;
    size_t n, cap;
};

/* Whether the comparison holds; if not and `why` is not NULL the reason is appended. */
typedef bool (*compare_fn)(const struct semver *v, const struct comparison *c, struct buf *why);

struct operator_row {
    const char *text;
    compare_fn fn;
};

/* ---- text ---- */

struct cv { /* where the parts of a version pattern are, as offsets */
    size_t from, first, end;
    struct str parts[3]; /* without dots; p NULL: absent */
    struct str pre;      /* with its '-'; "" when there is none */
};

/* \s of RE2 */
static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static size_t skip_space(struct str s, size_t at)
{
    while (at < s.n && is_space(s.p[at]))
        at++;
    return at;
}

/* Upstream writes the class as [0-9|x|X|\*], so a bar counts too. */
static bool is_part_char(char c)
{
    return ascii_is_digit(c) || c == 'x' || c == 'X' || c == '*' || c == '|';
}

/* v?P(.P)?(.P)?(-ids)?(+ids)? at `at`, as long as it goes. */
static bool scan_version(struct str s, size_t at, struct cv *ret)
{
    struct cv cv = { .from = at, .pre = STR("") };
    size_t n;

    if (at < s.n && s.p[at] == 'v')
        at++;
    cv.first = at;
    for (size_t k = 0; k < 3; k++) {
        size_t from = k == 0 ? at : at + 1, end = from;

        if (k > 0 && (at >= s.n || s.p[at] != '.'))
            break;
        while (end < s.n && is_part_char(s.p[end]))
            end++;
        if (end == from) {
            if (k == 0)
                return false;
            break;
        }
        cv.parts[k] = str_sub(s, from, end);
        at = end;
    }
    if (at < s.n && s.p[at] == '-' && (n = semver_scan_idents(s, at + 1)) > 0) {
        cv.pre = str_sub(s, at, at + 1 + n);
        at += 1 + n;
    }
    if (at < s.n && s.p[at] == '+' && (n = semver_scan_idents(s, at + 1)) > 0)
        at += 1 + n;
    cv.end = at;
    *ret = cv;
    return true;
}

/* "\s*VERSION\s+-\s+VERSION\s*" at `at`: 1 and where it ends. */
static bool scan_range(struct str s, size_t at, struct cv *low, struct cv *high, size_t *ret_end)
{
    size_t dash, next;

    if (!scan_version(s, skip_space(s, at), low))
        return false;
    dash = skip_space(s, low->end);
    if (dash == low->end || dash >= s.n || s.p[dash] != '-')
        return false;
    next = skip_space(s, dash + 1);
    if (next == dash + 1 || !scan_version(s, next, high))
        return false;
    *ret_end = skip_space(s, high->end);
    return true;
}

/* As upstream: every range found in the original replaces the first place where its text now stands. */
static void replace_first(struct buf *text, struct str old, struct str new)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(text->max);
    size_t at = str_find(buf_str(text), old);

    assert(at != STR_NPOS || text->failed);
    if (at == STR_NPOS)
        return;
    buf_add(&out, text->p, at);
    buf_addstr(&out, new);
    buf_add(&out, text->p + at + old.n, text->n - at - old.n);
    buf_clear(text);
    buf_addstr(text, buf_str(&out));
}

static void rewrite_ranges(struct str s, struct buf *out)
{
    size_t at = 0;

    buf_addstr(out, s);
    while (at < s.n) {
        CLEANUP(buf_done) struct buf new = BUF_INIT(out->max);
        struct cv low, high;
        size_t end;

        if (!scan_range(s, at, &low, &high, &end)) {
            at++;
            continue;
        }
        buf_addf(&new, ">= " STR_FMT ", <= " STR_FMT " ", STR_ARG(str_sub(s, low.from, low.end)),
                 STR_ARG(str_sub(s, high.from, high.end)));
        replace_first(out, str_sub(s, at, end), buf_str(&new));
        at = end;
    }
}

/* ---- comparisons: constraints.go, one function an operator ---- */

static bool refuse(const struct semver *v, const struct comparison *c, struct buf *why, const char *text)
{
    if (why) {
        buf_addc(why, '"');
        semver_format(v, why);
        buf_addf(why, "\" %s ", text);
        utf8_quote(c->orig, why);
    }
    return false;
}

static bool not_equal(const struct semver *v, const struct comparison *c, struct buf *why)
{
    if (c->dirty) {
        if (c->con.major != v->major)
            return true;
        if (c->minor_dirty)
            return refuse(v, c, why, "is equal to");
        if (c->con.minor != v->minor)
            return true;
        if (c->patch_dirty) {
            if (semver_cmp_prerelease(v->pre, c->con.pre) != 0)
                return true;
            return refuse(v, c, why, "is equal to");
        }
        if (c->con.patch != v->patch)
            return true;
    }
    return semver_cmp(v, &c->con) != 0 || refuse(v, c, why, "is equal to");
}

static bool greater(const struct semver *v, const struct comparison *c, struct buf *why)
{
    bool holds;

    if (!c->dirty)
        holds = semver_cmp(v, &c->con) > 0;
    else if (v->major != c->con.major)
        holds = v->major > c->con.major;
    else if (c->minor_dirty)
        holds = false; /* 11.1 is not above 11: 12 is */
    else if (c->patch_dirty)
        holds = v->minor > c->con.minor;
    else
        holds = semver_cmp(v, &c->con) > 0;
    return holds || refuse(v, c, why, "is less than or equal to");
}

static bool less(const struct semver *v, const struct comparison *c, struct buf *why)
{
    return semver_cmp(v, &c->con) < 0 || refuse(v, c, why, "is greater than or equal to");
}

static bool greater_equal(const struct semver *v, const struct comparison *c, struct buf *why)
{
    return semver_cmp(v, &c->con) >= 0 || refuse(v, c, why, "is less than");
}

static bool less_equal(const struct semver *v, const struct comparison *c, struct buf *why)
{
    bool holds;

    if (!c->dirty)
        holds = semver_cmp(v, &c->con) <= 0;
    else if (v->major != c->con.major)
        holds = v->major < c->con.major;
    else
        holds = v->minor <= c->con.minor || c->minor_dirty;
    return holds || refuse(v, c, why, "is greater than");
}

static bool tilde(const struct semver *v, const struct comparison *c, struct buf *why)
{
    if (semver_cmp(v, &c->con) < 0)
        return refuse(v, c, why, "is less than");
    if (c->con.major == 0 && c->con.minor == 0 && c->con.patch == 0 && !c->minor_dirty && !c->patch_dirty)
        return true; /* ~0.0.0 and ~* take everything */
    if (v->major != c->con.major)
        return refuse(v, c, why, "does not have same major version as");
    if (v->minor != c->con.minor && !c->minor_dirty)
        return refuse(v, c, why, "does not have same major and minor version as");
    return true;
}

static bool equal(const struct semver *v, const struct comparison *c, struct buf *why)
{
    if (c->dirty)
        return tilde(v, c, why);
    return semver_cmp(v, &c->con) == 0 || refuse(v, c, why, "is not equal to");
}

static bool refuse_with(const struct semver *v, const struct comparison *c, struct buf *why, const char *text,
                        const char *hint)
{
    refuse(v, c, why, text);
    if (why)
        buf_adds(why, hint);
    return false;
}

static bool caret(const struct semver *v, const struct comparison *c, struct buf *why)
{
    if (semver_cmp(v, &c->con) < 0)
        return refuse(v, c, why, "is less than");
    if (v->major != c->con.major)
        return refuse(v, c, why, "does not have same major version as");
    if (c->con.major > 0 || c->minor_dirty)
        return true;
    if (c->con.minor > 0 || c->patch_dirty)
        return v->minor == c->con.minor ||
               refuse_with(v, c, why, "does not have same minor version as",
                           ". Expected minor versions to match when constraint major version is 0");
    if (v->minor > 0)
        return refuse(v, c, why, "does not have same minor version as");
    return v->patch == c->con.patch ||
           refuse_with(v, c, why, "does not equal",
                       ". Expect version and constraint to equal when major and minor versions are 0");
}

/* In the order of upstream's pattern; with a version behind it only one of them fits a place. */
static const struct operator_row operators[] = {
    { "=", equal },          { "!=", not_equal },     { ">", greater },     { "<", less },
    { ">=", greater_equal }, { "=>", greater_equal }, { "<=", less_equal }, { "=<", less_equal },
    { "~", tilde },          { "~>", tilde },         { "^", caret },       { "", equal },
};

/* ---- parsing ---- */

/* OPERATOR\s*VERSION at `at`. */
static bool scan_comparison(struct str s, size_t at, const struct operator_row **ret_op, struct cv *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
        struct str op = str_from(operators[i].text);

        if (str_has_prefix(str_sub(s, at, s.n), op) && scan_version(s, skip_space(s, at + op.n), ret)) {
            *ret_op = &operators[i];
            return true;
        }
    }
    return false;
}

static bool is_wildcard(struct str part)
{
    return !part.p || (part.n == 1 && (part.p[0] == 'x' || part.p[0] == 'X' || part.p[0] == '*'));
}

/* The version that is compared with: left-out parts are zero. */
static int fill_comparison(struct str s, const struct cv *cv, struct comparison *item, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(SEMVER_CONSTRAINT_MAX * 2);
    struct str version = str_sub(s, cv->from, cv->end);

    item->orig = version;
    if (is_wildcard(cv->parts[0])) {
        item->dirty = true;
        buf_addf(&text, "0.0.0" STR_FMT, STR_ARG(cv->pre));
    } else if (is_wildcard(cv->parts[1])) {
        item->dirty = item->minor_dirty = true;
        buf_addf(&text, STR_FMT ".0.0" STR_FMT, STR_ARG(cv->parts[0]), STR_ARG(cv->pre));
    } else if (is_wildcard(cv->parts[2])) {
        item->dirty = item->patch_dirty = true;
        buf_addf(&text, STR_FMT "." STR_FMT ".0" STR_FMT, STR_ARG(cv->parts[0]), STR_ARG(cv->parts[1]),
                 STR_ARG(cv->pre));
    } else {
        buf_addstr(&text, version);
    }
    if (semver_parse(buf_str(&text), &item->con, NULL) < 0)
        return err_set(err, ERRC_PARSE, "constraint parser error");
    item->con.original = item->con.metadata = STR("");
    item->con.pre = cv->pre.n > 0 ? str_sub(cv->pre, 1, cv->pre.n) : STR("");
    return 0;
}

/* Is the text between two "||" well formed? COMPARISON ((\s+|,\s*) COMPARISON)* with white space around each. */
static bool group_is_valid(struct str s)
{
    const struct operator_row *op;
    struct cv cv;
    size_t at = skip_space(s, 0);

    if (!scan_comparison(s, at, &op, &cv))
        return false;
    for (at = cv.end; at < s.n; at = cv.end) {
        size_t next = skip_space(s, at);

        if (next >= s.n)
            return true;
        if (s.p[next] == ',')
            next = skip_space(s, next + 1);
        else if (next == at)
            return false;
        if (!scan_comparison(s, next, &op, &cv))
            return false;
    }
    return true;
}

static int parse_group(struct semver_constraint *c, struct str s, struct err **err)
{
    bool pre = false;
    size_t at = 0;

    if (!group_is_valid(s)) {
        CLEANUP(buf_done) struct buf quoted = BUF_INIT(SEMVER_CONSTRAINT_MAX * 8);

        utf8_quote(s, &quoted);
        return err_set(err, ERRC_PARSE, "improper constraint: %s", buf_z(&quoted));
    }
    for (;;) {
        struct comparison item = { 0 };
        struct cv cv;
        int r;

        while (at < s.n && (is_space(s.p[at]) || s.p[at] == ','))
            at++;
        if (at >= s.n || !scan_comparison(s, at, &item.op, &cv))
            break;
        r = fill_comparison(s, &cv, &item, err);
        if (r < 0)
            return r;
        pre = pre || item.con.pre.n > 0;
        ARRAY_GROW(c->items, c->cap, c->n + 1);
        c->items[c->n++] = item;
        at = cv.end;
    }
    c->items[c->n - 1].ends_group = true;
    for (size_t i = c->n; i > 0 && (i == c->n || !c->items[i - 1].ends_group); i--)
        c->items[i - 1].group_pre = pre;
    return 0;
}

static size_t count_groups(struct str s)
{
    size_t n = 1, at;

    while ((at = str_find(s, STR("||"))) != STR_NPOS) {
        n++;
        s = str_sub(s, at + 2, s.n);
    }
    return n;
}

int semver_constraint_parse(struct str text, struct semver_constraint **ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    CLEANUP(buf_done) struct buf rewritten = BUF_INIT(SEMVER_CONSTRAINT_MAX * 8);
    struct str rest;

    if (text.n > SEMVER_CONSTRAINT_MAX)
        return err_set(err, ERRC_PARSE, "constraint string is too long (max 512 bytes)");
    rewrite_ranges(text, &rewritten);
    rest = buf_str(&rewritten);
    if (count_groups(rest) > SEMVER_GROUPS_MAX)
        return err_set(err, ERRC_PARSE, "too many constraint groups (max 32)");
    c = xcalloc(1, sizeof(*c));
    c->text = str_dup(rest);
    rest.p = c->text;
    for (;;) {
        size_t at = str_find(rest, STR("||"));
        int r = parse_group(c, at == STR_NPOS ? rest : str_sub(rest, 0, at), err);

        if (r < 0)
            return r;
        if (at == STR_NPOS)
            break;
        rest = str_sub(rest, at + 2, rest.n);
    }
    *ret = TAKE(c);
    return 0;
}

void semver_constraint_free(struct semver_constraint *c)
{
    if (!c)
        return;
    free(c->text);
    free(c->items);
    free(c);
}

bool semver_constraint_check(const struct semver_constraint *c, const struct semver *v)
{
    bool holds = true;

    for (size_t i = 0; i < c->n; i++) {
        const struct comparison *item = &c->items[i];

        holds = holds && (v->pre.n == 0 || item->group_pre) && item->op->fn(v, item, NULL);
        if (item->ends_group && holds)
            return true;
        holds = holds || item->ends_group;
    }
    return false;
}

bool semver_constraint_validate(const struct semver_constraint *c, const struct semver *v, struct buf *why)
{
    bool told_pre = false;

    if (semver_constraint_check(c, v))
        return true;
    for (size_t i = 0; i < c->n; i++) {
        const struct comparison *item = &c->items[i];

        if (v->pre.n > 0 && !item->group_pre) {
            if (told_pre)
                continue;
            told_pre = true;
            buf_addc(why, '"');
            semver_format(v, why);
            buf_adds(why,
                     "\" is a prerelease version and the constraint is only looking for release versions\n");
            continue;
        }
        if (!item->op->fn(v, item, why))
            buf_addc(why, '\n');
    }
    if (why->n > 0 && why->p[why->n - 1] == '\n')
        buf_truncate(why, why->n - 1);
    return false;
}

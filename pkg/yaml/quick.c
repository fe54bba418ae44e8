/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/quick.h"

#include <stdlib.h>

static bool read_node(struct quick *q, long indent, struct value *ret);

/* ---- lines ---- */

/* "---" and "..." at the start of a line. */
static bool at_marker(const struct quick *q)
{
    return q->p == q->line && q->end - q->p >= 3 &&
           (memcmp(q->p, "---", 3) == 0 || memcmp(q->p, "...", 3) == 0);
}

static void to_line_end(struct quick *q)
{
    const char *newline = memchr(q->p, '\n', (size_t)(q->end - q->p));

    q->p = newline ? newline : q->end;
}

static bool quick_to_content(struct quick *q)
{
    while (q->p < q->end) {
        if (*q->p == '\n')
            q->line = ++q->p;
        else if (*q->p == ' ')
            q->p = quick_skip_blanks(q->p, q->end);
        else if (*q->p == '#')
            to_line_end(q);
        else
            return *q->p != '\t' && *q->p != '%' && !at_marker(q);
    }
    return true;
}

bool quick_end_of_line(struct quick *q)
{
    const char *from = q->p;

    q->p = quick_skip_blanks(q->p, q->end);
    if (q->p < q->end && *q->p == '#' && q->p > from)
        to_line_end(q);
    return q->p == q->end || *q->p == '\n';
}

static long column(const struct quick *q)
{
    return q->p - q->line;
}

/* "- ", which starts an item. */
static bool at_dash(const struct quick *q)
{
    return *q->p == '-' && (q->p + 1 == q->end || q->p[1] == ' ' || q->p[1] == '\n');
}

/* ---- what is open ---- */

static void add_entry(struct quick *q, struct str key, struct value v)
{
    if (q->dropping)
        return;
    ARRAY_GROW(q->entries, q->cap_entries, q->n_entries + 1);
    q->entries[q->n_entries++] = (struct value_entry){ key, v };
}

static struct value number(const struct quick *q, struct value v)
{
    return q->keep_kinds ? v : yml_number(v, q->floats);
}

static struct value close_list(struct quick *q, size_t first)
{
    size_t n = q->n_entries - first;
    struct value *items;

    if (q->dropping)
        return VALUE_NONE;
    items = ARENA_ARRAY(q->arena, struct value, n);
    for (size_t i = 0; i < n; i++)
        items[i] = q->entries[first + i].v;
    q->n_entries = first;
    return value_from_list(items, n);
}

static struct value close_map(struct quick *q, size_t first)
{
    size_t n = q->n_entries - first;
    struct value map;

    if (q->dropping)
        return VALUE_NONE;
    map = value_new_map_sized(q->arena, n);
    if (n > 0)
        memcpy(map.map->e, q->entries + first, n * sizeof(*map.map->e));
    map.map->n = (uint32_t)n;
    value_sort(map);
    q->duplicates = q->duplicates || map.map->n < n;
    q->n_entries = first;
    return map;
}

/* Does anybody want this member of the outermost map? */
static bool is_wanted(const struct quick *q, struct str key)
{
    if (q->depth != 1 || q->n_only == 0)
        return true;
    for (size_t i = 0; i < q->n_only; i++)
        if (str_ieq(q->only[i], key))
            return true;
    return false;
}

/* ---- flow collections ---- */

static bool read_flow(struct quick *q, struct value *ret);

static bool flow_space(struct quick *q)
{
    for (; q->p < q->end && (*q->p == ' ' || *q->p == '\n'); q->p++) {
        if (*q->p != '\n')
            continue;
        q->line = q->p + 1;
        if (q->line < q->end && (*q->line == '-' || *q->line == '.' || *q->line == '%'))
            return false;
    }
    return q->p < q->end;
}

static bool flow_scalar(struct quick *q, struct value *ret)
{
    struct str text;

    if (*q->p == '"' || *q->p == '\'') {
        if (!quick_quoted(q, false, &text))
            return false;
        *ret = value_from_str(text);
        return true;
    }
    return quick_flow_plain(q, &text) && quick_resolve(q, text, ret);
}

static bool flow_key(struct quick *q, struct str *ret)
{
    const char *from = q->p;
    bool quoted = *from == '"' || *from == '\'';
    struct str text;

    if (!(quoted ? quick_quoted(q, false, ret) : quick_flow_plain(q, &text)) || q->p == q->end ||
        *q->p != ':' || (size_t)(q->p - from) > QUICK_KEY_MAX)
        return false;
    q->p++;
    if (quoted)
        return true;
    return q->p < q->end && *q->p == ' ' && quick_plain_key(q, text, ret);
}

static bool flow_items(struct quick *q, char close)
{
    if (!flow_space(q))
        return false;
    if (*q->p == close)
        return true;
    for (;;) {
        struct str key = STR("");
        struct value v = VALUE_NONE;

        if (close == '}' && !(flow_key(q, &key) && flow_space(q)))
            return false;
        if (!(*q->p == '[' || *q->p == '{' ? read_flow(q, &v) : flow_scalar(q, &v)) || !flow_space(q))
            return false;
        add_entry(q, key, number(q, v));
        if (*q->p == close)
            return true;
        if (*q->p != ',')
            return false;
        q->p++;
        if (!flow_space(q))
            return false;
    }
}

static bool read_flow(struct quick *q, struct value *ret)
{
    char close = *q->p == '[' ? ']' : '}';
    size_t first = q->n_entries;

    q->p++;
    if (++q->depth > QUICK_DEPTH_MAX || !flow_items(q, close))
        return false;
    q->depth--;
    q->p++;
    *ret = close == ']' ? close_list(q, first) : close_map(q, first);
    return true;
}

/* ---- block collections ---- */

/* A quoted key with its colon, results as try_key(). */
static int try_quoted_key(struct quick *q, struct str *ret)
{
    const char *from = q->p;

    if (!quick_quoted(q, false, ret) || q->p == q->end || *q->p != ':') {
        q->p = from;
        return 0;
    }
    return (size_t)(q->p - from) > QUICK_KEY_MAX ? -1 : 1;
}

static int try_plain_key(struct quick *q, struct str *ret)
{
    static const bool stop[256] = { [':'] = true, ['#'] = true, ['\t'] = true, ['\n'] = true };
    const char *p = q->p, *end = q->end;

    if (!quick_starts_plain(q))
        return *p == '?' || *p == ':' ? -1 : 0;
    for (; p < end; p++) {
        if (!stop[(unsigned char)*p])
            continue;
        if (*p == '\n')
            break;
        if (*p == '\t' || (*p == '#' && p[-1] == ' '))
            return 0;
        if (*p == ':' && (p + 1 == end || p[1] == ' ' || p[1] == '\n'))
            break;
    }
    if (p == end || *p == '\n')
        return 0;
    if (!quick_plain_key(q, str_trim((struct str){ q->p, (size_t)(p - q->p) }), ret))
        return -1;
    q->p = p;
    return 1;
}

/* A key with its colon. 1: *ret; 0: something else stands here, p as it was; -1: no opinion. */
static int try_key(struct quick *q, struct str *ret)
{
    int got = *q->p == '"' || *q->p == '\'' ? try_quoted_key(q, ret) : try_plain_key(q, ret);

    if (got <= 0)
        return got;
    q->p++;
    return q->p == q->end || *q->p == ' ' || *q->p == '\n' ? 1 : -1;
}

static bool read_scalar(struct quick *q, long indent, struct value *ret)
{
    struct str text;

    switch (*q->p) {
    case '|':
    case '>':
        if (!quick_block(q, indent, &text))
            return false;
        *ret = value_from_str(text);
        return true;
    case '"':
    case '\'':
        if (!quick_quoted(q, true, &text) || !quick_end_of_line(q))
            return false;
        *ret = value_from_str(text);
        return true;
    case '[':
    case '{':
        return read_flow(q, ret) && quick_end_of_line(q);
    default:
        return quick_starts_plain(q) && quick_plain(q, indent, &text) && quick_end_of_line(q) &&
               quick_resolve(q, text, ret);
    }
}

static bool read_list(struct quick *q, struct value *ret);

/* What a key maps to; p behind the colon. `at` is the column of the key. */
static bool read_member(struct quick *q, long at, struct value *ret)
{
    *ret = VALUE_NONE;
    q->p = quick_skip_blanks(q->p, q->end);
    if (q->p < q->end && *q->p != '\n' && *q->p != '#')
        return !at_dash(q) && read_scalar(q, at, ret);
    if (!quick_to_content(q))
        return false;
    if (q->p == q->end || column(q) < at || (column(q) == at && !at_dash(q)))
        return true;
    return column(q) == at ? read_list(q, ret) : read_node(q, at, ret);
}

static bool read_map(struct quick *q, long at, struct str key, struct value *ret)
{
    size_t first = q->n_entries;
    struct value v;

    if (++q->depth > QUICK_DEPTH_MAX)
        return false;
    for (;;) {
        bool wanted = is_wanted(q, key);

        q->dropping += !wanted;
        if (!read_member(q, at, &v) || !quick_to_content(q))
            return false;
        q->dropping -= !wanted;
        if (wanted)
            add_entry(q, key, number(q, v));
        if (q->p == q->end || column(q) < at)
            break;
        if (column(q) > at || at_dash(q) || try_key(q, &key) <= 0)
            return false;
    }
    q->depth--;
    *ret = close_map(q, first);
    return true;
}

/* p at the first dash. */
static bool read_list(struct quick *q, struct value *ret)
{
    size_t first = q->n_entries;
    long at = column(q);

    if (++q->depth > QUICK_DEPTH_MAX)
        return false;
    while (q->p < q->end && column(q) == at && at_dash(q)) {
        struct value v = VALUE_NONE;

        q->p++;
        if (!quick_to_content(q))
            return false;
        if (q->p < q->end && column(q) > at && !read_node(q, at, &v))
            return false;
        if (!quick_to_content(q) || (q->p < q->end && column(q) > at))
            return false;
        add_entry(q, STR(""), number(q, v));
    }
    q->depth--;
    *ret = close_list(q, first);
    return true;
}

/* p at content right of `indent`, the column of what it is in. */
static bool read_node(struct quick *q, long indent, struct value *ret)
{
    long at = column(q);
    struct str key;
    int got;

    if (at_dash(q))
        return read_list(q, ret);
    got = try_key(q, &key);
    if (got != 0)
        return got > 0 && read_map(q, at, key, ret);
    return (indent >= 0 || *q->p == '{' || *q->p == '[') && read_scalar(q, indent, ret);
}

bool yml_quick_parse(struct arena *a, struct str text, const struct yml_options *o, struct value *ret)
{
    struct quick q = { .p = text.p, .end = text.p + text.n, .line = text.p, .arena = a };
    struct value v = VALUE_NONE;
    bool ok;

    if (text.n == 0 || !quick_all_printable(text))
        return false;
    if (o) {
        q.floats = o->floats;
        q.keep_kinds = o->keep_kinds;
        q.borrow = o->borrow;
        q.only = o->only;
        q.n_only = o->n_only;
    }
    ok = quick_to_content(&q) && (q.p == q.end || read_node(&q, -1, &v)) && quick_to_content(&q) &&
         q.p == q.end && !arena_failed(a) && !(o && o->strict && q.duplicates);
    free(q.entries);
    if (ok)
        *ret = number(&q, v);
    return ok;
}

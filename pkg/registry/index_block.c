/* SPDX-License-Identifier: Apache-2.0 */
/* An index in the layout that Helm and its like write:
 *
 *     apiVersion: v1
 *     entries:
 *       NAME:
 *       - key: value
 *
 * An entry is the lines from its dash to the next line that is not indented further. That cut is right unless a scalar in it
 * has lines outside of its indentation; an entry that is read as a whole, by either reader, has none. Every doubt about the
 * rest gives the whole text to libyaml. */
#include <string.h>

#include "base/limits.h"
#include "registry/batch.h"
#include "registry/twin.h"
#include "registry/window.h"
#include "yaml/yaml.h"

/* What must have been read for a twin of so many bytes to be found. */
#define TWIN_AHEAD(n) (2 * (n) + 4 * KIB)

static const struct yml_options strict = { .strict = true, .borrow = true };

struct block_reader {
    struct index_window window;
    struct index_sink *sink;
    struct arena *arena; /* of what is being looked at */
    struct map seen;     /* keys of the top */
    bool has_api_version;
    struct index_twin twin;
    size_t twin_at;            /* which of the chart's entries it is */
    struct index_batch *batch; /* NULL unless all entries are for libyaml */
};

/* The line that begins at `from` behind the window's start, with its newline. 1; 0 at the end, or a last line without one. */
static int line_at(struct index_window *w, size_t from, struct str *ret, struct err **err)
{
    int r = 1;

    for (;;) {
        struct str text = index_window_text(w);
        const char *eol = from < text.n ? memchr(text.p + from, '\n', text.n - from) : NULL;

        if (eol) {
            *ret = (struct str){ text.p + from, (size_t)(eol + 1 - text.p) - from };
            return 1;
        }
        r = index_window_more(w, err);
        if (r <= 0)
            return r;
    }
}

static size_t indent_of(struct str line)
{
    size_t n = 0;

    while (line.p[n] == ' ')
        n++;
    return n;
}

static bool is_dash(struct str line, size_t indent)
{
    return line.p[indent] == '-' && (line.p[indent + 1] == ' ' || line.p[indent + 1] == '\n');
}

/* The next line that is not empty; empty ones are taken. */
static int peek(struct index_window *w, struct str *ret, size_t *ret_indent, struct err **err)
{
    int r;

    while ((r = line_at(w, 0, ret, err)) == 1 && ret->n == 1)
        w->at++;
    if (r == 1)
        *ret_indent = indent_of(*ret);
    return r;
}

/* Takes the next line and those below it that are indented further, or empty, or (`dashes`) a list in the same column. */
static int take_block(struct index_window *w, bool dashes, struct str *ret, struct err **err)
{
    struct str line;
    size_t n, indent;
    int r = line_at(w, 0, &line, err);

    if (r <= 0)
        return r;
    indent = indent_of(line);
    for (n = line.n; (r = line_at(w, n, &line, err)) == 1; n += line.n) {
        size_t at = line.n == 1 ? indent + 1 : indent_of(line);

        if (at < indent || (at == indent && !(dashes && is_dash(line, at))))
            break;
    }
    if (r < 0 || (r == 0 && index_window_text(w).n != n))
        return r;
    *ret = str_sub(index_window_text(w), 0, n);
    w->at += n;
    return 1;
}

/* One member of a map, in a block of its own: all of it, while libyaml would stop where another document might begin. */
static bool read_member(struct block_reader *b, struct str block, struct str *ret_key, struct value *ret)
{
    struct value map;

    if (!yml_quick_parse(b->arena, block, &strict, &map) || !value_is_map(map) || value_len(map) != 1)
        return false;
    *ret_key = value_entry_at(map, 0)->key;
    *ret = value_entry_at(map, 0)->v;
    return true;
}

/* The block as libyaml reads it, which knows more line breaks than one: all of it must be one list of one entry. */
static bool read_odd(struct block_reader *b, struct str block, struct value *ret)
{
    struct value documents;

    return yml_parse_all(b->arena, block, &strict, &documents, NULL) == 0 && value_len(documents) == 1 &&
           index_entry_unwrap(value_at(documents, 0), ret);
}

/* An entry that nothing like it was seen of. */
static int read_new(struct block_reader *b, struct str block, struct err **err)
{
    struct arena_mark mark = arena_mark(b->arena);
    size_t at = index_sink_n(b->sink);
    struct value entry;
    bool plain = yml_quick_parse(b->arena, block, &strict, &entry);
    int r;

    if (plain ? !index_entry_unwrap(entry, &entry) : !read_odd(b, block, &entry))
        return 0;
    r = index_sink_entry(b->sink, b->arena, entry, block, err);
    if (r == 0 && plain && index_sink_n(b->sink) > at) {
        index_twin_set(&b->twin, block, entry);
        b->twin_at = at;
    }
    arena_rewind(b->arena, mark);
    return r < 0 ? r : 1;
}

static int read_twin(struct block_reader *b, const struct index_twin_found *twin, struct err **err)
{
    size_t at = index_sink_n(b->sink);
    int r = index_sink_twin(b->sink, b->twin_at, twin, err);

    index_twin_accept(&b->twin, twin);
    b->twin_at = at;
    return r < 0 ? r : 1;
}

static int read_entry(struct block_reader *b, struct err **err)
{
    struct index_twin_found twin;
    struct str block;
    bool is_twin;
    int r = 1;

    if (index_window_text(&b->window).n < TWIN_AHEAD(b->twin.text.n))
        r = index_window_more(&b->window, err);
    if (r < 0)
        return r;
    is_twin = index_twin_match(&b->twin, index_window_text(&b->window), &twin);
    if (is_twin) {
        block = twin.text;
        b->window.at += block.n;
    } else {
        r = take_block(&b->window, false, &block, err);
        if (r <= 0)
            return r;
    }
    if (index_sink_reuse(b->sink, block))
        return 1;
    return is_twin ? read_twin(b, &twin, err) : read_new(b, block, err);
}

/* An entry of a text that says how it is to be read. What is known already is taken over in its place. */
static int read_for_libyaml(struct block_reader *b, size_t column, struct err **err)
{
    struct str block;
    int r = take_block(&b->window, false, &block, err);

    if (r <= 0)
        return r;
    if (index_sink_knows(b->sink)) {
        r = index_batch_drain(b->batch, err);
        if (r <= 0 || index_sink_reuse(b->sink, block))
            return r;
    }
    return index_batch_entry(b->batch, column, block, err);
}

static int begin_chart(struct block_reader *b, struct str name, struct err **err)
{
    return b->batch ? index_batch_chart(b->batch, name, err) : index_sink_chart_once(b->sink, name, err);
}

static int end_chart(struct block_reader *b, struct err **err)
{
    int r = b->batch ? index_batch_chart_end(b->batch, err) : index_sink_chart_end(b->sink, err);

    return r < 0 || b->batch ? r : 1;
}

/* Entries of a chart begin in one column, or it is no YAML. */
static int read_versions(struct block_reader *b, size_t indent, bool allowed, struct err **err)
{
    struct str line;
    size_t column, first = SIZE_MAX;
    int r;

    while ((r = peek(&b->window, &line, &column, err)) == 1 && column >= indent && is_dash(line, column)) {
        if (first == SIZE_MAX)
            first = column;
        r = !allowed || column != first ? 0
            : b->batch                  ? read_for_libyaml(b, column, err)
                                        : read_entry(b, err);
        if (r <= 0)
            return r;
    }
    return r < 0 ? r : 1;
}

static int read_chart(struct block_reader *b, size_t indent, struct err **err)
{
    struct str line, name;
    struct value v;
    int r = line_at(&b->window, 0, &line, err);

    if (r <= 0 || !read_member(b, line, &name, &v) || value_len(v) > 0 ||
        !(value_is_null(v) || value_is_list(v)))
        return MIN(r, 0);
    name = arena_dup(b->arena, name);
    b->window.at += line.n;
    index_twin_clear(&b->twin);
    r = begin_chart(b, name, err);
    if (r == 1)
        r = read_versions(b, indent, value_is_null(v), err);
    return r == 1 ? end_chart(b, err) : r;
}

/* "entries:" was read. */
static int read_entries(struct block_reader *b, struct err **err)
{
    struct arena_mark mark = arena_mark(b->arena);
    size_t indent, column;
    struct str line;
    int r = peek(&b->window, &line, &indent, err);

    if (r <= 0 || indent == 0)
        return r < 0 ? r : 1;
    while ((r = peek(&b->window, &line, &column, err)) == 1 && column > 0) {
        r = column == indent ? read_chart(b, indent, err) : 0;
        if (r <= 0)
            return r;
        arena_rewind(b->arena, mark);
    }
    if (r < 0)
        return r;
    return b->batch ? index_batch_drain(b->batch, err) : 1;
}

/* What is at the top beside the entries. 1, or 0 when it is not certain. */
static int read_other(struct block_reader *b, struct err **err)
{
    struct str block, key;
    struct value v;
    int r = take_block(&b->window, true, &block, err);

    if (r <= 0)
        return r;
    if (!read_member(b, block, &key, &v) || map_put(&b->seen, key, b))
        return 0;
    if (str_eq(key, STR("entries")))
        return value_len(v) == 0 && (value_is_null(v) || value_is_map(v));
    if (!str_eq(key, STR("apiVersion")))
        return 1;
    if (value_is_map(v) || value_is_list(v))
        return 0;
    b->has_api_version = !value_is_null(v) && !(value_is_string(v) && v.n == 0);
    return 1;
}

/* The start of a document means nothing; behind a directive libyaml is to read what it can be given in pieces, which is not what
 * another directive could change. */
static int read_header(struct block_reader *b, struct err **err)
{
    struct str line, next;
    bool directive;
    int r = line_at(&b->window, 0, &line, err);

    if (r <= 0)
        return r < 0 ? r : 1;
    directive = str_eq(line, STR("%YAML 1.1\n"));
    if (directive)
        r = line_at(&b->window, line.n, &next, err);
    if (r <= 0)
        return r;
    line = str_sub(index_window_text(&b->window), 0, line.n); /* it may have moved */
    if (!str_eq(directive ? next : line, STR("---\n")))
        return !directive;
    b->window.at += directive ? line.n + next.n : line.n;
    if (directive)
        b->batch = index_batch_new(b->sink);
    return 1;
}

static int read_top(struct block_reader *b, struct err **err)
{
    struct str line;
    size_t indent;
    int r = read_header(b, err);

    if (r <= 0)
        return r;
    while ((r = peek(&b->window, &line, &indent, err)) == 1) {
        if (indent > 0)
            return 0;
        if (str_eq(line, STR("entries:\n"))) {
            if (map_put(&b->seen, STR("entries"), b))
                return 0;
            b->window.at += line.n;
            r = read_entries(b, err);
        } else {
            r = read_other(b, err);
        }
        if (r <= 0)
            return r;
    }
    if (r < 0 || index_window_text(&b->window).n > 0 || map_n(&b->seen) == 0)
        return r;
    if (!b->has_api_version)
        return err_set(err, ERRC_INVALID, "no API version specified");
    return 1;
}

int index_read_block(struct index_source *from, struct index_sink *to, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct block_reader b = { .window = { .from = from }, .sink = to, .arena = a };
    int r = read_top(&b, err);

    index_batch_free(b.batch);
    index_window_done(&b.window);
    index_twin_done(&b.twin);
    map_done(&b.seen);
    return r;
}

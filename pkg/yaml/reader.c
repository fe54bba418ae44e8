/* SPDX-License-Identifier: Apache-2.0 */
/* Events from libyaml, with the error texts of go.yaml.in/yaml/v2 (decode.go, its port of libyaml). */
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/limits.h"
#include "yaml/pool.h"
#include "yaml/yaml_int.h"

/* go-yaml's port reads ahead only so far: that decides which of two errors is met first. */
#define READ_AHEAD ((size_t)512)

struct yml_reader {
    struct yml_pool pool;
    yaml_parser_t parser;
    yaml_event_t event;
    yml_read_fn read;
    void *ctx;
    struct str text;     /* what is left of it, when read is NULL */
    struct str whole;    /* all of it, without a byte order mark; empty if it is UTF-16 */
    size_t at, at_index; /* a byte of it and the number of its character */
    bool has_escapes;    /* it has an escaped slash somewhere */
    struct err *read_err;
    size_t depth, flow_depth, total;
    bool ended;
    struct arena *nodes;           /* NULL until it is asked for */
    struct yml_ahead *ahead;       /* NULL: events come from libyaml when they are asked for */
    bool maps[YAML_DEPTH_MAX + 1]; /* which of the open containers are maps */
};

static int read_handler(void *ctx, unsigned char *to, size_t n, size_t *ret)
{
    struct yml_reader *r = ctx;
    size_t take;
    int got;

    if (r->read) {
        got = r->read(r->ctx, (char *)to, n, &r->read_err);
        if (got < 0)
            return 0;
        take = (size_t)got;
        if (r->total + take > YAML_TEXT_MAX) {
            IGNORE_ERROR(
                err_set(&r->read_err, ERRC_LIMIT, "YAML text is over the limit of %zu bytes", YAML_TEXT_MAX));
            return 0;
        }
    } else {
        take = MIN(MIN(n, READ_AHEAD), r->text.n);
        if (take > 0)
            memcpy(to, r->text.p, take);
        r->text = str_sub(r->text, take, r->text.n);
    }
    r->total += take;
    *ret = take;
    return 1;
}

static struct yml_reader *reader_new(void)
{
    struct yml_reader *r = xcalloc(1, sizeof(*r));
    struct yml_pool *before = yml_pool_use(&r->pool);

    if (!yaml_parser_initialize(&r->parser))
        abort(); /* out of memory */
    yaml_parser_set_input(&r->parser, read_handler, r);
    yml_pool_use(before);
    return r;
}

struct yml_reader *yml_reader_new(yml_read_fn read, void *ctx)
{
    struct yml_reader *r = reader_new();

    r->read = read;
    r->ctx = ctx;
    return r;
}

struct yml_reader *yml_reader_new_text(struct str text)
{
    struct yml_reader *r = reader_new();

    r->text = text;
    if (!str_has_prefix(text, STR("\xff\xfe")) && !str_has_prefix(text, STR("\xfe\xff")))
        r->whole = str_trim_prefix(text, STR("\xef\xbb\xbf"));
    r->has_escapes = str_contains(r->whole, STR("\\/"));
    return r;
}

struct yml_reader *yml_reader_new_ahead(yml_read_fn read, void *ctx)
{
    struct yml_reader *r = yml_reader_new(read, ctx);

    r->ahead = yml_ahead_start(r);
    return r;
}

void yml_reader_free(struct yml_reader *r)
{
    struct yml_pool *before;

    if (!r)
        return;
    yml_ahead_free(r->ahead); /* before what its thread works on */
    before = yml_pool_use(&r->pool);
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    yml_pool_use(before);
    yml_pool_done(&r->pool);
    arena_free(r->nodes);
    err_free(r->read_err);
    free(r);
}

struct arena *yml_reader_nodes(struct yml_reader *r, size_t limit)
{
    if (r->nodes && arena_limit(r->nodes) != limit) {
        arena_free(r->nodes);
        r->nodes = NULL;
    }
    if (!r->nodes)
        r->nodes = arena_new(limit);
    return r->nodes;
}

static int fail_at(struct err **err, enum errc code, size_t line, const char *problem)
{
    if (line > 0)
        return err_set(err, code, "yaml: line %zu: %s", line, problem);
    return err_set(err, code, "yaml: %s", problem);
}

static struct str view(const yaml_char_t *z)
{
    return str_from((const char *)z);
}

/* Goes to a character behind the last one asked for; marks count characters. */
static void seek(struct yml_reader *r, size_t index)
{
    for (; r->at < r->whole.n && r->at_index < index; r->at_index++)
        for (r->at++; r->at < r->whole.n && ((unsigned char)r->whole.p[r->at] & 0xc0) == 0x80;)
            r->at++;
}

/* Is there "{}" or "[]", with nothing but blanks and comments inside? */
static bool is_empty_flow(struct str s)
{
    bool comment = false;
    char end = '\0';

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (i == 0 && (c == '{' || c == '['))
            end = c == '{' ? '}' : ']';
        else if (i == 0)
            return false;
        else if (c == '\n' || c == '\r')
            comment = false;
        else if (c == '#')
            comment = true;
        else if (!comment && c != ' ' && c != '\t')
            return c == end;
    }
    return false;
}

/*
 * An empty flow collection where a key or an entry has to be: go-yaml forgets with its end that it may be a key, and
 * refuses it before it looks at what follows. NULL, or the problem.
 */
static const char *find_flow_in_block(struct yml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = NULL;

    if (p->state == YAML_PARSE_BLOCK_MAPPING_KEY_STATE ||
        p->state == YAML_PARSE_INDENTLESS_SEQUENCE_ENTRY_STATE)
        problem = "did not find expected key";
    else if (p->state == YAML_PARSE_BLOCK_SEQUENCE_ENTRY_STATE)
        problem = "did not find expected '-' indicator";
    if (!problem || r->whole.n == 0 || p->error != YAML_SCANNER_ERROR || p->tokens.head == p->tokens.tail)
        return NULL;
    seek(r, p->tokens.head->start_mark.index);
    return is_empty_flow(str_sub(r->whole, r->at, r->whole.n)) ? problem : NULL;
}

/*
 * Was a key's colon looked for up to the end of the text, and that within a line? There go-yaml counts one line more. A
 * scalar over several lines has ended the search before.
 */
static bool ends_within_line(struct yml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const yaml_token_t *last = p->tokens.tail - 1;

    if (p->error != YAML_SCANNER_ERROR || p->problem_mark.column == 0 || r->whole.n == 0 ||
        p->tokens.head == p->tokens.tail || last->end_mark.line > p->context_mark.line ||
        (last->type == YAML_SCALAR_TOKEN && last->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) ||
        !str_eq(str_from(p->problem), STR("could not find expected ':'")))
        return false;
    seek(r, p->problem_mark.index);
    return r->at == r->whole.n;
}

/* go-yaml's parser.fail(): scanner errors count lines from 1, parser errors from 0. */
static int fail_parse(struct yml_reader *r, struct err **err)
{
    const yaml_parser_t *p = &r->parser;
    size_t line = p->context_mark.line;
    const char *problem;

    if (r->read_err) {
        if (err)
            *err = TAKE(r->read_err);
        return -(int)(err && *err ? err_code(*err) : ERRC_IO);
    }
    if (p->error == YAML_MEMORY_ERROR)
        abort();
    problem = find_flow_in_block(r);
    if (problem)
        return fail_at(err, ERRC_PARSE, p->tokens.head->start_mark.line, problem);
    if (p->error == YAML_READER_ERROR)
        line = 0;
    else if (p->problem_mark.line > 0)
        line = p->problem_mark.line + (p->error == YAML_SCANNER_ERROR) + ends_within_line(r);
    return fail_at(err, ERRC_PARSE, line, p->problem ? p->problem : "unknown problem parsing YAML content");
}

/* Depth is counted as events arrive, so that a hostile text ends early: libyaml 0.2.5 is quadratic in flow depth. */
static NODISCARD int enter(struct yml_reader *r, bool map, bool flow, struct err **err)
{
    size_t line = r->event.start_mark.line + 1;
    char problem[64];

    r->maps[r->depth++] = map;
    if (flow)
        r->flow_depth++;
    if (r->depth > YAML_DEPTH_MAX || r->flow_depth > YAML_FLOW_DEPTH_MAX) {
        snprintf(problem, sizeof(problem), "exceeded max depth of %d",
                 r->depth > YAML_DEPTH_MAX ? YAML_DEPTH_MAX : YAML_FLOW_DEPTH_MAX);
        return fail_at(err, ERRC_LIMIT, line, problem);
    }
    return 0;
}

static void leave(struct yml_reader *r)
{
    r->depth--;
    if (r->flow_depth > 0) /* below a flow container all are flow containers */
        r->flow_depth--;
}

/* ---- what libyaml 0.2.5 accepts and go-yaml refuses ---- */

/* A question mark ends a plain scalar in a flow container, and cannot stand there. */
static NODISCARD int check_question_mark(struct yml_reader *r, struct str text, struct err **err)
{
    if (r->flow_depth == 0 || !memchr(text.p, '?', text.n))
        return 0;
    return fail_at(err, ERRC_PARSE, r->event.start_mark.line,
                   r->maps[r->depth - 1] ? "did not find expected ',' or '}'"
                                         : "did not find expected ',' or ']'");
}

/* "\/" is no escape in YAML 1.1. */
static NODISCARD int check_escapes(struct yml_reader *r, struct err **err)
{
    const yaml_mark_t *from = &r->event.start_mark, *to = &r->event.end_mark;
    struct str s = r->whole;
    size_t line = from->line;

    seek(r, from->index);
    for (size_t i = r->at, left = to->index - from->index; i + 1 < s.n && left > 0; i++) {
        if (((unsigned char)s.p[i] & 0xc0) == 0x80) /* marks count characters */
            continue;
        left--;
        line += s.p[i] == '\n';
        if (s.p[i] != '\\' || left == 0)
            continue;
        if (s.p[i + 1] == '/')
            return fail_at(err, ERRC_PARSE, line ? line + 1 : 0, "found unknown escape character");
        i++;
        left--;
    }
    return 0;
}

static NODISCARD int check_scalar(struct yml_reader *r, struct str text, struct err **err)
{
    yaml_scalar_style_t style = r->event.data.scalar.style;

    if (style == YAML_PLAIN_SCALAR_STYLE)
        return check_question_mark(r, text, err);
    return style == YAML_DOUBLE_QUOTED_SCALAR_STYLE && r->has_escapes ? check_escapes(r, err) : 0;
}

static NODISCARD int take_event(struct yml_reader *r, struct yml_event *e, struct err **err)
{
    const yaml_event_t *y = &r->event;

    switch (y->type) {
    case YAML_SCALAR_EVENT:
        e->kind = YML_SCALAR;
        e->text = (struct str){ (const char *)y->data.scalar.value, y->data.scalar.length };
        e->tag = view(y->data.scalar.tag);
        e->anchor = view(y->data.scalar.anchor);
        e->plain = y->data.scalar.plain_implicit;
        return check_scalar(r, e->text, err) < 0 ? -ERRC_PARSE : 1;
    case YAML_ALIAS_EVENT:
        e->kind = YML_ALIAS;
        e->text = view(y->data.alias.anchor);
        return 1;
    case YAML_SEQUENCE_START_EVENT:
        e->kind = YML_LIST;
        e->tag = view(y->data.sequence_start.tag);
        e->anchor = view(y->data.sequence_start.anchor);
        return enter(r, false, y->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE, err) < 0
                   ? -ERRC_LIMIT
                   : 1;
    case YAML_MAPPING_START_EVENT:
        e->kind = YML_MAP;
        e->tag = view(y->data.mapping_start.tag);
        e->anchor = view(y->data.mapping_start.anchor);
        return enter(r, true, y->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE, err) < 0 ? -ERRC_LIMIT
                                                                                               : 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        leave(r);
        e->kind = y->type == YAML_MAPPING_END_EVENT ? YML_MAP_END : YML_LIST_END;
        return 1;
    case YAML_DOCUMENT_START_EVENT:
        e->kind = YML_DOCUMENT;
        return 1;
    case YAML_DOCUMENT_END_EVENT:
        e->kind = YML_DOCUMENT_END;
        return 1;
    case YAML_STREAM_END_EVENT:
        r->ended = true;
        e->kind = YML_END;
        return 1;
    default: /* the start of the stream */
        return 0;
    }
}

static bool next_event(struct yml_reader *r)
{
    struct yml_pool *before = yml_pool_use(&r->pool);
    bool got;

    yaml_event_delete(&r->event);
    got = yaml_parser_parse(&r->parser, &r->event);
    yml_pool_use(before);
    return got;
}

int yml_reader_parse(struct yml_reader *r, struct yml_event *ret, struct err **err)
{
    struct yml_event e = { .kind = YML_END };
    int got = r->ended;

    while (got == 0) {
        if (!next_event(r)) {
            r->ended = true; /* libyaml would give no events for ever */
            return fail_parse(r, err);
        }
        got = take_event(r, &e, err);
    }
    if (got < 0)
        return got;
    e.line = r->event.start_mark.line + 1;
    *ret = e;
    return 0;
}

int yml_reader_step(struct yml_reader *r, struct yml_event *ret, struct err **err)
{
    return r->ahead ? yml_ahead_next(r->ahead, ret, err) : yml_reader_parse(r, ret, err);
}

int yml_reader_next(struct yml_reader *r, struct yml_event *ret, struct err **err)
{
    struct yml_event e = { .kind = YML_END };
    int got;

    do {
        got = yml_reader_step(r, &e, err);
        if (got < 0)
            return got;
    } while (e.kind == YML_DOCUMENT_END);
    *ret = e;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Values against nodes: validator.go of the library, in its order of checks. */
#include <stdlib.h>

#include "base/utf8.h"
#include "schema/validate.h"

/* ---- what was not looked at yet, for unevaluated* ---- */

static struct unevaluated unevaluated_from(struct run *run, struct value v, const struct node *n,
                                           bool caller_needs)
{
    struct unevaluated u = { 0 };
    size_t from = 0;

    if (v.kind == VALUE_MAP) {
        if (n->all_properties_evaluated || !(caller_needs || n->unevaluated_properties))
            return u;
    } else if (v.kind == VALUE_LIST) {
        if (n->all_items_evaluated || !(caller_needs || n->unevaluated_items))
            return u;
        from = MIN(n->n_items_evaluated, (size_t)v.n);
    } else {
        return u;
    }
    u.n = value_len(v);
    u.left = u.n - from;
    u.set = arena_calloc(run->arena, u.n + 1);
    memset(u.set + from, 1, u.left);
    return u;
}

void schema_unevaluated_remove(struct unevaluated *u, size_t i)
{
    if (i < u->n && u->set[i]) {
        u->set[i] = false;
        u->left--;
    }
}

static void unevaluated_merge(struct unevaluated *u, const struct unevaluated *other)
{
    for (size_t i = 0; i < u->n; i++)
        if (i >= other->n || !other->set[i])
            schema_unevaluated_remove(u, i);
}

/* ---- errors ---- */

void schema_frame_add(struct frame *f, struct violation *e)
{
    if (!e)
        return;
    if (f->last)
        f->last->next = e;
    else
        f->first = e;
    f->last = e;
    f->n++;
}

struct violation *schema_violation_new(struct frame *f, enum violation_kind kind)
{
    struct violation *e = ARENA_NEW(f->run->arena, struct violation);

    e->kind = kind;
    e->at = f->path;
    return e;
}

/* The text is made only when somebody wants it. */
struct buf *schema_violation_begin(struct frame *f)
{
    buf_clear(&f->run->text);
    return &f->run->text;
}

void schema_violation_add(struct frame *f)
{
    struct violation *e = schema_violation_new(f, VIOLATION_LEAF);

    if (!f->quiet)
        e->text = arena_dup(f->run->arena, buf_str(&f->run->text));
    schema_frame_add(f, e);
}

static struct violation *one_text(struct frame *f, const char *text)
{
    struct violation *e = schema_violation_new(f, VIOLATION_LEAF);

    e->text = str_from(text);
    return e;
}

static struct violation *made_text(struct frame *f)
{
    struct violation *e = schema_violation_new(f, VIOLATION_LEAF);

    if (!f->quiet)
        e->text = arena_dup(f->run->arena, buf_str(&f->run->text));
    return e;
}

/* ---- into other nodes ---- */

static struct violation *run_frame(struct frame *f);

static int enter_run(struct run *run, const struct frame *f)
{
    if (run->failed < 0)
        return run->failed;
    if (++run->steps > SCHEMA_STEPS_MAX)
        run->failed =
            err_set(run->err, ERRC_LIMIT, "schema validation takes more than %zu steps", SCHEMA_STEPS_MAX);
    else if (run->depth >= SCHEMA_DEPTH_MAX)
        run->failed =
            err_set(run->err, ERRC_LIMIT, "schema validation goes deeper than %d", SCHEMA_DEPTH_MAX);
    else if (f->references > SCHEMA_REF_DEPTH_MAX)
        run->failed = err_set(run->err, ERRC_LIMIT, "more than %d references in a row", SCHEMA_REF_DEPTH_MAX);
    else if (arena_failed(run->arena))
        run->failed = err_set(run->err, ERRC_LIMIT, "schema validation needs more than %zu bytes",
                              arena_limit(run->arena));
    return run->failed;
}

static void schema_path_print(const struct path *p, struct buf *out)
{
    if (!p)
        return;
    schema_path_print(p->parent, out);
    if (p->is_index)
        buf_addf(out, "/%zu", p->index);
    else
        schema_pointer_add(p->name, out);
}

/* A schema in a resource of another draft is checked against that draft's metaschema. */
static void switch_metaschema(struct frame *f)
{
    CLEANUP(buf_done) struct buf pointer = BUF_INIT(MIB);
    const struct document *doc = f->run->doc;
    const struct schema *meta;

    if (!doc || !doc->mixed || f->node != f->run->schema->root)
        return;
    buf_addstr(&pointer, f->run->doc_pointer);
    schema_path_print(f->path, &pointer);
    for (size_t i = 0; i < doc->n_resources; i++)
        if (str_eq(doc->resources[i]->pointer, buf_str(&pointer)) &&
            schema_metaschema_get(doc->resources[i]->draft, &meta, NULL) == 0)
            f->node = meta->root;
}

struct violation *schema_validate_self(struct frame *parent, const struct node *n, const char *keyword,
                                       bool quiet)
{
    struct frame f = *parent;
    struct violation *e;

    f.node = n;
    f.keyword = keyword;
    f.parent = parent;
    f.first = f.last = NULL;
    f.n = 0;
    f.quiet = parent->quiet || quiet;
    f.references = keyword ? parent->references + 1 : parent->references;
    f.unevaluated = unevaluated_from(parent->run, f.value, n, parent->unevaluated.left > 0);
    switch_metaschema(&f);
    e = run_frame(&f);
    if (!e)
        unevaluated_merge(&parent->unevaluated, &f.unevaluated);
    return e;
}

struct violation *schema_validate_value(struct frame *parent, const struct node *n, struct value v,
                                        const struct path *path)
{
    struct frame f = { .run = parent->run,
                       .value = v,
                       .path = path,
                       .node = n,
                       .parent = parent,
                       .level = parent->level + 1,
                       .quiet = parent->quiet };

    f.unevaluated = unevaluated_from(parent->run, v, n, false);
    switch_metaschema(&f);
    return run_frame(&f);
}

struct violation *schema_validate_top(struct run *run, const struct node *n, struct value v, bool quiet)
{
    struct frame f = { .run = run, .value = v, .node = n, .quiet = quiet };

    f.unevaluated = unevaluated_from(run, v, n, false);
    switch_metaschema(&f);
    return run_frame(&f);
}

static struct violation *validate_reference(struct frame *f, const struct node *n, const char *keyword)
{
    struct violation *e = schema_validate_self(f, n, keyword, false), *r;

    if (!e)
        return NULL;
    r = schema_violation_new(f, VIOLATION_REFERENCE);
    r->text = STR("validation failed");
    r->causes = e->kind == VIOLATION_GROUP ? e->causes : e;
    return r;
}

/* ---- cycles ---- */

static void print_keyword_location(const struct frame *f, struct buf *out)
{
    if (!f->parent)
        return;
    print_keyword_location(f->parent, out);
    if (f->keyword) {
        buf_addf(out, "/%s", f->keyword);
    } else if (f->node->location.n > f->parent->node->location.n) {
        buf_addstr(out, str_sub(f->node->location, f->parent->node->location.n, f->node->location.n));
    }
}

static struct violation *check_cycle(struct frame *f)
{
    for (const struct frame *p = f->parent; p && p->level == f->level; p = p->parent) {
        struct buf *out;

        if (p->node != f->node)
            continue;
        out = schema_violation_begin(f);
        buf_adds(out, "both ");
        print_keyword_location(f, out);
        buf_adds(out, " and ");
        print_keyword_location(p, out);
        buf_adds(out, " resolve to ");
        utf8_quote(f->node->location, out);
        buf_adds(out, " causing reference cycle");
        return made_text(f);
    }
    return NULL;
}

/* ---- what ends the check of a node at once ---- */

unsigned schema_type_of(struct value v)
{
    static const unsigned types[] = {
        [VALUE_NULL] = TYPE_NULL,   [VALUE_BOOL] = TYPE_BOOLEAN, [VALUE_INT] = TYPE_NUMBER,
        [VALUE_UINT] = TYPE_NUMBER, [VALUE_FLOAT] = TYPE_NUMBER, [VALUE_STRING] = TYPE_STRING,
        [VALUE_LIST] = TYPE_ARRAY,  [VALUE_MAP] = TYPE_OBJECT,   [VALUE_OBJECT] = 0,
    };

    return types[v.kind];
}

static bool is_integer(struct value v)
{
    struct decimal d = schema_decimal_from(v);

    return schema_decimal_is_integer(&d);
}

static struct violation *fail_type(struct frame *f, unsigned type)
{
    static const char *const names[] = {
        "null", "boolean", "number", "integer", "string", "array", "object"
    };
    struct buf *out = schema_violation_begin(f);
    bool first = true;

    buf_adds(out, "got ");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (type == 1U << i)
            buf_adds(out, names[i]);
    buf_adds(out, ", want ");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (!(f->node->types & 1U << i))
            continue;
        if (!first)
            buf_adds(out, " or ");
        first = false;
        buf_adds(out, names[i]);
    }
    return made_text(f);
}

static struct violation *fail_constant(struct frame *f)
{
    struct value v = f->node->constant.value;
    struct buf *out = schema_violation_begin(f);

    if (v.kind == VALUE_MAP || v.kind == VALUE_LIST)
        return one_text(f, "'const' failed");
    buf_adds(out, "value must be ");
    schema_display(v, out);
    return made_text(f);
}

static struct violation *fail_enumeration(struct frame *f)
{
    struct value v = f->node->enumeration;
    struct buf *out = schema_violation_begin(f);

    for (uint32_t i = 0; i < v.n; i++)
        if (v.list[i].kind == VALUE_MAP || v.list[i].kind == VALUE_LIST)
            return one_text(f, "'enum' failed");
    buf_adds(out, v.n == 1 ? "value must be " : "value must be one of ");
    for (uint32_t i = 0; i < v.n; i++) {
        if (i > 0)
            buf_adds(out, ", ");
        schema_display(v.list[i], out);
    }
    return made_text(f);
}

static bool in_enumeration(const struct frame *f, unsigned type)
{
    struct value v = f->node->enumeration;

    if (!(f->node->enumeration_types & type))
        return false;
    for (uint32_t i = 0; i < v.n; i++)
        if (schema_equal(f->value, v.list[i]))
            return true;
    return false;
}

static struct violation *check_format(struct frame *f)
{
    CLEANUP(buf_done) struct buf why = BUF_INIT(64 * KIB);
    struct buf *out;

    if (!f->node->format || !value_is_string(f->value) ||
        schema_format_check(f->node->format, value_str(f->value), &why))
        return NULL;
    out = schema_violation_begin(f);
    schema_display(f->value, out);
    buf_adds(out, " is not valid ");
    buf_addstr(out, schema_format_name(f->node->format));
    buf_adds(out, ": ");
    buf_addstr(out, buf_str(&why));
    return made_text(f);
}

/* *ret_done: nothing else is checked. */
static struct violation *check_first(struct frame *f, bool *ret_done)
{
    const struct node *n = f->node;
    unsigned type = schema_type_of(f->value);
    struct violation *e;

    *ret_done = true;
    if (n->kind != NODE_OBJECT)
        return n->kind == NODE_FALSE ? one_text(f, "false schema") : NULL;
    e = check_cycle(f);
    if (e)
        return e;
    if (type == 0)
        return one_text(f, "invalid jsonType object");
    if (n->types && !(n->types & type) &&
        !((n->types & TYPE_INTEGER) && type == TYPE_NUMBER && is_integer(f->value)))
        return fail_type(f, type);
    if (n->constant.set && !schema_equal(f->value, n->constant.value))
        return fail_constant(f);
    if (n->has_enumeration && !in_enumeration(f, type))
        return fail_enumeration(f);
    e = check_format(f);
    if (e)
        return e;
    *ret_done = n->ref && n->draft < 2019;
    if (*ret_done)
        return validate_reference(f, n->ref, "$ref");
    return NULL;
}

/* ---- references that look back ---- */

static const struct node *resolve_recursive(const struct frame *f, const struct node *n)
{
    for (; f; f = f->parent)
        if (f->node->resource->recursive_anchor)
            n = f->node;
    return n;
}

static const struct node *resolve_dynamic(const struct frame *f, struct str name, const struct node *n)
{
    for (; f; f = f->parent) {
        const struct node_map *m = &f->node->resource->dynamic_anchors;

        for (size_t i = 0; i < m->n; i++)
            if (str_eq(m->items[i].name, name))
                n = m->items[i].node;
    }
    return n;
}

static void check_dynamic_references(struct frame *f)
{
    const struct node *n = f->node->recursive_ref;

    if (n) {
        if (n->recursive_anchor)
            n = resolve_recursive(f, n);
        schema_frame_add(f, validate_reference(f, n, "$recursiveRef"));
    }
    n = f->node->dynamic_ref;
    if (n) {
        struct str name = f->node->dynamic_ref_anchor;

        if (name.n > 0 && str_eq(n->dynamic_anchor, name))
            n = resolve_dynamic(f, name, n);
        schema_frame_add(f, validate_reference(f, n, "$dynamicRef"));
    }
}

/* ---- one node ---- */

static struct violation *result_of(struct frame *f)
{
    struct violation *e;

    if (f->n <= 1)
        return f->first;
    e = schema_violation_new(f, VIOLATION_GROUP);
    e->text = STR("validation failed");
    e->causes = f->first;
    return e;
}

static struct violation *run_frame(struct frame *f)
{
    const struct node *n;
    struct violation *e;
    bool done;

    if (enter_run(f->run, f) < 0)
        return NULL;
    f->run->depth++;
    n = f->node;
    e = check_first(f, &done);
    if (!done && !e) {
        if (n->ref)
            schema_frame_add(f, validate_reference(f, n->ref, "$ref"));
        schema_check_kind(f);
        if (f->n == 0 || !f->quiet) {
            if (n->draft >= 2019)
                check_dynamic_references(f);
            schema_check_combinations(f);
            if (n->draft >= 2019)
                schema_check_unevaluated(f);
        }
        e = result_of(f);
    }
    f->run->depth--;
    return e;
}

/* ---- the report ---- */

static void print_violation(const struct violation *e, int indent, struct buf *out)
{
    /* a reference to a single violation is left out */
    if (e->kind != VIOLATION_REFERENCE || !e->causes || e->causes->next) {
        CLEANUP(buf_done) struct buf pointer = BUF_INIT(MIB);

        buf_add_repeat(out, ' ', 2 * (size_t)indent);
        buf_adds(out, "- at ");
        schema_path_print(e->at, &pointer);
        schema_quote(buf_str(&pointer), out);
        buf_adds(out, ": ");
        buf_addstr(out, e->text);
        buf_addc(out, '\n');
        indent++;
    }
    for (const struct violation *c = e->causes; c; c = c->next)
        print_violation(c, indent, out);
}

static void print_report(const struct node *n, const struct violation *e, bool title, struct buf *out)
{
    if (title) {
        buf_adds(out, "jsonschema validation failed with ");
        schema_quote(n->location, out);
        buf_addc(out, '\n');
    }
    if (e->kind != VIOLATION_GROUP) {
        print_violation(e, 0, out);
        return;
    }
    for (const struct violation *c = e->causes; c; c = c->next)
        print_violation(c, 0, out);
}

int schema_validate_node(const struct schema *s, const struct node *n, struct value v,
                         const struct document *doc, struct str doc_pointer, bool title, struct buf *report,
                         struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALIDATION_MEMORY_MAX);
    struct run run = { .schema = s, .arena = a, .doc = doc, .doc_pointer = doc_pointer, .err = err };
    struct violation *e;

    run.text = BUF_INIT(MIB);
    e = schema_validate_top(&run, n, v, !report);
    buf_done(&run.text);
    if (run.failed < 0)
        return run.failed;
    if (!e)
        return 0;
    if (report)
        print_report(n, e, title, report);
    if (report && report->failed)
        return err_set(err, ERRC_LIMIT, "the report has more than %zu bytes", report->max);
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Documents to nodes: compiler.go and objcompiler.go of the library. A queue instead of recursion. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "schema/schema_int.h"
#include "json/json.h"

#define SCHEMA_MEMORY_MAX (256 * MIB)

/* What the node that is being compiled comes from. */
struct source {
    struct schema *s;
    struct node *n;
    struct document *doc;
    struct resource *resource;
    struct value obj;
};

static struct node *enqueue(struct schema *s, struct str url, struct str pointer)
{
    CLEANUP(buf_done) struct buf key = BUF_INIT(MIB);
    struct node *n;

    buf_addstr(&key, url);
    buf_addc(&key, '#');
    schema_pointer_encode(pointer, &key);
    n = map_get(&s->by_location, buf_str(&key));
    if (n)
        return n;
    n = ARENA_NEW(s->arena, struct node);
    n->url = url;
    n->pointer = pointer;
    n->location = arena_dup(s->arena, buf_str(&key));
    map_put(&s->by_location, n->location, n);
    ARRAY_GROW(s->nodes, s->cap_nodes, s->n_nodes + 1);
    s->nodes[s->n_nodes++] = n;
    return n;
}

static struct node *enqueue_below(struct source *c, struct str name, const struct str *under)
{
    CLEANUP(buf_done) struct buf pointer = BUF_INIT(MIB);

    buf_addstr(&pointer, c->n->pointer);
    schema_pointer_add(name, &pointer);
    if (under)
        schema_pointer_add(*under, &pointer);
    return enqueue(c->s, c->n->url, arena_dup(c->s->arena, buf_str(&pointer)));
}

/* ---- members by their shape ---- */

static struct node *get_node(struct source *c, const char *name)
{
    return value_has(c->obj, str_from(name)) ? enqueue_below(c, str_from(name), NULL) : NULL;
}

static struct node_list get_list(struct source *c, const char *name)
{
    struct value v = value_get(c->obj, str_from(name));
    struct node_list l = { .set = v.kind == VALUE_LIST };

    if (!l.set)
        return l;
    l.items = ARENA_ARRAY(c->s->arena, struct node *, v.n);
    for (uint32_t i = 0; i < v.n; i++) {
        struct str index = arena_printf(c->s->arena, "%u", i);

        l.items[l.n++] = enqueue_below(c, str_from(name), &index);
    }
    return l;
}

/* `names`: members may also be lists of names. */
static struct node_map get_map(struct source *c, const char *name, bool nodes, bool names)
{
    struct value v = value_get(c->obj, str_from(name));
    struct node_map m = { 0 };

    if (v.kind != VALUE_MAP)
        return m;
    m.items = arena_calloc(c->s->arena, v.map->n * sizeof(*m.items));
    for (uint32_t i = 0; i < v.map->n; i++) {
        struct named_node *item = &m.items[m.n];
        struct value of = v.map->e[i].v;

        item->name = v.map->e[i].key;
        if (names && of.kind == VALUE_LIST) {
            struct str *list = ARENA_ARRAY(c->s->arena, struct str, of.n);

            for (uint32_t k = 0; k < of.n; k++)
                if (value_is_string(of.list[k]))
                    list[item->n_names++] = value_str(of.list[k]);
            item->names = list;
            m.n++;
        } else if (nodes) {
            item->node = enqueue_below(c, str_from(name), &item->name);
            m.n++;
        }
    }
    return m;
}

static struct additional get_additional(struct source *c, const char *name)
{
    struct value v = value_get(c->obj, str_from(name));

    if (v.kind == VALUE_BOOL)
        return (struct additional){ v.b ? ADDITIONAL_TRUE : ADDITIONAL_FALSE, NULL };
    if (!value_has(c->obj, str_from(name)))
        return (struct additional){ ADDITIONAL_NONE, NULL };
    return (struct additional){ ADDITIONAL_NODE, get_node(c, name) };
}

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_FLOAT;
}

static struct bound get_number(struct source *c, const char *name)
{
    struct value v = value_get(c->obj, str_from(name));

    return (struct bound){ is_number(v), v };
}

static struct count get_count(struct source *c, const char *name)
{
    struct value v = value_get(c->obj, str_from(name));
    struct count n = { 0 };

    if (!is_number(v) ||
        (v.kind == VALUE_FLOAT && !(v.f >= -0x1p63 && v.f < 0x1p63 && v.f == (double)(int64_t)v.f)))
        return n;
    n.set = true;
    n.n = value_int(v, INT64_MAX);
    return n;
}

static bool get_flag(struct source *c, const char *name)
{
    return value_bool(value_get(c->obj, str_from(name)));
}

static struct str get_string(struct source *c, const char *name)
{
    struct value v = value_get(c->obj, str_from(name));

    return value_is_string(v) ? value_str(v) : STR("");
}

/* ---- references and patterns ---- */

static int fail_reference(struct source *c, struct str ref)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    utf8_quote(ref, &quoted);
    return err_set(c->s->err, ERRC_SCHEMA, "error in parsing %s: invalid URL escape", buf_z(&quoted));
}

static NODISCARD int get_reference(struct source *c, const char *name, struct node **ret,
                                   struct str *ret_fragment)
{
    struct value v = value_get(c->obj, str_from(name));
    struct str url, fragment, pointer;
    struct document *doc;
    int r;

    *ret = NULL;
    if (!value_is_string(v))
        return 0;
    if (!schema_split_fragment(c->s->arena, value_str(v), &url, &fragment))
        return fail_reference(c, value_str(v));
    url = schema_url_join(c->s->arena, c->resource->id, url);
    r = schema_resolve(c->s, c->doc, url, fragment, &doc, &pointer);
    if (r < 0)
        return r;
    *ret = enqueue(c->s, doc->url, pointer);
    *ret_fragment = fragment;
    return 0;
}

static void unref_regex(void *p)
{
    regex_unref(p);
}

static NODISCARD int compile_regex(struct source *c, const char *keyword, struct str pattern,
                                   struct regex **ret)
{
    CLEANUP(buf_done) struct buf where = BUF_INIT(64 * KIB), quoted = BUF_INIT(256 * KIB);
    int r = regex_compile(pattern, ret, c->s->err);

    if (r == 0) {
        arena_on_free(c->s->arena, unref_regex, *ret);
        return 0;
    }
    buf_addf(&where, STR_FMT "/%s", STR_ARG(c->n->location), keyword);
    utf8_quote(pattern, &quoted);
    buf_adds(&quoted, " at ");
    utf8_quote(buf_str(&where), &quoted);
    return err_wrap(c->s->err, r, "invalid regex %s", buf_z(&quoted));
}

/* ---- keywords by draft ---- */

static unsigned type_of_name(struct str name)
{
    static const struct {
        const char *name;
        unsigned type;
    } types[] = {
        { "null", TYPE_NULL },       { "boolean", TYPE_BOOLEAN }, { "number", TYPE_NUMBER },
        { "integer", TYPE_INTEGER }, { "string", TYPE_STRING },   { "array", TYPE_ARRAY },
        { "object", TYPE_OBJECT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (str_eq(name, str_from(types[i].name)))
            return types[i].type;
    return 0;
}

static unsigned type_of_value(struct value v)
{
    static const unsigned types[] = {
        [VALUE_NULL] = TYPE_NULL,   [VALUE_BOOL] = TYPE_BOOLEAN, [VALUE_INT] = TYPE_NUMBER,
        [VALUE_UINT] = TYPE_NUMBER, [VALUE_FLOAT] = TYPE_NUMBER, [VALUE_STRING] = TYPE_STRING,
        [VALUE_LIST] = TYPE_ARRAY,  [VALUE_MAP] = TYPE_OBJECT,   [VALUE_OBJECT] = 0,
    };

    return types[v.kind];
}

static void compile_types(struct source *c)
{
    struct value v = value_getz(c->obj, "type");

    c->n->types = value_is_string(v) ? type_of_name(value_str(v)) : 0;
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.n; i++)
        c->n->types |= type_of_name(value_str(v.list[i]));
    v = value_getz(c->obj, "enum");
    c->n->has_enumeration = v.kind == VALUE_LIST;
    c->n->enumeration = v;
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.n; i++)
        c->n->enumeration_types |= type_of_value(v.list[i]);
}

static NODISCARD int compile_validation(struct source *c)
{
    struct node *n = c->n;

    compile_types(c);
    n->multiple_of = get_number(c, "multipleOf");
    n->maximum = get_number(c, "maximum");
    n->minimum = get_number(c, "minimum");
    n->exclusive_maximum = get_number(c, "exclusiveMaximum");
    n->exclusive_minimum = get_number(c, "exclusiveMinimum");
    if (get_flag(c, "exclusiveMaximum")) { /* draft 4: a flag */
        n->exclusive_maximum = n->maximum;
        n->maximum.set = false;
    }
    if (get_flag(c, "exclusiveMinimum")) {
        n->exclusive_minimum = n->minimum;
        n->minimum.set = false;
    }
    n->min_length = get_count(c, "minLength");
    n->max_length = get_count(c, "maxLength");
    n->min_items = get_count(c, "minItems");
    n->max_items = get_count(c, "maxItems");
    n->unique_items = get_flag(c, "uniqueItems");
    n->min_properties = get_count(c, "minProperties");
    n->max_properties = get_count(c, "maxProperties");
    n->required = value_getz(c->obj, "required");
    if (n->draft < 2019 || c->s->assert_format)
        n->format = schema_format_find(get_string(c, "format"));
    if (!value_is_string(value_getz(c->obj, "pattern")))
        return 0;
    n->pattern_text = get_string(c, "pattern");
    return compile_regex(c, "pattern", n->pattern_text, &n->pattern);
}

static NODISCARD int compile_draft4(struct source *c)
{
    struct node *n = c->n;
    int r = 0;

    n->all_of = get_list(c, "allOf");
    n->any_of = get_list(c, "anyOf");
    n->one_of = get_list(c, "oneOf");
    n->not = get_node(c, "not");
    if (n->draft < 2020 && value_is_list(value_getz(c->obj, "items"))) {
        n->item_list = get_list(c, "items");
        n->additional_items = get_additional(c, "additionalItems");
    } else if (n->draft < 2020) {
        n->items = get_node(c, "items");
    }
    n->properties = get_map(c, "properties", true, false);
    n->pattern_properties = get_map(c, "patternProperties", true, false);
    for (size_t i = 0; i < n->pattern_properties.n && r == 0; i++)
        r = compile_regex(c, "patternProperties", n->pattern_properties.items[i].name,
                          &n->pattern_properties.items[i].regex);
    n->additional_properties = get_additional(c, "additionalProperties");
    n->dependencies = get_map(c, "dependencies", true, true);
    return r < 0 ? r : compile_validation(c);
}

static void compile_draft6(struct source *c)
{
    c->n->contains = get_node(c, "contains");
    c->n->property_names = get_node(c, "propertyNames");
    c->n->constant = (struct bound){ value_has(c->obj, STR("const")), value_getz(c->obj, "const") };
}

static void compile_draft7(struct source *c)
{
    struct value condition = value_getz(c->obj, "if");

    c->n->if_node = get_node(c, "if");
    if (!c->n->if_node)
        return;
    if (condition.kind != VALUE_BOOL || condition.b)
        c->n->then_node = get_node(c, "then");
    if (condition.kind != VALUE_BOOL || !condition.b)
        c->n->else_node = get_node(c, "else");
}

static NODISCARD int compile_draft2019(struct source *c)
{
    struct str fragment;
    int r = get_reference(c, "$recursiveRef", &c->n->recursive_ref, &fragment);

    c->n->recursive_anchor = get_flag(c, "$recursiveAnchor");
    if (c->n->contains) {
        c->n->min_contains = get_count(c, "minContains");
        c->n->max_contains = get_count(c, "maxContains");
    }
    c->n->dependent_required = get_map(c, "dependentRequired", false, true);
    c->n->dependent_schemas = get_map(c, "dependentSchemas", true, false);
    c->n->unevaluated_items = get_node(c, "unevaluatedItems");
    c->n->unevaluated_properties = get_node(c, "unevaluatedProperties");
    return r;
}

static NODISCARD int compile_draft2020(struct source *c)
{
    struct str fragment = STR("");
    int r = get_reference(c, "$dynamicRef", &c->n->dynamic_ref, &fragment);

    if (fragment.n > 0 && fragment.p[0] != '/')
        c->n->dynamic_ref_anchor = fragment;
    c->n->dynamic_anchor = get_string(c, "$dynamicAnchor");
    c->n->prefix_items = get_list(c, "prefixItems");
    c->n->items2020 = get_node(c, "items");
    return r;
}

static NODISCARD int compile_object(struct source *c)
{
    struct str fragment;
    int draft = c->n->draft, r;

    r = get_reference(c, "$ref", &c->n->ref, &fragment);
    if (r < 0)
        return r;
    if (draft >= 2019 || !c->n->ref) /* else a reference stands alone: validation ends with it */
        r = compile_draft4(c);
    if (r == 0 && draft >= 6)
        compile_draft6(c);
    if (r == 0 && draft >= 7)
        compile_draft7(c);
    if (r == 0 && draft >= 2019)
        r = compile_draft2019(c);
    if (r == 0 && draft >= 2020)
        r = compile_draft2020(c);
    return r;
}

/* What unevaluatedProperties and unevaluatedItems need to know. */
static void note_evaluated(struct node *n)
{
    n->all_properties_evaluated = n->additional_properties.kind != ADDITIONAL_NONE;
    if (n->draft < 2020) {
        n->all_items_evaluated = n->additional_items.kind != ADDITIONAL_NONE || n->items;
        n->n_items_evaluated = n->item_list.n;
    } else {
        n->all_items_evaluated = n->items2020 != NULL;
        n->n_items_evaluated = n->prefix_items.n;
    }
}

static void collect_dynamic_anchors(struct source *c)
{
    const struct map *anchors = &c->resource->dynamic_anchors;
    struct node_map m = { 0 };
    struct str name;
    void *pointer;

    m.items = arena_calloc(c->s->arena, map_n(anchors) * sizeof(*m.items));
    for (size_t i = 0; map_next(anchors, &i, &name, &pointer);) {
        m.items[m.n].name = arena_dup(c->s->arena, name);
        m.items[m.n++].node = enqueue(c->s, c->n->url, *(struct str *)pointer);
    }
    c->n->dynamic_anchors = m;
}

static NODISCARD int compile_node(struct schema *s, struct node *n)
{
    struct source c = { .s = s, .n = n };
    int r = schema_document_get(s, n->url, &c.doc);

    if (r == 0)
        r = schema_document_ensure(s, c.doc, n->pointer);
    if (r < 0)
        return r;
    IGNORE_ERROR(schema_lookup(c.doc->root, n->pointer, &c.obj)); /* ensured just now */
    c.resource = schema_resource_of(c.doc, n->pointer);
    n->draft = c.resource->draft;
    n->resource = enqueue(s, n->url, c.resource->pointer);
    if (n->draft >= 2020 && n == n->resource)
        collect_dynamic_anchors(&c);
    if (c.obj.kind == VALUE_BOOL)
        n->kind = c.obj.b ? NODE_TRUE : NODE_FALSE;
    else if (c.obj.kind == VALUE_MAP && c.obj.map->n == 0)
        n->kind = NODE_TRUE;
    else if (c.obj.kind == VALUE_MAP)
        r = compile_object(&c);
    note_evaluated(n);
    return r;
}

static int schema_compile_nodes(struct schema *s, struct str url, struct str pointer)
{
    int r = 0;

    s->root = enqueue(s, url, pointer);
    while (r == 0 && s->n_compiled < s->n_nodes) {
        if (arena_failed(s->arena))
            return err_set(s->err, ERRC_LIMIT, "schema needs more than the limit of %zu bytes",
                           arena_limit(s->arena));
        r = compile_node(s, s->nodes[s->n_compiled++]);
    }
    return r;
}

static struct schema *schema_new(struct err **err)
{
    struct schema *s = xcalloc(1, sizeof(*s));

    s->arena = arena_new(SCHEMA_MEMORY_MAX);
    s->by_location = MAP_INIT;
    s->err = err;
    return s;
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    map_done(&s->by_location);
    arena_free(s->arena);
    free(s->documents);
    free(s->nodes);
    free(s);
}

/* ---- metaschemas ---- */

static const int drafts[] = { 4, 6, 7, 2019, 2020 };
static const char *const draft_urls[] = {
    "http://json-schema.org/draft-04/schema",       "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",       "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
};
/* Compiled at their first use and kept: every schema is checked against one. */
static struct schema *metaschemas[ARRAY_SIZE(drafts)];
static pthread_mutex_t metaschemas_lock = PTHREAD_MUTEX_INITIALIZER;

static NODISCARD int compile_metaschema(const char *url, struct schema **ret, struct err **err)
{
    CLEANUP(schema_free) struct schema *s = schema_new(err);
    int r;

    s->assert_format = true;
    r = schema_compile_nodes(s, arena_dup(s->arena, str_from(url)), STR(""));
    if (r < 0)
        return r;
    s->err = NULL;
    *ret = TAKE(s);
    return 0;
}

int schema_metaschema_get(int draft, const struct schema **ret, struct err **err)
{
    size_t i = 0;
    int r = 0;

    while (drafts[i] != draft)
        i++;
    pthread_mutex_lock(&metaschemas_lock);
    if (!metaschemas[i])
        r = compile_metaschema(draft_urls[i], &metaschemas[i], err);
    *ret = metaschemas[i];
    pthread_mutex_unlock(&metaschemas_lock);
    return r;
}

/* ---- the whole ---- */

/* The library reads with Go's json.Decoder, whose words differ at the end of the text. */
static NODISCARD int parse_text(struct schema *s, struct str text, struct value *ret, struct err **err)
{
    static const struct json_options options = { .depth_max = 2 * SCHEMA_DEPTH_MAX };
    CLEANUP(err_free) struct err *why = NULL;
    const char *message;
    int r;

    if (str_trim(text).n == 0)
        return err_set(err, ERRC_PARSE, "EOF");
    r = json_parse(s->arena, text, &options, ret, &why);
    if (r == 0)
        return 0;
    message = err_message(why);
    if (str_eq(str_from(message), STR("unexpected end of JSON input")))
        message = "unexpected EOF";
    else if (str_has_suffix(str_from(message), STR("after top-level value")))
        message = "invalid character after top-level value";
    return err_set(err, err_code(why), "%s", message);
}

int schema_compile(struct str text, struct schema **ret, struct err **err)
{
    CLEANUP(schema_free) struct schema *s = schema_new(err);
    struct document *doc;
    struct value root = VALUE_NONE;
    int r;

    assert(ret);
    r = parse_text(s, text, &root, err);
    if (r < 0)
        return r;
    r = schema_document_add(s, STR(SCHEMA_ROOT_URL), root, &doc);
    if (r == 0)
        r = schema_compile_nodes(s, doc->url, STR(""));
    if (r < 0)
        return r;
    s->err = NULL;
    *ret = TAKE(s);
    return 0;
}

int schema_validate(const struct schema *s, struct value instance, struct buf *report, struct err **err)
{
    return schema_validate_node(s, s->root, instance, NULL, STR(""), false, report, err);
}

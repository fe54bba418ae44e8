/* SPDX-License-Identifier: Apache-2.0 */
/* Documents, the resources in them ($id) and their anchors: roots.go and root.go of the library. */
#include <stdlib.h>

#include "base/utf8.h"
#include "schema/schema_int.h"
#include "json/json.h"

enum place { PLACE_SELF = 1, PLACE_LIST = 2, PLACE_MAP = 4 };

/* Where subschemas stand, from which draft on. */
static const struct {
    const char *name;
    unsigned places;
    int draft;
} subschemas[] = {
    { "definitions", PLACE_MAP, 4 },
    { "not", PLACE_SELF, 4 },
    { "allOf", PLACE_LIST, 4 },
    { "anyOf", PLACE_LIST, 4 },
    { "oneOf", PLACE_LIST, 4 },
    { "properties", PLACE_MAP, 4 },
    { "additionalProperties", PLACE_SELF, 4 },
    { "patternProperties", PLACE_MAP, 4 },
    { "items", PLACE_SELF | PLACE_LIST, 4 },
    { "additionalItems", PLACE_SELF, 4 },
    { "dependencies", PLACE_MAP, 4 },
    { "propertyNames", PLACE_SELF, 6 },
    { "contains", PLACE_SELF, 6 },
    { "if", PLACE_SELF, 7 },
    { "then", PLACE_SELF, 7 },
    { "else", PLACE_SELF, 7 },
    { "$defs", PLACE_MAP, 2019 },
    { "dependentSchemas", PLACE_MAP, 2019 },
    { "unevaluatedProperties", PLACE_SELF, 2019 },
    { "unevaluatedItems", PLACE_SELF, 2019 },
    { "contentSchema", PLACE_SELF, 2019 },
    { "prefixItems", PLACE_LIST, 2020 },
};

int schema_draft_of(struct str url)
{
    static const struct {
        const char *name;
        int draft;
    } drafts[] = {
        { "json-schema.org/schema", 2020 },
        { "json-schema.org/draft/2020-12/schema", 2020 },
        { "json-schema.org/draft/2019-09/schema", 2019 },
        { "json-schema.org/draft-07/schema", 7 },
        { "json-schema.org/draft-06/schema", 6 },
        { "json-schema.org/draft-04/schema", 4 },
    };
    struct str s = str_trim_suffix(url, STR("#"));

    s = str_has_prefix(s, STR("http://")) ? str_sub(s, 7, s.n) : str_trim_prefix(s, STR("https://"));
    for (size_t i = 0; i < ARRAY_SIZE(drafts); i++)
        if (str_eq(s, str_from(drafts[i].name)))
            return drafts[i].draft;
    return 0;
}

static int fail_quoted(struct schema *s, enum errc code, const char *before, struct str text,
                       const char *after)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    utf8_quote(text, &quoted);
    return err_set(s->err, code, "%s%s%s", before, buf_z(&quoted), after);
}

static struct str location(struct schema *s, struct str url, struct str pointer)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);

    buf_addstr(&out, url);
    buf_addc(&out, '#');
    schema_pointer_encode(pointer, &out);
    return arena_dup(s->arena, buf_str(&out));
}

/* The identifier without its fragment; empty: none. */
static struct str own_id(struct value obj, int draft)
{
    struct value id = draft == 4 ? value_getz(obj, "id") : value_getz(obj, "$id");
    struct str s = value_str(id);
    size_t hash;

    if (!value_is_string(id) || (draft < 2019 && value_has(obj, STR("$ref"))))
        return STR("");
    hash = str_find_char(s, '#');
    return hash == STR_NPOS ? s : str_sub(s, 0, hash);
}

static struct resource *find_id(const struct document *doc, struct str id)
{
    for (size_t i = 0; i < doc->n_resources; i++)
        if (str_eq(doc->resources[i]->id, id))
            return doc->resources[i];
    return NULL;
}

struct resource *schema_resource_of(const struct document *doc, struct str pointer)
{
    for (;;) {
        size_t slash;

        for (size_t i = 0; i < doc->n_resources; i++)
            if (str_eq(doc->resources[i]->pointer, pointer))
                return doc->resources[i];
        slash = str_rfind_char(pointer, '/');
        if (slash == STR_NPOS)
            return doc->resources[0];
        pointer = str_sub(pointer, 0, slash);
    }
}

static void done_resource(void *p)
{
    struct resource *r = p;

    map_done(&r->anchors);
    map_done(&r->dynamic_anchors);
}

static struct resource *add_resource(struct schema *s, struct document *doc, struct str pointer,
                                     struct str id, int draft)
{
    struct resource *r = ARENA_NEW(s->arena, struct resource);

    r->pointer = pointer;
    r->id = id;
    r->draft = draft;
    arena_on_free(s->arena, done_resource, r);
    ARRAY_GROW(doc->resources, doc->cap_resources, doc->n_resources + 1);
    doc->resources[doc->n_resources++] = r;
    doc->mixed = doc->mixed || draft != doc->resources[0]->draft;
    return r;
}

/* ---- anchors ---- */

static NODISCARD int add_anchor(struct schema *s, struct document *doc, struct resource *r, struct str name,
                                struct str pointer)
{
    struct str *at = map_get(&r->anchors, name);
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    if (at && str_eq(*at, pointer))
        return 0;
    if (!at) {
        at = ARENA_NEW(s->arena, struct str);
        *at = pointer;
        map_put(&r->anchors, name, at);
        return 0;
    }
    buf_adds(&text, "duplicate anchor ");
    utf8_quote(name, &text);
    buf_adds(&text, " in ");
    utf8_quote(doc->url, &text);
    buf_adds(&text, " at ");
    utf8_quote(*at, &text);
    buf_adds(&text, " and ");
    utf8_quote(pointer, &text);
    return err_set(s->err, ERRC_SCHEMA, "%s", buf_z(&text));
}

static NODISCARD int collect_anchors(struct schema *s, struct document *doc, struct value obj,
                                     struct str pointer, struct resource *r)
{
    struct value v;
    struct str url, fragment;
    int got = 0;

    if (obj.kind != VALUE_MAP)
        return 0;
    if (r->draft < 2019) {
        v = r->draft == 4 ? value_getz(obj, "id") : value_getz(obj, "$id");
        if (value_has(obj, STR("$ref")) || !value_is_string(v))
            return 0;
        if (!schema_split_fragment(s->arena, value_str(v), &url, &fragment))
            return fail_quoted(s, ERRC_SCHEMA, "error in parsing anchor at ", location(s, doc->url, pointer),
                               "");
        if (fragment.n > 0 && fragment.p[0] != '/')
            got = add_anchor(s, doc, r, fragment, pointer);
        return got;
    }
    v = value_getz(obj, "$anchor");
    if (value_is_string(v))
        got = add_anchor(s, doc, r, value_str(v), pointer);
    v = value_getz(obj, "$dynamicAnchor");
    if (got == 0 && r->draft >= 2020 && value_is_string(v)) {
        got = add_anchor(s, doc, r, value_str(v), pointer);
        if (got == 0)
            map_put(&r->dynamic_anchors, value_str(v), map_get(&r->anchors, value_str(v)));
    }
    return got;
}

/* ---- resources ---- */

/* Which draft $schema names. Metaschemas of others cannot be loaded. */
static NODISCARD int find_draft(struct schema *s, struct value obj, int fallback, int *ret)
{
    struct value v = value_getz(obj, "$schema");
    struct str url = value_str(v);
    size_t hash;
    int draft;

    *ret = fallback;
    if (!value_is_string(v))
        return 0;
    draft = schema_draft_of(url);
    if (draft > 0) {
        *ret = draft;
        return 0;
    }
    hash = str_find_char(url, '#');
    if (hash != STR_NPOS)
        url = str_sub(url, 0, hash);
    if (str_has_prefix(url, STR("urn:")))
        return 0;
    if (str_eq(url, STR(SCHEMA_ROOT_URL)))
        return fail_quoted(s, ERRC_SCHEMA, "draft ", url, " is not supported");
    if (!schema_url_is_absolute(url))
        return fail_quoted(s, ERRC_SCHEMA, "failing loading ", url, ": no URLLoader registered for \"\"");
    return fail_quoted(s, ERRC_SCHEMA, "failing loading ", url, ": other documents are not loaded");
}

static NODISCARD int enter_resource(struct schema *s, struct document *doc, struct str base,
                                    struct str pointer, int draft)
{
    struct resource *r = find_id(doc, base);
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    if (!r) {
        add_resource(s, doc, pointer, base, draft);
        return 0;
    }
    if (str_eq(r->pointer, pointer))
        return 0;
    buf_adds(&text, "duplicate id ");
    utf8_quote(base, &text);
    buf_adds(&text, " in ");
    utf8_quote(doc->url, &text);
    buf_adds(&text, " at ");
    utf8_quote(pointer, &text);
    buf_adds(&text, " and ");
    utf8_quote(r->pointer, &text);
    return err_set(s->err, ERRC_SCHEMA, "%s", buf_z(&text));
}

static struct str pointer_to(struct schema *s, struct str pointer, struct str name, const struct str *under)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);

    buf_addstr(&out, pointer);
    schema_pointer_add(name, &out);
    if (under)
        schema_pointer_add(*under, &out);
    return arena_dup(s->arena, buf_str(&out));
}

static int schema_collect(struct schema *s, struct document *doc, struct value v, struct str base,
                          struct str pointer, int draft, int depth);

static NODISCARD int collect_below(struct schema *s, struct document *doc, struct value obj, struct str base,
                                   struct str pointer, int found, int inherited, int depth)
{
    int r = 0;

    for (size_t i = 0; i < ARRAY_SIZE(subschemas) && r == 0; i++) {
        struct str name = str_from(subschemas[i].name);
        struct value v = value_get(obj, name);
        unsigned places = subschemas[i].places;

        if (subschemas[i].draft > found || v.kind == VALUE_NULL)
            continue;
        if (v.kind == VALUE_LIST && (places & PLACE_LIST)) {
            for (uint32_t k = 0; k < v.n && r == 0; k++) {
                struct str index = arena_printf(s->arena, "%u", k);

                r = schema_collect(s, doc, v.list[k], base, pointer_to(s, pointer, name, &index), inherited,
                                   depth + 1);
            }
        } else if (v.kind == VALUE_MAP && (places & PLACE_MAP)) {
            for (uint32_t k = 0; k < v.map->n && r == 0; k++)
                r = schema_collect(s, doc, v.map->e[k].v, base,
                                   pointer_to(s, pointer, name, &v.map->e[k].key), inherited, depth + 1);
        } else if (places & PLACE_SELF) {
            r = schema_collect(s, doc, v, base, pointer_to(s, pointer, name, NULL), inherited, depth + 1);
        }
    }
    return r;
}

static int schema_collect(struct schema *s, struct document *doc, struct value v, struct str base,
                          struct str pointer, int draft, int depth)
{
    struct str id, url, fragment;
    bool has_schema = false;
    int r, found = draft;

    if (map_has(&doc->processed, pointer))
        return 0;
    if (depth > SCHEMA_DEPTH_MAX || !arena_fits(s->arena, 0))
        return err_set(s->err, ERRC_LIMIT, "schema is nested deeper than %d or too large", SCHEMA_DEPTH_MAX);
    map_put(&doc->processed, pointer, NULL);
    if (v.kind != VALUE_MAP) {
        if (pointer.n == 0)
            add_resource(s, doc, pointer, base, draft);
        return 0;
    }
    has_schema = value_is_string(value_getz(v, "$schema"));
    r = find_draft(s, v, draft, &found);
    if (r < 0)
        return r;
    id = own_id(v, found);
    if (id.n == 0 && pointer.n > 0) {
        found = draft;
        has_schema = false;
        id = own_id(v, found);
    }
    if (id.n > 0) {
        if (!schema_split_fragment(s->arena, id, &url, &fragment))
            return fail_quoted(s, ERRC_SCHEMA, "error in parsing id at ", location(s, doc->url, pointer), "");
        base = schema_url_join(s->arena, base, url);
    }
    if (id.n > 0 || pointer.n == 0) {
        r = enter_resource(s, doc, base, pointer, has_schema ? found : draft);
        if (r < 0)
            return r;
    }
    r = collect_anchors(s, doc, v, pointer, find_id(doc, base));
    return r < 0 ? r : collect_below(s, doc, v, base, pointer, found, find_id(doc, base)->draft, depth);
}

/* ---- documents ---- */

static int check_against_metaschema(struct schema *s, struct document *doc, struct value v,
                                    struct str pointer)
{
    CLEANUP(buf_done) struct buf report = BUF_INIT(MIB), url = BUF_INIT(64 * KIB);
    int draft = schema_resource_of(doc, pointer)->draft;
    const struct schema *meta;
    int r;

    if (schema_is_plain(v, draft, pointer.n > 0))
        return 0;
    r = schema_metaschema_get(draft, &meta, s->err);
    if (r < 0)
        return r;
    r = schema_validate_node(meta, meta->root, v, doc, pointer, true, &report, s->err);
    if (r <= 0)
        return r;
    utf8_quote(location(s, doc->url, pointer), &url);
    buf_truncate(&report, report.n - 1);
    return err_set(s->err, ERRC_SCHEMA, "%s is not valid against metaschema: %s", buf_z(&url),
                   buf_z(&report));
}

static void done_document(void *p)
{
    struct document *doc = p;

    free(doc->resources);
    map_done(&doc->processed);
}

static NODISCARD int add_document(struct schema *s, struct str url, struct value root, bool check,
                                  struct document **ret)
{
    struct document *doc = ARENA_NEW(s->arena, struct document);
    int r;

    doc->url = url;
    doc->root = root;
    arena_on_free(s->arena, done_document, doc);
    r = schema_collect(s, doc, root, url, STR(""), 2020, 0);
    if (r == 0 && check)
        r = check_against_metaschema(s, doc, root, STR(""));
    if (r < 0)
        return r;
    ARRAY_GROW(s->documents, s->cap_documents, s->n_documents + 1);
    s->documents[s->n_documents++] = doc;
    *ret = doc;
    return 0;
}

int schema_document_add(struct schema *s, struct str url, struct value root, struct document **ret)
{
    return add_document(s, url, root, true, ret);
}

int schema_document_get(struct schema *s, struct str url, struct document **ret)
{
    const struct schema_metaschema *meta;
    struct value root;
    size_t colon = str_find_char(url, ':');
    struct str scheme = str_sub(url, 0, colon == STR_NPOS ? 0 : colon);
    int r;

    for (size_t i = 0; i < s->n_documents; i++) {
        if (str_eq(s->documents[i]->url, url)) {
            *ret = s->documents[i];
            return 0;
        }
    }
    meta = schema_metaschema_find(url);
    if (meta) {
        r = json_parse(s->arena, str_from(meta->text), NULL, &root, s->err);
        return r < 0 ? r : add_document(s, url, root, false, ret);
    }
    if (str_eq(scheme, STR("urn")))
        return add_document(s, url, value_from_bool(true), false, ret);
    if (str_eq(scheme, STR("file")) || str_eq(scheme, STR("http")) || str_eq(scheme, STR("https")))
        return fail_quoted(s, ERRC_SCHEMA, "failing loading ", url, ": other documents are not loaded");
    CLEANUP(buf_done) struct buf why = BUF_INIT(64 * KIB);
    buf_adds(&why, ": no URLLoader registered for ");
    utf8_quote(url, &why);
    return fail_quoted(s, ERRC_SCHEMA, "failing loading ", url, buf_z(&why));
}

int schema_document_ensure(struct schema *s, struct document *doc, struct str pointer)
{
    struct resource *base;
    struct value v;
    int r = schema_lookup(doc->root, pointer, &v);

    if (r == -2)
        return fail_quoted(s, ERRC_SCHEMA, "invalid json-pointer ", location(s, doc->url, pointer), "");
    if (r < 0)
        return fail_quoted(s, ERRC_SCHEMA, "json-pointer in ", location(s, doc->url, pointer), " not found");
    if (map_has(&doc->processed, pointer))
        return 0;
    base = schema_resource_of(doc, pointer);
    r = schema_collect(s, doc, v, base->id, pointer, base->draft, 0);
    if (r == 0)
        r = collect_anchors(s, doc, v, pointer, schema_resource_of(doc, pointer));
    return r < 0 ? r : check_against_metaschema(s, doc, v, pointer);
}

static NODISCARD int resolve_in(struct schema *s, struct document *doc, struct resource *r,
                                struct str fragment, struct str *ret)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);
    struct str *at;

    if (fragment.n == 0 || fragment.p[0] == '/') {
        *ret = arena_printf(s->arena, STR_FMT STR_FMT, STR_ARG(r->pointer), STR_ARG(fragment));
        return 0;
    }
    at = map_get(&r->anchors, fragment);
    if (at) {
        *ret = *at;
        return 0;
    }
    utf8_quote(location(s, r->id, fragment), &text);
    buf_adds(&text, " not found in schema ");
    utf8_quote(doc->url, &text);
    return err_set(s->err, ERRC_SCHEMA, "anchor in %s", buf_z(&text));
}

int schema_resolve(struct schema *s, struct document *doc, struct str url, struct str fragment,
                   struct document **ret_doc, struct str *ret_pointer)
{
    struct resource *res = str_eq(url, doc->url) ? doc->resources[0] : find_id(doc, url);
    int r;

    *ret_doc = doc;
    if (!res) {
        r = schema_document_get(s, url, ret_doc);
        if (r < 0)
            return r;
        res = (*ret_doc)->resources[0];
    }
    return resolve_in(s, *ret_doc, res, fragment, ret_pointer);
}

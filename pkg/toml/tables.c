/* SPDX-License-Identifier: Apache-2.0 */
/* Which table a key goes to, and what may be defined twice: parse.go's addContext and setValue. */
#include "toml/toml_int.h"

static void key_name(const struct toml_key *key, struct buf *out)
{
    for (size_t i = 0; i < key->n; i++) {
        if (i > 0)
            buf_addc(out, '.');
        toml_quote_key(key->parts[i], out);
    }
}

static void mark(struct map *set, const struct toml_key *key, bool in)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(TOML_TEXT_MAX);

    key_name(key, &name);
    if (in)
        map_put(set, buf_str(&name), NULL);
    else
        map_remove(set, buf_str(&name));
}

static bool is_marked(const struct map *set, const struct toml_key *key)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(TOML_TEXT_MAX);

    key_name(key, &name);
    return map_has(set, buf_str(&name));
}

void toml_mark_implicit(struct toml_parser *p, const struct toml_key *key)
{
    mark(&p->implicits, key, true);
}

void toml_mark_array(struct toml_parser *p, bool is_array)
{
    struct toml_key key = p->context;

    if (p->current.n > 0)
        key = toml_key_add(p, &p->context, p->current);
    mark(&p->arrays, &key, is_array);
}

struct toml_key toml_key_add(struct toml_parser *p, const struct toml_key *key, struct str part)
{
    struct toml_key to = { ARENA_ARRAY(p->arena, struct str, key->n + 1), key->n + 1 };

    if (key->n > 0)
        memcpy(to.parts, key->parts, key->n * sizeof(*to.parts));
    to.parts[key->n] = part;
    return to;
}

static int fail_key(struct toml_parser *p, const struct toml_key *key, const char *what)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(8 * KIB);

    key_name(key, &name);
    return toml_fail_at(p, p->key_line, "Key '%s' %s", buf_z(&name), what);
}

/* The table behind a name: for an array of tables its last one. False: something else. */
static bool descend(struct value v, struct value *ret)
{
    if (v.kind == VALUE_OBJECT) {
        struct value_list *list = v.object;

        v = list->items[list->n - 1];
    }
    *ret = v;
    return v.kind == VALUE_MAP;
}

static NODISCARD int add_table(struct toml_parser *p, struct value parent, const struct toml_key *key)
{
    struct str name = key->parts[key->n - 1];
    struct value list = value_get(parent, name);

    if (!value_has(parent, name)) {
        struct value_list *l = ARENA_NEW(p->arena, struct value_list);

        *l = VALUE_LIST_INIT(p->arena);
        list = (struct value){ .kind = VALUE_OBJECT, .object = l };
        value_set(parent, name, list);
    }
    if (list.kind != VALUE_OBJECT)
        return fail_key(p, key, "was already created and cannot be used as an array.");
    value_list_add(list.object, value_new_map(p->arena));
    return 0;
}

int toml_enter(struct toml_parser *p, const struct toml_key *key, bool array)
{
    struct value table = p->root, next;
    struct str name = key->parts[key->n - 1];
    int r;

    if (key->n > TOML_DEPTH_MAX)
        return err_set(p->err, ERRC_LIMIT, "toml: line %zu: nested deeper than %d", p->line, TOML_DEPTH_MAX);
    for (size_t i = 0; i + 1 < key->n; i++) {
        struct toml_key part = { key->parts, i + 1 };

        if (!value_has(table, key->parts[i])) {
            toml_mark_implicit(p, &part);
            value_set(table, key->parts[i], value_new_map(p->arena));
        }
        if (!descend(value_get(table, key->parts[i]), &next))
            return fail_key(p, &part, "was already created as a hash.");
        table = next;
    }
    p->context = (struct toml_key){ key->parts, key->n - 1 };
    r = array ? add_table(p, table, key) : toml_set(p, name, value_new_map(p->arena));
    if (r == 0)
        p->context = *key;
    return r;
}

int toml_enter_implicit(struct toml_parser *p, struct str part)
{
    struct toml_key key = toml_key_add(p, &p->context, part);

    toml_mark_implicit(p, &key);
    return toml_enter(p, &key, false);
}

int toml_set(struct toml_parser *p, struct str name, struct value v)
{
    struct toml_key key = toml_key_add(p, &p->context, name);
    struct value table = p->root, next;
    bool implicit;

    for (size_t i = 0; i < p->context.n; i++) {
        struct toml_key part = { key.parts, i + 1 };

        if (!descend(value_get(table, key.parts[i]), &next))
            return fail_key(p, &part, "has already been defined.");
        table = next;
    }
    if (!value_has(table, name)) {
        value_set(table, name, v);
        return 0;
    }
    implicit = is_marked(&p->implicits, &key);
    if (!implicit)
        return fail_key(p, &key, "has already been defined.");
    mark(&p->implicits, &key, false);
    if (is_marked(&p->arrays, &key))
        value_set(table, name, v);
    return 0;
}

struct value toml_finish(struct arena *a, struct value v)
{
    if (v.kind == VALUE_OBJECT) {
        struct value_list *list = v.object;

        v = value_list_done(list);
    }
    if (v.kind == VALUE_MAP) {
        for (uint32_t i = 0; i < v.map->n; i++)
            v.map->e[i].v = toml_finish(a, v.map->e[i].v);
    } else if (v.kind == VALUE_LIST && v.n > 0) {
        struct value *items = ARENA_ARRAY(a, struct value, v.n);

        for (uint32_t i = 0; i < v.n; i++)
            items[i] = toml_finish(a, v.list[i]);
        v.list = items;
    }
    return v;
}

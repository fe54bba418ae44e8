/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch.h"

#include "apiserver/gotext.h"
#include "base/limits.h"
#include "json/json.h"

/* JSON patch as evanphx/json-patch v4 understands it: a missing member can be "replaced" and copied (as null), negative
 * indices count from the end, a path may lack its leading slash. */

struct rfc6902 {
    struct arena *a;
    struct value root;
    size_t copied; /* bytes that "copy" may still add */
};

/* Where a path leads: a container that may be changed, and the last reference token. */
struct target {
    struct value *slot; /* the container; lists are replaced in it */
    struct str key;
};

static int fail(struct err **err, int status, const char *message)
{
    const int r = err_set(err,
                          status == 400   ? ERRC_PARSE
                          : status == 413 ? ERRC_LIMIT
                                          : ERRC_INVALID,
                          "%s", message);

    if (err)
        err_set_http(*err, status,
                     status == 400   ? STR("BadRequest")
                     : status == 413 ? STR("RequestEntityTooLarge")
                                     : STR("Invalid"),
                     0);
    return r;
}

int api_patch_fail_type(struct value patch, const char *what, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    if (value_is_null(patch))
        return fail(err, 400, "Invalid JSON Patch");
    buf_addf(&b, "%sjson: cannot unmarshal %s into Go value of type map[string]interface {}", what,
             api_go_json_kind(patch));
    return fail(err, 400, buf_z(&b));
}

int api_patch_merge(struct arena *a, struct value doc, struct value patch, struct value *ret,
                    struct err **err)
{
    if (!value_is_map(patch))
        return api_patch_fail_type(patch, "error decoding patch: ", err);
    *ret = value_merge_patch(a, doc, patch);
    return 0;
}

/* "a~1b" is "a/b", "a~0b" is "a~b". */
static struct str unescape(struct arena *a, struct str s)
{
    char *p, *to;

    if (str_find_char(s, '~') == STR_NPOS)
        return s;
    to = p = arena_alloc_bytes(a, s.n);
    for (size_t i = 0; i < s.n; i++) {
        const char next = i + 1 < s.n ? s.p[i + 1] : '\0';

        if (s.p[i] == '~' && (next == '0' || next == '1')) {
            *to++ = next == '0' ? '~' : '/';
            i++;
        } else {
            *to++ = s.p[i];
        }
    }
    return (struct str){ p, (size_t)(to - p) };
}

static bool list_index(struct str key, int64_t *ret)
{
    return str_to_int64(key, ret);
}

/* Maps of the document are ours from the start; a list may be shared until it is changed. */
static void own(struct rfc6902 *p, struct value *slot)
{
    struct value *items;

    if (!value_is_list(*slot))
        return;
    items = ARENA_ARRAY(p->a, struct value, slot->n + 1);
    for (uint32_t i = 0; i < slot->n; i++)
        items[i] = value_at(*slot, i);
    *slot = value_from_list(items, slot->n);
}

static struct value *child_slot(struct value container, struct str key)
{
    int64_t i;

    if (value_is_map(container)) {
        const struct value_entry *e = value_find(container, key);

        return e ? &container.map->e[e - container.map->e].v : NULL;
    }
    if (!value_is_list(container) || !list_index(key, &i))
        return NULL;
    if (i < 0)
        i += container.n;
    if (i < 0 || i >= container.n)
        return NULL;
    return &((struct value *)(uintptr_t)container.list)[i]; /* own() made it: ours to change */
}

/* False when the way there does not exist. */
static bool find_target(struct rfc6902 *p, struct str path, struct target *ret)
{
    struct value *slot = &p->root;
    struct str part, rest = path;

    str_split(&rest, '/', &part);
    if (rest.p == NULL) /* no slash at all */
        return false;
    own(p, slot);
    while (str_split(&rest, '/', &part)) {
        if (rest.p == NULL) {
            *ret = (struct target){ slot, unescape(p->a, part) };
            return true;
        }
        slot = child_slot(*slot, unescape(p->a, part));
        if (!slot || (!value_is_map(*slot) && !value_is_list(*slot)))
            return false;
        own(p, slot);
    }
    return false;
}

/* What is there; a missing member of a map is null. False for a bad index. */
static bool get(const struct target *t, struct value *ret)
{
    const struct value *slot = child_slot(*t->slot, t->key);

    *ret = slot ? *slot : VALUE_NONE;
    return slot || value_is_map(*t->slot);
}

static bool set(const struct target *t, struct value v)
{
    struct value *slot = child_slot(*t->slot, t->key);

    if (slot)
        *slot = v;
    else if (value_is_map(*t->slot))
        value_set(*t->slot, t->key, v);
    return slot || value_is_map(*t->slot);
}

static bool add(struct rfc6902 *p, const struct target *t, struct value v)
{
    const uint32_t n = (uint32_t)value_len(*t->slot);
    struct value *items;
    int64_t at = n;

    if (value_is_map(*t->slot)) {
        value_set(*t->slot, t->key, v);
        return true;
    }
    if (!str_eq(t->key, STR("-")) && !list_index(t->key, &at))
        return false;
    if (at < 0)
        at += n + 1;
    if (at < 0 || at > n)
        return false;
    items = ARENA_ARRAY(p->a, struct value, n + 1);
    for (uint32_t i = 0; i <= n; i++)
        items[i] = i == at ? v : value_at(*t->slot, i < at ? i : i - 1);
    *t->slot = value_from_list(items, n + 1);
    return true;
}

static bool take_out(const struct target *t)
{
    struct value *slot = child_slot(*t->slot, t->key), *items;

    if (!slot)
        return false;
    if (value_is_map(*t->slot))
        return value_unset(*t->slot, t->key);
    items = (struct value *)(uintptr_t)t->slot->list;
    for (size_t i = (size_t)(slot - items); i + 1 < t->slot->n; i++)
        items[i] = items[i + 1];
    t->slot->n--;
    return true;
}

/* Copies share memory here, but not in the answer: their size counts. And each can make the document twice as deep. */
static bool count_copy(struct rfc6902 *p, struct value v)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(p->copied);

    if (value_is_deeper(v, API_DEPTH_MAX) || json_print(v, 0, &b, NULL) < 0 || b.n > p->copied)
        return false;
    p->copied -= b.n;
    return true;
}

static bool op_add(struct rfc6902 *p, struct target *t, struct value op)
{
    return add(p, t, value_copy_maps(p->a, value_getz(op, "value")));
}

static bool op_remove(struct rfc6902 *p, struct target *t, struct value op)
{
    UNUSED(p);
    UNUSED(op);
    return take_out(t);
}

static bool op_replace(struct rfc6902 *p, struct target *t, struct value op)
{
    struct value old;

    return get(t, &old) && set(t, value_copy_maps(p->a, value_getz(op, "value")));
}

static bool op_test(struct rfc6902 *p, struct target *t, struct value op)
{
    struct value v;

    UNUSED(p);
    return get(t, &v) && value_equal(v, value_getz(op, "value"));
}

static bool op_move(struct rfc6902 *p, struct target *t, struct value op)
{
    struct value v;

    return find_target(p, value_str(value_getz(op, "from")), t) && get(t, &v) && take_out(t) &&
           find_target(p, value_str(value_getz(op, "path")), t) && add(p, t, v);
}

static bool op_copy(struct rfc6902 *p, struct target *t, struct value op)
{
    struct value v;

    return find_target(p, value_str(value_getz(op, "from")), t) && get(t, &v) && count_copy(p, v) &&
           find_target(p, value_str(value_getz(op, "path")), t) && add(p, t, value_copy_maps(p->a, v));
}

static const struct operation {
    const char *name;
    bool (*fn)(struct rfc6902 *p, struct target *t, struct value op);
    bool seeks; /* looks its own targets up */
} operations[] = {
    { "add", op_add, false },       { "copy", op_copy, true },        { "move", op_move, true },
    { "remove", op_remove, false }, { "replace", op_replace, false }, { "test", op_test, false },
};

static bool whole_document(struct rfc6902 *p, struct str name, struct value v)
{
    if (str_eq(name, STR("test")))
        return value_equal(p->root, v);
    if (!str_eq(name, STR("replace")) || (!value_is_map(v) && !value_is_list(v)))
        return false;
    p->root = value_copy_maps(p->a, v);
    return true;
}

static bool run(struct rfc6902 *p, struct value op)
{
    const struct str name = value_str(value_getz(op, "op")), path = value_str(value_getz(op, "path"));
    struct target t = { NULL, STR_NONE };

    if (!value_has(op, STR("path")))
        return false;
    if (path.n == 0 && (str_eq(name, STR("test")) || str_eq(name, STR("replace"))))
        return whole_document(p, name, value_getz(op, "value"));
    for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
        if (str_eq(name, str_from(operations[i].name)))
            return (operations[i].seeks || find_target(p, path, &t)) && operations[i].fn(p, &t, op);
    return false;
}

static int check_operations(struct value ops, struct err **err)
{
    static const char *const texts[] = { "op", "path", "from" };
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    if (!value_is_list(ops))
        buf_addf(
            &b,
            "error decoding patch: json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
            api_go_json_kind(ops));
    for (size_t i = 0; b.n == 0 && i < value_len(ops); i++) {
        const struct value op = value_at(ops, i);

        if (!value_is_map(op))
            buf_addf(
                &b,
                "error decoding patch: json: cannot unmarshal %s into Go value of type handlers.jsonPatchOp",
                api_go_json_kind(op));
        for (size_t j = 0; b.n == 0 && j < ARRAY_SIZE(texts); j++) {
            const struct value v = value_get(op, str_from(texts[j]));

            if (!value_is_null(v) && !value_is_string(v))
                buf_addf(&b,
                         "error decoding patch: json: cannot unmarshal %s into Go struct field "
                         "jsonPatchOp.%s of type "
                         "string",
                         api_go_json_kind(v), texts[j]);
        }
    }
    return b.n > 0 ? fail(err, 400, buf_z(&b)) : 0;
}

int api_patch_json(struct arena *a, struct value doc, struct value ops, struct value *ret, struct err **err)
{
    struct rfc6902 p = { .a = a, .root = value_copy_maps(a, doc), .copied = KUBE_OBJECT_MAX };
    int r;

    r = check_operations(ops, err);
    if (r < 0)
        return r;
    if (value_len(ops) > API_PATCH_OPERATIONS_MAX) {
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

        buf_addf(&b, "The allowed maximum operations in a JSON patch is %zu, got %zu",
                 API_PATCH_OPERATIONS_MAX, value_len(ops));
        return fail(err, 413, buf_z(&b));
    }
    for (size_t i = 0; i < value_len(ops); i++) {
        if (!run(&p, value_at(ops, i)))
            return fail(err, 422, "the server rejected our request due to an error in our request");
        if (arena_failed(a))
            return fail(err, 413, "Request entity too large: limit is 3145728");
    }
    *ret = p.root;
    return 0;
}

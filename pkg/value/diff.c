/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/limits.h"
#include "value/value.h"

struct differ {
    struct arena *arena;
    struct value_change *changes;
    size_t n, max;
    struct buf path;
};

static void record(struct differ *d, const struct value *before, const struct value *after)
{
    if (d->n < d->max) {
        d->changes[d->n] = (struct value_change){
            .path = arena_dup(d->arena, buf_str(&d->path)),
            .before = before ? *before : VALUE_NONE,
            .after = after ? *after : VALUE_NONE,
            .has_before = before != NULL,
            .has_after = after != NULL,
        };
    }
    d->n++;
}

static void push_key(struct differ *d, struct str key)
{
    if (d->path.n > 0)
        buf_addc(&d->path, '.');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '.' || key.p[i] == '[' || key.p[i] == '\\')
            buf_addc(&d->path, '\\');
        buf_addc(&d->path, key.p[i]);
    }
}

static void compare(struct differ *d, const struct value *a, const struct value *b, int depth);

static void compare_maps(struct differ *d, struct value a, struct value b, int depth)
{
    size_t i = 0, j = 0, length = d->path.n;

    while (i < value_len(a) || j < value_len(b)) {
        const struct value_entry *x = i < value_len(a) ? value_entry_at(a, i) : NULL;
        const struct value_entry *y = j < value_len(b) ? value_entry_at(b, j) : NULL;
        int order = !x ? 1 : !y ? -1 : str_cmp(x->key, y->key);

        push_key(d, order <= 0 ? x->key : y->key);
        compare(d, order <= 0 ? &x->v : NULL, order >= 0 ? &y->v : NULL, depth);
        buf_truncate(&d->path, length);
        i += order <= 0;
        j += order >= 0;
    }
}

static void compare_lists(struct differ *d, struct value a, struct value b, int depth)
{
    size_t length = d->path.n;

    for (size_t i = 0; i < MAX(value_len(a), value_len(b)); i++) {
        buf_addf(&d->path, "[%zu]", i);
        compare(d, i < value_len(a) ? &a.list[i] : NULL, i < value_len(b) ? &b.list[i] : NULL, depth);
        buf_truncate(&d->path, length);
    }
}

static void compare(struct differ *d, const struct value *a, const struct value *b, int depth)
{
    bool deep = depth < VALUE_DEPTH_MAX && a && b && a->kind == b->kind;

    if (deep && a->kind == VALUE_MAP)
        compare_maps(d, *a, *b, depth + 1);
    else if (deep && a->kind == VALUE_LIST)
        compare_lists(d, *a, *b, depth + 1);
    else if (!a || !b || !value_equal(*a, *b))
        record(d, a, b);
}

struct value_change *value_diff(struct arena *a, struct value before, struct value after, size_t max,
                                size_t *ret_n)
{
    struct differ d = { .arena = a, .max = max, .path = BUF_INIT(16 * MIB) };

    d.changes = ARENA_ARRAY(a, struct value_change, max);
    compare(&d, &before, &after, 0);
    buf_done(&d.path);
    *ret_n = d.n;
    return d.changes;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/managed.h"

#include <stdlib.h>

#include "base/utf8.h"

bool managed_same(const struct managed_entry *a, const struct managed_entry *b)
{
    return a->applied == b->applied && str_eq(a->manager, b->manager) &&
           str_eq(a->subresource, b->subresource) && (a->applied || str_eq(a->api_version, b->api_version));
}

struct managed_entry *managed_find(const struct managed *m, const struct managed_entry *like)
{
    for (size_t i = 0; i < m->n; i++)
        if (managed_same(&m->items[i], like))
            return &m->items[i];
    return NULL;
}

struct managed_entry *managed_put(struct managed *m, const struct managed_entry *e)
{
    struct managed_entry *found = managed_find(m, e);

    if (found)
        return found;
    if (m->n == m->cap) {
        const size_t cap = m->cap ? 2 * m->cap : 8;

        m->items = arena_grow(m->arena, m->items, m->cap * sizeof(*m->items), cap * sizeof(*m->items));
        m->cap = cap;
    }
    m->items[m->n] = *e;
    return &m->items[m->n++];
}

void managed_drop_empty(struct managed *m)
{
    size_t to = 0;

    for (size_t i = 0; i < m->n; i++)
        if (!fieldset_empty(m->items[i].set))
            m->items[to++] = m->items[i];
    m->n = to;
}

bool managed_parse(struct value list, struct managed *ret)
{
    for (struct value_iter it = value_iter(list); value_next(&it);) {
        const struct str operation = value_str(value_getz(it.v, "operation"));
        struct managed_entry e = {
            .manager = value_str(value_getz(it.v, "manager")),
            .api_version = value_str(value_getz(it.v, "apiVersion")),
            .subresource = value_str(value_getz(it.v, "subresource")),
            .applied = str_eq(operation, STR("Apply")),
            .time = value_getz(it.v, "time"),
        };

        if ((!e.applied && !str_eq(operation, STR("Update"))) || e.api_version.n == 0 ||
            !str_eq(value_str(value_getz(it.v, "fieldsType")), STR("FieldsV1")) ||
            !fieldset_parse(ret->arena, value_getz(it.v, "fieldsV1"), &e.set))
            return false;
        *managed_put(ret, &e) = e;
    }
    return true;
}

static int compare_entries(const void *x, const void *y)
{
    const struct managed_entry *a = x, *b = y;
    int order;

    if (a->applied != b->applied)
        return a->applied ? -1 : 1;
    order = str_cmp(value_str(a->time), value_str(b->time)); /* RFC 3339 in UTC sorts as text */
    if (order == 0)
        order = str_cmp(a->manager, b->manager);
    if (order == 0)
        order = str_cmp(a->api_version, b->api_version);
    return order ? order : str_cmp(a->subresource, b->subresource);
}

struct value managed_value(struct managed *m)
{
    struct value_list l = VALUE_LIST_INIT(m->arena);

    managed_drop_empty(m);
    if (m->n == 0)
        return VALUE_NONE;
    qsort(m->items, m->n, sizeof(*m->items), compare_entries);
    for (size_t i = 0; i < m->n; i++) {
        const struct managed_entry *e = &m->items[i];
        struct value v = value_new_map_sized(m->arena, 7);

        value_setz(v, "apiVersion", value_from_str(e->api_version));
        value_setz(v, "fieldsType", VALUE_STR("FieldsV1"));
        value_setz(v, "fieldsV1", fieldset_value(m->arena, e->set));
        if (e->manager.n > 0)
            value_setz(v, "manager", value_from_str(e->manager));
        value_setz(v, "operation", e->applied ? VALUE_STR("Apply") : VALUE_STR("Update"));
        if (e->subresource.n > 0)
            value_setz(v, "subresource", value_from_str(e->subresource));
        if (!value_is_null(e->time))
            value_setz(v, "time", e->time);
        value_list_add(&l, v);
    }
    return value_list_done(&l);
}

int managed_compare_identity(const struct managed_entry *a, const struct managed_entry *b)
{
    int order = str_cmp(a->manager, b->manager);

    if (order == 0)
        order = (int)b->applied - (int)a->applied;
    if (order == 0 && !a->applied)
        order = str_cmp(a->api_version, b->api_version);
    return order ? order : str_cmp(a->subresource, b->subresource);
}

void managed_print(const struct managed_entry *e, struct buf *out)
{
    utf8_quote(e->manager, out);
    if (e->subresource.n > 0) {
        buf_adds(out, " with subresource ");
        utf8_quote(e->subresource, out);
    }
    if (!e->applied)
        buf_addf(out, " using " STR_FMT, STR_ARG(e->api_version));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which Charts ask a Chart that brings dependencies for what: {"CHART": {"VERSION": ["CONSTRAINT"]}}. Pure. */
#include "chart/kind.h"
#include "json/json.h"

struct value chart_asked_read(struct arena *a, struct value chart)
{
    struct value asked;

    if (json_parse(a, kube_annotation(chart, STR(CHART_ANNOTATION_ASKED)), NULL, &asked, NULL) < 0 ||
        !value_is_map(asked))
        return value_new_map(a);
    return asked;
}

static bool has_item(struct value list, struct value v)
{
    for (struct value_iter it = value_iter(list); value_next(&it);)
        if (value_equal(it.v, v))
            return true;
    return false;
}

static struct value list_with(struct arena *a, struct value list, struct value v)
{
    struct value_list out = VALUE_LIST_INIT(a);

    for (struct value_iter it = value_iter(list); value_next(&it);)
        value_list_add(&out, it.v);
    if (!has_item(list, v))
        value_list_add(&out, v);
    return value_list_done(&out);
}

struct value chart_asked_with(struct arena *a, struct value asked, struct str chart, struct str version,
                              struct str constraint)
{
    struct value out = value_copy_maps(a, asked), versions = value_get(out, chart);

    if (!value_is_map(versions)) {
        versions = value_new_map(a);
        value_set(out, chart, versions);
    }
    value_set(versions, version, list_with(a, value_get(versions, version), value_from_str(constraint)));
    return out;
}

struct value chart_asked_without(struct arena *a, struct value asked, struct str chart, struct str version)
{
    struct value out = value_copy_maps(a, asked), versions = value_get(out, chart);

    if (value_is_map(versions))
        value_unset(versions, version);
    return out;
}

static bool is_owner(struct value owners, struct str chart)
{
    for (struct value_iter it = value_iter(owners); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "name")), chart) &&
            str_eq(value_str(value_getz(it.v, "kind")), STR("Chart")))
            return true;
    return false;
}

struct value chart_asked_by(struct arena *a, struct value asked, struct value owners)
{
    struct value out = value_new_map(a);

    for (struct value_iter it = value_iter(asked); value_next(&it);)
        if (value_len(it.v) > 0 && (value_len(owners) == 0 || is_owner(owners, it.key)))
            value_set(out, it.key, it.v);
    return out;
}

/* Does anybody in `asked` ask for it? */
static bool is_asked(struct value asked, struct value constraint)
{
    for (struct value_iter chart = value_iter(asked); value_next(&chart);)
        for (struct value_iter version = value_iter(chart.v); value_next(&version);)
            if (has_item(version.v, constraint))
                return true;
    return false;
}

struct value chart_asked_versions(struct arena *a, struct value versions, struct value before,
                                  struct value after)
{
    struct value_list out = VALUE_LIST_INIT(a);

    for (struct value_iter it = value_iter(versions); value_next(&it);)
        if (!is_asked(before, it.v) || is_asked(after, it.v))
            value_list_add(&out, it.v);
    for (struct value_iter chart = value_iter(after); value_next(&chart);)
        for (struct value_iter version = value_iter(chart.v); value_next(&version);)
            for (struct value_iter it = value_iter(version.v); value_next(&it);)
                if (!has_item(value_list_done(&out), it.v))
                    value_list_add(&out, it.v);
    return out.n > 0 ? value_list_done(&out) : versions;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* render_case: the chart "c" that tests and conformance programs render; the same one that
 * tests/conformance/engineoracle builds for Helm's engine. */
#include <stdio.h>

#include "base/limits.h"
#include "template/template.h"

struct render_case {
    struct str names[16], texts[16]; /* paths inside the chart */
    size_t n;
    struct value values; /* of any arena; copied */
    bool ints;           /* whole numbers are int64, as from --set */
    struct tpl_env env;
};

static inline struct value render_case_values(struct arena *a, struct value v, bool ints)
{
    struct value_list list = VALUE_LIST_INIT(a);
    struct value map;

    switch (v.kind) {
    case VALUE_MAP:
        map = value_new_map_sized(a, value_len(v));
        for (size_t i = 0; i < value_len(v); i++)
            value_append(map, arena_dup(a, value_entry_at(v, i)->key),
                         render_case_values(a, value_entry_at(v, i)->v, ints));
        return map;
    case VALUE_LIST:
        for (size_t i = 0; i < value_len(v); i++)
            value_list_add(&list, render_case_values(a, value_at(v, i), ints));
        return value_list_done(&list);
    case VALUE_STRING:
        return value_from_str(arena_dup(a, value_str(v)));
    case VALUE_INT:
        return ints ? v : value_from_float((double)v.i);
    case VALUE_FLOAT:
        return ints && v.f == (double)(int64_t)v.f ? value_from_int((int64_t)v.f) : v;
    default:
        return v;
    }
}

static inline struct value render_case_chart(struct arena *a)
{
    static const char *const texts[][2] = {
        { "APIVersion", "v2" }, { "AppVersion", "1.2.3" },
        { "Condition", "" },    { "Description", "" },
        { "Home", "" },         { "Icon", "" },
        { "KubeVersion", "" },  { "Name", "c" },
        { "Tags", "" },         { "Type", "" },
        { "Version", "0.1.0" },
    };
    struct value chart = value_new_map(a), list, maintainer = value_new_map(a), notes = value_new_map(a);
    struct value *item = ARENA_ARRAY(a, struct value, 2);

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        value_set(chart, str_from(texts[i][0]), value_from_str(str_from(texts[i][1])));
    value_setz(maintainer, "Name", VALUE_STR("m"));
    value_setz(maintainer, "Email", VALUE_STR("e"));
    value_setz(maintainer, "URL", VALUE_STR(""));
    item[0] = maintainer;
    item[1] = VALUE_STR("k");
    list = value_from_list(NULL, 0);
    value_setz(chart, "Maintainers", value_from_list(&item[0], 1));
    value_setz(chart, "Keywords", value_from_list(&item[1], 1));
    value_setz(chart, "Sources", list);
    value_setz(chart, "Dependencies", list);
    value_setz(chart, "Deprecated", value_from_bool(false));
    value_setz(chart, "IsRoot", value_from_bool(true));
    value_setz(notes, "a", VALUE_STR("b"));
    notes.type = VALUE_TYPE_STRING_MAP;
    value_setz(chart, "Annotations", notes);
    return chart;
}

static inline struct value render_case_release(struct arena *a)
{
    struct value release = value_new_map(a), revision = value_from_int(1);

    revision.type = VALUE_TYPE_INT;
    value_setz(release, "Name", VALUE_STR("r"));
    value_setz(release, "Namespace", VALUE_STR("n"));
    value_setz(release, "IsUpgrade", value_from_bool(false));
    value_setz(release, "IsInstall", value_from_bool(true));
    value_setz(release, "Revision", revision);
    value_setz(release, "Service", VALUE_STR("Helm"));
    return release;
}

static inline struct value render_case_capabilities(struct arena *a)
{
    static const struct str api_versions[] = { { "v1", 2 }, { "apps/v1", 7 }, { "apps/v1/Deployment", 18 } };
    const struct tpl_capabilities c = {
        .kube_version = STR("v1.33.4-gke.1"),
        .kube_version_normalized = STR("v1.33.4"),
        .kube_major = STR("1"),
        .kube_minor = STR("33"),
        .api_versions = api_versions,
        .n_api_versions = ARRAY_SIZE(api_versions),
        .helm_version = STR("v4.2"),
        .helm_git_commit = STR("abc"),
        .helm_git_tree_state = STR("clean"),
        .helm_go_version = STR("go1.26"),
        .helm_kube_client_version = STR("v1.36"),
    };

    return tpl_capabilities_value(a, &c);
}

static inline bool render_case_is_template(struct str name)
{
    return str_has_prefix(name, STR("templates/"));
}

static inline struct value render_case_context(struct arena *a, const struct render_case *c)
{
    struct value top = tpl_values_from_map(value_new_map(a)), files = tpl_files_new(a, c->n);

    for (size_t i = 0; i < c->n; i++)
        if (!render_case_is_template(c->names[i]))
            value_set(files, c->names[i], tpl_bytes(c->texts[i]));
    value_setz(top, "Chart", render_case_chart(a));
    value_setz(top, "Files", files);
    value_setz(top, "Release", render_case_release(a));
    value_setz(top, "Capabilities", render_case_capabilities(a));
    value_setz(top, "Subcharts", value_new_map(a));
    value_setz(top, "Values",
               tpl_values_from_map(c->values.kind == VALUE_MAP ? render_case_values(a, c->values, c->ints)
                                                               : value_new_map(a)));
    return top;
}

static inline struct value render_case_template(struct arena *a, struct str name)
{
    struct value t = tpl_values_from_map(value_new_map(a));

    value_setz(t, "Name", value_from_str(name));
    value_setz(t, "BasePath", VALUE_STR("c/templates"));
    return t;
}

/* The templates in Helm's order; returns how many. */
static inline size_t render_case_order(const struct render_case *c, size_t order[16])
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        size_t at = n;

        if (!render_case_is_template(c->names[i]))
            continue;
        for (; at > 0 && tpl_name_cmp(c->names[order[at - 1]], c->names[i]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
        n++;
    }
    return n;
}

static inline int render_case_parse(const struct render_case *c, struct tpl_set *set, struct err **err)
{
    size_t order[16], n = render_case_order(c, order);
    char path[256];
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++) {
        struct str name = c->names[order[i]];

        snprintf(path, sizeof(path), "c/" STR_FMT, STR_ARG(name));
        r = tpl_set_add(set, str_from(path), c->texts[order[i]], err);
    }
    return r;
}

/* Renders every file that is no partial. `each` gets path and text; the text is valid during the call. */
static inline int render_case_render(const struct render_case *c, const struct tpl_set *set,
                                     void (*each)(void *ctx, struct str path, struct str text), void *ctx,
                                     struct err **err)
{
    CLEANUP(tpl_run_free) struct tpl_run *run = tpl_run_new(set, &c->env);
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct arena *a = tpl_run_arena(run);
    struct value top = render_case_context(a, c);
    size_t order[16], n = render_case_order(c, order);

    for (size_t i = 0; i < n; i++) {
        struct str path = arena_printf(a, "c/" STR_FMT, STR_ARG(c->names[order[i]]));
        int r;

        if (tpl_name_is_partial(path))
            continue;
        value_setz(top, "Template", render_case_template(a, path));
        buf_clear(&out);
        r = tpl_render(run, path, top, &out, err);
        if (r < 0)
            return r;
        each(ctx, path, buf_str(&out));
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "chart/chart_int.h"

void chart_node_path(const struct chart_node *n, struct buf *out)
{
    if (n->parent) {
        chart_node_path(n->parent, out);
        buf_adds(out, "/charts/");
    }
    buf_addstr(out, chart_node_name(n));
}

static struct value release_value(struct arena *a, const struct chart_render_options *o)
{
    struct value v = value_new_map_sized(a, 6), revision = value_from_int(o->revision);

    revision.type = VALUE_TYPE_INT;
    value_setz(v, "IsInstall",
               value_from_bool(!o->is_upgrade && !o->lint)); /* lint says neither, as Helm's */
    value_setz(v, "IsUpgrade", value_from_bool(o->is_upgrade));
    value_setz(v, "Name", value_from_str(o->release_name));
    value_setz(v, "Namespace", value_from_str(o->ns));
    value_setz(v, "Revision", revision);
    value_setz(v, "Service", VALUE_STR("Helm"));
    return v;
}

static struct value capabilities_value(struct arena *a, const struct chart_capabilities *caps)
{
    struct tpl_capabilities *c = ARENA_NEW(a, struct tpl_capabilities);

    *c = (struct tpl_capabilities){
        .kube_version = caps->version,
        .kube_version_normalized = caps->normalized,
        .kube_major = caps->major,
        .kube_minor = caps->minor,
        .api_versions = caps->api_versions,
        .n_api_versions = caps->n_api_versions,
        .helm_version = STR(CHART_HELM_VERSION),
        .helm_git_commit = STR(""),
        .helm_git_tree_state = STR(""),
        .helm_go_version = STR("go1.26.8"),
        .helm_kube_client_version = STR("v1.36"),
    };
    return tpl_capabilities_value(a, c);
}

static struct value files_value(struct arena *a, const struct chart *c)
{
    struct value files = tpl_files_new(a, c->plain.n);

    for (size_t i = 0; i < c->plain.n; i++)
        value_set(files, c->plain.items[i]->name, tpl_bytes(c->plain.items[i]->data));
    return files;
}

/* Values.Table("Values.<name>"): a name with a dot is taken for a path, so such a chart gets no values, as in Helm. */
static struct value subchart_values(struct arena *a, struct value parent, struct str name)
{
    struct value v = parent;
    struct str part;

    while (str_split(&name, '.', &part)) {
        v = value_get(v, part);
        if (!value_is_map(v))
            return value_new_map(a);
    }
    return v;
}

struct context {
    struct arena *arena;
    struct value release, capabilities;
};

static struct value build(const struct context *c, struct chart_node *n, struct value values)
{
    struct value dot = value_new_map_sized(c->arena, 8), subs = value_new_map_sized(c->arena, n->n_subs);
    struct value chart = metadata_template_value(c->arena, n->metadata);

    value_setz(chart, "IsRoot", value_from_bool(!n->parent));
    for (size_t i = 0; i < n->n_subs; i++) {
        struct str name = chart_node_name(n->subs[i]);

        value_set(subs, name, build(c, n->subs[i], subchart_values(c->arena, values, name)));
    }
    value_setz(dot, "Capabilities", c->capabilities);
    value_setz(dot, "Chart", chart);
    value_setz(dot, "Files", files_value(c->arena, n->chart));
    value_setz(dot, "Release", c->release);
    value_setz(dot, "Subcharts", subs);
    value_setz(dot, "Values", tpl_values_from_map(values));
    n->context = dot;
    return dot;
}

struct value chart_context_build(struct arena *a, struct chart_node *root, struct value values,
                                 const struct chart_render_options *o)
{
    struct context c = { .arena = a };

    c.release = release_value(a, o);
    c.capabilities = capabilities_value(a, o->capabilities ? o->capabilities : chart_capabilities_default());
    return build(&c, root, values);
}

/* ---- CRDs ---- */

bool chart_is_crd_file(struct str name)
{
    struct str base = str_basename(name), ext;
    size_t dot = str_rfind_char(base, '.');

    if (!str_has_prefix(name, STR("crds/")) || dot == STR_NPOS)
        return false;
    ext = str_sub(base, dot, base.n);
    return str_ieq(ext, STR(".yaml")) || str_ieq(ext, STR(".yml")) || str_ieq(ext, STR(".json"));
}

struct crd_list {
    struct arena *arena;
    struct chart_crd *items;
    size_t n, cap;
};

static void crds_add(struct crd_list *l, const struct chart *c, struct str path)
{
    for (size_t i = 0; i < c->plain.n; i++) {
        const struct chart_file *f = c->plain.items[i];

        if (!chart_is_crd_file(f->name))
            continue;
        if (l->n == l->cap) {
            size_t cap = l->cap ? 2 * l->cap : 16;

            l->items = arena_grow(l->arena, l->items, l->cap * sizeof(*l->items), cap * sizeof(*l->items));
            l->cap = cap;
        }
        l->items[l->n++] = (struct chart_crd){
            .path = arena_printf(l->arena, STR_FMT "/" STR_FMT, STR_ARG(path), STR_ARG(f->name)),
            .data = f->data,
        };
    }
}

static void crds_of_node(struct crd_list *l, const struct chart_node *n)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(KIB * 64);

    chart_node_path(n, &path);
    crds_add(l, n->chart, buf_str(&path));
    for (size_t i = 0; i < n->n_subs; i++)
        crds_of_node(l, n->subs[i]);
}

struct chart_crd *chart_node_crds(struct arena *a, const struct chart_node *root, size_t *ret_n)
{
    struct crd_list l = { .arena = a };

    crds_of_node(&l, root);
    *ret_n = l.n;
    return l.items;
}

static void crds_of_chart(struct crd_list *l, const struct chart *c, struct str path)
{
    crds_add(l, c, path);
    for (size_t i = 0; i < c->n_subcharts; i++)
        crds_of_chart(l, c->subcharts[i],
                      arena_printf(l->arena, STR_FMT "/charts/" STR_FMT, STR_ARG(path),
                                   STR_ARG(c->subcharts[i]->metadata.name)));
}

struct chart_crd *chart_crds(const struct chart *c, struct arena *a, size_t *ret_n)
{
    struct crd_list l = { .arena = a };

    crds_of_chart(&l, c, c->metadata.name);
    *ret_n = l.n;
    return l.items;
}

int chart_crds_for_values(struct chart *c, struct value values, const struct chart_log *log, struct arena *a,
                          struct chart_crd **ret, size_t *ret_n, struct err **err)
{
    CLEANUP(arena_free) struct arena *scratch = arena_new(TEMPLATE_MEMORY_MAX);
    struct chart_node *root;
    int r = chart_resolve(scratch, c, values, log, &root, err);

    if (r < 0)
        return r;
    *ret = chart_node_crds(a, root, ret_n);
    return 0;
}

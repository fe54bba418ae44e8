/* SPDX-License-Identifier: Apache-2.0 */
#define LOG_MODULE "chart"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "chart/chart_int.h"
#include "chart/sets.h"
#include "semver/semver.h"

/* ---- the files of a tree ---- */

static void list_add(struct template_list *l, struct template_file f)
{
    if (l->n == l->cap) {
        size_t larger = l->cap ? 2 * l->cap : 64;

        l->items = arena_grow(l->arena, l->items, l->cap * sizeof(*l->items), larger * sizeof(*l->items));
        l->cap = larger;
    }
    f.at = l->n;
    l->items[l->n++] = f;
}

static void collect_templates(struct template_list *l, const struct chart_node *n)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(64 * KIB);
    const struct chart_file_list *templates = &n->chart->templates;
    struct str base;

    for (size_t i = 0; i < n->n_subs; i++)
        collect_templates(l, n->subs[i]);
    chart_node_path(n, &path);
    base = arena_printf(l->arena, "%s/templates", buf_z(&path));
    for (size_t i = 0; i < templates->n; i++) {
        const struct chart_file *f = templates->items[i];
        struct str full;

        if (chart_is_library(n->chart) && !tpl_name_is_partial(f->name))
            continue;
        full = arena_printf(l->arena, "%s/" STR_FMT, buf_z(&path), STR_ARG(f->name));
        list_add(l, (struct template_file){ .path = full, .base = base, .text = f->data, .node = n });
    }
}

static int cmp_templates(const void *a, const void *b)
{
    const struct template_file *x = a, *y = b;
    int order = tpl_name_cmp(x->path, y->path);

    if (order != 0)
        return order;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void list_sort(struct template_list *l)
{
    size_t n = 0;

    if (l->n > 0)
        qsort(l->items, l->n, sizeof(*l->items), cmp_templates);
    for (size_t i = 0; i < l->n; i++)
        if (i + 1 == l->n || !str_eq(l->items[i].path, l->items[i + 1].path))
            l->items[n++] = l->items[i];
    l->n = n;
}

/* ---- one render ---- */

struct render {
    struct chart *chart;
    const struct chart_render_options *o;
    struct chart_rendered *result;
    struct chart_node *root;
    struct arena *context; /* what templates see and may change: gone after the render */
    struct set_loader *sets;
    struct tpl_run *run;
    struct template_list templates;
    struct chart_rendered_file *files;
    size_t n_files;
};

static void render_done(struct render *r)
{
    tpl_run_free(r->run);
    arena_free(r->context);
    chart_set_loader_free(r->sets);
    chart_rendered_free(r->result);
}
DEFINE_CLEANUP_VALUE(struct render, render_done)

static struct wall_time fixed_now(void *ctx)
{
    return *((const struct chart_render_options *)ctx)->now;
}

static int call_lookup(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                       struct str name, struct value *ret, struct err **err)
{
    const struct chart_render_options *o = ctx;

    return o->lookup(o->lookup_ctx, a, api_version, kind, ns, name, ret, err);
}

static void lint_warning(void *ctx, enum tpl_warning what, struct str message)
{
    static const struct {
        const char *level, *text;
    } lines[] = {
        [TPL_WARN_REQUIRED_NULL] = { "WARN", "missing required value" },
        [TPL_WARN_REQUIRED_EMPTY] = { "WARN", "missing required values" },
        [TPL_WARN_FAIL] = { "INFO", "funcMap fail" },
    };
    const struct chart_render_options *o = ctx;
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB);

    chart_log_attr(&attrs, "message", message);
    chart_log_line(o->log, lines[what].level, buf_z(&attrs), "%s", lines[what].text);
}

static struct tpl_env render_env(const struct chart_render_options *o)
{
    return (struct tpl_env){
        .ctx = (void *)(uintptr_t)o,
        .lookup = o->lookup ? call_lookup : NULL,
        .resolve = o->resolve,
        .now = o->now ? fixed_now : NULL,
        .warn = lint_warning,
        .lint = o->lint,
    };
}

static int check_kube_version(const struct render *r, struct err **err)
{
    const struct chart_capabilities *caps =
        r->o->capabilities ? r->o->capabilities : chart_capabilities_default();
    struct str wanted = r->chart->metadata.kube_version,
               have = caps->normalized.n ? caps->normalized : caps->version;
    CLEANUP(semver_constraint_free) struct semver_constraint *constraint = NULL;
    struct semver v;

    if (wanted.n == 0)
        return 0;
    if (semver_parse(have, &v, NULL) >= 0 && semver_constraint_parse(wanted, &constraint, NULL) >= 0 &&
        semver_constraint_check(constraint, &v))
        return 0;
    return err_set(err, ERRC_TEMPLATE,
                   "chart requires kubeVersion: " STR_FMT " which is incompatible with Kubernetes " STR_FMT,
                   STR_ARG(wanted), STR_ARG(caps->version));
}

/* Helm's install and upgrade log this one, its lint does not. */
static void log_failed_dependencies(const struct render *r, struct err *const *err)
{
    static const struct str before = STR("chart dependencies processing failed: ");
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB);

    if (!err || r->o->lint)
        return;
    chart_log_attr(&attrs, "error", str_trim_prefix(str_from(err_message(*err)), before));
    chart_log_line(r->o->log, "ERROR", buf_z(&attrs), "chart dependencies processing failed");
}

/* Lint coalesces what it has coalesced: a default that a null took away is back. */
static int coalesce(struct render *r, struct value values, struct value *ret, struct err **err)
{
    const struct coalesce c = { .arena = r->context, .log = r->o->log };
    int rc = chart_coalesce_values(&c, r->root, values, ret, err);

    if (rc >= 0 && r->o->lint)
        rc = chart_coalesce_values(&c, r->root, *ret, ret, err);
    return rc;
}

/* Everything that Helm does before it has a release: the values that the templates will see. */
static int prepare(struct render *r, struct value values, struct err **err)
{
    struct arena *a = r->result->arena;
    struct value coalesced;
    int rc;

    rc = chart_resolve(a, r->chart, values, r->o->log, &r->root, err);
    if (rc < 0) {
        log_failed_dependencies(r, err);
        return rc;
    }
    r->templates.arena = a;
    collect_templates(&r->templates, r->root);
    list_sort(&r->templates);
    r->sets = chart_set_loader_new(r->chart, r->root, &r->templates);
    r->context = arena_new(TEMPLATE_MEMORY_MAX);
    rc = coalesce(r, values, &coalesced, err);
    if (rc < 0)
        return rc;
    if (!r->o->skip_schema_validation) {
        rc = chart_validate_values(r->root, coalesced, r->o->log, err);
        if (rc < 0)
            return rc;
    }
    if (r->o->keep_values)
        r->result->values = value_copy(a, coalesced, NULL);
    chart_context_build(r->context, r->root, coalesced, r->o);
    return 0;
}

static struct value template_value(struct arena *a, const struct template_file *f)
{
    struct value v = value_new_map_sized(a, 2);

    value_setz(v, "BasePath", value_from_str(f->base));
    value_setz(v, "Name", value_from_str(f->path));
    return tpl_values_from_map(v);
}

/* The texts stay in one buffer that the result's arena owns. */
static int execute(struct render *r, struct err **err)
{
    struct arena *a = r->result->arena;
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    size_t *ends = ARENA_ARRAY(a, size_t, r->templates.n);
    char *text;
    size_t from = 0;

    r->files = ARENA_ARRAY(a, struct chart_rendered_file, r->templates.n);
    for (size_t i = 0; i < r->templates.n; i++) {
        const struct template_file *f = &r->templates.items[i];
        struct value dot = f->node->context;
        int rc;

        if (tpl_name_is_partial(f->path))
            continue;
        value_setz(dot, "Template", template_value(tpl_run_arena(r->run), f));
        rc = tpl_render(r->run, f->path, tpl_values_from_map(dot), &out, err);
        if (rc < 0)
            return rc;
        ends[r->n_files] = out.n;
        r->files[r->n_files++].path = f->path;
    }
    text = buf_take(&out);
    arena_on_free(a, free, text);
    for (size_t i = 0; i < r->n_files; i++) {
        r->files[i].text = (struct str){ text + from, ends[i] - from };
        from = ends[i];
    }
    return 0;
}

static int cmp_paths(const void *a, const void *b)
{
    return str_cmp(((const struct chart_rendered_file *)a)->path,
                   ((const struct chart_rendered_file *)b)->path);
}

/* Takes the NOTES.txt files out: the root's are the notes; with subchart_notes, all of them. */
static int take_notes(struct render *r, struct err **err)
{
    CLEANUP(buf_done) struct buf notes = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    struct str own =
        arena_printf(r->result->arena, STR_FMT "/templates/NOTES.txt", STR_ARG(chart_node_name(r->root)));
    size_t n = 0;

    if (r->n_files > 0)
        qsort(r->files, r->n_files, sizeof(*r->files), cmp_paths);
    for (size_t i = 0; i < r->n_files; i++) {
        const struct chart_rendered_file *f = &r->files[i];

        if (!str_has_suffix(f->path, STR("NOTES.txt"))) {
            r->files[n++] = *f;
            continue;
        }
        if (!r->o->subchart_notes && !str_eq(f->path, own))
            continue;
        if (notes.n > 0)
            buf_addc(&notes, '\n');
        buf_addstr(&notes, f->text);
    }
    r->n_files = n;
    r->result->notes = arena_dup(r->result->arena, buf_str(&notes));
    return buf_check(&notes, err);
}

static void print_source(struct buf *out, struct str path, struct str content)
{
    buf_adds(out, "---\n# Source: ");
    buf_addstr(out, path);
    buf_addc(out, '\n');
    buf_addstr(out, content);
    buf_addc(out, '\n');
}

static void print_broken(const struct render *r, struct buf *broken)
{
    for (size_t i = 0; i < r->n_files; i++)
        if (str_trim(r->files[i].text).n > 0)
            print_source(broken, r->files[i].path, r->files[i].text);
}

/* The text that a release record keeps. */
static int print_manifest(struct render *r, struct err **err)
{
    struct chart_rendered *res = r->result;
    struct buf out = BUF_INIT(2 * TEMPLATE_OUTPUT_MAX);
    int rc;

    for (size_t i = 0; r->o->include_crds && i < res->n_crds; i++)
        print_source(&out, res->crds[i].path, res->crds[i].data);
    for (size_t i = 0; i < res->n_manifests; i++) {
        const struct chart_manifest *m = &res->manifests[i];
        bool hidden =
            r->o->hide_secrets && str_eq(m->kind, STR("Secret")) && str_eq(m->api_version, STR("v1"));

        print_source(&out, m->path,
                     hidden ? STR("# HIDDEN: The Secret output has been suppressed") : m->content);
    }
    rc = buf_check(&out, err);
    if (rc < 0) {
        buf_done(&out);
        return rc;
    }
    res->manifest.n = out.n;
    res->manifest.p = buf_take(&out);
    arena_on_free(res->arena, free, (char *)(uintptr_t)res->manifest.p);
    return 0;
}

static int parse_and_execute(struct render *r, struct err **err)
{
    struct tpl_env env = render_env(r->o);
    const struct tpl_set *set;
    int rc = chart_set_loader_get(r->sets, &set, err);

    if (rc < 0)
        return rc;
    r->run = tpl_run_new(set, &env);
    return execute(r, err);
}

/* From here on Helm has a release, which it would store as failed: every failure has the code TEMPLATE or LIMIT. */
static int render_templates(struct render *r, struct buf *broken, struct err **err)
{
    int rc;

    rc = check_kube_version(r, err);
    if (rc >= 0)
        rc = parse_and_execute(r, err);
    if (rc < 0)
        return rc;
    rc = take_notes(r, err);
    if (rc < 0)
        return rc;
    rc = chart_sort_manifests(r->result, r->files, r->n_files, r->o, err);
    if (rc < 0) {
        if (broken)
            print_broken(r, broken);
        return rc == -ERRC_LIMIT ? rc : -ERRC_TEMPLATE;
    }
    return r->o->no_text ? 0 : print_manifest(r, err);
}

static int begin(struct render *r, struct value values, struct err **err)
{
    r->result = xcalloc(1, sizeof(*r->result));
    r->result->arena = arena_new(TEMPLATE_MEMORY_MAX);
    r->result->chart = chart_ref(r->chart);
    return prepare(r, values, err);
}

static struct chart_render_options with_defaults(const struct chart_render_options *o)
{
    struct chart_render_options options = o ? *o : (struct chart_render_options){ 0 };

    if (options.ns.n == 0)
        options.ns = STR("default");
    return options;
}

int chart_render(struct chart *c, struct value values, const struct chart_render_options *o,
                 struct buf *broken, struct chart_rendered **ret, struct err **err)
{
    struct chart_render_options options = with_defaults(o);
    CLEANUP(render_done) struct render r = { .chart = c, .o = &options };
    int rc = begin(&r, values, err);

    if (rc < 0)
        return rc;
    r.result->root = r.root;
    r.result->crds = chart_node_crds(r.result->arena, r.root, &r.result->n_crds);
    rc = render_templates(&r, broken, err);
    if (rc < 0)
        return rc;
    log_debug("chart rendered", LOG_STR("chart", c->metadata.name), LOG_INT("files", r.n_files),
              LOG_INT("steps", tpl_run_steps(r.run)),
              LOG_INT("peak_bytes",
                      arena_peak(r.result->arena) + arena_peak(r.context) + tpl_run_peak_bytes(r.run)));
    *ret = TAKE(r.result);
    return 0;
}

int chart_render_files(struct chart *c, struct value values, const struct chart_render_options *o,
                       struct chart_rendered **ret, struct chart_rendered_file **ret_files, size_t *ret_n,
                       struct err **err)
{
    struct chart_render_options options = with_defaults(o);
    CLEANUP(render_done) struct render r = { .chart = c, .o = &options };
    int rc = begin(&r, values, err);

    if (rc >= 0)
        rc = parse_and_execute(&r, err);
    if (rc < 0)
        return rc;
    if (r.n_files > 0)
        qsort(r.files, r.n_files, sizeof(*r.files), cmp_paths);
    *ret_files = r.files;
    *ret_n = r.n_files;
    *ret = TAKE(r.result);
    return 0;
}

void chart_rendered_free(struct chart_rendered *r)
{
    if (!r)
        return;
    arena_free(r->arena);
    chart_unref(r->chart);
    free(r);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "chart/lint_int.h"

/* ---- messages ---- */

static void add(struct lint *l, enum chart_lint_severity severity, struct str path, struct str text)
{
    if (l->n == l->cap) {
        size_t larger = l->cap ? 2 * l->cap : 16;

        l->items = arena_grow(l->arena, l->items, l->cap * sizeof(*l->items), larger * sizeof(*l->items));
        l->cap = larger;
    }
    l->items[l->n++] =
        (struct chart_lint_message){ .severity = severity, .path = arena_dup(l->arena, path), .text = text };
}

void lint_say(struct lint *l, enum chart_lint_severity severity, struct str path, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    add(l, severity, path, arena_dup(l->arena, (struct str){ text, (size_t)n }));
    free(text);
}

bool lint_passed(struct lint *l, enum chart_lint_severity severity, struct str path, const char *before,
                 int r, struct err **err)
{
    if (r < 0)
        lint_say(l, severity, path, "%s%s", before, err_message(*err));
    err_free(TAKE(*err));
    return r >= 0;
}

/* ---- dependencies ---- */

static bool declares(const struct metadata *md, struct str name)
{
    for (size_t i = 0; i < md->n_dependencies; i++)
        if (str_eq(md->dependencies[i].name, name))
            return true;
    return false;
}

static bool vendors(const struct chart *c, struct str name)
{
    for (size_t i = 0; i < c->n_subcharts; i++)
        if (str_eq(c->subcharts[i]->metadata.name, name))
            return true;
    return false;
}

struct names { /* one may be empty */
    struct buf text;
    size_t n;
};
#define NAMES_INIT            \
    {                         \
        .text = BUF_INIT(MIB) \
    }
static void names_done(struct names *n)
{
    buf_done(&n->text);
}
DEFINE_CLEANUP_VALUE(struct names, names_done)

static void add_name(struct names *names, struct str name)
{
    if (names->n++ > 0)
        buf_addc(&names->text, ',');
    buf_addstr(&names->text, name);
}

static struct str used_name(const struct metadata_dependency *d)
{
    return d->alias.n > 0 ? d->alias : d->name;
}

static void check_unique(struct lint *l, const struct metadata *md)
{
    CLEANUP(names_done) struct names twice = NAMES_INIT;

    for (size_t i = 0; i < md->n_dependencies; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(used_name(&md->dependencies[i]), used_name(&md->dependencies[k]))) {
                add_name(&twice, used_name(&md->dependencies[i]));
                break;
            }
    if (twice.n > 0)
        lint_say(l, CHART_LINT_ERROR, str_from(l->dir), "multiple dependencies with name or alias: %s",
                 buf_z(&twice.text));
}

static void lint_dependencies(struct lint *l)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(names_done) struct names undeclared = NAMES_INIT, missing = NAMES_INIT;
    struct str dir = str_from(l->dir);
    struct err *err = NULL;
    int r = chart_load_dir(l->dir, l->o->log, &c, &err);

    if (!lint_passed(l, CHART_LINT_ERROR, STR(""), "unable to load chart\n\t", r, &err))
        return;
    for (size_t i = 0; i < c->n_subcharts; i++)
        if (!declares(&c->metadata, c->subcharts[i]->metadata.name))
            add_name(&undeclared, c->subcharts[i]->metadata.name);
    for (size_t i = 0; i < c->metadata.n_dependencies; i++)
        if (!vendors(c, c->metadata.dependencies[i].name))
            add_name(&missing, c->metadata.dependencies[i].name);
    if (undeclared.n > 0)
        lint_say(l, CHART_LINT_ERROR, dir, "chart metadata is missing these dependencies: %s",
                 buf_z(&undeclared.text));
    check_unique(l, &c->metadata);
    if (missing.n > 0)
        lint_say(l, CHART_LINT_WARNING, dir, "chart directory is missing these dependencies: %s",
                 buf_z(&missing.text));
}

/* ---- CRDs ---- */

/* false: nothing more is looked at, in other files neither. */
static bool lint_crd(struct lint *l, const struct chart_file *f)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    CLEANUP(lint_decoder_done) struct lint_decoder d = { 0 };
    struct lint_object o;
    struct err *err = NULL;
    int r;

    lint_decoder_init(&d, a, f->data);
    while ((r = lint_decoder_next(&d, &o, &err)) > 0) {
        if (r == 2)
            continue;
        if (!str_has_prefix(o.api_version, STR("apiextensions.k8s.io")))
            lint_say(l, CHART_LINT_ERROR, f->name, "apiVersion is not in 'apiextensions.k8s.io'");
        if (!str_eq(o.kind, STR("CustomResourceDefinition")))
            lint_say(l, CHART_LINT_ERROR, f->name, "object kind is not 'CustomResourceDefinition'");
    }
    return lint_passed(l, CHART_LINT_ERROR, f->name, "unable to parse YAML: ", r, &err);
}

static bool lint_crds_of(struct lint *l, const struct chart *c)
{
    for (size_t i = 0; i < c->plain.n; i++)
        if (chart_is_crd_file(c->plain.items[i]->name) && !lint_crd(l, c->plain.items[i]))
            return false;
    for (size_t i = 0; i < c->n_subcharts; i++)
        if (!lint_crds_of(l, c->subcharts[i]))
            return false;
    return true;
}

static void lint_crds(struct lint *l)
{
    CLEANUP(free_ptr) char *path = fs_join(l->dir, "crds");
    CLEANUP(chart_unref) struct chart *c = NULL;
    struct err *err = NULL;
    struct stat st;
    int r;

    if (stat(path, &st) < 0)
        return;
    if (!S_ISDIR(st.st_mode)) {
        lint_say(l, CHART_LINT_ERROR, STR("crds/"), "not a directory");
        return;
    }
    r = chart_load_dir(l->dir, l->o->log, &c, &err);
    if (lint_passed(l, CHART_LINT_ERROR, STR("crds/"), "", r, &err))
        lint_crds_of(l, c);
}

/* ---- the whole ---- */

void chart_lint(struct arena *a, const char *dir, const struct chart_lint_options *o,
                struct chart_lint_message **ret, size_t *ret_n)
{
    CLEANUP(free_ptr) char *full = fs_absolute(dir);
    struct lint l = { .arena = a, .dir = full, .o = o };

    assert(o->values_arena);

    lint_metadata(&l);
    lint_templates(&l);
    lint_dependencies(&l);
    lint_crds(&l);
    *ret = l.items;
    *ret_n = l.n;
}

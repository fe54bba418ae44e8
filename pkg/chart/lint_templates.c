/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "chart/lint_int.h"
#include "yaml/yaml.h"

/* helm's rules/template.go */

#define TEMPLATES STR("templates/")
#define SCANNER_LINE_MAX ((size_t)64 * KIB) /* Go's bufio.Scanner gives up on longer lines */

static bool has_extension(struct str name, const char *const *known, size_t n, struct str *ret)
{
    struct str base = str_basename(name);
    size_t dot = str_rfind_char(base, '.');

    *ret = dot == STR_NPOS ? STR("") : str_sub(base, dot, base.n);
    for (size_t i = 0; i < n; i++)
        if (str_eq(*ret, str_from(known[i])))
            return true;
    return false;
}

static void check_extension(struct lint *l, struct str name)
{
    static const char *const known[] = { ".yaml", ".yml", ".tpl", ".txt" };
    struct str extension;

    if (!has_extension(name, known, ARRAY_SIZE(known), &extension))
        lint_say(l, CHART_LINT_ERROR, name,
                 "file extension '" STR_FMT "' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt",
                 STR_ARG(extension));
}

/* The first line that is not blank must not be indented. */
static void check_indent(struct lint *l, struct str name, struct str text)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(MIB);
    struct str line;

    while (text.n > 0 && str_split(&text, '\n', &line)) {
        if (line.n >= SCANNER_LINE_MAX) {
            lint_say(l, CHART_LINT_WARNING, name, "bufio.Scanner: token too long");
            return;
        }
        line = str_trim_suffix(line, STR("\r"));
        if (str_trim(line).n == 0)
            continue;
        if (line.p[0] != ' ' && line.p[0] != '\t')
            return;
        utf8_quote(line, &quoted);
        lint_say(l, CHART_LINT_WARNING, name,
                 "document starts with an illegal indent: %s, which may cause parsing problems",
                 buf_z(&quoted));
        return;
    }
}

static void check_selector(struct lint *l, struct str name, const struct lint_object *o, struct str text)
{
    static const char *const kinds[] = { "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet" };
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(MIB);
    bool wanted = false;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        wanted = wanted || str_eq(o->kind, str_from(kinds[i]));
    if (!wanted || str_contains(text, STR("matchLabels")) || str_contains(text, STR("matchExpressions")))
        return;
    utf8_quote(o->name, &quoted);
    lint_say(l, CHART_LINT_ERROR, name,
             "a " STR_FMT " must contain matchLabels or matchExpressions, and %s does not", STR_ARG(o->kind),
             buf_z(&quoted));
}

static bool has_policy(struct value list)
{
    struct value items = metadata_member(list, STR("Items"));

    for (size_t i = 0; i < value_len(items); i++) {
        struct value annotations =
            metadata_member(metadata_member(value_at(items, i), STR("Metadata")), STR("Annotations"));

        if (value_has(annotations, STR("helm.sh/resource-policy")))
            return true;
    }
    return false;
}

static void check_list(struct lint *l, struct str name, const struct lint_object *o, struct str text)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    struct err *err = NULL;
    struct value v;
    int r;

    if (!str_eq(o->kind, STR("List")))
        return;
    r = yml_parse(a, text, NULL, &v, &err);
    if (lint_passed(l, CHART_LINT_ERROR, name, "unable to parse YAML: ", r, &err) && has_policy(v))
        lint_say(l, CHART_LINT_ERROR, name,
                 "annotation 'helm.sh/resource-policy' within List objects are ignored");
}

static const struct chart_capabilities *capabilities(const struct lint *l)
{
    return l->o->capabilities ? l->o->capabilities : chart_capabilities_default();
}

static void check_object(struct lint *l, struct str name, const struct lint_object *o, struct str text)
{
    CLEANUP(buf_done)
    struct buf faults = BUF_INIT(8 * MIB), quoted = BUF_INIT(MIB), deprecated = BUF_INIT(4 * KIB);

    lint_name_faults(o, &faults);
    if (faults.n > 0) {
        utf8_quote(o->name, &quoted);
        lint_say(l, CHART_LINT_WARNING, name,
                 "object name does not conform to Kubernetes naming requirements: %s: %s", buf_z(&quoted),
                 buf_z(&faults));
    }
    if (lint_is_deprecated(o, capabilities(l), &deprecated))
        lint_say(l, CHART_LINT_WARNING, name, "%s", buf_z(&deprecated));
    check_selector(l, name, o, text);
    check_list(l, name, o, text);
}

/* false: nothing more is looked at, in other files neither. */
static bool check_objects(struct lint *l, struct str name, struct str text)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    CLEANUP(lint_decoder_done) struct lint_decoder d = { 0 };
    struct lint_object o;
    struct err *err = NULL;
    int r;

    lint_decoder_init(&d, a, text);
    while ((r = lint_decoder_next(&d, &o, &err)) > 0)
        if (r == 1)
            check_object(l, name, &o, text);
    return lint_passed(l, CHART_LINT_ERROR, name, "unable to parse YAML: ", r, &err);
}

struct lint_render {
    struct chart *chart;
    struct chart_rendered *rendered;
    struct chart_rendered_file *files;
    size_t n_files;
};

static void lint_render_done(struct lint_render *r)
{
    chart_rendered_free(r->rendered);
    chart_unref(r->chart);
}
DEFINE_CLEANUP_VALUE(struct lint_render, lint_render_done)

static struct str rendered_text(const struct lint_render *r, struct str name)
{
    struct str chart = r->chart->metadata.name;

    for (size_t i = 0; i < r->n_files; i++) {
        struct str path = r->files[i].path;

        if (path.n == chart.n + 1 + name.n && str_has_prefix(path, chart) && str_has_suffix(path, name))
            return r->files[i].text;
    }
    return STR("");
}

/* Helm says nothing about values that cannot be coalesced or dependencies that cannot be processed. */
static bool render(struct lint *l, struct lint_render *r)
{
    const struct chart_render_options o = {
        .release_name = STR("test-release"),
        .ns = l->o->ns,
        .capabilities = l->o->capabilities,
        .log = l->o->log,
        .skip_schema_validation = l->o->skip_schema_validation,
        .lint = true,
    };
    struct err *err = NULL;
    int rc = chart_render_files(r->chart, l->o->values, &o, &r->rendered, &r->files, &r->n_files, &err);

    if (rc == -ERRC_SCHEMA || rc == -ERRC_TEMPLATE || rc == -ERRC_LIMIT || rc == -ERRC_PARSE)
        return lint_passed(l, CHART_LINT_ERROR, TEMPLATES, "", rc, &err);
    err_free(err);
    return rc >= 0;
}

static void check_files(struct lint *l, const struct lint_render *r)
{
    static const char *const yaml[] = { ".yaml", ".yml" };
    const struct chart_file_list *templates = &r->chart->templates;

    for (size_t i = 0; i < templates->n; i++) {
        struct str name = templates->items[i]->name, text = rendered_text(r, name), extension;

        check_extension(l, name);
        has_extension(name, NULL, 0, &extension);
        if (!str_ieq(extension, str_from(yaml[0])) && !str_ieq(extension, str_from(yaml[1])))
            continue;
        if (str_trim(text).n == 0)
            continue;
        check_indent(l, name, text);
        if (!check_objects(l, name, text))
            return;
    }
}

void lint_templates(struct lint *l)
{
    CLEANUP(free_ptr) char *path = fs_join(l->dir, "templates");
    CLEANUP(lint_render_done) struct lint_render r = { 0 };
    struct err *err = NULL;
    struct stat st;
    int rc;

    if (stat(path, &st) < 0) {
        lint_say(l, CHART_LINT_WARNING, TEMPLATES, "directory does not exist");
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        lint_say(l, CHART_LINT_ERROR, TEMPLATES, "not a directory");
        return;
    }
    rc = chart_load_dir(l->dir, l->o->log, &r.chart, &err);
    if (lint_passed(l, CHART_LINT_ERROR, TEMPLATES, "", rc, &err) && render(l, &r))
        check_files(l, &r);
}

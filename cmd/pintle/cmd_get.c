/* SPDX-License-Identifier: Apache-2.0 */
/* What `kubectl get` shows: the server's tables, or objects as JSON, YAML or names. */
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/limits.h"
#include "pintle/cluster.h"
#include "pintle/commands.h"
#include "pintle/term.h"
#include "yaml/yaml.h"
#include "json/json.h"

#define OUR_KINDS "repositories,repogroups,charts,configs,values,releasegroups,releases"
#define AS_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define TYPES_MAX 64

static const struct cli_flag flags[] = {
    { "all-namespaces", 'A', CLI_BOOL, NULL, NULL, "objects of all namespaces", NULL },
    { "field-selector", 0, CLI_STRING, NULL, NULL, "only objects with these fields: metadata.name=web",
      NULL },
    { "no-headers", 0, CLI_BOOL, NULL, NULL, "tables without their first line", NULL },
    { "output", 'o', CLI_STRING, NULL, NULL, "json, name, wide or yaml", NULL },
    { "selector", 'l', CLI_STRING, NULL, NULL, "only objects with these labels: app=web,tier!=db", NULL },
    { "show-managed-fields", 0, CLI_BOOL, NULL, NULL, "keep metadata.managedFields in json and yaml", NULL },
    CLI_FLAGS_END,
};

enum form { FORM_TABLE, FORM_WIDE, FORM_JSON, FORM_YAML, FORM_NAME };

struct wanted { /* one type, all of its objects or some */
    const struct kube_kind *kind;
    struct str *names;
    size_t n;
};

struct get {
    struct cli *c;
    struct cli_cluster *cluster;
    struct arena *a;
    enum form form;
    struct wanted wanted[TYPES_MAX];
    size_t n;
    size_t shown;
    struct value_list objects; /* for json and yaml */
};

/* ---- arguments ---------------------------------------------------------------------------------------------------- */

static int add_type(struct get *g, struct str type, struct wanted **ret, struct err **err)
{
    const struct kube_kind *kind;
    int r = kube_kind_find_resource(g->cluster->kube, type, &kind, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < g->n; i++)
        if (g->wanted[i].kind == kind) {
            *ret = &g->wanted[i];
            return 0;
        }
    if (g->n == TYPES_MAX)
        return err_set(err, ERRC_LIMIT, "more than %d types", TYPES_MAX);
    *ret = &g->wanted[g->n++];
    **ret = (struct wanted){ .kind = kind, .names = ARENA_ARRAY(g->a, struct str, g->c->n_args + 1) };
    return 0;
}

static int add_types(struct get *g, struct str types, struct err **err)
{
    struct str type;

    while (str_split(&types, ',', &type)) {
        struct wanted *w;
        int r = str_eq(type, STR("pintle")) ? add_types(g, STR(OUR_KINDS), err) : add_type(g, type, &w, err);

        if (r < 0)
            return r;
    }
    return 0;
}

/* "TYPE[,TYPE] [NAME…]" or "TYPE/NAME…"; nothing: all of ours. */
static int read_args(struct get *g, struct err **err)
{
    const struct cli *c = g->c;
    int r = 0;

    if (c->n_args == 0)
        return add_types(g, STR(OUR_KINDS), err);
    if (!strchr(c->args[0], '/')) {
        r = add_types(g, str_from(c->args[0]), err);
        for (size_t i = 1; i < c->n_args && r >= 0; i++)
            for (size_t k = 0; k < g->n; k++)
                g->wanted[k].names[g->wanted[k].n++] = str_from(c->args[i]);
        return r;
    }
    for (size_t i = 0; i < c->n_args && r >= 0; i++) {
        struct str name = str_from(c->args[i]), type;
        struct wanted *w;

        str_split(&name, '/', &type);
        if (name.n == 0)
            return err_set(err, ERRC_INVALID, "\"%s\": arguments in resource/name form must all have a name",
                           c->args[i]);
        r = add_type(g, type, &w, err);
        if (r >= 0)
            w->names[w->n++] = name;
    }
    return r;
}

static int read_form(struct get *g, struct err **err)
{
    static const char *const forms[] = { [FORM_TABLE] = "",
                                         [FORM_WIDE] = "wide",
                                         [FORM_JSON] = "json",
                                         [FORM_YAML] = "yaml",
                                         [FORM_NAME] = "name" };
    const char *output = cli_string(g->c, "output");

    for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
        if (strcmp(output, forms[i]) == 0) {
            g->form = (enum form)i;
            return 0;
        }
    return err_set(err, ERRC_INVALID,
                   "unable to match a printer suitable for the output format \"%s\", allowed formats are: "
                   "json,name,wide,yaml",
                   output);
}

/* ---- asking ------------------------------------------------------------------------------------------------------- */

static bool all_namespaces(const struct get *g)
{
    return cli_bool(g->c, "all-namespaces");
}

static void add_query(struct buf *path, const char *key, const char *value)
{
    if (!value[0])
        return;
    buf_addf(path, "%c%s=", str_find_char(buf_str(path), '?') == STR_NPOS ? '?' : '&', key);
    url_escape(str_from(value), "", path);
}

static void build_path(const struct get *g, const struct kube_kind *k, struct str name, struct buf *path)
{
    buf_addf(path, k->group.n ? "/apis/" STR_FMT : "/api/" STR_FMT, STR_ARG(k->api_version));
    if (k->namespaced && !all_namespaces(g)) {
        buf_adds(path, "/namespaces/");
        url_escape(g->cluster->ns, "", path);
    }
    buf_addf(path, "/" STR_FMT, STR_ARG(k->plural));
    if (name.n > 0) {
        buf_addc(path, '/');
        url_escape(name, "", path);
        return;
    }
    add_query(path, "labelSelector", cli_string(g->c, "selector"));
    add_query(path, "fieldSelector", cli_string(g->c, "field-selector"));
}

static int ask(struct get *g, const struct kube_kind *k, struct str name, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(HTTP_URL_MAX), text = BUF_INIT(KUBE_ANSWER_MAX);
    bool table = g->form == FORM_TABLE || g->form == FORM_WIDE;
    int r;

    build_path(g, k, name, &path);
    r = buf_check(&path, err);
    if (r >= 0)
        r = kube_raw_get(g->cluster->kube, buf_z(&path), table ? AS_TABLE : NULL, &text, err);
    if (r >= 0)
        r = json_parse(g->a, buf_str(&text), NULL, ret, err);
    return r;
}

/* ---- tables --------------------------------------------------------------------------------------------------------- */

struct column {
    size_t cell;
    struct str title;
};

static struct column *columns_of(struct get *g, struct value table, size_t *ret_n)
{
    struct value definitions = value_getz(table, "columnDefinitions");
    struct column *columns = ARENA_ARRAY(g->a, struct column, value_len(definitions) + 1);
    size_t n = 0;

    for (size_t i = 0; i < value_len(definitions); i++) {
        struct value d = value_at(definitions, i);
        struct str name = value_str(value_getz(d, "name"));
        char *title = arena_alloc_bytes(g->a, name.n + 1);

        if (g->form != FORM_WIDE && value_int(value_getz(d, "priority"), 0) > 0)
            continue;
        for (size_t k = 0; k < name.n; k++)
            title[k] = ascii_upper(name.p[k]);
        columns[n++] = (struct column){ i, { title, name.n } };
    }
    *ret_n = n;
    return columns;
}

static struct str cell_text(struct get *g, struct value cell)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct str s = value_str(cell);
    size_t line = str_find_char(s, '\n');

    if (value_is_null(cell))
        return STR("");
    if (value_is_string(cell)) /* kubectl shows the first line */
        return line == STR_NPOS ? s : arena_printf(g->a, STR_FMT "...", STR_ARG(str_sub(s, 0, line)));
    if (json_print(cell, 0, &text, NULL) < 0)
        return STR("<invalid>");
    return arena_dup(g->a, buf_str(&text));
}

static bool shows_namespace(const struct get *g, const struct wanted *w)
{
    return w->kind->namespaced && all_namespaces(g);
}

static void add_row(struct get *g, const struct wanted *w, struct value row, const struct column *columns,
                    size_t n, struct term_table *t)
{
    struct str *cells = ARENA_ARRAY(g->a, struct str, n + 1), *to = cells;
    struct value values = value_getz(row, "cells");

    if (shows_namespace(g, w))
        *to++ = kube_namespace(value_getz(row, "object"));
    for (size_t i = 0; i < n; i++) {
        CLEANUP(buf_done) struct buf name = BUF_INIT(FS_PATH_MAX);

        *to = columns[i].cell < value_len(values) ? cell_text(g, value_at(values, columns[i].cell)) : STR("");
        if (i == 0 && g->n > 1) {
            cli_resource_name(w->kind, *to, &name);
            *to = arena_dup(g->a, buf_str(&name));
        }
        to++;
    }
    term_table_add(t, cells);
    g->shown++;
}

static void print_tables(struct get *g, const struct wanted *w, const struct value *tables, size_t n)
{
    size_t n_columns, lead = shows_namespace(g, w), before = g->shown;
    struct column *columns = columns_of(g, tables[0], &n_columns);
    CLEANUP(term_table_free) struct term_table *t = term_table_new(n_columns + lead);
    struct str *titles = ARENA_ARRAY(g->a, struct str, n_columns + lead);

    titles[0] = STR("NAMESPACE");
    for (size_t i = 0; i < n_columns; i++)
        titles[i + lead] = columns[i].title;
    if (!cli_bool(g->c, "no-headers"))
        term_table_add(t, titles);
    for (size_t i = 0; i < n; i++) {
        struct value_iter it = value_iter(value_getz(tables[i], "rows"));
        while (value_next(&it))
            add_row(g, w, it.v, columns, n_columns, t);
    }
    if (g->shown == before)
        return;
    if (before > 0)
        cli_printf(g->c, "\n");
    term_table_print(g->c, t);
}

/* ---- the other forms ------------------------------------------------------------------------------------------------ */

static void add_objects(struct get *g, const struct wanted *w, struct value answer)
{
    struct value items = value_getz(answer, "items");
    struct value_list one = VALUE_LIST_INIT(g->a);

    if (!value_is_list(items)) {
        value_list_add(&one, answer);
        items = value_list_done(&one);
    }
    for (size_t i = 0; i < value_len(items); i++) {
        struct value v = value_at(items, i);
        CLEANUP(buf_done) struct buf name = BUF_INIT(FS_PATH_MAX);

        /* Items of a list come without them. */
        value_setz(v, "apiVersion", value_from_str(w->kind->api_version));
        value_setz(v, "kind", value_from_str(w->kind->kind));
        if (!cli_bool(g->c, "show-managed-fields"))
            value_unset(value_getz(v, "metadata"), STR("managedFields"));
        value_list_add(&g->objects, v);
        cli_resource_name(w->kind, kube_name(v), &name);
        if (g->form == FORM_NAME)
            cli_printf(g->c, "%s\n", buf_z(&name));
        g->shown++;
    }
}

/* kubectl indents by four. */
static void write_json(struct cli *c, struct str text)
{
    struct str line;

    text = str_trim_suffix(text, STR("\n"));
    while (str_split(&text, '\n', &line)) {
        size_t indent = 0;

        while (indent < line.n && line.p[indent] == ' ')
            indent++;
        cli_printf(c, "%*s", (int)indent, "");
        cli_write(c, line);
        cli_printf(c, "\n");
    }
}

static int print_objects(struct get *g, bool single, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KUBE_ANSWER_MAX);
    struct value all = value_new_map(g->a);
    int r;

    value_setz(all, "apiVersion", VALUE_STR("v1"));
    value_setz(all, "items", value_list_done(&g->objects));
    value_setz(all, "kind", VALUE_STR("List"));
    value_set_path(all, "metadata.resourceVersion", VALUE_STR(""));
    if (single && g->objects.n == 1)
        all = g->objects.items[0];
    r = g->form == FORM_JSON ? json_print(all, JSON_INDENT, &text, err) : yml_print(all, &text, err);
    if (r < 0)
        return r;
    if (g->form == FORM_JSON)
        write_json(g->c, buf_str(&text));
    else
        cli_write(g->c, buf_str(&text));
    return 0;
}

/* ---- running -------------------------------------------------------------------------------------------------------- */

/* Returns how many names were not found. */
static int show_type(struct get *g, const struct wanted *w, struct err **err)
{
    size_t n = MAX(w->n, (size_t)1), found = 0;
    struct value *answers = ARENA_ARRAY(g->a, struct value, n);
    int missing = 0;

    for (size_t i = 0; i < n; i++) {
        CLEANUP(err_free) struct err *e = NULL;
        int r = ask(g, w->kind, w->n ? w->names[i] : STR_NONE, &answers[found], &e);

        if (r < 0 && (w->n == 0 || err_code(e) != ERRC_NOT_FOUND)) {
            if (err)
                *err = TAKE(e);
            return r;
        }
        if (r < 0) {
            fprintf(g->c->errout, "Error: %s\n", err_message(e));
            missing++;
            continue;
        }
        if (g->form != FORM_TABLE && g->form != FORM_WIDE)
            add_objects(g, w, answers[found]);
        found++;
    }
    if (found > 0 && (g->form == FORM_TABLE || g->form == FORM_WIDE))
        print_tables(g, w, answers, found);
    return missing;
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SIZE_MAX);
    CLEANUP(cli_cluster_done) struct cli_cluster cluster = { 0 };
    struct get g = { .c = c, .cluster = &cluster, .a = a, .objects = VALUE_LIST_INIT(a) };
    int r = read_form(&g, err), missing = 0;
    bool single, namespaced = false;

    if (r >= 0)
        r = cli_connect(c, &cluster, err);
    if (r >= 0)
        r = read_args(&g, err);
    if (r < 0)
        return r;
    single = g.n == 1 && g.wanted[0].n == 1;
    if (all_namespaces(&g) && g.n > 0 && g.wanted[0].n > 0)
        return err_set(err, ERRC_INVALID, "a resource cannot be retrieved by name across all namespaces");
    for (size_t i = 0; i < g.n; i++) {
        r = show_type(&g, &g.wanted[i], err);
        if (r < 0)
            return r;
        missing += r;
        namespaced = namespaced || g.wanted[i].kind->namespaced;
    }
    if ((g.form == FORM_JSON || g.form == FORM_YAML) && (g.shown > 0 || !missing)) {
        r = print_objects(&g, single, err);
        if (r < 0)
            return r;
    } else if (g.shown == 0 && !missing && g.form != FORM_NAME) {
        if (namespaced && !all_namespaces(&g))
            fprintf(c->errout, "No resources found in %.*s namespace.\n", STR_ARG(cluster.ns));
        else
            fprintf(c->errout, "No resources found\n");
    }
    return missing > 0;
}

const struct cli_command cmd_get = {
    .name = "get",
    .usage = "[TYPE[,TYPE]... [NAME]... | TYPE/NAME...]",
    .brief = "show objects of a cluster",
    .help = "Show objects of a cluster, as `kubectl get` does. Without arguments: everything of pintle's own "
            "kinds in the\n"
            "namespace and the cluster; \"pintle\" stands for these kinds.\n",
    .args_max = -1,
    .flags = flags,
    .run = run,
};

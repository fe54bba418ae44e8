/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fs.h"
#include "base/limits.h"
#include "jsonpath/jsonpath.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"
#include "yaml/yaml.h"

static const struct cli_flag flags[] = { CHART_PATH_FLAGS, CLI_FLAGS_END };
static const struct cli_flag values_flags[] = {
    { "jsonpath", 0, CLI_STRING, NULL, NULL, "supply a JSONPath expression to filter the output", NULL },
    CLI_FLAGS_END,
};

enum part { PART_CHART = 1, PART_VALUES = 2, PART_README = 4, PART_CRDS = 8, PART_ALL = 15 };

struct view {
    const struct chart *chart;
    struct arena *arena;
    unsigned parts;
    const char *jsonpath; /* for the values; "": all */
    struct buf *out;
};

static int print_chart(const struct view *v, struct err **err)
{
    int r = yml_print(metadata_to_value(v->arena, chart_metadata(v->chart)), v->out, err);

    buf_addc(v->out, '\n');
    return r;
}

static int print_selected_values(const struct view *v, struct err **err)
{
    CLEANUP(jsonpath_free) struct jsonpath *path = NULL;
    CLEANUP(err_free) struct err *failure = NULL;
    int r = jsonpath_parse(str_from(v->jsonpath), &path, err);

    if (r < 0)
        return err_wrap(err, r, "error parsing jsonpath %s", v->jsonpath);
    r = jsonpath_print(path, chart_default_values(v->chart), v->out, &failure);
    if (r == -ERRC_LIMIT)
        *err = TAKE(failure);
    return r == -ERRC_LIMIT ? r : 0; /* helm drops every other failure: then it prints nothing */
}

static int print_values(const struct view *v, struct err **err)
{
    size_t n;
    const struct chart_file *files = chart_files(v->chart, &n);

    if (value_is_null(chart_default_values(v->chart)))
        return 0;
    if (v->jsonpath[0])
        return print_selected_values(v, err);
    if (v->parts == PART_ALL)
        buf_adds(v->out, "---\n");
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(files[i].name, STR("values.yaml")))
            continue;
        buf_addstr(v->out, files[i].data);
        buf_addc(v->out, '\n');
    }
    return 0;
}

static bool is_readme(struct str name)
{
    return str_ieq(name, STR("readme.md")) || str_ieq(name, STR("readme.txt")) ||
           str_ieq(name, STR("readme"));
}

static int print_readme(const struct view *v, struct err **err)
{
    size_t n;
    const struct chart_file *files = chart_files(v->chart, &n);

    UNUSED(err);
    for (size_t i = 0; i < n; i++) {
        if (!is_readme(files[i].name))
            continue;
        if (v->parts == PART_ALL)
            buf_adds(v->out, "---\n");
        buf_addstr(v->out, files[i].data);
        buf_addc(v->out, '\n');
        break;
    }
    return 0;
}

static int print_crds(const struct view *v, struct err **err)
{
    size_t n;
    const struct chart_crd *crds = chart_crds(v->chart, v->arena, &n);

    UNUSED(err);
    for (size_t i = 0; i < n; i++) {
        if (!str_has_prefix(crds[i].data, STR("---")))
            buf_adds(v->out, "---\n");
        buf_addstr(v->out, crds[i].data);
        buf_addc(v->out, '\n');
    }
    return 0;
}

static int show(struct cli *c, unsigned parts, const char *jsonpath, struct err **err)
{
    static const struct {
        unsigned part;
        int (*print)(const struct view *v, struct err **err);
    } printers[] = {
        { PART_CHART, print_chart },
        { PART_VALUES, print_values },
        { PART_README, print_readme },
        { PART_CRDS, print_crds },
    };
    CLEANUP(chart_found_done) struct chart_found found = { 0 };
    CLEANUP(chart_unref) struct chart *chart = NULL;
    CLEANUP(arena_free) struct arena *arena = arena_new(VALUES_MEMORY_MAX);
    CLEANUP(buf_done) struct buf out = BUF_INIT(2 * ARCHIVE_UNPACKED_MAX);
    struct chart_log log = chart_flags_log(c);
    struct view v = { .arena = arena, .parts = parts, .jsonpath = jsonpath, .out = &out };
    int r;

    chart_flags_log_version(c, "original chart version", NULL);
    r = chart_flags_locate(c, c->args[0], &found, err);
    if (r < 0)
        return r;
    /* As helm: the folder's loader does not ask for an apiVersion. */
    r = found.path && fs_is_dir(found.path) ? chart_load_dir(found.path, &log, &chart, err)
                                            : chart_found_load(&found, &log, &chart, err);
    if (r < 0)
        return r;
    v.chart = chart;
    for (size_t i = 0; i < ARRAY_SIZE(printers); i++) {
        if (!(parts & printers[i].part))
            continue;
        r = printers[i].print(&v, err);
        if (r < 0)
            return r;
    }
    r = buf_check(&out, err);
    if (r >= 0)
        cli_write(c, buf_str(&out));
    return r;
}

static int run_all(struct cli *c, struct err **err)
{
    return show(c, PART_ALL, "", err);
}

static int run_chart(struct cli *c, struct err **err)
{
    return show(c, PART_CHART, "", err);
}

static int run_crds(struct cli *c, struct err **err)
{
    return show(c, PART_CRDS, "", err);
}

static int run_readme(struct cli *c, struct err **err)
{
    return show(c, PART_README, "", err);
}

static int run_values(struct cli *c, struct err **err)
{
    return show(c, PART_VALUES, cli_string(c, "jsonpath"), err);
}

const struct cli_command cmd_show = {
    .name = "show",
    .aliases = "inspect",
    .brief = "show information of a chart",
};

#define SHOW(member, text, more)                   \
    const struct cli_command cmd_show_##member = { \
        .parent = "show",                          \
        .name = #member,                           \
        .usage = "[CHART]",                        \
        .brief = text,                             \
        .args_min = 1,                             \
        .args_max = 1,                             \
        .flags = flags,                            \
        .more_flags = more,                        \
        .helm_log = true,                          \
        .run = run_##member,                       \
    }

SHOW(all, "show all information of the chart", NULL);
SHOW(chart, "show the chart's definition", NULL);
SHOW(crds, "show the chart's CRDs", NULL);
SHOW(readme, "show the chart's README", NULL);
SHOW(values, "show the chart's values", values_flags);

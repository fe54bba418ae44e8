/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"

static const struct cli_flag flags[] = {
    VALUE_FLAGS,
    { "kube-version", 0, CLI_STRING, NULL, NULL,
      "Kubernetes version used for capabilities and deprecation checks", NULL },
    { "quiet", 0, CLI_BOOL, NULL, NULL, "print only warnings and errors", NULL },
    { "skip-schema-validation", 0, CLI_BOOL, NULL, NULL, "if set, disables JSON schema validation", NULL },
    { "strict", 0, CLI_BOOL, NULL, NULL, "fail on lint warnings", NULL },
    { "with-subcharts", 0, CLI_BOOL, NULL, NULL, "lint dependent charts", NULL },
    CLI_FLAGS_END,
};

/* ---- which charts ---- */

struct paths {
    char **items;
    size_t n, cap;
};

static void paths_done(struct paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->items[i]);
    free(p->items);
}
DEFINE_CLEANUP_VALUE(struct paths, paths_done)

static void add_path(struct paths *p, char *owned)
{
    ARRAY_GROW(p->items, p->cap, p->n + 1);
    p->items[p->n++] = owned;
}

static bool is_archive(const char *path)
{
    return str_has_suffix(str_from(path), STR(".tgz")) || str_has_suffix(str_from(path), STR(".tar.gz"));
}

/* filepath.Walk(): names in order, links not followed, what cannot be read is left out. */
static void add_charts_below(struct paths *p, const char *path, size_t depth)
{
    struct str name = str_basename(str_from(path));
    char **names = NULL;
    size_t n = 0;
    struct stat st;

    if (lstat(path, &st) < 0 || depth > DIR_DEPTH_MAX)
        return;
    if (str_eq(name, STR("Chart.yaml")))
        add_path(p, str_dup(str_dirname(str_from(path))));
    else if (is_archive(path))
        add_path(p, xstrdup(path));
    if (!S_ISDIR(st.st_mode) || fs_list_dir(path, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *child = fs_join(path, names[i]);

        add_charts_below(p, child, depth + 1);
    }
    fs_names_free(names, n);
}

static void collect_paths(const struct cli *c, struct paths *p)
{
    for (size_t i = 0; i < c->n_args; i++)
        add_path(p, xstrdup(c->args[i]));
    for (size_t i = 0; i < c->n_args && cli_bool(c, "with-subcharts"); i++) {
        CLEANUP(free_ptr) char *charts = fs_join(c->args[i], "charts"), *clean = fs_clean(charts);

        add_charts_below(p, clean, 0);
    }
}

/* ---- one chart ---- */

static int expand(const char *path, const char *dir, char **ret, struct err **err)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    int r = fs_read_path(path, &packed, err);

    if (r < 0)
        return err_wrap(err, r, "unable to open tarball");
    r = chart_expand(buf_str(&packed), dir, ret, err);
    return r < 0 ? err_wrap(err, r, "unable to extract tarball") : 0;
}

static int check_is_chart(const char *dir, struct err **err)
{
    CLEANUP(free_ptr) char *file = fs_join(dir[0] ? dir : ".", "Chart.yaml"), *clean = fs_clean(file);
    struct stat st;
    int r;

    if (stat(clean, &st) == 0)
        return 0;
    r = fs_path_error(err, "stat", clean, errno);
    return err_wrap(err, r, "unable to check Chart.yaml file in chart");
}

struct outcome {
    struct chart_lint_message *messages;
    size_t n;
    struct err *err; /* it is not a chart at all */
};

static int lint_path(const char *path, struct arena *a, const struct chart_lint_options *o,
                     struct outcome *ret, struct err **err)
{
    CLEANUP(free_ptr) char *temp = NULL, *unpacked = NULL;
    int r = 0;

    if (is_archive(path)) {
        r = fs_make_temp_dir("pintle-lint", &temp, err);
        if (r >= 0)
            r = expand(path, temp, &unpacked, err);
    }
    if (r >= 0)
        r = check_is_chart(unpacked ? unpacked : path, err);
    if (r >= 0)
        chart_lint(a, unpacked ? unpacked : path, o, &ret->messages, &ret->n);
    if (temp)
        IGNORE_ERROR(fs_remove_tree(temp, NULL));
    return r;
}

static size_t count(const struct outcome *o, enum chart_lint_severity least)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n; i++)
        n += o->messages[i].severity >= least;
    return n;
}

static void print_outcome(const struct cli *c, const char *path, const struct outcome *o, struct buf *out)
{
    static const char *const names[] = { "UNKNOWN", "INFO", "WARNING", "ERROR" };

    buf_addf(out, "==> Linting %s\n", path);
    if (o->err)
        buf_addf(out, "Error %s\n", err_message(o->err));
    for (size_t i = 0; i < o->n; i++) {
        const struct chart_lint_message *m = &o->messages[i];

        if (m->severity > CHART_LINT_INFO || !cli_bool(c, "quiet"))
            buf_addf(out, "[%s] " STR_FMT ": " STR_FMT "\n", names[m->severity], STR_ARG(m->path),
                     STR_ARG(m->text));
    }
    buf_addc(out, '\n');
}

/* ---- the command ---- */

struct tally {
    size_t failed, noticed;
};

static void lint_one(struct cli *c, const char *path, const struct chart_lint_options *o, struct tally *t,
                     struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    enum chart_lint_severity fatal = cli_bool(c, "strict") ? CHART_LINT_WARNING : CHART_LINT_ERROR;
    struct outcome outcome = { 0 };
    bool noticed;

    IGNORE_ERROR(lint_path(path, a, o, &outcome, &outcome.err));
    noticed = outcome.err || count(&outcome, CHART_LINT_WARNING) > 0;
    t->noticed += noticed;
    t->failed += outcome.err || count(&outcome, fatal) > 0;
    if (noticed || !cli_bool(c, "quiet"))
        print_outcome(c, path, &outcome, out);
    err_free(outcome.err);
}

static int report(struct cli *c, size_t n, const struct tally *t, struct err **err)
{
    if (t->failed > 0)
        return err_set(err, ERRC_INVALID, "%zu chart(s) linted, %zu chart(s) failed", n, t->failed);
    if (!cli_bool(c, "quiet") || t->noticed > 0)
        cli_printf(c, "%zu chart(s) linted, %zu chart(s) failed\n", n, t->failed);
    return 0;
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    CLEANUP(paths_done) struct paths paths = { 0 };
    CLEANUP(buf_done) struct buf out = BUF_INIT(2 * ARCHIVE_UNPACKED_MAX);
    struct chart_capabilities caps = *chart_capabilities_default();
    struct chart_log log = chart_flags_log(c);
    struct chart_lint_options o = { .capabilities = &caps, .log = &log, .values_arena = a };
    struct tally tally = { 0 };
    int r;

    memory_for_one_run();
    r = chart_flags_kube_version(c, a, &caps, err);
    if (r < 0)
        return r;
    collect_paths(c, &paths);
    o.ns = chart_flags_namespace(c, a);
    o.skip_schema_validation = cli_bool(c, "skip-schema-validation");
    r = chart_flags_values(c, a, &o.values, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < paths.n; i++)
        lint_one(c, paths.items[i], &o, &tally, &out);
    r = buf_check(&out, err);
    if (r < 0)
        return r;
    cli_write(c, buf_str(&out));
    return report(c, paths.n, &tally, err);
}

const struct cli_command cmd_lint = {
    .name = "lint",
    .usage = "PATH",
    .brief = "examine a chart for possible issues",
    .help = "Takes a path to a chart and runs a series of tests to verify that the chart is well-formed.\n\n"
            "[ERROR] is what will make an installation fail, [WARNING] what breaks with convention or "
            "recommendation,\n"
            "[INFO] what could be better. The checks and their words are those of helm lint.",
    .args_min = 1,
    .args_max = -1,
    .flags = flags,
    .helm_log = true,
    .run = run,
};

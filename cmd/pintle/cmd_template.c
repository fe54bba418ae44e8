/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/utf8.h"
#include "http/http.h"
#include "pintle/chart_flags.h"
#include "pintle/cluster.h"
#include "pintle/commands.h"
#include "pintle/template_job.h"
#include "template/template.h"

/* ---- flags that look at their values ---- */

/* Helm 4 takes post-renderers from plugins alone, and there are none here. */
static int check_post_renderer(struct cli *c, const char *text, struct err **err)
{
    UNUSED(c);
    if (!text[0])
        return 0;
    return err_set(err, ERRC_UNSUPPORTED, "plugin: {Name:%s Type:postrenderer/v1} not found", text);
}

/* As pflag's "stringToString": a text with one "=" is one pair, commas and all. */
static int check_labels(struct cli *c, const char *text, struct err **err)
{
    struct str rest = str_from(text), pair;
    const char *first = strchr(text, '=');

    UNUSED(c);
    if (first && !strchr(first + 1, '='))
        return 0;
    while (str_split(&rest, ',', &pair))
        if (str_find_char(pair, '=') == STR_NPOS)
            return err_set(err, ERRC_INVALID, STR_FMT " must be formatted as key=value",
                           STR_ARG(first ? pair : str_from(text)));
    return 0;
}

static int check_wait(struct cli *c, const char *text, struct err **err)
{
    static const char *const known[] = { "watcher", "hookOnly", "legacy" };
    bool yes = strcmp(text, "true") == 0;

    if (yes || strcmp(text, "false") == 0) {
        fprintf(
            c->errout,
            "level=WARN msg=\"--wait=%s is deprecated (boolean value) and can be replaced with --wait=%s\"\n",
            text, yes ? "watcher" : "hookOnly");
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(text, known[i]) == 0)
            return 0;
    return err_set(err, ERRC_INVALID,
                   "invalid wait input \"%s\". Valid inputs are watcher, hookOnly, and legacy", text);
}

static const struct cli_special post_renderer = { .check = check_post_renderer };
static const struct cli_special labels = { .type_name = "stringToString", .check = check_labels };
static const struct cli_special wait_strategy = { .check = check_wait };
static const struct cli_special as_dry_run = { .deprecated = "use '--dry-run=server' instead" };
static const struct cli_special as_force_replace = { .deprecated = "use --force-replace instead" };
static const struct cli_special as_rollback = { .deprecated = "use --rollback-on-failure instead" };
static const struct cli_special without_effect = {
    .deprecated = "this flag has no effect for 'helm template' and will be removed in Helm 5",
};

static const struct cli_flag flags[] = {
    VALUE_FLAGS,
    { "api-versions", 'a', CLI_LIST, NULL, NULL,
      "Kubernetes api versions used for Capabilities.APIVersions (multiple can be specified)", NULL },
    { "kube-version", 0, CLI_STRING, NULL, NULL, "Kubernetes version used for Capabilities.KubeVersion",
      NULL },
    { "include-crds", 0, CLI_BOOL, NULL, NULL, "include CRDs in the templated output", NULL },
    { "skip-crds", 0, CLI_BOOL, NULL, NULL, "if set, no CRDs will be installed", NULL },
    { "skip-tests", 0, CLI_BOOL, NULL, NULL, "skip tests from templated output", NULL },
    { "no-hooks", 0, CLI_BOOL, NULL, NULL, "prevent hooks from running during install", NULL },
    { "is-upgrade", 0, CLI_BOOL, NULL, NULL, "set .Release.IsUpgrade instead of .Release.IsInstall", NULL },
    { "show-only", 's', CLI_ARRAY, NULL, NULL, "only show manifests rendered from the given templates",
      NULL },
    { "output-dir", 0, CLI_STRING, NULL, NULL,
      "writes the executed templates to files in output-dir instead of stdout", NULL },
    { "release-name", 0, CLI_BOOL, NULL, NULL, "use release name in the output-dir path", NULL },
    { "generate-name", 'g', CLI_BOOL, NULL, NULL, "generate the name (and omit the NAME parameter)", NULL },
    { "name-template", 0, CLI_STRING, NULL, NULL, "specify template used to name the release", NULL },
    { "skip-schema-validation", 0, CLI_BOOL, NULL, NULL, "if set, disables JSON schema validation", NULL },
    { "enable-dns", 0, CLI_BOOL, NULL, NULL, "enable DNS lookups when rendering templates", NULL },
    { "dry-run", 0, CLI_STRING, "client", "unset",
      "\"client\": nothing is asked of a cluster; \"server\": lookups and checks against the cluster", NULL },
    { "validate", 0, CLI_BOOL, NULL, NULL, "the same as --dry-run=server (deprecated)", &as_dry_run },
    { "dependency-update", 0, CLI_BOOL, NULL, NULL, "update dependencies if they are missing", NULL },
    { "description", 0, CLI_STRING, NULL, NULL, "add a custom description", NULL },
    { "post-renderer", 0, CLI_STRING, NULL, NULL, "a program that changes what was rendered",
      &post_renderer },
    { "post-renderer-args", 0, CLI_ARRAY, NULL, NULL, "an argument to the post-renderer", NULL },
    { "labels", 'l', CLI_ARRAY, NULL, NULL, "labels that would be added to release metadata", &labels },
    CLI_FLAGS_END,
};

/* Flags of `helm install` that change nothing here; they are taken so that a command line can be reused. */
static const struct cli_flag install_flags[] = {
    CHART_PATH_FLAGS,
    { "create-namespace", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "disable-openapi-validation", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "force", 0, CLI_BOOL, NULL, NULL, "no effect here (deprecated)", &as_force_replace },
    { "force-conflicts", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "force-replace", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "atomic", 0, CLI_BOOL, NULL, NULL, "no effect here (deprecated)", &as_rollback },
    { "rollback-on-failure", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "replace", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "server-side", 0, CLI_BOOL, "true", NULL, "no effect here", NULL },
    { "take-ownership", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "timeout", 0, CLI_DURATION, "5m0s", NULL, "no effect here", NULL },
    { "wait", 0, CLI_STRING, "hookOnly", "watcher", "no effect here", &wait_strategy },
    { "wait-for-jobs", 0, CLI_BOOL, NULL, NULL, "no effect here", NULL },
    { "hide-notes", 0, CLI_BOOL, NULL, NULL, "no effect here (deprecated)", &without_effect },
    { "render-subchart-notes", 0, CLI_BOOL, NULL, NULL, "no effect here (deprecated)", &without_effect },
    CLI_FLAGS_END,
};

static void job_done(struct template_job *j)
{
    template_server_done(&j->server);
    chart_rendered_free(j->rendered);
    chart_unref(j->chart);
    arena_free(j->arena);
    map_done(&j->written);
}
DEFINE_CLEANUP_VALUE(struct template_job, job_done)

/* ---- flags that need each other ---- */

static int check_exclusive(const struct cli *c, const char *a, const char *b, struct err **err)
{
    const char *first = strcmp(a, b) < 0 ? a : b, *second = first == a ? b : a;

    if (!cli_given(c, a) || !cli_given(c, b))
        return 0;
    return err_set(
        err, ERRC_INVALID,
        "if any flags in the group [%s %s] are set none of the others can be; [%s %s] were all set", a, b,
        first, second);
}

/* strconv.ParseBool() */
static bool parse_bool(const char *s, bool *ret)
{
    static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
    static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };

    for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
        if (strcmp(s, yes[i]) == 0 || strcmp(s, no[i]) == 0) {
            *ret = strcmp(s, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static int check_dry_run(struct template_job *j, struct err **err)
{
    const char *v = cli_string(j->c, "dry-run");
    bool on = false;

    j->on_server = cli_bool(j->c, "validate") || strcmp(v, "server") == 0;
    if (j->on_server || strcmp(v, "client") == 0)
        return 0;
    if (strcmp(v, "unset") == 0) {
        fprintf(
            j->c->errout,
            "level=WARN msg=\"--dry-run is deprecated and should be replaced with '--dry-run=client'\"\n");
        return 0;
    }
    if (strcmp(v, "none") != 0 && !parse_bool(v, &on))
        return err_set(err, ERRC_INVALID,
                       "invalid dry-run value (\"%s\"). Must be \"none\", \"server\", or \"client\"", v);
    if (!on)
        return err_set(err, ERRC_INVALID, "invalid dry-run value (\"%s\"). Must be \"server\" or \"client\"",
                       v);
    fprintf(j->c->errout,
            "level=WARN msg=\"boolean '--dry-run=%s' flag is deprecated and must be replaced with "
            "'--dry-run=client'\"\n",
            v);
    return 0;
}

static int read_capabilities(struct template_job *j, struct err **err)
{
    size_t n;
    const char *const *more = cli_list(j->c, "api-versions", &n);
    struct str *all;
    int r;

    j->caps = *chart_capabilities_default();
    r = chart_flags_kube_version(j->c, j->arena, &j->caps, err);
    if (r < 0)
        return r;
    all = ARENA_ARRAY(j->arena, struct str, j->caps.n_api_versions + n);
    memcpy(all, j->caps.api_versions, j->caps.n_api_versions * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[j->caps.n_api_versions + i] = str_from(more[i]);
    j->caps.api_versions = all;
    j->caps.n_api_versions += n;
    return 0;
}

/* ---- the release's name ---- */

static int render_name(struct template_job *j, const char *text, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new_sprig();
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(64 * KIB);
    int r;

    r = tpl_set_add(set, STR("name-template"), str_from(text), err);
    if (r < 0)
        return r;
    run = tpl_run_new(set, NULL);
    r = tpl_render(run, STR("name-template"), VALUE_NONE, &out, err);
    if (r >= 0)
        j->name = arena_dup(j->arena, buf_str(&out));
    return r;
}

/* NameAndChart(): without a name it is "release-name", with --generate-name too, as in Helm. */
static int read_name(struct template_job *j, struct err **err)
{
    const struct cli *c = j->c;
    const char *name_template = cli_string(c, "name-template");
    CLEANUP(buf_done) struct buf rest = BUF_INIT(64 * KIB);

    chart_flags_log_version(j->c, "Original chart version", NULL);
    if (c->n_args > 2) {
        for (size_t i = 2; i < c->n_args; i++)
            buf_addf(&rest, "%s%s", i > 2 ? ", " : "", c->args[i]);
        return err_set(err, ERRC_INVALID, "expected at most two arguments, unexpected arguments: %s",
                       buf_z(&rest));
    }
    j->chart_path = c->args[c->n_args - 1];
    if (c->n_args == 2) {
        j->name = str_from(c->args[0]);
        if (cli_bool(c, "generate-name"))
            return err_set(err, ERRC_INVALID, "cannot set --generate-name and also specify a name");
        if (name_template[0])
            return err_set(err, ERRC_INVALID, "cannot set --name-template and also specify a name");
        return 0;
    }
    if (name_template[0])
        return render_name(j, name_template, err);
    j->name = STR("release-name");
    return 0;
}

/* ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ */
static bool is_release_name(struct str s)
{
    if (s.n == 0 || s.n > 53)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';
        bool alnum = (ch >= 'a' && ch <= 'z') || ascii_is_digit(ch);

        if (!alnum && ((ch != '-' && ch != '.') || edge))
            return false;
    }
    return true;
}

static int check_name(struct template_job *j, struct err **err)
{
    static const char rule[] =
        "invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]("
        "[-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53";
    CLEANUP(buf_done)
    struct buf quoted = BUF_INIT(64 * KIB), text = BUF_INIT(64 * KIB), logged = BUF_INIT(64 * KIB);

    if (is_release_name(j->name))
        return 0;
    utf8_quote(j->name, &quoted);
    if (j->name.n == 0)
        buf_addf(&text, "release name %s: no name provided", buf_z(&quoted));
    else
        buf_addf(&text, "release name %s: %s", buf_z(&quoted), rule);
    utf8_quote(buf_str(&text), &logged);
    fprintf(j->c->errout, "level=ERROR msg=\"release name check failed\" error=%s\n", buf_z(&logged));
    return err_set(err, ERRC_INVALID, "release name check failed: %s", buf_z(&text));
}

/* ---- loading and rendering ---- */

/* With --dependency-update what is missing is fetched into the chart's folder, which is read again. */
static int check_dependencies(struct template_job *j, const struct chart_found *found, struct err **err)
{
    struct err *missing = NULL;
    int r = chart_check_dependencies(j->chart, &missing);

    if (r < 0 && cli_bool(j->c, "dependency-update") && found->path) {
        err_free(TAKE(missing));
        r = chart_flags_dependencies(j->c, found->path, dependency_update, 0, err);
        if (r < 0)
            return r;
        j->chart = chart_unref(j->chart);
        r = chart_found_load_to_render(found, &j->log, &j->chart, err);
        return r < 0 ? err_wrap(err, r, "failed reloading chart after repo update") : 0;
    }
    if (r < 0 && err)
        *err = TAKE(missing);
    err_free(missing);
    return r < 0 ? err_wrap(
                       err, r,
                       "an error occurred while checking for chart dependencies. You may need to run 'helm "
                       "dependency build' to fetch missing dependencies")
                 : 0;
}

static void log_path(const struct template_job *j, const char *path)
{
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB);

    if (!path)
        return;
    chart_log_attr(&attrs, "path", str_from(path));
    chart_log_debug(&j->log, buf_z(&attrs), "Chart path");
}

static int load(struct template_job *j, struct err **err)
{
    CLEANUP(chart_found_done) struct chart_found found = { 0 };
    int r;

    r = chart_flags_locate(j->c, j->chart_path, &found, err);
    if (r < 0)
        return r;
    log_path(j, found.path);
    r = chart_flags_values(j->c, j->arena, &j->values, err);
    if (r >= 0)
        r = chart_found_load_to_render(&found, &j->log, &j->chart, err);
    if (r >= 0)
        r = chart_check_installable(j->chart, err);
    if (r < 0)
        return r;
    if (chart_metadata(j->chart)->deprecated)
        fprintf(j->c->errout, "level=WARN msg=\"this chart is deprecated\"\n");
    return check_dependencies(j, &found, err);
}

/* Helm has a release by then, which --debug shows although its YAML is broken. */
int template_failed(struct template_job *j, const struct buf *broken, int r, struct err **err)
{
    CLEANUP(err_free) struct err *cause = NULL;

    if (r != -ERRC_TEMPLATE || !err)
        return r;
    if (cli_bool(j->c, "debug")) {
        cli_write(j->c, broken ? str_trim(buf_str(broken)) : STR(""));
        cli_write(j->c, STR("\n"));
        return r;
    }
    cause = TAKE(*err);
    return err_set(err, ERRC_TEMPLATE, "%s\n\nUse --debug flag to render out invalid YAML",
                   err_message(cause));
}

/* --show-only looks for files in the text as a whole; otherwise its parts are written where they are. */
static bool needs_text(const struct cli *c)
{
    size_t n;

    return cli_string(c, "output-dir")[0] == '\0' && cli_list(c, "show-only", &n);
}

/* A name without an address makes sprig ask for a random one of none. */
static int resolve_host(void *ctx, struct arena *a, struct str host, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf address = BUF_INIT(KIB);

    UNUSED(ctx);
    if (http_resolve(host, HTTP_CONNECT_MS, &address, NULL) < 0)
        return err_set(err, ERRC_TEMPLATE, "invalid argument to Intn");
    *ret = arena_dup(a, buf_str(&address));
    return 0;
}

static int reach(struct template_job *j, struct err **err)
{
    return j->on_server ? template_server_connect(j->c, j->arena, &j->server, err) : 0;
}

static int render(struct template_job *j, struct err **err)
{
    CLEANUP(buf_done) struct buf broken = BUF_INIT(2 * TEMPLATE_OUTPUT_MAX);
    const struct chart_render_options o = {
        .release_name = j->name,
        .ns = chart_flags_namespace(j->c, j->arena),
        .revision = 1,
        .is_upgrade = cli_bool(j->c, "is-upgrade"),
        .capabilities = &j->caps,
        .log = &j->log,
        .lookup = j->on_server ? template_server_lookup : NULL,
        .lookup_ctx = &j->server,
        .resolve = cli_bool(j->c, "enable-dns") ? resolve_host : NULL,
        .skip_schema_validation = cli_bool(j->c, "skip-schema-validation"),
        .include_crds = cli_bool(j->c, "include-crds"),
        .keep_objects = j->on_server,
        .no_text = !needs_text(j->c),
    };
    int r = j->on_server ? template_server_prepare(&j->server, j->chart, j->values, &j->caps, err) : 0;

    if (r < 0)
        return r;
    r = chart_render(j->chart, j->values, &o, cli_bool(j->c, "debug") ? &broken : NULL, &j->rendered, err);
    if (r < 0)
        return template_failed(j, &broken, r, err);
    return j->on_server ? template_server_check(&j->server, j->rendered, &o, err) : 0;
}

static int run_job(struct template_job *j, struct err **err)
{
    int (*const steps[])(struct template_job *,
                         struct err **) = { read_capabilities, check_dry_run, read_name,     load, reach,
                                            check_name,        render,        template_print };
    int r;

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        r = steps[i](j, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int run(struct cli *c, struct err **err)
{
    CLEANUP(job_done) struct template_job j = { .c = c, .log = chart_flags_log(c), .written = MAP_INIT };
    int r;

    memory_for_one_run();
    r = check_exclusive(c, "force", "force-conflicts", err);
    if (r >= 0)
        r = check_exclusive(c, "force-replace", "force-conflicts", err);
    if (r >= 0)
        r = check_exclusive(c, "validate", "dry-run", err);
    if (r < 0)
        return r;
    j.arena = arena_new(VALUES_MEMORY_MAX + 2 * TEMPLATE_OUTPUT_MAX);
    return run_job(&j, err);
}

const struct cli_command cmd_template = {
    .name = "template",
    .usage = "[NAME] [CHART]",
    .brief = "locally render templates",
    .help =
        "Renders a chart's templates and prints what would be applied, byte for byte as helm template "
        "does.\n\n"
        "Nothing is asked of a cluster: `lookup` finds nothing, and the versions that the chart may ask "
        "for are\n"
        "those of --kube-version and --api-versions. With --dry-run=server lookups and versions come from "
        "the\n"
        "cluster, which has to know the kinds and must not have the objects yet.",
    .args_min = 1,
    .args_max = -1,
    .flags = flags,
    .more_flags = install_flags,
    .helm_log = true,
    .run = run,
};

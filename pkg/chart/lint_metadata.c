/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "chart/lint_int.h"
#include "schema/schema.h"
#include "semver/semver.h"
#include "yaml/yaml.h"

/* Chart.yaml and values.yaml: helm's rules/chartfile.go and rules/values.go, in their order. */

#define CHART_YAML STR("Chart.yaml")
#define VALUES_YAML STR("values.yaml")

static void error(struct lint *l, struct str text)
{
    lint_say(l, CHART_LINT_ERROR, CHART_YAML, STR_FMT, STR_ARG(text));
}

/* What Go's %T says of a value that was decoded into an interface. */
static const char *go_type(struct value v)
{
    switch (v.kind) {
    case VALUE_NULL:
        return "<nil>";
    case VALUE_BOOL:
        return "bool";
    case VALUE_LIST:
        return "[]interface {}";
    case VALUE_MAP:
        return "map[string]interface {}";
    default:
        return "float64";
    }
}

static void check_is_string(struct lint *l, struct value all, struct str key)
{
    struct value v = value_get(all, key);

    if (value_has(all, key) && !value_is_string(v))
        lint_say(l, CHART_LINT_ERROR, CHART_YAML, STR_FMT " should be of type string but it's of type %s",
                 STR_ARG(key), go_type(v));
}

static void check_name(struct lint *l, const struct metadata *md)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(MIB);

    if (md->name.n == 0) {
        error(l, STR("name is required"));
    } else if (str_find_char(md->name, '/') != STR_NPOS && !str_eq(md->name, STR("/"))) {
        utf8_quote(md->name, &quoted);
        lint_say(l, CHART_LINT_ERROR, CHART_YAML, "chart name %s is invalid", buf_z(&quoted));
    }
}

static bool is_v2(const struct metadata *md)
{
    return str_eq(md->api_version, STR("v2"));
}

static void check_api_version(struct lint *l, const struct metadata *md)
{
    if (md->api_version.n == 0)
        error(l, STR("apiVersion is required. The value must be either \"v1\" or \"v2\""));
    else if (!str_eq(md->api_version, STR("v1")) && !is_v2(md))
        lint_say(l, CHART_LINT_ERROR, CHART_YAML,
                 "apiVersion '" STR_FMT "' is not valid. The value must be either \"v1\" or \"v2\"",
                 STR_ARG(md->api_version));
}

static void check_version(struct lint *l, const struct metadata *md)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *above_zero = NULL;
    CLEANUP(buf_done) struct buf why = BUF_INIT(64 * KIB);
    struct semver v;
    struct str rest, line;

    if (md->version.n == 0) {
        error(l, STR("version is required"));
        return;
    }
    if (semver_parse(md->version, &v, NULL) < 0) {
        lint_say(l, CHART_LINT_ERROR, CHART_YAML, "version '" STR_FMT "' is not a valid SemVer",
                 STR_ARG(md->version));
        return;
    }
    if (semver_constraint_parse(STR(">0.0.0-0"), &above_zero, NULL) < 0 ||
        semver_constraint_validate(above_zero, &v, &why))
        return;
    rest = buf_str(&why);
    if (str_split(&rest, '\n', &line))
        lint_say(l, CHART_LINT_ERROR, CHART_YAML, "version " STR_FMT, STR_ARG(line));
}

/* The first fault ends the check. */
static void check_maintainers(struct lint *l, const struct metadata *md)
{
    for (size_t i = 0; i < md->n_maintainers; i++) {
        const struct metadata_maintainer *m = &md->maintainers[i];

        if (m->is_null) {
            error(l, STR("a maintainer entry is empty"));
            return;
        }
        if (m->name.n == 0) {
            error(l, STR("each maintainer requires a name"));
            return;
        }
        if (m->email.n > 0 && !lint_is_email(m->email)) {
            lint_say(l, CHART_LINT_ERROR, CHART_YAML,
                     "invalid email '" STR_FMT "' for maintainer '" STR_FMT "'", STR_ARG(m->email),
                     STR_ARG(m->name));
            return;
        }
        if (m->url.n > 0 && !lint_is_url(m->url)) {
            lint_say(l, CHART_LINT_ERROR, CHART_YAML,
                     "invalid url '" STR_FMT "' for maintainer '" STR_FMT "'", STR_ARG(m->url),
                     STR_ARG(m->name));
            return;
        }
    }
}

static void check_sources(struct lint *l, const struct metadata *md)
{
    for (size_t i = 0; i < md->sources.n; i++)
        if (!lint_is_request_url(md->sources.items[i])) {
            lint_say(l, CHART_LINT_ERROR, CHART_YAML, "invalid source URL '" STR_FMT "'",
                     STR_ARG(md->sources.items[i]));
            return;
        }
}

static void check_icon(struct lint *l, const struct metadata *md)
{
    if (md->icon.n == 0)
        lint_say(l, CHART_LINT_INFO, CHART_YAML, "icon is recommended");
    else if (!lint_is_request_url(md->icon))
        lint_say(l, CHART_LINT_ERROR, CHART_YAML, "invalid icon URL '" STR_FMT "'", STR_ARG(md->icon));
}

static void check_v2_fields(struct lint *l, const struct metadata *md)
{
    if (is_v2(md))
        return;
    if (md->type.n > 0)
        lint_say(l, CHART_LINT_ERROR, CHART_YAML,
                 "chart type is not valid in apiVersion '" STR_FMT "'. It is valid in apiVersion 'v2'",
                 STR_ARG(md->api_version));
    if (md->n_dependencies > 0)
        lint_say(l, CHART_LINT_ERROR, CHART_YAML,
                 "dependencies are not valid in the Chart file with apiVersion '" STR_FMT
                 "'. They are valid in apiVersion 'v2'",
                 STR_ARG(md->api_version));
}

static void check_fields(struct lint *l, const struct metadata *md, struct value generic)
{
    struct semver v;

    check_name(l, md);
    check_api_version(l, md);
    check_is_string(l, generic, STR("version"));
    check_version(l, md);
    check_is_string(l, generic, STR("appVersion"));
    check_maintainers(l, md);
    check_sources(l, md);
    check_icon(l, md);
    check_v2_fields(l, md);
    if (semver_parse_strict(md->version, &v, NULL) < 0)
        lint_say(l, CHART_LINT_WARNING, CHART_YAML, "version '" STR_FMT "' is not a valid SemVerV2",
                 STR_ARG(md->version));
}

/* Helm would wait for ever for a pipe that somebody put in a chart's place. */
static int read_chart_file(const char *path, struct buf *out, struct err **err)
{
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return err_set(err, ERRC_INVALID, "cannot load irregular file %s as it has file mode type bits set",
                       path);
    return fs_read_path(path, out, err);
}

static void lint_chart_yaml(struct lint *l, struct arena *a)
{
    static const struct yml_options floats = { .floats = true };
    CLEANUP(free_ptr) char *path = fs_join(l->dir, "Chart.yaml");
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX);
    struct metadata md = { 0 }, strict = { 0 };
    struct value generic = VALUE_NONE;
    struct err *err = NULL;
    int r;

    if (fs_is_dir(path))
        error(l, STR("should be a file, not a directory"));
    r = read_chart_file(path, &text, &err);
    if (r >= 0)
        r = metadata_parse(a, buf_str(&text), &md, &err);
    if (!lint_passed(l, CHART_LINT_ERROR, CHART_YAML, "unable to parse YAML\n\t", r, &err))
        return;
    r = metadata_parse_strict(a, buf_str(&text), &strict, &err);
    lint_passed(l, CHART_LINT_WARNING, CHART_YAML, "failed to strictly parse chart metadata file\n\t", r,
                &err);
    IGNORE_ERROR(yml_parse(a, buf_str(&text), &floats, &generic, NULL));
    check_fields(l, &md, generic);
}

/* ---- values.yaml ---- */

/* yaml.Unmarshal() into common.Values: the first document alone. */
static int parse_values(struct arena *a, struct str text, struct value *ret, struct err **err)
{
    static const struct yml_options floats = { .floats = true };
    int r = yml_parse(a, text, &floats, ret, err);

    if (r < 0)
        return r;
    if (value_is_null(*ret))
        *ret = value_new_map(a);
    if (value_is_map(*ret))
        return 0;
    return err_set(err, ERRC_PARSE,
                   "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go value of "
                   "type common.Values",
                   metadata_json_kind(*ret));
}

static int check_schema(struct lint *l, struct value values, struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(l->dir, "values.schema.json");
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX), report = BUF_INIT(SCHEMA_REPORT_MAX);
    CLEANUP(schema_free) struct schema *schema = NULL;
    int r;

    if (l->o->skip_schema_validation || read_chart_file(path, &text, NULL) < 0 || text.n == 0)
        return 0;
    chart_log_schema(l->o->log, buf_str(&text));
    r = schema_compile(buf_str(&text), &schema, err);
    if (r >= 0)
        r = schema_validate(schema, values, &report, err);
    return r > 0 ? err_set(err, ERRC_SCHEMA, "%s", buf_z(&report)) : r;
}

static int check_values(struct lint *l, const char *path, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX);
    struct arena *a = l->o->values_arena;
    struct coalesce c = { .arena = a, .log = l->o->log };
    struct value own, values;
    int r = read_chart_file(path, &text, err);

    if (r >= 0)
        r = parse_values(a, arena_dup(a, buf_str(&text)), &own, err);
    if (r < 0)
        return err_wrap(err, r, "unable to parse YAML");
    values = chart_coalesce_tables(&c, value_new_map(a), l->o->values);
    return check_schema(l, chart_coalesce_tables(&c, values, own), err);
}

static void lint_values(struct lint *l)
{
    CLEANUP(free_ptr) char *path = fs_join(l->dir, "values.yaml");
    struct err *err = NULL;
    struct stat st;
    int r;

    if (stat(path, &st) < 0) {
        lint_say(l, CHART_LINT_INFO, VALUES_YAML, "file does not exist");
        return;
    }
    r = check_values(l, path, &err);
    lint_passed(l, CHART_LINT_ERROR, VALUES_YAML, "", r, &err);
}

void lint_metadata(struct lint *l)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);

    lint_chart_yaml(l, a);
    lint_values(l);
}

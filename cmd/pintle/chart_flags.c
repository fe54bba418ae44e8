/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/chart_flags.h"

#include "base/fs.h"
#include "base/utf8.h"

static void print_line(void *ctx, struct str text)
{
    struct cli *c = ctx;

    fprintf(c->errout, STR_FMT "\n", STR_ARG(text));
}

struct chart_log chart_flags_log(struct cli *c)
{
    return (struct chart_log){ .line = print_line, .ctx = c };
}

void chart_flags_deprecated(struct cli *c, const char *flag, const char *text)
{
    if (cli_given(c, flag))
        fprintf(c->errout, "Flag --%s has been deprecated, %s\n", flag, text);
}

int chart_flags_values(const struct cli *c, struct arena *a, struct value *ret, struct err **err)
{
    struct chart_value_sources s = { 0 };

    s.files = cli_list(c, "values", &s.n_files);
    s.set = cli_list(c, "set", &s.n_set);
    s.set_string = cli_list(c, "set-string", &s.n_set_string);
    s.set_file = cli_list(c, "set-file", &s.n_set_file);
    s.set_json = cli_list(c, "set-json", &s.n_set_json);
    s.set_literal = cli_list(c, "set-literal", &s.n_set_literal);
    return chart_values_collect(a, &s, ret, err);
}

static bool is_remote(struct str name)
{
    return str_has_prefix(name, STR("oci://")) || str_has_prefix(name, STR("http://")) ||
           str_has_prefix(name, STR("https://"));
}

static int not_here(struct str name, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT((size_t)64 * 1024);

    if (is_remote(name))
        return err_set(err, ERRC_UNSUPPORTED,
                       "chart " STR_FMT
                       ": this command takes charts from folders and archives only; download it first",
                       STR_ARG(name));
    if (name.n > 0 && (name.p[0] == '/' || name.p[0] == '.')) {
        utf8_quote(name, &quoted);
        return err_set(err, ERRC_NOT_FOUND, "path %s not found", buf_z(&quoted));
    }
    if (str_find_char(name, '/') == STR_NPOS)
        return err_set(err, ERRC_NOT_FOUND,
                       "non-absolute URLs should be in form of repo_name/path_to_chart, got: " STR_FMT,
                       STR_ARG(name));
    return err_set(err, ERRC_NOT_FOUND, "repo " STR_FMT " not found",
                   STR_ARG(str_sub(name, 0, str_find_char(name, '/'))));
}

int chart_flags_locate(const struct cli *c, const char *name, struct err **err)
{
    struct str trimmed = str_trim(str_from(name));
    CLEANUP(free_ptr) char *path = str_dup(trimmed);

    if (cli_string(c, "repo")[0])
        return err_set(
            err, ERRC_UNSUPPORTED,
            "--repo: this command takes charts from folders and archives only; download the chart first");
    if (!fs_exists(path))
        return not_here(trimmed, err);
    if (cli_bool(c, "verify"))
        return err_set(err, ERRC_UNSUPPORTED, "--verify: provenance files are not checked by this command");
    return 0;
}

int chart_flags_load(struct cli *c, const char *name, const struct chart_log *log, struct chart **ret,
                     struct err **err)
{
    CLEANUP(free_ptr) char *path = str_dup(str_trim(str_from(name)));
    int r = chart_flags_locate(c, name, err);

    return r < 0 ? r : chart_load(path, log, ret, err);
}

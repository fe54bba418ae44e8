/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/limits.h"
#include "pintle/commands.h"
#include "template/template.h"

#define HELM_VERSION "v4.2.4"     /* whose bytes and records these are */
#define HELM_KUBE_VERSION "v1.36" /* of the client that it is built with */

static const struct cli_flag flags[] = {
    { "output", 'o', CLI_STRING, NULL, NULL, "\"json\" or \"yaml\" instead of text", NULL },
    { "short", 0, CLI_BOOL, NULL, NULL, "print the version number", NULL },
    { "template", 0, CLI_STRING, NULL, NULL, "template for version string format", NULL },
    CLI_FLAGS_END,
};

/* The fields are those of helm's version.BuildInfo, so that what asks helm may ask pintle. */
static int print_template(struct cli *c, const char *text, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new_sprig();
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    const struct tpl_env env = { .strict = true };
    struct value info;
    int r = tpl_set_add(set, STR("_"), str_from(text), err);

    if (r < 0)
        return r;
    run = tpl_run_new(set, &env);
    info = value_new_map(tpl_run_arena(run));
    value_setz(info, "Version", VALUE_STR("v" PINTLE_VERSION));
    value_setz(info, "GitCommit", VALUE_STR(""));
    value_setz(info, "GitTreeState", VALUE_STR(""));
    value_setz(info, "GoVersion", VALUE_STR(""));
    value_setz(info, "KubeClientVersion", VALUE_STR(HELM_KUBE_VERSION));
    value_setz(info, "HelmVersion", VALUE_STR(HELM_VERSION));
    r = tpl_render(run, STR("_"), info, &out, err);
    if (r >= 0)
        cli_write(c, buf_str(&out));
    return r;
}

static int run(struct cli *c, struct err **err)
{
    const char *output = cli_string(c, "output"), *template = cli_string(c, "template");

    if (template[0])
        return print_template(c, template, err);
    if (strcmp(output, "json") == 0)
        cli_printf(c, "{\n  \"version\": \"v%s\",\n  \"helm\": \"%s\",\n  \"compiler\": \"%s\"\n}\n",
                   PINTLE_VERSION, HELM_VERSION, __VERSION__);
    else if (strcmp(output, "yaml") == 0)
        cli_printf(c, "version: v%s\nhelm: %s\ncompiler: %s\n", PINTLE_VERSION, HELM_VERSION, __VERSION__);
    else if (output[0])
        return err_set(err, ERRC_INVALID, "--output must be 'yaml' or 'json'");
    else if (cli_bool(c, "short"))
        cli_printf(c, "v%s\n", PINTLE_VERSION);
    else
        cli_printf(c, "pintle v%s (renders and records as helm %s)\n", PINTLE_VERSION, HELM_VERSION);
    return 0;
}

const struct cli_command cmd_version = {
    .name = "version",
    .brief = "print the version",
    .help =
        "Prints the version. A --template may use .Version, .KubeClientVersion and .HelmVersion (whose "
        "output and records\n"
        "pintle's are); .GitCommit, .GitTreeState and .GoVersion are there for helm's templates, and empty.",
    .flags = flags,
    .run = run,
};

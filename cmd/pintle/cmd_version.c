/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pintle/commands.h"

#define HELM_VERSION "v4.2.4" /* whose bytes and records these are */

static const struct cli_flag flags[] = {
    { "output", 'o', CLI_STRING, NULL, NULL, "\"json\" or \"yaml\" instead of text", NULL },
    { "short", 0, CLI_BOOL, NULL, NULL, "print the version number", NULL },
    CLI_FLAGS_END,
};

static int run(struct cli *c, struct err **err)
{
    const char *output = cli_string(c, "output");

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
    .flags = flags,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/commands.h"

static int run(struct cli *c, struct err **err)
{
    const struct cli_command *cmd = NULL;

    for (size_t i = 0; i < c->n_args; i++) {
        cmd = cli_find_command(c, cmd ? cmd->name : NULL, str_from(c->args[i]));
        if (!cmd)
            return err_set(err, ERRC_INVALID, "unknown help topic \"%s\"", c->args[i]);
    }
    cli_help(c, cmd);
    return 0;
}

const struct cli_command cmd_help = {
    .name = "help",
    .usage = "[command]",
    .brief = "help about any command",
    .args_max = 2,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/cli.h"
#include "pintle/commands.h"

#define X(name) &cmd_##name,
static const struct cli_command *const commands[] = { COMMANDS(X) };
#undef X

int main(int argc, char **argv)
{
    struct cli c = {
        .out = stdout, .errout = stderr, .commands = commands, .n_commands = ARRAY_SIZE(commands)
    };

    return cli_main(&c, argc, (const char *const *)argv);
}

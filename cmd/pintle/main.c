/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "pintle/cli.h"
#include "pintle/commands.h"

#define X(name) &cmd_##name,
static const struct cli_command *const commands[] = { COMMANDS(X) };
#undef X

int main(int argc, char **argv)
{
    static char buffer[64 * 1024]; /* stdio writes pages one by one where this is not asked for */
    struct cli c = {
        .out = stdout, .errout = stderr, .commands = commands, .n_commands = ARRAY_SIZE(commands)
    };

    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    return cli_main(&c, argc, (const char *const *)argv);
}

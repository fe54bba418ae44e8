/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/commands.h"

static int run(struct cli *c, struct err **err)
{
    if (!cli_completion(c, str_from(c->args[0])))
        return err_set(err, ERRC_INVALID, "unknown shell \"%s\": bash, zsh and fish are known", c->args[0]);
    return 0;
}

const struct cli_command cmd_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .brief = "print a completion script for a shell",
    .help = "Print a completion script for a shell: commands, flags and, where neither fits, file names.\n"
            "\n"
            "  bash:  source <(pintle completion bash)\n"
            "  zsh:   pintle completion zsh > \"${fpath[1]}/_pintle\"\n"
            "  fish:  pintle completion fish > ~/.config/fish/completions/pintle.fish\n",
    .args_min = 1,
    .args_max = 1,
    .run = run,
};

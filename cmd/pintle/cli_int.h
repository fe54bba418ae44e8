/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* cli_int: what cli.c and cli_help.c share. */
#include "pintle/cli.h"

char *cli_command_path(const struct cli_command *command) NODISCARD; /* "pintle repo index"; owned */
char *cli_command_usage(const struct cli_command *command)
    NODISCARD; /* "pintle show chart CHART [flags]"; owned */
/* The error for a word that names no command of c->command (NULL: of the program), with similar names. */
int cli_unknown_command(const struct cli *c, const char *word, struct err **err);

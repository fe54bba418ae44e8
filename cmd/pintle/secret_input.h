/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* secret_input: names and passwords from standard input. */
#include "base/buf.h"
#include "pintle/cli.h"

/* One line behind a prompt; the terminal shows nothing of a secret. INVALID "EOF". */
NODISCARD int secret_input_line(struct cli *c, const char *prompt, bool secret, struct buf *out,
                                struct err **err);
/* All of standard input without its last newline. */
NODISCARD int secret_input_stdin(struct buf *out, struct err **err);

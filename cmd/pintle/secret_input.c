/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/secret_input.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

#include "base/fs.h"

int secret_input_line(struct cli *c, const char *prompt, bool secret, struct buf *out, struct err **err)
{
    struct termios before, silent;
    bool is_terminal = secret && tcgetattr(STDIN_FILENO, &before) == 0;
    ssize_t n;
    char ch;

    cli_printf(c, "%s", prompt);
    fflush(c->out);
    if (is_terminal) {
        silent = before;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    while ((n = read(STDIN_FILENO, &ch, 1)) > 0 && ch != '\n')
        buf_addc(out, ch);
    if (is_terminal)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    if (n == 0 && out->n == 0)
        return err_set(err, ERRC_INVALID, "EOF");
    if (secret)
        cli_printf(c, "\n");
    return n < 0 ? err_errno(err, errno, "standard input") : buf_check(out, err);
}

int secret_input_stdin(struct buf *out, struct err **err)
{
    int r = fs_read_file("-", out, err);
    struct str text = str_trim_suffix(str_trim_suffix(buf_str(out), STR("\n")), STR("\r"));

    buf_truncate(out, text.n);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "chart/chart_int.h"

#define LINE_MAX_BYTES (8 * ARCHIVE_FILE_MAX) /* a schema, quoted */

/* slog's needsQuoting(): text that would not read back as one word. */
static bool needs_quotes(struct str s)
{
    if (s.n == 0)
        return true;
    for (size_t i = 0; i < s.n;) {
        uint32_t r;
        size_t width = utf8_decode(str_sub(s, i, s.n), &r);

        if (r == UTF8_INVALID || r == ' ' || r == '"' || r == '=' || !utf8_is_print(r))
            return true;
        i += width;
    }
    return false;
}

void chart_log_attr(struct buf *out, const char *name, struct str value)
{
    if (out->n > 0)
        buf_addc(out, ' ');
    buf_addf(out, "%s=", name);
    if (needs_quotes(value))
        utf8_quote(value, out);
    else
        buf_addstr(out, value);
}

void chart_log_line(const struct chart_log *log, const char *level, const char *attrs, const char *fmt, ...)
{
    CLEANUP(buf_done) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    char *text = NULL;
    va_list args;
    int n;

    if (!log || !log->line)
        return;
    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    chart_log_attr(&line, "level", str_from(level));
    chart_log_attr(&line, "msg", (struct str){ text, (size_t)n });
    free(text);
    if (attrs[0])
        buf_addf(&line, " %s", attrs);
    log->line(log->ctx, buf_str(&line));
}

void chart_log_debug(const struct chart_log *log, const char *attrs, const char *text)
{
    if (log && log->debug)
        chart_log_line(log, "DEBUG", attrs, "%s", text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/check.h"

#define ROWS_FILE_MAX ((size_t)64 << 20)

void rows_open(struct rows *r, const char *path)
{
    *r = (struct rows){ .text = BUF_INIT(ROWS_FILE_MAX) };
    check_read_data(path, &r->text);
    r->rest = buf_str(&r->text);
    r->decoded = xmalloc(r->text.n + 1);
}

static int hex(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static struct str decode(struct str s, char *to)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 3 < s.n) {
            to[n++] = (char)(hex(s.p[i + 2]) * 16 + hex(s.p[i + 3]));
            i += 3;
        } else {
            to[n++] = s.p[i];
        }
    }
    to[n] = '\0';
    return (struct str){ to, n };
}

bool rows_next(struct rows *r, struct row *ret)
{
    struct str line, field;
    char *to = r->decoded;

    do {
        if (!str_split(&r->rest, '\n', &line))
            return false;
        r->line++;
    } while (line.n == 0 || line.p[0] == '#');
    *ret = (struct row){ .n = 0 };
    snprintf(ret->name, sizeof(ret->name), "line %zu", r->line);
    while (ret->n < ROW_FIELDS_MAX && str_split(&line, '\t', &field)) {
        ret->field[ret->n] = decode(field, to);
        to += ret->field[ret->n++].n + 1;
    }
    return true;
}

void rows_done(struct rows *r)
{
    buf_done(&r->text);
    free(r->decoded);
    r->decoded = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/chart_int.h"

static int check_separator(struct str line, struct err **err)
{
    struct str tail = str_trim(str_sub(line, 3, line.n));

    if (tail.n > 0 && tail.p[0] != '#')
        return err_set(err, ERRC_PARSE, "invalid Yaml document separator: " STR_FMT, STR_ARG(tail));
    return 0;
}

int chart_next_document(struct str *text, struct buf *document, struct err **err)
{
    struct str line;

    buf_clear(document);
    while (text->n > 0 && str_split(text, '\n', &line)) {
        if (str_has_prefix(line, STR("---"))) {
            int r = check_separator(line, err);

            if (r < 0)
                return r;
            if (document->n > 0)
                return 1;
        }
        buf_addstr(document, str_trim_suffix(line, STR("\r")));
        buf_addc(document, '\n');
    }
    return document->n > 0;
}

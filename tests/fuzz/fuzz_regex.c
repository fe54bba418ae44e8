/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is the pattern, the rest the text. */
#include <assert.h>

#include "regex/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size }, pattern;
    CLEANUP(regex_unref) struct regex *re = NULL;
    CLEANUP(regex_finder_done) struct regex_finder f = { 0 };
    struct regex_span spans[4];
    ptrdiff_t last = 0;

    if (size > 4096)
        return 0;
    str_split(&text, '\n', &pattern);
    if (regex_compile(pattern, &re, NULL) < 0)
        return 0;
    if (!text.p)
        text = STR("");
    f = regex_find_all(re, text);
    while (regex_finder_next(&f, spans, ARRAY_SIZE(spans))) {
        assert(spans[0].from >= last && spans[0].from <= spans[0].to && spans[0].to <= (ptrdiff_t)text.n);
        last = spans[0].to;
    }
    return 0;
}

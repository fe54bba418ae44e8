/* SPDX-License-Identifier: Apache-2.0 */
#include "gocases.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "check.h"

/* Undoes strconv.QuoteToASCII. */
static void unquote(struct str s, struct buf *out)
{
    static const char named[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";

    for (size_t i = 1; i + 1 < s.n; i++) {
        const char *at;
        size_t digits;
        uint64_t rune = 0;

        if (s.p[i] != '\\') {
            buf_addc(out, s.p[i]);
            continue;
        }
        at = memchr(named, s.p[++i], sizeof(named) - 1);
        if (at) {
            buf_addc(out, to[at - named]);
            continue;
        }
        digits = s.p[i] == 'x' ? 2 : s.p[i] == 'u' ? 4 : 8;
        number_parse_uint(str_sub(s, i + 1, i + 1 + digits), 16, 32, &rune);
        if (digits == 2)
            buf_addc(out, (char)rune);
        else
            buf_add_rune(out, (uint32_t)rune);
        i += digits;
    }
}

static void check_case(struct str input, struct str want_quoted, gocases_fn answer)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB), want = BUF_INIT(MIB), out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr) char *name = str_dup(input);

    unquote(str_sub(input, 2, input.n), &text);
    unquote(want_quoted, &want);
    if (answer(input.p[0], buf_str(&text), &out, &err) < 0) {
        buf_clear(&out);
        buf_addf(&out, "error: %s", err_message(err));
    }
    check_str(buf_str(&out), buf_str(&want), name, __FILE__, __LINE__);
}

void assert_go_cases(const char *path, size_t min, gocases_fn answer)
{
    CLEANUP(buf_done) struct buf file = BUF_INIT(4 * MIB);
    struct str rest, line, want;
    size_t n = 0;

    check_read_data(path, &file);
    rest = buf_str(&file);
    while (str_split(&rest, '\n', &line)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (!str_split(&rest, '\n', &want) || !str_has_prefix(want, STR("= ")))
            check_fail(__FILE__, __LINE__, "%s: a case without an answer", path);
        check_case(line, str_sub(want, 2, want.n), answer);
        n++;
    }
    if (n < min)
        check_fail(__FILE__, __LINE__, "%s: only %zu cases", path, n);
}

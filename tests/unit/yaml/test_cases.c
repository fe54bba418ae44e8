/* SPDX-License-Identifier: Apache-2.0 */
/* tests/data/yaml/cases.txt: what Go's libraries answered to made-up inputs (tests/conformance/yamloracle). */
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "lib/check.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* Undoes strconv.QuoteToASCII. */
static void unquote(struct str s, struct buf *out)
{
    static const char named[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";

    for (size_t i = 1; i + 1 < s.n; i++) {
        const char *at;
        size_t digits;
        uint64_t rune;

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

static int answer(char op, struct str text, struct arena *a, struct buf *out, struct err **err)
{
    static const struct json_options json_floats = { .floats = true };
    struct yml_options yaml = { .floats = true, .strict = op == 's' };
    struct value v;
    int r;

    if (op == 'y' || op == 's')
        r = yml_parse(a, text, &yaml, &v, err);
    else
        r = json_parse(a, text, op == 'j' ? &json_floats : NULL, &v, err);
    if (r < 0)
        return r;
    if (op == 'p')
        return yml_print(v, out, err);
    if (op == 'q')
        return yml_print_pretty(v, out, err);
    return json_print(v, op == 'i' ? JSON_INDENT | JSON_ESCAPE_HTML : 0, out, err);
}

static void check_case(struct str input, struct str want_quoted)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB), want = BUF_INIT(MIB), out = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(free_ptr) char *name = str_dup(input);

    unquote(str_sub(input, 2, input.n), &text);
    unquote(want_quoted, &want);
    if (answer(input.p[0], buf_str(&text), a, &out, &err) < 0) {
        buf_clear(&out);
        buf_addf(&out, "error: %s", err_message(err));
    }
    check_str(buf_str(&out), buf_str(&want), name, __FILE__, __LINE__);
}

static void test_every_recorded_answer_of_go_is_ours(void **state)
{
    CLEANUP(buf_done) struct buf file = BUF_INIT(4 * MIB);
    struct str rest, line, want;
    size_t n = 0;

    UNUSED(state);
    check_read_data("yaml/cases.txt", &file);
    rest = buf_str(&file);
    while (str_split(&rest, '\n', &line)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        assert_true(str_split(&rest, '\n', &want) && str_has_prefix(want, STR("= ")));
        check_case(line, str_sub(want, 2, want.n));
        n++;
    }
    assert_true(n > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_recorded_answer_of_go_is_ours),
    };

    return RUN_TESTS(tests);
}

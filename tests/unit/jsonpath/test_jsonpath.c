/* SPDX-License-Identifier: Apache-2.0 */
#include "jsonpath/jsonpath.h"

#include "base/arena.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static int print(struct str text, struct value v, struct buf *out, struct err **err)
{
    CLEANUP(jsonpath_free) struct jsonpath *path = NULL;
    int r = jsonpath_parse(text, &path, err);

    return r < 0 ? r : jsonpath_print(path, v, out, err);
}

static struct value parse_json(struct arena *a, struct str text)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;

    assert_ok(json_parse(a, text, &(struct json_options){ .floats = true }, &v, &err), err);
    return v;
}

/* The file `name` of a table's .files. */
static struct str file_of(struct str files, struct str name)
{
    const size_t at = str_find(files, name), after = at + name.n;
    struct str text;

    assert_true(at != STR_NPOS);
    text = str_sub(files, after, files.n);
    return str_sub(text, 0, str_find(text, STR("\n=== ")));
}

/* What helm said to one expression: the lines of its block. False when there is no block left. */
static bool next_answer(struct str *rest, struct str *expression, struct buf *said)
{
    struct str line;

    buf_clear(said);
    while (str_split(rest, '\n', &line)) {
        *expression = str_trim_prefix(line, STR("$ helm show values c --jsonpath '"));
        if (expression->n == line.n || str_find_char(*expression, '\'') != expression->n - 1)
            continue;
        *expression = str_sub(*expression, 0, expression->n - 1);
        while (rest->n > 0 && rest->p[0] != '$' && str_split(rest, '\n', &line))
            buf_addf(said, STR_FMT "\n", STR_ARG(line));
        return true;
    }
    return false;
}

/* The same in the words of tests/lib/table.sh. */
static void answer(struct str expression, struct value v, struct buf *said)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    CLEANUP(jsonpath_free) struct jsonpath *path = NULL;
    struct str text, line;

    buf_clear(said);
    if (jsonpath_parse(expression, &path, &err) < 0) {
        buf_addf(said, "exit 1\n! Error: error parsing jsonpath " STR_FMT ": %s\n", STR_ARG(expression),
                 err_message(err));
        return;
    }
    IGNORE_ERROR(jsonpath_print(path, v, &out, &err)); /* helm drops it */
    buf_adds(said, "exit 0\n");
    text = buf_str(&out);
    while (text.n > 0 && str_split(&text, '\n', &line))
        buf_addf(said, "> " STR_FMT "\n", STR_ARG(line));
    if (out.n > 0 && out.p[out.n - 1] != '\n')
        buf_adds(said, "> (no newline)\n");
}

static void test_says_what_helm_says(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf files = BUF_INIT(MIB), wants = BUF_INIT(MIB);
    CLEANUP(buf_done) struct buf want = BUF_INIT(MIB), got = BUF_INIT(MIB);
    struct str rest, expression;
    struct value v;
    size_t n = 0;

    UNUSED(state);
    check_read_data("cli/jsonpath.files", &files);
    check_read_data("cli/jsonpath.want", &wants);
    v = parse_json(a, file_of(buf_str(&files), STR("=== c/values.yaml\n")));
    rest = buf_str(&wants);
    for (; next_answer(&rest, &expression, &want); n++) {
        answer(expression, v, &got);
        assert_case_str(arena_dupz(a, expression), buf_str(&got), buf_z(&want));
    }
    assert_true(n > 150);
}

/* Helm drops these; kubectl would print them. */
static void test_failures_have_a_code_and_a_reason(void **state)
{
    static const struct {
        const char *expression;
        enum errc code;
        const char *why;
    } cases[] = {
        { "{.missing}", ERRC_NOT_FOUND, "missing is not found" },
        { "{.l[3]}", ERRC_INVALID, "array index out of bounds: index 3, length 3" },
        { "{.l[0:4]}", ERRC_INVALID, "array index out of bounds: index 3, length 3" },
        { "{.l[2:1]}", ERRC_INVALID, "starting index 2 is greater than ending index 1" },
        { "{.l[::0]}", ERRC_INVALID, "step must be > 0" },
        { "{.s[0]}", ERRC_INVALID, "not an array or slice" },
        { "{.m[?(@.x)]}", ERRC_INVALID, "not an array or slice and cannot be filtered" },
        { "{.l[?(@=1.0)]}", ERRC_INVALID, "unrecognized filter operator =" },
        { "{.l[?(@==1)]}", ERRC_INVALID, "incompatible types for comparison" },
        { "{.l[?(@==$)]}", ERRC_INVALID, "invalid type for comparison" },
        { "{.b[?(@<true)]}", ERRC_INVALID, "invalid type for comparison" },
        { "{.d[?(@[*]==1.0)]}", ERRC_INVALID, "can only compare one element at a time" },
        { "{end}", ERRC_INVALID, "not in range, nothing to end" },
        { "{word}", ERRC_INVALID, "unrecognized identifier word" },
        { "{range .b[*]}{[0]}{end}", ERRC_INVALID, "not an array or slice" },
        { "{range .l[*]}{range}{end}{end}", ERRC_INVALID, "there is nothing to range over" },
        { "before{.missing}", ERRC_NOT_FOUND, "missing is not found" },
    };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    const struct value v =
        parse_json(a, STR("{\"l\":[1,2,null],\"b\":[true],\"d\":[[1,2]],\"m\":{\"x\":1},\"s\":\"text\"}"));

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
        int r = print(str_from(cases[i].expression), v, &out, &err);

        assert_case_num(cases[i].expression, -r, cases[i].code);
        assert_case_str(cases[i].expression, str_from(err_message(err)), cases[i].why);
        assert_case_num(cases[i].expression, (int64_t)out.n, 0);
    }
}

static void test_compares_whole_numbers_of_all_types(void **state)
{
    const struct value items[] = { value_from_int(-1), value_from_int(3), value_from_uint(3),
                                   value_from_uint(UINT64_MAX) };
    static const struct {
        const char *expression, *want;
    } cases[] = {
        { "{[?(@==3)]}", "3 3" },    { "{[?(@!=3)]}", "-1 18446744073709551615" },  { "{[?(@<3)]}", "-1" },
        { "{[?(@<=3)]}", "-1 3 3" }, { "{[?(@>-1)]}", "3 3 18446744073709551615" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        CLEANUP(buf_done) struct buf out = BUF_INIT(KIB);
        int r = print(str_from(cases[i].expression), value_from_list(items, ARRAY_SIZE(items)), &out, &err);

        assert_ok(r, err);
        assert_case_str(cases[i].expression, buf_str(&out), cases[i].want);
    }
}

/* ---- limits ---- */

/* Prints `text` with v: succeeds, or fails with LIMIT. */
static void check_limit(struct buf *text, struct value v, bool fits)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(JSONPATH_OUTPUT_MAX + 1);
    int r = print(buf_str(text), v, &out, &err);

    if (r != (fits ? 0 : -ERRC_LIMIT))
        fail_case("%d: %s", r, err_message(err));
}

static void test_text_of_a_template_is_limited(void **state)
{
    UNUSED(state);
    for (size_t n = JSONPATH_TEXT_MAX - 1; n <= JSONPATH_TEXT_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

        buf_add_repeat(&text, 'x', n);
        check_limit(&text, VALUE_NONE, n <= JSONPATH_TEXT_MAX);
    }
}

static void test_template_of_commas_fits_into_memory(void **state)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(jsonpath_free) struct jsonpath *path = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    buf_adds(&text, "{[");
    buf_add_repeat(&text, ',', JSONPATH_TEXT_MAX - strlen("{[]}"));
    buf_adds(&text, "]}");
    assert_ok(jsonpath_parse(buf_str(&text), &path, &err), err);
}

static void test_depth_of_descent_is_limited(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
    struct value v = VALUE_STR("leaf");

    UNUSED(state);
    buf_adds(&text, "{..}");
    for (size_t levels = 1; levels <= JSONPATH_DEPTH_MAX + 1; levels++) { /* the leaf is one, too */
        struct value *item = arena_alloc(a, sizeof(*item));

        if (levels >= JSONPATH_DEPTH_MAX - 1)
            check_limit(&text, v, levels <= JSONPATH_DEPTH_MAX);
        *item = v;
        v = value_from_list(item, 1);
    }
}

static void test_depth_of_ranges_is_limited(void **state)
{
    UNUSED(state);
    for (size_t n = JSONPATH_DEPTH_MAX - 1; n <= JSONPATH_DEPTH_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

        for (size_t i = 0; i < n; i++)
            buf_adds(&text, "{range}");
        for (size_t i = 0; i < n; i++)
            buf_adds(&text, "{end}");
        check_limit(&text, VALUE_STR("v"), n <= JSONPATH_DEPTH_MAX);
    }
}

/* A range costs one step for each result, for each node of a round, and what is in it: 1 + 3 * (3 + 2 * 666662) here; an
 * empty slice costs one. */
static void test_steps_are_limited(void **state)
{
    enum { OUTER = 3, INNER = 666662 };
    const size_t steps = 1 + OUTER * (3 + 2 * (size_t)INNER);
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct value *inner = ARENA_ARRAY(a, struct value, INNER), outer[OUTER];

    UNUSED(state);
    for (size_t i = 0; i < INNER; i++)
        inner[i] = value_from_bool(true);
    for (size_t i = 0; i < OUTER; i++)
        outer[i] = value_from_list(inner, INNER);
    for (size_t n = JSONPATH_STEPS_MAX - 1; n <= JSONPATH_STEPS_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);

        buf_adds(&text, "{range [*]}{range [*]}{end}{end}");
        for (size_t i = steps; i < n; i++)
            buf_adds(&text, "{[0:0]}");
        check_limit(&text, value_from_list(outer, OUTER), n <= JSONPATH_STEPS_MAX);
    }
}

static void test_ranges_without_an_end_are_stopped(void **state)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);

    UNUSED(state);
    for (size_t i = 0; i < 64; i++) /* each is walked through twice: 2^64 */
        buf_adds(&text, "{range}");
    check_limit(&text, VALUE_STR("v"), false);
}

static void test_output_is_limited(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    const size_t part = JSONPATH_OUTPUT_MAX / 8 - 1;
    char *p = arena_alloc(a, part);

    UNUSED(state);
    memset(p, 'x', part);
    for (size_t extra = 7; extra <= 9; extra++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);

        buf_adds(&text, "{@}{@}{@}{@}{@}{@}{@}{@}");
        buf_add_repeat(&text, 'x', extra);
        check_limit(&text, value_from_str((struct str){ p, part }), extra <= 8);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_what_helm_says),
        cmocka_unit_test(test_failures_have_a_code_and_a_reason),
        cmocka_unit_test(test_compares_whole_numbers_of_all_types),
        cmocka_unit_test(test_text_of_a_template_is_limited),
        cmocka_unit_test(test_template_of_commas_fits_into_memory),
        cmocka_unit_test(test_depth_of_descent_is_limited),
        cmocka_unit_test(test_depth_of_ranges_is_limited),
        cmocka_unit_test(test_steps_are_limited),
        cmocka_unit_test(test_ranges_without_an_end_are_stopped),
        cmocka_unit_test(test_output_is_limited),
    };

    return RUN_TESTS(tests);
}

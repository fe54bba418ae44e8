/* SPDX-License-Identifier: Apache-2.0 */
/* Every case of tests/data/template/<file>.test. Expected results are Helm's own: see the head of the first file. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/check.h"
#include "template/template.h"
#include "json/json.h"

#include "unit/template/render_case.h"

static void keep_main(void *ctx, struct str path, struct str text)
{
    if (str_eq(path, STR("c/templates/t.yaml")))
        buf_addstr(ctx, text);
}

struct section {
    struct str head, text; /* text without its last line break */
};

/* The next "=== name" or "--- kind" and what follows it. */
static bool next_section(struct str *rest, struct section *ret)
{
    struct str line;
    const char *start, *end;

    if (!str_split(rest, '\n', &ret->head) || ret->head.n == 0)
        return false;
    start = end = rest->p;
    while (rest->p && rest->n > 0 && !str_has_prefix(*rest, STR("=== ")) &&
           !str_has_prefix(*rest, STR("--- "))) {
        str_split(rest, '\n', &line);
        end = line.p + line.n;
    }
    ret->text = start && end > start ? (struct str){ start, (size_t)(end - start) } : STR("");
    return true;
}

struct language_case {
    struct str name;
    struct render_case c;
    struct str want, error;
    bool has_want, has_error;
};

static void add_file(struct render_case *c, struct str name, struct str text)
{
    assert_true(c->n < ARRAY_SIZE(c->names));
    c->names[c->n] = name;
    c->texts[c->n++] = text;
}

static void add_section(struct language_case *l, const struct section *s, struct arena *a)
{
    struct err *err = NULL;

    if (str_eq(s->head, STR("--- values")) || str_eq(s->head, STR("--- int values"))) {
        l->c.ints = str_eq(s->head, STR("--- int values"));
        assert_ok(json_parse(a, s->text, NULL, &l->c.values, &err), err);
    } else if (str_eq(s->head, STR("--- template"))) {
        add_file(&l->c, STR("templates/t.yaml"), s->text);
    } else if (str_has_prefix(s->head, STR("--- file "))) {
        add_file(&l->c, str_sub(s->head, 9, s->head.n), s->text);
    } else if (str_eq(s->head, STR("--- strict"))) {
        l->c.env.strict = true;
    } else if (str_eq(s->head, STR("--- lint"))) {
        l->c.env.lint = true;
    } else if (str_eq(s->head, STR("--- want"))) {
        l->want = s->text;
        l->has_want = true;
    } else if (str_eq(s->head, STR("--- error"))) {
        l->error = s->text;
        l->has_error = true;
    } else {
        fail_case(STR_FMT ": unknown section " STR_FMT, STR_ARG(l->name), STR_ARG(s->head));
    }
}

static bool check_case(const struct language_case *l)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(buf_done) struct buf got = BUF_INIT(TEMPLATE_OUTPUT_MAX);
    CLEANUP(err_free) struct err *err = NULL;
    int r = render_case_parse(&l->c, set, &err);
    struct str result;

    if (r == 0)
        r = render_case_render(&l->c, set, keep_main, &got, &err);
    result = r < 0 ? str_from(err_message(err)) : buf_str(&got);
    if (r < 0 ? l->has_error && str_eq(result, l->error) : l->has_want && str_eq(result, l->want))
        return true;
    print_error(STR_FMT "\n--- %s\n" STR_FMT "\n--- got %s\n" STR_FMT "\n\n", STR_ARG(l->name),
                l->has_want ? "want" : "error", STR_ARG(l->has_want ? l->want : l->error),
                r < 0 ? "error" : "text", STR_ARG(result));
    return false;
}

static void run_file(const char *path)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct language_case l = { 0 };
    struct section s;
    struct str rest;
    size_t failed = 0, n = 0;

    check_read_data(path, &text);
    rest = buf_str(&text);
    while (next_section(&rest, &s)) {
        if (!str_has_prefix(s.head, STR("=== "))) {
            add_section(&l, &s, a);
        } else {
            l = (struct language_case){ .name = str_sub(s.head, 4, s.head.n) };
            continue;
        }
        if (l.has_want || l.has_error) {
            n++;
            failed += !check_case(&l);
        }
    }
    assert_true(n > 0);
    if (failed > 0)
        fail_case("%s: %zu of %zu cases differ from Helm", path, failed, n);
}

#define LANGUAGE_TEST(name, file)           \
    static void name(void **state)          \
    {                                       \
        UNUSED(state);                      \
        run_file("template/" file ".test"); \
    }

LANGUAGE_TEST(syntax_is_parsed_as_go_parses_it, "syntax")
LANGUAGE_TEST(parse_errors_have_helms_text, "parse_errors")
LANGUAGE_TEST(actions_and_control_structures_do_as_in_go, "control")
LANGUAGE_TEST(fields_and_missing_values_do_as_in_go, "fields")
LANGUAGE_TEST(calls_check_their_arguments_as_in_go, "calls")
LANGUAGE_TEST(builtins_do_as_in_go, "builtins")
LANGUAGE_TEST(values_print_as_in_go, "printing")
LANGUAGE_TEST(printf_does_as_in_go, "printf")
LANGUAGE_TEST(include_tpl_required_and_fail_do_as_in_helm, "helm")
LANGUAGE_TEST(errors_have_helms_text, "errors")
LANGUAGE_TEST(functions_are_called_as_in_helm, "functions")
LANGUAGE_TEST(objects_of_the_context_do_as_in_helm, "objects")
LANGUAGE_TEST(complex_numbers_do_as_in_go, "complex")
LANGUAGE_TEST(times_do_as_in_go, "times")
LANGUAGE_TEST(lists_are_shared_as_in_go, "lists")
LANGUAGE_TEST(objects_print_as_yaml_and_toml, "objects_printed")
LANGUAGE_TEST(every_verb_prints_every_kind_as_in_go, "verbs")
LANGUAGE_TEST(rare_functions_and_actions_do_as_in_helm, "rare")

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_is_parsed_as_go_parses_it),
        cmocka_unit_test(parse_errors_have_helms_text),
        cmocka_unit_test(actions_and_control_structures_do_as_in_go),
        cmocka_unit_test(fields_and_missing_values_do_as_in_go),
        cmocka_unit_test(calls_check_their_arguments_as_in_go),
        cmocka_unit_test(builtins_do_as_in_go),
        cmocka_unit_test(values_print_as_in_go),
        cmocka_unit_test(printf_does_as_in_go),
        cmocka_unit_test(include_tpl_required_and_fail_do_as_in_helm),
        cmocka_unit_test(errors_have_helms_text),
        cmocka_unit_test(functions_are_called_as_in_helm),
        cmocka_unit_test(objects_of_the_context_do_as_in_helm),
        cmocka_unit_test(complex_numbers_do_as_in_go),
        cmocka_unit_test(times_do_as_in_go),
        cmocka_unit_test(lists_are_shared_as_in_go),
        cmocka_unit_test(objects_print_as_yaml_and_toml),
        cmocka_unit_test(every_verb_prints_every_kind_as_in_go),
        cmocka_unit_test(rare_functions_and_actions_do_as_in_helm),
    };

    setenv("TZ", "UTC", 1); /* as when the answers were recorded */
    return RUN_TESTS(tests);
}

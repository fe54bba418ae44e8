/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "lib/check.h"

static const struct clock_fake noon = { { 1136214245, 120000000 }, 0 };

struct capture {
    int fds[2];
    struct buf text;
};

static int set_up(void **state)
{
    struct capture *c = xcalloc(1, sizeof(*c));

    if (pipe(c->fds) < 0)
        return -1;
    c->text = BUF_INIT(1 << 20);
    log_set_fd(c->fds[1]);
    log_set_format(LOG_FORMAT_JSON);
    clock_set_fake(&noon);
    *state = c;
    return log_configure(STR("info")) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct capture *c = *state;

    log_set_fd(STDERR_FILENO);
    log_set_format(LOG_FORMAT_AUTO);
    log_set_context(STR_NONE);
    clock_set_fake(NULL);
    log_configure(STR("info"));
    close(c->fds[0]);
    close(c->fds[1]);
    buf_done(&c->text);
    free(c);
    return 0;
}

static struct str written(struct capture *c)
{
    char *p = buf_reserve(&c->text, 60000);
    ssize_t n;

    log_error("end");
    n = read(c->fds[0], p, 60000);
    assert_true(n > 0);
    buf_commit(&c->text, (size_t)n);
    return str_sub(buf_str(&c->text), 0,
                   str_find(buf_str(&c->text), STR("{\"ts\":\"2006-01-02T15:04:05.120000Z\",\"level\":"
                                                   "\"error\",\"module\":\"main\",\"msg\":\"end\"")));
}

static void test_a_line_is_one_json_object(void **state)
{
    log_set_context(STR("Release ns/web"));
    log_info("release upgraded", LOG_Z("name", "we\"b\\"), LOG_INT("revision", -3), LOG_BOOL("first", false),
             LOG_STR("none", STR_NONE));
    log_set_context(STR_NONE);
    assert_str(written(*state),
               "{\"ts\":\"2006-01-02T15:04:05.120000Z\",\"level\":\"info\",\"module\":\"main\","
               "\"msg\":\"release upgraded\",\"object\":\"Release ns/web\",\"name\":\"we\\\"b\\\\\","
               "\"revision\":-3,\"first\":false,\"none\":\"\"}\n");
}

static void test_what_an_outsider_writes_cannot_forge_a_line(void **state)
{
    log_info("x", LOG_Z("f", "a\"}\n{\"level\":\"error\x1b[2J\xff"));
    assert_str(written(*state),
               "{\"ts\":\"2006-01-02T15:04:05.120000Z\",\"level\":\"info\",\"module\":\"main\",\"msg\":"
               "\"x\",\"f\":\"a\\\"}\\\\n{\\\"level\\\":\\\"error\\\\u001b[2J\\\\xff\"}\n");
}

static void test_a_long_field_is_cut_at_the_start_of_a_rune_and_marked(void **state)
{
    static const struct {
        size_t n, kept;
        bool cut;
    } cases[] = {
        { LOG_FIELD_MAX - 1, LOG_FIELD_MAX - 1, false },
        { LOG_FIELD_MAX, LOG_FIELD_MAX, false },
        { LOG_FIELD_MAX + 1, LOG_FIELD_MAX, true },
    };
    char text[LOG_FIELD_MAX + 2];
    struct capture *c = *state;

    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct str line, field;

        buf_clear(&c->text);
        log_info("m", LOG_STR("f", ((struct str){ text, cases[i].n })));
        line = written(c);
        field = str_sub(line, str_find(line, STR("\"f\":\"")) + 5, line.n - 3);
        assert_num(field.n, cases[i].kept + (cases[i].cut ? 3 : 0));
        assert_num(str_has_suffix(field, STR("...")), cases[i].cut);
    }
    buf_clear(&c->text);
    memcpy(text + LOG_FIELD_MAX - 1, "\xc3\xa4", 2);
    log_info("m", LOG_STR("f", ((struct str){ text, LOG_FIELD_MAX + 1 })));
    assert_true(str_has_suffix(written(c), STR("x...\"}\n")));
}

static void test_levels_are_set_for_all_and_by_module(void **state)
{
    UNUSED(state);
    assert_true(log_configure(STR("warn,template=trace,kube=error")));
    assert_true(log_enabled(LOG_WARN, "main"));
    assert_false(log_enabled(LOG_INFO, "main"));
    assert_true(log_enabled(LOG_TRACE, "template"));
    assert_false(log_enabled(LOG_WARN, "kube"));
    assert_false(log_configure(STR("loud")));
    assert_false(log_configure(STR("info,x=loud")));
    assert_true(log_enabled(LOG_TRACE, "template")); /* the old setting stays */
}

static void test_a_disabled_line_writes_nothing(void **state)
{
    log_debug("not shown", LOG_INT("n", 1));
    assert_str(written(*state), "");
}

static void test_text_is_for_people(void **state)
{
    struct capture *c = *state;

    log_set_format(LOG_FORMAT_TEXT);
    log_warn("slow", LOG_Z("what", "a b"));
    log_set_format(LOG_FORMAT_JSON);
    assert_str(written(c), "15:04:05 warn  main: slow what=\"a b\"\n");
}

static void test_an_error_is_logged_with_its_chain(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    int r = err_set(&err, ERRC_NOT_FOUND, "not found");

    r = err_wrap(&err, r, "chart %s", "./web");
    log_info("failed", LOG_ERR(err));
    assert_num(r, -ERRC_NOT_FOUND);
    assert_true(str_contains(written(*state), STR("\"error\":\"chart ./web: not found\"")));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_line_is_one_json_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_an_outsider_writes_cannot_forge_a_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_long_field_is_cut_at_the_start_of_a_rune_and_marked, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_levels_are_set_for_all_and_by_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_disabled_line_writes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text_is_for_people, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_error_is_logged_with_its_chain, set_up, tear_down),
    };

    return RUN_TESTS(tests);
}

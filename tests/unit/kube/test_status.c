/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "kube/kube.h"
#include "lib/check.h"
#include "json/json.h"

static struct value parse(struct arena *a, struct str text)
{
    struct value v = VALUE_NONE;
    CLEANUP(err_free) struct err *err = NULL;

    assert_ok(json_parse(a, text, NULL, &v, &err), err);
    return v;
}

static void check_line(struct arena *a, struct str object, struct str want)
{
    CLEANUP(buf_done) struct buf got = BUF_INIT(64 * KIB);
    struct str message;
    enum kube_status s = kube_status(a, parse(a, object), NULL, &message);

    buf_addf(&got, "%s " STR_FMT, kube_status_name(s), STR_ARG(message));
    check_str(buf_str(&got), want, arena_dupz(a, object), __FILE__, __LINE__);
}

static void test_answers_are_those_of_kstatus(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    CLEANUP(buf_done) struct buf file = BUF_INIT(4 * MIB);
    struct str rest, line, want;
    int n = 0;

    UNUSED(state);
    check_read_data("kube/kstatus.txt", &file);
    rest = buf_str(&file);
    while (str_split(&rest, '\n', &line)) {
        if (!str_has_prefix(line, STR("{")))
            continue;
        str_split(&rest, '\n', &want);
        check_line(a, line, want);
        n++;
    }
    assert_true(n > 100);
}

static void test_what_is_not_there_is_not_found(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    UNUSED(state);
    assert_num(kube_status(a, VALUE_NONE, NULL, NULL), KUBE_STATUS_NOT_FOUND);
    assert_num(kube_status(a, VALUE_STR("x"), NULL, NULL), KUBE_STATUS_UNKNOWN);
}

/* Helm's own reader for Jobs (internal/statusreaders/job_status_reader.go) when --wait-for-jobs is given. */
static void test_jobs_that_are_waited_for_are_current_when_complete(void **state)
{
    static const struct {
        const char *status;
        enum kube_status want;
        const char *message;
    } cases[] = {
        { "{\"startTime\":\"2026-01-01T00:00:00Z\"}", KUBE_STATUS_IN_PROGRESS, "Job in progress" },
        { "{\"succeeded\":1,\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}",
          KUBE_STATUS_CURRENT, "Job Completed. succeeded: 1/1" },
        { "{\"failed\":1,\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}", KUBE_STATUS_FAILED,
          "Job Failed. failed: 1/1" },
    };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct kube_status_options o = { .wait_for_jobs = true };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value v =
            parse(a, STR("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"x\"}}"));
        struct str message;

        value_setz(v, "status", parse(a, str_from(cases[i].status)));
        assert_case_num(cases[i].status, kube_status(a, v, &o, &message), cases[i].want);
        assert_case_str(cases[i].status, message, cases[i].message);
    }
}

static void test_a_condition_moves_its_time_only_with_its_status(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct clock_fake fake = { .wall = { 1700000000, 0 } };
    struct kube_condition c = { STR("Ready"), "False", STR("Waiting"), STR("for the chart"), 3 };
    struct value list = VALUE_NONE, first;
    bool changed, same, moved, texts;

    UNUSED(state);
    clock_set_fake(&fake);
    list = kube_condition_set(a, list,
                              &(struct kube_condition){ STR("Other"), "True", STR("R"), STR("m"), 0 }, NULL);
    list = kube_condition_set(a, list, &c, &changed);
    first = value_getz(kube_condition_find(list, STR("Ready")), "lastTransitionTime");
    fake.wall.s += 60;
    IGNORE_ERROR(value_len(kube_condition_set(a, list, &c, &same)) == 2 ? 0 : -1);
    c.message = STR("for another chart");
    list = kube_condition_set(a, list, &c, &texts);
    assert_true(
        value_equal(first, value_getz(kube_condition_find(list, STR("Ready")), "lastTransitionTime")));
    c.status = "True";
    list = kube_condition_set(a, list, &c, &moved);
    clock_set_fake(NULL);
    assert_true(changed && !same && texts && moved);
    assert_str(value_str(first), "2023-11-14T22:13:20Z");
    assert_str(value_str(value_getz(kube_condition_find(list, STR("Ready")), "lastTransitionTime")),
               "2023-11-14T22:14:20Z");
    assert_num(value_len(list), 2);
    assert_str(value_str(value_getz(value_at(list, 0), "type")), "Other");
    assert_true(kube_condition_is(list, STR("Ready"), "True"));
    list = kube_condition_unset(a, list, STR("Ready"), &changed);
    assert_true(changed && value_len(list) == 1);
    IGNORE_ERROR(value_len(kube_condition_unset(a, list, STR("Ready"), &changed)) == 1 ? 0 : -1);
    assert_false(changed);
}

static void test_a_long_message_is_cut_at_a_character(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct value list;
    struct str got;

    UNUSED(state);
    buf_addc(&text, 'x');
    for (int i = 0; i < 20000; i++)
        buf_adds(&text, "\xc3\xa9");
    list = kube_condition_set(
        a, VALUE_NONE, &(struct kube_condition){ STR("Ready"), "True", STR("R"), buf_str(&text), 0 }, NULL);
    got = value_str(value_getz(kube_condition_find(list, STR("Ready")), "message"));
    assert_num(got.n, 32 * KIB - 1);
    assert_num((unsigned char)got.p[got.n - 1], 0xa9);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_those_of_kstatus),
        cmocka_unit_test(test_what_is_not_there_is_not_found),
        cmocka_unit_test(test_jobs_that_are_waited_for_are_current_when_complete),
        cmocka_unit_test(test_a_condition_moves_its_time_only_with_its_status),
        cmocka_unit_test(test_a_long_message_is_cut_at_a_character),
    };

    return RUN_TESTS(tests);
}

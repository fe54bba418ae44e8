/* SPDX-License-Identifier: Apache-2.0 */
/* What an owner does about the objects that its spec lists: a pure plan. */
#include "base/limits.h"
#include "controller/controller.h"
#include "lib/check.h"
#include "json/json.h"

#define OWNER "{\"apiVersion\":\"x/v1\",\"kind\":\"Group\",\"metadata\":{\"name\":\"g\",\"uid\":\"u1\"}}"
#define CHILD(name, spec) \
    "{\"apiVersion\":\"x/v1\",\"kind\":\"Child\",\"metadata\":{\"name\":\"" name "\"},\"spec\":" spec "}"
#define LIVE(name, meta) \
    "{\"apiVersion\":\"x/v1\",\"kind\":\"Child\",\"metadata\":{\"name\":\"" name "\"" meta "},\"spec\":{}}"
#define OWNED ",\"ownerReferences\":[{\"uid\":\"u1\"}]"
#define READY "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"

static struct arena *a;

static int setup(void **state)
{
    UNUSED(state);
    a = arena_new(MIB);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    arena_free(a);
    return 0;
}

static struct value parse(const char *text)
{
    struct value v = VALUE_NONE;
    struct err *err = NULL;

    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    return v;
}

static struct controller_children children(const char *wanted, struct value live)
{
    return (struct controller_children){
        .owner = parse(OWNER), .field = "spec.items", .wanted = parse(wanted), .live = live, .label = "free"
    };
}

static struct controller_children_plan plan_of(const struct controller_children *c)
{
    struct controller_children_plan plan = { 0 };
    struct err *err = NULL;

    assert_ok(controller_children_plan(a, c, &plan, &err), err);
    return plan;
}

/* The objects as the server shows them after the plan was carried out. */
static struct value applied(const char *wanted)
{
    struct controller_children c = children(wanted, value_from_list(NULL, 0));
    struct controller_children_plan plan = plan_of(&c);

    assert_int_equal(value_len(plan.apply), value_len(c.wanted));
    return plan.apply;
}

static void test_what_is_as_wanted_is_left_alone(void **state)
{
    struct value live = applied("[" CHILD("one", "{\"x\":{\"y\":1}}") "]");
    struct controller_children c;
    struct controller_children_plan plan;

    UNUSED(state);
    value_set_path(value_at(live, 0), "spec.added", VALUE_STR("by a default"));
    value_setz(value_at(live, 0), "status", parse(READY));
    c = children("[" CHILD("one", "{\"x\":{\"y\":1}}") "]", live);
    plan = plan_of(&c);
    assert_int_equal(value_len(plan.apply), 0);
    assert_int_equal(value_len(plan.remove), 0);
    assert_int_equal(plan.ready, 1);
}

static void test_a_difference_is_applied(void **state)
{
    static const struct {
        const char *name, *before, *wanted;
    } cases[] = {
        { "another value", "{\"x\":{\"y\":1}}", "{\"x\":{\"y\":2}}" },
        { "a new member", "{\"x\":{\"y\":1}}", "{\"x\":{\"y\":1,\"z\":1}}" },
        { "a member that left", "{\"x\":{\"y\":1,\"z\":1}}", "{\"x\":{\"y\":1}}" },
        { "a shorter list", "{\"x\":[1,2]}", "{\"x\":[1]}" },
        { "another item", "{\"x\":[{\"y\":1}]}", "{\"x\":[{\"y\":2}]}" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct value before = value_new_map(a), wanted = value_new_map(a);
        struct controller_children c = children("[" CHILD("one", "{}") "]", VALUE_NONE);
        struct controller_children_plan plan;

        before = value_copy_maps(a, value_at(c.wanted, 0));
        wanted = value_copy_maps(a, value_at(c.wanted, 0));
        value_setz(before, "spec", parse(cases[i].before));
        value_setz(wanted, "spec", parse(cases[i].wanted));
        c.wanted = value_from_list(&before, 1);
        plan = plan_of(&c);
        c.live = plan.apply;
        c.wanted = value_from_list(&wanted, 1);
        plan = plan_of(&c);
        assert_case_num(cases[i].name, (int64_t)value_len(plan.apply), 1);
        assert_case_num(cases[i].name, (int64_t)plan.ready, 0);
    }
}

static void test_a_change_by_hand_is_taken_back(void **state)
{
    struct value live = applied("[" CHILD("one", "{\"x\":1}") "]");
    struct controller_children c;

    UNUSED(state);
    value_set_path(value_at(live, 0), "spec.x", value_from_int(2));
    c = children("[" CHILD("one", "{\"x\":1}") "]", live);
    assert_int_equal(value_len(plan_of(&c).apply), 1);
}

static void test_only_what_is_ours_and_unwanted_is_removed(void **state)
{
    struct controller_children c = children(
        "[]", parse("[" LIVE("ours", OWNED) "," LIVE("theirs", "") "," LIVE(
                  "going", OWNED
                  ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"") "," LIVE("free", ",\"labels\":{\"free\":"
                                                                                      "\"true\"}") "]"));
    struct controller_children_plan plan = plan_of(&c);

    UNUSED(state);
    assert_int_equal(value_len(plan.remove), 1);
    assert_str(kube_name(value_at(plan.remove, 0)), "ours");
}

static void test_what_stands_in_the_way_is_named(void **state)
{
    static const struct {
        const char *wanted, *live, *message;
        enum errc code;
    } cases[] = {
        { "[" CHILD("one", "{}") "," CHILD("one", "{}") "]", "[]", "spec.items[1].name one is there twice",
          ERRC_INVALID },
        { "[" CHILD("one", "{}") "]", "[" LIVE("one", "") "]",
          "spec.items[0]: Child one exists and does not belong to this Group: delete it or choose another "
          "name",
          ERRC_EXISTS },
        { "[" CHILD("one", "{}") "]", "[" LIVE("one", ",\"labels\":{\"free\":\"true\"}") "]", NULL,
          ERRC_NONE },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct controller_children c = children(cases[i].wanted, parse(cases[i].live));
        struct controller_children_plan plan;
        CLEANUP(err_free) struct err *err = NULL;
        int r = controller_children_plan(a, &c, &plan, &err);

        assert_int_equal(-r, cases[i].code);
        if (cases[i].message)
            assert_string_equal(err_message(err), cases[i].message);
        else
            assert_int_equal(value_len(plan.apply), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_as_wanted_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_difference_is_applied, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_change_by_hand_is_taken_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_what_is_ours_and_unwanted_is_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_stands_in_the_way_is_named, setup, teardown),
    };

    return RUN_TESTS(tests);
}

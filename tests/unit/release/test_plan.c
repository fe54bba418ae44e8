/* SPDX-License-Identifier: Apache-2.0 */
#include "release/plan.h"

#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static struct value parse(struct arena *a, const char *text)
{
    struct err *err = NULL;
    struct value v;

    assert_ok(json_parse(a, str_from(text), NULL, &v, &err), err);
    return v;
}

static struct release_objects objects(struct arena *a, const char *const *kinds, size_t n)
{
    struct release_object *items = ARENA_ARRAY(a, struct release_object, n);

    for (size_t i = 0; i < n; i++)
        items[i] =
            (struct release_object){ .ref = KUBE_REF("v1", "", STR("ns"), arena_printf(a, "o%zu", i)) };
    for (size_t i = 0; i < n; i++)
        items[i].ref.kind = str_from(kinds[i]);
    return (struct release_objects){ items, n };
}

static struct record *record_with_hooks(void)
{
    struct record *r = record_new(STR("ns"), STR("web"), 1);

    value_setz(r->release, "hooks",
               parse(r->arena,
                     "[{\"name\":\"b\",\"path\":\"b.yaml\",\"events\":[\"pre-install\",\"post-install\"],"
                     "\"weight\":1},"
                     "{\"name\":\"a\",\"path\":\"a.yaml\",\"events\":[\"pre-install\"],\"weight\":1},"
                     "{\"name\":\"z\",\"path\":\"z.yaml\",\"events\":[\"pre-install\"],\"weight\":-5},"
                     "{\"name\":\"d\",\"path\":\"d.yaml\",\"events\":[\"pre-delete\"]},"
                     "{\"name\":\"t\",\"path\":\"t.yaml\",\"events\":[\"test\"]}]"));
    return r;
}

static void assert_plan(struct arena *a, const struct plan_inputs *in, const char *want)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);
    struct plan p = plan_make(a, in);

    for (size_t i = 0; i < p.n; i++) {
        step_format(&p.steps[i], &text);
        buf_addc(&text, '\n');
    }
    assert_str(buf_str(&text), want);
}

static const char *const kinds[] = { "ConfigMap", "ConfigMap", "Service", "Deployment" };

static void test_a_first_install(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(record_free) struct record *r = record_with_hooks();
    struct plan_inputs in = { .decision = { .op = OPERATION_INSTALL, .revision = 1 },
                              .fresh_install = true,
                              .create_namespace = true,
                              .wait = true,
                              .record = r,
                              .objects = objects(a, kinds, ARRAY_SIZE(kinds)) };

    UNUSED(state);
    assert_plan(
        a, &in,
        "namespace\nrecord\nhook pre-install z.yaml\nhook pre-install a.yaml\nhook pre-install b.yaml\n"
        "hooks-done pre-install\napply 2 ConfigMap\napply 1 Service\napply 1 Deployment\nready 4 objects\n"
        "hook post-install b.yaml\nhooks-done post-install\ndeployed\n");
}

static void test_an_upgrade_that_goes_on_after_a_crash_stores_no_second_record(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(record_free) struct record *r = record_with_hooks();
    struct plan_inputs in = { .decision = { .op = OPERATION_UPGRADE, .revision = 4, .resume = true },
                              .record = r,
                              .objects = objects(a, kinds, 1),
                              .removed = objects(a, kinds, 2),
                              .n_earlier_deployed = 1,
                              .n_over_limit = 1 };

    UNUSED(state);
    assert_plan(a, &in, "apply 1 ConfigMap\nremove 2 objects\nsupersede\ndeployed\ntrim\n");
}

static void test_an_abandoned_revision_is_marked_before_the_next_one_is_stored(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(record_free) struct record *r = record_new(STR("ns"), STR("web"), 5);
    struct plan_inputs in = { .decision = { .op = OPERATION_UPGRADE, .revision = 5, .abandon = true },
                              .record = r };

    UNUSED(state);
    assert_plan(a, &in, "abandon\nrecord\ndeployed\n");
}

static void test_crds_come_alone(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct plan_inputs in = { .decision = { .op = OPERATION_INSTALL },
                              .crds = objects(a, kinds, 1),
                              .objects = objects(a, kinds, 4) };

    UNUSED(state);
    assert_plan(a, &in, "crds 1 objects\n");
}

static void test_an_uninstall_removes_the_records_last(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(record_free) struct record *r = record_with_hooks();
    struct plan_inputs in = { .decision = { .op = OPERATION_UNINSTALL },
                              .record = r,
                              .all = objects(a, kinds, 4) };

    UNUSED(state);
    assert_plan(
        a, &in,
        "uninstalling\nhook pre-delete d.yaml\nhooks-done pre-delete\ndelete 2 ConfigMap\ndelete 1 Service\n"
        "delete 1 Deployment\ngone 4 objects\npurge\n");
    in.namespace_terminating = true;
    assert_plan(
        a, &in,
        "uninstalling\ndelete 2 ConfigMap\ndelete 1 Service\ndelete 1 Deployment\ngone 4 objects\npurge\n");
}

static void test_nothing_to_do_is_an_empty_plan(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct plan_inputs in = { .decision = { .op = OPERATION_NONE }, .objects = objects(a, kinds, 4) };

    UNUSED(state);
    assert_plan(a, &in, "");
    in.decision.op = OPERATION_FORGET;
    assert_plan(a, &in, "");
    in.decision.op = OPERATION_ADOPT;
    assert_plan(a, &in, "adopt\n");
}

static void test_hooks_without_a_policy_are_deleted_before_creation(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct value none = parse(a, "{\"name\":\"a\"}"),
                 some = parse(a, "{\"delete_policies\":[\"hook-failed\"]}");

    UNUSED(state);
    assert_true(hook_has_delete_policy(none, "before-hook-creation"));
    assert_false(hook_has_delete_policy(none, "hook-succeeded"));
    assert_true(hook_has_delete_policy(some, "hook-failed"));
    assert_false(hook_has_delete_policy(some, "before-hook-creation"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_first_install),
        cmocka_unit_test(test_an_upgrade_that_goes_on_after_a_crash_stores_no_second_record),
        cmocka_unit_test(test_an_abandoned_revision_is_marked_before_the_next_one_is_stored),
        cmocka_unit_test(test_crds_come_alone),
        cmocka_unit_test(test_an_uninstall_removes_the_records_last),
        cmocka_unit_test(test_nothing_to_do_is_an_empty_plan),
        cmocka_unit_test(test_hooks_without_a_policy_are_deleted_before_creation),
    };

    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "release/decide.h"

#include "lib/check.h"

static void test_the_table_of_decisions(void **state)
{
#define RECORD(status, ours, same)                                                               \
    .has_record = true, .last_revision = 3, .last_status = RECORD_##status, .last_ours = (ours), \
    .last_same_inputs = (same)
    static const struct {
        const char *name;
        struct decide_facts facts;
        enum operation op;
        int64_t revision;
        bool resume, retry, abandon;
    } cases[] = {
        { "nothing there", { 0 }, OPERATION_INSTALL, 1, false, false, false },
        { "suspended", { .suspended = true }, OPERATION_NONE, 0, false, false, false },
        { "deployed, same", { RECORD(DEPLOYED, true, true) }, OPERATION_NONE, 3, true, false, false },
        { "deployed, other inputs",
          { RECORD(DEPLOYED, true, false) },
          OPERATION_UPGRADE,
          4,
          false,
          false,
          false },
        { "helm deployed the same",
          { RECORD(DEPLOYED, false, true) },
          OPERATION_ADOPT,
          3,
          true,
          false,
          false },
        { "helm deployed other",
          { RECORD(DEPLOYED, false, false) },
          OPERATION_UPGRADE,
          4,
          false,
          false,
          false },
        { "our install was cut",
          { RECORD(PENDING_INSTALL, true, true), .last_is_install = true },
          OPERATION_INSTALL,
          3,
          true,
          false,
          false },
        { "our upgrade was cut",
          { RECORD(PENDING_UPGRADE, true, true) },
          OPERATION_UPGRADE,
          3,
          true,
          false,
          false },
        { "cut, then other inputs",
          { RECORD(PENDING_UPGRADE, true, false) },
          OPERATION_UPGRADE,
          4,
          false,
          false,
          true },
        { "helm is at work",
          { RECORD(PENDING_UPGRADE, false, false), .last_age_ms = 1000 },
          OPERATION_WAIT,
          3,
          false,
          false,
          false },
        { "helm died at work",
          { RECORD(PENDING_UPGRADE, false, false), .last_age_ms = DECIDE_FOREIGN_OPERATION_MS },
          OPERATION_UPGRADE,
          4,
          false,
          false,
          true },
        { "failed, same", { RECORD(FAILED, true, true) }, OPERATION_UPGRADE, 3, false, true, false },
        { "first install failed",
          { RECORD(FAILED, true, true), .last_is_install = true },
          OPERATION_INSTALL,
          3,
          false,
          true,
          false },
        { "failed, other inputs",
          { RECORD(FAILED, true, false) },
          OPERATION_UPGRADE,
          4,
          false,
          false,
          false },
        { "uninstalled, history kept",
          { RECORD(UNINSTALLED, false, false) },
          OPERATION_INSTALL,
          4,
          false,
          false,
          false },
        { "deleting",
          { RECORD(DEPLOYED, true, true), .deleting = true },
          OPERATION_UNINSTALL,
          3,
          true,
          false,
          false },
        { "deleting although suspended",
          { RECORD(DEPLOYED, true, true), .deleting = true, .suspended = true },
          OPERATION_UNINSTALL,
          3,
          true,
          false,
          false },
        { "deleting, orphan",
          { RECORD(DEPLOYED, true, true), .deleting = true, .orphan = true },
          OPERATION_FORGET,
          3,
          true,
          false,
          false },
        { "deleting, nothing there", { .deleting = true }, OPERATION_FORGET, 0, true, false, false },
        { "uninstall was cut",
          { RECORD(UNINSTALLING, true, true) },
          OPERATION_UNINSTALL,
          3,
          true,
          false,
          false },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct decision d = decide(&cases[i].facts);

        assert_case_str(cases[i].name, str_from(operation_name(d.op)), operation_name(cases[i].op));
        assert_case_num(cases[i].name, d.revision, cases[i].revision);
        assert_case_num(cases[i].name, d.resume, cases[i].resume);
        assert_case_num(cases[i].name, d.retry, cases[i].retry);
        assert_case_num(cases[i].name, d.abandon, cases[i].abandon);
        if (!d.because)
            fail_case("%s: no reason given", cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_table_of_decisions) };

    return RUN_TESTS(tests);
}

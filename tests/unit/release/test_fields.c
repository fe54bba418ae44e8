/* SPDX-License-Identifier: Apache-2.0 */
/* managedFields on their way from client-side to server-side apply; the wanted ones are what client-go's csaupgrade makes. */
#include "base/limits.h"
#include "lib/check.h"
#include "release/act.h"
#include "json/json.h"

#define ENTRY(manager, operation, version, fields)                                     \
    "{\"apiVersion\":\"" version "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":" fields \
    ",\"manager\":\"" manager "\",\"operation\":\"" operation "\"}"
#define STATUS(manager)                                                                              \
    "{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{}},\"manager\":" \
    "\"" manager "\",\"operation\":\"Update\",\"subresource\":\"status\"}"

static const struct {
    const char *name, *before, *after; /* after: NULL when nothing moves */
} cases[] = {
    { "nothing is managed", "[]", NULL },
    { "others are left alone", "[" ENTRY("kubectl", "Update", "v1", "{\"f:data\":{}}") "]", NULL },
    { "a status entry is not client-side apply", "[" STATUS("helm") "]", NULL },
    { "client-side becomes server-side",
      "[" ENTRY("helm", "Update", "v1", "{\"f:data\":{\"f:a\":{}}}") "," STATUS("helm") "]",
      "[" ENTRY("helm", "Apply", "v1", "{\"f:data\":{\"f:a\":{}}}") "," STATUS("helm") "]" },
    { "both are united in the place of server-side",
      "[" ENTRY("helm", "Update", "v1", "{\"f:data\":{\".\":{},\"f:a\":{}}}") "," ENTRY(
          "helm", "Apply", "v1", "{\"f:data\":{\"f:b\":{}}}") "]",
      "[" ENTRY("helm", "Apply", "v1", "{\"f:data\":{\".\":{},\"f:a\":{},\"f:b\":{}}}") "]" },
    { "another version is dropped",
      "[" ENTRY("helm", "Apply", "v2", "{\"f:b\":{}}") "," ENTRY(
          "helm", "Update", "v1", "{\"f:a\":{}}") "," ENTRY("kubectl", "Update", "v1", "{\"f:c\":{}}") "]",
      "[" ENTRY("helm", "Apply", "v2", "{\"f:b\":{}}") "," ENTRY("kubectl", "Update", "v1",
                                                                 "{\"f:c\":{}}") "]" },
    { "of two client-side versions the first counts",
      "[" ENTRY("helm", "Update", "v2", "{\"f:b\":{}}") "," ENTRY("helm", "Update", "v1", "{\"f:a\":{}}") "]",
      "[" ENTRY("helm", "Apply", "v2", "{\"f:b\":{}}") "]" },
};

static void test_client_side_fields_move_as_client_go_moves_them(void **state)
{
    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);
        struct value before, after;
        struct err *err = NULL;

        assert_ok(json_parse(a, str_from(cases[i].before), NULL, &before, &err), err);
        after = act_fields_moved(a, before, STR("helm"));
        if (!cases[i].after && value_is_null(after))
            continue;
        assert_ok(json_print(after, 0, &text, &err), err);
        assert_case_str(cases[i].name, buf_str(&text), cases[i].after ? cases[i].after : "null");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        test_client_side_fields_move_as_client_go_moves_them) };

    return RUN_TESTS(tests);
}

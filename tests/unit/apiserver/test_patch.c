/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static struct value parse(struct arena *a, struct str text)
{
    struct value v = VALUE_NONE;

    assert_int_equal(json_parse(a, text, NULL, &v, NULL), 0);
    return v;
}

static void print(struct value v, struct buf *out)
{
    IGNORE_ERROR(json_print(v, 0, out, NULL));
}

/* tests/data/apiserver/strategic.jsonl: random patches, and what apimachinery made of them (tools/kinds). */
static void check_strategic(struct arena *a, struct value line, size_t number)
{
    CLEANUP(buf_done)
    struct buf got = BUF_INIT(MIB), want = BUF_INIT(MIB), name = BUF_INIT(KIB), before = BUF_INIT(MIB);
    CLEANUP(buf_done) struct buf after = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    const struct value doc = value_getz(line, "doc");
    struct value v = VALUE_NONE;

    buf_addf(&name, "line %zu", number);
    print(doc, &before);
    if (api_patch_strategic(a, api_kind_type_named(STR("io.k8s.api.apps.v1.Deployment")), doc,
                            value_getz(line, "patch"), &v, &err) < 0)
        buf_adds(&got, err_message(err));
    else
        print(v, &got);
    print(doc, &after);
    if (value_has(line, STR("error")))
        buf_addstr(&want, value_str(value_getz(line, "error")));
    else
        print(value_getz(line, "want"), &want);
    assert_case_str(buf_z(&name), buf_str(&got), buf_z(&want));
    assert_case_str("the input", buf_str(&after), buf_z(&before));
}

static void test_strategic_patches_give_what_apimachinery_gives(void **state)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(16 * MIB);
    struct str rest, text;
    size_t n = 0;

    UNUSED(state);
    check_read_data("apiserver/strategic.jsonl", &all);
    rest = buf_str(&all);
    while (str_split(&rest, '\n', &text)) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);

        if (text.n > 0)
            check_strategic(a, parse(a, text), ++n);
    }
    assert_true(n > 250);
}

static void test_strategic_faults_have_the_servers_codes(void **state)
{
    static const struct {
        const char *patch, *text;
        int status;
    } cases[] = {
        { "[1]", "json: cannot unmarshal array into Go value of type map[string]interface {}", 400 },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}}}",
          "map: map[image:x] does not contain declared merge key: name", 500 },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"$patch\":\"merge\",\"name\":\"c\"}]}}}}",
          "merging lists cannot yet be specified in the patch", 500 },
        { "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"$patch\":\"foo\",\"name\":\"c\"}]}}}}",
          "unknown patch type: foo in map: map[$patch:foo name:c]", 500 },
        { "{\"spec\":{\"$patch\":5}}", "unknown patch type: %!s(int64=5) in map: map[$patch:5]", 500 },
        { "{\"spec\":{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\",\"rollingUpdate\":{"
          "\"maxSurge\":1}}}}",
          "invalid patch format of retainKeys", 400 },
        { "{\"spec\":{\"template\":{\"spec\":{\"$setElementOrder/"
          "containers\":[{\"name\":\"d\"}],\"containers\":[{\"name\":\"c\"}]}}}}",
          "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:d]]\n",
          500 },
    };
    static const char doc[] =
        "{\"spec\":{\"strategy\":{\"type\":\"RollingUpdate\"},\"template\":{\"spec\":{\"containers\":["
        "{\"name\":\"c\"},{\"name\":\"d\"}]}}}}";

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v;

        assert_true(api_patch_strategic(a, api_kind_type_named(STR("io.k8s.api.apps.v1.Deployment")),
                                        parse(a, str_from(doc)), parse(a, str_from(cases[i].patch)), &v,
                                        &err) < 0);
        assert_case_str(cases[i].patch, str_from(err_message(err)), cases[i].text);
        assert_case_num(cases[i].patch, err_http_status(err), cases[i].status);
    }
}

/* "" in want: refused with 422. Each was tried on kube-apiserver, or follows evanphx/json-patch 4. */
static void test_json_patches(void **state)
{
    static const struct {
        const char *ops, *want;
    } cases[] = {
        { "[]", "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]",
          "{\"a\":\"1\",\"b\":2,\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"b\",\"value\":2}]", "" },
        { "[{\"op\":\"add\",\"path\":\"data/b\",\"value\":2}]",
          "{\"a\":\"1\",\"b\":2,\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/x/y\",\"value\":2}]", "" },
        { "[{\"op\":\"add\",\"path\":\"/a~1b~0\",\"value\":2}]",
          "{\"a\":\"1\",\"a/b~\":2,\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/l/-\",\"value\":4}]",
          "{\"a\":\"1\",\"l\":[1,2,3,4],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/l/0\",\"value\":0}]",
          "{\"a\":\"1\",\"l\":[0,1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/l/3\",\"value\":4}]",
          "{\"a\":\"1\",\"l\":[1,2,3,4],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/l/4\",\"value\":4}]", "" },
        { "[{\"op\":\"add\",\"path\":\"/l/-1\",\"value\":4}]",
          "{\"a\":\"1\",\"l\":[1,2,3,4],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"add\",\"path\":\"/l/x\",\"value\":4}]", "" },
        { "[{\"op\":\"add\",\"path\":\"/b\"}]",
          "{\"a\":\"1\",\"b\":null,\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"remove\",\"path\":\"/z\"}]", "" },
        { "[{\"op\":\"remove\",\"path\":\"/l/1\"}]", "{\"a\":\"1\",\"l\":[1,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"remove\",\"path\":\"/l/-1\"}]", "{\"a\":\"1\",\"l\":[1,2],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"remove\",\"path\":\"/l/3\"}]", "" },
        { "[{\"op\":\"replace\",\"path\":\"/m/k\",\"value\":5}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":5}}" },
        { "[{\"op\":\"replace\",\"path\":\"/m/z\",\"value\":5}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\",\"z\":5}}" },
        { "[{\"op\":\"replace\",\"path\":\"/l/7\",\"value\":5}]", "" },
        { "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"q\":1}}]", "{\"q\":1}" },
        { "[{\"op\":\"replace\",\"path\":\"\",\"value\":5}]", "" },
        { "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/m/a\"}]",
          "{\"l\":[1,2,3],\"m\":{\"a\":\"1\",\"k\":\"v\"}}" },
        { "[{\"op\":\"move\",\"from\":\"/q\",\"path\":\"/m/a\"}]", "" },
        { "[{\"op\":\"copy\",\"from\":\"/m\",\"path\":\"/n\"},{\"op\":\"add\",\"path\":\"/n/"
          "z\",\"value\":1}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"},\"n\":{\"k\":\"v\",\"z\":1}}" },
        { "[{\"op\":\"copy\",\"from\":\"/l\",\"path\":\"/n\"},{\"op\":\"remove\",\"path\":\"/n/0\"}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"},\"n\":[2,3]}" },
        { "[{\"op\":\"copy\",\"from\":\"/q\",\"path\":\"/m/a\"}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"a\":null,\"k\":\"v\"}}" },
        { "[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"1\"}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"2\"}]", "" },
        { "[{\"op\":\"test\",\"path\":\"/z\",\"value\":null}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"test\",\"path\":\"/l\",\"value\":[1,2,3]}]",
          "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}" },
        { "[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"2\"},{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]",
          "" },
        { "[{\"op\":\"junk\",\"path\":\"/a\"}]", "" },
        { "[{\"path\":\"/a\",\"value\":1}]", "" },
        { "[{\"op\":\"add\"}]", "" },
    };
    static const char doc[] = "{\"a\":\"1\",\"l\":[1,2,3],\"m\":{\"k\":\"v\"}}";

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf got = BUF_INIT(MIB), input = BUF_INIT(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v = VALUE_NONE, d = parse(a, str_from(doc));

        if (api_patch_json(a, d, parse(a, str_from(cases[i].ops)), &v, &err) >= 0)
            print(v, &got);
        else
            assert_case_num(cases[i].ops, err_http_status(err), 422);
        assert_case_str(cases[i].ops, buf_str(&got), cases[i].want);
        print(d, &input);
        assert_case_str("the input", buf_str(&input), doc);
    }
}

static void test_malformed_json_patches(void **state)
{
    static const struct {
        const char *ops, *text;
    } cases[] = {
        { "{\"op\":\"add\"}", "error decoding patch: json: cannot unmarshal object into Go value of type "
                              "[]handlers.jsonPatchOp" },
        { "[1]",
          "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp" },
        { "[{\"op\":5}]", "error decoding patch: json: cannot unmarshal number into Go struct field "
                          "jsonPatchOp.op of type string" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v;

        assert_true(api_patch_json(a, parse(a, STR("{}")), parse(a, str_from(cases[i].ops)), &v, &err) < 0);
        assert_case_num(cases[i].ops, err_http_status(err), 400);
        assert_case_str(cases[i].ops, str_from(err_message(err)), cases[i].text);
    }
}

static void test_the_number_of_operations_is_limited(void **state)
{
    UNUSED(state);
    for (size_t n = API_PATCH_OPERATIONS_MAX - 1; n <= API_PATCH_OPERATIONS_MAX + 1; n++) {
        CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
        CLEANUP(buf_done) struct buf b = BUF_INIT(4 * MIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v;
        int r;

        for (size_t i = 0; i < n; i++)
            buf_addf(&b, "%s{\"op\":\"add\",\"path\":\"/a\",\"value\":1}", i ? "," : "[");
        buf_addc(&b, ']');
        r = api_patch_json(a, parse(a, STR("{}")), parse(a, buf_str(&b)), &v, &err);
        assert_case_num("result", r<0, n> API_PATCH_OPERATIONS_MAX);
        if (r < 0) {
            assert_num(err_http_status(err), 413);
            assert_str(str_from(err_message(err)),
                       "The allowed maximum operations in a JSON patch is 10000, got 10001");
        }
    }
}

static void test_copies_cannot_grow_without_limit(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);
    struct value v;

    UNUSED(state);
    buf_adds(&b, "[{\"op\":\"add\",\"path\":\"/a\",\"value\":[1]}");
    for (int i = 0; i < 40; i++) /* doubles each time */
        buf_adds(&b, ",{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/-\"}");
    buf_addc(&b, ']');
    assert_true(api_patch_json(a, parse(a, STR("{}")), parse(a, buf_str(&b)), &v, NULL) < 0);
}

static void test_merge_patches(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf got = BUF_INIT(MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v;

    UNUSED(state);
    assert_ok(api_patch_merge(a, parse(a, STR("{\"a\":{\"b\":1,\"c\":2},\"l\":[1]}")),
                              parse(a, STR("{\"a\":{\"b\":null,\"d\":3},\"l\":[null]}")), &v, &err),
              err);
    print(v, &got);
    assert_str(buf_str(&got), "{\"a\":{\"c\":2,\"d\":3},\"l\":[null]}");
    assert_true(api_patch_merge(a, v, parse(a, STR("[]")), &v, &err) < 0);
    assert_num(err_http_status(err), 400);
    assert_str(
        str_from(err_message(err)),
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategic_patches_give_what_apimachinery_gives),
        cmocka_unit_test(test_strategic_faults_have_the_servers_codes),
        cmocka_unit_test(test_json_patches),
        cmocka_unit_test(test_malformed_json_patches),
        cmocka_unit_test(test_the_number_of_operations_is_limited),
        cmocka_unit_test(test_copies_cannot_grow_without_limit),
        cmocka_unit_test(test_merge_patches),
    };

    return RUN_TESTS(tests);
}

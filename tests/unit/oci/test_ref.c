/* SPDX-License-Identifier: Apache-2.0 */
/* References, challenges and logins: texts that others wrote. */
#include <stdlib.h>

#include "base/limits.h"
#include "lib/check.h"
#include "oci/oci.h"
#include "oci/oci_int.h"

static struct arena *a;

static int setup(void **state)
{
    UNUSED(state);
    a = arena_new(64 * MIB);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    arena_free(a);
    return 0;
}

#define HEX "4c6ebc90291d8c4f3751a5542a861552a4035c099b736cbf52e32cc782952082"

static void test_a_reference_is_taken_apart_as_helm_does(void **state)
{
    static const struct {
        const char *text, *host, *repository, *tag, *digest, *again;
    } cases[] = {
        { "oci://localhost:5000/charts/web", "localhost:5000", "charts/web", "", "",
          "localhost:5000/charts/web" },
        { "r.example.com/web:1.0.0", "r.example.com", "web", "1.0.0", "", "r.example.com/web:1.0.0" },
        { "oci://r/web:1.0.0+b.1", "r", "web", "1.0.0_b.1", "", "r/web:1.0.0_b.1" },
        { "oci://r/a_b__c.d-e--f/web@sha256:" HEX, "r", "a_b__c.d-e--f/web", "", "sha256:" HEX,
          "r/a_b__c.d-e--f/web@sha256:" HEX },
        { "oci://r/web:2@sha256:" HEX, "r", "web", "2", "sha256:" HEX, "r/web:2" },
        { "oci://[::1]:5000/web", "[::1]:5000", "web", "", "", "[::1]:5000/web" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf again = BUF_INIT(KIB);
        struct err *err = NULL;
        struct oci_ref ref;

        assert_ok(oci_ref_parse(a, str_from(cases[i].text), &ref, &err), err);
        assert_case_str(cases[i].text, ref.host, cases[i].host);
        assert_case_str(cases[i].text, ref.repository, cases[i].repository);
        assert_case_str(cases[i].text, ref.tag, cases[i].tag);
        assert_case_str(cases[i].text, ref.digest, cases[i].digest);
        oci_ref_format(&ref, &again);
        assert_case_str(cases[i].text, buf_str(&again), cases[i].again);
    }
}

static void test_what_is_no_reference_is_refused_in_the_words_of_oras(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "oci://", "missing registry or repository" },
        { "oci://r", "missing registry or repository" },
        { "oci:///web", "invalid registry \"\"" },
        { "oci://user@r/web", "missing registry or repository" },
        { "oci://r:port/web", "invalid registry \"r:port\"" },
        { "oci://r:70000/web", "invalid registry \"r:70000\"" },
        { "oci://r?x/web", "invalid registry \"r?x\"" },
        { "oci://r/Web", "invalid repository \"Web\"" },
        { "oci://r/a/../b", "invalid repository \"a/../b\"" },
        { "oci://r/a//b", "invalid repository \"a//b\"" },
        { "oci://r/a___b", "invalid repository \"a___b\"" },
        { "oci://r/a..b", "invalid repository \"a..b\"" },
        { "oci://r/a/", "invalid repository \"a/\"" },
        { "oci://r/web:-1", "invalid tag \"-1\"" },
        { "oci://r/web:1/2", "invalid tag \"1/2\"" },
        { "oci://r/web:a b", "invalid tag \"a b\"" },
        { "oci://r/web@sha256:5cc", "invalid digest \"sha256:5cc\"" },
        { "oci://r/web@md5:" HEX, "invalid digest \"md5:" HEX "\"" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr) char *want = xasprintf("invalid reference: %s", cases[i].error);
        struct err *err = NULL;
        struct oci_ref ref;

        assert_fails(oci_ref_parse(a, str_from(cases[i].text), &ref, &err), ERRC_INVALID, err, want);
    }
}

static void test_no_part_of_a_reference_has_a_nul(void **state)
{
    static const char text[] = "oci://r/web:1";

    UNUSED(state);
    for (size_t i = STR("oci://").n; i < sizeof(text) - 1; i++) {
        struct oci_ref ref;
        char odd[sizeof(text)];

        memcpy(odd, text, sizeof(text));
        odd[i] = '\0';
        assert_case_num("NUL", oci_ref_parse(a, (struct str){ odd, sizeof(text) - 1 }, &ref, NULL),
                        -ERRC_INVALID);
    }
}

static void test_a_tag_has_at_most_128_characters(void **state)
{
    UNUSED(state);
    for (size_t n = 127; n <= 129; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);
        struct oci_ref ref;

        buf_adds(&text, "r/web:");
        buf_add_repeat(&text, '1', n);
        assert_num(oci_ref_parse(a, buf_str(&text), &ref, NULL), n <= 128 ? 0 : -ERRC_INVALID);
    }
}

static void test_challenges(void **state)
{
    static const struct {
        const char *header;
        int scheme;
        const char *realm, *service;
    } cases[] = {
        { "", OCI_AUTH_NONE, "", "" },
        { "Basic realm=\"x\"", OCI_AUTH_BASIC, "x", "" },
        { "Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:x:pull\"", OCI_AUTH_BEARER,
          "https://a/t", "s" },
        { "bearer  service=s , realm=\"https://a/t?x=1,2\"", OCI_AUTH_BEARER, "https://a/t?x=1,2", "s" },
        { "Negotiate, Basic realm=x", OCI_AUTH_BASIC, "x", "" },
        { "Digest realm=\"d\", nonce=\"Bearer realm=no\", Bearer realm=\"https://b\"", OCI_AUTH_BEARER,
          "https://b", "" },
        { "Bearer realm=\"a\\\"b\"", OCI_AUTH_BEARER, "a\"b", "" },
        { "Bearer realm=\"open", OCI_AUTH_BEARER, "open", "" },
        { "Bearer", OCI_AUTH_BEARER, "", "" },
        { "Bearer =\"x\"", OCI_AUTH_BEARER, "", "" },
        { ",,,", OCI_AUTH_NONE, "", "" },
        { "\"Bearer realm=x\"", OCI_AUTH_NONE, "", "" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct oci_challenge ch;

        oci_challenge_parse(a, str_from(cases[i].header), &ch);
        assert_case_num(cases[i].header, ch.scheme, cases[i].scheme);
        assert_case_str(cases[i].header, ch.realm, cases[i].realm);
        assert_case_str(cases[i].header, ch.service, cases[i].service);
    }
}

static void test_a_login_is_found_by_each_way_to_write_its_host(void **state)
{
    static const char config[] =
        "{\"auths\":{\"r.example.com\":{\"auth\":\"YW5uOnNlY3JldDp3aXRoOmNvbG9ucw==\"},"
        "\"https://old.example.com/v2/\":{\"username\":\"bob\",\"password\":\"pw\"},"
        "\"https://index.docker.io/v1/\":{\"identitytoken\":\"id\"},\"t\":{\"registrytoken\":\"rt\"}},"
        "\"credHelpers\":{\"h.example.com\":\"ecr-login\"},\"HttpHeaders\":{}}";
    static const struct {
        const char *host;
        int r;
        const char *user, *password, *identity, *token;
    } cases[] = {
        { "r.example.com", 1, "ann", "secret:with:colons", "", "" },
        { "old.example.com", 1, "bob", "pw", "", "" },
        { "docker.io", 1, "", "", "id", "" },
        { "registry-1.docker.io", 1, "", "", "id", "" },
        { "t", 1, "", "", "", "rt" },
        { "r.example.com:5000", 0, "", "", "", "" },
        { "example.com", 0, "", "", "", "" },
        { "h.example.com", -ERRC_UNSUPPORTED, "", "", "", "" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct oci_login login = { .user = STR(""), .password = STR("") };

        assert_case_num(cases[i].host,
                        oci_login_find(a, str_from(config), str_from(cases[i].host), &login, NULL),
                        cases[i].r);
        assert_case_str(cases[i].host, login.user, cases[i].user);
        assert_case_str(cases[i].host, login.password, cases[i].password);
        assert_case_str(cases[i].host, login.identity_token, cases[i].identity);
        assert_case_str(cases[i].host, login.registry_token, cases[i].token);
    }
}

static void test_broken_logins_are_errors_that_show_nothing(void **state)
{
    static const char *const cases[] = {
        "{\"auths\":{\"r\":{\"auth\":\"%%canary\"}}}",
        "{\"auths\":{\"r\":{\"auth\":\"Y2FuYXJ5\"}}}",
        "{\"canary",
        "[\"canary\"]",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;
        struct oci_login login;

        assert_case_num(cases[i], oci_login_find(a, str_from(cases[i]), STR("r"), &login, &err), -ERRC_PARSE);
        assert_null(strstr(err_message(err), "canary"));
    }
}

static void test_a_login_is_added_replaced_and_removed_and_the_rest_stays(void **state)
{
    CLEANUP(buf_done) struct buf one = BUF_INIT(MIB), two = BUF_INIT(MIB), three = BUF_INIT(MIB);
    struct oci_login login = { .user = STR("ann"), .password = STR("one") };
    struct err *err = NULL;

    UNUSED(state);
    assert_ok(oci_login_put(STR("{\"proxies\":{\"x\":1},\"auths\":{\"other\":{\"auth\":\"YTpi\"}}}"),
                            STR("r"), &login, &one, &err),
              err);
    login.password = STR("two");
    assert_ok(oci_login_put(buf_str(&one), STR("r"), &login, &two, &err), err);
    assert_num(oci_login_find(a, buf_str(&two), STR("r"), &login, NULL), 1);
    assert_str(login.password, "two");
    assert_ok(oci_login_put(buf_str(&two), STR("r"), NULL, &three, &err), err);
    assert_str(buf_str(&three), "{\n  \"auths\": {\n    \"other\": {\n      \"auth\": \"YTpi\"\n    }\n  },\n"
                                "  \"proxies\": {\n    \"x\": 1\n  }\n}");
    assert_num(oci_login_put(STR("{\"credsStore\":\"pass\"}"), STR("r"), &login, &one, NULL),
               -ERRC_UNSUPPORTED);
}

static void test_a_config_has_a_limit(void **state)
{
    UNUSED(state);
    for (size_t n = OCI_CONFIG_MAX - 1; n <= OCI_CONFIG_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * OCI_CONFIG_MAX);
        struct oci_login login;

        buf_adds(&text, "{}");
        buf_add_repeat(&text, ' ', n - 3);
        buf_addc(&text, '\n');
        assert_num(oci_login_find(a, buf_str(&text), STR("r"), &login, NULL),
                   n <= OCI_CONFIG_MAX ? 0 : -ERRC_LIMIT);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_reference_is_taken_apart_as_helm_does, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_reference_is_refused_in_the_words_of_oras, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_no_part_of_a_reference_has_a_nul, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_tag_has_at_most_128_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_challenges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_login_is_found_by_each_way_to_write_its_host, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_logins_are_errors_that_show_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_login_is_added_replaced_and_removed_and_the_rest_stays, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_config_has_a_limit, setup, teardown),
    };

    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials: the forms of a Secret, and helm's repositories.yaml. */
#include <stdlib.h>

#include "base/encode.h"
#include "base/fs.h"
#include "base/limits.h"
#include "lib/check.h"
#include "registry/registry.h"

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

static struct str encode(struct str s)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);

    base64_encode(BASE64_STD, s, &out);
    return arena_dup(a, buf_str(&out));
}

/* "key=value key=value"; a key with '!' in front is encoded once more. */
static struct value secret(const char *pairs)
{
    struct value o = value_new_map(a), data = value_new_map(a);
    struct str rest = str_from(pairs), pair, key;

    while (str_split(&rest, ' ', &pair)) {
        bool twice = str_has_prefix(pair, STR("!"));

        str_split(&pair, '=', &key);
        key = twice ? str_sub(key, 1, key.n) : key;
        value_set(data, key, value_from_str(encode(twice ? encode(pair) : pair)));
    }
    value_set_path(o, "metadata.name", VALUE_STR("login"));
    value_setz(o, "data", data);
    return o;
}

static void test_a_secret_has_its_credentials_under_any_of_the_known_keys(void **state)
{
    static const struct {
        const char *pairs, *user, *password, *bearer, *ca, *cert, *key, *logins;
    } cases[] = {
        { "user=ann password=pw", "ann", "pw", "", "", "", "", "" },
        { "username=ann password=pw", "ann", "pw", "", "", "", "", "" },
        { "!user=ann !password=pw", "ann", "pw", "", "", "", "", "" },
        { "user=ann password=pw=with==", "ann", "pw=with==", "", "", "", "", "" },
        { "token=t", "", "", "t", "", "", "", "" },
        { "bearerToken=t", "", "", "t", "", "", "", "" },
        { "ca.crt=CA", "", "", "", "CA", "", "", "" },
        { "caFile=CA certFile=C keyFile=K", "", "", "", "CA", "C", "K", "" },
        { "tls.crt=C tls.key=K user=ann password=pw", "ann", "pw", "", "", "C", "K", "" },
        { ".dockerconfigjson={}", "", "", "", "", "", "", "{}" },
        { "config.json={}", "", "", "", "", "", "", "{}" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct registry_auth auth = { 0 };
        struct err *err = NULL;

        assert_ok(registry_auth_from_secret(a, secret(cases[i].pairs), &auth, &err), err);
        assert_case_str(cases[i].pairs, auth.user, cases[i].user);
        assert_case_str(cases[i].pairs, auth.password, cases[i].password);
        assert_case_str(cases[i].pairs, auth.bearer, cases[i].bearer);
        assert_case_str(cases[i].pairs, auth.ca_pem, cases[i].ca);
        assert_case_str(cases[i].pairs, auth.cert_pem, cases[i].cert);
        assert_case_str(cases[i].pairs, auth.key_pem, cases[i].key);
        assert_case_str(cases[i].pairs, auth.logins, cases[i].logins);
    }
}

static void test_a_proxy_gets_its_own_login(void **state)
{
    static const struct {
        const char *pairs, *proxy, *want;
    } cases[] = {
        { "proxyUsername=bob proxyPassword=p@ss/1", "http://proxy:3128", "http://bob:p%40ss%2F1@proxy:3128" },
        { "proxyUser=bob !proxyPassword=pass", "socks5://[::1]:1080", "socks5://bob:pass@[::1]:1080" },
        { "user=ann password=pw", "http://proxy:3128", "http://proxy:3128" },
        { "proxyUsername=bob proxyPassword=pass", "", "" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct registry_auth auth = { 0 };
        struct err *err = NULL;

        assert_ok(registry_auth_from_secret(a, secret(cases[i].pairs), &auth, &err), err);
        assert_string_equal(registry_proxy_url(a, cases[i].proxy, &auth), cases[i].want);
    }
}

static void test_half_a_login_names_the_missing_key(void **state)
{
    static const struct {
        const char *pairs, *error;
    } cases[] = {
        { "user=ann", "Secret login has no password" },
        { "password=pw", "Secret login has no user" },
        { "tls.crt=C", "Secret login has no tls.key" },
        { "tls.key=K", "Secret login has no tls.crt" },
        { "other=x", "Secret login has no user and password, token, ca.crt, tls.crt or .dockerconfigjson" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct registry_auth auth;
        struct err *err = NULL;

        assert_fails(registry_auth_from_secret(a, secret(cases[i].pairs), &auth, &err), ERRC_INVALID, err,
                     cases[i].error);
    }
}

static void test_helms_repositories_are_read(void **state)
{
    static const char text[] = "apiVersion: \"\"\nrepositories:\n"
                               "- {name: one, url: https://one.example.com, username: ann, password: 123, "
                               "pass_credentials_all: true}\n"
                               "- {name: two, url: https://two.example.com, caFile: ca, certFile: c, "
                               "keyFile: k, insecure_skip_tls_verify: true}\n"
                               "- null\n";
    char *dir = check_temp_dir();
    CLEANUP(free_ptr) char *path = fs_join(dir, "repositories.yaml");
    struct registry_entry *all;
    struct err *err = NULL;
    size_t n = 9;

    UNUSED(state);
    assert_ok(registry_entries_read(a, path, &all, &n, &err), err);
    assert_num(n, 0);
    assert_ok(fs_write_file(path, str_from(text), 0600, &err), err);
    assert_ok(registry_entries_read(a, path, &all, &n, &err), err);
    assert_num(n, 2);
    assert_str(all[0].user, "ann");
    assert_str(all[0].password, "123");
    assert_true(all[0].pass_credentials && !all[0].insecure);
    assert_str(all[1].ca_file, "ca");
    assert_str(all[1].key_file, "k");
    assert_true(all[1].insecure && !all[1].pass_credentials);
    assert_ok(fs_write_file(path, STR("password: canary: x"), 0600, &err), err);
    assert_num(registry_entries_read(a, path, &all, &n, &err), -ERRC_PARSE);
    assert_null(strstr(err_message(err), "canary"));
    err_free(err);
    check_temp_done(dir);
}

static void test_the_list_of_repositories_has_a_limit(void **state)
{
    char *dir = check_temp_dir();
    CLEANUP(free_ptr) char *path = fs_join(dir, "repositories.yaml");

    UNUSED(state);
    for (size_t n = REPOSITORIES_FILE_MAX - 1; n <= REPOSITORIES_FILE_MAX + 1; n++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * REPOSITORIES_FILE_MAX);
        struct registry_entry *all;
        size_t found;

        buf_add_repeat(&text, '\n', n);
        assert_num(fs_write_file(path, buf_str(&text), 0600, NULL), 0);
        assert_num(registry_entries_read(a, path, &all, &found, NULL),
                   n <= REPOSITORIES_FILE_MAX ? 0 : -ERRC_LIMIT);
    }
    check_temp_done(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_secret_has_its_credentials_under_any_of_the_known_keys, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_proxy_gets_its_own_login, setup, teardown),
        cmocka_unit_test_setup_teardown(test_half_a_login_names_the_missing_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_helms_repositories_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_list_of_repositories_has_a_limit, setup, teardown),
    };

    return RUN_TESTS(tests);
}

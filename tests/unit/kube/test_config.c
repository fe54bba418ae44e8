/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "kube/kube_int.h"
#include "lib/check.h"

static char *dir;

static int setup(void **state)
{
    UNUSED(state);
    dir = check_temp_dir();
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    unsetenv("POD_NAMESPACE");
    setenv("HOME", dir, 1);
    return 0;
}

static int teardown(void **state)
{
    UNUSED(state);
    check_temp_done(dir);
    return 0;
}

static char *write_file(const char *name, const char *text)
{
    char *path = fs_join(dir, name);

    if (fs_write_file(path, str_from(text), 0600, NULL) < 0)
        abort();
    return path;
}

#define CLUSTER(name, server) "- name: " name "\n  cluster: {server: '" server "'}\n"
#define BASIC                                                                                            \
    "apiVersion: v1\nkind: Config\ncurrent-context: one\nclusters:\n" CLUSTER("c1", "https://one:6443")  \
        CLUSTER("c2",                                                                                    \
                "https://two/k8s/") "users:\n- name: u1\n  user: {token: t1}\n"                          \
                                    "- name: u2\n  user: {username: jane, password: secret, as: admin, " \
                                    "as-groups: [g1, g2]}\n"                                             \
                                    "contexts:\n- name: one\n  context: {cluster: c1, user: u1}\n"       \
                                    "- name: two\n  context: {cluster: c2, user: u2, namespace: web}\n"

static struct kube_config *load(struct kube_config_options o)
{
    struct kube_config *c = NULL;
    struct err *err = NULL;

    check_ok(kube_config_load(&o, &c, &err), &err, "kube_config_load", __FILE__, __LINE__);
    return c;
}

static void test_the_current_context_is_used_or_the_one_asked_for(void **state)
{
    CLEANUP(free_ptr) char *path = write_file("config", BASIC);
    CLEANUP(kube_config_free)
    struct kube_config *one = load((struct kube_config_options){ .kubeconfig = path });
    CLEANUP(kube_config_free)
    struct kube_config *two = load((struct kube_config_options){ .kubeconfig = path, .context = "two" });

    UNUSED(state);
    assert_str(kube_config_server(one), "https://one:6443");
    assert_str(kube_config_namespace(one), "default");
    assert_str(kube_config_context(one), "one");
    assert_str(one->token, "t1");
    assert_str(kube_config_namespace(two), "web");
    assert_str(two->user, "jane");
    assert_str(two->as, "admin");
    assert_num(two->n_as_groups, 2);
    assert_str(two->as_groups[1], "g2");
}

static void test_flags_take_the_place_of_what_files_say(void **state)
{
    CLEANUP(free_ptr) char *path = write_file("config", BASIC);
    CLEANUP(kube_config_free)
    struct kube_config *c = load((struct kube_config_options){ .kubeconfig = path,
                                                               .user = "u2",
                                                               .server = "https://other",
                                                               .namespace = "n",
                                                               .token = "t9",
                                                               .insecure = true,
                                                               .as = "joe" });

    UNUSED(state);
    assert_str(c->server, "https://other");
    assert_str(c->token, "t9");
    assert_num(c->user.n, 0);
    assert_str(kube_config_namespace(c), "n");
    assert_str(c->as, "joe");
    assert_true(c->insecure);
}

static void test_the_first_file_wins_whole(void **state)
{
    CLEANUP(free_ptr) char *a = write_file("a", "clusters:\n" CLUSTER("c1", "https://first"));
    CLEANUP(free_ptr) char *b = write_file("b", BASIC);
    CLEANUP(free_ptr) char *list = xasprintf("%s:%s/absent::%s", a, dir, b);
    CLEANUP(kube_config_free) struct kube_config *c = NULL;

    UNUSED(state);
    setenv("KUBECONFIG", list, 1);
    c = load((struct kube_config_options){ 0 });
    assert_str(c->server, "https://first");
    assert_str(c->token, "t1");
}

static void test_paths_are_relative_to_their_file(void **state)
{
    CLEANUP(free_ptr)
    char *path = write_file(
        "config", "current-context: x\nclusters: [{name: x, cluster: {server: 'https://h', "
                  "certificate-authority: ca.crt}}]\nusers: [{name: x, user: {tokenFile: /abs/token, "
                  "client-certificate: c/x.crt, client-key: c/x.key}}]\n"
                  "contexts: [{name: x, context: {cluster: x, user: x}}]\n");
    CLEANUP(kube_config_free)
    struct kube_config *c = load((struct kube_config_options){ .kubeconfig = path });
    CLEANUP(free_ptr) char *real = realpath(dir, NULL);
    CLEANUP(free_ptr) char *ca = fs_join(real, "ca.crt"), *cert = fs_join(real, "c/x.crt");

    UNUSED(state);
    assert_str(c->ca_file, ca);
    assert_str(c->cert_file, cert);
    assert_str(c->token_file, "/abs/token");
}

static void test_what_is_wrong_names_file_and_entry(void **state)
{
    static const struct {
        const char *text, *context;
        enum errc code;
        const char *error; /* FILE stands for the path */
    } cases[] = {
        { BASIC, "three", ERRC_NOT_FOUND, "kubeconfig: there is no context \"three\"" },
        { "contexts: [{name: x, context: {cluster: nope, user: u}}]", "x", ERRC_NOT_FOUND,
          "kubeconfig: there is no cluster \"nope\"" },
        { "clusters: [{name: c, cluster: {}}]\ncontexts: [{name: x, context: {cluster: c}}]", "x",
          ERRC_INVALID, "kubeconfig: the cluster has no server" },
        { "clusters: [{name: c, cluster: {server: 'ftp://h'}}]\ncontexts: [{name: x, context: {cluster: c}}]",
          "x", ERRC_INVALID, "kubeconfig: server: URL ftp://h: only http and https are allowed" },
        { "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority-data: '!'}}]\n"
          "contexts: [{name: x, context: {cluster: c}}]",
          "x", ERRC_INVALID, "FILE: \"c\": certificate-authority-data: this is not base64" },
        { "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority-data: 'eA==', "
          "certificate-authority: f}}]\ncontexts: [{name: x, context: {cluster: c}}]",
          "x", ERRC_INVALID,
          "FILE: \"c\": certificate-authority: certificate-authority-data is set as well" },
        { "users: [{name: u, user: {token: t, username: jane}}]\ncontexts: [{name: x, context: {user: u}}]",
          "x", ERRC_INVALID, "FILE: \"u\": username: a token is set as well" },
        { "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: "
          "Never}}}]\n"
          "contexts: [{name: x, context: {user: u}}]",
          "x", ERRC_INVALID, "FILE: \"u\": exec: command is missing" },
        { "users: [{name: u, user: {exec: {command: c, apiVersion: client.authentication.k8s.io/v1}}}]\n"
          "contexts: [{name: x, context: {user: u}}]",
          "x", ERRC_INVALID, "FILE: \"u\": exec: interactiveMode is missing" },
        { "users: [{name: u, user: {auth-provider: {name: gcp}}}]\ncontexts: [{name: x, context: {user: u}}]",
          "x", ERRC_INVALID, "FILE: \"u\": auth-provider: not supported, use exec" },
        { "clusters: [{name: c, cluster: {server: 'https://h'}}]\nusers: [{name: u, user: "
          "{client-certificate-data: "
          "'eA=='}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]",
          "x", ERRC_INVALID, "kubeconfig: the user has a client certificate without a key" },
        { "just text", NULL, ERRC_PARSE, "FILE: this is no kubeconfig" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr) char *path = write_file("config", cases[i].text);
        CLEANUP(buf_done) struct buf want = BUF_INIT(4 * KIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct kube_config_options o = { .kubeconfig = path, .context = cases[i].context };
        struct kube_config *c = NULL;

        if (str_has_prefix(str_from(cases[i].error), STR("FILE")))
            buf_adds(&want, path);
        buf_addstr(&want, str_trim_prefix(str_from(cases[i].error), STR("FILE")));
        assert_case_num(cases[i].text, kube_config_load(&o, &c, &err), -(int)cases[i].code);
        assert_case_str(cases[i].text, str_from(err_message(err)), buf_z(&want));
    }
}

static void test_without_any_configuration_it_says_where_it_looked(void **state)
{
    struct kube_config *c = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    assert_fails(kube_config_load(NULL, &c, &err), ERRC_NOT_FOUND, err,
                 "no kubeconfig: neither --kubeconfig, $KUBECONFIG nor ~/.kube/config, and not in a cluster");
}

static void test_in_a_pod_the_service_account_is_used(void **state)
{
    CLEANUP(free_ptr)
    char *token = write_file("token", "t\n"), *ca = write_file("ca.crt", "pem"),
         *ns = write_file("namespace", "mine\n");
    CLEANUP(kube_config_free) struct kube_config *c = NULL;

    UNUSED(state);
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    setenv("PINTLE_SERVICE_ACCOUNT_DIR", dir, 1);
    c = load((struct kube_config_options){ 0 });
    assert_str(c->server, "https://[fd00::1]:443");
    assert_str(kube_config_namespace(c), "mine");
    assert_str(c->token_file, token);
    assert_str(c->ca_file, ca);
    unsetenv("PINTLE_SERVICE_ACCOUNT_DIR");
    UNUSED(ns);
}

/* CVE-2022-24817: a kubeconfig that came from a Secret runs nothing and reads nothing here. */
static void test_a_config_of_somebody_else_cannot_reach_this_machine(void **state)
{
    static const struct {
        const char *user, *cluster, *error;
    } cases[] = {
        { "exec: {command: sh}", "", "exec: it would run a program here" },
        { "auth-provider: {name: oidc}", "", "auth-provider: it would run a program here" },
        { "tokenFile: /etc/shadow", "", "tokenFile: it would read a file here" },
        { "client-certificate: x", "",
          "client-certificate: it would read a file here, use client-certificate-data" },
        { "client-key: x", "", "client-key: it would read a file here, use client-key-data" },
        { "", "certificate-authority: x",
          "certificate-authority: it would read a file here, use certificate-authority-data" },
        { "", "insecure-skip-tls-verify: true", "insecure-skip-tls-verify: the server must be verified" },
        { "", "proxy-url: 'http://p'", "proxy-url: it would send requests elsewhere" },
        { "token: fine", "insecure-skip-tls-verify: false", NULL },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr)
        char *text = xasprintf(
            "clusters: [{name: x, cluster: {server: 'https://h'%s%s}}]\nusers: [{name: x, user: {%s}}]\n"
            "contexts: [{name: x, context: {cluster: x, user: x}}]\ncurrent-context: x\n",
            *cases[i].cluster ? ", " : "", cases[i].cluster, cases[i].user);
        CLEANUP(free_ptr)
        char *want = xasprintf("kubeconfig: \"x\": %s", cases[i].error ? cases[i].error : "");
        CLEANUP(kube_config_free) struct kube_config *c = NULL;
        CLEANUP(err_free) struct err *err = NULL;

        if (cases[i].error)
            assert_fails(kube_config_parse_untrusted(str_from(text), STR_NONE, &c, &err), ERRC_INVALID, err,
                         want);
        else
            assert_ok(kube_config_parse_untrusted(str_from(text), STR_NONE, &c, &err), err);
    }
}

/* ---- credential plugins ------------------------------------------------------------------------------------------- */

static int run_plugin(const char *script, struct str *ret_token, struct err **err)
{
    CLEANUP(free_ptr)
    char *path = xasprintf(
        "clusters: [{name: x, cluster: {server: 'https://h'}}]\nusers: [{name: x, user: {exec: {command: sh, "
        "args: [-c, \"%s\"], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
        "provideClusterInfo: true, installHint: 'Get it.', env: [{name: WORD, value: hello}]}}}]\n"
        "contexts: [{name: x, context: {cluster: x, user: x}}]\ncurrent-context: x\n",
        script);
    CLEANUP(free_ptr) char *file = write_file("config", path);
    CLEANUP(kube_config_free)
    struct kube_config *c = load((struct kube_config_options){ .kubeconfig = file });
    CLEANUP(kube_secrets_unref) struct kube_secrets *s = xcalloc(1, sizeof(*s));
    static char token[256];
    int r;

    atomic_init(&s->refs, 1);
    s->memory = arena_new(MIB);
    r = kube_exec_run(c, s, err);
    snprintf(token, sizeof(token), STR_FMT, STR_ARG(s->token));
    *ret_token = str_from(token);
    return r;
}

#define CREDENTIAL(status)                                   \
    "echo "                                                  \
    "'{\\\"apiVersion\\\":\\\"client.authentication.k8s.io/" \
    "v1\\\",\\\"kind\\\":\\\"ExecCredential\\\",\\\"status\\\":" status "}'"

static void test_a_plugin_gives_a_token(void **state)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct str token;

    UNUSED(state);
    assert_ok(run_plugin(CREDENTIAL("{\\\"token\\\":\\\"'$WORD'\\\"}"), &token, &err), err);
    assert_str(token, "hello");
}

static void test_a_plugin_that_fails_tells_no_secret(void **state)
{
    static const struct {
        const char *script;
        enum errc code;
        const char *error;
    } cases[] = {
        { "echo canary; exit 3", ERRC_UNAUTHORIZED, "credential plugin sh: it failed with exit code 3" },
        { "echo canary", ERRC_PARSE, "credential plugin sh: its output is not JSON" },
        { "echo '{}'", ERRC_PARSE,
          "credential plugin sh: its output is no ExecCredential of client.authentication.k8s.io/v1" },
        { CREDENTIAL("{}"), ERRC_PARSE,
          "credential plugin sh: its output has neither a token nor a certificate with its key" },
        { "yes canary", ERRC_LIMIT, "credential plugin sh: it prints more than 1048576 bytes" },
    };
    struct str token;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(err_free) struct err *err = NULL;

        assert_fails(run_plugin(cases[i].script, &token, &err), cases[i].code, err, cases[i].error);
    }
}

static void test_what_a_plugin_prints_has_a_limit(void **state)
{
    static const char json[] =
        "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
        "\"status\":{\"token\":\"t\"}}\n";

    UNUSED(state);
    for (int d = -1; d <= 1; d++) {
        CLEANUP(free_ptr)
        char *script = xasprintf("printf '%%%ds' ''; " CREDENTIAL("{\\\"token\\\":\\\"t\\\"}"),
                                 (int)KUBE_EXEC_OUTPUT_MAX + d - (int)sizeof(json) + 1);
        struct err *err = NULL;
        struct str token;

        if (d <= 0)
            assert_ok(run_plugin(script, &token, &err), err);
        else
            assert_fails(run_plugin(script, &token, &err), ERRC_LIMIT, err, NULL);
    }
}

static void test_a_kubeconfig_has_a_limit(void **state)
{
    UNUSED(state);
    for (int d = -1; d <= 1; d++) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(2 * KUBE_CONFIG_MAX);
        CLEANUP(kube_config_free) struct kube_config *untrusted = NULL, *c = NULL;
        CLEANUP(free_ptr) char *file = NULL;
        struct kube_config_options o = { 0 };
        struct err *err = NULL;

        buf_adds(&text,
                 "clusters: [{name: x, cluster: {server: 'https://h'}}]\nusers: [{name: x, user: {}}]\n"
                 "contexts: [{name: x, context: {cluster: x, user: x}}]\ncurrent-context: x\n#");
        buf_add_repeat(&text, '#', (size_t)((int64_t)KUBE_CONFIG_MAX + d) - text.n);
        file = write_file("large", buf_z(&text));
        o.kubeconfig = file;
        if (d <= 0) {
            assert_ok(kube_config_load(&o, &c, &err), err);
            assert_ok(kube_config_parse_untrusted(buf_str(&text), STR_NONE, &untrusted, &err), err);
        } else {
            assert_fails(kube_config_load(&o, &c, &err), ERRC_LIMIT, err, NULL);
            assert_fails(kube_config_parse_untrusted(buf_str(&text), STR_NONE, &untrusted, &err), ERRC_LIMIT,
                         err, NULL);
        }
    }
}

/* ---- tokens in files ---------------------------------------------------------------------------------------------- */

static void test_a_token_file_is_read_again_after_a_refusal(void **state)
{
    struct kube_config config = { .server = STR("https://127.0.0.1:1") };
    CLEANUP(free_ptr) char *path = write_file("token", "old\n");
    CLEANUP(kube_unref) struct kube *k = NULL;
    CLEANUP(kube_secrets_unref) struct kube_secrets *first = NULL, *same = NULL, *second = NULL;
    struct clock_fake fake = { .wall = clock_wall(), .mono_ns = clock_mono_ns() };
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    config.token_file = str_from(path);
    assert_ok(kube_new(&config, &k, &err), err);
    clock_set_fake(&fake);
    assert_num(kube_secrets_get(k->conn, NULL, &first, NULL), 0);
    free(write_file("token", "new\n"));
    fake.mono_ns += 2000000000;
    assert_num(kube_secrets_get(k->conn, NULL, &same, NULL), 0);
    assert_num(kube_secrets_get(k->conn, first, &second, NULL), 0);
    clock_set_fake(NULL);
    assert_str(first->token, "old");
    assert_true(same == first);
    assert_str(second->token, "new");
}

static void test_a_token_file_is_read_again_with_time_and_its_last_good_content_stays(void **state)
{
    struct kube_config config = { .server = STR("https://127.0.0.1:1") };
    CLEANUP(free_ptr) char *path = write_file("token", "old\n");
    CLEANUP(kube_unref) struct kube *k = NULL;
    CLEANUP(kube_secrets_unref) struct kube_secrets *first = NULL, *second = NULL, *third = NULL;
    struct clock_fake fake = { .wall = clock_wall(), .mono_ns = clock_mono_ns() };
    CLEANUP(err_free) struct err *err = NULL;

    UNUSED(state);
    config.token_file = str_from(path);
    assert_ok(kube_new(&config, &k, &err), err);
    clock_set_fake(&fake);
    assert_num(kube_secrets_get(k->conn, NULL, &first, NULL), 0);
    free(write_file("token", "new\n"));
    fake.mono_ns += 6000000000;
    assert_num(kube_secrets_get(k->conn, NULL, &second, NULL), 0);
    remove(path);
    fake.mono_ns += 6000000000;
    assert_num(kube_secrets_get(k->conn, NULL, &third, NULL), 0);
    clock_set_fake(NULL);
    assert_str(second->token, "new");
    assert_true(third == second);
}

static void test_built_in_kinds_are_sorted(void **state)
{
    UNUSED(state);
    for (size_t i = 1; i < kube_n_builtin_kinds; i++) {
        const struct kube_kind *a = &kube_builtin_kinds[i - 1];

        assert_true(kube_kind_cmp(a->api_version, a->kind, &kube_builtin_kinds[i]) < 0);
        assert_ptr_equal(kube_builtin_kind(a->api_version, a->kind), a);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_current_context_is_used_or_the_one_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_flags_take_the_place_of_what_files_say, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_first_file_wins_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_a_plugin_prints_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_kubeconfig_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths_are_relative_to_their_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_wrong_names_file_and_entry, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_any_configuration_it_says_where_it_looked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_in_a_pod_the_service_account_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_config_of_somebody_else_cannot_reach_this_machine, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_plugin_gives_a_token, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_plugin_that_fails_tells_no_secret, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_token_file_is_read_again_after_a_refusal, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_token_file_is_read_again_with_time_and_its_last_good_content_stays, setup, teardown),
        cmocka_unit_test(test_built_in_kinds_are_sorted),
    };

    return RUN_TESTS(tests);
}

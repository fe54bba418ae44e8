/* SPDX-License-Identifier: Apache-2.0 */
/* helm registry login and logout (pkg/cmd/registry_login.go). */
#include <errno.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"
#include "pintle/helm_path.h"
#include "pintle/secret_input.h"

#define SECRET_MAX (64 * KIB)

static const struct cli_flag login_flags[] = {
    { "username", 'u', CLI_STRING, NULL, NULL, "registry username", NULL },
    { "password", 'p', CLI_STRING, NULL, NULL, "registry password or identity token", NULL },
    { "password-stdin", 0, CLI_BOOL, NULL, NULL, "read password or identity token from stdin", NULL },
    { "insecure", 0, CLI_BOOL, NULL, NULL, "allow connections to TLS registry without certs", NULL },
    CHART_TLS_FLAGS,
    CLI_FLAGS_END,
};

static int ask(struct cli *c, struct buf *user, struct buf *password, struct err **err)
{
    bool token;
    int r = 0;

    if (user->n == 0)
        r = secret_input_line(c, "Username: ", false, user, err);
    if (r < 0)
        return r;
    token = str_trim(buf_str(user)).n == 0;
    r = secret_input_line(c, token ? "Token: " : "Password: ", true, password, err);
    if (r == 0 && password->n == 0)
        return err_set(err, ERRC_INVALID, token ? "token required" : "password required");
    return r;
}

static int read_secret(struct cli *c, struct buf *user, struct buf *password, struct err **err)
{
    buf_adds(user, cli_string(c, "username"));
    if (cli_bool(c, "password-stdin"))
        return secret_input_stdin(password, err);
    if (!cli_string(c, "password")[0])
        return ask(c, user, password, err);
    fprintf(c->errout, "level=WARN msg=\"using --password via the CLI is insecure. Use --password-stdin\"\n");
    buf_adds(password, cli_string(c, "password"));
    return 0;
}

static void warn_path(struct cli *c, struct str host)
{
    size_t slash = str_find_char(host, '/');

    if (slash != STR_NPOS)
        fprintf(c->errout,
                "level=WARN msg=\"registry login currently only supports registry hostname, not a repository "
                "path\" "
                "host=" STR_FMT " suggested=" STR_FMT "\n",
                STR_ARG(host), STR_ARG(str_sub(host, 0, slash)));
}

static int run_login(struct cli *c, struct err **err)
{
    CLEANUP(chart_fetcher_done) struct chart_fetcher f = { 0 };
    CLEANUP(buf_done) struct buf user = BUF_INIT(SECRET_MAX), password = BUF_INIT(SECRET_MAX);
    struct str host = str_from(c->args[0]);
    int r = read_secret(c, &user, &password, err);

    if (r == 0)
        r = chart_fetcher_init(c, &f, err);
    if (r < 0)
        return r;
    f.locator.source.insecure = f.locator.source.insecure || cli_bool(c, "insecure");
    warn_path(c, host);
    r = registry_login(&f.locator, host, str_trim(buf_str(&user)), buf_str(&password), err);
    if (r == 0)
        cli_printf(c, "Login Succeeded\n");
    return r;
}

static int run_logout(struct cli *c, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct registry_locator l = { .logins = helm_path(c, HELM_REGISTRY_CONFIG, a) };
    int r = registry_logout(&l, str_from(c->args[0]), err);

    if (r == 0)
        cli_printf(c, "Removing login credentials for %s\n", c->args[0]);
    return r;
}

const struct cli_command cmd_registry = {
    .name = "registry",
    .brief = "login to or logout from a registry",
};
const struct cli_command cmd_registry_login = {
    .parent = "registry",
    .name = "login",
    .usage = "[host]",
    .brief = "login to a registry",
    .help = "Checks a login with a registry and keeps it where helm does (registry/config.json, mode 0600).",
    .args_min = 1,
    .args_max = -1,
    .flags = login_flags,
    .run = run_login,
};
const struct cli_command cmd_registry_logout = {
    .parent = "registry",
    .name = "logout",
    .usage = "[host]",
    .brief = "logout from a registry",
    .help = "Removes the login of a registry.",
    .args_min = 1,
    .args_max = -1,
    .run = run_logout,
};

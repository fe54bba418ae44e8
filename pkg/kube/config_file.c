/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a kubeconfig: clusters and users, trusted or not. Behaviour: client-go's clientcmd. */
#include "base/fs.h"
#include "kube/kube_int.h"

static struct str member(struct kube_config *c, const struct config_entry *e, const char *name)
{
    return arena_dup(c->memory, value_str(value_get(e->v, str_from(name))));
}

/* A path of the file, relative to its directory. */
static struct str member_path(struct kube_config *c, const struct config_entry *e, const char *name)
{
    struct str s = value_str(value_get(e->v, str_from(name)));

    if (s.n == 0 || s.p[0] == '/' || e->dir.n == 0)
        return arena_dup(c->memory, s);
    return arena_printf(c->memory, STR_FMT "/" STR_FMT, STR_ARG(e->dir), STR_ARG(s));
}

static int bad(const struct config_entry *e, const char *what, const char *why, struct err **err)
{
    return err_set(err, ERRC_INVALID, STR_FMT ": \"" STR_FMT "\": %s: %s", STR_ARG(e->file), STR_ARG(e->name),
                   what, why);
}

static int member_base64(struct kube_config *c, const struct config_entry *e, const char *name,
                         struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(KUBE_CONFIG_MAX);
    struct str text = value_str(value_get(e->v, str_from(name)));

    if (text.n == 0)
        return 0;
    if (!base64_decode(BASE64_STD, text, &out, NULL))
        return bad(e, name, "this is not base64", err);
    *ret = arena_dup(c->memory, buf_str(&out));
    return buf_check(&out, err);
}

int config_read_cluster(struct kube_config *c, const struct config_entry *e, struct err **err)
{
    struct value_iter it = value_iter(value_getz(e->v, "extensions"));
    int r = member_base64(c, e, "certificate-authority-data", &c->ca_pem, err);

    if (r < 0)
        return r;
    c->server = member(c, e, "server");
    c->ca_file = member_path(c, e, "certificate-authority");
    if (c->ca_file.n > 0 && c->ca_pem.n > 0)
        return bad(e, "certificate-authority", "certificate-authority-data is set as well", err);
    c->server_name = member(c, e, "tls-server-name");
    c->insecure = value_bool(value_getz(e->v, "insecure-skip-tls-verify"));
    c->proxy = member(c, e, "proxy-url");
    c->has_proxy = c->proxy.n > 0;
    c->compress = !value_bool(value_getz(e->v, "disable-compression"));
    while (value_next(&it)) {
        if (c->exec && str_eq(value_str(value_getz(it.v, "name")), STR("client.authentication.k8s.io/exec")))
            c->exec->cluster_config = value_copy(c->memory, value_getz(it.v, "extension"), NULL);
    }
    return 0;
}

static void read_exec_lists(struct kube_config *c, struct kube_exec *x, struct value exec)
{
    struct value args = value_getz(exec, "args"), env = value_getz(exec, "env");

    x->n_args = value_is_list(args) ? value_len(args) : 0;
    x->args = ARENA_ARRAY(c->memory, struct str, x->n_args);
    for (size_t i = 0; i < x->n_args; i++)
        x->args[i] = arena_dup(c->memory, value_str(value_at(args, i)));
    x->n_env = value_is_list(env) ? value_len(env) : 0;
    x->env = ARENA_ARRAY(c->memory, struct kube_exec_env, x->n_env);
    for (size_t i = 0; i < x->n_env; i++) {
        x->env[i].name = arena_dup(c->memory, value_str(value_getz(value_at(env, i), "name")));
        x->env[i].value = arena_dup(c->memory, value_str(value_getz(value_at(env, i), "value")));
    }
}

static int read_exec(struct kube_config *c, const struct config_entry *e, struct err **err)
{
    struct config_entry sub = { e->name, value_getz(e->v, "exec"), e->file, e->dir };
    struct str mode = value_str(value_getz(sub.v, "interactiveMode"));
    struct kube_exec *x;

    if (!value_is_map(sub.v))
        return 0;
    x = ARENA_NEW(c->memory, struct kube_exec);
    x->command = member(c, &sub, "command");
    if (str_find_char(x->command, '/') != STR_NPOS)
        x->command = member_path(c, &sub, "command");
    x->api_version = member(c, &sub, "apiVersion");
    x->install_hint = member(c, &sub, "installHint");
    x->provide_cluster_info = value_bool(value_getz(sub.v, "provideClusterInfo"));
    read_exec_lists(c, x, sub.v);
    if (x->command.n == 0)
        return bad(e, "exec", "command is missing", err);
    if (!str_eq(x->api_version, STR("client.authentication.k8s.io/v1")) &&
        !str_eq(x->api_version, STR("client.authentication.k8s.io/v1beta1")))
        return bad(e, "exec", "apiVersion is not client.authentication.k8s.io/v1 or v1beta1", err);
    if (mode.n == 0 && str_has_suffix(x->api_version, STR("/v1")))
        return bad(e, "exec", "interactiveMode is missing", err);
    if (str_eq(mode, STR("Always")))
        return bad(e, "exec", "interactiveMode Always cannot be served without a terminal", err);
    c->exec = x;
    return 0;
}

static void read_impersonation(struct kube_config *c, const struct config_entry *e)
{
    struct value groups = value_getz(e->v, "as-groups");

    c->as = member(c, e, "as");
    c->n_as_groups = value_is_list(groups) ? value_len(groups) : 0;
    c->as_groups = ARENA_ARRAY(c->memory, struct str, c->n_as_groups);
    for (size_t i = 0; i < c->n_as_groups; i++)
        c->as_groups[i] = arena_dup(c->memory, value_str(value_at(groups, i)));
}

int config_read_user(struct kube_config *c, const struct config_entry *e, struct err **err)
{
    int r = member_base64(c, e, "client-certificate-data", &c->cert_pem, err);

    if (r == 0)
        r = member_base64(c, e, "client-key-data", &c->key_pem, err);
    if (r < 0)
        return r;
    if (c->cert_pem.n == 0)
        c->cert_file = member_path(c, e, "client-certificate");
    if (c->key_pem.n == 0)
        c->key_file = member_path(c, e, "client-key");
    c->token = member(c, e, "token");
    c->token_file = member_path(c, e, "tokenFile");
    c->user = member(c, e, "username");
    c->password = member(c, e, "password");
    read_impersonation(c, e);
    if (c->user.n > 0 && (c->token.n > 0 || c->token_file.n > 0))
        return bad(e, "username", "a token is set as well", err);
    if (c->as.n == 0 && c->n_as_groups > 0)
        return bad(e, "as-groups", "as is missing", err);
    if (!value_is_null(value_getz(e->v, "auth-provider")))
        return bad(e, "auth-provider", "not supported, use exec", err);
    return read_exec(c, e, err);
}

int config_refuse_untrusted(const struct config_entry *e, bool is_user, struct err **err)
{
    static const struct {
        bool user;
        const char *name, *why;
    } rows[] = {
        { true, "exec", "it would run a program here" },
        { true, "auth-provider", "it would run a program here" },
        { true, "tokenFile", "it would read a file here" },
        { true, "client-certificate", "it would read a file here, use client-certificate-data" },
        { true, "client-key", "it would read a file here, use client-key-data" },
        { false, "certificate-authority", "it would read a file here, use certificate-authority-data" },
        { false, "insecure-skip-tls-verify", "the server must be verified" },
        { false, "proxy-url", "it would send requests elsewhere" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct value v = value_get(e->v, str_from(rows[i].name));
        bool off = value_is_null(v) || (v.kind == VALUE_BOOL && !v.b) || (value_is_string(v) && v.n == 0);

        if (rows[i].user == is_user && !off)
            return bad(e, rows[i].name, rows[i].why, err);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Credential plugins: client.authentication.k8s.io ExecCredential over environment and standard output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kube/kube_int.h"
#include "json/json.h"

extern char **environ;

static struct value cluster_info(struct arena *a, const struct kube_config *c)
{
    CLEANUP(buf_done) struct buf ca = BUF_INIT(2 * KUBE_CONFIG_MAX);
    struct value v = value_new_map(a);

    value_setz(v, "server", value_from_str(c->server));
    if (c->server_name.n > 0)
        value_setz(v, "tls-server-name", value_from_str(c->server_name));
    if (c->insecure)
        value_setz(v, "insecure-skip-tls-verify", value_from_bool(true));
    if (c->ca_pem.n > 0) {
        base64_encode(BASE64_STD, c->ca_pem, &ca);
        value_setz(v, "certificate-authority-data", value_from_str(arena_dup(a, buf_str(&ca))));
    }
    if (c->proxy.n > 0)
        value_setz(v, "proxy-url", value_from_str(c->proxy));
    if (!value_is_null(c->exec->cluster_config))
        value_setz(v, "config", c->exec->cluster_config);
    return v;
}

static int exec_info(struct arena *a, const struct kube_config *c, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * KUBE_CONFIG_MAX);
    struct value v = value_new_map(a), spec = value_new_map(a);
    int r;

    value_setz(spec, "interactive", value_from_bool(false));
    if (c->exec->provide_cluster_info)
        value_setz(spec, "cluster", cluster_info(a, c));
    value_setz(v, "apiVersion", value_from_str(c->exec->api_version));
    value_setz(v, "kind", VALUE_STR("ExecCredential"));
    value_setz(v, "spec", spec);
    r = json_print(v, 0, &text, err);
    if (r < 0)
        return r;
    *ret = arena_printf(a, "KUBERNETES_EXEC_INFO=" STR_FMT, STR_ARG(buf_str(&text)));
    return 0;
}

/* The environment: ours, then the entry's, then the info; a later one takes the place of an earlier one. */
static char **make_env(struct arena *a, const struct kube_exec *x, struct str info)
{
    size_t n = 0, ours = 0;
    char **env;

    while (environ[ours])
        ours++;
    env = ARENA_ARRAY(a, char *, ours + x->n_env + 2);
    for (size_t i = 0; i < ours; i++) {
        bool replaced = false;

        for (size_t k = 0; k < x->n_env && !replaced; k++)
            replaced = strncmp(environ[i], x->env[k].name.p, x->env[k].name.n) == 0 &&
                       environ[i][x->env[k].name.n] == '=';
        if (!replaced)
            env[n++] = environ[i];
    }
    for (size_t k = 0; k < x->n_env; k++)
        env[n++] = (char *)(uintptr_t)arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(x->env[k].name),
                                                   STR_ARG(x->env[k].value))
                       .p;
    env[n++] = (char *)(uintptr_t)info.p;
    env[n] = NULL;
    return env;
}

static int start(struct arena *a, const struct kube_config *c, struct str info, pid_t *ret_pid, int *ret_fd,
                 struct err **err)
{
    const struct kube_exec *x = c->exec;
    char **argv = ARENA_ARRAY(a, char *, x->n_args + 2);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int fds[2], e;

    argv[0] = (char *)(uintptr_t)x->command.p;
    for (size_t i = 0; i < x->n_args; i++)
        argv[i + 1] = (char *)(uintptr_t)x->args[i].p;
    argv[x->n_args + 1] = NULL;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_errno(err, errno, "credential plugin");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    e = posix_spawnp(ret_pid, argv[0], &actions, &attr, argv, make_env(a, x, info));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    close(fds[1]);
    if (e != 0) {
        close(fds[0]);
        return err_set(err, ERRC_NOT_FOUND, "credential plugin %s cannot be run: %s%s" STR_FMT, x->command.p,
                       strerror(e), x->install_hint.n ? ". " : "", STR_ARG(x->install_hint));
    }
    *ret_fd = fds[0];
    return 0;
}

/* Output until its end; TIMEOUT, LIMIT. */
static int read_output(int fd, int64_t until_ms, struct buf *out, struct err **err)
{
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int64_t left = until_ms - clock_mono_ms();
        char block[4096];
        ssize_t n;

        if (left <= 0)
            return err_set(err, ERRC_TIMEOUT, "it did not end in time");
        if (poll(&p, 1, (int)MIN(left, (int64_t)1000)) <= 0)
            continue;
        n = read(fd, block, sizeof(block));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        buf_add(out, block, (size_t)n);
        if (buf_check(out, NULL) < 0)
            return err_set(err, ERRC_LIMIT, "it prints more than %zu bytes", KUBE_EXEC_OUTPUT_MAX);
    }
}

static int reap(pid_t pid, bool force, int64_t until_ms, struct err **err)
{
    int status = 0;

    while (!force && waitpid(pid, &status, WNOHANG) == 0) {
        force = clock_mono_ms() >= until_ms;
        usleep(2000);
    }
    if (force) {
        kill(-pid, SIGKILL); /* its own group: children too */
        waitpid(pid, &status, 0);
        return 0;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return err_set(err, ERRC_UNAUTHORIZED, "it failed with exit code %d",
                   WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int take_output(const struct kube_exec *x, struct kube_secrets *s, struct str text, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * KUBE_EXEC_OUTPUT_MAX);
    struct wall_time expires;
    struct value v, status;

    /* Not a word of what it printed may be in the error. */
    if (json_parse(a, text, NULL, &v, NULL) < 0)
        return err_set(err, ERRC_PARSE, "its output is not JSON");
    if (!str_eq(value_str(value_getz(v, "apiVersion")), x->api_version) ||
        !str_eq(value_str(value_getz(v, "kind")), STR("ExecCredential")))
        return err_set(err, ERRC_PARSE, "its output is no ExecCredential of %s", x->api_version.p);
    status = value_getz(v, "status");
    s->token = arena_dup(s->memory, value_str(value_getz(status, "token")));
    s->cert_pem = arena_dup(s->memory, value_str(value_getz(status, "clientCertificateData")));
    s->key_pem = arena_dup(s->memory, value_str(value_getz(status, "clientKeyData")));
    if (clock_parse_rfc3339(value_str(value_getz(status, "expirationTimestamp")), &expires))
        s->expires_s = expires.s;
    if ((s->token.n == 0 && s->cert_pem.n == 0) || (s->cert_pem.n > 0) != (s->key_pem.n > 0))
        return err_set(err, ERRC_PARSE, "its output has neither a token nor a certificate with its key");
    return 0;
}

int kube_exec_run(const struct kube_config *c, struct kube_secrets *s, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * KUBE_CONFIG_MAX);
    CLEANUP(buf_done) struct buf out = BUF_INIT(KUBE_EXEC_OUTPUT_MAX);
    CLEANUP(fd_close) int fd = -1;
    int64_t until_ms = clock_mono_ms() + KUBE_EXEC_MS;
    struct str info;
    pid_t pid;
    int r, reaped;

    r = exec_info(a, c, &info, err);
    if (r == 0)
        r = start(a, c, info, &pid, &fd, err);
    if (r < 0)
        return r;
    r = read_output(fd, until_ms, &out, err);
    reaped = reap(pid, r < 0, until_ms, r < 0 ? NULL : err);
    if (r == 0)
        r = reaped;
    if (r == 0)
        r = take_output(c->exec, s, buf_str(&out), err);
    return r < 0 ? err_wrap(err, r, "credential plugin %s", c->exec->command.p) : 0;
}

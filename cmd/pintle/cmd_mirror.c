/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "base/fs.h"
#include "base/limits.h"
#include "mirror/mirror.h"
#include "pintle/cli.h"
#include "pintle/commands.h"
#include "registry/registry.h"

static const struct cli_flag index_flags[] = {
    { "json", 0, CLI_BOOL, NULL, NULL, "output in JSON format", NULL },
    { "merge", 0, CLI_STRING, NULL, NULL, "merge the generated index into the given index", NULL },
    { "url", 0, CLI_STRING, NULL, NULL, "URL of the chart repository, put before each file name", NULL },
    CLI_FLAGS_END,
};

static int run_index(struct cli *c, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    CLEANUP(free_ptr) char *path = fs_join(c->args[0], "index.yaml");
    const struct registry_index_options o = {
        .url = str_from(cli_string(c, "url")),
        .merge = cli_string(c, "merge")[0] ? cli_string(c, "merge") : NULL,
        .json = cli_bool(c, "json"),
    };
    int r = registry_index_folder(c->args[0], &o, &text, err);

    return r < 0 ? r : fs_write_file(path, buf_str(&text), 0644, err);
}

static const struct cli_flag serve_flags[] = {
    { "address", 0, CLI_STRING, "127.0.0.1:8879", NULL, "address to listen on; port 0 takes a free one",
      NULL },
    { "htpasswd", 0, CLI_STRING, NULL, NULL,
      "file of users that may read, user:hash a line (`htpasswd -B`); without it and --read-token-file "
      "everyone may",
      NULL },
    { "push-token-file", 0, CLI_STRING, NULL, NULL,
      "file with the token of those that may push; without it nothing can be pushed", NULL },
    { "read-token-file", 0, CLI_STRING, NULL, NULL, "file with a token of those that may read", NULL },
    { "tls-cert-file", 0, CLI_STRING, NULL, NULL, "certificate (PEM, with its chain) to serve HTTPS with",
      NULL },
    { "tls-private-key-file", 0, CLI_STRING, NULL, NULL, "its private key (PEM)", NULL },
    CLI_FLAGS_END,
};

/* A mirror, or a plain folder of archives. */
struct serving {
    struct mirror *mirror;
    struct mirror_server *server;
    struct registry_server *folder;
};

static void serving_done(struct serving *s)
{
    mirror_server_stop(s->server);
    mirror_close(s->mirror);
    registry_server_stop(s->folder);
}
DEFINE_CLEANUP_VALUE(struct serving, serving_done)

static int read_flag_file(struct cli *c, const char *flag, struct buf *out, struct err **err)
{
    const char *path = cli_string(c, flag);
    int r = *path ? fs_read_file(path, out, err) : 0;

    if (r == 0 && *path && str_trim(buf_str(out)).n == 0)
        return err_set(err, ERRC_INVALID, "--%s: %s is empty", flag, path);
    return r < 0 ? err_wrap(err, r, "--%s", flag) : 0;
}

static int serve_mirror(struct cli *c, struct serving *s, struct err **err)
{
    enum { HTPASSWD, READ, PUSH, CERT, KEY, FILES };
    static const char *const flags[FILES] = { "htpasswd", "read-token-file", "push-token-file",
                                              "tls-cert-file", "tls-private-key-file" };
    struct buf text[FILES];
    int r = 0;

    for (size_t i = 0; i < FILES; i++)
        text[i] = BUF_INIT(MIB);
    for (size_t i = 0; i < FILES && r == 0; i++)
        r = read_flag_file(c, flags[i], &text[i], err);
    if (r == 0 && (text[CERT].n > 0) != (text[KEY].n > 0))
        r = err_set(err, ERRC_INVALID, "--tls-cert-file and --tls-private-key-file go together");
    if (r == 0)
        r = mirror_open(c->args[0], text[PUSH].n > 0, &s->mirror, err);
    if (r == 0)
        r = mirror_serve(s->mirror,
                         &(struct mirror_serve_options){ .address = cli_string(c, "address"),
                                                         .cert_pem = buf_str(&text[CERT]),
                                                         .key_pem = buf_str(&text[KEY]),
                                                         .htpasswd = buf_str(&text[HTPASSWD]),
                                                         .read_token = str_trim(buf_str(&text[READ])),
                                                         .push_token = str_trim(buf_str(&text[PUSH])) },
                         &s->server, err);
    for (size_t i = 0; i < FILES; i++)
        buf_done(&text[i]);
    return r;
}

/* Flags that only a mirror understands. */
static bool wants_mirror(struct cli *c)
{
    for (const struct cli_flag *f = serve_flags; f->name; f++)
        if (cli_given(c, f->name) && str_cmp(str_from(f->name), STR("address")) != 0)
            return true;
    return false;
}

static int run_serve(struct cli *c, struct err **err)
{
    CLEANUP(serving_done) struct serving s = { 0 };
    struct str address = str_from(cli_string(c, "address"));
    size_t colon = str_rfind_char(address, ':');
    bool is_mirror = mirror_is_folder(c->args[0]) || wants_mirror(c);
    sigset_t signals;
    int r, number;

    memory_share_heaps();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    r = is_mirror ? serve_mirror(c, &s, err)
                  : registry_serve(c->args[0], cli_string(c, "address"), &s.folder, err);
    if (r < 0)
        return r;
    cli_printf(c, "serving %s at http%s://%.*s:%d\n", c->args[0], cli_given(c, "tls-cert-file") ? "s" : "",
               STR_ARG(str_sub(address, 0, MIN(colon, address.n))),
               is_mirror ? mirror_server_port(s.server) : registry_server_port(s.folder));
    fflush(c->out);
    sigwait(&signals, &number);
    return 0;
}

const struct cli_command cmd_repo = {
    .name = "repo",
    .brief = "work with chart repositories",
};
const struct cli_command cmd_repo_index = {
    .parent = "repo",
    .name = "index",
    .usage = "[DIR]",
    .brief = "write the index.yaml of a folder of chart archives",
    .args_min = 1,
    .args_max = 1,
    .flags = index_flags,
    .run = run_index,
};
const struct cli_command cmd_mirror = {
    .name = "mirror",
    .brief = "keep chart archives and serve them",
};
const struct cli_command cmd_mirror_serve = {
    .parent = "mirror",
    .name = "serve",
    .usage = "DIR",
    .brief = "serve a mirror, or a folder of chart archives, as a chart repository",
    .help =
        "Serve a mirror as a chart repository (`helm repo add NAME URL`) and as an OCI registry (`helm pull\n"
        "oci://HOST/CHART`, and with --push-token-file `helm push`), until SIGTERM or SIGINT. Tokens are "
        "shown as Bearer,\n"
        "or as the password of any user (`helm registry login`).\n"
        "\n"
        "A folder that is no mirror but holds archives (.tgz, .tgz.prov) is served as a chart repository; "
        "its index is\n"
        "made anew when the folder changes.",
    .args_min = 1,
    .args_max = 1,
    .flags = serve_flags,
    .run = run_serve,
};

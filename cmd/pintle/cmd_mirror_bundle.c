/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fs.h"
#include "base/limits.h"
#include "mirror/mirror.h"
#include "pintle/commands.h"

static const struct cli_flag export_flags[] = {
    { "key", 0, CLI_STRING, NULL, NULL, "Ed25519 private key (PEM) that signs the bundle; needed", NULL },
    CLI_FLAGS_END,
};
static const struct cli_flag import_flags[] = {
    { "key", 0, CLI_STRING, NULL, NULL, "Ed25519 public key (PEM) that must have signed the bundle; needed",
      NULL },
    CLI_FLAGS_END,
};

static int read_key(struct cli *c, struct buf *out, struct err **err)
{
    if (!*cli_string(c, "key"))
        return err_set(err, ERRC_INVALID, "--key is needed: `openssl genpkey -algorithm ed25519` makes one");
    return fs_read_file(cli_string(c, "key"), out, err);
}

static int run_export(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    CLEANUP(buf_done) struct buf key = BUF_INIT(MIB);
    CLEANUP(free_ptr) struct str *paths = xcalloc(c->n_args, sizeof(*paths));
    struct mirror_bundle_figures f;
    int r = read_key(c, &key, err);

    for (size_t i = 2; i < c->n_args; i++)
        paths[i - 2] = str_from(c->args[i]);
    if (r == 0)
        r = mirror_open(c->args[0], false, &m, err);
    if (r == 0)
        r = mirror_export(m, paths, c->n_args - 2, c->args[1], buf_str(&key), &f, err);
    if (r < 0)
        return r;
    cli_printf(c, "%zu versions in %zu objects of %lld bytes\n", f.versions, f.objects, (long long)f.bytes);
    return 0;
}

static int run_import(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    CLEANUP(buf_done) struct buf key = BUF_INIT(MIB), problems = BUF_INIT(64 * MIB);
    struct mirror_bundle_figures f;
    int r = read_key(c, &key, err);

    if (r == 0)
        r = mirror_open(c->args[0], true, &m, err);
    if (r == 0)
        r = mirror_import(m, c->args[1], buf_str(&key), &problems, &f, err);
    if (r < 0)
        return r;
    cli_write(c, buf_str(&problems));
    cli_printf(c, "%zu added, %zu kept, %zu replaced, %zu refused\n", f.added, f.kept, f.replaced, f.refused);
    return f.refused ? err_set(err, ERRC_DIGEST, "%zu versions were refused", f.refused) : 0;
}

const struct cli_command cmd_mirror_export = {
    .parent = "mirror",
    .name = "export",
    .usage = "DIR FILE [CHART ...]",
    .brief = "write a mirror, or some of its charts, into one signed file",
    .help = "Write all charts of a mirror, or those that are named, into one file that `pintle mirror "
            "import` takes. The file\n"
            "is a tar whose manifest is signed:\n"
            "\n"
            "  openssl genpkey -algorithm ed25519 -out key.pem\n"
            "  openssl pkey -in key.pem -pubout -out pub.pem\n",
    .args_min = 2,
    .args_max = -1,
    .flags = export_flags,
    .run = run_export,
};
const struct cli_command cmd_mirror_import = {
    .parent = "mirror",
    .name = "import",
    .usage = "DIR FILE",
    .brief = "put an exported file into a mirror",
    .help = "Check the signature of an exported file and put its charts into the mirror in DIR, which is "
            "made when it is "
            "absent. A version that is kept with other bytes is refused.",
    .args_min = 2,
    .args_max = 2,
    .flags = import_flags,
    .run = run_import,
};

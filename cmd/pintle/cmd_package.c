/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"
#include "pintle/secret_input.h"
#include "provenance/provenance.h"
#include "semver/semver.h"
#include "yaml/yaml.h"

static const struct cli_flag flags[] = {
    CHART_SERVER_FLAGS,
    { "app-version", 0, CLI_STRING, NULL, NULL, "set the appVersion on the chart to this version", NULL },
    { "dependency-update", 'u', CLI_BOOL, NULL, NULL,
      "update dependencies from \"Chart.yaml\" to dir \"charts/\" before packaging", NULL },
    { "destination", 'd', CLI_STRING, ".", NULL, "location to write the chart.", NULL },
    { "key", 0, CLI_STRING, NULL, NULL, "name of the key to use when signing. Used if --sign is true", NULL },
    { "keyring", 0, CLI_STRING, NULL, NULL, "location of a public keyring", NULL },
    { "passphrase-file", 0, CLI_STRING, NULL, NULL, "file with the passphrase for the signing key", NULL },
    { "sign", 0, CLI_BOOL, NULL, NULL, "use a PGP private key to sign this package", NULL },
    { "version", 0, CLI_STRING, NULL, NULL, "set the version on the chart to this semver version", NULL },
    CLI_FLAGS_END,
};

struct signer {
    struct cli *c;
    struct buf passphrases; /* the file with it in the first line */
    bool read;
};

static int check_flags(const struct cli *c, struct err **err)
{
    if (c->n_args == 0)
        return err_set(err, ERRC_INVALID, "need at least one argument, the path to the chart");
    if (!cli_bool(c, "sign"))
        return 0;
    if (cli_string(c, "key")[0] == '\0')
        return err_set(err, ERRC_INVALID, "--key is required for signing a package");
    return 0;
}

/* "web-1.0.0.tgz" in the destination; the version is what was packed. */
static char *target(const struct cli *c, const struct chart *chart)
{
    const char *dir = cli_string(c, "destination"), *version = cli_string(c, "version");
    CLEANUP(free_ptr) char *cwd = strcmp(dir, ".") == 0 ? getcwd(NULL, 0) : NULL, *name = NULL;
    struct str v = version[0] ? str_from(version) : chart_metadata(chart)->version;

    name = xasprintf(STR_FMT "-" STR_FMT ".tgz", STR_ARG(chart_metadata(chart)->name), STR_ARG(v));
    while (str_has_prefix(str_from(dir), STR("./")))
        dir += 2;
    return cwd || dir[0] ? fs_join(cwd ? cwd : dir, name) : TAKE(name);
}

/* The folder as helm's pkg/chart/loader reads it, with its dependencies when they are wanted. */
static int load(struct cli *c, const char *path, struct chart **ret, struct err **err)
{
    CLEANUP(free_ptr) char *full = fs_absolute(path);
    struct chart_log log = chart_flags_log(c);
    struct stat st;
    int r = 0;

    if (stat(path, &st) < 0)
        return fs_path_error(err, "stat", path, errno);
    if (cli_bool(c, "dependency-update"))
        r = chart_flags_dependencies(c, full, dependency_update, CHART_FLAGS_QUIET, err);
    if (r < 0)
        return r;
    if (!S_ISDIR(st.st_mode)) {
        CLEANUP(free_ptr) char *below = fs_join(full, "Chart.yaml");

        r = fs_path_error(err, "open", below, ENOTDIR);
        return err_wrap(err, r, "unable to detect chart at %s", below);
    }
    return chart_load(full, &log, ret, err);
}

/* chartutil.Save() */
static int make_destination(const char *dir, struct err **err)
{
    struct stat st;
    int r;

    dir = dir[0] ? dir : ".";
    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(err, ERRC_EXISTS, "failed to save: is not a directory: %s", dir);
    r = fs_make_path(dir, err);
    return r < 0 ? err_wrap(err, r, "failed to save") : 0;
}

/* ---- signing ----------------------------------------------------------------------------------------------------- */

/* "-" is standard input, which is read once for all charts. */
static int read_passphrases(struct signer *s, struct err **err)
{
    const char *file = cli_string(s->c, "passphrase-file");
    bool piped = strcmp(file, "-") == 0;
    struct stat st;
    int r;

    if (s->read || !file[0])
        return 0;
    if (piped && (fstat(STDIN_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode)))
        return err_set(err, ERRC_INVALID, "specified reading passphrase from stdin, without input on stdin");
    r = piped ? fs_read_file("-", &s->passphrases, err) : fs_read_path(file, &s->passphrases, err);
    if (r >= 0 && s->passphrases.n == 0)
        r = err_set(err, ERRC_INVALID, "EOF");
    s->read = r >= 0;
    return r;
}

/* The first line of the file, or what is typed. */
static int ask_passphrase(void *ctx, const char *name, struct buf *out, struct err **err)
{
    struct signer *s = ctx;
    struct str rest = buf_str(&s->passphrases), line;
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(MIB);
    CLEANUP(free_ptr) char *prompt = NULL;

    if (s->read && str_split(&rest, '\n', &line)) {
        buf_addstr(out, str_trim_suffix(line, STR("\r")));
        return buf_check(out, err);
    }
    utf8_quote(str_from(name), &quoted);
    prompt = xasprintf("Password for key %s >  ", buf_z(&quoted));
    return secret_input_line(s->c, prompt, true, out, err);
}

/* What is signed about is what was packed. */
static int sign(struct signer *s, const char *file, struct str packed, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    CLEANUP(buf_done)
    struct buf keys = BUF_INIT(KEYRING_MAX), metadata = BUF_INIT(PROVENANCE_MAX),
               out = BUF_INIT(2 * PROVENANCE_MAX);
    CLEANUP(chart_unref) struct chart *chart = NULL;
    CLEANUP(free_ptr) char *prov = xasprintf("%s.prov", file);
    struct provenance_signing job = { .key = str_from(cli_string(s->c, "key")),
                                      .passphrase = ask_passphrase,
                                      .ctx = s,
                                      .file_name = str_basename(str_from(file)) };
    char hex[SHA256_HEX];
    int r = fs_read_path(chart_flags_keyring(s->c, a), &keys, err);

    if (r >= 0) /* as helm: for keys that need none, too */
        r = read_passphrases(s, err);
    if (r >= 0)
        r = chart_load_archive(packed, NULL, &chart, err);
    if (r >= 0)
        r = yml_print(metadata_to_value(a, chart_metadata(chart)), &metadata, err);
    if (r < 0)
        return r;
    sha256_hex(packed, hex);
    job.keyring = buf_str(&keys);
    job.metadata = buf_str(&metadata);
    job.digest = str_from(hex);
    r = provenance_sign(&job, &out, err);
    return r < 0 ? r : fs_write_file(prov, buf_str(&out), 0644, err);
}

static int pack(struct cli *c, const char *path, struct signer *s, struct err **err)
{
    CLEANUP(chart_unref) struct chart *chart = NULL;
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_UNPACKED_MAX);
    CLEANUP(free_ptr) char *file = NULL;
    struct str version = str_from(cli_string(c, "version"));
    struct semver parsed;
    int r = load(c, path, &chart, err);

    if (r >= 0 && version.n > 0)
        r = semver_parse(version, &parsed, err);
    if (r >= 0)
        r = chart_check_dependencies(chart, err);
    if (r < 0)
        return r;
    r = chart_pack(chart, version, str_from(cli_string(c, "app-version")), &packed, err);
    if (r < 0)
        return err_wrap(err, r, "failed to save");
    file = target(c, chart);
    r = make_destination(cli_string(c, "destination"), err);
    if (r >= 0 && fs_write_file(file, buf_str(&packed), 0644, NULL) < 0) {
        r = fs_path_error(err, "open", file, errno);
        return err_wrap(err, r, "failed to save");
    }
    if (r >= 0 && cli_bool(c, "sign"))
        r = sign(s, file, buf_str(&packed), err);
    if (r >= 0)
        cli_printf(c, "Successfully packaged chart and saved it to: %s\n", file);
    return r;
}

static int run(struct cli *c, struct err **err)
{
    struct signer s = { .c = c, .passphrases = BUF_INIT(64 * KIB) };
    int r = check_flags(c, err);

    for (size_t i = 0; i < c->n_args && r >= 0; i++)
        r = pack(c, c->args[i], &s, err);
    if (s.passphrases.cap > 0)
        explicit_bzero(s.passphrases.p, s.passphrases.cap);
    buf_done(&s.passphrases);
    return r;
}

const struct cli_command cmd_package = {
    .name = "package",
    .usage = "[CHART_PATH] [...]",
    .brief = "package a chart directory into a chart archive",
    .help = "Packages a chart into a versioned chart archive file. The same chart with the same file times "
            "makes the same\n"
            "bytes.",
    .args_max = -1,
    .flags = flags,
    .helm_log = true,
    .run = run,
};

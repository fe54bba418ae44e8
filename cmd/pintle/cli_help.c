/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "pintle/cli_int.h"

#define PROGRAM "pintle"
#define SIMILAR_DISTANCE 2 /* as cobra */

static const char program_help[] =
    "A Kubernetes controller for Helm charts and releases, and a Helm without Go\n"
    "\n"
    "Common actions:\n"
    "\n"
    "- pintle dev:         a cluster API, the controller and simulated workloads on this machine\n"
    "- pintle controller:  the controller against a cluster\n"
    "- pintle template:    render a chart, byte for byte as helm does\n"
    "- pintle apply, get:  enough of kubectl to use the custom resources\n"
    "\n"
    "Environment variables:\n"
    "\n"
    "  $KUBECONFIG  path to the kubeconfig file (default ~/.kube/config)\n"
    "  $LOG         what to log: error, warn, info, debug or trace, also by module: info,kube=debug\n"
    "  $NO_COLOR    anything but empty: no colours\n";

/* ---- names ------------------------------------------------------------------------------------------------------ */

char *cli_command_path(const struct cli_command *cmd)
{
    if (!cmd)
        return xstrdup(PROGRAM);
    return cmd->parent ? xasprintf(PROGRAM " %s %s", cmd->parent, cmd->name)
                       : xasprintf(PROGRAM " %s", cmd->name);
}

char *cli_command_usage(const struct cli_command *cmd)
{
    CLEANUP(free_ptr) char *path = cli_command_path(cmd);

    if (!cmd || !cmd->run)
        return xasprintf("%s [command]", path);
    return cmd->usage ? xasprintf("%s %s [flags]", path, cmd->usage) : xasprintf("%s [flags]", path);
}

/* Levenshtein's distance, letters folded; names longer than the row are far from everything. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);

    if (n >= ARRAY_SIZE(row))
        return ARRAY_SIZE(row);
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t k = 0; k < n; k++) {
            size_t change = diagonal + (ascii_lower(a[i]) != ascii_lower(b[k]));

            diagonal = row[k + 1];
            row[k + 1] = MIN(change, MIN(row[k], diagonal) + 1);
        }
    }
    return row[n];
}

int cli_unknown_command(const struct cli *c, const char *word, struct err **err)
{
    const char *parent = c->command ? c->command->name : NULL;
    CLEANUP(free_ptr) char *path = cli_command_path(c->command);
    CLEANUP(buf_done) struct buf similar = BUF_INIT(KIB);

    for (size_t i = 0; i < c->n_commands; i++) {
        const struct cli_command *k = c->commands[i];
        bool here = parent ? k->parent && strcmp(k->parent, parent) == 0 : !k->parent;

        if (here && (distance(word, k->name) <= SIMILAR_DISTANCE ||
                     str_has_prefix(str_from(k->name), str_from(word))))
            buf_addf(&similar, "\t%s\n", k->name);
    }
    return err_set(err, ERRC_INVALID, "unknown command \"%s\" for \"%s\"\n%s%s%sRun '%s --help' for usage.",
                   word, path, similar.n ? "\nDid you mean this?\n" : "", buf_z(&similar),
                   similar.n ? "\n" : "", path);
}

/* ---- flags: as pflag's FlagUsages --------------------------------------------------------------------------------- */

const struct cli_special cli_dir = { .type_name = "dir" };
const struct cli_special cli_file = { .type_name = "file" };
const struct cli_special cli_float32 = { .type_name = "float32" };
const struct cli_special cli_uint = { .type_name = "uint" };

static const char *type_name(const struct cli_flag *f)
{
    static const char *const names[] = {
        [CLI_BOOL] = "",
        [CLI_STRING] = "string",
        [CLI_INT] = "int",
        [CLI_FLOAT] = "float",
        [CLI_DURATION] = "duration",
        [CLI_LIST] = "strings",
        [CLI_ARRAY] = "stringArray",
    };

    return f->special && f->special->type_name ? f->special->type_name : names[f->type];
}

static void add_left(const struct cli_flag *f, struct buf *out)
{
    if (f->letter)
        buf_addf(out, "  -%c, --%s", f->letter, f->name);
    else
        buf_addf(out, "      --%s", f->name);
    if (type_name(f)[0])
        buf_addf(out, " %s", type_name(f));
    if (f->bare && f->type != CLI_BOOL)
        buf_addf(out, f->type == CLI_STRING ? "[=\"%s\"]" : "[=%s]", f->bare);
}

static bool is_zero(const struct cli_flag *f)
{
    static const char *const zeros[] = { "", "false", "0", "0s" };

    for (size_t i = 0; i < ARRAY_SIZE(zeros); i++)
        if (!f->otherwise || strcmp(f->otherwise, zeros[i]) == 0)
            return true;
    return false;
}

static void add_flags(const struct cli_flag **flags, size_t n, struct buf *out)
{
    size_t width = 0;

    for (size_t i = 0; i < n; i++) {
        CLEANUP(buf_done) struct buf left = BUF_INIT(KIB);
        add_left(flags[i], &left);
        width = MAX(width, left.n);
    }
    for (size_t i = 0; i < n; i++) {
        size_t start = out->n;

        add_left(flags[i], out);
        buf_add_repeat(out, ' ', width + 3 - (out->n - start));
        buf_adds(out, flags[i]->help);
        if (!is_zero(flags[i]))
            buf_addf(out, flags[i]->type == CLI_STRING ? " (default \"%s\")" : " (default %s)",
                     flags[i]->otherwise);
        buf_addc(out, '\n');
    }
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

static bool is_member(const struct cli_command *k, const struct cli_command *group)
{
    return group ? k->parent && strcmp(k->parent, group->name) == 0 : !k->parent;
}

static void add_commands(const struct cli *c, const struct cli_command *group, struct buf *out)
{
    size_t width = 11; /* as cobra: at least so wide */

    for (size_t i = 0; i < c->n_commands; i++)
        if (is_member(c->commands[i], group))
            width = MAX(width, strlen(c->commands[i]->name));
    buf_adds(out, "\nAvailable Commands:\n");
    for (size_t i = 0; i < c->n_commands; i++)
        if (is_member(c->commands[i], group))
            buf_addf(out, "  %-*s %s\n", (int)width, c->commands[i]->name, c->commands[i]->brief);
}

static void add_flag_section(const char *title, const struct cli_command *cmd, bool global, struct buf *out)
{
    CLEANUP(free_ptr) const struct cli_flag **flags = NULL;
    size_t n;

    flags = cli_flags_of(global ? NULL : cmd, global, &n);
    if (n == 0)
        return;
    buf_addf(out, "\n%s:\n", title);
    add_flags(flags, n, out);
}

void cli_help(struct cli *c, const struct cli_command *cmd)
{
    CLEANUP(free_ptr) char *path = cli_command_path(cmd), *usage = cli_command_usage(cmd);
    CLEANUP(buf_done) struct buf page = BUF_INIT(MIB);
    bool is_group = !cmd || !cmd->run;

    buf_adds(&page, !cmd ? program_help : cmd->help ? cmd->help : cmd->brief);
    if (page.p[page.n - 1] != '\n')
        buf_addc(&page, '\n');
    buf_addf(&page, "\nUsage:\n  %s\n", usage);
    if (is_group)
        add_commands(c, cmd, &page);
    if (cmd)
        add_flag_section("Flags", cmd, false, &page);
    add_flag_section(cmd ? "Global Flags" : "Flags", cmd, true, &page);
    if (is_group)
        buf_addf(&page, "\nUse \"%s [command] --help\" for more information about a command.\n", path);
    cli_write(c, buf_str(&page));
}

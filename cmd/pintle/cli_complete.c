/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "pintle/cli.h"

/* In single quotes, as all three shells read them. */
static void add_quoted(struct buf *out, const char *text)
{
    buf_addc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *text);
    buf_addc(out, '\'');
}

static bool is_member(const struct cli_command *k, const char *parent)
{
    return parent ? k->parent && strcmp(k->parent, parent) == 0 : !k->parent;
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static void add_bash_words(const struct cli *c, const struct cli_command *cmd, struct buf *out)
{
    CLEANUP(free_ptr) const struct cli_flag **flags = NULL;
    size_t n;

    if (!cmd || !cmd->run)
        for (size_t i = 0; i < c->n_commands; i++)
            if (is_member(c->commands[i], cmd ? cmd->name : NULL))
                buf_addf(out, "%s ", c->commands[i]->name);
    flags = cli_flags_of(cmd, true, &n);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "--%s%s%s", flags[i]->name, flags[i]->type == CLI_BOOL || flags[i]->bare ? "" : "=",
                 i + 1 < n ? " " : "");
}

static void add_bash(const struct cli *c, struct buf *out)
{
    buf_adds(out, "# bash completion for pintle\n"
                  "_pintle()\n{\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} path= word words i\n"
                  "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                  "        word=${COMP_WORDS[i]}\n"
                  "        case \"$path $word\" in\n");
    for (size_t i = 0; i < c->n_commands; i++) {
        const struct cli_command *k = c->commands[i];
        buf_addf(out, "        '%s%s %s') path=' %s%s%s' ;;\n", k->parent ? " " : "",
                 k->parent ? k->parent : "", k->name, k->parent ? k->parent : "", k->parent ? " " : "",
                 k->name);
    }
    buf_adds(out, "        esac\n    done\n    case \"$path\" in\n");
    for (size_t i = 0; i < c->n_commands; i++) {
        const struct cli_command *k = c->commands[i];
        buf_addf(out, "    ' %s%s%s') words='", k->parent ? k->parent : "", k->parent ? " " : "", k->name);
        add_bash_words(c, k, out);
        buf_adds(out, "' ;;\n");
    }
    buf_adds(out, "    *) words='");
    add_bash_words(c, NULL, out);
    buf_adds(out, "' ;;\n    esac\n"
                  "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                  "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
                  "}\n"
                  "complete -o default -F _pintle pintle\n");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* _arguments' "[text]": brackets and colons end it. */
static void add_zsh_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            buf_addc(out, '\\');
        if (*text == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *text);
    }
}

static void add_zsh_flag(const struct cli_flag *f, struct buf *out)
{
    bool needs_value = f->type != CLI_BOOL && !f->bare;
    bool repeats = f->type == CLI_LIST || f->type == CLI_ARRAY;

    for (int letter = 0; letter < 2; letter++) {
        if (letter && !f->letter)
            continue;
        buf_addf(out, " \\\n        '%s", repeats ? "*" : "");
        if (letter)
            buf_addf(out, "-%c%s[", f->letter, needs_value ? "+" : "");
        else
            buf_addf(out, "--%s%s[", f->name, needs_value ? "=" : "");
        add_zsh_text(out, f->help);
        buf_addf(out, "]%s'", needs_value ? ":value:_files" : "");
    }
}

static void add_zsh_command(const struct cli *c, const struct cli_command *cmd, struct buf *out)
{
    CLEANUP(free_ptr) const struct cli_flag **flags = NULL;
    bool is_group = !cmd || !cmd->run;
    size_t n;

    buf_addf(out, "_pintle%s%s%s%s()\n{\n", cmd && cmd->parent ? "_" : "",
             cmd && cmd->parent ? cmd->parent : "", cmd ? "_" : "", cmd ? cmd->name : "");
    if (is_group) {
        buf_adds(out, "    local line state\n    local -a commands=(\n");
        for (size_t i = 0; i < c->n_commands; i++)
            if (is_member(c->commands[i], cmd ? cmd->name : NULL)) {
                buf_addf(out, "        '%s:", c->commands[i]->name);
                add_zsh_text(out, c->commands[i]->brief);
                buf_adds(out, "'\n");
            }
        buf_adds(out, "    )\n");
    }
    buf_addf(out, "    _arguments%s", is_group ? " -C" : "");
    flags = cli_flags_of(cmd, true, &n);
    for (size_t i = 0; i < n; i++)
        add_zsh_flag(flags[i], out);
    if (!is_group) {
        buf_adds(out, " \\\n        '*:argument:_files'\n}\n");
        return;
    }
    buf_addf(out,
             " \\\n        '1: :->command' '*:: :->arguments'\n"
             "    case $state in\n"
             "    command) _describe command commands ;;\n"
             "    arguments) (( $+functions[_pintle%s%s_$line[1]] )) && _pintle%s%s_$line[1] ;;\n"
             "    esac\n}\n",
             cmd ? "_" : "", cmd ? cmd->name : "", cmd ? "_" : "", cmd ? cmd->name : "");
}

static void add_zsh(const struct cli *c, struct buf *out)
{
    buf_adds(out, "#compdef pintle\n");
    for (size_t i = 0; i < c->n_commands; i++)
        add_zsh_command(c, c->commands[i], out);
    add_zsh_command(c, NULL, out);
    buf_adds(out,
             "if [ \"$funcstack[1]\" = _pintle ]; then _pintle \"$@\"; else compdef _pintle pintle; fi\n");
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void add_fish_flags(const struct cli_flag **flags, size_t n, const char *condition, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, "complete -c pintle%s -l %s", condition, flags[i]->name);
        if (flags[i]->letter)
            buf_addf(out, " -s %c", flags[i]->letter);
        if (flags[i]->type != CLI_BOOL && !flags[i]->bare)
            buf_adds(out, " -r");
        buf_adds(out, " -d ");
        add_quoted(out, flags[i]->help);
        buf_addc(out, '\n');
    }
}

static void add_fish(const struct cli *c, struct buf *out)
{
    CLEANUP(free_ptr) const struct cli_flag **global = NULL;
    size_t n_global;

    buf_adds(out, "# fish completion for pintle\n");
    global = cli_flags_of(NULL, true, &n_global);
    add_fish_flags(global, n_global, "", out);
    for (size_t i = 0; i < c->n_commands; i++) {
        const struct cli_command *k = c->commands[i];
        CLEANUP(free_ptr) const struct cli_flag **flags = NULL;
        CLEANUP(buf_done) struct buf condition = BUF_INIT(KIB);
        size_t n;

        if (k->parent)
            buf_addf(&condition, " -n '__fish_seen_subcommand_from %s'", k->parent);
        else
            buf_adds(&condition, " -n __fish_use_subcommand");
        buf_addf(out, "complete -c pintle%s%s -a %s -d ", buf_z(&condition), k->run ? "" : " -f", k->name);
        add_quoted(out, k->brief);
        buf_addc(out, '\n');
        buf_clear(&condition);
        if (k->parent)
            buf_addf(&condition, " -n '__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s'",
                     k->parent, k->name);
        else
            buf_addf(&condition, " -n '__fish_seen_subcommand_from %s'", k->name);
        flags = cli_flags_of(k, false, &n);
        add_fish_flags(flags, n, buf_z(&condition), out);
    }
}

bool cli_completion(struct cli *c, struct str shell)
{
    static const struct {
        const char *name;
        void (*add)(const struct cli *c, struct buf *out);
    } shells[] = { { "bash", add_bash }, { "fish", add_fish }, { "zsh", add_zsh } };
    CLEANUP(buf_done) struct buf script = BUF_INIT(4 * MIB);

    for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
        if (str_eq(shell, str_from(shells[i].name))) {
            shells[i].add(c, &script);
            cli_write(c, buf_str(&script));
            return true;
        }
    return false;
}

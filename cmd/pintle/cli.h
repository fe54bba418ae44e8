/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* cli: the command line as tables: parsing, help, completion and errors come from them.
 *
 * A subcommand is one file, cmd_<name>.c, with one `const struct cli_command cmd_<name>` and a line in commands.h.
 * Parsing follows pflag and cobra as helm and kubectl use them, error texts included: --flag=value, --flag value,
 * -n value, -nvalue, -n=value, -abc, repeated flags, flags before, between and after arguments, `--`. */
#include <stdio.h>

#include "base/base.h"
#include "base/err.h"
#include "base/str.h"

struct cli;

enum cli_type {
    CLI_BOOL,     /* --x, --x=false */
    CLI_STRING,   /* the last one wins */
    CLI_INT,      /* as Go's strconv.ParseInt(s, 0, 64) */
    CLI_FLOAT,    /* as Go's strconv.ParseFloat(s, 32) */
    CLI_DURATION, /* as Go's time.ParseDuration */
    CLI_LIST,     /* pflag's "strings": each use adds, commas separate */
    CLI_ARRAY,    /* pflag's "stringArray": each use adds one item, commas and all */
};

/* What few flags have. */
struct cli_special {
    const char *type_name;  /* shown instead of the type; NULL: the type's own */
    const char *deprecated; /* what to use instead, said on standard error at each use; NULL: it is not */
    /* Looks at a value when its turn comes, and may refuse it with the reason in *err; NULL: the type takes any. */
    int (*check)(struct cli *c, const char *text, struct err **err);
};
/* Type names; a uint takes no minus. */
extern const struct cli_special cli_dir, cli_file, cli_float32, cli_uint;

struct cli_flag {
    const char *name;
    char letter; /* 0: has none */
    enum cli_type type;
    const char *otherwise; /* value when it is not given, as it would be typed; NULL: empty, 0, false */
    const char
        *bare; /* value of a bare "--name" (which then takes none from the next word); NULL: it needs one */
    const char *help;
    const struct cli_special *special; /* NULL: nothing */
};
#define CLI_FLAGS_END \
    {                 \
        .name = NULL  \
    }

struct cli_command {
    const char *parent; /* NULL at the top, "repo" for `pintle repo index` */
    const char *name;
    const char *aliases;                       /* other names, with blanks between them; NULL: none */
    const char *usage;                         /* its arguments: "[NAME] [CHART]"; NULL: none */
    const char *brief;                         /* one line for lists */
    const char *help;                          /* paragraphs; NULL: the brief */
    int args_min, args_max;                    /* args_max -1: any number */
    const struct cli_flag *flags, *more_flags; /* tables that end with CLI_FLAGS_END; may be NULL */
    bool helm_log;                             /* --debug shows what Helm logs, not what pintle does */
    /* The exit status (0 or more), or -ERRC_x with *err: printed as "Error: …" with exit status 1.
     * NULL: a group, whose members name it as their parent. */
    int (*run)(struct cli *c, struct err **err);
};

struct cli {
    FILE *out, *errout; /* standard output and standard error; a test has others */
    const struct cli_command *command;
    const char *const *args; /* what is not a flag */
    size_t n_args;
    const struct cli_command *const
        *commands; /* all there are, sorted by name, parents before their members */
    size_t n_commands;
    struct cli_parsed *parsed; /* private to cli.c */
};

/* Values of flags; a name that is not in the command's tables, or of another type, is a programming mistake. */
bool cli_given(const struct cli *c, const char *flag); /* was it on the command line? */
bool cli_bool(const struct cli *c, const char *flag);  /* CLI_BOOL */
const char *cli_string(const struct cli *c,
                       const char *flag);               /* CLI_STRING; never NULL; borrowed until the end */
int64_t cli_int(const struct cli *c, const char *flag); /* CLI_INT */
int64_t cli_duration_ns(const struct cli *c, const char *flag); /* CLI_DURATION */
/* --color or --colour: "never", "auto" or "always"; "auto" before the flags are parsed. */
const char *cli_color_mode(const struct cli *c);
/* CLI_LIST and CLI_ARRAY: *n items; borrowed until the end. NULL when there are none. */
const char *const *cli_list(const struct cli *c, const char *flag, size_t *n);

/* Output to c->out. A failed write (a closed pipe, a full disk) is reported once, when the command has ended. */
void cli_printf(struct cli *c, const char *fmt, ...) PRINTF(2, 3);
void cli_write(struct cli *c, struct str s);

/* Runs the command that argv names; the process's exit status. */
int cli_main(struct cli *c, int argc, const char *const *argv);

/* What `pintle help`, `--help` and a bare group print. `command` NULL: the whole program. */
void cli_help(struct cli *c, const struct cli_command *command);
/* NULL when there is none. parent as in struct cli_command. */
const struct cli_command *cli_find_command(const struct cli *c, const char *parent, struct str name);
/* All flags of a command, sorted by name, shadowed ones left out: *n pointers, to be freed with free().
 * NULL command: the global ones. */
const struct cli_flag **cli_flags_of(const struct cli_command *command, bool with_global, size_t *n);
/* A script for bash, zsh or fish; false for another shell. */
bool cli_completion(struct cli *c, struct str shell);

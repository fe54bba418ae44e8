/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/cli.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/number.h"
#include "pintle/cli_int.h"

struct cli_value {
    const struct cli_flag *flag;
    bool given;
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;
        struct {
            const char **items;
            size_t n, cap;
        };
    };
};

struct cli_parsed {
    struct arena *arena;
    struct cli_value *values; /* one per flag of the command */
    size_t n_values;
    const char **args;
    size_t n_args;
    struct buf warnings; /* about deprecated flags; said when all flags are good */
};

/* Every command has these; its own flag of the same name or letter comes first. */
static const struct cli_flag global_flags[] = {
    { "as", 0, CLI_STRING, NULL, NULL, "user to impersonate for the operation", NULL },
    { "as-group", 0, CLI_ARRAY, NULL, NULL, "group to impersonate for the operation (can be repeated)",
      NULL },
    { "burst-limit", 0, CLI_INT, "100", NULL, "as helm; no effect: few requests are in flight at a time",
      NULL },
    { "color", 0, CLI_STRING, "auto", NULL, "use colored output (never, auto, always)", NULL },
    { "colour", 0, CLI_STRING, NULL, NULL, "the same as --color", NULL },
    { "content-cache", 0, CLI_STRING, NULL, NULL,
      "as helm; no effect: archives are not kept by their content", NULL },
    { "context", 0, CLI_STRING, NULL, NULL, "name of the kubeconfig context to use", NULL },
    { "debug", 0, CLI_BOOL, NULL, NULL, "log what is done, on standard error", NULL },
    { "help", 'h', CLI_BOOL, NULL, NULL, "help for the command", NULL },
    { "kube-apiserver", 0, CLI_STRING, NULL, NULL, "address and port of the Kubernetes API server", NULL },
    { "kube-as-group", 0, CLI_ARRAY, NULL, NULL, "the same as --as-group", NULL },
    { "kube-as-user", 0, CLI_STRING, NULL, NULL, "the same as --as", NULL },
    { "kube-ca-file", 0, CLI_STRING, NULL, NULL, "certificate authority of the Kubernetes API server", NULL },
    { "kube-context", 0, CLI_STRING, NULL, NULL, "the same as --context", NULL },
    { "kube-insecure-skip-tls-verify", 0, CLI_BOOL, NULL, NULL,
      "do not check the Kubernetes API server's certificate: anybody on the way can then read and change all",
      NULL },
    { "kube-tls-server-name", 0, CLI_STRING, NULL, NULL,
      "name to expect in the Kubernetes API server's certificate, when it is not the address", NULL },
    { "kube-token", 0, CLI_STRING, NULL, NULL, "bearer token for the Kubernetes API server", NULL },
    { "kubeconfig", 0, CLI_STRING, NULL, NULL,
      "path to the kubeconfig file (else $KUBECONFIG, else ~/.kube/config)", NULL },
    { "namespace", 'n', CLI_STRING, NULL, NULL, "namespace of the request", NULL },
    { "qps", 0, CLI_FLOAT, NULL, NULL, "as helm; no effect: few requests are in flight at a time",
      &cli_float32 },
    { "registry-config", 0, CLI_STRING, NULL, NULL, "path to the registry config file, as helm", NULL },
    { "repository-cache", 0, CLI_STRING, NULL, NULL,
      "path to the directory containing cached repository indexes, as helm", NULL },
    { "repository-config", 0, CLI_STRING, NULL, NULL,
      "path to the file containing repository names and URLs, as helm", NULL },
    CLI_FLAGS_END,
};

/* ---- finding ---------------------------------------------------------------------------------------------------- */

static bool same_parent(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_called(const struct cli_command *cmd, struct str name)
{
    struct str aliases = str_from(cmd->aliases), alias;

    if (str_eq(str_from(cmd->name), name))
        return true;
    while (aliases.n > 0 && str_split(&aliases, ' ', &alias))
        if (str_eq(alias, name))
            return true;
    return false;
}

const struct cli_command *cli_find_command(const struct cli *c, const char *parent, struct str name)
{
    for (size_t i = 0; i < c->n_commands; i++)
        if (same_parent(c->commands[i]->parent, parent) && is_called(c->commands[i], name))
            return c->commands[i];
    return NULL;
}

static const struct cli_flag *flag_in(const struct cli_flag *table, struct str name, char letter)
{
    for (; table && table->name; table++)
        if (name.n > 0 ? str_eq(str_from(table->name), name) : table->letter == letter)
            return table;
    return NULL;
}

/* By name, or by letter when the name is empty. */
static const struct cli_flag *find_flag(const struct cli_command *cmd, struct str name, char letter)
{
    const struct cli_flag *f = cmd ? flag_in(cmd->flags, name, letter) : NULL;

    if (!f && cmd)
        f = flag_in(cmd->more_flags, name, letter);
    return f ? f : flag_in(global_flags, name, letter);
}

static int compare_flags(const void *a, const void *b)
{
    return strcmp((*(const struct cli_flag *const *)a)->name, (*(const struct cli_flag *const *)b)->name);
}

const struct cli_flag **cli_flags_of(const struct cli_command *cmd, bool with_global, size_t *n)
{
    const struct cli_flag *tables[] = { cmd ? cmd->flags : NULL, cmd ? cmd->more_flags : NULL,
                                        with_global ? global_flags : NULL };
    const struct cli_flag **all = NULL;
    size_t cap = 0;

    *n = 0;
    for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
        for (const struct cli_flag *f = tables[t]; f && f->name; f++)
            if (find_flag(cmd, str_from(f->name), 0) == f) {
                ARRAY_GROW(all, cap, *n + 1);
                all[(*n)++] = f;
            }
    if (*n > 1)
        qsort(all, *n, sizeof(*all), compare_flags);
    return all;
}

static bool takes_next_word(const struct cli_flag *f)
{
    return f->type != CLI_BOOL && !f->bare;
}

/* Before the command is known, any command's flag may come: does this word take the next one as its value? */
static bool word_takes_next(const struct cli *c, const char *word)
{
    struct str s = str_from(word), name = STR_NONE;
    const struct cli_flag *f;
    char letter = 0;

    if (str_find_char(s, '=') != STR_NPOS)
        return false;
    if (str_has_prefix(s, STR("--")))
        name = str_sub(s, 2, s.n);
    else if (s.n == 2)
        letter = s.p[1];
    else
        return false;

    f = find_flag(NULL, name, letter);
    for (size_t i = 0; !f && i < c->n_commands; i++)
        f = find_flag(c->commands[i], name, letter);
    return f && takes_next_word(f);
}

/* The index of the next word from `i` on that is not a flag or a flag's value; argc when there is none. */
static int next_plain_word(const struct cli *c, int argc, const char *const *argv, int i)
{
    for (; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return argc;
        if (argv[i][0] != '-' || argv[i][1] == '\0')
            return i;
        if (word_takes_next(c, argv[i]))
            i++;
    }
    return argc;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static struct cli_value *value_of(const struct cli *c, const char *name)
{
    for (size_t i = 0; i < c->parsed->n_values; i++)
        if (strcmp(c->parsed->values[i].flag->name, name) == 0)
            return &c->parsed->values[i];
    return NULL;
}

static struct cli_value *typed_value(const struct cli *c, const char *name, enum cli_type type)
{
    struct cli_value *v = value_of(c, name);

    assert(v && v->flag->type == type);
    return v;
}

bool cli_given(const struct cli *c, const char *flag)
{
    struct cli_value *v = value_of(c, flag);

    assert(v);
    return v->given;
}

bool cli_bool(const struct cli *c, const char *flag)
{
    return typed_value(c, flag, CLI_BOOL)->b;
}

const char *cli_string(const struct cli *c, const char *flag)
{
    const char *s = typed_value(c, flag, CLI_STRING)->s;

    return s ? s : "";
}

int64_t cli_int(const struct cli *c, const char *flag)
{
    return typed_value(c, flag, CLI_INT)->i;
}

int64_t cli_duration_ns(const struct cli *c, const char *flag)
{
    return typed_value(c, flag, CLI_DURATION)->i;
}

const char *cli_color_mode(const struct cli *c)
{
    if (!c->parsed)
        return "auto";
    return cli_string(c, cli_given(c, "colour") ? "colour" : "color");
}

static int check_color_mode(const struct cli *c, struct err **err)
{
    static const char *const modes[] = { "never", "auto", "always" };
    const char *mode = cli_color_mode(c);

    for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
        if (strcmp(mode, modes[i]) == 0)
            return 0;
    return err_set(err, ERRC_INVALID, "invalid color mode \"%s\": must be one of: never, auto, always", mode);
}

const char *const *cli_list(const struct cli *c, const char *flag, size_t *n)
{
    struct cli_value *v = value_of(c, flag);

    assert(v && (v->flag->type == CLI_LIST || v->flag->type == CLI_ARRAY));
    *n = v->n;
    return v->items;
}

static void value_add(struct cli_parsed *p, struct cli_value *v, const char *item)
{
    if (v->n == v->cap) {
        size_t cap = v->cap ? 2 * v->cap : 8;
        v->items = arena_grow(p->arena, v->items, v->n * sizeof(*v->items), cap * sizeof(*v->items));
        v->cap = cap;
    }
    v->items[v->n++] = item;
}

/* One record of Go's encoding/csv: pflag's "strings". Quotes protect commas, "" is a quote. */
static void add_separated(struct cli_parsed *p, struct cli_value *v, struct str text)
{
    while (text.n > 0) {
        CLEANUP(buf_done) struct buf item = BUF_INIT(text.n);
        size_t i = 0;

        if (text.p[0] == '"') {
            for (i = 1; i < text.n && (text.p[i] != '"' || (i + 1 < text.n && text.p[i + 1] == '"')); i++) {
                i += text.p[i] == '"';
                buf_addc(&item, text.p[i]);
            }
            i += i < text.n;
        }
        for (; i < text.n && text.p[i] != ','; i++)
            buf_addc(&item, text.p[i]);
        value_add(p, v, arena_dupz(p->arena, buf_str(&item)));
        if (i + 1 == text.n)
            value_add(p, v, ""); /* "a," has two items */
        text = i < text.n ? str_sub(text, i + 1, text.n) : STR_NONE;
    }
}

/* strconv.ParseBool */
static bool parse_bool(struct str s, bool *ret)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {
        { "1", true },    { "t", true },      { "T", true },      { "TRUE", true },
        { "true", true }, { "True", true },   { "0", false },     { "f", false },
        { "F", false },   { "FALSE", false }, { "false", false }, { "False", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (str_eq(s, str_from(words[i].text))) {
            *ret = words[i].value;
            return true;
        }
    return false;
}

/* The words of Go's time.ParseDuration for text that it does not take. */
static const char *duration_fault(struct str s)
{
    size_t digits = 0;

    s = str_trim_prefix(s.n && s.p[0] == '+' ? str_sub(s, 1, s.n) : s, STR("-"));
    while (digits < s.n && (ascii_is_digit(s.p[digits]) || s.p[digits] == '.'))
        digits++;
    return digits > 0 && digits == s.n ? "missing unit in duration" : "invalid duration";
}

static int value_fault(const struct cli_flag *f, struct str text, struct err **err, const char *why)
{
    if (f->letter)
        return err_set(err, ERRC_INVALID, "invalid argument \"" STR_FMT "\" for \"-%c, --%s\" flag: %s",
                       STR_ARG(text), f->letter, f->name, why);
    return err_set(err, ERRC_INVALID, "invalid argument \"" STR_FMT "\" for \"--%s\" flag: %s", STR_ARG(text),
                   f->name, why);
}

static int value_parse_bool(struct cli_value *v, struct str text, struct err **err)
{
    CLEANUP(free_ptr) char *why = NULL;

    if (parse_bool(text, &v->b))
        return 0;
    why = xasprintf("strconv.ParseBool: parsing \"" STR_FMT "\": invalid syntax", STR_ARG(text));
    return value_fault(v->flag, text, err, why);
}

static int value_parse_int(struct cli_value *v, struct str text, struct err **err)
{
    bool is_unsigned = v->flag->special == &cli_uint;
    enum number_result r = number_parse_int(text, 0, 64, &v->i);
    CLEANUP(free_ptr) char *why = NULL;

    if (r == NUMBER_OK && !(is_unsigned && text.p[0] == '-'))
        return 0;
    why = xasprintf("strconv.Parse%s: parsing \"" STR_FMT "\": %s", is_unsigned ? "Uint" : "Int",
                    STR_ARG(text), r == NUMBER_RANGE ? "value out of range" : "invalid syntax");
    return value_fault(v->flag, text, err, why);
}

static int value_parse_float(struct cli_value *v, struct str text, struct err **err)
{
    CLEANUP(free_ptr) char *why = NULL;
    bool range = false;

    if (number_parse_float(text, 32, &v->f, &range) && !range)
        return 0;
    why = xasprintf("strconv.ParseFloat: parsing \"" STR_FMT "\": %s", STR_ARG(text),
                    range ? "value out of range" : "invalid syntax");
    return value_fault(v->flag, text, err, why);
}

static int value_parse_duration(struct cli_value *v, struct str text, struct err **err)
{
    CLEANUP(free_ptr) char *why = NULL;

    if (clock_parse_duration(text, &v->i))
        return 0;
    why = xasprintf("time: %s \"" STR_FMT "\"", duration_fault(text), STR_ARG(text));
    return value_fault(v->flag, text, err, why);
}

static int value_parse(struct cli_parsed *p, struct cli_value *v, const char *text, struct err **err)
{
    switch (v->flag->type) {
    case CLI_BOOL:
        return value_parse_bool(v, str_from(text), err);
    case CLI_INT:
        return value_parse_int(v, str_from(text), err);
    case CLI_FLOAT:
        return value_parse_float(v, str_from(text), err);
    case CLI_DURATION:
        return value_parse_duration(v, str_from(text), err);
    case CLI_STRING:
        v->s = text;
        return 0;
    case CLI_LIST:
        add_separated(p, v, str_from(text));
        return 0;
    case CLI_ARRAY:
        value_add(p, v, text);
        return 0;
    }
    return 0;
}

/* ---- parsing: as pflag's parseArgs ------------------------------------------------------------------------------ */

struct words {
    const char *const *v;
    int n, i; /* i: the next one */
};

static int set_flag(struct cli *c, const struct cli_flag *f, const char *text, struct err **err)
{
    struct cli_value *v = value_of(c, f->name);
    bool is_list = f->type == CLI_LIST || f->type == CLI_ARRAY;
    CLEANUP(err_free) struct err *why = NULL;
    int r;

    assert(v && v->flag == f);
    if (is_list && !v->given)
        v->n = 0; /* the first use replaces the default */
    v->given = true;
    if (f->special && f->special->check && f->special->check(c, text, &why) < 0)
        return value_fault(f, str_from(text), err, err_message(why));
    r = value_parse(c->parsed, v, text, err);
    if (r >= 0 && f->special && f->special->deprecated)
        buf_addf(&c->parsed->warnings, "Flag --%s has been deprecated, %s\n", f->name,
                 f->special->deprecated);
    return r;
}

static int parse_long(struct cli *c, struct words *w, const char *word, struct err **err)
{
    struct str s = str_from(word + 2);
    size_t eq = str_find_char(s, '=');
    struct str name = str_sub(s, 0, eq == STR_NPOS ? s.n : eq);
    const struct cli_flag *f;

    if (name.n == 0 || name.p[0] == '-')
        return err_set(err, ERRC_INVALID, "bad flag syntax: %s", word);
    f = find_flag(c->command, name, 0);
    if (!f)
        return err_set(err, ERRC_INVALID, "unknown flag: --" STR_FMT, STR_ARG(name));
    if (eq != STR_NPOS)
        return set_flag(c, f, s.p + eq + 1, err);
    if (!takes_next_word(f))
        return set_flag(c, f, f->bare ? f->bare : "true", err);
    if (w->i >= w->n)
        return err_set(err, ERRC_INVALID, "flag needs an argument: %s", word);
    return set_flag(c, f, w->v[w->i++], err);
}

/* "-n value", "-nvalue", "-n=value", "-abc" */
static int parse_letters(struct cli *c, struct words *w, const char *word, struct err **err)
{
    for (const char *s = word + 1; *s; s++) {
        const struct cli_flag *f = find_flag(c->command, STR_NONE, *s);

        if (!f)
            return err_set(err, ERRC_INVALID, "unknown shorthand flag: '%c' in -%s", *s, word + 1);
        if (s[1] == '=')
            return set_flag(c, f, s + 2, err);
        if (takes_next_word(f)) {
            if (s[1] == '\0' && w->i >= w->n)
                return err_set(err, ERRC_INVALID, "flag needs an argument: '%c' in -%s", *s, word + 1);
            return set_flag(c, f, s[1] ? s + 1 : w->v[w->i++], err);
        }
        int r = set_flag(c, f, f->bare ? f->bare : "true", err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_words(struct cli *c, struct words *w, struct err **err)
{
    struct cli_parsed *p = c->parsed;
    int r = 0;

    p->args = ARENA_ARRAY(p->arena, const char *, (size_t)w->n + 1);
    while (w->i < w->n && r >= 0) {
        const char *word = w->v[w->i++];

        if (word[0] != '-' || word[1] == '\0')
            p->args[p->n_args++] = word;
        else if (strcmp(word, "--") == 0)
            while (w->i < w->n)
                p->args[p->n_args++] = w->v[w->i++];
        else if (word[1] == '-')
            r = parse_long(c, w, word, err);
        else
            r = parse_letters(c, w, word, err);
    }
    c->args = p->args;
    c->n_args = p->n_args;
    return r;
}

static void set_defaults(struct cli *c)
{
    CLEANUP(free_ptr) const struct cli_flag **flags = NULL;
    struct cli_parsed *p = c->parsed;
    size_t n;

    flags = cli_flags_of(c->command, true, &n);
    p->values = arena_calloc(p->arena, n * sizeof(*p->values));
    p->n_values = n;
    for (size_t i = 0; i < n; i++) {
        p->values[i].flag = flags[i];
        if (flags[i]->otherwise) {
            int r = value_parse(p, &p->values[i], flags[i]->otherwise, NULL);
            assert(r >= 0);
        }
    }
}

/* helm's pkg/cmd/require */
static int check_args(const struct cli *c, struct err **err)
{
    const struct cli_command *cmd = c->command;
    CLEANUP(free_ptr) char *path = cli_command_path(cmd), *use = cli_command_usage(cmd);
    int n = (int)c->n_args;

    if (n >= cmd->args_min && (cmd->args_max < 0 || n <= cmd->args_max))
        return 0;
    if (cmd->args_max == 0)
        return err_set(err, ERRC_INVALID, "\"%s\" accepts no arguments\n\nUsage:  %s", path, use);
    if (cmd->args_min == cmd->args_max)
        return err_set(err, ERRC_INVALID, "\"%s\" requires %d argument%s\n\nUsage:  %s", path, cmd->args_min,
                       cmd->args_min == 1 ? "" : "s", use);
    if (n < cmd->args_min)
        return err_set(err, ERRC_INVALID, "\"%s\" requires at least %d argument%s\n\nUsage:  %s", path,
                       cmd->args_min, cmd->args_min == 1 ? "" : "s", use);
    return err_set(err, ERRC_INVALID, "\"%s\" accepts at most %d argument%s\n\nUsage:  %s", path,
                   cmd->args_max, cmd->args_max == 1 ? "" : "s", use);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

void cli_printf(struct cli *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vfprintf(c->out, fmt, ap);
    va_end(ap);
}

void cli_write(struct cli *c, struct str s)
{
    if (s.n > 0)
        fwrite(s.p, 1, s.n, c->out);
}

/* Finds the command and copies the words that are not its name to *w. */
static int choose(struct cli *c, int argc, const char *const *argv, struct words *w, struct err **err)
{
    const char **rest = ARENA_ARRAY(c->parsed->arena, const char *, (size_t)argc + 1);
    int used[2] = { argc, argc }, n = 0, at = 1;

    for (int depth = 0; depth < 2; depth++) {
        const struct cli_command *found;

        at = next_plain_word(c, argc, argv, at);
        if (at == argc)
            break;
        found = cli_find_command(c, c->command ? c->command->name : NULL, str_from(argv[at]));
        if (!found)
            return cli_unknown_command(c, argv[at], err);
        c->command = found;
        used[depth] = at++;
        if (found->run)
            break;
    }
    for (int i = 1; i < argc; i++)
        if (i != used[0] && i != used[1])
            rest[n++] = argv[i];
    *w = (struct words){ .v = rest, .n = n };
    return 0;
}

static int run(struct cli *c, int argc, const char *const *argv, struct err **err)
{
    struct words w = { 0 };
    int r = choose(c, argc, argv, &w, err);

    if (r < 0)
        return r;
    set_defaults(c);
    r = parse_words(c, &w, err);
    if (r < 0)
        return r;
    fputs(buf_z(&c->parsed->warnings), c->errout);
    if (cli_bool(c, "help") || !c->command || !c->command->run) {
        cli_help(c, c->command);
        return 0;
    }
    r = check_color_mode(c, err);
    if (r >= 0)
        r = check_args(c, err);
    if (r < 0)
        return r;
    if (cli_bool(c, "debug") && !c->command->helm_log)
        log_configure(STR("debug"));
    return c->command->run(c, err);
}

int cli_main(struct cli *c, int argc, const char *const *argv)
{
    struct cli_parsed parsed = { .arena = arena_new(16 * MIB), .warnings = BUF_INIT(MIB) };
    CLEANUP(err_free) struct err *err = NULL;
    int r;

    c->parsed = &parsed;
    r = run(c, argc, argv, &err);
    if (r >= 0 && (fflush(c->out) != 0 || ferror(c->out)))
        r = err_errno(&err, errno, "write to standard output");
    if (r < 0)
        fprintf(c->errout, "Error: %s\n", err ? err_message(err) : errc_text((enum errc) - r));
    buf_done(&parsed.warnings);
    arena_free(parsed.arena);
    c->parsed = NULL;
    return r < 0 ? 1 : r;
}

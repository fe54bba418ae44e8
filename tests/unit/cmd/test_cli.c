/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/check.h"
#include "pintle/cli.h"
#include "pintle/commands.h"

static const struct cli_flag flags[] = {
    { "all", 'a', CLI_BOOL, NULL, NULL, "everything", NULL },
    { "brief", 'b', CLI_BOOL, "true", NULL, "less", NULL },
    { "dry-run", 0, CLI_STRING, "none", "client", "only pretend", NULL },
    { "max", 'm', CLI_INT, "10", NULL, "at most so many", NULL },
    { "name", 'n', CLI_STRING, NULL, NULL, "its name, not the namespace", NULL },
    { "set", 0, CLI_ARRAY, NULL, NULL, "set a value", NULL },
    { "timeout", 0, CLI_DURATION, "5m0s", NULL, "how long", NULL },
    { "values", 'f', CLI_LIST, "one,two", NULL, "files", NULL },
    CLI_FLAGS_END,
};

static struct buf seen; /* what the last run of a command saw */

static int run_show(struct cli *c, struct err **err)
{
    const char *const *items;
    size_t n;

    UNUSED(err);
    buf_clear(&seen);
    buf_addf(&seen, "all=%d brief=%d dry=%s max=%lld name=%s timeout=%lld", cli_bool(c, "all"),
             cli_bool(c, "brief"), cli_string(c, "dry-run"), (long long)cli_int(c, "max"),
             cli_string(c, "name"), (long long)cli_duration_ns(c, "timeout"));
    items = cli_list(c, "set", &n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&seen, " set:%s", items[i]);
    items = cli_list(c, "values", &n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&seen, " f:%s", items[i]);
    for (size_t i = 0; i < c->n_args; i++)
        buf_addf(&seen, " [%s]", c->args[i]);
    if (cli_given(c, "namespace"))
        buf_addf(&seen, " ns=%s", cli_string(c, "namespace"));
    return 0;
}

static int run_fail(struct cli *c, struct err **err)
{
    UNUSED(c);
    return err_set(err, ERRC_NOT_FOUND, "chart ./web: not found");
}

static int run_three(struct cli *c, struct err **err)
{
    UNUSED(err);
    cli_printf(c, "three\n");
    return 3;
}

static const struct cli_command show = { .name = "show",
                                         .brief = "shows",
                                         .usage = "[NAME] [CHART]",
                                         .args_max = -1,
                                         .flags = flags,
                                         .run = run_show };
static const struct cli_command repo = { .name = "repo", .brief = "repositories" };
static const struct cli_command repo_add = { .parent = "repo",
                                             .name = "add",
                                             .brief = "add one",
                                             .usage = "NAME URL",
                                             .args_min = 2,
                                             .args_max = 2,
                                             .run = run_fail };
static const struct cli_command repo_list = {
    .parent = "repo", .name = "list", .brief = "list them", .run = run_three
};
static const struct cli_command pull = { .name = "pull",
                                         .brief = "pull some",
                                         .usage = "CHART [...]",
                                         .args_min = 1,
                                         .args_max = -1,
                                         .run = run_fail };
static const struct cli_command use = {
    .name = "use", .brief = "use one", .usage = "[NAME]", .args_max = 1, .run = run_fail
};
static const struct cli_command *const commands[] = { &pull, &repo, &repo_add, &repo_list, &show, &use };

#define WORDS_MAX 16

/* Runs a line of words parted by single blanks; out and err are owned by the caller. */
static int run_line(const char *line, char **out, char **err)
{
    CLEANUP(free_ptr) char *words = xasprintf("pintle %s", line);
    const char *argv[WORDS_MAX];
    size_t n_out, n_err;
    struct cli c = { .commands = commands, .n_commands = ARRAY_SIZE(commands) };
    int argc = 0, status;

    for (char *p = words; *p;) {
        argv[argc++] = p;
        p += strcspn(p, " ");
        if (*p)
            *p++ = '\0';
    }
    c.out = open_memstream(out, &n_out);
    c.errout = open_memstream(err, &n_err);
    status = cli_main(&c, argc, argv);
    fclose(c.out);
    fclose(c.errout);
    return status;
}

static void test_flags_are_parsed_as_pflag_does(void **state)
{
#define DEFAULTS "all=0 brief=1 dry=none max=10 name= timeout=300000000000"
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "show", DEFAULTS " f:one f:two" },
        { "show a b", DEFAULTS " f:one f:two [a] [b]" },
        { "show --max=3 x", "all=0 brief=1 dry=none max=3 name= timeout=300000000000 f:one f:two [x]" },
        { "show --max 0x10", "all=0 brief=1 dry=none max=16 name= timeout=300000000000 f:one f:two" },
        { "show -m7 x -m -8", "all=0 brief=1 dry=none max=-8 name= timeout=300000000000 f:one f:two [x]" },
        { "show -m=7", "all=0 brief=1 dry=none max=7 name= timeout=300000000000 f:one f:two" },
        { "show -ab=false", "all=1 brief=0 dry=none max=10 name= timeout=300000000000 f:one f:two" },
        { "show -anweb", "all=1 brief=1 dry=none max=10 name=web timeout=300000000000 f:one f:two" },
        { "show -an web", "all=1 brief=1 dry=none max=10 name=web timeout=300000000000 f:one f:two" },
        { "show --all=F --brief=0", "all=0 brief=0 dry=none max=10 name= timeout=300000000000 f:one f:two" },
        { "show --dry-run x", "all=0 brief=1 dry=client max=10 name= timeout=300000000000 f:one f:two [x]" },
        { "show --dry-run=server", "all=0 brief=1 dry=server max=10 name= timeout=300000000000 f:one f:two" },
        { "show --timeout 1m30s", "all=0 brief=1 dry=none max=10 name= timeout=90000000000 f:one f:two" },
        { "show -f a,b -f c", DEFAULTS " f:a f:b f:c" },
        { "show -f \"a,b\",c", DEFAULTS " f:a,b f:c" },
        { "show -f \"a\"\"b\"", DEFAULTS " f:a\"b" },
        { "show -f a,", DEFAULTS " f:a f:" },
        { "show --values=", DEFAULTS },
        { "show --set a=1,b=2 --set c", DEFAULTS " set:a=1,b=2 set:c f:one f:two" },
        { "show -- --all -x", DEFAULTS " f:one f:two [--all] [-x]" },
        { "show - x", DEFAULTS " f:one f:two [-] [x]" },
        { "--namespace web show x", DEFAULTS " f:one f:two [x] ns=web" },
        { "--max 3 show x", "all=0 brief=1 dry=none max=3 name= timeout=300000000000 f:one f:two [x]" },
        { "-a show show", "all=1 brief=1 dry=none max=10 name= timeout=300000000000 f:one f:two [show]" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr) char *out = NULL, *err = NULL;
        int status = run_line(cases[i].line, &out, &err);

        assert_case_str(cases[i].line, str_from(err), "");
        assert_case_num(cases[i].line, status, 0);
        assert_case_str(cases[i].line, buf_str(&seen), cases[i].want);
    }
}

static void test_mistakes_are_named_in_the_words_of_helm(void **state)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "show --bogus", "Error: unknown flag: --bogus\n" },
        { "show --bogus=1 --help", "Error: unknown flag: --bogus\n" },
        { "show -x", "Error: unknown shorthand flag: 'x' in -x\n" },
        { "show -axe", "Error: unknown shorthand flag: 'x' in -axe\n" },
        { "show --=x", "Error: bad flag syntax: --=x\n" },
        { "show ---x", "Error: bad flag syntax: ---x\n" },
        { "show --name", "Error: flag needs an argument: --name\n" },
        { "show -n", "Error: flag needs an argument: 'n' in -n\n" },
        { "show -an", "Error: flag needs an argument: 'n' in -an\n" },
        { "show --debug=foo", "Error: invalid argument \"foo\" for \"--debug\" flag: strconv.ParseBool: "
                              "parsing \"foo\": invalid syntax\n" },
        { "show -m ten", "Error: invalid argument \"ten\" for \"-m, --max\" flag: strconv.ParseInt: parsing "
                         "\"ten\": invalid syntax\n" },
        { "show -m 9223372036854775808",
          "Error: invalid argument \"9223372036854775808\" for \"-m, --max\" flag: "
          "strconv.ParseInt: parsing \"9223372036854775808\": value out of range\n" },
        { "show --timeout 10",
          "Error: invalid argument \"10\" for \"--timeout\" flag: time: missing unit in duration \"10\"\n" },
        { "show --timeout foo",
          "Error: invalid argument \"foo\" for \"--timeout\" flag: time: invalid duration \"foo\"\n" },
        { "shw", "Error: unknown command \"shw\" for \"pintle\"\n\nDid you mean this?\n\tshow\n\n"
                 "Run 'pintle --help' for usage.\n" },
        { "bogus-word",
          "Error: unknown command \"bogus-word\" for \"pintle\"\nRun 'pintle --help' for usage.\n" },
        { "repo ad", "Error: unknown command \"ad\" for \"pintle repo\"\n\nDid you mean this?\n\tadd\n\n"
                     "Run 'pintle repo --help' for usage.\n" },
        { "repo add x",
          "Error: \"pintle repo add\" requires 2 arguments\n\nUsage:  pintle repo add NAME URL [flags]\n" },
        { "repo list x",
          "Error: \"pintle repo list\" accepts no arguments\n\nUsage:  pintle repo list [flags]\n" },
        { "pull", "Error: \"pintle pull\" requires at least 1 argument\n\nUsage:  pintle pull CHART [...] "
                  "[flags]\n" },
        { "use a b",
          "Error: \"pintle use\" accepts at most 1 argument\n\nUsage:  pintle use [NAME] [flags]\n" },
        { "pull web", "Error: chart ./web: not found\n" },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(free_ptr) char *out = NULL, *err = NULL;
        int status = run_line(cases[i].line, &out, &err);

        assert_case_str(cases[i].line, str_from(err), cases[i].want);
        assert_case_str(cases[i].line, str_from(out), "");
        assert_case_num(cases[i].line, status, 1);
    }
}

static void test_a_command_chooses_its_exit_status(void **state)
{
    CLEANUP(free_ptr) char *out = NULL, *err = NULL;

    UNUSED(state);
    assert_num(run_line("repo list", &out, &err), 3);
    assert_str(str_from(out), "three\n");
}

static void test_help_comes_from_the_table_wherever_it_is_asked_for(void **state)
{
    static const char *const lines[] = { "show --help", "show x -h", "--help show", "show -ah" };
    static const char want[] = "shows\n\nUsage:\n  pintle show [NAME] [CHART] [flags]\n\nFlags:\n"
                               "  -a, --all                         everything\n"
                               "  -b, --brief                       less (default true)\n"
                               "      --dry-run string[=\"client\"]   only pretend (default \"none\")\n"
                               "  -m, --max int                     at most so many (default 10)\n"
                               "  -n, --name string                 its name, not the namespace\n"
                               "      --set stringArray             set a value\n"
                               "      --timeout duration            how long (default 5m0s)\n"
                               "  -f, --values strings              files (default one,two)\n"
                               "\nGlobal Flags:\n";

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        CLEANUP(free_ptr) char *out = NULL, *err = NULL;

        assert_case_num(lines[i], run_line(lines[i], &out, &err), 0);
        assert_true(strlen(out) > strlen(want));
        out[strlen(want)] = '\0';
        assert_case_str(lines[i], str_from(out), want);
    }
}

static void test_a_group_without_a_member_lists_its_members(void **state)
{
    CLEANUP(free_ptr) char *out = NULL, *err = NULL;

    UNUSED(state);
    assert_num(run_line("repo", &out, &err), 0);
    assert_true(strstr(out, "\nAvailable Commands:\n  add         add one\n  list        list them\n") !=
                NULL);
    assert_true(strstr(out, "Use \"pintle repo [command] --help\"") != NULL);
}

#define X(name) &cmd_##name,
static const struct cli_command *const real_commands[] = { COMMANDS(X) };
#undef X

static void check_flags(const struct cli_command *k)
{
    CLEANUP(free_ptr) const struct cli_flag **flags_of_k = NULL;
    size_t n;

    flags_of_k = cli_flags_of(k, false, &n);
    for (size_t i = 0; i < n; i++) {
        if (!flags_of_k[i]->help || !flags_of_k[i]->help[0])
            fail_case("command %s: flag %s has no help", k->name, flags_of_k[i]->name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(flags_of_k[i]->name, flags_of_k[j]->name) == 0 ||
                (flags_of_k[i]->letter && flags_of_k[i]->letter == flags_of_k[j]->letter))
                fail_case("command %s: flags %s and %s are one", k->name, flags_of_k[i]->name,
                          flags_of_k[j]->name);
    }
}

static void test_the_real_tables_are_sorted_and_complete(void **state)
{
    const struct cli_command *last_at_top = NULL, *last_member = NULL;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(real_commands); i++) {
        const struct cli_command *k = real_commands[i];
        const struct cli_command **last = k->parent ? &last_member : &last_at_top;

        if (!k->brief || (!k->run && k->flags))
            fail_case("command %s: no brief, or flags without a run function", k->name);
        if (k->parent && (!last_at_top || last_at_top->run || strcmp(last_at_top->name, k->parent) != 0))
            fail_case("command %s: is not behind its parent %s", k->name, k->parent);
        if (*last && strcmp((*last)->name, k->name) >= 0)
            fail_case("command %s: comes after %s", k->name, (*last)->name);
        if (!k->parent)
            last_member = NULL;
        *last = k;
        check_flags(k);
    }
}

static void test_completion_names_every_command_and_flag_in_each_shell(void **state)
{
    static const char *const shells[] = { "bash", "zsh", "fish" };

    UNUSED(state);
    for (size_t s = 0; s < ARRAY_SIZE(shells); s++) {
        CLEANUP(free_ptr) char *out = NULL;
        size_t n;
        struct cli c = { .commands = commands,
                         .n_commands = ARRAY_SIZE(commands),
                         .out = open_memstream(&out, &n) };

        assert_true(cli_completion(&c, str_from(shells[s])));
        fclose(c.out);
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
            if (!strstr(out, commands[i]->name))
                fail_case("%s: command %s is missing", shells[s], commands[i]->name);
        for (const struct cli_flag *f = flags; f->name; f++)
            if (!strstr(out, f->name))
                fail_case("%s: flag %s is missing", shells[s], f->name);
    }
    struct cli none = { .out = NULL };
    assert_false(cli_completion(&none, STR("csh")));
}

static int free_seen(void **state)
{
    UNUSED(state);
    buf_done(&seen);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_are_parsed_as_pflag_does),
        cmocka_unit_test(test_mistakes_are_named_in_the_words_of_helm),
        cmocka_unit_test(test_a_command_chooses_its_exit_status),
        cmocka_unit_test(test_help_comes_from_the_table_wherever_it_is_asked_for),
        cmocka_unit_test(test_a_group_without_a_member_lists_its_members),
        cmocka_unit_test(test_the_real_tables_are_sorted_and_complete),
        cmocka_unit_test_teardown(test_completion_names_every_command_and_flag_in_each_shell, free_seen),
    };

    seen = BUF_INIT(65536);
    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* measure [-o PREFIX] RUNS COMMAND [-- COMMAND]…, a COMMAND being [-p SHELL] [NAME=VALUE…] PROGRAM [ARG…]: runs the commands
 * in turn, RUNS times each, and prints a line for each: median wall time and median CPU time in milliseconds, peak memory in
 * KiB, worst exit status. What they print is thrown away, or is in PREFIX.1, PREFIX.2 … of the last run. The shell command
 * behind -p runs before each run of its program and is not measured. Small itself, because a child's peak starts with its
 * parent's. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS_MAX 8
#define RUNS_MAX 10000

extern char **environ;

struct command {
    char **argv;
    const char *prepare; /* NULL: nothing */
    char **env;
    posix_spawn_file_actions_t output;
    double *wall_ms, *cpu_ms;
    long rss_kib;
    int status;
};

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void run(struct command *c, size_t i)
{
    struct rusage usage;
    double start;
    int status = 0;
    pid_t pid;

    if (c->prepare && system(c->prepare) != 0) {
        fprintf(stderr, "failed: %s\n", c->prepare);
        exit(2);
    }
    start = now_ms();
    if (posix_spawnp(&pid, c->argv[0], &c->output, NULL, c->argv, c->env) != 0 ||
        wait4(pid, &status, 0, &usage) < 0) {
        perror(c->argv[0]);
        exit(2);
    }
    c->wall_ms[i] = now_ms() - start;
    c->cpu_ms[i] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    if (usage.ru_maxrss > c->rss_kib)
        c->rss_kib = usage.ru_maxrss;
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (status > c->status)
        c->status = status;
}

/* Opens its output: /dev/null, or a file of its number. */
static void set_output(struct command *c, const char *prefix, size_t number)
{
    char path[4096] = "/dev/null";

    if (prefix)
        snprintf(path, sizeof(path), "%s.%zu", prefix, number);
    posix_spawn_file_actions_init(&c->output);
    posix_spawn_file_actions_addopen(&c->output, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

/* The assignments before the program, then what is in our own environment. Returns the program. */
static char **take_env(struct command *c, char **arg)
{
    size_t n = 0, inherited = 0;

    while (arg[n] && strchr(arg[n], '='))
        n++;
    while (environ[inherited])
        inherited++;
    c->env = calloc(n + inherited + 1, sizeof(*c->env));
    memcpy(c->env, arg, n * sizeof(*c->env));
    memcpy(c->env + n, environ, inherited * sizeof(*c->env));
    return arg + n;
}

/* One command from its arguments on; returns where they end. */
static char **take_command(struct command *c, char **arg, size_t runs)
{
    if (arg[0] && arg[1] && strcmp(arg[0], "-p") == 0) {
        c->prepare = arg[1];
        arg += 2;
    }
    c->argv = arg = take_env(c, arg);
    c->wall_ms = calloc(runs, sizeof(double));
    c->cpu_ms = calloc(runs, sizeof(double));
    while (*arg && strcmp(*arg, "--") != 0)
        arg++;
    return arg;
}

int main(int argc, char **argv)
{
    struct command commands[COMMANDS_MAX] = { 0 };
    const char *prefix = argc > 2 && strcmp(argv[1], "-o") == 0 ? argv[2] : NULL;
    char **arg = argv + (prefix ? 3 : 1);
    size_t n = 0, runs = *arg ? strtoul(*arg, NULL, 10) : 0;

    if (runs == 0 || runs > RUNS_MAX) {
        fprintf(stderr,
                "usage: measure [-o PREFIX] RUNS [-p SHELL] [NAME=VALUE...] PROGRAM [ARG...] [-- ...]\n");
        return 2;
    }
    arg++;
    while (*arg && n < COMMANDS_MAX) {
        char **end = take_command(&commands[n], arg, runs);

        set_output(&commands[n], prefix, n + 1);
        n++;
        arg = *end ? end + 1 : end;
        *end = NULL;
    }
    for (size_t i = 0; i < runs; i++)
        for (size_t k = 0; k < n; k++)
            run(&commands[k], i);
    for (size_t k = 0; k < n; k++)
        printf("%.2f %.2f %ld %d\n", median(commands[k].wall_ms, runs), median(commands[k].cpu_ms, runs),
               commands[k].rss_kib, commands[k].status);
    return 0;
}

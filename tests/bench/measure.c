/* SPDX-License-Identifier: Apache-2.0 */
/* measure RUNS PROGRAM [ARG…] [-- PROGRAM [ARG…]]…: runs the commands in turn, RUNS times each, and prints a line for
 * each: median wall time and median CPU time in milliseconds, peak memory in KiB, worst exit status. Their output is
 * thrown away. Small itself, because a child's peak starts with its parent's. */
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

static void run(struct command *c, size_t i, posix_spawn_file_actions_t *quiet)
{
    struct rusage usage;
    double start = now_ms();
    int status = 0;
    pid_t pid;

    if (posix_spawnp(&pid, c->argv[0], quiet, NULL, c->argv, environ) != 0 ||
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

int main(int argc, char **argv)
{
    struct command commands[COMMANDS_MAX] = { 0 };
    size_t n = 0, runs = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    posix_spawn_file_actions_t quiet;

    if (runs == 0 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: measure RUNS PROGRAM [ARG...] [-- PROGRAM [ARG...]]...\n");
        return 2;
    }
    for (int i = 2; i < argc && n < COMMANDS_MAX; i++, n++) {
        commands[n].argv = argv + i;
        commands[n].wall_ms = calloc(runs, sizeof(double));
        commands[n].cpu_ms = calloc(runs, sizeof(double));
        while (i < argc && strcmp(argv[i], "--") != 0)
            i++;
        argv[i] = NULL; /* argv[argc] is NULL already */
    }
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    for (size_t i = 0; i < runs; i++)
        for (size_t k = 0; k < n; k++)
            run(&commands[k], i, &quiet);
    for (size_t k = 0; k < n; k++)
        printf("%.2f %.2f %ld %d\n", median(commands[k].wall_ms, runs), median(commands[k].cpu_ms, runs),
               commands[k].rss_kib, commands[k].status);
    return 0;
}

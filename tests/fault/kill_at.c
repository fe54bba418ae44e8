/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: ends the process, as kill -9 does, before the call number $KILL_AT among those that change names below a folder
 * whose path has $KILL_BELOW in it: rename, unlink, mkdir, rmdir. Whatever a program writes is visible by one of these. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int calls;

static void count(const char *path)
{
    const char *at = getenv("KILL_AT"), *below = getenv("KILL_BELOW");

    if (at && below && strstr(path, below) && atomic_fetch_add(&calls, 1) + 1 == strtol(at, NULL, 10))
        kill(getpid(), SIGKILL);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rename(const char *from, const char *to)
{
    count(to);
    return NEXT(rename)(from, to);
}

int unlink(const char *path)
{
    count(path);
    return NEXT(unlink)(path);
}

int mkdir(const char *path, mode_t mode)
{
    count(path);
    return NEXT(mkdir)(path, mode);
}

int rmdir(const char *path)
{
    count(path);
    return NEXT(rmdir)(path);
}

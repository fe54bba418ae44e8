/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a process: numbers what it does to files below $KILL_BELOW and kills it at number $KILL_AT, with half of the
 * write done when it is one. */
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef ssize_t write_fn(int, const void *, size_t);
typedef ssize_t pwrite_fn(int, const void *, size_t, off_t);
typedef int truncate_fn(int, off_t);
typedef int unlink_fn(const char *);
typedef int rename_fn(const char *, const char *);

static atomic_int count;

static int is_below(const char *path)
{
    const char *dir = getenv("KILL_BELOW");

    return dir && strncmp(path, dir, strlen(dir)) == 0;
}

static int is_last(const char *path)
{
    const char *at = getenv("KILL_AT");

    return at && is_below(path) && atomic_fetch_add(&count, 1) + 1 == strtol(at, NULL, 10);
}

static int is_last_of(int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    if (n < 0)
        return 0;
    path[n] = '\0';
    return is_last(path);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

ssize_t write(int fd, const void *p, size_t n);
ssize_t write(int fd, const void *p, size_t n)
{
    write_fn *real = (write_fn *)dlsym(RTLD_NEXT, "write");

    if (is_last_of(fd)) {
        (void)!real(fd, p, n / 2);
        die();
    }
    return real(fd, p, n);
}

static ssize_t do_pwrite(const char *name, int fd, const void *p, size_t n, off_t at)
{
    pwrite_fn *real = (pwrite_fn *)dlsym(RTLD_NEXT, name);

    if (is_last_of(fd)) {
        (void)!real(fd, p, n / 2, at);
        die();
    }
    return real(fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return do_pwrite("pwrite", fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at);
ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
    return do_pwrite("pwrite64", fd, p, n, at);
}

int ftruncate64(int fd, off_t n);
int ftruncate64(int fd, off_t n)
{
    if (is_last_of(fd))
        die();
    return ((truncate_fn *)dlsym(RTLD_NEXT, "ftruncate64"))(fd, n);
}

int unlink(const char *path)
{
    if (is_last(path))
        die();
    return ((unlink_fn *)dlsym(RTLD_NEXT, "unlink"))(path);
}

int rename(const char *from, const char *to)
{
    if (is_last(from))
        die();
    return ((rename_fn *)dlsym(RTLD_NEXT, "rename"))(from, to);
}

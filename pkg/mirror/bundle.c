/* SPDX-License-Identifier: Apache-2.0 */
#include "mirror/bundle.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

#define BLOCK ((size_t)512)

/* POSIX.1-1988 ustar. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
        version[2];
    char user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == 512, "a tar block");

static const char zeros[BLOCK];

static unsigned checksum(const struct header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    unsigned sum = 0;

    for (size_t i = 0; i < sizeof(*h); i++)
        sum += i >= offsetof(struct header, checksum) && i < offsetof(struct header, type) ? ' ' : p[i];
    return sum;
}

static int write_all(int fd, const void *bytes, size_t n, struct err **err)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t w = write(fd, p, n);

        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return err_errno(err, errno, "bundle");
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

static size_t padding(size_t n)
{
    return (BLOCK - n % BLOCK) % BLOCK;
}

int bundle_write(int fd, const char *name, struct str bytes, struct err **err)
{
    struct header h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
    int r;

    assert(strlen(name) < sizeof(h.name));
    snprintf(h.name, sizeof(h.name), "%s", name);
    snprintf(h.mode, sizeof(h.mode), "%07o", 0644u);
    snprintf(h.uid, sizeof(h.uid), "%07o", 0u);
    snprintf(h.gid, sizeof(h.gid), "%07o", 0u);
    snprintf(h.size, sizeof(h.size), "%011zo", bytes.n);
    snprintf(h.mtime, sizeof(h.mtime), "%011o", 0u);
    snprintf(h.checksum, sizeof(h.checksum), "%06o", checksum(&h) & 0777777u);
    h.checksum[7] = ' ';
    r = write_all(fd, &h, sizeof(h), err);
    if (r == 0)
        r = write_all(fd, bytes.p, bytes.n, err);
    return r < 0 ? r : write_all(fd, zeros, padding(bytes.n), err);
}

int bundle_write_end(int fd, struct err **err)
{
    int r = write_all(fd, zeros, BLOCK, err);

    return r < 0 ? r : write_all(fd, zeros, BLOCK, err);
}

static int read_all(int fd, void *to, size_t n, struct err **err)
{
    char *p = to;

    while (n > 0) {
        ssize_t got = read(fd, p, n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, errno, "bundle");
        if (got == 0)
            return err_set(err, ERRC_PARSE, "the bundle is cut short");
        p += got;
        n -= (size_t)got;
    }
    return 0;
}

/* Octal digits, then NUL or blank; false for anything else. */
static bool parse_octal(const char *p, size_t n, size_t *ret)
{
    size_t v = 0, i = 0;

    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        v = v * 8 + (size_t)(p[i] - '0');
    if (i == 0 || (i < n && p[i] != '\0' && p[i] != ' '))
        return false;
    *ret = v;
    return true;
}

int bundle_read(int fd, const char *name, struct buf *out, struct err **err)
{
    struct header h;
    char pad[BLOCK], *to;
    size_t size, sum;
    int r = read_all(fd, &h, sizeof(h), err);

    if (r < 0)
        return r;
    if (memcmp(h.magic, "ustar", 5) != 0 || !parse_octal(h.checksum, sizeof(h.checksum), &sum) ||
        sum != checksum(&h) || !parse_octal(h.size, sizeof(h.size), &size) || h.type != '0')
        return err_set(err, ERRC_PARSE, "this is no bundle of a mirror, or a damaged one");
    if (strlen(name) >= sizeof(h.name) || strncmp(h.name, name, sizeof(h.name)) != 0)
        return err_set(err, ERRC_PARSE, "the bundle has %.99s where its manifest has %s", h.name, name);
    if (size > out->max - MIN(out->n, out->max))
        return err_set(err, ERRC_LIMIT, "%s in the bundle has %zu bytes", name, size);
    to = buf_reserve(out, MAX(size, (size_t)1));
    r = read_all(fd, to, size, err);
    if (r == 0)
        r = read_all(fd, pad, padding(size), err);
    if (r == 0)
        buf_commit(out, size);
    return r;
}

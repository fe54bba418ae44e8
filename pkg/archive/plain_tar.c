/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/plain_tar.h"

#define BLOCK 512

/* POSIX.1-1988 header, and where GNU's differs. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[8]; /* with the version: "ustar\0" "00" or "ustar  " "\0" */
    char owner[32], group[32], major[8], minor[8];
    char prefix[155]; /* GNU: times, offset and the list of a sparse file, all unused in plain headers */
    char rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

static bool is_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* Octal digits, blanks in front, at least one blank or NUL behind and nothing else. No digits at all: 0. */
static bool read_octal(const char *p, size_t n, int64_t *ret)
{
    size_t i = 0;
    int64_t v = 0;

    while (i < n && p[i] == ' ')
        i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        v = v * 8 + (p[i] - '0');
    *ret = v;
    if (i == n)
        return false;
    while (i < n && (p[i] == ' ' || p[i] == '\0'))
        i++;
    return i == n;
}

/* Numbers that nobody needs still make a header invalid. */
static bool has_numbers(const struct header *h)
{
    int64_t v;

    return read_octal(h->mode, sizeof(h->mode), &v) && read_octal(h->uid, sizeof(h->uid), &v) &&
           read_octal(h->gid, sizeof(h->gid), &v) && read_octal(h->major, sizeof(h->major), &v) &&
           read_octal(h->minor, sizeof(h->minor), &v);
}

static bool has_checksum(const struct header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    unsigned sum = 0;
    int64_t want;

    for (size_t i = 0; i < BLOCK; i++)
        sum += p[i];
    for (size_t i = 0; i < sizeof(h->checksum); i++)
        sum += ' ' - (unsigned)(unsigned char)h->checksum[i];
    return read_octal(h->checksum, sizeof(h->checksum), &want) && want == sum;
}

/* Names with other bytes depend on the locale and on who wrote the tar. */
static bool copy_name(const char *field, size_t n, char **out)
{
    for (size_t i = 0; i < n && field[i]; i++) {
        if (field[i] < ' ' || field[i] > '~')
            return false;
        *(*out)++ = field[i];
    }
    return true;
}

static bool read_name(const struct header *h, bool gnu, struct plain_entry *e)
{
    char *out = e->name;

    if (gnu && !is_zero(h->prefix, sizeof(h->prefix)))
        return false;
    if (h->prefix[0]) {
        if (!copy_name(h->prefix, sizeof(h->prefix), &out))
            return false;
        if (out[-1] != '/')
            *out++ = '/';
    }
    if (!h->name[0] || !copy_name(h->name, sizeof(h->name), &out))
        return false;
    *out = '\0';
    return (h->type == '5') || out[-1] != '/';
}

/* 1 and the entry; 0: the end; -1: not plain. */
static int read_entry(struct str tar, size_t *at, bool check, struct plain_entry *e)
{
    size_t left = tar.n - *at, padded;
    const struct header *h;
    int64_t size;
    bool gnu;

    if (left < BLOCK)
        return -1;
    h = (const struct header *)(const void *)(tar.p + *at);
    if (!h->name[0] && is_zero((const char *)h, BLOCK))
        return 0;
    gnu = memcmp(h->magic, "ustar  ", sizeof(h->magic)) == 0;
    if ((!gnu && memcmp(h->magic, "ustar\00000", sizeof(h->magic)) != 0) ||
        (check && !(has_checksum(h) && has_numbers(h))) || (h->type != '0' && h->type != '5') ||
        !read_name(h, gnu, e) || !read_octal(h->size, sizeof(h->size), &size) ||
        !read_octal(h->mtime, sizeof(h->mtime), &e->mtime))
        return -1;
    e->is_folder = h->type == '5';
    padded = ((size_t)size + BLOCK - 1) / BLOCK * BLOCK;
    if (padded > left - BLOCK || (e->is_folder && size > 0))
        return -1;
    e->data = str_sub(tar, *at + BLOCK, *at + BLOCK + (size_t)size);
    *at += BLOCK + padded;
    return 1;
}

bool plain_tar_is(struct str tar)
{
    struct plain_entry e;
    size_t at = 0;
    int r;

    while ((r = read_entry(tar, &at, true, &e)) > 0)
        ;
    return r == 0 && at > 0;
}

bool plain_tar_next(struct str tar, size_t *at, struct plain_entry *ret)
{
    return read_entry(tar, at, false, ret) > 0;
}

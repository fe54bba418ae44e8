/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/limits.h"

/* Tar on one side, gzip on the other: what libarchive writes is deflated at once. */
struct packer {
    struct archive *tar;
    struct archive_entry *entry;
    z_stream z;
    gz_header header;
    struct buf *out;
    bool started;
};

static void packer_done(struct packer *p)
{
    if (p->entry)
        archive_entry_free(p->entry);
    if (p->tar)
        archive_write_free(p->tar);
    if (p->started)
        deflateEnd(&p->z);
}
DEFINE_CLEANUP_VALUE(struct packer, packer_done)

static bool packer_deflate(struct packer *p, int flush)
{
    int r;

    do {
        char *room = buf_reserve(p->out, 16 * KIB);

        if (!room)
            return false;
        p->z.next_out = (Bytef *)room;
        p->z.avail_out = (uInt)(16 * KIB);
        r = deflate(&p->z, flush);
        buf_commit(p->out, 16 * KIB - p->z.avail_out);
    } while (r == Z_OK && (p->z.avail_in > 0 || p->z.avail_out == 0 || flush == Z_FINISH));
    return true;
}

static ssize_t packer_write(struct archive *tar, void *ctx, const void *bytes, size_t n)
{
    struct packer *p = ctx;

    p->z.next_in = (Bytef *)(uintptr_t)bytes;
    p->z.avail_in = (uInt)n;
    if (!packer_deflate(p, Z_NO_FLUSH)) {
        archive_set_error(tar, 1, "the archive is too large");
        return -1;
    }
    return (ssize_t)n;
}

static int packer_open(struct packer *p, struct err **err)
{
    static Bytef comment[] = "Helm";

    if (deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(err, ERRC_INTERNAL, "zlib cannot be started");
    p->started = true;
    p->header = (gz_header){ .os = 255, .comment = comment };
    deflateSetHeader(&p->z, &p->header);
    p->tar = archive_write_new();
    p->entry = archive_entry_new();
    archive_write_set_format_pax_restricted(p->tar);
    archive_write_set_bytes_per_block(p->tar, 10240);
    if (archive_write_open(p->tar, p, NULL, packer_write, NULL) != ARCHIVE_OK)
        return err_set(err, ERRC_INTERNAL, "%s", archive_error_string(p->tar));
    return 0;
}

static int packer_fail(const struct packer *p, struct err **err)
{
    const char *text = archive_error_string(p->tar);

    if (p->out->failed)
        return buf_check(p->out, err);
    return err_set(err, ERRC_INVALID, "%s", text ? text : "the archive cannot be written");
}

static int packer_add(struct packer *p, struct str prefix, const struct archive_file *f, struct err **err)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(2 * FS_PATH_MAX);
    int rc;

    buf_addf(&name, STR_FMT "/" STR_FMT, STR_ARG(prefix), STR_ARG(f->name));
    rc = buf_check(&name, err);
    if (rc < 0)
        return rc;
    archive_entry_clear(p->entry);
    archive_entry_copy_pathname(p->entry, buf_z(&name));
    archive_entry_set_filetype(p->entry, AE_IFREG);
    archive_entry_set_perm(p->entry, 0644);
    archive_entry_set_size(p->entry, (la_int64_t)f->data.n);
    archive_entry_set_mtime(p->entry, (time_t)f->modified.s, 0);
    if (archive_write_header(p->tar, p->entry) < ARCHIVE_WARN)
        return packer_fail(p, err);
    if (f->data.n > 0 && archive_write_data(p->tar, f->data.p, f->data.n) != (la_ssize_t)f->data.n)
        return packer_fail(p, err);
    return 0;
}

int archive_write(struct str prefix, const struct archive_file *files, size_t n, struct buf *out,
                  struct err **err)
{
    CLEANUP(packer_done) struct packer p = { .out = out };
    int rc;

    rc = packer_open(&p, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        rc = packer_add(&p, prefix, &files[i], err);
        if (rc < 0)
            return rc;
    }
    if (archive_write_close(p.tar) != ARCHIVE_OK)
        return packer_fail(&p, err);
    p.z.avail_in = 0;
    packer_deflate(&p, Z_FINISH);
    return buf_check(out, err);
}

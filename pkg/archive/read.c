/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/plain_tar.h"
#include "base/limits.h"
#include "base/utf8.h"

#define CHUNK (64 * KIB)
#define GZIP_HEADER_CRC 2 /* RFC 1952: a flag */
/* Helm bounds the content only. Headers and padding of the entries that we allow, and long names, fit into this. */
#define TAR_MAX (ARCHIVE_UNPACKED_MAX + 64 * MIB)

/* The gzip layer: hands libarchive one chunk after the other and counts every byte that comes out, whatever the tar
 * headers claim, so that skipped entries and endless headers are bounded too. */
struct inflater {
    z_stream z;
    struct str packed;
    size_t unpacked;
    bool started, ended;
    unsigned char *chunk;
    enum errc code; /* why it stopped, with `problem` */
    const char *problem;
    const char *later; /* the fault behind the bytes that were given last */
};

static void inflater_done(struct inflater *f)
{
    if (f->started)
        inflateEnd(&f->z);
    free(f->chunk);
}

bool archive_is_gzip(struct str packed)
{
    return str_has_prefix(packed, STR("\x1f\x8b\x08"));
}

static int inflater_start(struct inflater *f, struct str packed, struct err **err)
{
    if (packed.n > ARCHIVE_PACKED_MAX)
        return err_set(err, ERRC_LIMIT, "chart archive is larger than the maximum size %zu",
                       ARCHIVE_PACKED_MAX);
    if (packed.n < 10)
        return err_set(err, ERRC_PARSE, packed.n == 0 ? "EOF" : "unexpected EOF");
    if (!archive_is_gzip(packed))
        return err_set(err, ERRC_PARSE, "gzip: invalid header");
    f->packed = packed;
    f->z.next_in = (Bytef *)(uintptr_t)packed.p;
    f->z.avail_in = (uInt)packed.n;
    if (inflateInit2(&f->z, 15 + 16) != Z_OK)
        return err_set(err, ERRC_INTERNAL, "zlib cannot be started");
    f->started = true;
    f->chunk = xmalloc(CHUNK);
    return 0;
}

static ssize_t inflater_fail(struct inflater *f, enum errc code, const char *problem)
{
    f->code = code;
    f->problem = problem;
    return -1;
}

/* At the end of a gzip member: is there another one? Go reads joined members as one stream. */
static bool inflater_next_member(struct inflater *f)
{
    if (f->z.avail_in == 0) {
        f->ended = true;
        return false;
    }
    return inflateReset(&f->z) == Z_OK;
}

static const char *inflater_problem(const struct inflater *f)
{
    return f->z.msg && strcmp(f->z.msg, "header crc mismatch") == 0 ? "gzip: invalid header"
                                                                    : "gzip: invalid data";
}

/* The tar layer may need no more than what comes before a fault: Go, too, never looks at a checksum behind the tar's end. */
static ssize_t inflater_read(struct archive *tar, void *ctx, const void **ret)
{
    struct inflater *f = ctx;
    size_t n;

    UNUSED(tar);
    f->z.next_out = f->chunk;
    f->z.avail_out = (uInt)CHUNK;
    while (!f->later && !f->ended && f->z.avail_out > 0) {
        int r = inflate(&f->z, Z_NO_FLUSH);

        if (r == Z_STREAM_END)
            inflater_next_member(f);
        else if (r == Z_BUF_ERROR || (r == Z_OK && f->z.avail_in == 0 && f->z.avail_out > 0))
            f->later = "unexpected EOF";
        else if (r != Z_OK)
            f->later = inflater_problem(f);
    }
    n = CHUNK - f->z.avail_out;
    if (n == 0 && f->later)
        return inflater_fail(f, ERRC_PARSE, f->later);
    f->unpacked += n;
    if (f->unpacked > TAR_MAX)
        return inflater_fail(f, ERRC_LIMIT, "archive is larger than its files may be");
    if (f->unpacked > MIB && f->unpacked / ARCHIVE_RATIO_MAX > f->packed.n - f->z.avail_in)
        return inflater_fail(f, ERRC_LIMIT, "archive is compressed beyond what deflate can do");
    *ret = f->chunk;
    return (ssize_t)n;
}

/* ---- all at once ----
 *
 * Nearly every archive is one sound gzip member that tells its size. libdeflate unpacks it three times as fast as zlib,
 * and files can stay where they are in the tar. Whatever it does not like goes to the inflater, which knows the words. */

/* What the last member says of its size, if that is one that the inflater would let pass; else 0. */
static size_t claimed_size(struct str packed)
{
    const unsigned char *end = (const unsigned char *)packed.p + packed.n;
    size_t n;

    if (packed.n < 18 || packed.n > ARCHIVE_PACKED_MAX || !archive_is_gzip(packed) ||
        (packed.p[3] & GZIP_HEADER_CRC)) /* libdeflate does not look at it, zlib and Go do */
        return 0;
    n = (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
    return n > TAR_MAX || (n > MIB && n / ARCHIVE_RATIO_MAX > packed.n) ? 0 : n;
}

static bool unpack_whole(struct arena *a, struct str packed, struct str *ret)
{
    size_t n = claimed_size(packed), used = 0, got = 0;
    struct libdeflate_decompressor *d;
    struct arena_mark mark = arena_mark(a);
    char *to;
    bool ok;

    if (n == 0 || !arena_fits(a, n))
        return false;
    d = libdeflate_alloc_decompressor();
    if (!d)
        return false;
    to = arena_alloc_bytes(a, n);
    ok = libdeflate_gzip_decompress_ex(d, packed.p, packed.n, to, n, &used, &got) == LIBDEFLATE_SUCCESS &&
         used == packed.n && got == n;
    libdeflate_free_decompressor(d);
    if (ok)
        *ret = (struct str){ to, n };
    else
        arena_rewind(a, mark);
    return ok;
}

/* ---- the tar layer ---- */

struct reader {
    struct inflater inflater;
    struct str whole; /* the tar, when it was unpacked at once */
    struct archive *tar;
    struct arena *arena;
    struct archive_file *files;
    size_t n, cap, entries;
    size_t left; /* of ARCHIVE_UNPACKED_MAX */
};

static int tar_fail(const struct reader *r, struct err **err)
{
    const char *text = archive_error_string(r->tar);

    if (r->inflater.problem)
        return err_set(err, r->inflater.code, "%s", r->inflater.problem);
    return err_set(err, ERRC_PARSE, "archive/tar: %s", text ? text : "invalid tar header");
}

/* path.Clean() of a relative path: "." for nothing, ".." kept only in front. */
static struct str clean_path(struct arena *a, struct str path)
{
    char *out = arena_alloc_bytes(a, path.n + 1);
    size_t n = 0, floor = 0; /* `floor`: end of the leading ".." parts, which nothing may take away */
    struct str part, rest = { path.p ? path.p : "", path.n };

    while (str_split(&rest, '/', &part)) {
        if (part.n == 0 || str_eq(part, STR(".")))
            continue;
        if (str_eq(part, STR("..")) && n > floor) {
            while (n > floor && out[n - 1] != '/')
                n--;
            n -= n > floor;
            continue;
        }
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
        if (str_eq(part, STR("..")))
            floor = n;
    }
    return n > 0 ? (struct str){ out, n } : STR(".");
}

static int outside(struct str name, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(8 * FS_PATH_MAX);

    utf8_quote(name, &quoted);
    return err_set(err, ERRC_PARSE, "chart illegally contains content outside the base directory: %s",
                   buf_z(&quoted));
}

/* The name below the chart's folder, by the rules of Helm's LoadArchiveFiles(). */
static int entry_name(struct arena *a, struct str name, struct str *ret, struct err **err)
{
    char delimiter = str_find_char(name, '\\') != STR_NPOS ? '\\' : '/';
    size_t at = str_find_char(name, delimiter);
    struct str first = at == STR_NPOS ? name : str_sub(name, 0, at);
    struct str below = arena_dup(a, at == STR_NPOS ? STR("") : str_sub(name, at + 1, name.n));

    if (name.n > FS_PATH_MAX)
        return err_set(err, ERRC_LIMIT, "chart contains a file whose name is longer than %zu bytes",
                       FS_PATH_MAX);
    if (delimiter == '\\')
        for (char *p = (char *)(uintptr_t)below.p; p < below.p + below.n; p++)
            *p = *p == '\\' ? '/' : *p;
    if (str_has_prefix(below, STR("/")))
        return err_set(err, ERRC_PARSE, "chart illegally contains absolute paths");
    below = clean_path(a, below);
    if (str_eq(below, STR(".")))
        return outside(name, err);
    if (str_has_prefix(below, STR("..")))
        return err_set(err, ERRC_PARSE, "chart illegally references parent directory");
    if (below.n >= 3 && ascii_is_alpha(below.p[0]) && below.p[1] == ':' && below.p[2] == '/')
        return err_set(err, ERRC_PARSE, "chart contains illegally named files");
    if (str_eq(first, STR("Chart.yaml")))
        return err_set(err, ERRC_PARSE, "chart yaml not in base directory");
    *ret = below;
    return 0;
}

static int too_large(struct err **err)
{
    return err_set(err, ERRC_LIMIT, "decompressed chart is larger than the maximum size %zu",
                   ARCHIVE_UNPACKED_MAX);
}

static int check_size(const struct reader *r, struct str name, int64_t size, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(8 * FS_PATH_MAX);

    if (size < 0)
        return err_set(err, ERRC_PARSE, "archive/tar: invalid tar header");
    if ((uint64_t)size > r->left)
        return too_large(err);
    if ((uint64_t)size > ARCHIVE_FILE_MAX) {
        utf8_quote(name, &quoted);
        return err_set(err, ERRC_LIMIT, "decompressed chart file %s is larger than the maximum file size %zu",
                       buf_z(&quoted), ARCHIVE_FILE_MAX);
    }
    return 0;
}

static bool stands_in(struct str whole, const char *p)
{
    return whole.n > 0 && p >= whole.p && p < whole.p + whole.n;
}

/* The content of one entry: where it stands in the tar when that is there as a whole and has it in one piece. */
static int read_content(struct reader *r, size_t size, struct str *ret, struct err **err)
{
    char *data = NULL;

    *ret = STR("");
    for (size_t n = 0; n < size;) {
        const void *block = NULL;
        la_int64_t at = 0;
        size_t got = 0, from;
        int rc = archive_read_data_block(r->tar, &block, &got, &at);

        if (rc < ARCHIVE_OK)
            return tar_fail(r, err);
        if (rc == ARCHIVE_EOF)
            return err_set(err, ERRC_PARSE, "unexpected EOF");
        if (n == 0 && at == 0 && got >= size && stands_in(r->whole, block)) {
            *ret = (struct str){ block, size };
            return 0;
        }
        if (!data)
            data = arena_alloc_bytes(r->arena, size);
        from = MIN((size_t)at, size); /* a sparse file has holes */
        memset(data + n, 0, from - n);
        got = MIN(got, size - from);
        if (got > 0)
            memcpy(data + from, block, got);
        n = from + got;
        *ret = (struct str){ data, n };
    }
    return 0;
}

/* Only regular files have content in Go's archive/tar: links, devices and pipes come out empty. */
static bool has_content(struct archive_entry *e)
{
    return archive_entry_filetype(e) == AE_IFREG && !archive_entry_hardlink(e);
}

static NODISCARD int count_entry(struct reader *r, struct err **err)
{
    return ++r->entries > ARCHIVE_ENTRIES_MAX
               ? err_set(err, ERRC_LIMIT, "chart archive has more than %zu entries", ARCHIVE_ENTRIES_MAX)
               : 0;
}

/* The next file, of that size, with everything but its content. */
static NODISCARD int begin_file(struct reader *r, struct str name, int64_t size, struct wall_time modified,
                                struct err **err)
{
    struct archive_file *f;
    int rc;

    ARRAY_GROW(r->files, r->cap, r->n + 1);
    f = &r->files[r->n];
    f->modified = modified;
    rc = entry_name(r->arena, name, &f->name, err);
    return rc < 0 ? rc : check_size(r, name, size, err);
}

static NODISCARD int end_file(struct reader *r, struct str data, struct err **err)
{
    r->left -= data.n;
    if (r->left == 0 || arena_failed(r->arena))
        return too_large(err);
    r->files[r->n++].data = str_trim_prefix(data, STR("\xef\xbb\xbf"));
    return 0;
}

static int read_entry(struct reader *r, struct archive_entry *e, struct err **err)
{
    const char *z = archive_entry_pathname(e);
    struct str name = str_from(z ? z : archive_entry_pathname_utf8(e)), data = STR("");
    struct wall_time modified = { archive_entry_mtime(e), (int32_t)archive_entry_mtime_nsec(e) };
    int64_t size = has_content(e) ? archive_entry_size(e) : 0;
    int rc = count_entry(r, err);

    if (rc < 0 || archive_entry_filetype(e) == AE_IFDIR)
        return rc;
    rc = begin_file(r, name, size, modified, err);
    if (rc == 0)
        rc = read_content(r, (size_t)size, &data, err);
    return rc < 0 ? rc : end_file(r, data, err);
}

static int read_entries(struct reader *r, struct err **err)
{
    for (;;) {
        struct archive_entry *e;
        int rc = archive_read_next_header(r->tar, &e);

        if (rc == ARCHIVE_EOF)
            return 0;
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
            return tar_fail(r, err);
        rc = read_entry(r, e, err);
        if (rc < 0)
            return rc;
    }
}

/* libarchive spends more on a header than there is to do for all of a small file. */
static int read_plain_entries(struct reader *r, struct err **err)
{
    struct plain_entry e;

    for (size_t at = 0; plain_tar_next(r->whole, &at, &e);) {
        int rc = count_entry(r, err);

        if (rc == 0 && e.is_folder)
            continue;
        if (rc == 0)
            rc = begin_file(r, str_from(e.name), (int64_t)e.data.n, (struct wall_time){ e.mtime, 0 }, err);
        if (rc == 0)
            rc = end_file(r, e.data, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void reader_done(struct reader *r)
{
    if (r->tar)
        archive_read_free(r->tar);
    inflater_done(&r->inflater);
    free(r->files);
}
DEFINE_CLEANUP_VALUE(struct reader, reader_done)

static NODISCARD int read_with_libarchive(struct reader *r, struct err **err)
{
    int rc;

    r->tar = archive_read_new();
    archive_read_support_format_tar(r->tar);
    rc = r->whole.n > 0 ? archive_read_open_memory(r->tar, r->whole.p, r->whole.n)
                        : archive_read_open(r->tar, &r->inflater, NULL, inflater_read, NULL);
    return rc == ARCHIVE_OK ? read_entries(r, err) : tar_fail(r, err);
}

static NODISCARD int read_all(struct reader *r, struct str packed, struct err **err)
{
    int rc = 0;

    if (!unpack_whole(r->arena, packed, &r->whole))
        rc = inflater_start(&r->inflater, packed, err);
    if (rc < 0)
        return rc;
    return plain_tar_is(r->whole) ? read_plain_entries(r, err) : read_with_libarchive(r, err);
}

int archive_read(struct arena *a, struct str packed, struct archive_files *ret, struct err **err)
{
    CLEANUP(reader_done) struct reader r = { .arena = a, .left = ARCHIVE_UNPACKED_MAX };
    struct archive_file *kept;
    int rc;

    rc = read_all(&r, packed, err);
    if (rc < 0)
        return rc;
    if (r.n == 0)
        return err_set(err, ERRC_PARSE, "no files in chart archive");
    kept = ARENA_ARRAY(a, struct archive_file, r.n);
    memcpy(kept, r.files, r.n * sizeof(*kept));
    *ret = (struct archive_files){ kept, r.n };
    return 0;
}

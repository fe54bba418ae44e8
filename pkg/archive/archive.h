/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* archive: gzipped tar files in memory, with Helm's rules for charts (pkg/chart/loader/archive) and Helm's words.
 *
 * Nothing is ever written to a disk. Caps are in base/limits.h; bytes are counted while they are inflated, so that
 * neither a header's size nor a bomb decides how much memory is used. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

struct archive_file {
    struct str name; /* clean, relative, below the chart's folder: "templates/a.yaml"; never empty */
    struct str data; /* without a leading byte order mark */
    struct wall_time modified;
};

struct archive_files {
    struct archive_file *files; /* in the archive's order; a name may appear twice */
    size_t n;
};

/* Reads the .tgz `packed`; names and data live in `a`. The first part of every path is dropped, folders are skipped, links
 * come out as empty files, as in Helm. PARSE ("gzip: invalid header", "no files in chart archive", a path that leaves
 * the folder, …) or LIMIT ("decompressed chart is larger than the maximum size 104857600", …). */
NODISCARD int archive_read(struct arena *a, struct str packed, struct archive_files *ret, struct err **err);

/* Does it start as a gzip file that Helm would open (magic 1F 8B 08)? */
bool archive_is_gzip(struct str packed);

/* What Go's http.DetectContentType says of the first 512 bytes: Helm names it when a file is not an archive. Static. */
const char *archive_content_type(struct str head);

/* Appends a .tgz of `files` under the folder `prefix`. Deterministic: the same input makes the same bytes, times are
 * the files' own (1970 when zero), mode 0644, no owner. The gzip header carries Helm's comment. LIMIT when `out` is full. */
NODISCARD int archive_write(struct str prefix, const struct archive_file *files, size_t n, struct buf *out,
                            struct err **err);

/* Plain gzip, for release records and compressed ConfigMaps: level 9, no name, no time, so the same text makes the same
 * bytes. LIMIT when `out` is full. */
NODISCARD int archive_gzip(struct str text, struct buf *out, struct err **err);
/* Appends the unpacked bytes of one or several joined gzip members. PARSE when damaged or cut short; LIMIT past out->max,
 * counted while inflating. */
NODISCARD int archive_gunzip(struct str packed, struct buf *out, struct err **err);

/* Encoders whose DEFLATE streams can be made again from what they stand for. Charts come from `helm package`, and that is Go's
 * compress/flate at its default level (Go 1.7 to 1.26 at least); Python's tarfile, Java and Node use zlib at 6 or 9. */
enum archive_deflater {
    ARCHIVE_DEFLATE_GO,
    ARCHIVE_DEFLATE_ZLIB_6,
    ARCHIVE_DEFLATE_ZLIB_9,
    ARCHIVE_DEFLATE_ZLIB_1,
    ARCHIVE_DEFLATE_ZLIB_9_9, /* with zlib's largest memory level */
    ARCHIVE_DEFLATE_MAX_,
};
/* Appends the raw DEFLATE stream that this encoder makes of `text`, bit for bit. LIMIT when `out` is full. */
NODISCARD int archive_deflate(enum archive_deflater how, struct str text, struct buf *out, struct err **err);

/* A gzip file taken apart, so that archive_gzip_join() may make its very bytes again: *ret_header is the header, borrowed from
 * `packed`; the unpacked text goes to `text`. Whether join() does make them must be tried, for each encoder. PARSE for what is
 * damaged, and for several members where that can be told; LIMIT past text->max. */
NODISCARD int archive_gzip_split(struct str packed, struct str *ret_header, struct buf *text,
                                 struct err **err);
/* Appends header, stream and checksums. */
NODISCARD int archive_gzip_join(struct str header, enum archive_deflater how, struct str text,
                                struct buf *out, struct err **err);

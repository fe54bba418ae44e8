/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <zlib.h>

#include "archive/archive.h"

#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, gzip framing */
#define STEP ((size_t)64 * 1024)

int archive_gzip(struct str text, struct buf *out, struct err **err)
{
    z_stream z = { 0 };
    int r;

    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(err, ERRC_INTERNAL, "gzip: %s", z.msg ? z.msg : "cannot start");
    z.next_in = (Bytef *)(uintptr_t)text.p;
    z.avail_in = (uInt)text.n;
    do {
        size_t room = MIN(out->max - MIN(out->n, out->max), STEP);
        char *to = room ? buf_reserve(out, room) : NULL;

        if (!to) {
            deflateEnd(&z);
            return err_set(err, ERRC_LIMIT, "larger than the limit of %zu bytes", out->max);
        }
        z.next_out = (Bytef *)to;
        z.avail_out = (uInt)room;
        r = deflate(&z, Z_FINISH);
        buf_commit(out, room - z.avail_out);
    } while (r == Z_OK);
    deflateEnd(&z);
    return 0;
}

/* One more piece of output; 1 at the end of a member. */
static int inflate_step(z_stream *z, struct buf *out, struct err **err)
{
    size_t room = MIN(out->max - MIN(out->n, out->max), STEP);
    char extra, *to = room ? buf_reserve(out, room) : &extra;
    int r;

    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)(room ? room : 1);
    r = inflate(z, Z_NO_FLUSH);
    if (room)
        buf_commit(out, room - z->avail_out);
    else if (z->avail_out == 0)
        return err_set(err, ERRC_LIMIT, "larger than the limit of %zu bytes when unpacked", out->max);
    if (r == Z_STREAM_END)
        return 1;
    if (r == Z_BUF_ERROR && z->avail_in == 0)
        return err_set(err, ERRC_PARSE, "gzip: unexpected EOF");
    if (r != Z_OK && r != Z_BUF_ERROR)
        return err_set(err, ERRC_PARSE, "gzip: %s", z->msg ? z->msg : "invalid data");
    return 0;
}

int archive_gunzip(struct str packed, struct buf *out, struct err **err)
{
    z_stream z = { 0 };
    int r;

    if (!archive_is_gzip(packed))
        return err_set(err, ERRC_PARSE, "gzip: invalid header");
    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        return err_set(err, ERRC_INTERNAL, "gzip: %s", z.msg ? z.msg : "cannot start");
    z.next_in = (Bytef *)(uintptr_t)packed.p;
    z.avail_in = (uInt)packed.n;
    do {
        r = inflate_step(&z, out, err);
        if (r == 1 && z.avail_in > 0) { /* another member follows */
            inflateReset(&z);
            r = 0;
        }
    } while (r == 0);
    inflateEnd(&z);
    return r < 0 ? r : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

#include "archive/archive.h"

enum { FLAG_HEADER_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_RESERVED = 0xe0 };
#define HEADER_MIN 10
#define TRAILER 8

static uint32_t read_le(const char *p, int n)
{
    uint32_t v = 0;

    while (n-- > 0)
        v = v << 8 | (unsigned char)p[n];
    return v;
}

static void add_le32(struct buf *out, uint32_t v)
{
    for (int i = 0; i < 4; i++, v >>= 8)
        buf_addc(out, (char)v);
}

/* Where the text at `at` ends, behind its NUL; past the end when there is none. */
static size_t skip_text(struct str s, size_t at)
{
    size_t end = at > s.n ? STR_NPOS : str_find_char(str_sub(s, at, s.n), '\0');

    return end == STR_NPOS ? s.n + 1 : at + end + 1;
}

/* RFC 1952 2.3; 0 when there is no whole header. */
static size_t header_size(struct str s)
{
    size_t n = HEADER_MIN;
    int flags;

    if (s.n < HEADER_MIN || !archive_is_gzip(s))
        return 0;
    flags = (unsigned char)s.p[3];
    if (flags & FLAGS_RESERVED)
        return 0;
    if (flags & FLAG_EXTRA)
        n += s.n < n + 2 ? s.n : 2 + read_le(s.p + n, 2);
    if (flags & FLAG_NAME)
        n = skip_text(s, n);
    if (flags & FLAG_COMMENT)
        n = skip_text(s, n);
    if (flags & FLAG_HEADER_CRC)
        n += 2;
    return n <= s.n ? n : 0;
}

static uint32_t checksum(struct str text)
{
    return (uint32_t)crc32_z(0, (const Bytef *)text.p, text.n);
}

int archive_gzip_split(struct str packed, struct str *ret_header, struct buf *text, struct err **err)
{
    size_t header = header_size(packed), start = text->n;
    struct str all;
    int r;

    if (header == 0)
        return err_set(err, ERRC_PARSE, "gzip: invalid header");
    r = archive_gunzip(packed, text, err);
    if (r < 0)
        return r;
    all = str_sub(buf_str(text), start, text->n);
    if (packed.n < header + TRAILER || read_le(packed.p + packed.n - 4, 4) != (uint32_t)all.n ||
        read_le(packed.p + packed.n - TRAILER, 4) != checksum(all))
        return err_set(err, ERRC_PARSE, "gzip: not a single member");
    *ret_header = str_sub(packed, 0, header);
    return 0;
}

int archive_gzip_join(struct str header, enum archive_deflater how, struct str text, struct buf *out,
                      struct err **err)
{
    int r;

    buf_addstr(out, header);
    r = archive_deflate(how, text, out, err);
    if (r < 0)
        return r;
    add_le32(out, checksum(text));
    add_le32(out, (uint32_t)text.n);
    return buf_check(out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <libdeflate.h>

#include "archive/archive.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text that the input stands for: its bytes, some of them three-byte copies "from here, so many", so that matches at every
 * distance and of every length come up soon. */
static void make_text(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.n && out->n < 512 * KIB; i++) {
        size_t n, from;

        buf_addc(out, s.p[i]);
        if (s.p[i] != '\xff' || i + 3 >= s.n)
            continue;
        n = (size_t)(unsigned char)s.p[i + 1] * 17;
        from = out->n - 1 -
               MIN(out->n - 1, (size_t)((unsigned char)s.p[i + 2] << 8 | (unsigned char)s.p[i + 3]));
        for (size_t k = 0; k < n; k++)
            buf_addc(out, out->p[from + k]);
        i += 3;
    }
}

/* What an encoder writes is a DEFLATE stream of the text, whatever the text is. */
static void check_encoders(struct str text)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(4 * MIB), header = BUF_INIT(KIB);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    char *to = buf_reserve(&plain, text.n + 1);

    buf_add(&header, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    for (enum archive_deflater how = 0; how < ARCHIVE_DEFLATE_MAX_; how++) {
        CLEANUP(buf_done) struct buf packed = BUF_INIT(4 * MIB), again = BUF_INIT(4 * MIB);
        struct str back;
        size_t got = 0;

        assert(archive_gzip_join(buf_str(&header), how, text, &packed, NULL) == 0);
        assert(libdeflate_gzip_decompress(d, packed.p, packed.n, to, text.n, &got) == LIBDEFLATE_SUCCESS);
        assert(str_eq((struct str){ to, got }, text));
        assert(archive_gzip_split(buf_str(&packed), &back, &again, NULL) == 0);
        assert(str_eq(back, buf_str(&header)) && str_eq(buf_str(&again), text));
    }
    libdeflate_free_decompressor(d);
}

/* What libdeflate takes as one whole member is that to zlib, too, with the same text; it alone does not look at the header's
 * checksum (pkg/archive/read.c). */
static void check_packed(struct str packed)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB), plain = BUF_INIT(MIB + 1);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    char *to = buf_reserve(&plain, MIB);
    size_t used, got;

    if (libdeflate_gzip_decompress_ex(d, packed.p, packed.n, to, MIB, &used, &got) == LIBDEFLATE_SUCCESS &&
        used == packed.n && archive_is_gzip(packed) && !(packed.p[3] & 2)) {
        assert(archive_gunzip(packed, &text, NULL) == 0);
        assert(str_eq((struct str){ to, got }, buf_str(&text)));
    }
    libdeflate_free_decompressor(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    struct str input = { (const char *)data, size };

    make_text(input, &text);
    check_encoders(buf_str(&text));
    check_packed(input);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* pack: an archive as a recipe: its tar in pieces, most of which an earlier archive has brought already, and how its gzip
 * stream is made from that. Nothing is believed: mirror_pack_make() makes the archive again and compares. */
#include "archive/archive.h"
#include "base/arena.h"
#include "base/limits.h"

/* `n` bytes from `at` in a text: 0 is the pack's own, i that of sources[i - 1]. */
struct pack_segment {
    uint32_t source, at, n;
};

struct pack {
    enum archive_deflater deflater;
    struct str header;   /* of gzip */
    size_t tar_size;     /* the segments add up to it */
    struct str *sources; /* digests of other archives that are kept as packs */
    size_t n_sources;
    struct pack_segment *segments;
    size_t n_segments;
    struct str text; /* what no source has */
};

/* Another archive, unpacked, to take pieces from. */
struct pack_base {
    struct str digest, tar;
    const struct pack *pack;
    const struct str *texts; /* as for pack_tar() */
};

/* 1, or 0 when the archive cannot be made again (tried, and compared), or a pack would be larger. `base` may be NULL. *ret lives in `a`, its
 * serialised form goes to `out`. */
NODISCARD int pack_make(struct arena *a, struct str archive, const struct pack_base *base, struct pack *ret,
                        struct buf *out, struct err **err);
/* Reads the serialised form; in `a`. PARSE for what is no pack, LIMIT. */
NODISCARD int pack_parse(struct arena *a, struct str bytes, struct pack *ret, struct err **err);
/* texts[0] is pack->text, texts[i] that of sources[i - 1]. PARSE when a segment lies outside. */
NODISCARD int pack_tar(const struct pack *p, const struct str *texts, struct buf *tar, struct err **err);

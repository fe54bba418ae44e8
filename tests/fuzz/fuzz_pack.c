/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/limits.h"
#include "mirror/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in a pack whose pieces add up. The input is taken as the serialised form, and as what is inside
 * its gzip layer. */
static void try_pack(struct str bytes)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf tar = BUF_INIT(MIRROR_TAR_MAX);
    struct str texts[MIRROR_SOURCES_MAX + 1];
    struct pack p;

    if (pack_parse(a, bytes, &p, NULL) < 0)
        return;
    assert(p.n_sources <= MIRROR_SOURCES_MAX && p.deflater < ARCHIVE_DEFLATE_MAX_);
    for (size_t i = 0; i <= p.n_sources; i++)
        texts[i] = p.text;
    if (pack_tar(&p, texts, &tar, NULL) == 0)
        assert(tar.n == p.tar_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(4 * MIB);
    struct str input = { (const char *)data, size };

    try_pack(input);
    buf_adds(&packed, "pintle-pack 1\n");
    if (archive_gzip(input, &packed, NULL) == 0)
        try_pack(buf_str(&packed));
    return 0;
}

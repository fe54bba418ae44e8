/* SPDX-License-Identifier: Apache-2.0 */
/* Provenance files, up to the signature packet that librnp gets. */
#include <assert.h>

#include "base/limits.h"
#include "provenance/provenance_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct provenance_message m;
    struct str sum;
    size_t lines = 0;

    if (provenance_message_parse(a, (struct str){ (const char *)data, size }, &m, NULL) < 0)
        return 0;
    for (size_t i = 0; i < m.plain.n; i++)
        lines += m.plain.p[i] == '\n';
    assert(m.canonical.n == m.plain.n + lines);
    assert(m.signature.n >= 2 && ((unsigned char)m.signature.p[0] & 0x80));
    IGNORE_ERROR(provenance_sum_find(a, m.plain, STR("web-1.0.0.tgz"), &sum, NULL));
    return 0;
}

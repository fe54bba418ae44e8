/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/proto.h"
#include "base/limits.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in a value that prints. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    CLEANUP(buf_done) struct buf b = BUF_INIT(64 * MIB);
    struct value v = VALUE_NONE;

    if (api_proto_decode(a, (struct str){ (const char *)data, size }, &v, NULL) >= 0)
        IGNORE_ERROR(json_print(v, 0, &b, NULL));
    return 0;
}

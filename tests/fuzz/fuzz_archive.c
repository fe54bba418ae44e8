/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "archive/archive.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in files within the limits. The input is taken as the tar inside the gzip, so that the
 * fuzzer meets the tar reader, and as the archive itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    struct str input = { (const char *)data, size };
    struct archive_files files = { 0 };

    IGNORE_ERROR(archive_read(a, input, &files, NULL));
    if (archive_gzip(input, &packed, NULL) == 0)
        IGNORE_ERROR(archive_read(a, buf_str(&packed), &files, NULL));
    assert(files.n <= ARCHIVE_ENTRIES_MAX);
    for (size_t i = 0; i < files.n; i++) {
        assert(files.files[i].name.n > 0 && files.files[i].name.p[0] != '/');
        assert(files.files[i].data.n <= ARCHIVE_FILE_MAX);
    }
    return 0;
}

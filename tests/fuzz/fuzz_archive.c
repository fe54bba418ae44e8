/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "archive/archive.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two joined gzip members are never read where they stand, but by libarchive: with the same files or error. */
static void compare_with_libarchive(struct str tar, int r, const struct archive_files *files)
{
    CLEANUP(buf_done) struct buf joined = BUF_INIT(2 * ARCHIVE_PACKED_MAX);
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    struct archive_files other = { 0 };

    if (archive_gzip(str_sub(tar, 0, tar.n / 2), &joined, NULL) < 0 ||
        archive_gzip(str_sub(tar, tar.n / 2, tar.n), &joined, NULL) < 0)
        return;
    assert(archive_read(a, buf_str(&joined), &other, NULL) == r);
    assert(r < 0 || other.n == files->n);
    for (size_t i = 0; r == 0 && i < other.n; i++) {
        assert(str_eq(other.files[i].name, files->files[i].name));
        assert(str_eq(other.files[i].data, files->files[i].data));
        assert(other.files[i].modified.s == files->files[i].modified.s);
    }
}

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
        compare_with_libarchive(input, archive_read(a, buf_str(&packed), &files, NULL), &files);
    assert(files.n <= ARCHIVE_ENTRIES_MAX);
    for (size_t i = 0; i < files.n; i++) {
        assert(files.files[i].name.n > 0 && files.files[i].name.p[0] != '/');
        assert(files.files[i].data.n <= ARCHIVE_FILE_MAX);
    }
    return 0;
}

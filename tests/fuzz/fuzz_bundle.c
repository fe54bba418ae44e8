/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "mirror/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in entries within the limits; what was written is read back. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(fd_close) int fd = memfd_create("bundle", MFD_CLOEXEC);
    CLEANUP(buf_done)
    struct buf first = BUF_INIT(64 * KIB), second = BUF_INIT(64 * KIB), again = BUF_INIT(4 * MIB);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        return 0;
    lseek(fd, 0, SEEK_SET);
    if (bundle_read(fd, BUNDLE_MANIFEST, &first, NULL) == 0)
        IGNORE_ERROR(bundle_read(fd, BUNDLE_SIGNATURE, &second, NULL));
    assert(first.n <= first.max && second.n <= second.max);

    lseek(fd, 0, SEEK_SET);
    if (bundle_write(fd, "a", (struct str){ (const char *)data, size }, NULL) < 0)
        return 0;
    lseek(fd, 0, SEEK_SET);
    if (size <= again.max) {
        assert(bundle_read(fd, "a", &again, NULL) == 0);
        assert(str_eq(buf_str(&again), (struct str){ (const char *)data, size }));
    }
    return 0;
}

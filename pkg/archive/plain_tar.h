/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* plain_tar: what nearly every chart's tar consists of, files and folders with plain headers (POSIX ustar and GNU), read where it
 * stands. Private to the module: whatever is not plain is libarchive's. */
#include "base/str.h"

struct plain_entry {
    char name[257]; /* as in the header, its prefix in front; never empty */
    bool is_folder;
    struct str data; /* in the tar */
    int64_t mtime;   /* seconds */
};

/* Is every header of the tar plain, up to the block of zeros that ends it? */
bool plain_tar_is(struct str tar);

/* The entry at *at, of a tar that is plain; *at moves behind it. False: the end. */
bool plain_tar_next(struct str tar, size_t *at, struct plain_entry *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/* Gives every file named, or found below a directory named, to one fuzz target: how `make test` keeps old findings
 * from coming back without libFuzzer. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/err.h"
#include "base/fs.h"

#define INPUT_MAX ((size_t)16 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_replayed;

static int replay(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    CLEANUP(err_free) struct err *err = NULL;
    CLEANUP(buf_done) struct buf text = BUF_INIT(INPUT_MAX);

    UNUSED(st);
    UNUSED(at);
    if (kind != FTW_F)
        return 0;
    if (fs_read_file(path, &text, &err) < 0) {
        fprintf(stderr, "%s\n", err_message(err));
        return 1;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)buf_z(&text), text.n);
    n_replayed++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], replay, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "%s: cannot be replayed\n", argv[i]);
            return 1;
        }
    }
    printf("%zu inputs replayed\n", n_replayed);
    return 0;
}

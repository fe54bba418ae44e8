/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dynlib.h"

#include <dlfcn.h>
#include <string.h>

static int fill_table(const struct dynlib *lib, const char *file, void *handle, struct err **err)
{
    for (size_t i = 0; i < lib->n_symbols; i++) {
        void *p = dlsym(handle, lib->symbols[i].name);

        if (!p)
            return err_set(err, ERRC_UNSUPPORTED, "%s is too old: %s has no %s (Debian package %s)",
                           lib->title, file, lib->symbols[i].name, lib->package);
        /* POSIX promises that a function pointer survives the way through void *; ISO C has no cast for it. */
        memcpy((char *)lib->table + lib->symbols[i].offset, &p, sizeof(p));
    }
    return 0;
}

static int open_file(struct dynlib *lib, const char *file, struct err **err)
{
    /* Lazy: libcurl's thirty libraries have thousands of symbols that nobody calls. Those of the table are looked up. */
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    int r;

    if (!handle)
        return err_set(err, ERRC_UNSUPPORTED, "%s is not installed: %s (Debian package %s)", lib->title,
                       dlerror(), lib->package);
    r = fill_table(lib, file, handle, err);
    if (r == 0)
        lib->handle = handle;
    else
        dlclose(handle);
    return r;
}

int dynlib_open(struct dynlib *lib, struct err **err)
{
    int r = 0;

    pthread_mutex_lock(&lib->lock);
    for (int i = 0; !lib->handle && i < DYNLIB_FILES && lib->files[i]; i++) {
        err_clear(err); /* what remains is said of the last file: that is the one which the package brings */
        r = open_file(lib, lib->files[i], err);
    }
    pthread_mutex_unlock(&lib->lock);
    return r;
}

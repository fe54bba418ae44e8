/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dynlib.h"

#include <dlfcn.h>
#include <string.h>

static int fill_table(const struct dynlib *lib, void *handle, struct err **err)
{
    for (size_t i = 0; i < lib->n_symbols; i++) {
        void *p = dlsym(handle, lib->symbols[i].name);

        if (!p)
            return err_set(err, ERRC_UNSUPPORTED, "%s is too old: %s has no %s (Debian package %s)",
                           lib->title, lib->file, lib->symbols[i].name, lib->package);
        /* POSIX promises that a function pointer survives the way through void *; ISO C has no cast for it. */
        memcpy((char *)lib->table + lib->symbols[i].offset, &p, sizeof(p));
    }
    return 0;
}

int dynlib_open(struct dynlib *lib, struct err **err)
{
    void *handle;
    int r = 0;

    pthread_mutex_lock(&lib->lock);
    if (!lib->handle) {
        /* Lazy: libcurl's thirty libraries have thousands of symbols that nobody calls. Those of the table are looked up. */
        handle = dlopen(lib->file, RTLD_LAZY | RTLD_LOCAL);
        if (!handle)
            r = err_set(err, ERRC_UNSUPPORTED, "%s is not installed: %s (Debian package %s)", lib->title,
                        dlerror(), lib->package);
        else
            r = fill_table(lib, handle, err);
        if (r == 0)
            lib->handle = handle;
        else if (handle)
            dlclose(handle);
    }
    pthread_mutex_unlock(&lib->lock);
    return r;
}

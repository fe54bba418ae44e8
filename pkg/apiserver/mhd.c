/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/mhd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct api_mhd table;
static const char *missing; /* what kept the library from being used; NULL: it is there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const names[] = {
#define X(name) #name,
        API_MHD_FUNCTIONS(X)
#undef X
    };
    void *lib = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL), *fn;

    _Static_assert(sizeof(table) == ARRAY_SIZE(names) * sizeof(fn), "one pointer a name");
    if (!lib) {
        missing = "libmicrohttpd.so.12";
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        fn = dlsym(lib, names[i]);
        if (!fn) {
            missing = names[i];
            return;
        }
        memcpy((char *)&table + i * sizeof(fn), &fn, sizeof(fn));
    }
}

int api_mhd_open(const struct api_mhd **ret, struct err **err)
{
    pthread_once(&once, load);
    if (missing)
        return err_set(err, ERRC_UNSUPPORTED, "the API server needs libmicrohttpd: %s not found", missing);
    *ret = &table;
    return 0;
}

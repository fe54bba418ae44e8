/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/rnp.h"

#include <pthread.h>
#include <stdio.h>

#include "base/dynlib.h"

struct rnp_table rnp;

static const struct dynlib_symbol symbols[] = {
#define X(name) DYNLIB_SYMBOL(rnp, name, "rnp_" #name),
    RNP_FUNCTIONS(X)
#undef X
};
static struct dynlib library = DYNLIB("librnp", "librnp0", &rnp, symbols, "librnp.so.0");

int rnp_open(struct err **err)
{
    int r = dynlib_open(&library, err);

    return r < 0 ? err_wrap(err, r, "provenance files cannot be verified") : 0;
}

/* ---- silence ------------------------------------------------------------------------------------------------------- */

static pthread_mutex_t quiet_lock = PTHREAD_MUTEX_INITIALIZER;
static int quiet_depth;
static FILE *quiet, *loud;

static ssize_t swallow(void *cookie, const char *text, size_t n)
{
    UNUSED(cookie);
    UNUSED(text);
    return (ssize_t)n;
}

void rnp_quiet_begin(void)
{
    pthread_mutex_lock(&quiet_lock);
    if (!quiet)
        quiet = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = swallow });
    if (quiet_depth++ == 0 && quiet) {
        loud = stderr;
        stderr = quiet;
    }
    pthread_mutex_unlock(&quiet_lock);
}

void rnp_quiet_end(void)
{
    pthread_mutex_lock(&quiet_lock);
    if (--quiet_depth == 0 && quiet)
        stderr = loud;
    pthread_mutex_unlock(&quiet_lock);
}

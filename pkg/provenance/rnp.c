/* SPDX-License-Identifier: Apache-2.0 */
#include "provenance/rnp.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

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
    return dynlib_open(&library, err);
}

/* ---- silence ------------------------------------------------------------------------------------------------------- */

static pthread_once_t filter_once = PTHREAD_ONCE_INIT;
static _Thread_local int quiet_depth;

/* Runs in the thread that writes, as the stream keeps nothing back. */
static ssize_t write_unless_quiet(void *cookie, const char *text, size_t n)
{
    UNUSED(cookie);
    return quiet_depth > 0 ? (ssize_t)n : write(STDERR_FILENO, text, n);
}

static void filter_start(void)
{
    FILE *filter = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_unless_quiet });

    if (!filter)
        return;
    setvbuf(filter, NULL, _IONBF, 0);
    stderr = filter;
}

void rnp_quiet_begin(void)
{
    pthread_once(&filter_once, filter_start);
    quiet_depth++;
}

void rnp_quiet_end(void)
{
    quiet_depth--;
}

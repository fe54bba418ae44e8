/* SPDX-License-Identifier: Apache-2.0 */
#define OPENSSL_TABLE_ONLY
#include "base/openssl.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dynlib.h"

static struct openssl table;
static atomic_bool is_open;

static const struct dynlib_symbol symbols[] = {
#define X(name) { #name, offsetof(struct openssl, name) },
    OPENSSL_FUNCTIONS(X)
#undef X
};

static struct dynlib lib = DYNLIB("OpenSSL", "libssl3", &table, symbols, "libcrypto.so.3");

/* Most callers have no way to fail, so there is nobody to hand an error to. */
static void open_or_exit(void)
{
    struct err *err = NULL;

    if (dynlib_open(&lib, &err) < 0) {
        fprintf(stderr, "Error: %s\n", err_message(err));
        exit(EXIT_FAILURE);
    }
    atomic_store_explicit(&is_open, true, memory_order_release);
}

const struct openssl *openssl_get(void)
{
    if (!atomic_load_explicit(&is_open, memory_order_acquire))
        open_or_exit();
    return &table;
}

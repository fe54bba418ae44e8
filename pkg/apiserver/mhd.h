/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* mhd: libmicrohttpd, opened at first use: linked in, it would cost every start of the program 1.7 ms. */
#include <microhttpd.h>

#include "base/err.h"

/* X(name): the functions that are used */
#define API_MHD_FUNCTIONS(X)             \
    X(MHD_start_daemon)                  \
    X(MHD_stop_daemon)                   \
    X(MHD_quiesce_daemon)                \
    X(MHD_get_daemon_info)               \
    X(MHD_get_connection_info)           \
    X(MHD_set_connection_option)         \
    X(MHD_lookup_connection_value)       \
    X(MHD_get_connection_values)         \
    X(MHD_create_response_from_buffer)   \
    X(MHD_create_response_from_callback) \
    X(MHD_add_response_header)           \
    X(MHD_queue_response)                \
    X(MHD_destroy_response)              \
    X(MHD_set_panic_func)

struct api_mhd {
#define X(name) __typeof__(&name) name;
    API_MHD_FUNCTIONS(X)
#undef X
};

/* The table; the library stays open until the process ends. UNSUPPORTED when it is not installed. */
NODISCARD int api_mhd_open(const struct api_mhd **ret, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* http: the listening socket and the way of a request between libmicrohttpd and the rest. */
#include "apiserver/server.h"

/* Binds address:port (0: `preferred` if it is free, else any), starts the daemon, sets s->port. */
NODISCARD int api_http_start(struct apiserver *s, int port, int preferred, struct err **err);
/* Stops accepting, waits up to `wait_ms` for running requests, ends the daemon. */
void api_http_stop(struct apiserver *s, int wait_ms);

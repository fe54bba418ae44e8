/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* bundle: the tar layer of an exported mirror: plain ustar, so that `tar tf` shows it. */
#include "base/buf.h"
#include "base/err.h"

#define BUNDLE_FORMAT "pintle-mirror-bundle 1"
#define BUNDLE_MANIFEST "manifest.json"
#define BUNDLE_SIGNATURE "manifest.sig"

/* One entry: header, bytes, padding. `name` has at most 99 bytes. */
NODISCARD int bundle_write(int fd, const char *name, struct str bytes, struct err **err);
NODISCARD int bundle_write_end(int fd, struct err **err);
/* The next entry must be a file of this name; its bytes go to `out`, LIMIT beyond its maximum. PARSE. */
NODISCARD int bundle_read(int fd, const char *name, struct buf *out, struct err **err);

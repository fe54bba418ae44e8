/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* arrival: an index that a thread downloads into a file while the file is read already; private to the registry module. */
#include "registry/registry_int.h"

struct index_arrival;

/* registry_fetch_index() of all the index, in a thread. What `s` points to stays until the end of the arrival. */
NODISCARD int index_arrival_start(const struct registry_source *s, const char *path,
                                  struct index_arrival **ret, struct err **err);
/* Waits until the file has so many bytes, or all; *ret is how many it has. -ERRC_IO without an error when the download failed:
 * index_arrival_finish() knows why. */
NODISCARD int index_arrival_wait(struct index_arrival *w, size_t bytes, size_t *ret);
/* Waits for the end of the download: what registry_fetch_index() came to, once. Strings in `a`. */
NODISCARD int index_arrival_finish(struct index_arrival *w, struct arena *a, struct registry_fetched *ret,
                                   struct err **err);
void index_arrival_free(struct index_arrival *w); /* may be NULL; waits for the end */
DEFINE_CLEANUP(struct index_arrival *, index_arrival_free)

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* batch: entries of one chart that libyaml has to read, half of them in another thread; private to the registry module. */
#include "registry/registry_int.h"

struct index_batch;

struct index_batch *index_batch_new(void) NODISCARD;
void index_batch_free(struct index_batch *b); /* may be NULL */

/* The lines of an entry, from its dash on; copied. True: it is time for index_batch_read(). */
bool index_batch_add(struct index_batch *b, struct str block);
/* Hands all entries over in their order: the batch is empty then. 1; 0 when libyaml does not see the same entries in them, or not
 * without doubt; a failure of the sink. */
NODISCARD int index_batch_read(struct index_batch *b, struct index_sink *to, struct err **err);

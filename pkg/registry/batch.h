/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* batch: an index whose entries libyaml has to read: threads read pieces of it while the next ones are cut; private to the registry
 * module. */
#include "registry/registry_int.h"

struct index_batch;

struct index_batch *index_batch_new(struct index_sink *to) NODISCARD;
void index_batch_free(struct index_batch *b); /* may be NULL; what the sink has not got yet it never gets */

/* All of them may hand over to the sink what has been read so far, in the order in which it came. 1; 0 when libyaml does not see
 * the same entries in it, or not without doubt, or a chart is there twice; a failure of the sink. */
NODISCARD int index_batch_chart(struct index_batch *b, struct str name, struct err **err);
/* The lines of an entry of that chart, from the dash in this column on, the same for all of the chart; copied. */
NODISCARD int index_batch_entry(struct index_batch *b, size_t column, struct str block, struct err **err);
NODISCARD int index_batch_chart_end(struct index_batch *b, struct err **err);
/* The sink has got everything then. */
NODISCARD int index_batch_drain(struct index_batch *b, struct err **err);

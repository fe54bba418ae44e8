/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* content_int: what packing and storing share. */
#include "base/arena.h"
#include "value/value.h"

#define CONTENT_KEY "contents"
#define CONTENT_VERSION 1
#define CONTENT_LABEL_PART "pintle.dev/part"
#define CONTENT_LABEL_PARTS "pintle.dev/parts"
#define CONTENT_PARTS_MAX ((size_t)256)

/* How many parts the table in part 1 speaks of; 0 when it cannot be read. */
size_t content_part_count(struct arena *a, struct value first);

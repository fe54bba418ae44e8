/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Private to yaml. */
#include "yaml/yaml.h"

/* The type that go-yaml gives a scalar's text (resolve.go). */
enum yml_tag { YML_STR, YML_NULL, YML_BOOL, YML_INT, YML_FLOAT, YML_TIMESTAMP };

/* *ret is what Go would hold: integers as int or uint64, floats as they are; timestamps stay text. `timestamps`: text may
 * be a timestamp (untagged, or tagged as one). */
enum yml_tag yml_resolve_tag(struct str text, bool timestamps, struct value *ret);

/* yml_parse() by libyaml's events alone. */
NODISCARD int yml_parse_events(struct arena *a, struct str text, const struct yml_options *o,
                               struct value *ret, struct err **err);

/* A float as it comes out of the detour through JSON: whole numbers are integers there unless `floats`. */
struct value yml_number(struct value v, bool floats);

/* The text that stands for a scalar key in JSON. False for null and for numbers above int64. */
bool yml_key_text(struct arena *a, struct value k, struct str *ret);

/* Positions of the entries of `map` in go-yaml's natural order; `order` and `tmp` have room for all. */
void yml_sort_keys(struct value map, bool v3, uint32_t *order, uint32_t *tmp);

/* Like yml_reader_next(), but also tells where documents end. */
#define YML_DOCUMENT_END ((enum yml_event_kind)(YML_ALIAS + 1))
NODISCARD int yml_reader_step(struct yml_reader *r, struct yml_event *ret, struct err **err);
/* The same from libyaml itself, whatever has been read ahead. */
NODISCARD int yml_reader_parse(struct yml_reader *r, struct yml_event *ret, struct err **err);

/* For what becomes of events before they are a value: the reader's, and empty between two calls. */
struct arena *yml_reader_nodes(struct yml_reader *r, size_t limit);

/* What a reader has that reads ahead (ahead.c). The reader is the thread's until yml_ahead_free(). NULL: no thread. */
struct yml_ahead;
struct yml_ahead *yml_ahead_start(struct yml_reader *from) NODISCARD;
void yml_ahead_free(struct yml_ahead *a); /* may be NULL */
NODISCARD int yml_ahead_next(struct yml_ahead *a, struct yml_event *ret, struct err **err);

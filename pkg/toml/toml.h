/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* toml: text to values and back, as github.com/BurntSushi/toml 1.6 does it for Helm's toToml and fromToml. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "value/value.h"

/* A document, always a map. Integers are int64, dates and times strings of the types
 * VALUE_TYPE_DATE_TIME, LOCAL_… with the text that Go's JSON shows ("1979-05-27T07:32:00Z"; what is missing of a local one
 * is filled with zeros and Z). `text` may go afterwards.
 * PARSE in the library's words: "toml: line 2 (last key \"a.b\"): …"; LIMIT for depth and memory. */
NODISCARD int toml_parse(struct arena *a, struct str text, struct value *ret, struct err **err);

/* Keys sorted, tables behind plain keys, two blanks a level, nil members left out; strings of those types
 * without quotes. INVALID in the library's words for
 * lists with nil in them and for lists of tables without a key; LIMIT for depth. */
NODISCARD int toml_print(struct value v, struct buf *out, struct err **err);

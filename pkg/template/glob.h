/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* glob: the patterns of .Files.Glob (github.com/gobwas/glob with '/' as separator): * and ? stop at '/', ** does not,
 * [abc] [!abc] [a-z], {a,b}, \ takes the next character as it is. Matching takes time linear in the text. Private to
 * the module. */
#include "base/arena.h"
#include "base/str.h"

struct glob;

/* NULL where gobwas' parser refuses the pattern (and beyond limits on its size). */
const struct glob *glob_parse(struct arena *a, struct str pattern);
bool glob_matches(const struct glob *g, struct arena *a, struct str text);

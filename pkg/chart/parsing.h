/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* parsing: templates that a thread parses while its owner does something else. Private to the module.
 *
 * All functions are for one thread, the owner's. Templates are added at any time; who needs the results helps to get them. */
#include "chart/chart_int.h"

struct parsing;

struct parsing *chart_parsing_new(void) NODISCARD;
void chart_parsing_free(struct parsing *p); /* p may be NULL; ends the thread */

/* A template, or the one that was added with this path and this very text before: its number. Path and text are borrowed until
 * the end. */
size_t chart_parsing_add(struct parsing *p, struct str path, struct str text);
/* A thread begins with what was added, if `bytes` are worth one, there is none yet and it has a processor of its own. */
void chart_parsing_start(struct parsing *p, size_t bytes);
/* All that was added is parsed when it returns: the caller takes its part, into `a`. Nothing is added from then on. */
void chart_parsing_finish(struct parsing *p, struct arena *a);

/* After chart_parsing_finish(): */
/* A template's file, in `a` or in the thread's arena; with the errors of tpl_file_parse(), the same each time. */
NODISCARD int chart_parsing_get(struct parsing *p, size_t i, struct tpl_file **ret, struct err **err);
struct arena *chart_parsing_take_arena(struct parsing *p) NODISCARD; /* the thread's; NULL without one */

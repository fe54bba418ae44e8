/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* sets: the parsed templates of a chart tree. Private to the module. */
#include "chart/chart_int.h"

struct template_file {
    struct str path; /* "web/charts/redis/templates/a.yaml" */
    struct str base; /* "web/charts/redis/templates" */
    struct str text;
    const struct chart_node *node;
    size_t at; /* of two files with one path, the later one counts */
};

struct template_list {
    struct arena *arena;
    struct template_file *items;
    size_t n, cap;
};

struct set_loader;

/* For a chart that has its files and its metadata and will be rendered: a thread begins to parse the templates that will most
 * likely be asked for, if they are enough. The first set that is loaded takes them. */
void chart_parse_ahead(struct chart *c);

/* Begins to parse the files, sorted by tpl_name_cmp(), for a tree of the shape of `root`: when they are many and no earlier
 * render has parsed them, a thread does it from now on. The chart and the list are borrowed until the loader is freed. */
struct set_loader *chart_set_loader_new(struct chart *c, const struct chart_node *root,
                                        const struct template_list *l) NODISCARD;
void chart_set_loader_free(struct set_loader *s); /* s may be NULL; ends the thread */

/* The set, once all files are parsed: the caller helps. It lives as long as the loader or longer, in the chart. Fails with
 * the error of the first file that has one. */
NODISCARD int chart_set_loader_get(struct set_loader *s, const struct tpl_set **ret, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files of the chart module share. */
#include <pthread.h>
#include <stdatomic.h>

#include "chart/chart.h"
#include "template/template.h"

/* The version that templates see in .Capabilities.HelmVersion: whose behaviour this is. */
#define CHART_HELM_VERSION "v4.2.4"

/* Bytes of one archive and what was parsed from them: the chart and its folder subcharts stand in it together. */
struct chart_storage {
    atomic_uint refs;
    struct arena *arena; /* written while loading, by one thread, then never again */
};

struct chart_file_list {
    const struct chart_file **items; /* into chart.files */
    size_t n;
};

/* Parsed templates of one shape of the tree (which subcharts are on, under which names). */
struct chart_set {
    char *key;
    struct tpl_set *set;
    struct chart_set *next;
};

struct chart {
    atomic_uint refs;
    struct chart_storage *storage;
    struct chart_file *files; /* all, as they came */
    size_t n_files;
    struct chart_file_list templates, plain; /* plain: what .Files shows */
    const struct chart_file *schema;         /* NULL without values.schema.json */
    struct metadata metadata;
    struct metadata_lock lock;
    bool has_metadata, has_lock;
    struct doc *values; /* NULL without values.yaml */
    struct wall_time modified;
    struct chart **subcharts; /* references, sorted by the name of their folder or archive */
    size_t n_subcharts;
    pthread_mutex_t sets_lock; /* of the rest, which is filled by renders */
    bool schema_asked;         /* the schema was asked once */
    struct schema *compiled;   /* of `schema`; NULL: not used yet */
    struct parsing *ahead;     /* templates for the first render; NULL: taken, or not asked for */
    struct chart_set *sets;    /* newest first; an entry never changes or goes before the chart */
    size_t n_sets;
};

/* One chart of the tree that is rendered: a chart with its place, under the user's values. Lives in the render's arena. */
struct chart_node {
    const struct chart *chart;
    struct chart_node *parent;
    struct metadata *metadata; /* own copy: name is the alias, dependencies are those that are on */
    struct value values; /* defaults, with imported values merged; a map or null. Not shared with the chart */
    struct chart_node **subs;
    size_t n_subs;
    struct value context; /* what its templates get as dot */
};

static inline struct str chart_node_name(const struct chart_node *n)
{
    return n->metadata->name;
}

/* load.c */
struct chart_source { /* files on their way into a chart; names and data live in the storage's arena */
    struct chart_storage *storage;
    struct chart_file *files;
    size_t n;
};
struct chart_storage *chart_storage_new(void) NODISCARD;
struct chart_storage *chart_storage_unref(struct chart_storage *s);
DEFINE_CLEANUP(struct chart_storage *, chart_storage_unref)
struct chart_load_state {
    const struct chart_log *log;
    size_t depth;    /* charts in charts */
    size_t unpacked; /* bytes of all archives, nested ones included */
    bool to_render;  /* parse the templates ahead */
};
NODISCARD int chart_load_source(const struct chart_source *s, struct chart_load_state *state,
                                struct chart **ret, struct err **err);
NODISCARD int chart_unpack(struct str packed, struct chart_load_state *state, struct chart_source *ret,
                           struct err **err);
/* The apiVersion dispatcher of helm's pkg/chart/loader: 0, or 1 for version 3. */
NODISCARD int chart_check_api_version(const struct chart_source *s, struct err **err);
/* Version 3 charts are loaded, with all that can be wrong, before they are refused: `loaded` and *ret are what loading gave. */
NODISCARD int chart_refuse_v3(int version, int loaded, struct chart **ret, struct err **err);

/* documents.c */
/* The next document of a text as Kubernetes' YAMLReader cuts it: documents end at a line that starts with "---", which
 * begins the next one; lines end in "\n", whatever they ended in before, and the last line gets one too. 1: a document,
 * 0: the end; PARSE "invalid Yaml document separator: x" for more than a comment behind "---". */
NODISCARD int chart_next_document(struct str *text, struct buf *document, struct err **err);

/* ignore.c: helm's pkg/ignore */
struct chart_ignore;
NODISCARD int chart_ignore_parse(struct str text, struct chart_ignore **ret, struct err **err);
void chart_ignore_free(struct chart_ignore *r);
DEFINE_CLEANUP(struct chart_ignore *, chart_ignore_free)
bool chart_ignore_match(const struct chart_ignore *r, struct str path, bool is_dir);

/* coalesce.c: helm's pkg/chart/common/util. Maps live in `a`; `into` is changed in place. */
struct coalesce {
    struct arena *arena;
    const struct chart_log *log;
    bool merge; /* keep nulls */
};
/* The user's values under the defaults of the tree: *ret is new. INVALID "type mismatch on sub: %!t(int64=3)". */
NODISCARD int chart_coalesce_values(const struct coalesce *c, const struct chart_node *node,
                                    struct value values, struct value *ret, struct err **err);
/* Helm's CoalesceTables and MergeTables: dst wins; both are changed. */
struct value chart_coalesce_tables(const struct coalesce *c, struct value dst, struct value src);

/* dependencies.c: aliases, conditions, tags, imported values */
NODISCARD int chart_resolve(struct arena *a, const struct chart *c, struct value values,
                            const struct chart_log *log, struct chart_node **ret, struct err **err);

/* context.c */
struct value chart_context_build(struct arena *a, struct chart_node *root, struct value values,
                                 const struct chart_render_options *o);
void chart_node_path(const struct chart_node *n, struct buf *out); /* "web/charts/redis" */
bool chart_is_crd_file(struct str name);                           /* "crds/a.yaml" */
struct chart_crd *chart_node_crds(struct arena *a, const struct chart_node *root, size_t *ret_n) NODISCARD;

/* validate.c */
/* SCHEMA with Helm's report of all charts. */
NODISCARD int chart_validate_values(const struct chart_node *root, struct value values,
                                    const struct chart_log *log, struct err **err);
void chart_log_schema(const struct chart_log *log, struct str schema); /* for --debug */

/* render.c */
struct chart_rendered_file;
/* Dependencies, values, schema, and all templates executed: *ret_files by path, in (*ret)->arena. Nothing is sorted, split
 * or checked. SCHEMA for values that do not fit, TEMPLATE for a template that failed; LIMIT; other codes: before that. */
NODISCARD int chart_render_files(struct chart *c, struct value values, const struct chart_render_options *o,
                                 struct chart_rendered **ret, struct chart_rendered_file **ret_files,
                                 size_t *ret_n, struct err **err);

/* manifest.c */
/* The offset of the next "---" at the start of a line, from `from`, which is the start of one; or STR_NPOS. */
size_t chart_find_separator(struct str s, size_t from);
struct chart_rendered_file {
    struct str path, text;
};
NODISCARD int chart_sort_manifests(struct chart_rendered *r, struct chart_rendered_file *files, size_t n,
                                   const struct chart_render_options *o, struct err **err);

/* values.c: helm's readFile(): standard input, what sources->fetch gets, or a file. `sources` may be NULL. */
NODISCARD int chart_values_read(const struct chart_value_sources *sources, const char *name, struct buf *out,
                                struct err **err);
/* strvals.c: chart_strvals_parse() whose STRVALS_FILE reads as `sources` say. */
NODISCARD int chart_strvals_parse_from(struct arena *a, enum strvals_kind kind, struct str text,
                                       const struct chart_value_sources *sources, struct value into,
                                       struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* template: Go's text/template with Sprig's and Helm's functions, as Helm v4.2.4 runs them (pkg/engine).
 *
 * A tpl_set holds the parsed templates of one chart tree; once the last tpl_set_add() has returned it never changes,
 * and threads may share it. A tpl_run renders files of one set: it holds the memory and the budgets of one chart
 * render, and belongs to one thread at a time. Nothing here does I/O: cluster, clock, random and DNS come in through
 * struct tpl_env. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

/* ---- the templates of a chart tree ---- */

struct tpl_set;

struct tpl_set *tpl_set_new(void) NODISCARD;
/* For a template of the user's own, such as helm's --name-template: Sprig's functions alone, env among them, Go's error texts as
 * they are, and "<no value>" is printed. */
struct tpl_set *tpl_set_new_sprig(void) NODISCARD;
void tpl_set_free(struct tpl_set *s); /* s may be NULL */
DEFINE_CLEANUP(struct tpl_set *, tpl_set_free)

/* Parses one file. `name` is the full path ("web/charts/db/templates/x.yaml") and is copied; `text` is borrowed and must
 * outlive the set. Add files in the order of tpl_name_cmp(): a later definition of a name replaces an earlier one, unless
 * its body is empty. TEMPLATE with Helm's words: "parse error at (web/templates/x.yaml:3): unexpected \"}\" in operand". */
NODISCARD int tpl_set_add(struct tpl_set *s, struct str name, struct str text, struct err **err);

/* The same in two steps, so that threads can parse files at once, each into an arena of its own. The file lives in `a`. */
struct tpl_file;
NODISCARD int tpl_file_parse(struct arena *a, struct str name, struct str text, struct tpl_file **ret,
                             struct err **err);
/* What parsing the same text under another name would give; it shares the nodes of f. */
struct tpl_file *tpl_file_again(struct arena *a, const struct tpl_file *f, struct str name) NODISCARD;
void tpl_set_add_file(struct tpl_set *s, const struct tpl_file *f);
struct arena *tpl_set_arena(struct tpl_set *s);        /* the set's own: for files that go into it */
void tpl_set_keep(struct tpl_set *s, struct arena *a); /* one more, which the set frees with itself */

/* Helm's order for parsing and for rendering: deepest path first, then names from z to a. For qsort(): below 0 when a
 * comes first. */
int tpl_name_cmp(struct str a, struct str b);
/* Files whose base name starts with '_' are parsed but not rendered by themselves. */
bool tpl_name_is_partial(struct str name);

/* ---- what a render may ask of the world ---- */

/* What a template only warns of in lint mode. */
enum tpl_warning { TPL_WARN_REQUIRED_NULL, TPL_WARN_REQUIRED_EMPTY, TPL_WARN_FAIL };

struct tpl_env {
    void *ctx; /* handed to every function below */
    /* `lookup`: the object, a list object when `name` is empty, or an empty map when there is none. NULL: always an
     * empty map, as `helm template` does. Values live in `a` or are kept by it. */
    int (*lookup)(void *ctx, struct arena *a, struct str api_version, struct str kind, struct str ns,
                  struct str name, struct value *ret, struct err **err);
    /* `getHostByName`: an address as text in `a`. NULL: "", Helm's behaviour without --enable-dns. */
    int (*resolve)(void *ctx, struct arena *a, struct str host, struct str *ret, struct err **err);
    struct wall_time (*now)(void *ctx);           /* NULL: clock_wall() */
    void (*random)(void *ctx, void *p, size_t n); /* NULL: random_bytes() */
    /* What `required` and `fail` say in lint mode; may be NULL. */
    void (*warn)(void *ctx, enum tpl_warning what, struct str message);
    bool lint;   /* `required` and `fail` never fail, `lookup` finds nothing */
    bool strict; /* a missing key is an error (missingkey=error) */
    /* Budgets of the run; 0: TEMPLATE_*_MAX of base/limits.h. */
    size_t steps_max, output_max, memory_max;
};

/* ---- rendering ---- */

struct tpl_run;

/* The set is borrowed until tpl_run_free(); *env is copied, its ctx borrowed. env may be NULL: nothing but defaults. */
struct tpl_run *tpl_run_new(const struct tpl_set *s, const struct tpl_env *env) NODISCARD;
void tpl_run_free(struct tpl_run *r); /* r may be NULL; frees the arena with it */
DEFINE_CLEANUP(struct tpl_run *, tpl_run_free)

/* Where the context of a render is built. Maps in it are live: a `set` in one file is seen by the files after it, as in
 * Helm, so give all files of a run the same maps. */
struct arena *tpl_run_arena(struct tpl_run *r);

/* Executes one template with `dot` (a map of type VALUE_TYPE_VALUES in Helm) and appends its text, with every literal
 * "<no value>" removed. After a failure `out` is as it was. TEMPLATE with Helm 4's text, whose lines are location, node and
 * message; LIMIT when a budget is spent: the text names the template and the budget. */
NODISCARD int tpl_render(struct tpl_run *r, struct str name, struct value dot, struct buf *out,
                         struct err **err);

size_t tpl_run_steps(const struct tpl_run *r);      /* spent so far */
size_t tpl_run_peak_bytes(const struct tpl_run *r); /* highest use of the arena */

/* ---- the objects of the context ---- */

/* The same map as Go's common.Values: with the methods AsMap, YAML, Table, PathValue, Encode. */
struct value tpl_values_from_map(struct value map);

/* fmt's %v: what {{ . }} prints of a value. */
void tpl_print_value(struct value v, struct buf *out);

/* .Files: fill with value_set(files, path, tpl_bytes(content)); both are borrowed. */
struct value tpl_files_new(struct arena *a, size_t n);
static inline struct value tpl_bytes(struct str s)
{
    return (struct value){ .kind = VALUE_BYTES, .n = (uint32_t)s.n, .s = s.p };
}

/* .Capabilities; all strings and the array are borrowed. */
struct tpl_capabilities {
    struct str kube_version; /* "v1.33.4-gke.1245000" */
    struct str
        kube_version_normalized; /* "v1.33.4": what {{ .Capabilities.KubeVersion }} prints; may be empty */
    struct str kube_major, kube_minor;
    const struct str *api_versions; /* "apps/v1", "apps/v1/Deployment" */
    size_t n_api_versions;
    struct str helm_version, helm_git_commit, helm_git_tree_state, helm_go_version, helm_kube_client_version;
};
struct value tpl_capabilities_value(struct arena *a, const struct tpl_capabilities *c);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* chart: one Helm chart in memory: where it comes from, its values, its rendering into manifests and hooks.
 *
 * A chart never changes after it was loaded, so threads may share it; it is reference counted. What a getter returns is
 * borrowed: never free it, and do not use it after your chart_unref(). Behaviour and words are those of Helm v4.2.4. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "metadata/metadata.h"
#include "value/value.h"

struct chart;

struct chart_file {
    struct str name; /* relative to the chart: "templates/web.yaml" */
    struct str data;
    struct wall_time modified; /* zero: unknown */
};

/* What Helm writes to its log on the way ("level=WARN msg=\"this chart is deprecated\"", without the time), one call a
 * line. Nothing of the values' content is in it beyond what Helm prints. May be NULL wherever it is taken. */
struct chart_log {
    void (*line)(void *ctx, struct str text);
    void *ctx;
    bool debug; /* chart_log_debug() is heard */
};
/* What Helm says with --debug alone. */
void chart_log_debug(const struct chart_log *log, const char *attrs, const char *text);
/* One line as Go's slog text handler writes it; `attrs` is printed after msg as given ("path=a chart=b" or ""). */
void chart_log_line(const struct chart_log *log, const char *level, const char *attrs, const char *fmt, ...)
    PRINTF(4, 5);
/* A value in an attribute: quoted when it has to be. */
void chart_log_attr(struct buf *out, const char *name, struct str value);

/* ---- loading --------------------------------------------------------------------------------------------------- */

/* On success *ret is a new reference. Fails with NOT_FOUND, PARSE, INVALID or LIMIT in Helm's words. Bytes are copied:
 * nothing of the input is needed afterwards. */
NODISCARD int chart_load(const char *path, const struct chart_log *log, struct chart **ret, struct err **err);
/* The same for who renders it next: a thread parses templates while the rest is loaded. */
NODISCARD int chart_load_to_render(const char *path, const struct chart_log *log, struct chart **ret,
                                   struct err **err);
/* The chart in a folder as helm's pkg/chart/v2/loader loads it: without a look at apiVersion. */
NODISCARD int chart_load_dir(const char *dir, const struct chart_log *log, struct chart **ret,
                             struct err **err);
/* A .tgz in memory ("stream does not appear to be a valid chart file (details: gzip: invalid header)"). */
NODISCARD int chart_load_archive(struct str packed, const struct chart_log *log, struct chart **ret,
                                 struct err **err);
/* Files by path, in the archive's order; packed subcharts ("charts/redis-1.0.0.tgz") and folders both work. */
NODISCARD int chart_load_files(const struct chart_file *files, size_t n, const struct chart_log *log,
                               struct chart **ret, struct err **err);
struct chart *chart_ref(struct chart *c);   /* returns c */
struct chart *chart_unref(struct chart *c); /* c may be NULL; always returns NULL */
DEFINE_CLEANUP(struct chart *, chart_unref)

const struct metadata *chart_metadata(const struct chart *c);
const struct metadata_lock *chart_lock(const struct chart *c); /* NULL without Chart.lock */
struct value chart_default_values(const struct chart *c);      /* frozen; null without values.yaml */
const struct chart_file *chart_files(const struct chart *c, size_t *ret_n); /* all of this chart, as loaded */
const struct chart_file *chart_find_file(const struct chart *c, struct str name); /* NULL when absent */
size_t chart_subchart_n(const struct chart *c);
const struct chart *chart_subchart(const struct chart *c,
                                   size_t i); /* as loaded: disabled ones too; sorted by folder */
bool chart_is_library(const struct chart *c);

struct chart_crd {
    struct str path; /* "web/charts/redis/crds/a.yaml" */
    struct str data;
};
/* The crds/ files of the chart and of all subcharts as loaded (helm show crds). The array lives in `a`. */
struct chart_crd *chart_crds(const struct chart *c, struct arena *a, size_t *ret_n) NODISCARD;

/* INVALID "library charts are not installable". */
NODISCARD int chart_check_installable(const struct chart *c, struct err **err);
/* INVALID "found in Chart.yaml, but missing in charts/ directory: a, b". */
NODISCARD int chart_check_dependencies(const struct chart *c, struct err **err);

/* Appends the chart as a .tgz, as helm package writes it: Chart.yaml and Chart.lock anew, subcharts as folders, the rest as
 * it was. Empty version or app_version: the chart's own. INVALID "chart validation: …"; LIMIT when out is full. */
NODISCARD int chart_pack(const struct chart *c, struct str version, struct str app_version, struct buf *out,
                         struct err **err);

/* ---- the user's values ----------------------------------------------------------------------------------------- */

struct chart_value_sources {  /* merged in this order, each list from left to right */
    const char *const *files; /* -f: paths, URLs, "-" is standard input; each may hold several documents */
    size_t n_files;
    const char *const *set_json;
    size_t n_set_json;
    const char *const *set;
    size_t n_set;
    const char *const *set_string;
    size_t n_set_string;
    const char *const *set_file;
    size_t n_set_file;
    const char *const *set_literal;
    size_t n_set_literal;
    /* What an http, https or oci URL in files and set_file names; NULL: they are UNSUPPORTED. */
    int (*fetch)(void *ctx, struct str url, struct buf *out, struct err **err);
    void *fetch_ctx;
};
/* *ret is a map in `a`. Errors as helm's ("failed parsing --set data: key \"a\" has no value"). */
NODISCARD int chart_values_collect(struct arena *a, const struct chart_value_sources *sources,
                                   struct value *ret, struct err **err);

/* One values.yaml or -f text: its documents merged, later ones win. Numbers become floats, as templates see them. The
 * text must outlive the result, whose strings may point into it. */
NODISCARD int chart_values_parse(struct arena *a, struct str yaml, struct value *ret, struct err **err);
/* Helm's MergeMaps: a new map, `over` wins, maps merge, everything else replaces, nulls stay. */
struct value chart_values_merge(struct arena *a, struct value base, struct value over);

/* One --set argument onto the map `into` (helm pkg/strvals). Texts and depth as Helm's. */
enum strvals_kind { STRVALS_SET, STRVALS_STRING, STRVALS_JSON, STRVALS_FILE, STRVALS_LITERAL };
NODISCARD int chart_strvals_parse(struct arena *a, enum strvals_kind kind, struct str text, struct value into,
                                  struct err **err);

/* ---- rendering ------------------------------------------------------------------------------------------------- */

struct chart_capabilities {
    struct str version; /* "v1.33.4-gke.1": .Capabilities.KubeVersion.Version */
    struct str
        normalized; /* "v1.33.4": what kubeVersion constraints are checked against; "" with a live cluster */
    struct str major, minor;
    const struct str *api_versions; /* "apps/v1", with a live cluster also "apps/v1/Deployment" */
    size_t n_api_versions;
};
const struct chart_capabilities *
chart_capabilities_default(void); /* of helm v4.2.4 without a cluster; static */
/* The version part of *ret from text such as "1.34" or "v1.33.4-gke.1"; api_versions is left alone. Borrows from `a`. */
NODISCARD int chart_kube_version_parse(struct arena *a, struct str text, struct chart_capabilities *ret,
                                       struct err **err);

/* `lookup`: *ret is the object, a list object when name is empty, or an empty map when there is none; made in `a`. */
typedef int (*chart_lookup_fn)(void *ctx, struct arena *a, struct str api_version, struct str kind,
                               struct str ns, struct str name, struct value *ret, struct err **err);

struct chart_render_options {
    struct str release_name;
    struct str ns;                                 /* "" is taken as "default" */
    int64_t revision;                              /* .Release.Revision */
    bool is_upgrade;                               /* else .Release.IsInstall */
    const struct chart_capabilities *capabilities; /* NULL: chart_capabilities_default() */
    chart_lookup_fn lookup;                        /* NULL: always an empty map */
    void *lookup_ctx;
    const struct wall_time *now; /* what `now` and friends answer; NULL: the clock */
    const struct chart_log *log;
    bool skip_schema_validation;
    bool include_crds; /* the CRDs lead the manifest text */
    bool hide_secrets; /* Secret manifests are replaced by Helm's comment */
    bool subchart_notes;
    /* getHostByName; NULL: "", Helm's behaviour without --enable-dns. `ctx` is these options. */
    int (*resolve)(void *ctx, struct arena *a, struct str host, struct str *ret, struct err **err);
    bool lint;         /* required and fail do not fail */
    bool keep_objects; /* fill chart_manifest.object and chart_hook.object */
    bool keep_values;  /* fill chart_rendered.values */
    bool no_text;      /* leave chart_rendered.manifest empty */
};

struct chart_manifest {
    struct str path;                    /* "web/templates/deployment.yaml" */
    struct str api_version, kind, name; /* of the document; "" where it has none */
    struct str content;                 /* the document as rendered, with its final newlines */
    struct value object; /* with keep_objects: the parsed document, integers exact; else null */
};

enum chart_hook_event {
    CHART_HOOK_PRE_INSTALL,
    CHART_HOOK_POST_INSTALL,
    CHART_HOOK_PRE_DELETE,
    CHART_HOOK_POST_DELETE,
    CHART_HOOK_PRE_UPGRADE,
    CHART_HOOK_POST_UPGRADE,
    CHART_HOOK_PRE_ROLLBACK,
    CHART_HOOK_POST_ROLLBACK,
    CHART_HOOK_TEST,
    CHART_HOOK_MAX_,
};
const char *chart_hook_event_name(enum chart_hook_event e); /* "pre-install", … */

struct chart_hook {
    struct str path, api_version, kind, name, content;
    const enum chart_hook_event *events; /* in the annotation's order */
    size_t n_events;
    int64_t weight;
    const struct str *delete_policies; /* lower case, as written: unknown ones too */
    size_t n_delete_policies;
    const struct str *output_log_policies;
    size_t n_output_log_policies;
    struct value object;
};
bool chart_hook_has_event(const struct chart_hook *h, enum chart_hook_event e);
bool chart_hook_has_delete_policy(const struct chart_hook *h, const char *policy);

struct chart_rendered {
    struct arena *arena;              /* everything below lives here */
    struct chart *chart;              /* a reference */
    struct chart_manifest *manifests; /* in install order */
    size_t n_manifests;
    struct chart_hook *hooks; /* by kind in install order; order by weight per event is up to who runs them */
    size_t n_hooks;
    struct chart_crd *crds; /* of the enabled charts */
    size_t n_crds;
    struct str manifest; /* the text that a release record keeps: "---\n# Source: …\n…" */
    struct str notes;
    struct value values; /* with keep_values: the coalesced values before the first template ran; else null */
    const struct chart_node *root; /* private */
};

/* Dependencies by `values` (a map or null; not changed), schema, templates, manifests: one helm template. The chart's parsed
 * templates are cached in it and shared by later renders. TEMPLATE: a template, its YAML, or kubeVersion failed, where
 * helm would store a failed release; other codes: refused before that. `broken` (may be NULL) receives the rendered files
 * when their YAML does not parse, for --debug. */
NODISCARD int chart_render(struct chart *c, struct value values, const struct chart_render_options *o,
                           struct buf *broken, struct chart_rendered **ret, struct err **err);
void chart_rendered_free(struct chart_rendered *r);
DEFINE_CLEANUP(struct chart_rendered *, chart_rendered_free)

/* The CRDs that an install with these values would create first: the first half of chart_render(). Array in `a`. */
NODISCARD int chart_crds_for_values(struct chart *c, struct value values, const struct chart_log *log,
                                    struct arena *a, struct chart_crd **ret, size_t *ret_n, struct err **err);

/* The member "chart" of a release record: metadata after aliases and conditions, values with imported ones merged, no
 * subcharts. As encoding/json prints it. */
NODISCARD int chart_rendered_print_chart_json(const struct chart_rendered *r, struct buf *out,
                                              struct err **err);

/* ---- linting and unpacking ------------------------------------------------------------------------------------- */

enum chart_lint_severity { CHART_LINT_UNKNOWN, CHART_LINT_INFO, CHART_LINT_WARNING, CHART_LINT_ERROR };

struct chart_lint_message {
    enum chart_lint_severity severity;
    struct str path; /* "templates/web.yaml", the chart's folder, or "" */
    struct str text;
};

struct chart_lint_options {
    /* The user's: a map or null. As in Helm the tables in it take in the chart's defaults, which the next chart finds there. */
    struct value values;
    struct arena *values_arena; /* what values live in */
    struct str ns;
    const struct chart_capabilities *capabilities; /* NULL: chart_capabilities_default() */
    bool skip_schema_validation;
    const struct chart_log *log;
};
/* What `helm lint` finds in the chart of a folder, in its order and words. The array lives in `a`. */
void chart_lint(struct arena *a, const char *dir, const struct chart_lint_options *o,
                struct chart_lint_message **ret, size_t *ret_n);

/* Writes the files of a .tgz below `dir`/<name in Chart.yaml>, as they are, nothing outside of it; *ret is that folder
 * (owned). INVALID for a name that is no file name, else as chart_load_archive(). */
NODISCARD int chart_expand(struct str packed, const char *dir, char **ret, struct err **err);

/* ---- manifests on their own ------------------------------------------------------------------------------------ */

/* Helm's SplitManifests (4.2.4): documents of a text, in order, left-trimmed, empty ones dropped. Views into `text`; the
 * array lives in `a`. */
struct str *chart_split_manifests(struct arena *a, struct str text, size_t *ret_n) NODISCARD;
/* Go's filepath.Match on '/' separated names: 1, 0, or -1 when the pattern is malformed. */
int chart_path_match(struct str pattern, struct str name);
/* Where a kind stands in Helm's uninstall order; unknown kinds: INT_MAX. */
int chart_uninstall_rank(struct str kind);

/* ---- charts in the cluster -------------------------------------------------------------------------------------
 * The content of a chart version lives in ConfigMaps of the controller's namespace (templates, CRDs, default values), from
 * which the chart renders as from its archive. The Chart kind writes them, Releases read them. */

struct kube;

struct chart_stored {
    struct str repository, name, version;
    struct str digest; /* sha256 of the archive, hex */
};

/* Reads chart content, and keeps the charts that were read last: safe from any thread. */
struct chart_store;
/* `k` is referenced, `ns` copied. Kept charts take at most about `cache_bytes`. */
struct chart_store *chart_store_new(struct kube *k, struct str ns, size_t cache_bytes) NODISCARD;
void chart_store_free(struct chart_store *s); /* may be NULL */
DEFINE_CLEANUP(struct chart_store *, chart_store_free)
/* The versions of a chart that are there, highest first; array and strings in `a`. One metadata-only list. */
NODISCARD int chart_store_list(struct chart_store *s, struct str repository, struct str name, struct arena *a,
                               struct chart_stored **ret, size_t *ret_n, struct err **err);
/* The chart, put together and checked against its digest; a new reference. NOT_FOUND when parts are missing (they are
 * still being written), DIGEST when they do not belong together. No request when it is among the kept ones. */
NODISCARD int chart_store_load(struct chart_store *s, const struct chart_stored *which, struct chart **ret,
                               struct err **err);

/* ---- the kind Chart -------------------------------------------------------------------------------------------- */

struct kube_recorder;
struct controller_kind;
struct registry_manager;

struct chart_manager;
struct chart_manager_options {
    struct kube *kube;                 /* referenced */
    struct kube_recorder *recorder;    /* borrowed; may be NULL */
    struct registry_manager *registry; /* borrowed */
    struct chart_store *store;         /* borrowed */
    struct str ns;                     /* where content is written */
};
struct chart_manager *chart_manager_new(const struct chart_manager_options *o) NODISCARD;
void chart_manager_free(struct chart_manager *m); /* may be NULL */
DEFINE_CLEANUP(struct chart_manager *, chart_manager_free)
/* The rows for controller_new(); they live as long as the manager. */
const struct controller_kind *chart_manager_kinds(struct chart_manager *m, size_t *ret_n);

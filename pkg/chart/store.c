/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/store.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "semver/semver.h"
#include "json/json.h"

#define SUBCHART_CRDS "subchart-crds.yaml" /* for people; not a file of the chart */
#define ANNOTATION_DEPENDENCIES "pintle.dev/dependencies"

/* The sets of a version; the first one says that it is there. */
static const char *const types[] = { "tmpl", "crds", "default" };

struct kept {
    struct kept *next; /* most recently used first */
    char *key;
    struct chart *chart;
    size_t bytes;
};

struct chart_store {
    struct kube *kube;
    char *ns;
    size_t cache_bytes;
    pthread_mutex_t mutex;
    struct kept *kept;
};

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static void set_identity(struct content_set *set, struct arena *a, const char *type,
                         const struct chart_stored *id)
{
    set->labels = value_new_map(a);
    set->annotations = value_new_map(a);
    value_setz(set->labels, "pintle.dev/type", value_from_str(str_from(type)));
    value_setz(set->labels, "pintle.dev/repo", value_from_str(content_label(a, id->repository)));
    value_setz(set->labels, "pintle.dev/chart", value_from_str(content_label(a, id->name)));
    value_setz(set->labels, "pintle.dev/version", value_from_str(content_label(a, id->version)));
    value_setz(set->annotations, "pintle.dev/repository", value_from_str(id->repository));
    value_setz(set->annotations, "pintle.dev/chart", value_from_str(id->name));
    value_setz(set->annotations, "pintle.dev/version", value_from_str(id->version));
    value_setz(set->annotations, "pintle.dev/digest", value_from_str(id->digest));
}

static struct content_set make_set(struct arena *a, struct str ns, const char *type,
                                   const struct chart_stored *id, struct value owner)
{
    struct content_set set = { .ns = ns,
                               .name = content_name(a, type, id->repository, id->name, id->version),
                               .owner = owner,
                               .immutable = true };

    set_identity(&set, a, type, id);
    return set;
}

enum part { PART_TMPL, PART_CRDS, PART_DEFAULT };

static enum part part_of(struct str path)
{
    if (str_eq(path, STR("values.yaml")))
        return PART_DEFAULT;
    return str_has_prefix(path, STR("crds/")) ? PART_CRDS : PART_TMPL;
}

static size_t pick_files(struct arena *a, const struct chart *chart, enum part part,
                         struct content_file **ret)
{
    size_t n_files, n = 0;
    const struct chart_file *files = chart_files(chart, &n_files);
    struct content_file *out = ARENA_ARRAY(a, struct content_file, n_files + 1);

    for (size_t i = 0; i < n_files; i++)
        if (part_of(files[i].name) == part)
            out[n++] = (struct content_file){ .path = files[i].name, .data = files[i].data };
    *ret = out;
    return n;
}

/* What `helm show crds` prints beyond the chart's own. */
static struct str subchart_crds(struct arena *a, const struct chart *chart)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_UNPACKED_MAX);
    struct str own = arena_printf(a, "%.*s/crds/", STR_ARG(chart_metadata(chart)->name));
    size_t n;
    struct chart_crd *crds = chart_crds(chart, a, &n);

    for (size_t i = 0; i < n; i++) {
        if (str_has_prefix(crds[i].path, own))
            continue;
        buf_addf(&text, "---\n# Source: %.*s\n", STR_ARG(crds[i].path));
        buf_addstr(&text, crds[i].data);
        buf_addc(&text, '\n');
    }
    return arena_dup(a, buf_str(&text));
}

static struct value dependencies_text(struct arena *a, const struct store_dependency *deps, size_t n)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);
    struct value_list list = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < n; i++) {
        struct value v = value_new_map(a);

        value_setz(v, "name", value_from_str(deps[i].name));
        value_setz(v, "repository", value_from_str(deps[i].stored.repository));
        value_setz(v, "chart", value_from_str(deps[i].stored.name));
        value_setz(v, "version", value_from_str(deps[i].stored.version));
        value_setz(v, "digest", value_from_str(deps[i].stored.digest));
        value_list_add(&list, v);
    }
    if (json_print(value_list_done(&list), 0, &text, NULL) < 0)
        return VALUE_NONE;
    return value_from_str(arena_dup(a, buf_str(&text)));
}

void store_sets(struct arena *a, struct str ns, const struct chart_stored *id, const struct chart *chart,
                struct value owner, const struct store_dependency *deps, size_t n_deps,
                struct store_set ret[STORE_SETS])
{
    static const enum part parts[STORE_SETS] = { PART_DEFAULT, PART_CRDS, PART_TMPL };
    static const char *const names[STORE_SETS] = { "default", "crds", "tmpl" };
    struct str extra = subchart_crds(a, chart);

    for (size_t i = 0; i < STORE_SETS; i++) {
        struct content_file *files;

        ret[i].set = make_set(a, ns, names[i], id, owner);
        ret[i].n = pick_files(a, chart, parts[i], &files);
        if (parts[i] == PART_CRDS && extra.n > 0)
            files[ret[i].n++] = (struct content_file){ .path = STR(SUBCHART_CRDS), .data = extra };
        ret[i].files = files;
    }
    if (n_deps > 0) {
        value_setz(ret[2].set.annotations, ANNOTATION_DEPENDENCIES, dependencies_text(a, deps, n_deps));
        value_setz(ret[2].set.labels, STORE_LABEL_DEPENDENT, VALUE_STR("true"));
    }
}

bool store_is_chart_file(const struct content_file *f)
{
    return !str_eq(f->path, STR(SUBCHART_CRDS));
}

int store_write(struct kube *k, struct arena *a, struct str ns, const struct chart_stored *id,
                const struct chart *chart, struct value owner, const struct store_dependency *deps,
                size_t n_deps, size_t *ret_written, size_t *ret_parts, struct err **err)
{
    struct store_set sets[STORE_SETS];
    size_t written = 0, parts = 0;

    store_sets(a, ns, id, chart, owner, deps, n_deps, sets);
    for (size_t i = 0; i < STORE_SETS; i++) {
        size_t w = 0, p = 0;
        int r = content_write(k, a, &sets[i].set, sets[i].files, sets[i].n, &w, &p, err);

        if (r < 0)
            return r;
        written += w;
        parts += p;
    }
    *ret_written = written;
    *ret_parts = parts;
    return 0;
}

int store_delete(struct kube *k, struct arena *a, struct str ns, const struct chart_stored *id,
                 struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < ARRAY_SIZE(types) && r == 0; i++)
        r = content_delete(k, a, ns, content_name(a, types[i], id->repository, id->name, id->version), err);
    return r;
}

/* ---- the store ------------------------------------------------------------------------------------------------------- */

struct chart_store *chart_store_new(struct kube *k, struct str ns, size_t cache_bytes)
{
    struct chart_store *s = xcalloc(1, sizeof(*s));

    s->kube = kube_ref(k);
    s->ns = str_dup(ns);
    s->cache_bytes = cache_bytes;
    pthread_mutex_init(&s->mutex, NULL);
    return s;
}

static void free_kept(struct kept *k)
{
    chart_unref(k->chart);
    free(k->key);
    free(k);
}

void chart_store_free(struct chart_store *s)
{
    if (!s)
        return;
    while (s->kept) {
        struct kept *k = s->kept;

        s->kept = k->next;
        free_kept(k);
    }
    pthread_mutex_destroy(&s->mutex);
    kube_unref(s->kube);
    free(s->ns);
    free(s);
}

static bool is_first(struct value object, const char *type)
{
    return str_eq(kube_label(object, STR("pintle.dev/type")), str_from(type)) &&
           str_eq(kube_label(object, STR("pintle.dev/part")), STR("1"));
}

static int compare_stored(const void *x, const void *y)
{
    const struct chart_stored *a = x, *b = y;
    struct semver i, j;
    bool has_i = semver_parse(a->version, &i, NULL) == 0, has_j = semver_parse(b->version, &j, NULL) == 0;
    int c = has_i && has_j ? semver_cmp(&j, &i) : has_j - has_i;

    return c ? c : str_cmp(a->version, b->version);
}

struct chart_stored store_identity(struct value object)
{
    return (struct chart_stored){
        .repository = kube_annotation(object, STR("pintle.dev/repository")),
        .name = kube_annotation(object, STR("pintle.dev/chart")),
        .version = kube_annotation(object, STR("pintle.dev/version")),
        .digest = kube_annotation(object, STR("pintle.dev/digest")),
    };
}

void store_versions(struct arena *a, struct value items, struct chart_stored **ret, size_t *ret_n)
{
    struct chart_stored *all = ARENA_ARRAY(a, struct chart_stored, value_len(items) + 1);
    size_t n = 0;

    for (struct value_iter it = value_iter(items); value_next(&it);)
        if (is_first(it.v, "tmpl") && !kube_is_deleting(it.v))
            all[n++] = store_identity(it.v);
    if (n > 1)
        qsort(all, n, sizeof(*all), compare_stored);
    *ret = all;
    *ret_n = n;
}

/* How many ConfigMaps there are of one set, and how many there have to be: 0 without the first. */
static bool is_whole(struct value items, const struct chart_stored *id, const char *type)
{
    size_t have = 0;
    int64_t want = 0;

    for (struct value_iter it = value_iter(items); value_next(&it);) {
        if (!str_eq(kube_label(it.v, STR("pintle.dev/type")), str_from(type)) || kube_is_deleting(it.v) ||
            !str_eq(store_identity(it.v).version, id->version))
            continue;
        have++;
        if (is_first(it.v, type) && !str_to_int64(kube_label(it.v, STR("pintle.dev/parts")), &want))
            return false;
    }
    return want > 0 && have >= (size_t)want;
}

bool store_is_whole(struct value items, const struct chart_stored *id)
{
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (!is_whole(items, id, types[i]))
            return false;
    return true;
}

int chart_store_list(struct chart_store *s, struct str repository, struct str name, struct arena *a,
                     struct chart_stored **ret, size_t *ret_n, struct err **err)
{
    struct kube_request rq = {
        .verb = KUBE_LIST,
        .ref = KUBE_REF("v1", "ConfigMap", str_from(s->ns), STR_NONE),
        .metadata_only = true,
        .label_selector = arena_printf(
            a, "pintle.dev/type=tmpl,pintle.dev/part=1,pintle.dev/repo=%.*s,pintle.dev/chart=%.*s",
            STR_ARG(content_label(a, repository)), STR_ARG(content_label(a, name))),
    };
    struct value_list ours = VALUE_LIST_INIT(a);
    struct value list;
    int r = kube_do(s->kube, a, &rq, &list, err);

    if (r < 0)
        return err_wrap(err, r, "chart content");
    for (struct value_iter it = value_iter(value_getz(list, "items")); value_next(&it);) {
        struct chart_stored c = store_identity(it.v);

        if (str_eq(c.repository, repository) && str_eq(c.name, name))
            value_list_add(&ours, it.v); /* labels may be shortened: annotations are the identity */
    }
    store_versions(a, value_list_done(&ours), ret, ret_n);
    return 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

struct file_list {
    struct arena *arena;
    struct chart_file *files;
    size_t n, cap;
};

static void add_file(struct file_list *l, struct str name, struct str data)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;

        l->files = arena_grow(l->arena, l->files, l->cap * sizeof(*l->files), cap * sizeof(*l->files));
        l->cap = cap;
    }
    l->files[l->n++] = (struct chart_file){ .name = name, .data = data };
}

static int read_set(struct chart_store *s, struct file_list *l, const char *type,
                    const struct chart_stored *which, struct str prefix, struct err **err)
{
    struct content_file *files;
    size_t n;
    int r = content_read(s->kube, l->arena, str_from(s->ns),
                         content_name(l->arena, type, which->repository, which->name, which->version), &files,
                         &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        if (store_is_chart_file(&files[i]))
            add_file(l,
                     prefix.n ? arena_printf(l->arena, "%.*s%.*s", STR_ARG(prefix), STR_ARG(files[i].path))
                              : files[i].path,
                     files[i].data);
    return 0;
}

static int read_all(struct chart_store *s, struct file_list *l, const struct chart_stored *which,
                    struct str prefix, int depth, struct err **err);

size_t store_dependencies(struct arena *a, struct value tmpl, struct store_dependency **ret)
{
    struct str text = kube_annotation(tmpl, STR(ANNOTATION_DEPENDENCIES));
    struct store_dependency *out;
    struct value list;

    if (text.n == 0 || json_parse(a, text, NULL, &list, NULL) < 0)
        return 0;
    out = ARENA_ARRAY(a, struct store_dependency, value_len(list) + 1);
    for (struct value_iter it = value_iter(list); value_next(&it);)
        out[it.i] = (struct store_dependency){
            .name = value_str(value_getz(it.v, "name")),
            .stored = { value_str(value_getz(it.v, "repository")), value_str(value_getz(it.v, "chart")),
                        value_str(value_getz(it.v, "version")), value_str(value_getz(it.v, "digest")) }
        };
    *ret = out;
    return value_len(list);
}

/* What the archive lacks comes from the content of other Charts, as folders below charts/. */
static int read_dependencies(struct chart_store *s, struct file_list *l, struct value tmpl, struct str prefix,
                             int depth, struct err **err)
{
    struct store_dependency *deps;
    size_t n = store_dependencies(l->arena, tmpl, &deps);
    int r = 0;

    if (n > 0 && depth >= STORE_DEPENDENCIES_DEPTH_MAX)
        return err_set(err, ERRC_LIMIT, "dependencies are nested deeper than %d",
                       STORE_DEPENDENCIES_DEPTH_MAX);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct chart_stored *d = &deps[i].stored;
        /* One chart may be there in two versions; which folder comes first decides which alias gets it. */
        struct str below =
            arena_printf(l->arena, STR_FMT "charts/%03zu-" STR_FMT "/", STR_ARG(prefix), i, STR_ARG(d->name));

        r = read_all(s, l, d, below, depth + 1, err);
        if (r < 0)
            return err_wrap(err, r, "dependency " STR_FMT, STR_ARG(d->name));
    }
    return r;
}

static int read_all(struct chart_store *s, struct file_list *l, const struct chart_stored *which,
                    struct str prefix, int depth, struct err **err)
{
    struct kube_ref ref =
        KUBE_REF("v1", "ConfigMap", str_from(s->ns),
                 content_name(l->arena, "tmpl", which->repository, which->name, which->version));
    struct value tmpl;
    int r =
        kube_do(s->kube, l->arena,
                &(struct kube_request){ .verb = KUBE_GET, .ref = ref, .metadata_only = true }, &tmpl, err);

    if (r < 0)
        return r;
    if (!str_eq(store_identity(tmpl).digest, which->digest))
        return err_set(err, ERRC_DIGEST, "the content in the cluster is of archive sha256 %.*s, not %.*s",
                       STR_ARG(store_identity(tmpl).digest), STR_ARG(which->digest));
    r = read_set(s, l, "tmpl", which, prefix, err);
    if (r == 0)
        r = read_set(s, l, "crds", which, prefix, err);
    if (r == 0)
        r = read_set(s, l, "default", which, prefix, err);
    return r < 0 ? r : read_dependencies(s, l, tmpl, prefix, depth, err);
}

/* ---- kept charts --------------------------------------------------------------------------------------------------------- */

static struct chart *find_kept(struct chart_store *s, const char *key)
{
    struct chart *found = NULL;

    pthread_mutex_lock(&s->mutex);
    for (struct kept **at = &s->kept; *at; at = &(*at)->next) {
        struct kept *k = *at;

        if (strcmp(k->key, key) != 0)
            continue;
        *at = k->next;
        k->next = s->kept;
        s->kept = k;
        found = chart_ref(k->chart);
        break;
    }
    pthread_mutex_unlock(&s->mutex);
    return found;
}

static void keep(struct chart_store *s, const char *key, struct chart *chart, size_t bytes)
{
    struct kept *k = xcalloc(1, sizeof(*k));
    size_t total = 0;

    *k = (struct kept){ .key = xstrdup(key), .chart = chart_ref(chart), .bytes = bytes };
    pthread_mutex_lock(&s->mutex);
    k->next = s->kept;
    s->kept = k;
    for (struct kept **at = &s->kept; *at;) {
        struct kept *old = *at;

        total += old->bytes;
        if (total <= s->cache_bytes || old == k) {
            at = &old->next;
            continue;
        }
        *at = old->next;
        free_kept(old);
    }
    pthread_mutex_unlock(&s->mutex);
}

int chart_store_load(struct chart_store *s, const struct chart_stored *which, struct chart **ret,
                     struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * ARCHIVE_UNPACKED_MAX);
    struct file_list l = { .arena = a };
    struct str key = arena_printf(a, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(which->repository),
                                  STR_ARG(which->name), STR_ARG(which->version), STR_ARG(which->digest));
    struct chart *chart = find_kept(s, key.p);
    size_t bytes = 0;
    int r;

    if (chart) {
        *ret = chart;
        return 0;
    }
    r = read_all(s, &l, which, STR(""), 0, err);
    if (r == 0)
        r = chart_load_files(l.files, l.n, NULL, &chart, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < l.n; i++)
        bytes += l.files[i].name.n + 4 * l.files[i].data.n; /* the bytes, and what parsing makes of them */
    keep(s, key.p, chart, bytes);
    *ret = chart;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "archive/archive.h"
#include "base/limits.h"
#include "chart/parsing.h"
#include "chart/sets.h"
#include "schema/schema.h"
#include "yaml/yaml.h"

/* ---- storage ---- */

struct chart_storage *chart_storage_new(void)
{
    struct chart_storage *s = xcalloc(1, sizeof(*s));

    s->refs = 1;
    s->arena = arena_new(CHART_UNPACKED_TOTAL_MAX + 64 * MIB);
    return s;
}

static struct chart_storage *storage_ref(struct chart_storage *s)
{
    s->refs++;
    return s;
}

struct chart_storage *chart_storage_unref(struct chart_storage *s)
{
    if (s && --s->refs == 0) {
        arena_free(s->arena);
        free(s);
    }
    return NULL;
}

/* ---- the object ---- */

struct chart *chart_ref(struct chart *c)
{
    c->refs++;
    return c;
}

struct chart *chart_unref(struct chart *c)
{
    if (!c || --c->refs > 0)
        return NULL;
    for (size_t i = 0; i < c->n_subcharts; i++)
        chart_unref(c->subcharts[i]);
    free(c->subcharts);
    while (c->sets) {
        struct chart_set *s = c->sets;

        c->sets = s->next;
        tpl_set_free(s->set);
        free(s->key);
        free(s);
    }
    chart_parsing_free(c->ahead);
    schema_free(c->compiled);
    pthread_mutex_destroy(&c->sets_lock);
    doc_unref(c->values);
    chart_storage_unref(c->storage);
    free(c);
    return NULL;
}

static struct chart *chart_new(const struct chart_source *s)
{
    struct chart *c = xcalloc(1, sizeof(*c));

    c->refs = 1;
    c->storage = storage_ref(s->storage);
    c->files = s->files;
    c->n_files = s->n;
    pthread_mutex_init(&c->sets_lock, NULL);
    return c;
}

/* ---- sorting files into a chart, in the order of helm's LoadFiles() ---- */

struct loader {
    struct chart *chart;
    struct chart_load_state *state;
    struct arena *arena;
    struct chart_file *vendored; /* what is below charts/, without that prefix */
    size_t n_vendored;
};

static void list_add(struct loader *l, struct chart_file_list *list, const struct chart_file *f)
{
    if (!list->items)
        list->items = ARENA_ARRAY(l->arena, const struct chart_file *, l->chart->n_files);
    list->items[list->n++] = f;
}

static int load_metadata(struct loader *l, const struct chart_file *f, struct err **err)
{
    struct chart *c = l->chart;
    int r;

    c->has_metadata = true;
    r = metadata_parse(l->arena, f->data, &c->metadata, err);
    if (r < 0)
        return err_wrap(err, r, "cannot load " STR_FMT, STR_ARG(f->name));
    if (c->metadata.api_version.n == 0)
        c->metadata.api_version = STR("v1");
    c->modified = f->modified;
    return 0;
}

static bool is_v1(const struct chart *c)
{
    return str_eq(c->metadata.api_version, STR("v1"));
}

static int load_lock(struct loader *l, const struct chart_file *f, struct err **err)
{
    int r = metadata_lock_parse(l->arena, f->data, &l->chart->lock, err);

    if (r < 0)
        return err_wrap(err, r, "cannot load " STR_FMT, STR_ARG(f->name));
    l->chart->has_lock = r > 0;
    return 0;
}

static int load_values(struct loader *l, const struct chart_file *f, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    struct value v;
    int r = chart_values_parse(a, f->data, &v, err);

    if (r < 0)
        return err_wrap(err, r, "cannot load values.yaml");
    doc_unref(l->chart->values);
    l->chart->values = doc_take(TAKE(a), v); /* its strings are in the chart's storage, which lives as long */
    return 0;
}

static int load_schema(struct loader *l, const struct chart_file *f, struct err **err)
{
    UNUSED(err);
    l->chart->schema = f;
    return 0;
}

static int load_requirements(struct loader *l, const struct chart_file *f, struct err **err)
{
    struct chart *c = l->chart;
    int r;

    c->has_metadata = true;
    if (!is_v1(c))
        chart_log_line(
            l->state->log, "INFO", "",
            "Warning: Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend "
            "migrating dependencies to Chart.yaml.");
    r = metadata_parse(l->arena, f->data, &c->metadata, err);
    if (r < 0)
        return err_wrap(err, r, "cannot load requirements.yaml");
    if (is_v1(c))
        list_add(l, &c->plain, f);
    return 0;
}

static int load_requirements_lock(struct loader *l, const struct chart_file *f, struct err **err)
{
    struct chart *c = l->chart;
    int r = load_lock(l, f, err);

    if (r < 0)
        return r;
    c->has_metadata = true;
    if (!is_v1(c))
        chart_log_line(
            l->state->log, "INFO", "",
            "Warning: Dependency locking is handled in Chart.lock since apiVersion \"v2\". We recommend "
            "migrating to Chart.lock.");
    if (is_v1(c))
        list_add(l, &c->plain, f);
    return 0;
}

static int load_nothing(struct loader *l, const struct chart_file *f, struct err **err)
{
    UNUSED(l);
    UNUSED(f);
    UNUSED(err);
    return 0;
}

static const struct {
    const char *name;
    int (*load)(struct loader *l, const struct chart_file *f, struct err **err);
} special_files[] = {
    { "Chart.yaml", load_nothing },
    { "Chart.lock", load_lock },
    { "values.yaml", load_values },
    { "values.schema.json", load_schema },
    { "requirements.yaml", load_requirements },
    { "requirements.lock", load_requirements_lock },
};

static void add_vendored(struct loader *l, const struct chart_file *f)
{
    if (!l->vendored)
        l->vendored = ARENA_ARRAY(l->arena, struct chart_file, l->chart->n_files);
    l->vendored[l->n_vendored] = *f;
    l->vendored[l->n_vendored++].name = str_trim_prefix(f->name, STR("charts/"));
}

static int load_file(struct loader *l, const struct chart_file *f, struct err **err)
{
    struct chart *c = l->chart;

    for (size_t i = 0; i < ARRAY_SIZE(special_files); i++)
        if (str_eq(f->name, str_from(special_files[i].name)))
            return special_files[i].load(l, f, err);
    if (str_has_prefix(f->name, STR("templates/")))
        list_add(l, &c->templates, f);
    else if (str_has_prefix(f->name, STR("charts/")) && !str_has_suffix(f->name, STR(".prov")))
        add_vendored(l, f);
    else
        list_add(l, &c->plain, f);
    return 0;
}

static int load_own_files(struct loader *l, struct err **err)
{
    struct chart *c = l->chart;
    int r;

    for (size_t i = 0; i < c->n_files; i++) {
        if (!str_eq(c->files[i].name, STR("Chart.yaml")))
            continue;
        r = load_metadata(l, &c->files[i], err);
        if (r < 0)
            return r;
    }
    if (l->state->to_render && l->state->depth == 0)
        chart_parse_ahead(c);
    for (size_t i = 0; i < c->n_files; i++) {
        r = load_file(l, &c->files[i], err);
        if (r < 0)
            return r;
    }
    if (!c->has_metadata)
        return err_set(err, ERRC_INVALID, "Chart.yaml file is missing");
    return metadata_check(l->arena, &c->metadata, err);
}

/* ---- subcharts ---- */

static struct str first_part(struct str name)
{
    size_t at = str_find_char(name, '/');

    return at == STR_NPOS ? name : str_sub(name, 0, at);
}

static int load_packed_subchart(struct loader *l, struct str group, const struct chart_file *f,
                                struct chart **ret, struct err **err)
{
    struct chart_source source = { 0 };
    int r;

    if (!str_eq(f->name, group))
        return err_set(err, ERRC_INVALID, "expected " STR_FMT ", got " STR_FMT, STR_ARG(group),
                       STR_ARG(f->name));
    r = chart_unpack(f->data, l->state, &source, err);
    if (r >= 0)
        r = chart_load_source(&source, l->state, ret, err);
    chart_storage_unref(source.storage);
    return r;
}

/* Loose files in charts/ are left out, so a group of them alone is a chart without Chart.yaml, as in Helm. */
static int load_folder_subchart(struct loader *l, const struct chart_file **files, size_t n,
                                struct chart **ret, struct err **err)
{
    struct chart_source source = { .storage = l->chart->storage };

    source.files = ARENA_ARRAY(l->arena, struct chart_file, n);
    for (size_t i = 0; i < n; i++) {
        struct chart_file f = *files[i];
        size_t at = str_find_char(f.name, '/');

        if (at == STR_NPOS)
            continue;
        f.name = str_sub(f.name, at + 1, f.name.n);
        source.files[source.n++] = f;
    }
    return chart_load_source(&source, l->state, ret, err);
}

static int load_subchart(struct loader *l, struct str group, const struct chart_file **files, size_t n,
                         struct err **err)
{
    struct chart *sub = NULL;
    bool packed = str_has_suffix(group, STR(".tgz"));
    int r;

    if (group.n > 0 && (group.p[0] == '_' || group.p[0] == '.'))
        return 0;
    if (packed)
        r = load_packed_subchart(l, group, files[0], &sub, err);
    else
        r = load_folder_subchart(l, files, n, &sub, err);
    if (r < 0 && packed && !str_eq(files[0]->name, group))
        return err_wrap(err, r, "error unpacking subchart tar in " STR_FMT, STR_ARG(l->chart->metadata.name));
    if (r < 0)
        return err_wrap(err, r, "error unpacking subchart " STR_FMT " in " STR_FMT, STR_ARG(group),
                        STR_ARG(l->chart->metadata.name));
    l->chart->subcharts = xreallocarray(l->chart->subcharts, l->chart->n_subcharts + 1, sizeof(sub));
    l->chart->subcharts[l->chart->n_subcharts++] = sub;
    return 0;
}

/* By group; within one, the files keep their order. */
static int cmp_groups(const void *a, const void *b)
{
    const struct chart_file *x = *(const struct chart_file *const *)a,
                            *y = *(const struct chart_file *const *)b;
    int order = str_cmp(first_part(x->name), first_part(y->name));

    if (order != 0)
        return order;
    return x < y ? -1 : x > y;
}

static int load_groups(struct loader *l, const struct chart_file **files, struct err **err)
{
    for (size_t i = 0, end; i < l->n_vendored; i = end) {
        struct str group = first_part(files[i]->name);
        int r;

        for (end = i + 1; end < l->n_vendored && str_eq(first_part(files[end]->name), group);)
            end++;
        r = load_subchart(l, group, &files[i], end - i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int load_subcharts(struct loader *l, struct err **err)
{
    const struct chart_file **files;
    int r;

    if (l->n_vendored == 0)
        return 0;
    if (l->state->depth >= CHART_NESTING_MAX)
        return err_set(err, ERRC_LIMIT, "charts are nested more than %d levels deep", CHART_NESTING_MAX);
    files = ARENA_ARRAY(l->arena, const struct chart_file *, l->n_vendored);
    for (size_t i = 0; i < l->n_vendored; i++)
        files[i] = &l->vendored[i];
    qsort(files, l->n_vendored, sizeof(*files), cmp_groups);
    l->state->depth++;
    r = load_groups(l, files, err);
    l->state->depth--;
    return r;
}

int chart_load_source(const struct chart_source *s, struct chart_load_state *state, struct chart **ret,
                      struct err **err)
{
    CLEANUP(chart_unref) struct chart *c = chart_new(s);
    struct loader l = { .chart = c, .state = state, .arena = s->storage->arena };
    int r;

    r = load_own_files(&l, err);
    if (r < 0)
        return r;
    r = load_subcharts(&l, err);
    if (r < 0)
        return r;
    *ret = TAKE(c);
    return 0;
}

/* ---- from an archive, from a list ---- */

int chart_unpack(struct str packed, struct chart_load_state *state, struct chart_source *ret,
                 struct err **err)
{
    CLEANUP(chart_storage_unref) struct chart_storage *storage = chart_storage_new();
    struct archive_files files;
    struct chart_source s = { 0 };
    int r;

    r = archive_read(storage->arena, packed, &files, err);
    if (r < 0)
        return r;
    s.files = ARENA_ARRAY(storage->arena, struct chart_file, files.n);
    s.n = files.n;
    for (size_t i = 0; i < files.n; i++) {
        s.files[i] = (struct chart_file){ files.files[i].name, files.files[i].data, files.files[i].modified };
        state->unpacked += files.files[i].data.n;
    }
    if (state->unpacked > CHART_UNPACKED_TOTAL_MAX)
        return err_set(err, ERRC_LIMIT, "charts in charts are larger than the maximum size %zu",
                       CHART_UNPACKED_TOTAL_MAX);
    s.storage = TAKE(storage);
    *ret = s;
    return 0;
}

#define LOAD_CHART_YAML "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: "

int chart_check_api_version(const struct chart_source *s, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VALUES_MEMORY_MAX);
    struct str version = STR("");
    struct value v = VALUE_NONE;
    size_t i = 0;
    int r;

    while (i < s->n && !str_eq(s->files[i].name, STR("Chart.yaml")))
        i++;
    if (i == s->n)
        return err_set(err, ERRC_INVALID, "unable to detect chart version, no Chart.yaml found");
    r = yml_parse(a, s->files[i].data, &(struct yml_options){ .keep_kinds = true }, &v, err);
    if (r < 0)
        return err_wrap(err, r, "cannot load Chart.yaml");
    if (!value_is_null(v) && !value_is_map(v))
        return err_set(err, ERRC_PARSE,
                       LOAD_CHART_YAML "json: cannot unmarshal %s into Go value of type loader.chartBase",
                       metadata_json_kind(v));
    v = metadata_member(v, STR("apiVersion"));
    if (!metadata_scalar_text(a, v, &version))
        return err_set(err, ERRC_PARSE,
                       LOAD_CHART_YAML
                       "json: cannot unmarshal %s into Go struct field chartBase.apiVersion of type string",
                       metadata_json_kind(v));
    if (version.n == 0 || str_eq(version, STR("v1")) || str_eq(version, STR("v2")))
        return 0;
    if (str_eq(version, STR("v3")))
        return 1;
    return err_set(err, ERRC_INVALID, "unsupported chart version");
}

int chart_refuse_v3(int version, int loaded, struct chart **ret, struct err **err)
{
    if (loaded < 0 || version == 0)
        return loaded;
    *ret = chart_unref(*ret);
    return err_set(err, ERRC_UNSUPPORTED, "invalid chart apiVersion");
}

int chart_load_archive(struct str packed, const struct chart_log *log, struct chart **ret, struct err **err)
{
    struct chart_load_state state = { .log = log };
    struct chart_source s = { 0 };
    int r, version;

    r = chart_unpack(packed, &state, &s, err);
    if (r < 0) {
        if (packed.n >= 10 && !archive_is_gzip(packed)) {
            CLEANUP(err_free) struct err *cause = err ? TAKE(*err) : NULL;

            return err_set(err, ERRC_PARSE, "stream does not appear to be a valid chart file (details: %s)",
                           err_message(cause));
        }
        return err_wrap(err, r, "unable to load chart archive");
    }
    r = version = chart_check_api_version(&s, err);
    if (r >= 0)
        r = chart_refuse_v3(version, chart_load_source(&s, &state, ret, err), ret, err);
    chart_storage_unref(s.storage);
    return r;
}

int chart_load_files(const struct chart_file *files, size_t n, const struct chart_log *log,
                     struct chart **ret, struct err **err)
{
    CLEANUP(chart_storage_unref) struct chart_storage *storage = chart_storage_new();
    struct chart_load_state state = { .log = log };
    struct chart_source s = { .storage = storage, .n = n };

    s.files = ARENA_ARRAY(storage->arena, struct chart_file, n);
    for (size_t i = 0; i < n; i++) {
        state.unpacked += files[i].data.n;
        if (state.unpacked > ARCHIVE_UNPACKED_MAX)
            return err_set(err, ERRC_LIMIT, "decompressed chart is larger than the maximum size %zu",
                           ARCHIVE_UNPACKED_MAX);
        s.files[i] = files[i];
        s.files[i].name = arena_dup(storage->arena, files[i].name);
        s.files[i].data = arena_dup(storage->arena, files[i].data);
    }
    return chart_load_source(&s, &state, ret, err);
}

/* ---- getters ---- */

const struct metadata *chart_metadata(const struct chart *c)
{
    return &c->metadata;
}

const struct metadata_lock *chart_lock(const struct chart *c)
{
    return c->has_lock ? &c->lock : NULL;
}

struct value chart_default_values(const struct chart *c)
{
    return doc_root(c->values);
}

const struct chart_file *chart_files(const struct chart *c, size_t *ret_n)
{
    *ret_n = c->n_files;
    return c->files;
}

const struct chart_file *chart_find_file(const struct chart *c, struct str name)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (str_eq(c->files[i].name, name))
            return &c->files[i];
    return NULL;
}

size_t chart_subchart_n(const struct chart *c)
{
    return c->n_subcharts;
}

const struct chart *chart_subchart(const struct chart *c, size_t i)
{
    assert(i < c->n_subcharts);
    return c->subcharts[i];
}

bool chart_is_library(const struct chart *c)
{
    return str_ieq(c->metadata.type, STR("library"));
}

int chart_check_installable(const struct chart *c, struct err **err)
{
    struct str type = c->metadata.type;

    if (type.n == 0 || str_eq(type, STR("application")))
        return 0;
    return err_set(err, ERRC_INVALID, STR_FMT " charts are not installable", STR_ARG(type));
}

static bool has_subchart(const struct chart *c, struct str name)
{
    for (size_t i = 0; i < c->n_subcharts; i++)
        if (str_eq(c->subcharts[i]->metadata.name, name))
            return true;
    return false;
}

int chart_check_dependencies(const struct chart *c, struct err **err)
{
    CLEANUP(buf_done) struct buf missing = BUF_INIT(64 * KIB);
    size_t n = 0; /* a dependency may be named "" */

    for (size_t i = 0; i < c->metadata.n_dependencies; i++) {
        struct str name = c->metadata.dependencies[i].name;

        if (has_subchart(c, name))
            continue;
        if (n++ > 0)
            buf_adds(&missing, ", ");
        buf_addstr(&missing, name);
    }
    if (n == 0)
        return 0;
    return err_set(err, ERRC_INVALID, "found in Chart.yaml, but missing in charts/ directory: %s",
                   buf_z(&missing));
}

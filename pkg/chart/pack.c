/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"
#include "base/limits.h"
#include "chart/chart_int.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* Helm's chartutil.Save(): Chart.yaml and Chart.lock are written anew, everything else as it was. */
struct packer {
    struct arena *arena;
    struct archive_file *files;
    size_t n, cap;
};

static void add(struct packer *p, struct str dir, struct str name, struct str data, struct wall_time modified)
{
    if (p->n == p->cap) {
        size_t larger = p->cap ? 2 * p->cap : 64;

        p->files = arena_grow(p->arena, p->files, p->cap * sizeof(*p->files), larger * sizeof(*p->files));
        p->cap = larger;
    }
    p->files[p->n++] = (struct archive_file){
        .name = arena_printf(p->arena, STR_FMT STR_FMT, STR_ARG(dir), STR_ARG(name)),
        .data = data,
        .modified = modified,
    };
}

static int add_yaml(struct packer *p, struct str dir, const char *name, struct value v,
                    struct wall_time modified, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX);
    int r = yml_print(v, &text, err);

    if (r >= 0)
        add(p, dir, str_from(name), arena_dup(p->arena, buf_str(&text)), modified);
    return r;
}

static void add_list(struct packer *p, struct str dir, const struct chart_file_list *files)
{
    for (size_t i = 0; i < files->n; i++)
        add(p, dir, files->items[i]->name, files->items[i]->data, files->items[i]->modified);
}

static int add_schema(struct packer *p, struct str dir, const struct chart_file *schema, struct err **err)
{
    CLEANUP(arena_free) struct arena *scratch = arena_new(VALUES_MEMORY_MAX);
    struct value v;

    if (!schema)
        return 0;
    if (json_parse(scratch, schema->data, NULL, &v, NULL) < 0)
        return err_set(err, ERRC_INVALID, "invalid JSON in values.schema.json");
    add(p, dir, schema->name, schema->data, schema->modified);
    return 0;
}

/* Version 1 charts keep their dependencies in requirements.yaml and requirements.lock, which are ordinary files. */
static int add_metadata(struct packer *p, struct str dir, const struct chart *c, const struct metadata *md,
                        struct err **err)
{
    bool is_v1 = str_eq(md->api_version, STR("v1"));
    struct metadata own = *md;
    int r;

    if (is_v1)
        own.n_dependencies = 0;
    r = add_yaml(p, dir, "Chart.yaml", metadata_to_value(p->arena, &own), c->modified, err);
    if (r < 0 || is_v1 || !c->has_lock)
        return r;
    return add_yaml(p, dir, "Chart.lock", metadata_lock_to_value(p->arena, &c->lock), c->modified, err);
}

static int add_chart(struct packer *p, struct str dir, const struct chart *c, const struct metadata *md,
                     struct err **err)
{
    const struct chart_file *values = chart_find_file(c, STR("values.yaml"));
    int r = add_metadata(p, dir, c, md, err);

    if (r < 0)
        return r;
    if (values)
        add(p, dir, values->name, values->data, values->modified);
    r = add_schema(p, dir, c->schema, err);
    if (r < 0)
        return r;
    add_list(p, dir, &c->templates);
    add_list(p, dir, &c->plain);
    for (size_t i = 0; i < c->n_subcharts; i++) {
        const struct chart *sub = c->subcharts[i];
        struct str below =
            arena_printf(p->arena, STR_FMT "charts/" STR_FMT "/", STR_ARG(dir), STR_ARG(sub->metadata.name));

        r = add_chart(p, below, sub, &sub->metadata, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int chart_pack(const struct chart *c, struct str version, struct str app_version, struct buf *out,
               struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(CHART_UNPACKED_TOTAL_MAX);
    struct packer p = { .arena = a };
    struct metadata *md = metadata_copy(a, &c->metadata);
    int r;

    if (version.n > 0)
        md->version = version;
    if (app_version.n > 0)
        md->app_version = app_version;
    r = metadata_check(a, md, err);
    if (r < 0)
        return err_wrap(err, r, "chart validation");
    r = add_chart(&p, STR(""), c, md, err);
    if (r < 0)
        return r;
    return archive_write(md->name, p.files, p.n, out, err);
}

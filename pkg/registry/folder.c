/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "metadata/metadata.h"
#include "registry/registry.h"
#include "semver/semver.h"
#include "yaml/yaml.h"

/* `helm repo index` over one folder (pkg/repo/v1/index.go IndexDirectory): archives of the folder itself. */

struct listed {
    struct str name, version;
    struct value entry;
    struct semver parsed;
    bool has_semver;
};
struct listing {
    struct arena *arena;
    struct listed *items;
    size_t n, cap;
};

static const struct archive_file *find_chart_yaml(const struct archive_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (str_eq(files->files[i].name, STR("Chart.yaml")))
            return &files->files[i];
    return NULL;
}

static struct value time_text(struct arena *a, struct wall_time t)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);

    clock_format_rfc3339_nano(t, &text);
    return value_from_str(arena_dup(a, buf_str(&text)));
}

int registry_archive_entry(struct arena *a, struct str packed, struct wall_time created, struct metadata *ret,
                           struct value *ret_entry, struct err **err)
{
    CLEANUP(arena_free) struct arena *unpacked = arena_new(2 * ARCHIVE_UNPACKED_MAX);
    const struct archive_file *chart;
    struct archive_files files;
    struct metadata md = { 0 };
    struct value entry;
    char hex[SHA256_HEX];
    int r = archive_read(unpacked, packed, &files, err);

    if (r < 0)
        return r;
    chart = find_chart_yaml(&files);
    if (!chart)
        return err_set(err, ERRC_PARSE, "Chart.yaml file is missing");
    r = metadata_parse(a, arena_dup(a, chart->data), &md, err);
    if (r == 0)
        r = metadata_check(a, &md, err);
    if (r < 0)
        return r;
    sha256_hex(packed, hex);
    entry = value_copy_maps(a, metadata_to_value(a, &md));
    value_setz(entry, "created", time_text(a, created));
    value_setz(entry, "digest", value_from_str(arena_dup(a, str_from(hex))));
    *ret = md;
    *ret_entry = entry;
    return 0;
}

static void set_url(struct arena *a, struct value entry, struct str url, const char *file)
{
    struct value *urls = ARENA_ARRAY(a, struct value, 1);

    urls[0] = value_from_str(url.n ? arena_printf(a, "%.*s/%s", STR_ARG(str_trim_suffix(url, STR("/"))), file)
                                   : arena_dup(a, str_from(file)));
    value_setz(entry, "urls", value_from_list(urls, 1));
}

static int add_archive(struct listing *l, const char *folder, const char *file, struct str url,
                       struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(folder, file);
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    struct metadata md = { 0 };
    struct stat st = { 0 };
    struct listed *item;
    struct value entry;
    int r = fs_read_file(path, &packed, err);

    stat(path, &st);
    if (r == 0)
        r = registry_archive_entry(l->arena, buf_str(&packed),
                                   (struct wall_time){ st.st_mtim.tv_sec, (int32_t)st.st_mtim.tv_nsec }, &md,
                                   &entry, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file);
    if (l->n == l->cap) {
        l->items = arena_grow(l->arena, l->items, l->cap * sizeof(*item), (l->cap * 2 + 16) * sizeof(*item));
        l->cap = l->cap * 2 + 16;
    }
    item = &l->items[l->n++];
    *item = (struct listed){ .name = md.name, .version = md.version, .entry = entry };
    set_url(l->arena, entry, url, file);
    item->has_semver = semver_parse(item->version, &item->parsed, NULL) == 0;
    return 0;
}

static int compare(const void *x, const void *y)
{
    const struct listed *a = x, *b = y;
    int c = str_cmp(a->name, b->name);

    if (c == 0 && a->has_semver && b->has_semver)
        c = semver_cmp(&b->parsed, &a->parsed);
    return c ? c : str_cmp(a->version, b->version);
}

static struct value entries_value(struct listing *l)
{
    struct value entries = value_new_map(l->arena);

    if (l->n > 1)
        qsort(l->items, l->n, sizeof(*l->items), compare);
    for (size_t i = 0; i < l->n;) {
        struct value_list versions = VALUE_LIST_INIT(l->arena);
        struct str name = l->items[i].name;

        for (; i < l->n && str_eq(l->items[i].name, name); i++)
            value_list_add(&versions, l->items[i].entry);
        value_set(entries, name, value_list_done(&versions));
    }
    return entries;
}

int registry_index_folder(const char *folder, struct str url, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct listing l = { .arena = a };
    struct value index = value_new_map(a);
    char **names;
    size_t n;
    int r = fs_list_dir(folder, &names, &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r == 0; i++)
        if (str_has_suffix(str_from(names[i]), STR(".tgz")))
            r = add_archive(&l, folder, names[i], url, err);
    fs_names_free(names, n);
    if (r < 0)
        return err_wrap(err, r, "%s", folder);
    value_setz(index, "apiVersion", VALUE_STR("v1"));
    value_setz(index, "entries", entries_value(&l));
    value_setz(index, "generated", time_text(a, clock_wall()));
    return yml_print(index, out, err);
}

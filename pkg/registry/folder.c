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
#include "registry/registry_int.h"
#include "semver/semver.h"
#include "yaml/yaml.h"
#include "json/json.h"

/* `helm repo index` over one folder (pkg/repo/v1/index.go IndexDirectory): its archives and those one level below. */

struct listed {
    struct metadata *md;
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

static void set_url(struct arena *a, struct value entry, struct str base, const char *file)
{
    struct value *urls = ARENA_ARRAY(a, struct value, 1);

    urls[0] =
        value_from_str(base.n ? arena_printf(a, "%.*s/%s", STR_ARG(str_trim_suffix(base, STR("/"))), file)
                              : arena_dup(a, str_from(file)));
    value_setz(entry, "urls", value_from_list(urls, 1));
}

static struct listed *add(struct listing *l, const struct metadata *md, struct value entry)
{
    struct listed *item;

    if (l->n == l->cap) {
        l->items = arena_grow(l->arena, l->items, l->cap * sizeof(*item), (l->cap * 2 + 16) * sizeof(*item));
        l->cap = l->cap * 2 + 16;
    }
    item = &l->items[l->n++];
    *item = (struct listed){
        .md = metadata_copy(l->arena, md), .name = md->name, .version = md->version, .entry = entry
    };
    item->has_semver = semver_parse(item->version, &item->parsed, NULL) == 0;
    return item;
}

/* As helm: an archive that cannot be read as a chart is none. */
static int add_archive(struct listing *l, const char *folder, const char *file, struct str base,
                       struct err **err)
{
    CLEANUP(free_ptr) char *path = fs_join(folder, file);
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX);
    struct metadata md = { 0 };
    struct stat st = { 0 };
    struct value entry;
    int r = fs_read_file(path, &packed, err);

    if (r < 0)
        return r;
    stat(path, &st);
    if (registry_archive_entry(l->arena, buf_str(&packed),
                               (struct wall_time){ st.st_mtim.tv_sec, (int32_t)st.st_mtim.tv_nsec }, &md,
                               &entry, NULL) == 0)
        set_url(l->arena, add(l, &md, entry)->entry, base, file);
    return 0;
}

static int add_folder(struct listing *l, const char *folder, struct str base, bool deeper, struct err **err)
{
    char **names;
    size_t n;
    int r = fs_list_dir(folder, &names, &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r == 0; i++) {
        CLEANUP(free_ptr) char *path = fs_join(folder, names[i]);

        if (!fs_is_dir(path) && str_has_suffix(str_from(names[i]), STR(".tgz")))
            r = add_archive(l, folder, names[i], base, err);
    }
    for (size_t i = 0; i < n && r == 0 && deeper; i++) {
        CLEANUP(free_ptr) char *path = fs_join(folder, names[i]);
        struct str below =
            base.n ? arena_printf(l->arena, "%.*s/%s", STR_ARG(str_trim_suffix(base, STR("/"))), names[i])
                   : arena_dup(l->arena, str_from(names[i]));

        if (fs_is_dir(path))
            r = add_folder(l, path, below, false, err);
    }
    fs_names_free(names, n);
    return r;
}

/* ---- another index, merged into it -------------------------------------------------------------------------------- */

/* Is the version there, or one that means the same? */
static bool has(const struct listing *l, size_t n, const struct listed *item)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(l->items[i].name, item->name) && (str_eq(l->items[i].version, item->version) ||
                                                     (l->items[i].has_semver && item->has_semver &&
                                                      semver_cmp(&l->items[i].parsed, &item->parsed) == 0)))
            return true;
    return false;
}

/* The index's own fields of an entry, in Go's order, behind those of the chart's metadata. */
static const char *const own[] = { "urls",     "created", "removed",       "digest",
                                   "checksum", "engine",  "tillerVersion", "url" };

/* What Go keeps of an entry. */
static void merge_entry(struct listing *l, struct value v)
{
    struct registry_version known;
    struct metadata md = { 0 };
    struct value entry;

    if (!index_entry_read(l->arena, v, &known) || metadata_decode(l->arena, v, &md, NULL) < 0)
        return;
    if (md.api_version.n == 0)
        md.api_version = STR("v1");
    entry = value_copy_maps(l->arena, metadata_to_value(l->arena, &md));
    value_setz(entry, "urls", VALUE_NONE);
    value_setz(entry, "created", VALUE_STR("0001-01-01T00:00:00Z"));
    for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
        struct value field = value_get(v, str_from(own[i]));

        if (!value_is_null(field))
            value_set(entry, str_from(own[i]), field);
    }
    add(l, &md, entry);
    if (has(l, l->n - 1, &l->items[l->n - 1]))
        l->n--;
}

static int merge(struct listing *l, const char *path, struct str text, struct err **err)
{
    static const struct yml_options strict = { .strict = true };
    struct value index;
    int r;

    if (text.n == 0)
        return err_set(err, ERRC_PARSE, "merge failed: error loading %s: empty index.yaml file", path);
    r = yml_parse(l->arena, text, &strict, &index, err);
    if (r < 0)
        return err_wrap(err, r, "merge failed: error loading %s", path);
    for (struct value_iter it = value_iter(value_getz(index, "entries")); value_next(&it);)
        for (struct value_iter version = value_iter(it.v); value_next(&version);)
            merge_entry(l, version.v);
    if (value_str(value_getz(index, "apiVersion")).n == 0)
        return err_set(err, ERRC_PARSE, "merge failed: error loading %s: no API version specified", path);
    return 0;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

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

    for (size_t i = 0; i < l->n;) {
        struct value_list versions = VALUE_LIST_INIT(l->arena);
        struct str name = l->items[i].name;

        for (; i < l->n && str_eq(l->items[i].name, name); i++)
            value_list_add(&versions, l->items[i].entry);
        value_set(entries, name, value_list_done(&versions));
    }
    return entries;
}

/* json.Indent(): what is printed without blanks gets lines, two blanks a level. */
static void indent_json(struct str compact, struct buf *out)
{
    size_t level = 0;
    bool in_string = false;

    for (size_t i = 0; i < compact.n; i++) {
        char c = compact.p[i], next = i + 1 < compact.n ? compact.p[i + 1] : '\0';
        bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';

        if (in_string || c == '"') {
            in_string = in_string ? c != '"' : true;
            buf_addc(out, c);
            if (in_string && c == '\\')
                buf_addc(out, compact.p[++i]);
            continue;
        }
        if (closes && compact.p[i - 1] != (c == '}' ? '{' : '[')) {
            buf_addc(out, '\n');
            buf_add_repeat(out, ' ', 2 * --level);
        }
        buf_addc(out, c);
        if (c == ':')
            buf_addc(out, ' ');
        if (c == ',' || (opens && next != '}' && next != ']')) {
            level += opens;
            buf_addc(out, '\n');
            buf_add_repeat(out, ' ', 2 * level);
        }
    }
}

static int print_entry_json(const struct listed *item, struct buf *out, struct err **err)
{
    int r = metadata_print_json(item->md, out, err);

    buf_truncate(out, out->n - 1); /* the brace */
    for (size_t i = 0; i < ARRAY_SIZE(own) && r >= 0; i++) {
        struct value v = value_get(item->entry, str_from(own[i]));

        if (value_is_null(v) && i > 0)
            continue;
        buf_addf(out, ",\"%s\":", own[i]);
        r = json_print(v, JSON_ESCAPE_HTML, out, err);
    }
    buf_addc(out, '}');
    return r;
}

/* Go prints the fields of structs in their order, and sorts keys of maps. */
static int print_json(struct listing *l, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf compact = BUF_INIT(INDEX_TEXT_MAX);
    int r = json_print(time_text(l->arena, clock_wall()), 0, out, err);

    buf_adds(&compact, "{\"apiVersion\":\"v1\",\"generated\":");
    buf_addstr(&compact, buf_str(out));
    buf_adds(&compact, ",\"entries\":{");
    for (size_t i = 0; i < l->n && r >= 0; i++) {
        if (i == 0 || !str_eq(l->items[i].name, l->items[i - 1].name)) {
            buf_adds(&compact, i ? "]," : "");
            json_print_string(l->items[i].name, JSON_ESCAPE_HTML, &compact);
            buf_adds(&compact, ":[");
        } else {
            buf_addc(&compact, ',');
        }
        r = print_entry_json(&l->items[i], &compact, err);
    }
    buf_adds(&compact, l->n ? "]}}" : "}}");
    buf_clear(out);
    if (r >= 0)
        indent_json(buf_str(&compact), out);
    return r < 0 ? r : buf_check(out, err);
}

static int print_index(struct listing *l, bool json, struct buf *out, struct err **err)
{
    struct value index = value_new_map(l->arena);

    if (l->n > 1)
        qsort(l->items, l->n, sizeof(*l->items), compare);
    if (json)
        return print_json(l, out, err);
    value_setz(index, "apiVersion", VALUE_STR("v1"));
    value_setz(index, "generated", time_text(l->arena, clock_wall()));
    value_setz(index, "entries", entries_value(l));
    return yml_print(index, out, err);
}

/* helm makes the file that is to be merged when it is absent, if it can. */
static int read_merged(struct listing *l, const struct registry_index_options *o, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    struct listing nothing = { .arena = l->arena };
    int r;

    if (fs_exists(o->merge)) {
        r = fs_read_path(o->merge, &text, err);
        return r < 0 ? err_wrap(err, r, "merge failed")
                     : merge(l, o->merge, arena_dup(l->arena, buf_str(&text)), err);
    }
    r = print_index(&nothing, o->json, &text, err);
    if (r >= 0)
        IGNORE_ERROR(fs_write_file(o->merge, buf_str(&text), 0644, NULL));
    return r;
}

int registry_index_folder(const char *folder, const struct registry_index_options *o, struct buf *out,
                          struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    struct listing l = { .arena = a };
    int r = add_folder(&l, folder, o->url, true, err);

    if (r >= 0 && o->merge)
        r = read_merged(&l, o, err);
    return r < 0 ? r : print_index(&l, o->json, out, err);
}

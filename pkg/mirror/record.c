/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "mirror/mirror_int.h"
#include "semver/semver.h"
#include "json/json.h"

#define PARTS_MAX 8 /* of a path */

/* ---- names ---------------------------------------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return ascii_is_alnum(c) || c == '.' || c == '_' || c == '-';
}

static bool is_part(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_name_byte(s.p[i]))
            return false;
    return s.n > 0 && ascii_is_alnum(s.p[0]);
}

bool mirror_path_valid(struct str path)
{
    struct str part, rest = path;
    int parts = 0;

    if (path.n == 0 || path.n > MIRROR_NAME_MAX || str_has_prefix(path, STR("v2/")))
        return false; /* /v2/ is the distribution API's */
    while (str_split(&rest, '/', &part))
        if (!is_part(part) || ++parts > PARTS_MAX)
            return false;
    return true;
}

bool mirror_tag_valid(struct str tag)
{
    for (size_t i = 0; i < tag.n; i++)
        if (!is_name_byte(tag.p[i]))
            return false;
    return tag.n > 0 && tag.n <= MIRROR_TAG_MAX && tag.p[0] != '.' && tag.p[0] != '-';
}

/* ---- one record ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *key;
    size_t offset;
    bool is_digest;
} fields[] = {
    { "name", offsetof(struct mirror_record, name), false },
    { "version", offsetof(struct mirror_record, version), false },
    { "archive", offsetof(struct mirror_record, archive), true },
    { "provenance", offsetof(struct mirror_record, provenance), true },
    { "manifest", offsetof(struct mirror_record, manifest), true },
    { "mediaType", offsetof(struct mirror_record, media_type), false },
    { "source", offsetof(struct mirror_record, source), false },
    { "accepted", offsetof(struct mirror_record, accepted), true },
};

static struct str *field(struct mirror_record *r, size_t i)
{
    return (struct str *)(void *)((char *)r + fields[i].offset);
}

int mirror_record_read(struct value v, struct mirror_record *ret, struct err **err)
{
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        struct str s = value_str(value_get(v, str_from(fields[i].key)));

        if (fields[i].is_digest && s.n > 0 && !mirror_digest_valid(s))
            return err_set(err, ERRC_PARSE, "%s is no digest", fields[i].key);
        *field(ret, i) = s;
    }
    ret->size = value_int(value_getz(v, "size"), 0);
    ret->entry = value_getz(v, "entry");
    ret->manifests = value_getz(v, "manifests");
    for (struct value_iter it = value_iter(ret->manifests); value_next(&it);)
        if (!mirror_digest_valid(value_str(it.v)))
            return err_set(err, ERRC_PARSE, "manifests has what is no digest");
    if (ret->manifest.n == 0 || (ret->archive.n > 0) != value_is_map(ret->entry))
        return err_set(err, ERRC_PARSE, "a damaged record");
    return 0;
}

struct value mirror_record_value(struct arena *a, const struct mirror_record *record)
{
    struct mirror_record copy = *record;
    struct value v = value_new_map(a);

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (field(&copy, i)->n > 0)
            value_set(v, str_from(fields[i].key), value_from_str(*field(&copy, i)));
    if (record->size > 0)
        value_setz(v, "size", value_from_int(record->size));
    if (value_is_map(record->entry))
        value_setz(v, "entry", record->entry);
    if (value_len(record->manifests) > 0)
        value_setz(v, "manifests", record->manifests);
    return v;
}

static char *record_file(struct mirror *m, struct str path, struct str tag)
{
    return mirror_file(m, "charts/%.*s/@%.*s", STR_ARG(path), STR_ARG(tag));
}

int mirror_write_record(struct mirror *m, const struct mirror_record *record, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIRROR_RECORD_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIRROR_RECORD_MAX);
    CLEANUP(free_ptr) char *file = record_file(m, record->path, record->tag);
    int r = json_print(mirror_record_value(a, record), 0, &text, err);

    return r < 0 ? r : mirror_write_file(m, file, buf_str(&text), err);
}

static int read_record(struct mirror *m, struct arena *a, struct str path, struct str tag,
                       struct mirror_record *ret, struct err **err)
{
    CLEANUP(free_ptr) char *file = record_file(m, path, tag);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIRROR_RECORD_MAX);
    struct mirror_record record = { .path = arena_dup(a, path), .tag = arena_dup(a, tag) };
    struct value v;
    int r = fs_read_file(file, &text, err);

    if (r == 0)
        r = json_parse(a, arena_dup(a, buf_str(&text)), NULL, &v, err);
    if (r == 0)
        r = mirror_record_read(v, &record, err);
    if (r == 0)
        *ret = record;
    return r;
}

int mirror_find(struct mirror *m, struct arena *a, struct str path, struct str tag, struct mirror_record *ret,
                struct err **err)
{
    struct err *cause = NULL;
    int r = -ERRC_NOT_FOUND;

    if (mirror_path_valid(path) && mirror_tag_valid(tag))
        r = read_record(m, a, path, tag, ret, &cause);
    if (r == -ERRC_NOT_FOUND) {
        err_free(cause);
        return err_set(err, ERRC_NOT_FOUND, "the mirror has no %.*s %.*s", STR_ARG(path), STR_ARG(tag));
    }
    if (r < 0 && err)
        *err = TAKE(cause);
    err_free(cause);
    return r < 0 ? err_wrap(err, r, "%.*s %.*s", STR_ARG(path), STR_ARG(tag)) : 0;
}

int mirror_look_up(struct mirror *m, struct arena *a, struct str path, struct str tag,
                   struct mirror_record *ret, bool *ret_found, struct err **err)
{
    int r = mirror_find(m, a, path, tag, ret, err);

    if (r < 0 && r != -ERRC_NOT_FOUND)
        return r;
    *ret_found = r == 0;
    err_clear(err);
    return 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------------ */

struct str_list {
    struct arena *arena;
    struct str *items;
    size_t n, cap;
};

static void list_add(struct str_list *l, struct str s)
{
    if (l->n == l->cap) {
        l->items =
            arena_grow(l->arena, l->items, l->cap * sizeof(*l->items), (l->cap * 2 + 16) * sizeof(*l->items));
        l->cap = l->cap * 2 + 16;
    }
    l->items[l->n++] = arena_dup(l->arena, s);
}

int mirror_tags(struct mirror *m, struct arena *a, struct str path, struct str **ret, size_t *ret_n,
                struct err **err)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "charts/%.*s", STR_ARG(path));
    struct str_list tags = { .arena = a };
    char **names = NULL;
    size_t n = 0;
    int r = 0;

    if (mirror_path_valid(path) && fs_is_dir(dir))
        r = fs_list_dir(dir, &names, &n, err);
    for (size_t i = 0; i < n; i++)
        if (names[i][0] == '@' && !str_has_suffix(str_from(names[i]), STR(".new")))
            list_add(&tags, str_from(names[i] + 1));
    if (names)
        fs_names_free(names, n);
    *ret = tags.items;
    *ret_n = tags.n;
    return r;
}

static int walk(struct mirror *m, struct str_list *l, struct str path, int depth, struct err **err)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "charts/%.*s", STR_ARG(path));
    bool has_tags = false;
    char **names;
    size_t n;
    int r = fs_list_dir(dir, &names, &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        has_tags = has_tags || names[i][0] == '@';
    if (has_tags)
        list_add(l, path);
    for (size_t i = 0; i < n && r == 0 && depth < PARTS_MAX; i++) {
        CLEANUP(free_ptr) char *below = fs_join(dir, names[i]);

        if (names[i][0] != '@' && is_part(str_from(names[i])) && fs_is_dir(below))
            r = walk(m, l, arena_printf(l->arena, "%.*s%s%s", STR_ARG(path), path.n ? "/" : "", names[i]),
                     depth + 1, err);
    }
    fs_names_free(names, n);
    return r;
}

static int compare_str(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

int mirror_paths(struct mirror *m, struct arena *a, struct str **ret, size_t *ret_n, struct err **err)
{
    CLEANUP(free_ptr) char *dir = mirror_file(m, "charts");
    struct str_list paths = { .arena = a };
    int r = fs_is_dir(dir) ? walk(m, &paths, STR(""), 0, err) : 0;

    if (r < 0)
        return r;
    if (paths.n > 1)
        qsort(paths.items, paths.n, sizeof(*paths.items), compare_str);
    *ret = paths.items;
    *ret_n = paths.n;
    return 0;
}

/* As Helm sorts an index: from new to old, what is no version last. */
static int compare_records(const void *x, const void *y)
{
    const struct mirror_record *a = x, *b = y;
    struct semver va = { 0 }, vb = { 0 };
    bool has_a = a->version.n && semver_parse(a->version, &va, NULL) == 0;
    bool has_b = b->version.n && semver_parse(b->version, &vb, NULL) == 0;
    int c;

    if (has_a != has_b)
        return has_a ? -1 : 1;
    c = has_a ? semver_cmp(&vb, &va) : 0;
    return c ? c : str_cmp(a->tag, b->tag);
}

int mirror_records(struct mirror *m, struct arena *a, struct str path, struct mirror_record **ret,
                   size_t *ret_n, struct err **err)
{
    struct mirror_record *records;
    struct str *tags;
    size_t n;
    int r = mirror_tags(m, a, path, &tags, &n, err);

    if (r < 0)
        return r;
    records = ARENA_ARRAY(a, struct mirror_record, n + 1);
    for (size_t i = 0; i < n; i++) {
        r = mirror_find(m, a, path, tags[i], &records[i], err);
        if (r < 0)
            return r;
    }
    if (n > 1)
        qsort(records, n, sizeof(*records), compare_records);
    *ret = records;
    *ret_n = n;
    return 0;
}

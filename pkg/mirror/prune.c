/* SPDX-License-Identifier: Apache-2.0 */
/* Versions that go, and objects that nothing names any more. Under the lock nobody adds: what is marked stays what is named.
 *
 * An archive that is not wanted any more may have brought pieces of others. Such a pack becomes ".pieces" first, and only
 * ".pieces" are deleted: whatever is left behind by a kill, a ".pack" can always be put together. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "mirror/mirror_int.h"

#define PRUNE_MEMORY_MAX (256 * MIB)
#define PACK_MEMORY_MAX (4 * MIRROR_TAR_MAX)

/* ---- versions ----------------------------------------------------------------------------------------------------------- */

static int remove_locked(struct mirror *m, struct str path, struct str tag, struct err **err)
{
    CLEANUP(free_ptr) char *file = mirror_file(m, "charts/%.*s/@%.*s", STR_ARG(path), STR_ARG(tag));

    if (unlink(file) < 0)
        return errno == ENOENT
                   ? err_set(err, ERRC_NOT_FOUND, "the mirror has no %.*s %.*s", STR_ARG(path), STR_ARG(tag))
                   : err_errno(err, errno, "%s", file);
    for (; path.n > 0; path = str_dirname(path)) {
        CLEANUP(free_ptr) char *dir = mirror_file(m, "charts/%.*s", STR_ARG(path));

        if (rmdir(dir) < 0)
            break;
    }
    return 0;
}

int mirror_remove(struct mirror *m, struct str path, struct str tag, struct err **err)
{
    int r;

    if (!mirror_path_valid(path) || !mirror_tag_valid(tag))
        return err_set(err, ERRC_NOT_FOUND, "the mirror has no %.*s %.*s", STR_ARG(path), STR_ARG(tag));
    r = mirror_lock(m, err);
    if (r < 0)
        return r;
    r = remove_locked(m, path, tag, err);
    mirror_unlock(m);
    return r;
}

static int remove_path(struct mirror *m, struct arena *a, struct str path, size_t *n_removed,
                       struct err **err)
{
    struct str *tags;
    size_t n;
    int r = mirror_tags(m, a, path, &tags, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        r = mirror_remove(m, path, tags[i], err);
        *n_removed += r == 0;
    }
    return r;
}

int mirror_remove_folder(struct mirror *m, struct str folder, size_t *ret_n, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(PRUNE_MEMORY_MAX);
    struct str *paths;
    size_t n, removed = 0;
    int r = mirror_paths(m, a, &paths, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        if (str_eq(str_dirname(paths[i]), folder))
            r = remove_path(m, a, paths[i], &removed, err);
    if (r == 0)
        *ret_n = removed;
    return r;
}

/* ---- what is named ------------------------------------------------------------------------------------------------------- */

struct pruner {
    struct mirror *m;
    struct map named;  /* digests that a record or manifest names */
    struct map donors; /* digests of packs that a pack which stays takes pieces from */
    int64_t before;    /* younger objects stay */
    struct mirror_prune_figures figures;
};

static int mark_manifest(struct pruner *p, struct str digest, int depth, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(PRUNE_MEMORY_MAX);
    struct mirror_named *named;
    struct value v;
    size_t n;
    int r;

    map_put(&p->named, digest, p);
    if (depth > MIRROR_NESTED_MAX)
        return err_set(err, ERRC_LIMIT, "manifest %.*s: more than %d indexes in each other", STR_ARG(digest),
                       MIRROR_NESTED_MAX);
    r = mirror_read_manifest(p->m, a, digest, &v, err);
    if (r < 0)
        return r;
    named = mirror_manifest_names(a, v, &n);
    for (size_t i = 0; i < n && r == 0; i++) {
        map_put(&p->named, named[i].digest, p);
        if (named[i].is_manifest)
            r = mark_manifest(p, named[i].digest, depth + 1, err);
    }
    return r;
}

static int mark_record(struct pruner *p, const struct mirror_record *record, struct err **err)
{
    int r = mark_manifest(p, record->manifest, 0, err);

    if (record->archive.n > 0)
        map_put(&p->named, record->archive, p);
    if (record->provenance.n > 0)
        map_put(&p->named, record->provenance, p);
    for (struct value_iter it = value_iter(record->manifests); r == 0 && value_next(&it);)
        r = mark_manifest(p, value_str(it.v), 0, err);
    return r;
}

static int mark_path(struct pruner *p, struct str path, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(PRUNE_MEMORY_MAX);
    struct mirror_record *records;
    size_t n;
    int r = mirror_records(p->m, a, path, &records, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        r = mark_record(p, &records[i], err);
        if (r < 0)
            r = err_wrap(err, r, "%.*s %.*s", STR_ARG(path), STR_ARG(records[i].tag));
    }
    return r;
}

static int mark_all(struct pruner *p, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(PRUNE_MEMORY_MAX);
    struct str *paths;
    size_t n;
    int r = mirror_paths(p->m, a, &paths, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        r = mark_path(p, paths[i], err);
    return r;
}

/* ---- the files of objects/ ------------------------------------------------------------------------------------------------ */

struct object {
    struct str digest, suffix; /* "", ".pack", ".pieces" */
    const char *path;
    int64_t size;
    bool stays; /* is named, or young */
};
typedef int (*object_fn)(struct pruner *p, const struct object *o, struct err **err);

static int each_in(struct pruner *p, const char *dir, object_fn fn, struct err **err)
{
    char **names;
    size_t n;
    int r = fs_list_dir(dir, &names, &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r == 0; i++) {
        CLEANUP(free_ptr) char *path = fs_join(dir, names[i]);
        struct str name = str_from(names[i]);
        struct object o = { .digest = str_sub(name, 0, MIN(name.n, (size_t)SHA256_HEX - 1)), .path = path };
        struct stat st;

        o.suffix = str_sub(name, o.digest.n, name.n);
        if (!mirror_digest_valid(o.digest) || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        o.size = st.st_size;
        o.stays = map_has(&p->named, o.digest) || st.st_mtim.tv_sec > p->before;
        r = fn(p, &o, err);
    }
    fs_names_free(names, n);
    return r;
}

static int each_object(struct pruner *p, object_fn fn, struct err **err)
{
    CLEANUP(free_ptr) char *objects = mirror_file(p->m, "objects");
    char **names;
    size_t n;
    int r;

    if (!fs_is_dir(objects))
        return 0;
    r = fs_list_dir(objects, &names, &n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r == 0; i++) {
        CLEANUP(free_ptr) char *dir = fs_join(objects, names[i]);

        if (fs_is_dir(dir))
            r = each_in(p, dir, fn, err);
    }
    fs_names_free(names, n);
    return r;
}

static int mark_donors(struct pruner *p, const struct object *o, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = NULL;
    struct str *sources;
    size_t n;
    int r;

    if (!o->stays || !str_eq(o->suffix, STR(".pack")))
        return 0;
    a = arena_new(PACK_MEMORY_MAX);
    r = mirror_pack_sources(p->m, a, o->digest, &sources, &n, err);
    for (size_t i = 0; i < n && r == 0; i++)
        map_put(&p->donors, sources[i], p);
    return r;
}

static int demote(struct pruner *p, const struct object *o, struct err **err)
{
    CLEANUP(free_ptr) char *pieces = NULL;

    if (o->stays || !str_eq(o->suffix, STR(".pack")))
        return 0;
    pieces = mirror_object_path(p->m, o->digest, ".pieces");
    return rename(o->path, pieces) < 0 ? err_errno(err, errno, "%s", o->path) : 0;
}

static int sweep(struct pruner *p, const struct object *o, struct err **err)
{
    CLEANUP(free_ptr) char *cached = NULL;
    bool is_pieces = str_eq(o->suffix, STR(".pieces"));

    if (is_pieces ? map_has(&p->donors, o->digest) : o->stays)
        return 0;
    if (unlink(o->path) < 0)
        return err_errno(err, errno, "%s", o->path);
    p->figures.objects++;
    p->figures.bytes += o->size;
    cached = mirror_file(p->m, "cache/%.*s", STR_ARG(o->digest));
    if (!map_has(&p->named, o->digest))
        unlink(cached);
    return 0;
}

static int prune_locked(struct pruner *p, struct err **err)
{
    int r = mark_all(p, err);

    if (r == 0)
        r = each_object(p, mark_donors, err);
    if (r < 0)
        return err_wrap(err, r, "nothing is deleted");
    r = each_object(p, demote, err);
    if (r == 0)
        r = each_object(p, sweep, err);
    p->m->used = -1;
    return r;
}

int mirror_prune(struct mirror *m, int64_t min_age_s, struct mirror_prune_figures *ret, struct err **err)
{
    struct pruner p = { .m = m, .before = clock_wall().s - min_age_s };
    int r = mirror_lock(m, err);

    if (r < 0)
        return r;
    r = prune_locked(&p, err);
    mirror_unlock(m);
    map_done(&p.named);
    map_done(&p.donors);
    if (r == 0)
        *ret = p.figures;
    return r;
}

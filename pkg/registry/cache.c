/* SPDX-License-Identifier: Apache-2.0 */
/* helm's cache of a repository (pkg/repo/v1/chartrepo.go DownloadIndexFile): <name>-index.yaml and <name>-charts.txt, with the
 * database beside them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

static char *cache_path(const char *cache, struct str name, const char *suffix)
{
    return xasprintf("%s/" STR_FMT "-%s", cache, STR_ARG(name), suffix);
}

static int compare_names(const void *x, const void *y)
{
    const struct str *a = x, *b = y;

    return str_cmp(*a, *b);
}

/* For helm's completion. */
static int write_names(struct registry_db *d, const char *cache, struct str name,
                       const struct registry_loaded *loaded, struct arena *a, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    CLEANUP(free_ptr) char *path = cache_path(cache, name, "charts.txt");
    struct str *names = loaded->changed;
    size_t n = loaded->n_changed;
    int r = 0;

    if (loaded->all)
        qsort(names, n, sizeof(*names), compare_names);
    else
        r = registry_charts(d, name, a, &names, &n, err);
    for (size_t i = 0; i < n && r == 0; i++)
        buf_addf(&text, STR_FMT "\n", STR_ARG(names[i]));
    if (r == 0)
        r = buf_check(&text, err);
    return r < 0 ? r : fs_write_cache(path, buf_str(&text), 0644, err);
}

/* 1: loaded; 0: nothing new. */
static int fetch_and_load(struct registry_db *d, const struct registry_source *s,
                          const struct registry_fetched *known, const char *path, struct arena *a,
                          struct registry_loaded *ret, struct err **err)
{
    struct registry_load load = { .repository = s->name, .path = path };
    int r = registry_fetch_index(s, a, known, path, &load.fetched, err);

    if (r <= 0)
        return r;
    load.fetched.index_stamp = registry_file_stamp(a, path); /* a rename does not change it */
    r = registry_index_load(d, &load, a, ret, err);
    return r < 0 ? r : 1;
}

static int take_new(struct registry_db *d, const char *cache, struct str name, const char *path,
                    const char *fresh, const struct registry_loaded *loaded, struct arena *a,
                    struct err **err)
{
    int r = write_names(d, cache, name, loaded, a, err);

    if (r < 0)
        return r;
    return rename(fresh, path) < 0 ? err_errno(err, errno, "%s", path) : 0;
}

int registry_cache_update(struct registry_db *d, const char *cache, const struct registry_source *s,
                          const struct registry_meanwhile *meanwhile, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    CLEANUP(free_ptr) char *path = cache_path(cache, s->name, "index.yaml");
    CLEANUP(free_ptr) char *fresh = xasprintf("%s.new-%08x", path, arc4random());
    struct registry_fetched known;
    struct registry_loaded loaded;
    bool found, same;
    int r = registry_fetched_find(d, s->name, a, &known, &found, err);

    if (r < 0)
        return r;
    same = found && known.index_stamp.n > 0 && str_eq(known.index_stamp, registry_file_stamp(a, path));
    if (!found && !str_has_prefix(s->url, STR("file://"))) {
        r = index_fetch_and_load(d, s, fresh, meanwhile, a, &loaded, err);
    } else {
        if (meanwhile)
            meanwhile->fn(meanwhile->ctx);
        r = fetch_and_load(d, s, same ? &known : NULL, fresh, a, &loaded, err);
    }
    if (r == 1)
        r = take_new(d, cache, s->name, path, fresh, &loaded, a, err);
    unlink(fresh);
    return r;
}

int registry_cache_open(struct registry_db *d, const char *cache, struct str name, struct str url,
                        struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(INDEX_TEXT_MAX);
    CLEANUP(free_ptr) char *path = cache_path(cache, name, "index.yaml");

    return registry_index_follow(d, name, url, path, a, err);
}

int registry_cache_remove(struct registry_db *d, const char *cache, struct str name, struct err **err)
{
    CLEANUP(free_ptr) char *index = cache_path(cache, name, "index.yaml");
    CLEANUP(free_ptr) char *names = cache_path(cache, name, "charts.txt");

    unlink(names);
    if (unlink(index) < 0 && errno != ENOENT)
        return err_errno(err, errno, "can't remove index file %s", index);
    return registry_forget(d, name, err);
}

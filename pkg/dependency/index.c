/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "dependency/dependency_int.h"

static bool same_url(struct arena *a, struct str one, struct str other)
{
    return str_eq(registry_normalize_url(a, one), registry_normalize_url(a, other));
}

const struct registry_entry *dependency_entry_find(const struct dependency_run *run, struct str repository)
{
    struct str name = STR_NONE;

    if (str_has_prefix(repository, STR("@")))
        name = str_sub(repository, 1, repository.n);
    else if (str_has_prefix(repository, STR("alias:")))
        name = str_trim_prefix(repository, STR("alias:"));
    for (size_t i = 0; i < run->n_entries; i++) {
        const struct registry_entry *e = &run->entries[i];

        if (name.p ? str_eq(e->name, name) : same_url(run->arena, e->url, repository))
            return e;
    }
    return NULL;
}

/* Repositories that Helm does not manage are cached under the digest of their URL. */
static struct str unmanaged_name(struct arena *a, struct str url)
{
    char hex[SHA256_HEX];

    sha256_hex(url, hex);
    return arena_printf(a, "helm-manager-%s", hex);
}

int dependency_index_get(struct dependency_run *run, struct str url, struct dependency_index **ret,
                         struct err **err)
{
    const struct registry_entry *known = dependency_entry_find(run, url);
    struct dependency_index *x;
    int r;

    for (size_t i = 0; i < run->n_indexes; i++)
        if (same_url(run->arena, run->indexes[i]->entry.url, url)) {
            *ret = run->indexes[i];
            return 0;
        }
    x = ARENA_NEW(run->arena, struct dependency_index);
    x->managed = known != NULL;
    x->entry = known ? *known : (struct registry_entry){ .url = url };
    x->name = known ? known->name : unmanaged_name(run->arena, url);
    r = registry_entry_source(run->job->locator, run->arena, &x->entry, &x->access, err);
    if (r < 0)
        return r;
    run->indexes =
        arena_grow(run->arena, run->indexes, run->n_indexes * sizeof(x), (run->n_indexes + 1) * sizeof(x));
    run->indexes[run->n_indexes++] = x;
    *ret = x;
    return 0;
}

static char *cache_path(const struct dependency_run *run, const struct dependency_index *x)
{
    CLEANUP(free_ptr) char *file = xasprintf(STR_FMT "-index.yaml", STR_ARG(x->name));

    return fs_join(run->job->locator->cache, file);
}

/* ---- fetching ---- */

static int fetch(struct dependency_run *run, struct dependency_index *x, struct err **err)
{
    CLEANUP(free_ptr) char *path = cache_path(run, x), *fresh = xasprintf("%s.new-%08x", path, arc4random());
    struct registry_fetched ignored;
    int r = fs_make_dirs(run->job->locator->cache, 0755, err);

    if (r >= 0 && !fs_path_is_below(x->name))
        r = err_set(err, ERRC_INVALID, "repository name \"" STR_FMT "\" is no file name", STR_ARG(x->name));
    if (r >= 0)
        r = registry_fetch_index(&x->access.source, run->arena, NULL, fresh, &ignored, err);
    if (r >= 0 && rename(fresh, path) < 0)
        r = err_errno(err, errno, "%s", path);
    unlink(fresh);
    return r;
}

void dependency_index_refresh(struct dependency_run *run, struct dependency_index *x)
{
    static const struct str frame = STR("cannot be reached: ");
    CLEANUP(buf_done) struct buf shown = BUF_INIT(64 * KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct str why;
    size_t at;

    utf8_quote(x->managed ? x->name : x->entry.url, &shown);
    if (fetch(run, x, &err) >= 0) {
        dependency_say(run, "...Successfully got an update from the %s chart repository", buf_z(&shown));
        return;
    }
    why = str_from(err_message(err));
    at = str_find(why, frame);
    if (at != STR_NPOS)
        why = str_sub(why, at + frame.n, why.n);
    if (x->managed)
        dependency_say(run,
                       "...Unable to get an update from the %s chart repository (" STR_FMT "):\n\t" STR_FMT,
                       buf_z(&shown), STR_ARG(x->entry.url), STR_ARG(why));
    else
        dependency_say(run, "...Unable to get an update from the %s chart repository:\n\t" STR_FMT,
                       buf_z(&shown), STR_ARG(why));
}

void dependency_refresh_all(struct dependency_run *run)
{
    if (run->n_entries == 0)
        return;
    dependency_say(run, "Hang tight while we grab the latest from your chart repositories...");
    for (size_t i = 0; i < run->n_entries; i++) {
        struct dependency_index *x;

        if (dependency_index_get(run, run->entries[i].url, &x, NULL) >= 0)
            dependency_index_refresh(run, x);
    }
    dependency_say(run, "Update Complete. \xe2\x8e\x88Happy Helming!\xe2\x8e\x88");
}

/* ---- looking things up ---- */

static int open_db(struct dependency_run *run, struct err **err)
{
    int r;

    if (run->db)
        return 0;
    r = fs_make_temp_dir("pintle-index", &run->temp, err);
    return r < 0 ? r : registry_db_open(run->temp, &run->db, err);
}

static int load(struct dependency_run *run, struct dependency_index *x, struct err **err)
{
    CLEANUP(free_ptr) char *path = cache_path(run, x);
    struct registry_load request = { .repository = x->name, .path = path, .fetched.url = x->entry.url };
    struct registry_loaded loaded;
    int r = open_db(run, err);

    if (r < 0 || x->loaded)
        return r;
    if (!fs_exists(path))
        r = err_set(err, ERRC_NOT_FOUND, "open %s: no such file or directory", path);
    if (r >= 0)
        r = registry_index_load(run->db, &request, run->arena, &loaded, err);
    if (r >= 0)
        x->loaded = true;
    return r;
}

int dependency_index_versions(struct dependency_run *run, struct dependency_index *x, struct str chart,
                              struct registry_version **ret, size_t *ret_n, struct err **err)
{
    int r = load(run, x, err);

    return r < 0 ? r : registry_versions(run->db, x->name, chart, run->arena, ret, ret_n, err);
}

int dependency_index_pick(struct dependency_run *run, struct dependency_index *x, struct str chart,
                          bool (*fits)(const void *ctx, struct str version), const void *ctx,
                          struct registry_version *ret, struct err **err)
{
    struct registry_version *all;
    size_t n;
    int r = dependency_index_versions(run, x, chart, &all, &n, err);

    for (size_t i = 0; i < n && r >= 0; i++) {
        if (!fits(ctx, all[i].version))
            continue;
        r = registry_versions_load(run->db, x->name, run->arena, &all[i], 1, err);
        if (r < 0 || value_len(value_getz(all[i].entry, "urls")) == 0)
            continue;
        *ret = all[i];
        return 1;
    }
    return MIN(r, 0);
}

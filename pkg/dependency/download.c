/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "dependency/dependency_int.h"
#include "semver/semver.h"

struct download {
    struct dependency_run *run;
    const char *charts, *temp;
    struct str *done; /* URLs, in the arena */
    size_t n_done, cap;
};

static int save(const struct download *d, struct str file, struct str bytes, struct err **err)
{
    CLEANUP(free_ptr) char *name = str_dup(file), *path = fs_join(d->temp, name);

    if (!fs_path_is_below(file) || str_find_char(file, '/') != STR_NPOS)
        return err_set(err, ERRC_INVALID, "\"" STR_FMT "\" is no file name", STR_ARG(file));
    return fs_write_file(path, bytes, 0644, err);
}

static int parse_constraint(const struct metadata_dependency *dep, struct semver_constraint **ret,
                            struct err **err)
{
    int r = semver_constraint_parse(dep->version, ret, err);

    return r < 0 ? err_wrap(err, r, "dependency " STR_FMT " has an invalid version/constraint format",
                            STR_ARG(dep->name))
                 : r;
}

/* ---- what is in charts/ already ---- */

/* Is there a chart of that name, and does it fit? *ret_misfit says what does not, which is kept for the end. */
static int check_here(const struct download *d, const struct metadata_dependency *dep, struct err **misfit,
                      struct err **err)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(semver_constraint_free) struct semver_constraint *constraint = NULL;
    CLEANUP(free_ptr) char *name = str_dup(dep->name), *path = fs_join(d->charts, name);
    struct semver v;
    struct str have;
    int r;

    dependency_say(d->run,
                   "Dependency " STR_FMT
                   " did not declare a repository. Assuming it exists in the charts directory",
                   STR_ARG(dep->name));
    r = chart_load_dir(path, d->run->job->log, &c, err);
    if (r < 0)
        return err_wrap(err, r, "unable to load chart '%s'", path);
    r = parse_constraint(dep, &constraint, err);
    if (r < 0)
        return r;
    have = chart_metadata(c)->version;
    r = semver_parse(have, &v, err);
    if (r < 0)
        return err_wrap(err, r, "invalid version " STR_FMT " for dependency " STR_FMT, STR_ARG(dep->version),
                        STR_ARG(dep->name));
    if (!semver_constraint_check(constraint, &v))
        return err_set(misfit, ERRC_INVALID,
                       "dependency " STR_FMT " at version " STR_FMT
                       " does not satisfy the constraint " STR_FMT,
                       STR_ARG(dep->name), STR_ARG(have), STR_ARG(dep->version));
    return 0;
}

/* ---- folders ---- */

static int pack_folder(const struct download *d, struct metadata_dependency *dep, struct err **err)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(semver_constraint_free) struct semver_constraint *constraint = NULL;
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_UNPACKED_MAX);
    const struct metadata *md;
    struct semver v;
    const char *path;
    int r;

    if (d->run->job->debug)
        dependency_say(d->run, "Archiving " STR_FMT " from repo " STR_FMT, STR_ARG(dep->name),
                       STR_ARG(dep->repository));
    r = dependency_local_path(d->run, dep->repository, &path, err);
    if (r >= 0)
        r = chart_load_dir(path, d->run->job->log, &c, err);
    if (r >= 0)
        r = parse_constraint(dep, &constraint, err);
    if (r < 0)
        return r;
    md = chart_metadata(c);
    r = semver_parse(md->version, &v, err);
    if (r < 0)
        return r;
    if (!semver_constraint_check(constraint, &v))
        return err_set(err, ERRC_INVALID, "can't get a valid version for dependency " STR_FMT,
                       STR_ARG(dep->name));
    r = chart_pack(c, STR_NONE, STR_NONE, &packed, err);
    if (r < 0)
        return r;
    dep->version = arena_dup(d->run->arena, md->version);
    return save(
        d, arena_printf(d->run->arena, STR_FMT "-" STR_FMT ".tgz", STR_ARG(md->name), STR_ARG(md->version)),
        buf_str(&packed), err);
}

/* ---- servers ---- */

static bool is_done(const struct download *d, struct str url)
{
    for (size_t i = 0; i < d->n_done; i++)
        if (str_eq(d->done[i], url))
            return true;
    return false;
}

static void remember(struct download *d, struct str url)
{
    if (d->n_done == d->cap) {
        size_t larger = d->cap ? 2 * d->cap : 16;

        d->done = arena_grow(d->run->arena, d->done, d->cap * sizeof(*d->done), larger * sizeof(*d->done));
        d->cap = larger;
    }
    d->done[d->n_done++] = url;
}

/* false: it is there already. */
static bool announce(struct download *d, const struct metadata_dependency *dep, struct str url)
{
    bool done = is_done(d, url);

    dependency_say(d->run, "%s " STR_FMT " from repo " STR_FMT, done ? "Already downloaded" : "Downloading",
                   STR_ARG(dep->name), STR_ARG(dep->repository));
    if (!done)
        remember(d, url);
    return !done;
}

static int fetch_from_registry(struct download *d, const struct metadata_dependency *dep, struct err **err)
{
    CLEANUP(registry_found_done) struct registry_found found = { 0 };
    struct str url = arena_printf(d->run->arena, STR_FMT "/" STR_FMT ":" STR_FMT, STR_ARG(dep->repository),
                                  STR_ARG(dep->name), STR_ARG(dep->version));
    int r;

    if (!announce(d, dep, url))
        return 0;
    r = registry_locate(d->run->job->locator, dep->name, dep->repository, dep->version, &found, err);
    if (r < 0)
        return err_wrap(err, r, "could not download " STR_FMT "/" STR_FMT, STR_ARG(dep->repository),
                        STR_ARG(dep->name));
    return save(d, found.file, buf_str(&found.archive), err);
}

static bool equals(const void *wanted, struct str version)
{
    const struct str *text = wanted;
    struct semver a, b;

    if (text->n == 0)
        return true;
    if (semver_parse(*text, &a, NULL) < 0)
        return str_eq(*text, version);
    return semver_parse(version, &b, NULL) >= 0 && semver_cmp(&a, &b) == 0 && str_eq(a.metadata, b.metadata);
}

static int find_version(struct download *d, const struct metadata_dependency *dep,
                        struct dependency_index **x, struct registry_version *ret, struct err **err)
{
    struct registry_version *all;
    size_t n = 0;
    int r = dependency_index_get(d->run, dep->repository, x, err);

    if (r >= 0)
        r = dependency_index_versions(d->run, *x, dep->name, &all, &n, err);
    if (r >= 0 && n == 0)
        r = err_set(err, ERRC_NOT_FOUND, "entry not found");
    if (r >= 0)
        r = dependency_index_pick(d->run, *x, dep->name, equals, &dep->version, ret, err);
    if (r == 0)
        r = err_set(err, ERRC_NOT_FOUND, "no matching version");
    return r < 0 ? err_wrap(err, r, "could not find ") : 0;
}

static int check_digest(const struct registry_version *v, struct str packed, struct err **err)
{
    char hex[SHA256_HEX];

    sha256_hex(packed, hex);
    if (v->digest.n == 0 || str_ieq(v->digest, str_from(hex)))
        return 0;
    return err_set(err, ERRC_DIGEST, "its sha256 is %s, the index says " STR_FMT, hex, STR_ARG(v->digest));
}

/* All urls are tried in order; the first one's failure is what is told. */
static int fetch_any(struct download *d, const struct dependency_index *x, const struct registry_version *v,
                     struct buf *out, struct str *ret_url, struct err **err)
{
    struct value urls = value_getz(v->entry, "urls");
    int first = -ERRC_NOT_FOUND;

    for (size_t i = 0; i < value_len(urls); i++) {
        struct str url = registry_resolve_url(d->run->arena, x->entry.url, value_str(value_at(urls, i)));
        CLEANUP(err_free) struct err *cause = NULL;
        int r;

        buf_clear(out);
        r = registry_fetch_url(&x->access.source, url, ARCHIVE_PACKED_MAX, out, &cause);
        if (r >= 0)
            r = check_digest(v, buf_str(out), &cause);
        if (r >= 0) {
            *ret_url = url;
            return 0;
        }
        if (i == 0 && err) {
            first = r;
            *err = TAKE(cause);
        }
    }
    return first;
}

static struct str file_of(struct str url)
{
    struct str path;

    str_split(&url, '?', &path);
    return str_basename(path);
}

static int fetch_from_index(struct download *d, const struct metadata_dependency *dep, struct err **err)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(ARCHIVE_PACKED_MAX), prov = BUF_INIT(PROVENANCE_MAX);
    struct registry_archive archive;
    struct provenance_verified signer;
    struct registry_version version;
    struct dependency_index *x;
    struct str url;
    int r = find_version(d, dep, &x, &version, err);

    if (r < 0)
        return r;
    url = registry_resolve_url(d->run->arena, x->entry.url,
                               value_str(value_at(value_getz(version.entry, "urls"), 0)));
    if (!announce(d, dep, url))
        return 0;
    archive = (struct registry_archive){ .url = url, .file = file_of(url), .reference = url };
    r = fetch_any(d, x, &version, &packed, &archive.url, err);
    archive.packed = buf_str(&packed);
    if (r == 0)
        r = registry_verify_archive(d->run->job->locator, &x->access.source, d->run->arena, &archive, &prov,
                                    &signer, err);
    if (r < 0)
        return err_wrap(err, r, "could not download " STR_FMT, STR_ARG(url));
    return save(d, archive.file, archive.packed, err);
}

/* ---- all of them ---- */

/* A failure in *err ends everything; one in *kept is said, and charts/ stays as it was. */
static int get_one(struct download *d, struct metadata_dependency *dep, struct err **kept, struct err **err)
{
    if (dep->repository.n == 0)
        return check_here(d, dep, kept, err);
    if (str_has_prefix(dep->repository, FILE_SCHEME))
        return pack_folder(d, dep, kept);
    if (str_has_prefix(dep->repository, OCI_SCHEME))
        return fetch_from_registry(d, dep, kept);
    return fetch_from_index(d, dep, kept);
}

static bool is_local(const struct metadata_dependency *deps, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (deps[i].repository.n == 0 && str_eq(deps[i].name, name))
            return true;
    return false;
}

static bool has_name(char **names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void move_in(const struct download *d, const char *name)
{
    CLEANUP(free_ptr) char *from = fs_join(d->temp, name), *to = fs_join(d->charts, name);
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    if (chart_load(from, d->run->job->log, &c, &err) < 0)
        dependency_say(d->run, "Could not verify %s for moving: %s (Skipping)", from, err_message(err));
    else if (rename(from, to) < 0)
        dependency_say(d->run, "Unable to move %s to charts dir %s (Skipping)", from, strerror(errno));
}

static void remove_outdated(const struct download *d, const struct metadata_dependency *deps, size_t n,
                            const char *name)
{
    CLEANUP(free_ptr) char *path = fs_join(d->charts, name);
    CLEANUP(chart_unref) struct chart *c = NULL;
    CLEANUP(err_free) struct err *err = NULL;

    if (fs_is_dir(path))
        return;
    if (chart_load(path, d->run->job->log, &c, &err) < 0)
        dependency_say(d->run, "Could not verify %s for deletion: %s (Skipping)", path, err_message(err));
    else if (!is_local(deps, n, chart_metadata(c)->name) && unlink(path) < 0)
        dependency_say(d->run, "Could not delete %s: %s (Skipping)", path, strerror(errno));
}

static int move_all(const struct download *d, const struct metadata_dependency *deps, size_t n,
                    struct err **err)
{
    char **fresh = NULL, **old = NULL;
    size_t n_fresh = 0, n_old = 0;
    int r = fs_list_dir(d->temp, &fresh, &n_fresh, err);

    if (r >= 0)
        r = fs_list_dir(d->charts, &old, &n_old, err);
    for (size_t i = 0; i < n_fresh && r >= 0; i++)
        move_in(d, fresh[i]);
    if (r >= 0)
        dependency_say(d->run, "Deleting outdated charts");
    for (size_t i = 0; i < n_old && r >= 0; i++)
        if (!has_name(fresh, n_fresh, old[i]))
            remove_outdated(d, deps, n, old[i]);
    fs_names_free(fresh, n_fresh);
    fs_names_free(old, n_old);
    return r;
}

static int get_all(struct download *d, struct metadata_dependency *deps, size_t n, struct err **err)
{
    struct err *kept = NULL;
    int r = 0;

    dependency_say(d->run, "Saving %zu charts", n);
    for (size_t i = 0; i < n && r >= 0; i++)
        r = get_one(d, &deps[i], &kept, err);
    if (!kept)
        return r < 0 ? r : move_all(d, deps, n, err);
    dependency_say(d->run, "Save error occurred:  %s", err_message(kept));
    if (err)
        *err = TAKE(kept);
    err_free(kept);
    return r;
}

int dependency_download(struct dependency_run *run, struct metadata_dependency *deps, size_t n,
                        struct err **err)
{
    CLEANUP(free_ptr) char *charts = fs_join(run->job->chart_path, "charts"), *clean = fs_clean(charts);
    CLEANUP(free_ptr)
    char *temp = xasprintf("%s/tmpcharts-%ld", run->job->chart_path, (long)getpid());
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);
    struct download d = { .run = run, .charts = clean, .temp = temp };
    int r;

    if (fs_exists(clean) && !fs_is_dir(clean)) {
        utf8_quote(str_from(clean), &quoted);
        return err_set(err, ERRC_INVALID, "%s is not a directory", buf_z(&quoted));
    }
    r = fs_make_dirs(clean, 0755, err);
    if (r >= 0)
        r = fs_make_dirs(temp, 0755, err);
    if (r >= 0)
        r = get_all(&d, deps, n, err);
    IGNORE_ERROR(fs_remove_tree(temp, NULL));
    return r;
}

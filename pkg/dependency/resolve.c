/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "dependency/dependency_int.h"
#include "semver/semver.h"

/* helm's internal/resolver */

int dependency_local_path(const struct dependency_run *run, struct str repository, const char **ret,
                          struct err **err)
{
    struct str text = str_trim_prefix(repository, FILE_SCHEME);
    CLEANUP(free_ptr) char *path = str_dup(text), *joined = NULL, *clean = NULL;
    struct stat st;

    joined = path[0] == '/' ? xstrdup(path) : fs_join(run->job->chart_path, path);
    clean = fs_clean(joined);
    if (stat(clean, &st) < 0) {
        if (errno == ENOENT)
            return err_set(err, ERRC_NOT_FOUND, "directory %s not found", clean);
        return fs_path_error(err, "stat", clean, errno);
    }
    *ret = arena_dupz(run->arena, str_from(clean));
    return 0;
}

struct resolution {
    struct dependency_run *run;
    const struct metadata_dependency *wanted;
    const struct semver_constraint *constraint;
    struct metadata_dependency *locked;
};

static bool satisfies(const void *constraint, struct str version)
{
    struct semver v;

    return semver_parse(version, &v, NULL) >= 0 && semver_constraint_check(constraint, &v);
}

/* As below: 1 resolved, 0 no version fits. */
static int resolve_folder(const struct resolution *r, struct err **err)
{
    CLEANUP(chart_unref) struct chart *c = NULL;
    const char *path;
    int rc = dependency_local_path(r->run, r->wanted->repository, &path, err);

    if (rc >= 0)
        rc = chart_load_dir(path, r->run->job->log, &c, err);
    if (rc < 0)
        return rc;
    if (!satisfies(r->constraint, chart_metadata(c)->version))
        return 0;
    r->locked->version = arena_dup(r->run->arena, chart_metadata(c)->version);
    return 1;
}

static int resolve_registry(const struct resolution *r, struct err **err)
{
    CLEANUP(registry_found_done) struct registry_found found = { 0 };
    struct semver v;
    int rc;

    if (semver_parse(r->wanted->version, &v, NULL) >= 0) {
        r->locked->version = r->wanted->version;
        return 1;
    }
    rc = registry_resolve(r->run->job->locator, r->wanted->name, r->wanted->repository, r->wanted->version,
                          &found, err);
    if (rc < 0)
        return err_wrap(err, rc, "could not retrieve list of tags for repository " STR_FMT,
                        STR_ARG(r->wanted->repository));
    r->locked->version = arena_dup(r->run->arena, found.version);
    return 1;
}

static int resolve_index(const struct resolution *r, struct err **err)
{
    struct dependency_index *x;
    struct registry_version *all, version;
    size_t n;
    int rc = dependency_index_get(r->run, r->wanted->repository, &x, err);

    if (rc < 0)
        return rc;
    rc = dependency_index_versions(r->run, x, r->wanted->name, &all, &n, err);
    if (rc < 0)
        return err_wrap(err, rc, "no cached repository for " STR_FMT " found. (try 'helm repo update')",
                        STR_ARG(x->name));
    if (n == 0)
        return err_set(err, ERRC_NOT_FOUND, STR_FMT " chart not found in repo " STR_FMT,
                       STR_ARG(r->wanted->name), STR_ARG(r->wanted->repository));
    rc = dependency_index_pick(r->run, x, r->wanted->name, satisfies, r->constraint, &version, err);
    if (rc > 0)
        r->locked->version = version.version;
    return rc;
}

static int resolve_one(const struct resolution *r, struct err **err)
{
    struct str repository = r->wanted->repository;
    const char *path;

    *r->locked = (struct metadata_dependency){ .name = r->wanted->name,
                                               .version = r->wanted->version,
                                               .repository = repository };
    if (repository.n == 0) {
        CLEANUP(free_ptr) char *below = xasprintf("charts/" STR_FMT, STR_ARG(r->wanted->name));

        return dependency_local_path(r->run, str_from(below), &path, err) < 0 ? -ERRC_NOT_FOUND : 1;
    }
    if (str_has_prefix(repository, FILE_SCHEME))
        return resolve_folder(r, err);
    if (str_has_prefix(repository, OCI_SCHEME))
        return resolve_registry(r, err);
    return resolve_index(r, err);
}

static void add_missing(struct buf *missing, const struct metadata_dependency *d)
{
    if (missing->n > 0)
        buf_adds(missing, ", ");
    utf8_quote(d->name, missing);
    buf_adds(missing, " (repository ");
    utf8_quote(d->repository, missing);
    buf_adds(missing, ", version ");
    utf8_quote(d->version, missing);
    buf_addc(missing, ')');
}

int dependency_resolve(struct dependency_run *run, const struct metadata_dependency *wanted, size_t n,
                       struct metadata_dependency **ret, struct err **err)
{
    CLEANUP(buf_done) struct buf missing = BUF_INIT(MIB);
    size_t n_missing = 0;

    *ret = ARENA_ARRAY(run->arena, struct metadata_dependency, n);
    for (size_t i = 0; i < n; i++) {
        CLEANUP(semver_constraint_free) struct semver_constraint *constraint = NULL;
        struct resolution one = { .run = run, .wanted = &wanted[i], .locked = &(*ret)[i] };
        int r = semver_constraint_parse(wanted[i].version, &constraint, err);

        if (r < 0)
            return err_wrap(err, r, "dependency \"" STR_FMT "\" has an invalid version/constraint format",
                            STR_ARG(wanted[i].name));
        one.constraint = constraint;
        r = resolve_one(&one, err);
        if (r < 0)
            return r;
        if (r == 0) {
            add_missing(&missing, &wanted[i]);
            n_missing++;
        }
    }
    if (n_missing == 0)
        return 0;
    return err_set(err, ERRC_NOT_FOUND,
                   "can't get a valid version for %zu subchart(s): %s. Make sure a matching chart version "
                   "exists in the repo, or change the version constraint in Chart.yaml",
                   n_missing, buf_z(&missing));
}

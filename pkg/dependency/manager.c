/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/gourl.h"
#include "base/limits.h"
#include "dependency/dependency_int.h"
#include "yaml/yaml.h"

#define OUT_OF_SYNC_V1                                                                                  \
    "the lock file (requirements.lock) is out of sync with the dependencies file (requirements.yaml). " \
    "Please "                                                                                           \
    "update the dependencies"
#define OUT_OF_SYNC                                                                                         \
    "the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the " \
    "dependencies with 'helm dependency update'"

/* ---- one run ---- */

void dependency_say(const struct dependency_run *run, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    int n;

    if (!run->job->line)
        return;
    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    run->job->line(run->job->line_ctx, (struct str){ text, (size_t)n });
    free(text);
}

static int run_init(struct dependency_run *run, const struct dependency_job *j, struct err **err)
{
    *run = (struct dependency_run){ .job = j, .arena = arena_new(VALUES_MEMORY_MAX) };
    return registry_entries_read(run->arena, j->locator->repositories, &run->entries, &run->n_entries, err);
}

static void run_done(struct dependency_run *run)
{
    for (size_t i = 0; i < run->n_indexes; i++)
        registry_found_done(&run->indexes[i]->access);
    registry_db_close(run->db);
    if (run->temp)
        IGNORE_ERROR(fs_remove_tree(run->temp, NULL));
    free(run->temp);
    arena_free(run->arena);
}
DEFINE_CLEANUP_VALUE(struct dependency_run, run_done)

static int load_folder(const struct dependency_job *j, struct chart **ret, struct err **err)
{
    struct stat st;
    int r;

    if (stat(j->chart_path, &st) < 0) {
        r = fs_path_error(err, "stat", j->chart_path, errno);
        return err_wrap(err, r, "could not find %s", j->chart_path);
    }
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERRC_INVALID, "only unpacked charts can be updated");
    return chart_load_dir(j->chart_path, j->log, ret, err);
}

/* ---- names of repositories ---- */

struct names_check {
    struct dependency_run *run;
    struct buf missing;
    bool has_word; /* something that looks like a name and not like an URL */
};

static bool is_url(struct str text)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct gourl u;

    return gourl_parse_request(a, text, &u, NULL) >= 0;
}

/* "@name" becomes its URL. */
static int check_repository(struct names_check *c, struct metadata_dependency *d, struct err **err)
{
    struct str repository = d->repository;
    const struct registry_entry *e;
    const char *path;

    if (repository.n == 0 || str_has_prefix(repository, OCI_SCHEME))
        return 0;
    if (str_has_prefix(repository, FILE_SCHEME)) {
        int r = dependency_local_path(c->run, repository, &path, err);

        if (r >= 0 && c->run->job->debug)
            dependency_say(c->run, "Repository from local path: " STR_FMT, STR_ARG(repository));
        return r;
    }
    e = dependency_entry_find(c->run, repository);
    if (e) {
        if (str_has_prefix(repository, STR("@")) || str_has_prefix(repository, STR("alias:")))
            d->repository = e->url;
        return 0;
    }
    if (is_url(repository))
        return 0;
    buf_addf(&c->missing, "%s" STR_FMT, c->missing.n ? ", " : "", STR_ARG(repository));
    c->has_word =
        c->has_word || !(str_contains(repository, STR("//")) || str_has_prefix(repository, STR("@")) ||
                         str_has_prefix(repository, STR("alias:")));
    return 0;
}

static int check_repositories(struct dependency_run *run, struct metadata_dependency *deps, size_t n,
                              struct err **err)
{
    struct names_check c = { .run = run, .missing = BUF_INIT(MIB) };
    int r = 0;

    for (size_t i = 0; i < n && r >= 0; i++)
        r = check_repository(&c, &deps[i], err);
    if (r >= 0 && c.missing.n > 0)
        r = err_set(
            err, ERRC_NOT_FOUND, "no repository definition for %s. Please add them via 'helm repo add'%s",
            buf_z(&c.missing),
            c.has_word ? "\nNote that repositories must be URLs or aliases. For example, to refer to the "
                         "\"example\"\nrepository, use \"https://charts.example.com/\" or \"@example\" "
                         "instead of\n\"example\". Don't forget to add the repo, too ('helm repo add')."
                       : "");
    buf_done(&c.missing);
    return r;
}

static bool is_http(struct str repository)
{
    return repository.n > 0 && !str_has_prefix(repository, FILE_SCHEME) &&
           !str_has_prefix(repository, OCI_SCHEME);
}

static int check_protocol(struct str repository, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct gourl u;
    int r = gourl_parse(a, repository, &u, err);

    if (r < 0 || str_eq(u.scheme, STR("http")) || str_eq(u.scheme, STR("https")))
        return r;
    return err_set(err, ERRC_UNSUPPORTED, "could not find protocol handler for: " STR_FMT, STR_ARG(u.scheme));
}

/* Indexes of repositories that repositories.yaml does not know. */
static int refresh_unmanaged(struct dependency_run *run, const struct metadata_dependency *deps, size_t n,
                             struct err **err)
{
    bool told = false;

    for (size_t i = 0; i < n; i++) {
        size_t known = run->n_indexes;
        struct dependency_index *x;
        int r;

        if (!is_http(deps[i].repository) || dependency_entry_find(run, deps[i].repository))
            continue;
        r = dependency_index_get(run, deps[i].repository, &x, err);
        if (r < 0)
            return r;
        if (run->job->skip_refresh || run->n_indexes == known)
            continue;
        if (!told)
            dependency_say(run, "Getting updates for unmanaged Helm repositories...");
        told = true;
        r = check_protocol(deps[i].repository, err);
        if (r < 0)
            return r;
        dependency_index_refresh(run, x);
    }
    return 0;
}

/* ---- the lock ---- */

static bool is_v1(const struct chart *c)
{
    return str_eq(chart_metadata(c)->api_version, STR("v1"));
}

static int check_no_link(const char *path, const char *name, struct err **err)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target) - 1);

    if (n < 0)
        return 0;
    target[n] = '\0';
    return err_set(err, ERRC_INVALID, "the %s file is a symlink to \"%s\"", name, target);
}

static int write_lock(const struct dependency_run *run, const struct chart *c, struct metadata_lock *lock,
                      struct err **err)
{
    const char *name = is_v1(c) ? "requirements.lock" : "Chart.lock";
    CLEANUP(free_ptr) char *path = fs_join(run->job->chart_path, name);
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX), now = BUF_INIT(64);
    int r = check_no_link(path, name, err);

    if (r < 0)
        return r;
    clock_format_rfc3339_nano(clock_wall(), &now);
    lock->generated = buf_str(&now);
    r = yml_print(metadata_lock_to_value(run->arena, lock), &text, err);
    return r < 0 ? r : fs_write_file(path, buf_str(&text), 0644, err);
}

static int finish(struct dependency_run *run, const struct chart *c, const struct metadata_dependency *wanted,
                  size_t n, struct metadata_dependency *locked, struct err **err)
{
    CLEANUP(buf_done) struct buf digest = BUF_INIT(128);
    struct metadata_lock lock = { .dependencies = locked, .n_dependencies = n };
    const struct metadata_lock *old = chart_lock(c);
    int r = dependency_download(run, locked, n, err);

    if (r >= 0)
        r = metadata_lock_digest(wanted, n, locked, n, &digest, err);
    if (r < 0)
        return r;
    lock.digest = buf_str(&digest);
    if (old && str_eq(old->digest, lock.digest))
        return 0;
    return write_lock(run, c, &lock, err);
}

/* ---- update ---- */

static int update(struct dependency_run *run, const struct chart *c, struct err **err)
{
    struct metadata *md = metadata_copy(run->arena, chart_metadata(c));
    struct metadata_dependency *locked;
    size_t n = md->n_dependencies;
    int r;

    if (!md->dependencies) /* an empty list goes its way, as in Helm */
        return 0;
    r = check_repositories(run, md->dependencies, n, err);
    if (r >= 0)
        r = refresh_unmanaged(run, md->dependencies, n, err);
    if (r < 0)
        return r;
    if (!run->job->skip_refresh)
        dependency_refresh_all(run);
    r = dependency_resolve(run, md->dependencies, n, &locked, err);
    return r < 0 ? r : finish(run, c, md->dependencies, n, locked, err);
}

int dependency_update(const struct dependency_job *j, struct err **err)
{
    CLEANUP(run_done) struct dependency_run run = { 0 };
    CLEANUP(chart_unref) struct chart *c = NULL;
    int r = load_folder(j, &c, err);

    if (r >= 0)
        r = run_init(&run, j, err);
    return r < 0 ? r : update(&run, c, err);
}

/* ---- build ---- */

/* What was locked is what is wanted now. */
static int check_lock(struct dependency_run *run, const struct chart *c, const struct metadata *wanted,
                      struct err **err)
{
    CLEANUP(buf_done) struct buf digest = BUF_INIT(128), old_way = BUF_INIT(128);
    const struct metadata_lock *lock = chart_lock(c);
    int r = metadata_lock_digest(wanted->dependencies, wanted->n_dependencies, lock->dependencies,
                                 lock->n_dependencies, &digest, err);

    if (r < 0 || str_eq(buf_str(&digest), lock->digest))
        return r;
    if (!is_v1(c))
        return err_set(err, ERRC_INVALID, OUT_OF_SYNC);
    dependency_say(run, "warning: a valid Helm v3 hash was not found. Checking against Helm v2 hash...");
    r = metadata_requirements_digest(chart_metadata(c)->dependencies, chart_metadata(c)->n_dependencies,
                                     &old_way, err);
    if (r < 0 || str_eq(buf_str(&old_way), lock->digest))
        return r;
    return err_set(err, ERRC_INVALID, OUT_OF_SYNC_V1);
}

static int check_known(const struct dependency_run *run, const struct metadata_lock *lock, struct err **err)
{
    CLEANUP(buf_done) struct buf missing = BUF_INIT(MIB);

    for (size_t i = 0; i < lock->n_dependencies; i++) {
        struct str repository = lock->dependencies[i].repository;

        if (is_http(repository) && !dependency_entry_find(run, repository))
            buf_addf(&missing, "%s" STR_FMT, missing.n ? ", " : "", STR_ARG(repository));
    }
    if (missing.n == 0)
        return 0;
    return err_set(err, ERRC_NOT_FOUND,
                   "no repository definition for %s. Please add the missing repos via 'helm repo add'",
                   buf_z(&missing));
}

static int build(struct dependency_run *run, const struct chart *c, struct err **err)
{
    struct metadata *md = metadata_copy(run->arena, chart_metadata(c));
    const struct metadata_lock *lock = chart_lock(c);
    struct metadata_dependency *deps =
        ARENA_ARRAY(run->arena, struct metadata_dependency, lock->n_dependencies);
    int r = check_repositories(run, md->dependencies, md->n_dependencies, err);

    if (r >= 0)
        r = check_lock(run, c, md, err);
    if (r >= 0)
        r = check_known(run, lock, err);
    if (r < 0)
        return r;
    if (!run->job->skip_refresh)
        dependency_refresh_all(run);
    for (size_t i = 0; i < lock->n_dependencies; i++)
        deps[i] = lock->dependencies[i];
    return dependency_download(run, deps, lock->n_dependencies, err);
}

/* As Helm's Build(): without a lock it is an update, from the start, so that what loading the chart logs is said twice. */
int dependency_build(const struct dependency_job *j, struct err **err)
{
    CLEANUP(run_done) struct dependency_run run = { 0 };
    CLEANUP(chart_unref) struct chart *c = NULL;
    int r = load_folder(j, &c, err);

    if (r >= 0 && !chart_lock(c))
        return dependency_update(j, err);
    if (r >= 0)
        r = run_init(&run, j, err);
    return r < 0 ? r : build(&run, c, err);
}

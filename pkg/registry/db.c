/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the index database: one for each repository, so that a first load is one rename and damage costs one
 * repository. They are caches: a rollback journal and no syncs, so a file without a writer is complete by itself and may be
 * renamed or removed under its readers. Other processes (the command line) may use the same files. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

#define LOG_MODULE "registry"
#include "base/log.h"

#define SUFFIX "-index.db"
#define SUFFIX_DAMAGED ".damaged"
#define MARK_NEW "-index.db.new-"

/* Pages of 16 KiB: half as many writes as with 8. The cache holds what look-ups of the newest versions of a
 * large repository touch; filling needs none. */
enum { PAGE_KIB = 16, CACHE_KIB = 4096, FILLING_CACHE_KIB = 512, NAME_MAX_BYTES = 200 };
/* A file is filled for as long as an index is read, which takes libyaml half a minute for 200 MB on a busy machine. */
#define FILLING_DEADLINE_MS (10 * 60 * 1000)

static const char *const schema[] = {
    "CREATE TABLE repository (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, url TEXT NOT NULL,"
    " etag TEXT NOT NULL, modified TEXT NOT NULL, stamp TEXT NOT NULL, digest TEXT NOT NULL, charts INTEGER "
    "NOT NULL,"
    " versions INTEGER NOT NULL, skipped INTEGER NOT NULL, list BLOB NOT NULL, seal BLOB NOT NULL);"
    "CREATE TABLE charts (name TEXT NOT NULL, digest BLOB NOT NULL, catalog BLOB NOT NULL);"
    "CREATE UNIQUE INDEX charts_by_name ON charts (name);"
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, entry TEXT NOT NULL);",
};

struct index_file {
    struct registry_db *owner;
    struct db *db;
    int refs;            /* under the owner's mutex */
    struct map verified; /* chart: its digest, owned; under the owner's mutex */
};

/* What is known of a repository in this process; lives as long as the registry_db. */
struct slot {
    pthread_mutex_t loading;
    struct index_file *file; /* NULL: not open */
};

struct registry_db {
    char *folder;
    pthread_mutex_t mutex; /* guards `slots`, their files, counts of references */
    struct map slots;
    registry_lost_fn on_lost;
    void *lost_ctx;
};

void registry_db_on_lost(struct registry_db *d, registry_lost_fn fn, void *ctx)
{
    d->on_lost = fn;
    d->lost_ctx = ctx;
}

/* "NAME-index.db.new-PID" and what SQLite puts beside it: true when that process cannot be at work on it. A container's process
 * has the same number each time: our own is none that is at work when the folder is opened. */
static bool is_unfinished(const char *name)
{
    const char *mark = strstr(name, MARK_NEW);
    struct str rest = str_from(mark ? mark + strlen(MARK_NEW) : "");
    int64_t pid;

    rest = str_sub(rest, 0, MIN(str_find_char(rest, '-'), rest.n));
    return mark && str_to_int64(rest, &pid) && pid > 0 &&
           (pid == getpid() || (kill((pid_t)pid, 0) < 0 && errno == ESRCH));
}

/* Files that a process left behind which died while it filled them. */
static void remove_unfinished(const char *folder)
{
    char **names;
    size_t n;

    if (fs_list_dir(folder, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(folder, names[i]);

        if (is_unfinished(names[i]))
            unlink(path);
    }
    fs_names_free(names, n);
}

int registry_db_open(const char *path, struct registry_db **ret, struct err **err)
{
    struct registry_db *d;
    int r = fs_make_dirs(path, 0700, err);

    if (r < 0)
        return err_wrap(err, r, "index database");
    remove_unfinished(path);
    d = xcalloc(1, sizeof(*d));
    d->folder = xstrdup(path);
    pthread_mutex_init(&d->mutex, NULL);
    *ret = d;
    return 0;
}

static void file_free(struct index_file *f)
{
    void *digest;

    for (size_t i = 0; map_next(&f->verified, &i, NULL, &digest);)
        free(digest);
    map_done(&f->verified);
    db_close(f->db);
    free(f);
}

/* With the mutex held. True: the caller frees it, without the mutex. */
static bool drop_ref(struct index_file *f)
{
    return f && --f->refs == 0;
}

void index_file_unref(struct index_file *f)
{
    bool last;

    if (!f)
        return;
    pthread_mutex_lock(&f->owner->mutex);
    last = drop_ref(f);
    pthread_mutex_unlock(&f->owner->mutex);
    if (last)
        file_free(f);
}

void registry_db_close(struct registry_db *d)
{
    void *p;

    if (!d)
        return;
    for (size_t i = 0; map_next(&d->slots, &i, NULL, &p);) {
        struct slot *s = p;

        index_file_unref(s->file);
        pthread_mutex_destroy(&s->loading);
        free(s);
    }
    map_done(&d->slots);
    pthread_mutex_destroy(&d->mutex);
    free(d->folder);
    free(d);
}

/* ---- one repository's file --------------------------------------------------------------------------------------------- */

/* A name that cannot be part of a file name stands there by its digest. */
static char *file_path(const struct registry_db *d, struct str repository)
{
    char hex[SHA256_HEX];
    bool usable = repository.n > 0 && repository.n <= NAME_MAX_BYTES && fs_path_is_below(repository) &&
                  str_find_char(repository, '/') == STR_NPOS;

    if (!usable)
        sha256_hex(repository, hex);
    return xasprintf("%s/" STR_FMT SUFFIX, d->folder, STR_ARG(usable ? repository : str_from(hex)));
}

/* With the mutex held. */
static struct slot *slot_of(struct registry_db *d, struct str repository)
{
    struct slot *s = map_get(&d->slots, repository);

    if (s)
        return s;
    s = xcalloc(1, sizeof(*s));
    pthread_mutex_init(&s->loading, NULL);
    map_put(&d->slots, repository, s);
    return s;
}

void index_load_lock(struct registry_db *d, struct str repository)
{
    struct slot *s;

    pthread_mutex_lock(&d->mutex);
    s = slot_of(d, repository);
    pthread_mutex_unlock(&d->mutex);
    pthread_mutex_lock(&s->loading);
}

void index_load_unlock(struct registry_db *d, struct str repository)
{
    struct slot *s;

    pthread_mutex_lock(&d->mutex);
    s = slot_of(d, repository);
    pthread_mutex_unlock(&d->mutex);
    pthread_mutex_unlock(&s->loading);
}

struct db *index_file_db(const struct index_file *f)
{
    return f->db;
}

static int open_db(const char *path, bool filling, struct db **ret, struct err **err)
{
    struct db_options o = {
        .schema = schema,
        .n_schema = ARRAY_SIZE(schema),
        .cache_kib = filling ? FILLING_CACHE_KIB : CACHE_KIB,
        .page_kib = PAGE_KIB,
        .strangers = true,
        .disposable = true,
        .filling = filling,
        .deadline_ms = filling ? FILLING_DEADLINE_MS : 0,
    };

    return db_open(path, &o, ret, err);
}

/* The journal of a file that is going must not be taken for its successor's. */
static void remove_journal(const char *path)
{
    CLEANUP(free_ptr) char *journal = xasprintf("%s-journal", path);

    unlink(journal);
}

static void set_aside(const char *path, const struct err *cause)
{
    CLEANUP(free_ptr) char *aside = xasprintf("%s" SUFFIX_DAMAGED, path);

    log_warn("index database set aside; it will be built anew", LOG_Z("path", path), LOG_ERR(cause));
    if (rename(path, aside) < 0)
        unlink(path);
    remove_journal(path);
}

static bool is_damage(int r)
{
    return r < 0 && r != -ERRC_TIMEOUT && r != -ERRC_FORBIDDEN && r != -ERRC_CANCELLED;
}

/* With the mutex held: opening is rare and short. */
static int open_slot(struct registry_db *d, struct slot *s, struct str repository, struct err **err)
{
    CLEANUP(free_ptr) char *path = file_path(d, repository);
    CLEANUP(err_free) struct err *cause = NULL;
    struct db *db;
    int r;

    if (!fs_is_file(path))
        return 0;
    r = open_db(path, false, &db, &cause);
    if (is_damage(r)) {
        set_aside(path, cause);
        return 0;
    }
    if (r < 0) {
        if (err)
            *err = TAKE(cause);
        return r;
    }
    s->file = xcalloc(1, sizeof(*s->file));
    s->file->owner = d;
    s->file->db = db;
    s->file->refs = 1;
    return 1;
}

int index_file_open(struct registry_db *d, struct str repository, struct index_file **ret, struct err **err)
{
    struct slot *s;
    int r = 1;

    pthread_mutex_lock(&d->mutex);
    s = slot_of(d, repository);
    if (!s->file)
        r = open_slot(d, s, repository, err);
    if (r == 1) {
        s->file->refs++;
        *ret = s->file;
    }
    pthread_mutex_unlock(&d->mutex);
    return r;
}

/* Nobody gets this file any more; who has it may go on. */
static void retire(struct registry_db *d, struct str repository, const struct index_file *f)
{
    struct index_file *gone = NULL;
    struct slot *s;

    pthread_mutex_lock(&d->mutex);
    s = slot_of(d, repository);
    if (s->file && (!f || s->file == f)) {
        if (drop_ref(s->file))
            gone = s->file;
        s->file = NULL;
    }
    pthread_mutex_unlock(&d->mutex);
    if (gone)
        file_free(gone);
}

bool index_file_discard(struct registry_db *d, struct str repository, struct index_file *f, int r,
                        const struct err *cause)
{
    CLEANUP(free_ptr) char *path = NULL;
    bool current;

    if (!is_damage(r))
        return false;
    pthread_mutex_lock(&d->mutex);
    current = slot_of(d, repository)->file == f;
    pthread_mutex_unlock(&d->mutex);
    if (!current) /* replaced or set aside meanwhile */
        return true;
    path = file_path(d, repository);
    set_aside(path, cause);
    retire(d, repository, f);
    if (d->on_lost)
        d->on_lost(d->lost_ctx, repository);
    return true;
}

int index_file_begin(struct registry_db *d, struct str repository, struct db **ret, char **ret_path,
                     struct err **err)
{
    CLEANUP(free_ptr) char *path = file_path(d, repository);
    CLEANUP(free_ptr) char *fresh = xasprintf("%s.new-%ld", path, (long)getpid());
    int r;

    unlink(fresh);
    remove_journal(fresh);
    r = open_db(fresh, true, ret, err);
    if (r < 0) {
        unlink(fresh);
        return r;
    }
    *ret_path = TAKE(fresh);
    return 0;
}

char *index_file_download_path(struct registry_db *d, struct str repository)
{
    CLEANUP(free_ptr) char *path = file_path(d, repository);

    return xasprintf("%s.new-%ld-text", path, (long)getpid());
}

int index_file_replace(struct registry_db *d, struct str repository, const char *path, struct err **err)
{
    CLEANUP(free_ptr) char *to = file_path(d, repository);

    retire(d, repository, NULL);
    remove_journal(to);
    if (rename(path, to) < 0)
        return err_errno(err, errno, "%s", to);
    retire(d, repository, NULL); /* what was opened in between */
    return 0;
}

/* Those whose name is not in the name of the file are left out. */
size_t registry_known(struct registry_db *d, struct arena *a, struct str **ret)
{
    char **names;
    size_t n, n_known = 0;

    if (fs_list_dir(d->folder, &names, &n, NULL) < 0)
        return 0;
    *ret = ARENA_ARRAY(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct str name = str_from(names[i]), repository = str_trim_suffix(name, STR(SUFFIX));

        if (repository.n < name.n && repository.n != SHA256_HEX - 1)
            (*ret)[n_known++] = arena_dup(a, repository);
    }
    fs_names_free(names, n);
    return n_known;
}

int registry_forget(struct registry_db *d, struct str repository, struct err **err)
{
    CLEANUP(free_ptr) char *path = file_path(d, repository);
    CLEANUP(free_ptr) char *aside = xasprintf("%s" SUFFIX_DAMAGED, path);

    retire(d, repository, NULL);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(err, errno, "%s", path);
    remove_journal(path);
    unlink(aside);
    return 0;
}

bool index_file_is_verified(struct index_file *f, struct str chart, const unsigned char *digest)
{
    const unsigned char *known;
    bool same;

    pthread_mutex_lock(&f->owner->mutex);
    known = map_get(&f->verified, chart);
    same = known && memcmp(known, digest, digest_bytes(DIGEST_SHA256)) == 0;
    pthread_mutex_unlock(&f->owner->mutex);
    return same;
}

void index_file_set_verified(struct index_file *f, struct str chart, const unsigned char *digest)
{
    size_t n = digest_bytes(DIGEST_SHA256);
    unsigned char *copy = xmalloc(n);

    memcpy(copy, digest, n);
    pthread_mutex_lock(&f->owner->mutex);
    free(map_put(&f->verified, chart, copy));
    pthread_mutex_unlock(&f->owner->mutex);
}

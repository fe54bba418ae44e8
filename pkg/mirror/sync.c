/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "mirror/mirror_int.h"
#include "registry/registry.h"
#include "semver/semver.h"

#define SYNC_MEMORY_MAX (256 * MIB)
#define VERSION_MEMORY_MAX (2 * MIRROR_BLOB_MAX)
#define DEPTH_MAX 16 /* dependencies of dependencies */

struct sync {
    struct mirror *m;
    const struct mirror_sync_options *o;
    struct registry_db *db;
    struct arena *arena;
    struct map sources;     /* normalised URL: struct registry_source */
    struct map unreachable; /* URLs whose index could not be had: asked once */
    struct map seen;        /* "URL chart constraint" */
    struct map wanted;      /* "path@version" */
    struct mirror_fetcher fetcher;
    size_t versions;
    struct mirror_sync_figures figures;
};

static void say(struct sync *s, const char *fmt, ...) PRINTF(2, 3);
static void say(struct sync *s, const char *fmt, ...)
{
    CLEANUP(free_ptr) char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    if (s->o->line)
        s->o->line(s->o->ctx, str_from(text));
}

static bool is_registry(const struct registry_source *source)
{
    return oci_is_url(source->url);
}

/* ---- indexes ------------------------------------------------------------------------------------------------------------ */

/* Does the caller keep the source's index? */
static bool is_given(const struct sync *s, const struct registry_source *source)
{
    return source == s->o->source && s->o->db && !is_registry(source);
}

static struct registry_db *index_db(const struct sync *s, const struct registry_source *source)
{
    return is_given(s, source) ? s->o->db : s->db;
}

/* What the database knows it by: a registry has an index for each chart. */
static struct str index_key(const struct sync *s, struct arena *a, const struct registry_source *source,
                            struct str chart)
{
    if (is_given(s, source))
        return s->o->repository;
    return is_registry(source) ? arena_printf(a, "%.*s/%.*s", STR_ARG(source->url), STR_ARG(chart))
                               : source->url;
}

static int fetch_index(struct sync *s, const struct registry_source *source, struct str chart,
                       struct err **err)
{
    CLEANUP(free_ptr) char *path = mirror_file(s->m, "cache/%08x" MIRROR_INDEX_SUFFIX, arc4random());
    struct registry_load load = { .repository = index_key(s, s->arena, source, chart), .path = path };
    struct registry_loaded loaded;
    struct registry_fetched known;
    bool found;
    int r = registry_fetched_find(s->db, load.repository, s->arena, &known, &found, err);

    if (r < 0)
        return r;
    load.fetched = (struct registry_fetched){ .url = source->url, .etag = STR(""), .last_modified = STR("") };
    if (is_registry(source))
        r = registry_fetch_tags(source, s->arena, NULL, &chart, 1, path, err);
    else
        r = registry_fetch_index(source, s->arena, found ? &known : NULL, path, &load.fetched, err);
    if (r == 1)
        r = registry_index_load(s->db, &load, s->arena, &loaded, err);
    unlink(path);
    return r;
}

static bool same_origin(struct str a, struct str b)
{
    struct str host_a, host_b;

    if (!oci_is_url(a) || !oci_is_url(b))
        return http_url_same_origin(a, b);
    a = str_trim_prefix(a, STR(OCI_SCHEME));
    b = str_trim_prefix(b, STR(OCI_SCHEME));
    str_split(&a, '/', &host_a);
    str_split(&b, '/', &host_b);
    return str_eq(host_a, host_b);
}

/* The source of a dependency's repository, its index read; credentials stay with the origin they were given for. */
static int open_source(struct sync *s, struct str url, const struct registry_source **ret, struct err **err)
{
    struct str key = registry_normalize_url(s->arena, url);
    struct registry_source *source = map_get(&s->sources, key);
    int r = 0;

    if (source) {
        *ret = source;
        return 0;
    }
    source = ARENA_NEW(s->arena, struct registry_source);
    *source = *s->o->source;
    source->url = source->name = str_trim_suffix(arena_dup(s->arena, url), STR("/"));
    if (!same_origin(url, s->o->source->url)) { /* what was said on the command line was said of that one */
        source->auth = NULL;
        source->insecure = source->plain_http = false;
    }
    if (!is_registry(source))
        r = fetch_index(s, source, STR(""), err);
    if (r < 0)
        return r;
    map_put(&s->sources, key, source);
    *ret = source;
    return 0;
}

/* ---- one version ---------------------------------------------------------------------------------------------------------- */

static int sync_wanted(struct sync *s, const struct registry_source *source,
                       const struct mirror_wanted *wanted, size_t latest, int depth, struct err **err);

static struct str place(struct sync *s, struct arena *a, struct str name)
{
    return s->o->folder.n ? arena_printf(a, "%.*s/%.*s", STR_ARG(s->o->folder), STR_ARG(name)) : name;
}

/* 1 when there is nothing to fetch. What an index says to have other bytes need not be fetched to be refused. */
static int check_kept(struct sync *s, struct arena *a, const struct registry_version *v,
                      const struct mirror_record *record, struct err **err)
{
    struct str digest = str_trim_prefix(v->digest, STR("sha256:"));
    bool kept = false;
    int r = mirror_fetcher_is_kept(&s->fetcher, a, v, record, &kept, err);

    if (r == 0 && !kept && digest.n > 0)
        r = mirror_check_replacement(record, s->o->accepted, digest, err);
    return r < 0 ? r : kept;
}

static int fetch_version(struct sync *s, struct arena *a, const struct registry_version *v,
                         struct mirror_record *ret, struct err **err)
{
    static const char *const words[] = { "added", "kept", "replaced" };
    CLEANUP(buf_done) struct buf archive = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(buf_done) struct buf from = BUF_INIT(8 * KIB);
    struct mirror_addition what = { .folder = s->o->folder, .accepted = s->o->accepted };
    enum mirror_outcome outcome;
    int r = mirror_fetcher_get(&s->fetcher, a, v, &archive, &what, err);

    if (r < 0)
        return r;
    http_url_redact(s->fetcher.source->url, &from);
    what.source = buf_str(&from);
    if (what.tag.n > 0)
        what.place = place(s, a, v->name);
    r = mirror_add(s->m, a, &what, &outcome, ret, err);
    if (r < 0)
        return r;
    ret->source = STR("");
    s->figures.added += outcome == MIRROR_ADDED;
    s->figures.kept += outcome == MIRROR_KEPT;
    s->figures.replaced += outcome == MIRROR_REPLACED;
    say(s, "%s %.*s %.*s sha256:%.*s%s", words[outcome], STR_ARG(ret->path), STR_ARG(ret->version),
        STR_ARG(ret->archive), ret->provenance.n ? " with provenance" : "");
    return 0;
}

/* 1 when the version is in the mirror now; 0 when it has to wait for the next sync. */
static int bring(struct sync *s, struct arena *a, const struct registry_version *v, struct mirror_record *ret,
                 struct err **err)
{
    bool found = false;
    int r =
        mirror_look_up(s->m, a, place(s, a, v->name), oci_tag_of_version(a, v->version), ret, &found, err);

    if (r == 0 && found)
        r = check_kept(s, a, v, ret, err);
    if (r < 0)
        return r;
    if (r == 1) {
        s->figures.kept++;
        return 1;
    }
    if (s->o->until_ms > 0 && clock_mono_ms() >= s->o->until_ms) {
        s->figures.left++;
        return 0;
    }
    r = fetch_version(s, a, v, ret, err);
    return r < 0 ? r : 1;
}

/* One version's failure does not stop the others; being cancelled does. Takes `cause`. */
static int note_failure(struct sync *s, const char *what, struct str name, struct str version,
                        struct err *cause, struct err **err)
{
    bool refused = err_code(cause) == ERRC_DIGEST;

    if (err_code(cause) == ERRC_CANCELLED) {
        if (err)
            *err = cause;
        else
            err_free(cause);
        return -ERRC_CANCELLED;
    }
    s->figures.refused += refused;
    s->figures.failed += !refused;
    s->figures.full = s->figures.full || (err_code(cause) == ERRC_LIMIT && mirror_is_full(s->m));
    say(s, "%s %s%.*s %.*s: %s", refused ? "refused" : "failed", what, STR_ARG(name), STR_ARG(version),
        err_message(cause));
    err_free(cause);
    return 0;
}

static int sync_dependency(struct sync *s, struct value d, int depth, struct err **err)
{
    struct mirror_wanted wanted = { value_str(value_getz(d, "name")), value_str(value_getz(d, "version")) };
    struct str url = value_str(value_getz(d, "repository"));
    const struct registry_source *source;
    struct err *cause = NULL;
    int r;

    if (url.n == 0 || str_has_prefix(url, STR("file://")))
        return 0; /* in the archive itself */
    if (str_find(url, STR("://")) == STR_NPOS) {
        say(s, "skipped dependency %.*s: \"%.*s\" is an alias that only its author's machine knows",
            STR_ARG(wanted.name), STR_ARG(url));
        return 0;
    }
    if (map_has(&s->unreachable, url)) {
        s->figures.failed++;
        return 0;
    }
    r = open_source(s, url, &source, &cause);
    if (r < 0) {
        map_put(&s->unreachable, url, s);
        return note_failure(s, "dependency ", wanted.name, wanted.constraint, cause, err);
    }
    return sync_wanted(s, source, &wanted, 1, depth + 1, err);
}

static int sync_dependencies(struct sync *s, const struct mirror_record *record, int depth, struct err **err)
{
    struct value list = value_getz(record->entry, "dependencies");
    int r = 0;

    if (!s->o->dependencies || depth >= DEPTH_MAX)
        return 0;
    for (struct value_iter it = value_iter(list); r == 0 && value_next(&it);)
        r = sync_dependency(s, it.v, depth, err);
    return r;
}

static int sync_version(struct sync *s, const struct registry_source *source,
                        const struct registry_version *v, int depth, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERSION_MEMORY_MAX);
    struct mirror_record record = { 0 };
    struct err *cause = NULL;
    int r;

    if (map_put(&s->wanted, arena_printf(a, "%.*s@%.*s", STR_ARG(place(s, a, v->name)), STR_ARG(v->version)),
                s))
        return 0;
    if (++s->versions > MIRROR_SYNC_MAX)
        return err_set(err, ERRC_LIMIT, "more than %zu versions", MIRROR_SYNC_MAX);
    mirror_fetcher_use(&s->fetcher, source);
    r = bring(s, a, v, &record, &cause);
    if (r < 0)
        return note_failure(s, "", v->name, v->version, cause, err);
    return r == 0 ? 0 : sync_dependencies(s, &record, depth, err);
}

/* ---- versions of a chart ----------------------------------------------------------------------------------------------- */

/* Moves the versions that are wanted to the front; how many. An exact text comes before a constraint, as in Helm. */
static int select_versions(struct registry_version *all, size_t n, struct str constraint, size_t latest,
                           size_t *ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    size_t kept = 0;
    int r;

    for (size_t i = 0; i < n && constraint.n > 0; i++) {
        if (str_eq(all[i].version, constraint)) {
            all[0] = all[i];
            *ret = 1;
            return 0;
        }
    }
    r = semver_constraint_parse(constraint.n ? constraint : STR("*"), &c, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && (latest == 0 || kept < latest); i++) {
        struct semver v;

        if (semver_parse(all[i].version, &v, NULL) == 0 && semver_constraint_check(c, &v))
            all[kept++] = all[i];
    }
    *ret = kept;
    return 0;
}

static int find_versions(struct sync *s, struct arena *a, const struct registry_source *source,
                         const struct mirror_wanted *wanted, size_t latest, struct registry_version **ret,
                         size_t *ret_n, struct err **err)
{
    struct str constraint = wanted->constraint;
    struct str key = index_key(s, a, source, wanted->name);
    size_t n = 0;
    int r = is_registry(source) ? fetch_index(s, source, wanted->name, err) : 0;

    if (r == 0)
        r = registry_versions(index_db(s, source), key, wanted->name, a, ret, &n, err);
    if (constraint.n == 0 && s->o->devel)
        constraint = STR(">0.0.0-0");
    if (r == 0)
        r = select_versions(*ret, n, constraint, latest, ret_n, err);
    if (r == 0 && *ret_n == 0)
        r = err_set(err, ERRC_NOT_FOUND, n ? "no version satisfies it" : "the repository has no such chart");
    return r < 0 ? r : registry_versions_load(index_db(s, source), key, a, *ret, *ret_n, err);
}

static int sync_wanted(struct sync *s, const struct registry_source *source,
                       const struct mirror_wanted *wanted, size_t latest, int depth, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SYNC_MEMORY_MAX);
    struct str key = arena_printf(a, "%.*s %.*s %.*s", STR_ARG(source->url), STR_ARG(wanted->name),
                                  STR_ARG(wanted->constraint));
    struct registry_version *versions;
    struct err *cause = NULL;
    size_t n = 0;
    int r = 0;

    if (map_put(&s->seen, key, s))
        return 0;
    if (find_versions(s, a, source, wanted, latest, &versions, &n, &cause) < 0)
        return note_failure(s, depth ? "dependency " : "", wanted->name, wanted->constraint, cause, err);
    for (size_t i = 0; i < n && r == 0; i++)
        r = sync_version(s, source, &versions[i], depth, err);
    return r;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------ */

static int sync_all(struct sync *s, struct err **err)
{
    const struct mirror_sync_options *o = s->o;
    struct str *names = NULL;
    size_t n = o->n_charts;
    int r = 0;

    if (n == 0 && is_registry(o->source))
        return err_set(err, ERRC_INVALID, "a registry cannot be asked what it has: name the charts");
    if (!is_registry(o->source) && !is_given(s, o->source))
        r = fetch_index(s, o->source, STR(""), err);
    if (r < 0)
        return r;
    map_put(&s->sources, registry_normalize_url(s->arena, o->source->url), (void *)(uintptr_t)o->source);
    if (n == 0)
        r = registry_charts(index_db(s, o->source), index_key(s, s->arena, o->source, STR("")), s->arena,
                            &names, &n, err);
    for (size_t i = 0; i < n && r == 0; i++) {
        struct mirror_wanted wanted = { names ? names[i] : o->charts[i].name,
                                        names ? STR("") : o->charts[i].constraint };

        r = sync_wanted(s, o->source, &wanted, o->latest, 0, err);
    }
    return r;
}

/* Versions of the folder's charts that are not wanted go. */
static int remove_others(struct sync *s, struct str path, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(SYNC_MEMORY_MAX);
    struct mirror_record *records;
    size_t n;
    int r = mirror_records(s->m, a, path, &records, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        struct str key = arena_printf(a, "%.*s@%.*s", STR_ARG(path), STR_ARG(records[i].version));

        if (records[i].archive.n == 0 || map_has(&s->wanted, key))
            continue;
        r = mirror_remove(s->m, path, records[i].tag, err);
        s->figures.removed += r == 0;
        say(s, "removed %.*s %.*s", STR_ARG(path), STR_ARG(records[i].version));
    }
    return r;
}

static int prune(struct sync *s, struct err **err)
{
    struct mirror_prune_figures figures;
    struct str *paths;
    size_t n;
    int r = mirror_paths(s->m, s->arena, &paths, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        if (str_eq(str_dirname(paths[i]), s->o->folder))
            r = remove_others(s, paths[i], err);
    return r < 0 ? r : mirror_prune(s->m, s->o->prune_min_age_s, &figures, err);
}

static int sync_and_prune(struct sync *s, struct err **err)
{
    int r = sync_all(s, err);

    if (r < 0 || !s->o->prune)
        return r;
    if (s->figures.failed + s->figures.left > 0) {
        say(s, "nothing is removed: not all that is wanted could be had");
        return 0;
    }
    return prune(s, err);
}

int mirror_sync(struct mirror *m, const struct mirror_sync_options *o, struct mirror_sync_figures *ret,
                struct err **err)
{
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new(SYNC_MEMORY_MAX);
    CLEANUP(free_ptr) char *cache = mirror_file(m, "cache");
    CLEANUP(free_ptr) char *path = mirror_file(m, "cache/index.db");
    struct sync s = { .m = m, .o = o, .arena = a, .fetcher = { .m = m, .arena = a } };
    int r = fs_make_dirs(cache, 0755, err);

    if (r == 0 && o->folder.n > 0 && !mirror_path_valid(o->folder))
        r = err_set(err, ERRC_INVALID, "\"%.*s\" is no folder of a mirror", STR_ARG(o->folder));
    if (r == 0)
        r = registry_db_open(path, &db, err);
    if (r < 0)
        return r;
    s.db = db;
    r = sync_and_prune(&s, err);
    mirror_fetcher_done(&s.fetcher);
    map_done(&s.sources);
    map_done(&s.unreachable);
    map_done(&s.seen);
    map_done(&s.wanted);
    if (r == 0)
        *ret = s.figures;
    return r;
}

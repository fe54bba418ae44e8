/* SPDX-License-Identifier: Apache-2.0 */
/* Chart references: Helm's pkg/downloader/chart_downloader.go, pkg/repo/v1 FindChartInRepoURL, pkg/registry. */
#include <stdlib.h>

#include "base/digest.h"
#include "base/encode.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"

struct search { /* what is looked for */
    const struct registry_locator *l;
    struct arena *a;
    struct str reference, version;
    struct registry_found *found;
};

void registry_found_done(struct registry_found *f)
{
    buf_done(&f->archive);
    buf_done(&f->prov);
    arena_free(f->memory);
    *f = (struct registry_found){ 0 };
}

/* ---- whose repository it is -------------------------------------------------------------------------------------- */

static void use_flags(struct search *s, struct str url)
{
    registry_use_flags(s->l, url, s->found);
}

static int read_pem(struct arena *a, struct str path, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    CLEANUP(free_ptr) char *p = str_dup(path);
    int r = path.n ? fs_read_file(p, &text, err) : 0;

    if (r == 0 && path.n)
        *ret = arena_dup(a, buf_str(&text));
    return r;
}

/* As in Helm, what the file says of a repository goes before the flags. */
int registry_entry_source(const struct registry_locator *l, struct arena *a, const struct registry_entry *e,
                          struct registry_found *f, struct err **err)
{
    int r = 0;

    registry_use_flags(l, e->url, f);
    f->source.name = e->name;
    if (e->user.n > 0 && e->password.n > 0) {
        f->auth.user = e->user;
        f->auth.password = e->password;
        f->source.pass_credentials = e->pass_credentials;
    }
    f->source.insecure = f->source.insecure || e->insecure;
    if (e->ca_file.n + e->cert_file.n + e->key_file.n == 0)
        return 0;
    r = read_pem(a, e->ca_file, &f->auth.ca_pem, err);
    if (r == 0)
        r = read_pem(a, e->cert_file, &f->auth.cert_pem, err);
    if (r == 0)
        r = read_pem(a, e->key_file, &f->auth.key_pem, err);
    return r < 0 ? err_wrap(err, r, "can't create TLS config for client") : 0;
}

static int use_entry(struct search *s, const struct registry_entry *e, struct err **err)
{
    return registry_entry_source(s->l, s->a, e, s->found, err);
}

static int find_entry(struct search *s, struct str name, struct registry_entry *ret, struct err **err)
{
    struct registry_entry *all;
    size_t n;
    int r = registry_entries_read(s->a, s->l->repositories, &all, &n, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(all[i].name, name))
            continue;
        if (all[i].url.n == 0)
            return err_set(err, ERRC_INVALID, "no URL found for repository " STR_FMT, STR_ARG(name));
        *ret = all[i];
        return 0;
    }
    return err_set(err, ERRC_NOT_FOUND, "repo " STR_FMT " not found", STR_ARG(name));
}

/* The configured repository that a URL belongs to: it is the URL of one, or below it. 1 or 0. */
static int find_owner(struct search *s, struct str url, struct registry_entry *ret)
{
    struct str wanted = registry_normalize_url(s->a, url);
    struct registry_entry *all;
    size_t n;

    if (registry_entries_read(s->a, s->l->repositories, &all, &n, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        struct str home = registry_normalize_url(s->a, all[i].url);

        if (home.n == 0 || !str_has_prefix(wanted, home) || (wanted.n > home.n && wanted.p[home.n] != '/'))
            continue;
        *ret = all[i];
        return 1;
    }
    return 0;
}

/* ---- indexes ----------------------------------------------------------------------------------------------------- */

static int no_version(struct search *s, struct registry_db *db, struct str repository, struct err **err)
{
    struct registry_version *all;
    size_t n;
    int r = registry_versions(db, repository, s->reference, s->a, &all, &n, err);

    if (r < 0)
        return r;
    if (n == 0)
        return err_set(err, ERRC_NOT_FOUND, "no chart name found");
    return err_set(err, ERRC_NOT_FOUND, "no chart version found for " STR_FMT "-" STR_FMT,
                   STR_ARG(s->reference), STR_ARG(s->version));
}

/* isVersionRange(): "^1", "~1.10", "1.x"; anything else names one version. */
static bool is_range(struct str version)
{
    struct str core = version;

    for (size_t i = 0; i < version.n; i++)
        if (ascii_is_one_of(version.p[i], "^~<>=!*"))
            return true;
    if (str_contains(version, STR("||")) || str_contains(version, STR(" - ")))
        return true;
    for (size_t i = 0; i < core.n; i++) {
        if (core.p[i] == '-' || core.p[i] == '+')
            return false;
        if (core.p[i] == 'x' || core.p[i] == 'X')
            return true;
    }
    return false;
}

static void tell_other_version(const struct search *s)
{
    struct str selected = s->found->entry.version;

    if (s->l->other_version && s->version.n > 0 && !str_eq(selected, s->version) && !is_range(s->version))
        s->l->other_version(s->l->line_ctx, s->reference, s->version, selected);
}

static int pick_in(struct search *s, struct registry_db *db, struct str name, const char *index,
                   struct err **err)
{
    int r = registry_index_follow(db, name, s->found->source.url, index, s->a, err);

    if (r == 0)
        r = registry_find(db, name, s->reference, s->version, s->a, &s->found->entry, err);
    if (r == 0)
        return no_version(s, db, name, err);
    if (r > 0)
        tell_other_version(s);
    return MIN(r, 0);
}

/* Takes the version from an index file, by way of a database in `dir`. */
static int pick(struct search *s, const char *dir, struct str name, const char *index, struct err **err)
{
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    int r = registry_db_open(dir, &db, err);

    return r < 0 ? r : pick_in(s, db, name, index, err);
}

/* The same with a database that is gone afterwards. */
static int pick_once(struct search *s, const char *index, struct err **err)
{
    CLEANUP(free_ptr) char *dir = NULL;
    int r = fs_make_temp_dir("pintle-index", &dir, err);

    if (r < 0)
        return r;
    r = pick(s, dir, STR("index"), index, err);
    IGNORE_ERROR(fs_remove_tree(dir, NULL));
    return r;
}

/* The database beside helm's cached index, which stays; where nothing may be written one for this time. */
static int pick_cached(struct search *s, const char *index, struct err **err)
{
    struct err *cause = NULL;
    int r = pick(s, s->l->cache ? s->l->cache : ".", s->found->source.name, index, &cause);

    if (r == -ERRC_FORBIDDEN || r == -ERRC_IO) {
        err_free(cause);
        return pick_once(s, index, err);
    }
    if (err)
        *err = cause;
    else
        err_free(cause);
    return r;
}

int registry_name_of_url(struct arena *a, struct str url, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf path = BUF_INIT(HTTP_URL_MAX), shown = BUF_INIT(HTTP_URL_MAX * 4);
    size_t end = 0;
    struct str name;

    while (end < url.n && url.p[end] != '?' && url.p[end] != '#')
        end++;
    if (url_unescape(str_sub(url, 0, end), &path)) {
        name = str_basename(str_trim_suffix(buf_str(&path), STR("/")));
        if (fs_path_is_below(name)) {
            *ret = arena_dup(a, name);
            return 0;
        }
    }
    http_url_redact(url, &shown);
    return err_set(err, ERRC_INVALID, "invalid chart URL format: %s", buf_z(&shown));
}

static int take_url(struct search *s, struct err **err)
{
    struct registry_found *f = s->found;
    struct value urls = value_getz(f->entry.entry, "urls");

    f->name = f->entry.name;
    f->version = f->entry.version;
    f->url = registry_resolve_url(s->a, f->source.url, value_str(value_at(urls, 0)));
    if (oci_is_url(f->url)) {
        f->file = arena_printf(s->a, STR_FMT "-" STR_FMT ".tgz", STR_ARG(f->name), STR_ARG(f->version));
        return fs_path_is_below(f->file)
                   ? 0
                   : err_set(err, ERRC_INVALID, "chart name \"" STR_FMT "\" is not allowed",
                             STR_ARG(f->name));
    }
    return registry_name_of_url(s->a, f->url, &f->file, err);
}

/* --repo URL: the index is fetched now, and forgotten. */
static int resolve_in_url(struct search *s, struct err **err)
{
    CLEANUP(free_ptr) char *dir = NULL, *path = NULL;
    CLEANUP(err_free) struct err *cause = NULL;
    CLEANUP(buf_done) struct buf what = BUF_INIT(4 * KIB);
    struct registry_fetched ignored;
    int r = fs_make_temp_dir("pintle-index", &dir, err);

    if (r < 0)
        return r;
    path = fs_join(dir, "index.yaml");
    r = registry_fetch_index(&s->found->source, s->a, NULL, path, &ignored, err);
    if (r >= 0)
        r = pick(s, dir, STR("index"), path, &cause);
    IGNORE_ERROR(fs_remove_tree(dir, NULL));
    utf8_quote(s->reference, &what);
    if (s->version.n > 0) {
        buf_adds(&what, " version ");
        utf8_quote(s->version, &what);
    }
    if (cause && (r == -ERRC_NOT_FOUND || r == -ERRC_PARSE) &&
        !str_contains(str_from(err_message(cause)), STR("line ")))
        return err_set(err, ERRC_NOT_FOUND, "chart %s not found in " STR_FMT " repository", buf_z(&what),
                       STR_ARG(s->found->source.url));
    if (r < 0) {
        if (cause && err)
            *err = TAKE(cause);
        return r;
    }
    if (value_len(value_getz(s->found->entry.entry, "urls")) == 0)
        return err_set(err, ERRC_NOT_FOUND, "chart %s has no downloadable URLs", buf_z(&what));
    return take_url(s, err);
}

/* repo/chart: what `helm repo update` left in the cache. */
static int resolve_in_cache(struct search *s, struct str reference, struct err **err)
{
    CLEANUP(free_ptr) char *file = xasprintf(STR_FMT "-index.yaml", STR_ARG(s->found->source.name));
    CLEANUP(free_ptr) char *path = fs_join(s->l->cache ? s->l->cache : ".", file);
    int r;

    if (!fs_path_is_below(str_from(file)) || !fs_exists(path))
        return err_set(err, ERRC_NOT_FOUND,
                       "no cached repo found. (try 'helm repo update'): open %s: no such file or directory",
                       path);
    r = pick_cached(s, path, err);
    if (r < 0)
        return err_wrap(err, r,
                        "chart \"" STR_FMT "\" matching " STR_FMT " not found in " STR_FMT
                        " index. (try 'helm repo update')",
                        STR_ARG(s->reference), STR_ARG(s->version), STR_ARG(s->found->source.name));
    if (value_len(value_getz(s->found->entry.entry, "urls")) == 0)
        return err_set(err, ERRC_NOT_FOUND, "chart \"" STR_FMT "\" has no downloadable URLs",
                       STR_ARG(reference));
    return take_url(s, err);
}

static int resolve_named(struct search *s, struct err **err)
{
    struct str reference = s->reference, chart = s->reference, repo;
    struct registry_entry e;
    int r;

    if (str_find_char(reference, '/') == STR_NPOS)
        return err_set(err, ERRC_NOT_FOUND,
                       "non-absolute URLs should be in form of repo_name/path_to_chart, got: " STR_FMT,
                       STR_ARG(reference));
    str_split(&chart, '/', &repo);
    r = find_entry(s, repo, &e, err);
    if (r == 0)
        r = use_entry(s, &e, err);
    s->reference = chart;
    return r < 0 ? r : resolve_in_cache(s, reference, err);
}

/* ---- registries -------------------------------------------------------------------------------------------------- */

static bool is_version(struct str text)
{
    struct semver v;

    return text.n > 0 && semver_parse(text, &v, NULL) == 0;
}

/* GetTagMatchingVersionOrConstraint(): the exact one, else the first that satisfies. */
static int pick_tag(struct search *s, const struct str *versions, size_t n, struct str *ret, struct err **err)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *c = NULL;
    int r;

    for (size_t i = 0; i < n; i++)
        if (str_eq(versions[i], s->version)) {
            *ret = versions[i];
            return 0;
        }
    r = semver_constraint_parse(s->version.n ? s->version : STR("*"), &c, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        struct semver v;

        if (semver_parse(versions[i], &v, NULL) == 0 && semver_constraint_check(c, &v)) {
            *ret = versions[i];
            return 0;
        }
    }
    return err_set(err, ERRC_NOT_FOUND,
                   "could not locate a version matching provided version string " STR_FMT,
                   STR_ARG(s->version));
}

static int list_and_pick(struct search *s, const struct oci_ref *ref, struct str *ret, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct str *versions;
    size_t n;
    int r = registry_oci_open(&s->found->source, s->a, ref->host, &c, err);

    if (r == 0)
        r = registry_oci_versions(c, s->a, ref, &versions, &n, err);
    if (r == 0 && n == 0)
        return err_set(err, ERRC_NOT_FOUND, "unable to locate any tags in provided repository: " STR_FMT,
                       STR_ARG(s->reference));
    return r < 0 ? r : pick_tag(s, versions, n, ret, err);
}

/* With a tag or version beside the digest the two must agree, unless the registry has no such tag (any more). */
static int check_pin(struct search *s, const struct oci_ref *ref, struct str version, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct oci_ref tagged = *ref;
    struct str digest;
    int r = registry_oci_open(&s->found->source, s->a, ref->host, &c, err);

    if (r < 0)
        return r;
    tagged.tag = oci_tag_of_version(s->a, version);
    tagged.digest = STR("");
    if (oci_resolve(c, s->a, &tagged, &digest, NULL) < 0 || str_eq(digest, ref->digest))
        return 0;
    return err_set(err, ERRC_DIGEST, "chart reference digest mismatch: " STR_FMT " is not " STR_FMT,
                   STR_ARG(digest), STR_ARG(ref->digest));
}

static void name_pinned(struct search *s, const struct oci_ref *ref)
{
    struct registry_found *f = s->found;

    f->url = arena_printf(s->a, OCI_SCHEME STR_FMT "/" STR_FMT "@" STR_FMT, STR_ARG(ref->host),
                          STR_ARG(ref->repository), STR_ARG(ref->digest));
    f->file = arena_printf(s->a, STR_FMT "@sha256-" STR_FMT ".tgz", STR_ARG(f->name),
                           STR_ARG(str_trim_prefix(ref->digest, STR("sha256:"))));
}

static int resolve_oci(struct search *s, struct err **err)
{
    struct registry_found *f = s->found;
    struct str version = s->version;
    struct oci_ref ref;
    int r;

    r = oci_ref_parse(s->a, s->reference, &ref, err);
    if (r == 0)
        r = registry_use_registry(s->l, s->a, &ref, f, err);
    if (r < 0)
        return r;
    f->name = str_basename(ref.repository);
    if (version.n > 0 && ref.tag.n > 0 && !str_eq(oci_tag_of_version(s->a, version), ref.tag))
        return err_set(err, ERRC_INVALID, "chart reference and version mismatch: " STR_FMT " is not " STR_FMT,
                       STR_ARG(version), STR_ARG(ref.tag));
    if (version.n == 0)
        version = oci_version_of_tag(s->a, ref.tag);
    if (ref.digest.n > 0) {
        name_pinned(s, &ref);
        return version.n > 0 ? check_pin(s, &ref, version, err) : 0;
    }
    s->version = version;
    f->version = version;
    if (!is_version(version))
        r = list_and_pick(s, &ref, &f->version, err);
    if (r < 0)
        return r;
    f->url = arena_printf(s->a, OCI_SCHEME STR_FMT "/" STR_FMT ":" STR_FMT, STR_ARG(ref.host),
                          STR_ARG(ref.repository), STR_ARG(f->version));
    f->file = arena_printf(s->a, STR_FMT "-" STR_FMT ".tgz", STR_ARG(f->name), STR_ARG(f->version));
    return 0;
}

/* ---- the forms --------------------------------------------------------------------------------------------------- */

static int resolve_archive(struct search *s, struct err **err)
{
    struct str scheme = str_sub(s->reference, 0, str_find(s->reference, STR("://")));
    struct registry_entry e;
    int r = 0;

    if (!str_eq(scheme, STR("https")) && !str_eq(scheme, STR("http")) &&
        !(str_eq(scheme, STR("file")) && s->l->source.files))
        return err_set(err, ERRC_UNSUPPORTED, "scheme \"" STR_FMT "\" not supported", STR_ARG(scheme));
    use_flags(s, s->reference);
    if (find_owner(s, s->reference, &e))
        r = use_entry(s, &e, err);
    s->found->url = s->reference;
    return r < 0 ? r : registry_name_of_url(s->a, s->reference, &s->found->file, err);
}

static int resolve_in_repository(struct search *s, struct str repository, struct err **err)
{
    struct str alias = str_has_prefix(repository, STR("@"))        ? str_sub(repository, 1, repository.n)
                       : str_has_prefix(repository, STR("alias:")) ? str_sub(repository, 6, repository.n)
                                                                   : STR("");
    struct registry_entry e = { .url = repository };
    int r = alias.n ? find_entry(s, alias, &e, err) : 0;

    if (r < 0)
        return r;
    if (oci_is_url(e.url)) {
        s->reference = arena_printf(s->a, STR_FMT "/" STR_FMT, STR_ARG(str_trim_suffix(e.url, STR("/"))),
                                    STR_ARG(s->reference));
        return resolve_oci(s, err);
    }
    if (alias.n > 0 ||
        (s->l->configured && find_owner(s, repository, &e) &&
         str_eq(registry_normalize_url(s->a, e.url), registry_normalize_url(s->a, repository))))
        r = use_entry(s, &e, err);
    else
        use_flags(s, repository);
    return r < 0 ? r : resolve_in_url(s, err);
}

int registry_resolve(const struct registry_locator *l, struct str reference, struct str repository,
                     struct str version, struct registry_found *ret, struct err **err)
{
    CLEANUP(registry_found_done)
    struct registry_found f = { .memory = arena_new(INDEX_TEXT_MAX),
                                .archive = BUF_INIT(ARCHIVE_PACKED_MAX),
                                .prov = BUF_INIT(PROVENANCE_MAX) };
    struct search s = { .l = l,
                        .a = f.memory,
                        .reference = arena_dup(f.memory, str_trim(reference)),
                        .version = arena_dup(f.memory, str_trim(version)),
                        .found = &f };
    int r;

    if (repository.n > 0)
        r = resolve_in_repository(&s, arena_dup(f.memory, repository), err);
    else if (oci_is_url(s.reference))
        r = resolve_oci(&s, err);
    else if (str_find(s.reference, STR("://")) != STR_NPOS)
        r = resolve_archive(&s, err);
    else
        r = resolve_named(&s, err);
    if (r < 0)
        return r;
    f.reference = repository.n > 0 ? f.url : arena_dup(f.memory, str_trim(reference));
    *ret = f;
    f = (struct registry_found){ 0 };
    return 0;
}

int registry_locate(const struct registry_locator *l, struct str reference, struct str repository,
                    struct str version, struct registry_found *ret, struct err **err)
{
    CLEANUP(registry_found_done) struct registry_found f = { 0 };
    int r = registry_resolve(l, reference, repository, version, &f, err);

    if (r == 0)
        r = registry_fetch_found(l, &f, err);
    if (r < 0)
        return r;
    *ret = f;
    f = (struct registry_found){ 0 };
    return 0;
}

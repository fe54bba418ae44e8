/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/clock.h"
#include "mirror/serve_int.h"
#include "registry/registry.h"
#include "semver/semver.h"

#define ADD_MEMORY_MAX (64 * MIB)
#define LIKE_MAX 4

/* One chart on its way in. */
struct adding {
    struct mirror *m;
    struct arena *arena;
    const struct mirror_addition *what;
    struct metadata metadata;
    struct mirror_record record, old;
    bool has_old;
};

/* ---- what it is --------------------------------------------------------------------------------------------------------- */

static int read_chart(struct adding *x, struct err **err)
{
    struct mirror_record *rec = &x->record;
    struct str folder = x->what->folder;
    char hex[SHA256_HEX];
    struct value own;
    int r = registry_archive_entry(x->arena, x->what->archive, clock_wall(), &x->metadata, &own, err);

    if (r < 0)
        return r;
    sha256_hex(x->what->archive, hex);
    rec->name = x->metadata.name;
    rec->version = x->metadata.version;
    rec->path =
        folder.n ? arena_printf(x->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(rec->name)) : rec->name;
    rec->tag = oci_tag_of_version(x->arena, rec->version);
    rec->archive = arena_dup(x->arena, str_from(hex));
    rec->size = (int64_t)x->what->archive.n;
    rec->source = x->what->source;
    rec->media_type = STR(OCI_MEDIA_MANIFEST);
    rec->entry = value_is_map(x->what->entry) ? value_copy_maps(x->arena, x->what->entry) : own;
    value_unset(rec->entry, STR("urls"));
    value_setz(rec->entry, "digest", value_from_str(rec->archive));
    if (!value_is_string(value_getz(rec->entry, "created")))
        value_setz(rec->entry, "created", value_getz(own, "created"));
    if (!mirror_path_valid(rec->path) || str_find_char(rec->name, '/') != STR_NPOS)
        return err_set(
            err, ERRC_INVALID,
            "the name \"%.*s\" cannot be kept: letters, digits, '.', '_' and '-', at most %zu bytes",
            STR_ARG(rec->path), MIRROR_NAME_MAX);
    if (!mirror_tag_valid(rec->tag))
        return err_set(err, ERRC_INVALID, "the version \"%.*s\" cannot be kept: at most %zu bytes",
                       STR_ARG(rec->version), MIRROR_TAG_MAX);
    return 0;
}

/* The upstream index, or the pusher, speaks of the chart that the archive is. */
static int check_entry(const struct adding *x, struct err **err)
{
    const struct mirror_record *rec = &x->record;
    struct value entry = x->what->entry;
    struct str name = value_str(value_getz(entry, "name")), version = value_str(value_getz(entry, "version"));

    if (x->what->place.n > 0 && (!str_eq(x->what->place, rec->path) || !str_eq(x->what->tag, rec->tag)))
        return err_set(err, ERRC_INVALID, "at %.*s:%.*s is the chart %.*s %.*s", STR_ARG(x->what->place),
                       STR_ARG(x->what->tag), STR_ARG(rec->name), STR_ARG(rec->version));
    if (!value_is_map(entry) || (str_eq(name, x->record.name) && str_eq(version, x->record.version)))
        return 0;
    return err_set(err, ERRC_INVALID, "the index says %.*s %.*s, the archive is %.*s %.*s", STR_ARG(name),
                   STR_ARG(version), STR_ARG(x->record.name), STR_ARG(x->record.version));
}

/* ---- what is there --------------------------------------------------------------------------------------------------- */

int mirror_check_replacement(const struct mirror_record *old, struct str accepted, struct str digest,
                             struct err **err)
{
    struct str one;

    if (str_ieq(old->accepted, digest))
        return 0;
    while (str_split(&accepted, ',', &one))
        if (str_ieq(str_trim_prefix(str_trim(one), STR("sha256:")), digest))
            return 0;
    return err_set(
        err, ERRC_DIGEST,
        "%.*s %.*s is kept with sha256:%.*s; other bytes are refused until their digest is accepted: "
        "sha256:%.*s",
        STR_ARG(old->path), STR_ARG(old->version), STR_ARG(old->archive), STR_ARG(digest));
}

static int check_old(struct adding *x, enum mirror_outcome *ret, struct err **err)
{
    *ret = MIRROR_ADDED;
    if (!x->has_old)
        return 0;
    if (str_eq(x->old.archive, x->record.archive)) {
        *ret = MIRROR_KEPT;
        return 0;
    }
    *ret = MIRROR_REPLACED;
    return mirror_check_replacement(&x->old, x->what->accepted, x->record.archive, err);
}

/* Archives of the versions beside this one: the older ones first. */
static int find_like(struct adding *x, struct str *like, size_t *ret_n, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(ADD_MEMORY_MAX);
    struct mirror_record *all;
    struct semver own = { 0 }, v;
    size_t n, at = 0, count = 0;
    int r = mirror_records(x->m, a, x->record.path, &all, &n, err);

    if (r < 0)
        return r;
    if (semver_parse(x->record.version, &own, NULL) == 0)
        while (at < n && semver_parse(all[at].version, &v, NULL) == 0 && semver_cmp(&v, &own) > 0)
            at++;
    for (size_t i = at; i < n && count < LIKE_MAX - 1; i++)
        if (all[i].archive.n > 0)
            like[count++] = arena_dup(x->arena, all[i].archive);
    for (size_t i = at; i-- > 0 && count < LIKE_MAX;)
        if (all[i].archive.n > 0)
            like[count++] = arena_dup(x->arena, all[i].archive);
    *ret_n = count;
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------ */

static int put_given_manifest(struct adding *x, char hex[SHA256_HEX], struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < x->what->n_blobs && r == 0; i++)
        r = mirror_put(x->m, x->what->blobs[i], hex, err);
    return r < 0 ? r : mirror_put(x->m, x->what->manifest, hex, err);
}

static int put_manifest(struct adding *x, struct err **err)
{
    CLEANUP(buf_done) struct buf config = BUF_INIT(MIRROR_MANIFEST_MAX), text = BUF_INIT(MIRROR_MANIFEST_MAX);
    struct mirror_manifest_parts parts = {
        .metadata = &x->metadata,
        .created = value_str(value_getz(x->record.entry, "created")),
        .archive = x->record.archive,
        .provenance = x->record.provenance,
        .archive_size = x->what->archive.n,
        .provenance_size = x->what->provenance.n,
    };
    char hex[SHA256_HEX];
    int r;

    if (x->what->manifest.n > 0) {
        r = put_given_manifest(x, hex, err);
    } else {
        r = mirror_make_manifest(x->arena, &parts, &config, &text, err);
        if (r == 0)
            r = mirror_put(x->m, buf_str(&config), hex, err);
        if (r == 0)
            r = mirror_put(x->m, buf_str(&text), hex, err);
    }
    if (r == 0)
        x->record.manifest = arena_dup(x->arena, str_from(hex));
    return r;
}

static int put_provenance(struct adding *x, struct err **err)
{
    char hex[SHA256_HEX];
    int r;

    if (x->what->provenance.n == 0)
        return 0;
    if (x->what->provenance.n > MIRROR_PROVENANCE_MAX)
        return err_set(err, ERRC_LIMIT, "the provenance file is larger than %zu bytes",
                       MIRROR_PROVENANCE_MAX);
    r = mirror_put(x->m, x->what->provenance, hex, err);
    if (r == 0)
        x->record.provenance = arena_dup(x->arena, str_from(hex));
    return r;
}

static int write_new(struct adding *x, struct err **err)
{
    struct str like[LIKE_MAX];
    char hex[SHA256_HEX];
    size_t n = 0;
    int r = find_like(x, like, &n, err);

    if (r == 0)
        r = mirror_put_archive(x->m, x->what->archive, like, n, hex, err);
    if (r == 0)
        r = put_provenance(x, err);
    if (r == 0)
        r = put_manifest(x, err);
    return r < 0 ? r : mirror_write_record(x->m, &x->record, err);
}

bool mirror_record_has_manifest(const struct mirror_record *r, struct str digest)
{
    for (struct value_iter it = value_iter(r->manifests); value_next(&it);)
        if (str_eq(value_str(it.v), digest))
            return true;
    return str_eq(r->manifest, digest);
}

/* One more manifest of x->record, beside those it has. */
static int note_manifest(struct adding *x, struct str digest, struct err **err)
{
    struct value_list list = VALUE_LIST_INIT(x->arena);

    if (mirror_record_has_manifest(&x->record, digest))
        return 0;
    if (value_len(x->record.manifests) + 2 > MIRROR_MANIFESTS_MAX)
        return err_set(err, ERRC_LIMIT, "%.*s %.*s has %zu manifests, more are not kept",
                       STR_ARG(x->record.path), STR_ARG(x->record.version), MIRROR_MANIFESTS_MAX);
    for (struct value_iter it = value_iter(x->record.manifests); value_next(&it);)
        value_list_add(&list, it.v);
    value_list_add(&list, value_from_str(arena_dup(x->arena, digest)));
    x->record.manifests = value_list_done(&list);
    return 0;
}

/* Another manifest for the same bytes is kept under its digest, while the tag stays what it is. */
static int add_manifest(struct adding *x, struct err **err)
{
    char hex[SHA256_HEX];
    int r;

    sha256_hex(x->what->manifest, hex);
    r = note_manifest(x, str_from(hex), err);
    return r < 0 ? r : put_given_manifest(x, hex, err);
}

/* One that says that there is a provenance file takes the place of one that did not. */
static int add_provenance(struct adding *x, struct err **err)
{
    struct str before = x->record.manifest;
    int r = put_provenance(x, err);

    if (r == 0)
        r = put_manifest(x, err);
    return r < 0 ? r : note_manifest(x, before, err);
}

/* The bytes are there. What may have come since: a provenance file, another manifest. */
static int write_again(struct adding *x, struct err **err)
{
    int r;

    x->record = x->old;
    if (x->what->provenance.n > 0 && x->old.provenance.n == 0)
        r = add_provenance(x, err);
    else if (x->what->manifest.n > 0)
        r = add_manifest(x, err);
    else
        return 0;
    if (r == 0 &&
        value_equal(mirror_record_value(x->arena, &x->record), mirror_record_value(x->arena, &x->old)))
        return 0;
    return r < 0 ? r : mirror_write_record(x->m, &x->record, err);
}

static int add_locked(struct adding *x, enum mirror_outcome *ret, struct err **err)
{
    int r = mirror_look_up(x->m, x->arena, x->record.path, x->record.tag, &x->old, &x->has_old, err);

    if (r == 0)
        r = check_old(x, ret, err);
    if (r < 0)
        return r;
    return *ret == MIRROR_KEPT ? write_again(x, err) : write_new(x, err);
}

int mirror_add(struct mirror *m, struct arena *a, const struct mirror_addition *what,
               enum mirror_outcome *ret, struct mirror_record *ret_record, struct err **err)
{
    struct adding x = { .m = m, .arena = a, .what = what };
    enum mirror_outcome outcome = MIRROR_ADDED;
    int r = read_chart(&x, err);

    if (r == 0)
        r = check_entry(&x, err);
    if (r == 0)
        r = mirror_lock(m, err);
    if (r < 0)
        return r;
    r = add_locked(&x, &outcome, err);
    mirror_unlock(m);
    if (r < 0)
        return r;
    *ret = outcome;
    if (ret_record)
        *ret_record = x.record;
    return 0;
}

int mirror_accept(struct mirror *m, struct str path, struct str tag, struct str digest, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(ADD_MEMORY_MAX);
    struct mirror_record record;
    int r;

    digest = str_trim_prefix(digest, STR("sha256:"));
    if (!mirror_digest_valid(digest))
        return err_set(err, ERRC_INVALID, "\"%.*s\" is no sha256 digest", STR_ARG(digest));
    r = mirror_lock(m, err);
    if (r < 0)
        return r;
    r = mirror_find(m, a, path, tag, &record, err);
    if (r == 0) {
        record.accepted = digest;
        r = mirror_write_record(m, &record, err);
    }
    mirror_unlock(m);
    return r;
}

static int add_tag_locked(struct mirror *m, struct arena *a, struct mirror_record *record,
                          struct str manifest, struct err **err)
{
    struct mirror_record old;
    char hex[SHA256_HEX];
    int r = mirror_find(m, a, record->path, record->tag, &old, NULL);

    if (r == 0 && old.archive.n > 0)
        return err_set(err, ERRC_DIGEST, "%.*s %.*s is a chart and stays one", STR_ARG(record->path),
                       STR_ARG(record->tag));
    r = mirror_put(m, manifest, hex, err);
    record->manifest = str_from(hex);
    return r < 0 ? r : mirror_write_record(m, record, err);
}

int mirror_add_tag(struct mirror *m, struct str path, struct str tag, struct str manifest,
                   struct str media_type, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(ADD_MEMORY_MAX);
    struct mirror_record record = { .path = path, .tag = tag, .media_type = media_type };
    int r = mirror_lock(m, err);

    if (r < 0)
        return r;
    r = add_tag_locked(m, a, &record, manifest, err);
    mirror_unlock(m);
    return r;
}

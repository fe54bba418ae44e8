/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/fs.h"
#include "mirror/bundle.h"
#include "mirror/mirror_int.h"
#include "json/json.h"

#define IMPORT_MEMORY_MAX (1024 * MIB)
#define OBJECT_MAX (2 * MIRROR_TAR_MAX)
#define RECORD_MEMORY_MAX (4 * MIRROR_BLOB_MAX)

/* The bundle is unpacked into a mirror of its own within the folder: its packs take pieces from each other, and the packs of the
 * same archives here may be cut otherwise. */
struct importer {
    struct mirror *m, *staging;
    struct arena *arena;
    int fd;
    struct buf *problems;
    struct mirror_bundle_figures figures;
};

/* Nothing is parsed before the signature is good. */
static int read_manifest(struct importer *x, struct str public_pem, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIRROR_BUNDLE_MANIFEST_MAX), signature = BUF_INIT(4 * KIB);
    int r = bundle_read(x->fd, BUNDLE_MANIFEST, &text, err);

    if (r == 0)
        r = bundle_read(x->fd, BUNDLE_SIGNATURE, &signature, err);
    if (r == 0)
        r = mirror_check_signature(public_pem, buf_str(&text), buf_str(&signature), err);
    if (r == 0)
        r = json_parse(x->arena, arena_dup(x->arena, buf_str(&text)), NULL, ret, err);
    if (r < 0)
        return r;
    if (!str_eq(value_str(value_getz(*ret, "format")), STR(BUNDLE_FORMAT)))
        return err_set(err, ERRC_UNSUPPORTED, "the bundle is of another format than \"%s\"", BUNDLE_FORMAT);
    return 0;
}

/* ---- objects ------------------------------------------------------------------------------------------------------------ */

static int check_object(struct str name, struct str want, struct str bytes, struct err **err)
{
    char hex[SHA256_HEX];

    sha256_hex(bytes, hex);
    if (!str_eq(str_from(hex), want) || (!str_has_suffix(name, STR(".pack")) && !str_eq(name, want)))
        return err_set(err, ERRC_DIGEST, "object %.*s has sha256:%s, the manifest says %.*s", STR_ARG(name),
                       hex, STR_ARG(want));
    return 0;
}

/* Where a file of the bundle's objects/ goes; NULL for what is none. Owned. */
static char *object_path(struct importer *x, struct str name)
{
    struct str digest = str_sub(name, 0, MIN(name.n, (size_t)SHA256_HEX - 1));
    struct str suffix = str_sub(name, digest.n, name.n);

    if (!mirror_digest_valid(digest) ||
        (suffix.n > 0 && !str_eq(suffix, STR(".pack")) && !str_eq(suffix, STR(".pieces"))))
        return NULL;
    return mirror_file(x->staging, "objects/%.2s/%.*s", digest.p, STR_ARG(name));
}

static int import_object(struct importer *x, struct value o, struct err **err)
{
    struct str name = value_str(value_getz(o, "name"));
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(OBJECT_MAX);
    CLEANUP(free_ptr) char *path = object_path(x, name);
    CLEANUP(free_ptr) char *entry = NULL;
    int r;

    if (!path)
        return err_set(err, ERRC_PARSE, "the manifest names an object that is none");
    entry = xasprintf("objects/%.2s/%.*s", name.p, STR_ARG(name));
    r = bundle_read(x->fd, entry, &bytes, err);
    if (r == 0)
        r = check_object(name, value_str(value_getz(o, "sha256")), buf_str(&bytes), err);
    if (r < 0)
        return r;
    x->figures.objects++;
    x->figures.bytes += (int64_t)bytes.n;
    return mirror_write_file(x->staging, path, buf_str(&bytes), err);
}

static int read_object(struct importer *x, struct arena *a, struct str digest, struct str *ret,
                       struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(MIRROR_BLOB_MAX);
    int r = digest.n ? mirror_read(x->staging, digest, &bytes, err) : 0;

    if (r == 0)
        *ret = arena_dup(a, buf_str(&bytes));
    return r;
}

/* ---- charts ------------------------------------------------------------------------------------------------------------- */

/* A manifest, and what it names beside the archive and its provenance file. */
static int read_manifest_parts(struct importer *x, struct arena *a, const struct mirror_record *record,
                               struct str digest, struct mirror_addition *what, struct err **err)
{
    struct mirror_named *named;
    struct str *blobs;
    struct value v;
    size_t n;
    int r = read_object(x, a, digest, &what->manifest, err);

    if (r == 0)
        r = mirror_read_manifest(x->staging, a, digest, &v, err);
    if (r < 0)
        return r;
    named = mirror_manifest_names(a, v, &n);
    blobs = ARENA_ARRAY(a, struct str, n + 1);
    what->blobs = blobs;
    what->n_blobs = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        if (!str_eq(named[i].digest, record->archive) && !str_eq(named[i].digest, record->provenance))
            r = read_object(x, a, named[i].digest, &blobs[what->n_blobs++], err);
    return r;
}

static void refuse(struct importer *x, const struct mirror_record *record, struct err *cause)
{
    x->figures.refused++;
    buf_addf(x->problems, "refused %.*s %.*s: %s\n", STR_ARG(record->path), STR_ARG(record->tag),
             err_message(cause));
    err_free(cause);
}

static int add_chart(struct importer *x, struct arena *a, const struct mirror_record *record,
                     const struct mirror_addition *what, enum mirror_outcome *ret, struct err **err)
{
    struct err *cause = NULL;
    int r = mirror_add(x->m, a, what, ret, NULL, &cause);

    if (r == -ERRC_DIGEST) {
        refuse(x, record, cause);
        return 0;
    }
    if (r == 0)
        return 1;
    if (err)
        *err = TAKE(cause);
    err_free(cause);
    return r;
}

static int import_chart(struct importer *x, struct arena *a, const struct mirror_record *record,
                        struct err **err)
{
    struct mirror_addition what = { .folder = str_dirname(record->path),
                                    .entry = record->entry,
                                    .source = record->source,
                                    .place = record->path,
                                    .tag = record->tag };
    enum mirror_outcome outcome, again;
    int r = read_object(x, a, record->archive, &what.archive, err);

    if (r == 0)
        r = read_object(x, a, record->provenance, &what.provenance, err);
    if (r == 0)
        r = read_manifest_parts(x, a, record, record->manifest, &what, err);
    if (r == 0)
        r = add_chart(x, a, record, &what, &outcome, err);
    if (r <= 0)
        return r;
    x->figures.added += outcome == MIRROR_ADDED;
    x->figures.kept += outcome == MIRROR_KEPT;
    x->figures.replaced += outcome == MIRROR_REPLACED;
    for (struct value_iter it = value_iter(record->manifests); r > 0 && value_next(&it);) {
        r = read_manifest_parts(x, a, record, value_str(it.v), &what, err);
        if (r == 0)
            r = add_chart(x, a, record, &what, &again, err);
    }
    return r < 0 ? r : 0;
}

/* ---- tags that are no charts --------------------------------------------------------------------------------------------- */

static int copy_object(struct importer *x, struct arena *a, struct str digest, struct err **err)
{
    struct str bytes = STR("");
    char hex[SHA256_HEX];
    int r = read_object(x, a, digest, &bytes, err);

    if (r == 0)
        r = mirror_lock(x->m, err);
    if (r < 0)
        return r;
    r = mirror_put(x->m, bytes, hex, err);
    mirror_unlock(x->m);
    return r;
}

static int copy_manifest(struct importer *x, struct arena *a, struct str digest, int depth, struct err **err)
{
    struct mirror_named *named;
    struct value v;
    size_t n;
    int r = mirror_read_manifest(x->staging, a, digest, &v, err);

    if (r < 0)
        return r;
    named = mirror_manifest_names(a, v, &n);
    for (size_t i = 0; i < n && r == 0; i++)
        r = named[i].is_manifest && depth < MIRROR_NESTED_MAX
                ? copy_manifest(x, a, named[i].digest, depth + 1, err)
                : copy_object(x, a, named[i].digest, err);
    return r < 0 ? r : copy_object(x, a, digest, err);
}

static int import_tag(struct importer *x, struct arena *a, const struct mirror_record *record,
                      struct err **err)
{
    struct err *cause = NULL;
    struct mirror_record old;
    struct str manifest;
    bool there = mirror_find(x->m, a, record->path, record->tag, &old, NULL) == 0;
    int r;

    if (there && str_eq(old.manifest, record->manifest)) {
        x->figures.kept++;
        return 0;
    }
    r = copy_manifest(x, a, record->manifest, 0, err);
    if (r == 0)
        r = read_object(x, a, record->manifest, &manifest, err);
    if (r < 0)
        return r;
    r = mirror_add_tag(x->m, record->path, record->tag, manifest, record->media_type, &cause);
    if (r == -ERRC_DIGEST) {
        refuse(x, record, cause);
        return 0;
    }
    x->figures.added += r == 0 && !there;
    x->figures.replaced += r == 0 && there;
    if (err)
        *err = TAKE(cause);
    err_free(cause);
    return r;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------ */

static int import_record(struct importer *x, struct value v, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(RECORD_MEMORY_MAX);
    struct mirror_record record = { .path = value_str(value_getz(v, "path")),
                                    .tag = value_str(value_getz(v, "tag")) };
    int r = mirror_record_read(v, &record, err);

    if (r == 0 && (!mirror_path_valid(record.path) || !mirror_tag_valid(record.tag)))
        r = err_set(err, ERRC_PARSE, "the manifest names a version that cannot be kept");
    if (r == 0)
        r = record.archive.n ? import_chart(x, a, &record, err) : import_tag(x, a, &record, err);
    if (r == 0 && arena_failed(a))
        r = err_set(err, ERRC_LIMIT, "it takes more than %zu bytes", RECORD_MEMORY_MAX);
    if (r < 0)
        return err_wrap(err, r, "%.*s %.*s", STR_ARG(record.path), STR_ARG(record.tag));
    x->figures.versions++;
    return 0;
}

static int import_all(struct importer *x, struct str public_pem, struct err **err)
{
    struct value manifest;
    int r = read_manifest(x, public_pem, &manifest, err);

    if (r < 0)
        return r;
    for (struct value_iter it = value_iter(value_getz(manifest, "objects")); r == 0 && value_next(&it);)
        r = import_object(x, it.v, err);
    for (struct value_iter it = value_iter(value_getz(manifest, "records")); r == 0 && value_next(&it);)
        r = import_record(x, it.v, err);
    return r;
}

/* With its lock held: who sweeps leaves it alone. */
static int open_staging(struct importer *x, const char *folder, struct err **err)
{
    int r = mirror_lock(x->m, err);

    if (r < 0)
        return r;
    r = mirror_open(folder, true, &x->staging, err);
    if (r == 0) {
        r = mirror_hold(x->staging, err);
        if (r < 0)
            mirror_close(TAKE(x->staging));
    }
    mirror_unlock(x->m);
    return r;
}

static void close_staging(struct importer *x, const char *folder)
{
    IGNORE_ERROR(fs_remove_tree(folder, NULL));
    mirror_close(x->staging);
}

int mirror_import(struct mirror *m, const char *file, struct str public_pem, struct buf *problems,
                  struct mirror_bundle_figures *ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(IMPORT_MEMORY_MAX);
    CLEANUP(fd_close) int fd = open(file, O_RDONLY | O_CLOEXEC);
    CLEANUP(free_ptr) char *folder = mirror_file(m, MIRROR_STAGING "%08x", arc4random());
    struct importer x = { .m = m, .arena = a, .fd = fd, .problems = problems };
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", file);
    r = open_staging(&x, folder, err);
    if (r < 0)
        return r;
    r = import_all(&x, public_pem, err);
    close_staging(&x, folder);
    if (r < 0)
        return err_wrap(err, r, "%s", file);
    *ret = x.figures;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "base/fs.h"
#include "mirror/bundle.h"
#include "mirror/mirror_int.h"
#include "json/json.h"

#define IMPORT_MEMORY_MAX (1024 * MIB)
#define OBJECT_MAX (2 * MIRROR_TAR_MAX)

struct importer {
    struct mirror *m;
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

static int import_object(struct importer *x, struct value o, struct err **err)
{
    struct str name = value_str(value_getz(o, "name")), digest = str_trim_suffix(name, STR(".pack"));
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(OBJECT_MAX);
    CLEANUP(free_ptr) char *path = NULL;
    CLEANUP(free_ptr) char *entry = NULL;
    int r;

    if (!mirror_digest_valid(digest))
        return err_set(err, ERRC_PARSE, "the manifest names an object that is none");
    entry = xasprintf("objects/%.2s/%.*s", digest.p, STR_ARG(name));
    r = bundle_read(x->fd, entry, &bytes, err);
    if (r == 0)
        r = check_object(name, value_str(value_getz(o, "sha256")), buf_str(&bytes), err);
    if (r < 0)
        return r;
    x->figures.objects++;
    x->figures.bytes += (int64_t)bytes.n;
    path = mirror_object_path(x->m, digest, name.n > digest.n ? ".pack" : "");
    if (fs_is_file(path))
        return 0;
    r = mirror_lock(x->m, err);
    if (r < 0)
        return r;
    r = mirror_write_file(x->m, path, buf_str(&bytes), err);
    mirror_unlock(x->m);
    return r;
}

/* ---- records ------------------------------------------------------------------------------------------------------------ */

static int check_bytes(struct importer *x, struct str digest, struct err **err)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(MIRROR_BLOB_MAX);

    return digest.n ? mirror_read(x->m, digest, &bytes, err) : 0;
}

static void refuse(struct importer *x, const struct mirror_record *record, const struct mirror_record *old)
{
    x->figures.refused++;
    buf_addf(x->problems, "refused %.*s %.*s: kept with sha256:%.*s, the bundle has sha256:%.*s\n",
             STR_ARG(record->path), STR_ARG(record->tag), STR_ARG(old->archive), STR_ARG(record->archive));
}

static int import_locked(struct importer *x, struct mirror_record *record, struct err **err)
{
    struct mirror_record old;
    int r = mirror_find(x->m, x->arena, record->path, record->tag, &old, NULL);

    if (r == 0 && str_eq(old.archive, record->archive) &&
        (old.archive.n > 0 || str_eq(old.manifest, record->manifest))) {
        x->figures.kept++;
        return 0;
    }
    if (r == 0 && old.archive.n > 0 && !str_eq(old.accepted, record->archive)) {
        refuse(x, record, &old);
        return 0;
    }
    x->figures.added += r < 0;
    x->figures.replaced += r == 0;
    return mirror_write_record(x->m, record, err);
}

static int import_record(struct importer *x, struct value v, struct err **err)
{
    struct mirror_record record = { .path = value_str(value_getz(v, "path")),
                                    .tag = value_str(value_getz(v, "tag")) };
    int r = mirror_record_read(v, &record, err);

    record.accepted = STR("");
    if (r == 0 && (!mirror_path_valid(record.path) || !mirror_tag_valid(record.tag)))
        r = err_set(err, ERRC_PARSE, "the manifest names a version that cannot be kept");
    if (r == 0)
        r = check_bytes(x, record.archive, err);
    if (r == 0)
        r = check_bytes(x, record.provenance, err);
    if (r == 0)
        r = check_bytes(x, record.manifest, err);
    if (r == 0)
        r = mirror_lock(x->m, err);
    if (r < 0)
        return err_wrap(err, r, "%.*s %.*s", STR_ARG(record.path), STR_ARG(record.tag));
    x->figures.versions++;
    r = import_locked(x, &record, err);
    mirror_unlock(x->m);
    return r;
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

int mirror_import(struct mirror *m, const char *file, struct str public_pem, struct buf *problems,
                  struct mirror_bundle_figures *ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(IMPORT_MEMORY_MAX);
    CLEANUP(fd_close) int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct importer x = { .m = m, .arena = a, .fd = fd, .problems = problems };
    int r;

    if (fd < 0)
        return err_errno(err, errno, "%s", file);
    r = import_all(&x, public_pem, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file);
    *ret = x.figures;
    return 0;
}

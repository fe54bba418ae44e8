/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "mirror/bundle.h"
#include "mirror/mirror_int.h"
#include "json/json.h"

#define EXPORT_MEMORY_MAX (1024 * MIB)
#define OBJECT_MAX (2 * MIRROR_TAR_MAX)

struct exporter {
    struct mirror *m;
    struct arena *arena;
    struct map seen; /* names of files of objects/ */
    struct value_list records, objects;
    struct mirror_bundle_figures figures;
};

/* A file of objects/ with the digest of its bytes. */
static int add_file(struct exporter *x, struct str digest, const char *suffix, struct err **err)
{
    CLEANUP(free_ptr) char *path = mirror_object_path(x->m, digest, suffix);
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(OBJECT_MAX);
    struct str name = arena_printf(x->arena, "%.*s%s", STR_ARG(digest), suffix);
    struct value o = value_new_map(x->arena);
    char hex[SHA256_HEX];
    int r;

    if (map_put(&x->seen, name, x))
        return 0;
    r = fs_read_file(path, &bytes, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&bytes), hex);
    value_setz(o, "name", value_from_str(name));
    value_setz(o, "sha256", value_from_str(arena_dup(x->arena, str_from(hex))));
    value_setz(o, "size", value_from_int((int64_t)bytes.n));
    value_list_add(&x->objects, o);
    x->figures.objects++;
    x->figures.bytes += (int64_t)bytes.n;
    return 0;
}

/* Of the archives that it takes pieces from the packs alone are needed. */
static int add_pack(struct exporter *x, struct str digest, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIRROR_TAR_MAX);
    struct str *sources;
    size_t n;
    int r = mirror_pack_sources(x->m, a, digest, &sources, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        CLEANUP(free_ptr) char *packed = mirror_object_path(x->m, sources[i], ".pack");

        r = add_file(x, sources[i], fs_is_file(packed) ? ".pack" : ".pieces", err);
    }
    return r < 0 ? r : add_file(x, digest, ".pack", err);
}

static int add_object(struct exporter *x, struct str digest, struct err **err)
{
    CLEANUP(free_ptr) char *packed = NULL;

    if (!mirror_has(x->m, digest))
        return err_set(err, ERRC_NOT_FOUND, "nothing is kept under sha256:%.*s", STR_ARG(digest));
    packed = mirror_object_path(x->m, digest, ".pack");
    return fs_is_file(packed) ? add_pack(x, digest, err) : add_file(x, digest, "", err);
}

/* With all that it names. */
static int add_manifest(struct exporter *x, struct str digest, int depth, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct mirror_named *named;
    struct value v;
    size_t n;
    int r = mirror_read_manifest(x->m, a, digest, &v, err);

    if (r == 0)
        r = add_object(x, digest, err);
    if (r < 0)
        return r;
    named = mirror_manifest_names(a, v, &n);
    for (size_t i = 0; i < n && r == 0; i++)
        r = named[i].is_manifest && depth < MIRROR_NESTED_MAX
                ? add_manifest(x, named[i].digest, depth + 1, err)
                : add_object(x, named[i].digest, err);
    return r;
}

static int add_record(struct exporter *x, const struct mirror_record *record, struct err **err)
{
    struct value v = mirror_record_value(x->arena, record);
    int r = add_manifest(x, record->manifest, 0, err);

    for (struct value_iter it = value_iter(record->manifests); r == 0 && value_next(&it);)
        r = add_manifest(x, value_str(it.v), 0, err);
    if (r == 0 && record->archive.n > 0)
        r = add_object(x, record->archive, err);
    if (r == 0 && record->provenance.n > 0)
        r = add_object(x, record->provenance, err);
    if (r < 0)
        return err_wrap(err, r, "%.*s %.*s", STR_ARG(record->path), STR_ARG(record->tag));
    value_setz(v, "path", value_from_str(record->path));
    value_setz(v, "tag", value_from_str(record->tag));
    value_unset(v, STR("accepted"));
    value_list_add(&x->records, v);
    x->figures.versions++;
    return arena_failed(x->arena) ? err_set(err, ERRC_LIMIT, "too many versions for one bundle") : 0;
}

static int add_path(struct exporter *x, struct str path, struct err **err)
{
    struct mirror_record *records;
    size_t n;
    int r = mirror_records(x->m, x->arena, path, &records, &n, err);

    if (r == 0 && n == 0)
        r = err_set(err, ERRC_NOT_FOUND, "the mirror has no %.*s", STR_ARG(path));
    for (size_t i = 0; i < n && r == 0; i++)
        r = add_record(x, &records[i], err);
    return r;
}

static int print_manifest(struct exporter *x, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf now = BUF_INIT(64);
    struct value v = value_new_map(x->arena);

    clock_format_rfc3339(clock_wall(), &now);
    value_setz(v, "format", VALUE_STR(BUNDLE_FORMAT));
    value_setz(v, "created", value_from_str(arena_dup(x->arena, buf_str(&now))));
    value_setz(v, "records", value_list_done(&x->records));
    value_setz(v, "objects", value_list_done(&x->objects));
    return json_print(v, 0, out, err);
}

static int write_objects(struct exporter *x, int fd, struct err **err)
{
    int r = 0;

    for (size_t i = 0; i < x->objects.n && r == 0; i++) {
        struct str name = value_str(value_getz(x->objects.items[i], "name"));
        CLEANUP(buf_done) struct buf bytes = BUF_INIT(OBJECT_MAX);
        CLEANUP(free_ptr) char *path = mirror_file(x->m, "objects/%.2s/%.*s", name.p, STR_ARG(name));
        CLEANUP(free_ptr) char *entry = xasprintf("objects/%.2s/%.*s", name.p, STR_ARG(name));

        r = fs_read_file(path, &bytes, err);
        if (r == 0)
            r = bundle_write(fd, entry, buf_str(&bytes), err);
    }
    return r < 0 ? r : bundle_write_end(fd, err);
}

static int write_bundle(struct exporter *x, const char *file, struct str key_pem, struct err **err)
{
    CLEANUP(free_ptr) char *temp = xasprintf("%s.%08x.new", file, arc4random());
    CLEANUP(buf_done) struct buf manifest = BUF_INIT(MIRROR_BUNDLE_MANIFEST_MAX), signature = BUF_INIT(KIB);
    CLEANUP(fd_close) int fd = -1;
    int r = print_manifest(x, &manifest, err);

    if (r == 0)
        r = mirror_sign(key_pem, buf_str(&manifest), &signature, err);
    if (r < 0)
        return r;
    buf_addc(&signature, '\n');
    fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return err_errno(err, errno, "%s", temp);
    r = bundle_write(fd, BUNDLE_MANIFEST, buf_str(&manifest), err);
    if (r == 0)
        r = bundle_write(fd, BUNDLE_SIGNATURE, buf_str(&signature), err);
    if (r == 0)
        r = write_objects(x, fd, err);
    if (r == 0 && (fsync(fd) < 0 || rename(temp, file) < 0))
        r = err_errno(err, errno, "%s", file);
    if (r < 0)
        unlink(temp);
    return r;
}

int mirror_export(struct mirror *m, const struct str *paths, size_t n, const char *file, struct str key_pem,
                  struct mirror_bundle_figures *ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(EXPORT_MEMORY_MAX);
    struct exporter x = { .m = m, .arena = a, .records = VALUE_LIST_INIT(a), .objects = VALUE_LIST_INIT(a) };
    struct str *all = NULL;
    int r = n == 0 ? mirror_paths(m, a, &all, &n, err) : 0;

    for (size_t i = 0; i < n && r == 0; i++)
        r = add_path(&x, all ? all[i] : paths[i], err);
    if (r == 0)
        r = write_bundle(&x, file, key_pem, err);
    map_done(&x.seen);
    if (r == 0)
        *ret = x.figures;
    return r;
}

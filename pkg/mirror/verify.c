/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "mirror/mirror_int.h"

#define VERIFY_MEMORY_MAX (256 * MIB)

struct verifier {
    struct mirror *m;
    struct buf *problems;
    struct mirror_figures figures;
};

static void problem(struct verifier *v, const struct mirror_record *r, const char *what, struct err *err)
{
    v->figures.problems++;
    buf_addf(v->problems, "%.*s %.*s: %s%s%s\n", STR_ARG(r->path), STR_ARG(r->tag), what, err ? ": " : "",
             err_message(err));
    err_free(err);
}

/* The size of what is kept under the digest, or -1. */
static int64_t check_object(struct verifier *v, const struct mirror_record *r, struct str digest,
                            const char *what)
{
    CLEANUP(buf_done) struct buf bytes = BUF_INIT(MIRROR_BLOB_MAX);
    struct err *err = NULL;

    if (mirror_read(v->m, digest, &bytes, &err) < 0) {
        problem(v, r, what, err);
        return -1;
    }
    return (int64_t)bytes.n;
}

static void check_manifest(struct verifier *v, const struct mirror_record *r, struct str digest)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    struct mirror_named *named;
    struct err *err = NULL;
    struct value manifest;
    size_t n;

    if (mirror_read_manifest(v->m, a, digest, &manifest, &err) < 0) {
        problem(v, r, "damaged", err);
        return;
    }
    named = mirror_manifest_names(a, manifest, &n);
    for (size_t i = 0; i < n; i++)
        if (!mirror_has(v->m, named[i].digest))
            problem(v, r, "the manifest names what is not kept", NULL);
}

static void check_record(struct verifier *v, const struct mirror_record *r)
{
    int64_t n;

    check_manifest(v, r, r->manifest);
    for (struct value_iter it = value_iter(r->manifests); value_next(&it);)
        check_manifest(v, r, value_str(it.v));
    if (r->archive.n == 0) {
        v->figures.tags++;
        return;
    }
    v->figures.versions++;
    n = check_object(v, r, r->archive, "archive");
    v->figures.archive_bytes += n > 0 ? n : 0;
    if (r->provenance.n > 0)
        check_object(v, r, r->provenance, "provenance");
    if (!str_eq(value_str(value_getz(r->entry, "digest")), r->archive))
        problem(v, r, "the index entry has another digest than the record", NULL);
}

static int check_path(struct verifier *v, struct str path, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    struct str *tags;
    size_t n, before = v->figures.versions;
    int r = mirror_tags(v->m, a, path, &tags, &n, err);

    for (size_t i = 0; i < n && r == 0; i++) {
        struct mirror_record record = { .path = path, .tag = tags[i] };
        struct err *cause = NULL;

        if (mirror_find(v->m, a, path, tags[i], &record, &cause) < 0)
            problem(v, &record, "record", cause);
        else
            check_record(v, &record);
    }
    v->figures.charts += v->figures.versions > before;
    return r;
}

int mirror_verify(struct mirror *m, struct buf *problems, struct mirror_figures *ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    struct verifier v = { .m = m, .problems = problems };
    struct str *paths;
    size_t n;
    int r = mirror_paths(m, a, &paths, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        r = check_path(&v, paths[i], err);
    if (r < 0)
        return r;
    v.figures.disk_bytes = mirror_objects_bytes(m);
    *ret = v.figures;
    return 0;
}

/* ---- without looking at the bytes ---------------------------------------------------------------------------------------- */

static int64_t stored_bytes(struct mirror *m, struct str digest)
{
    static const char *const suffixes[] = { ".pack", "" };
    struct stat st;

    for (size_t i = 0; i < ARRAY_SIZE(suffixes) && digest.n > 0; i++) {
        CLEANUP(free_ptr) char *path = mirror_object_path(m, digest, suffixes[i]);

        if (stat(path, &st) == 0)
            return st.st_size;
    }
    return 0;
}

static int count_path(struct mirror *m, struct str path, struct mirror_figures *f, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    struct mirror_record *records;
    size_t n = 0, before = f->versions;
    int r = mirror_records(m, a, path, &records, &n, err);

    for (size_t i = 0; i < n; i++) {
        const struct mirror_record *record = &records[i];

        f->versions += record->archive.n > 0;
        f->tags += record->archive.n == 0;
        f->archive_bytes += record->size;
        f->disk_bytes += stored_bytes(m, record->archive) + stored_bytes(m, record->provenance) +
                         stored_bytes(m, record->manifest);
    }
    f->charts += f->versions > before;
    return r;
}

int mirror_folder_figures(struct mirror *m, struct str folder, struct mirror_figures *ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    struct mirror_figures figures = { 0 };
    struct str *paths;
    size_t n;
    int r = mirror_paths(m, a, &paths, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        if (str_eq(str_dirname(paths[i]), folder))
            r = count_path(m, paths[i], &figures, err);
    if (r == 0)
        *ret = figures;
    return r;
}

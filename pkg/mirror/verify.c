/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "base/fs.h"
#include "mirror/mirror_int.h"
#include "json/json.h"

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

/* Config and layers of an OCI manifest, or the manifests of an index. */
static void check_descriptors(struct verifier *v, const struct mirror_record *r, struct value list)
{
    for (struct value_iter it = value_iter(list); value_next(&it);) {
        struct str digest = str_trim_prefix(value_str(value_getz(it.v, "digest")), STR("sha256:"));

        if (!mirror_has(v->m, digest))
            problem(v, r, "the manifest names what is not kept", NULL);
    }
}

static void check_manifest(struct verifier *v, const struct mirror_record *r)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIRROR_MANIFEST_MAX);
    struct err *err = NULL;
    struct value manifest, config;

    if (mirror_read(v->m, r->manifest, &text, &err) < 0 ||
        json_parse(a, buf_str(&text), NULL, &manifest, &err) < 0) {
        problem(v, r, "manifest", err);
        return;
    }
    config = value_getz(manifest, "config");
    if (value_is_map(config))
        check_descriptors(v, r, value_from_list(&config, 1));
    check_descriptors(v, r, value_getz(manifest, "layers"));
    check_descriptors(v, r, value_getz(manifest, "manifests"));
}

static void check_record(struct verifier *v, const struct mirror_record *r)
{
    int64_t n;

    check_manifest(v, r);
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

static int64_t folder_bytes(const char *dir)
{
    int64_t total = 0;
    char **names;
    size_t n;

    if (fs_list_dir(dir, &names, &n, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(free_ptr) char *path = fs_join(dir, names[i]);
        struct stat st;

        if (lstat(path, &st) == 0)
            total += S_ISDIR(st.st_mode) ? folder_bytes(path) : st.st_size;
    }
    fs_names_free(names, n);
    return total;
}

int mirror_verify(struct mirror *m, struct buf *problems, struct mirror_figures *ret, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(VERIFY_MEMORY_MAX);
    CLEANUP(free_ptr) char *objects = mirror_file(m, "objects");
    struct verifier v = { .m = m, .problems = problems };
    struct str *paths;
    size_t n;
    int r = mirror_paths(m, a, &paths, &n, err);

    for (size_t i = 0; i < n && r == 0; i++)
        r = check_path(&v, paths[i], err);
    if (r < 0)
        return r;
    v.figures.disk_bytes = folder_bytes(objects);
    *ret = v.figures;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "base/digest.h"
#include "base/limits.h"

#define V2_TYPE "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* Documents of built-in groups change with the program only, those of custom groups with the CRDs. */
static struct str hash_of(struct api_request *rq, struct str group, struct str version)
{
    const struct api_resource *any = NULL;
    char hash[SHA256_HEX];
    uint64_t digest = 0;
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n && !any; i++)
        if (str_eq(rows[i].group, group) && str_eq(rows[i].version, version))
            any = &rows[i];
    if (any && !any->builtin)
        digest = api_catalog_digest(rq->catalog);
    sha256_hex(arena_printf(rq->arena, "%s %s " STR_FMT "/" STR_FMT " %llx", PINTLE_VERSION,
                            api_kind_tables_version(), STR_ARG(group), STR_ARG(version),
                            (unsigned long long)digest),
               hash);
    for (size_t i = 0; hash[i]; i++)
        hash[i] = ascii_upper(hash[i]);
    return arena_dup(rq->arena, str_from(hash));
}

static struct str path_of(struct api_request *rq, struct str group, struct str version)
{
    if (group.n == 0)
        return arena_printf(rq->arena, "api/" STR_FMT, STR_ARG(version));
    return arena_printf(rq->arena, "apis/" STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version));
}

static int serve_index(struct api_request *rq)
{
    struct value v = value_new_map(rq->arena), paths = value_new_map(rq->arena);
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n; i++) {
        struct str path = path_of(rq, rows[i].group, rows[i].version), hash;
        struct value one;

        if (value_has(paths, path))
            continue;
        hash = hash_of(rq, rows[i].group, rows[i].version);
        one = value_new_map(rq->arena);
        value_setz(one, "serverRelativeURL",
                   value_from_str(arena_printf(rq->arena, "/openapi/v3/" STR_FMT "?hash=" STR_FMT,
                                               STR_ARG(path), STR_ARG(hash))));
        value_set(paths, path, one);
    }
    value_setz(v, "paths", paths);
    return api_answer_value(rq, 200, v);
}

static int custom_document(struct api_request *rq, struct str group, struct str version, struct err **err)
{
    size_t n, n_kinds = 0;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);
    struct api_schema_openapi_kind *kinds = ARENA_ARRAY(rq->arena, struct api_schema_openapi_kind, n);

    for (size_t i = 0; i < n; i++) {
        const struct api_resource *r = &rows[i];

        if (r->builtin || !str_eq(r->group, group) || !str_eq(r->version, version))
            continue;
        kinds[n_kinds++] =
            (struct api_schema_openapi_kind){ r->kind,       r->list_kind,  r->plural,    r->singular,
                                              r->namespaced, r->has_status, r->has_scale, r->openapi };
    }
    if (n_kinds == 0)
        return err_set(err, ERRC_NOT_FOUND, "no such group version");
    return api_schema_openapi_v3(group, version, kinds, n_kinds, &rq->out, err);
}

static bool is_builtin(struct api_request *rq, struct str group, struct str version)
{
    size_t n;
    const struct api_resource *rows = api_catalog_all(rq->catalog, &n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(rows[i].group, group) && str_eq(rows[i].version, version))
            return rows[i].builtin != NULL;
    return false;
}

static int serve_document(struct api_request *rq, struct str rest)
{
    struct str root, group = STR(""), version, hash, etag;
    struct err *err = NULL;
    int r;

    str_split(&rest, '/', &root);
    if (str_eq(root, STR("apis")))
        str_split(&rest, '/', &group);
    version = rest;
    if (!api_catalog_has_version(rq->catalog, group, version))
        return api_answer_text(rq, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
    hash = hash_of(rq, group, version);
    etag = arena_printf(rq->arena, "\"" STR_FMT "\"", STR_ARG(hash));
    api_answer_header(rq, "ETag", etag);
    api_answer_header(rq, "Vary", STR("Accept"));
    if (str_eq(api_param(rq, "hash"), hash))
        api_answer_header(rq, "Cache-Control", STR("public, immutable"));
    if (str_eq(rq->if_none_match, etag)) {
        rq->code = 304;
        return 0;
    }
    rq->type = "application/json";
    r = is_builtin(rq, group, version) ? api_kind_openapi_v3(group, version, &rq->out, &err)
                                       : custom_document(rq, group, version, &err);
    return r < 0 ? api_fail_err(rq, err) : 0;
}

int api_openapi_serve(struct api_request *rq, bool *ret_mine)
{
    struct str path = str_trim_suffix(rq->path, STR("/"));

    *ret_mine = true;
    /* An empty document is a valid one: every client that validates by it then leaves that to the server. */
    if (str_eq(path, STR("/openapi/v2")))
        return api_answer_text(rq, 200, V2_TYPE, STR(""));
    if (str_eq(path, STR("/openapi/v3")))
        return serve_index(rq);
    if (str_has_prefix(path, STR("/openapi/v3/")))
        return serve_document(rq, str_sub(path, 12, path.n));
    *ret_mine = false;
    return 0;
}

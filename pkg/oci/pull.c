/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/limits.h"
#include "oci/oci_int.h"
#include "json/json.h"

/* ---- tags ---------------------------------------------------------------------------------------------------------- */

struct tags {
    struct str *items;
    size_t n, cap;
};

static int add_tags(struct arena *a, struct str body, struct tags *t, struct err **err)
{
    struct value root;
    int r = json_parse(a, arena_dup(a, body), NULL, &root, err);

    if (r < 0)
        return r;
    for (struct value_iter it = value_iter(value_getz(root, "tags")); value_next(&it);) {
        if (!value_is_string(it.v))
            continue;
        if (t->n == OCI_TAGS_MAX)
            return err_set(err, ERRC_LIMIT, "more than %zu tags", OCI_TAGS_MAX);
        if (t->n == t->cap) {
            t->items =
                arena_grow(a, t->items, t->cap * sizeof(*t->items), (t->cap * 2 + 64) * sizeof(*t->items));
            t->cap = t->cap * 2 + 64;
        }
        t->items[t->n++] = value_str(it.v);
    }
    return arena_failed(a) ? err_set(err, ERRC_LIMIT, "the tags need too much memory") : 0;
}

/* Link: </v2/name/tags/list?n=1000&last=x>; rel="next" */
static struct str next_link(const struct http_response *rs)
{
    struct str link = str_trim(http_response_header(rs, STR("Link")));
    size_t end = str_find_char(link, '>');

    if (!str_has_prefix(link, STR("<")) || end == STR_NPOS || !str_contains(link, STR("next")))
        return STR("");
    return str_sub(link, 1, end);
}

int oci_tags(struct oci_client *c, struct arena *a, const struct oci_ref *ref, struct str **ret,
             size_t *ret_n, struct err **err)
{
    struct oci_request rq = { .method = "GET",
                              .path = arena_printf(a, "/v2/" STR_FMT "/tags/list", STR_ARG(ref->repository)),
                              .scope = oci_scope(a, ref, "pull") };
    struct tags t = { 0 };
    int r;

    for (size_t page = 0; page < OCI_PAGES_MAX; page++) {
        CLEANUP(http_response_done) struct http_response rs = { 0 };
        struct str next;

        r = oci_do(c, &rq, &rs, err);
        if (r == 0)
            r = add_tags(a, rs.body, &t, err);
        if (r < 0)
            return r == -ERRC_PARSE || r == -ERRC_LIMIT
                       ? err_wrap(err, r, "tags of " STR_FMT, STR_ARG(ref->repository))
                       : r;
        next = next_link(&rs);
        if (next.n == 0) {
            *ret = t.items;
            *ret_n = t.n;
            return 0;
        }
        r = oci_same_origin(c, a, rs.url, next, &rq.path, err);
        if (r < 0)
            return err_wrap(err, r, "tags of " STR_FMT, STR_ARG(ref->repository));
    }
    return err_set(err, ERRC_LIMIT, "tags of " STR_FMT ": more than %zu pages", STR_ARG(ref->repository),
                   OCI_PAGES_MAX);
}

/* ---- manifests ----------------------------------------------------------------------------------------------------- */

static struct oci_request manifest_request(struct arena *a, const char *method, const struct oci_ref *ref)
{
    return (struct oci_request){ .method = method,
                                 .path = arena_printf(a, "/v2/" STR_FMT "/manifests/" STR_FMT,
                                                      STR_ARG(ref->repository),
                                                      STR_ARG(ref->digest.n ? ref->digest : ref->tag)),
                                 .accept = OCI_MEDIA_MANIFEST ", " OCI_MEDIA_INDEX,
                                 .scope = oci_scope(a, ref, "pull"),
                                 .missing_ok = true };
}

/* The words of oras.Copy() for what is not there. */
static int not_found(const struct oci_ref *ref, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(HTTP_URL_MAX * 2);
    int r;

    oci_ref_format(ref, &text);
    r = err_set(err, ERRC_NOT_FOUND, "failed to perform \"FetchReference\" on source: %s: not found",
                buf_z(&text));
    if (err)
        err_set_http(*err, 404, STR_NONE, 0);
    return r;
}

static int check_digest(const char *what, struct str bytes, struct str wanted, struct err **err)
{
    char hex[SHA256_HEX];

    sha256_hex(bytes, hex);
    if (str_eq(str_trim_prefix(wanted, STR("sha256:")), str_from(hex)))
        return 0;
    return err_set(err, ERRC_DIGEST, "%s " STR_FMT ": the registry sent bytes with sha256:%s", what,
                   STR_ARG(wanted), hex);
}

static int read_descriptor(struct value v, struct oci_descriptor *ret, struct err **err)
{
    struct oci_descriptor d = { value_str(value_getz(v, "mediaType")), value_str(value_getz(v, "digest")),
                                value_int(value_getz(v, "size"), -1) };

    if (!oci_digest_is_valid(d.digest) || d.size < 0)
        return err_set(err, ERRC_PARSE, "manifest: a descriptor without a sha256 digest or size");
    *ret = d;
    return 0;
}

static int read_layers(struct arena *a, struct oci_manifest *m, struct err **err)
{
    struct value layers = value_getz(m->root, "layers");
    size_t n = value_is_list(layers) ? value_len(layers) : 0;
    int r = 0;

    if (n > OCI_LAYERS_MAX)
        return err_set(err, ERRC_LIMIT, "manifest: more than %zu layers", OCI_LAYERS_MAX);
    m->layers = ARENA_ARRAY(a, struct oci_descriptor, n + 1);
    for (size_t i = 0; i < n && r == 0; i++)
        r = read_descriptor(value_at(layers, i), &m->layers[i], err);
    m->n_layers = n;
    return r;
}

static int read_manifest(struct arena *a, struct oci_manifest *m, struct err **err)
{
    struct str type;
    int r = json_parse(a, m->text, NULL, &m->root, err);

    if (r < 0)
        return err_wrap(err, r, "manifest");
    type = value_str(value_getz(m->root, "mediaType"));
    if (!value_is_map(value_getz(m->root, "config")) ||
        (type.n > 0 && !str_eq(type, STR(OCI_MEDIA_MANIFEST))))
        return err_set(err, ERRC_PARSE,
                       "manifest: not an image manifest"
                       "%s" STR_FMT,
                       type.n ? " but " : "", STR_ARG(type));
    r = read_descriptor(value_getz(m->root, "config"), &m->config, err);
    return r < 0 ? r : read_layers(a, m, err);
}

int oci_manifest_fetch(struct oci_client *c, struct arena *a, const struct oci_ref *ref,
                       struct oci_manifest *ret, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = manifest_request(a, "GET", ref);
    struct str told;
    char hex[SHA256_HEX];
    struct oci_manifest m = { 0 };
    int r = oci_do(c, &rq, &rs, err);

    if (r < 0)
        return r;
    if (rs.status == 404)
        return not_found(ref, err);
    told = http_response_header(&rs, STR("Docker-Content-Digest"));
    if (ref->digest.n > 0)
        r = check_digest("manifest", rs.body, ref->digest, err);
    else if (str_has_prefix(told, STR("sha256:")))
        r = check_digest("manifest", rs.body, told, err);
    if (r < 0)
        return r;
    m.text = arena_dup(a, rs.body);
    sha256_hex(m.text, hex);
    m.digest = arena_printf(a, "sha256:%s", hex);
    r = read_manifest(a, &m, err);
    if (r < 0)
        return r;
    *ret = m;
    return 0;
}

int oci_resolve(struct oci_client *c, struct arena *a, const struct oci_ref *ref, struct str *ret,
                struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = manifest_request(a, "HEAD", ref);
    struct str digest;
    int r = oci_do(c, &rq, &rs, err);

    if (r < 0)
        return r;
    if (rs.status == 404)
        return not_found(ref, err);
    digest = http_response_header(&rs, STR("Docker-Content-Digest"));
    if (!oci_digest_is_valid(digest))
        return err_set(err, ERRC_PARSE, "HEAD \"%s" STR_FMT "\": no sha256 digest in the answer", c->base,
                       STR_ARG(rq.path));
    *ret = arena_dup(a, digest);
    return 0;
}

/* ---- blobs --------------------------------------------------------------------------------------------------------- */

int oci_blob_fetch(struct oci_client *c, const struct oci_ref *ref, const struct oci_descriptor *d,
                   struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = { .method = "GET",
                              .path = arena_printf(a, "/v2/" STR_FMT "/blobs/" STR_FMT,
                                                   STR_ARG(ref->repository), STR_ARG(d->digest)),
                              .scope = oci_scope(a, ref, "pull"),
                              .body_max = (size_t)d->size };
    int r;

    if ((uint64_t)d->size > out->max - out->n)
        return err_set(err, ERRC_LIMIT, "blob " STR_FMT ": %lld bytes are more than the limit of %zu",
                       STR_ARG(d->digest), (long long)d->size, out->max - out->n);
    r = oci_do(c, &rq, &rs, err);
    if (r < 0)
        return r;
    if (rs.body.n != (size_t)d->size)
        return err_set(err, ERRC_DIGEST,
                       "blob " STR_FMT ": the manifest says %lld bytes, the registry sent %zu",
                       STR_ARG(d->digest), (long long)d->size, rs.body.n);
    r = check_digest("blob", rs.body, d->digest, err);
    if (r < 0)
        return r;
    buf_addstr(out, rs.body);
    return buf_check(out, err);
}

/* ---- charts -------------------------------------------------------------------------------------------------------- */

int oci_chart_layers(const struct oci_manifest *m, struct oci_chart_layers *ret, struct err **err)
{
    struct oci_chart_layers l = { 0 };

    for (size_t i = 0; i < m->n_layers; i++) {
        const struct oci_descriptor *d = &m->layers[i];

        l.is_legacy = str_eq(d->media_type, STR(OCI_MEDIA_CHART_LEGACY)) ||
                      (l.is_legacy && !str_eq(d->media_type, STR(OCI_MEDIA_CHART)));
        if (str_eq(d->media_type, STR(OCI_MEDIA_CHART)) || str_eq(d->media_type, STR(OCI_MEDIA_CHART_LEGACY)))
            l.chart = *d;
        else if (str_eq(d->media_type, STR(OCI_MEDIA_PROV)))
            l.prov = *d;
    }
    if (!str_eq(m->config.media_type, STR(OCI_MEDIA_CONFIG)))
        return err_set(err, ERRC_INVALID, "could not load config with mediatype " OCI_MEDIA_CONFIG);
    if (l.chart.media_type.n == 0)
        return err_set(err, ERRC_INVALID,
                       "manifest does not contain a layer with mediatype " OCI_MEDIA_CHART);
    *ret = l;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of `helm push`: config, chart and provenance as blobs, then an image manifest under the version's tag. */
#include "base/digest.h"
#include "base/limits.h"
#include "oci/oci_int.h"
#include "json/json.h"

static struct oci_descriptor describe(struct arena *a, const char *media_type, struct str bytes)
{
    char hex[SHA256_HEX];

    sha256_hex(bytes, hex);
    return (struct oci_descriptor){ str_from(media_type), arena_printf(a, "sha256:%s", hex),
                                    (int64_t)bytes.n };
}

static int blob_is_there(struct oci_client *c, struct arena *a, const struct oci_push *p,
                         const struct oci_descriptor *d, bool *ret, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = { .method = "HEAD",
                              .path = arena_printf(a, "/v2/" STR_FMT "/blobs/" STR_FMT,
                                                   STR_ARG(p->ref.repository), STR_ARG(d->digest)),
                              .scope = oci_scope(a, &p->ref, "pull,push"),
                              .missing_ok = true };
    int r = oci_do(c, &rq, &rs, err);

    if (r == 0)
        *ret = rs.status == 200;
    return r;
}

/* Where the upload goes: a POST says. */
static int start_upload(struct oci_client *c, struct arena *a, const struct oci_push *p,
                        const struct oci_descriptor *d, struct str *ret, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = { .method = "POST",
                              .path = arena_printf(a, "/v2/" STR_FMT "/blobs/uploads/",
                                                   STR_ARG(p->ref.repository)),
                              .body = STR(""),
                              .scope = oci_scope(a, &p->ref, "pull,push") };
    struct str location;
    int r = oci_do(c, &rq, &rs, err);

    if (r < 0)
        return r;
    location = http_response_header(&rs, STR("Location"));
    if (rs.status != 202 || location.n == 0)
        return err_set(err, ERRC_INVALID, "POST \"%s" STR_FMT "\": status %d without a place to upload to",
                       c->base, STR_ARG(rq.path), rs.status);
    r = oci_same_origin(c, a, rs.url, location, ret, err);
    if (r == 0)
        *ret = arena_printf(a, STR_FMT "%sdigest=" STR_FMT, STR_ARG(*ret),
                            str_find_char(*ret, '?') == STR_NPOS ? "?" : "&", STR_ARG(d->digest));
    return r;
}

static int put(struct oci_client *c, struct arena *a, const struct oci_push *p, struct str path,
               const char *media_type, struct str body, struct err **err)
{
    CLEANUP(http_response_done) struct http_response rs = { 0 };
    struct oci_request rq = { .method = "PUT",
                              .path = path,
                              .content_type = media_type,
                              .body = body,
                              .scope = oci_scope(a, &p->ref, "pull,push") };
    int r = oci_do(c, &rq, &rs, err);

    if (r < 0 || rs.status == 201)
        return r;
    return oci_status_error("PUT", &rs, err);
}

static int upload(struct oci_client *c, struct arena *a, const struct oci_push *p,
                  const struct oci_descriptor *d, struct str bytes, struct err **err)
{
    bool there = false;
    struct str location;
    int r = blob_is_there(c, a, p, d, &there, err);

    if (r < 0 || there)
        return r;
    r = start_upload(c, a, p, d, &location, err);
    return r < 0 ? r : put(c, a, p, location, "application/octet-stream", bytes, err);
}

/* Go's order of the fields, and its escapes: the same chart pushed by helm has the same manifest digest. */
static void print_descriptor(const struct oci_descriptor *d, struct buf *out)
{
    buf_addf(out, "{\"mediaType\":\"" STR_FMT "\",\"digest\":\"" STR_FMT "\",\"size\":%lld}",
             STR_ARG(d->media_type), STR_ARG(d->digest), (long long)d->size);
}

static int print_manifest(const struct oci_push *p, const struct oci_descriptor *config,
                          const struct oci_descriptor *chart, const struct oci_descriptor *prov,
                          struct buf *out, struct err **err)
{
    bool prov_first = prov && str_cmp(prov->digest, chart->digest) < 0;
    int r = 0;

    buf_adds(out, "{\"schemaVersion\":2,\"config\":");
    print_descriptor(config, out);
    buf_adds(out, ",\"layers\":[");
    print_descriptor(prov_first ? prov : chart, out);
    if (prov) {
        buf_addc(out, ',');
        print_descriptor(prov_first ? chart : prov, out);
    }
    buf_addc(out, ']');
    if (value_len(p->annotations) > 0) {
        buf_adds(out, ",\"annotations\":");
        r = json_print(p->annotations, JSON_ESCAPE_HTML, out, err);
    }
    buf_addc(out, '}');
    return r < 0 ? r : buf_check(out, err);
}

int oci_push_chart(struct oci_client *c, struct arena *a, const struct oci_push *p, struct str *ret_digest,
                   struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(OCI_MANIFEST_MAX);
    struct oci_descriptor config = describe(a, OCI_MEDIA_CONFIG, p->config),
                          chart = describe(a, OCI_MEDIA_CHART, p->archive), prov = { 0 }, manifest;
    int r;

    if (p->prov.n > 0)
        prov = describe(a, OCI_MEDIA_PROV, p->prov);
    r = upload(c, a, p, &config, p->config, err);
    if (r == 0)
        r = upload(c, a, p, &chart, p->archive, err);
    if (r == 0 && p->prov.n > 0)
        r = upload(c, a, p, &prov, p->prov, err);
    if (r == 0)
        r = print_manifest(p, &config, &chart, p->prov.n ? &prov : NULL, &text, err);
    if (r < 0)
        return r;
    manifest = describe(a, OCI_MEDIA_MANIFEST, buf_str(&text));
    r = put(c, a, p,
            arena_printf(a, "/v2/" STR_FMT "/manifests/" STR_FMT, STR_ARG(p->ref.repository),
                         STR_ARG(p->ref.tag)),
            OCI_MEDIA_MANIFEST, buf_str(&text), err);
    if (r == 0)
        *ret_digest = manifest.digest;
    return r;
}

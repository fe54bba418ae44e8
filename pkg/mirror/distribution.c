/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "mirror/serve_int.h"
#include "json/json.h"

#define LOG_MODULE "mirror"
#include "base/log.h"

#define REQUEST_MEMORY_MAX (64 * MIB)
#define PAGE_MAX 1000 /* tags or repositories of one answer */
#define DIGEST_PREFIX STR("sha256:")

void mirror_distribution_error(struct httpd_reply *reply, int status, const char *code, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    reply->status = status;
    reply->content_type = "application/json";
    buf_addf(&reply->body, "{\"errors\":[{\"code\":\"%s\",\"message\":", code);
    json_print_string(str_from(text), 0, &reply->body);
    buf_adds(&reply->body, "}]}\n");
}

/* ---- lists ------------------------------------------------------------------------------------------------------------- */

/* A page of sorted names, those behind `last`; the Link header when there are more (RFC 5988). */
static void send_page(const struct httpd_request *rq, const char *key, const struct str *names, size_t n,
                      struct httpd_reply *reply)
{
    struct str asked = httpd_request_query(rq, "n"), last = httpd_request_query(rq, "last");
    int64_t page = PAGE_MAX;
    size_t from = 0, sent = 0;

    if (asked.p && (!str_to_int64(asked, &page) || page < 0)) {
        reply->body.n = 0;
        mirror_distribution_error(reply, 400, "PAGINATION_NUMBER_INVALID", "n is no number");
        return;
    }
    page = MIN(page, (int64_t)PAGE_MAX);
    while (from < n && last.p && str_cmp(names[from], last) <= 0)
        from++;
    reply->content_type = "application/json";
    buf_addf(&reply->body, "\"%s\":[", key);
    for (; from < n && (int64_t)sent < page; from++, sent++) {
        buf_adds(&reply->body, sent ? "," : "");
        json_print_string(names[from], 0, &reply->body);
    }
    buf_adds(&reply->body, "]}\n");
    if (from < n && sent > 0)
        httpd_reply_header(reply, "Link", "<%.*s?n=%lld&last=%.*s>; rel=\"next\"", STR_ARG(rq->path),
                           (long long)page, STR_ARG(names[from - 1]));
}

static void send_tags(struct mirror *m, const struct httpd_request *rq, struct str name,
                      struct httpd_reply *reply)
{
    CLEANUP(arena_free) struct arena *a = arena_new(REQUEST_MEMORY_MAX);
    struct str *tags;
    size_t n;

    if (mirror_tags(m, a, name, &tags, &n, NULL) < 0 || n == 0) {
        mirror_distribution_error(reply, 404, "NAME_UNKNOWN", "there is no repository %.*s", STR_ARG(name));
        return;
    }
    buf_adds(&reply->body, "{\"name\":");
    json_print_string(name, 0, &reply->body);
    buf_addc(&reply->body, ',');
    send_page(rq, "tags", tags, n, reply);
}

static void send_catalog(struct mirror *m, const struct httpd_request *rq, struct httpd_reply *reply)
{
    CLEANUP(arena_free) struct arena *a = arena_new(REQUEST_MEMORY_MAX);
    struct str *paths = NULL;
    size_t n = 0;

    if (mirror_paths(m, a, &paths, &n, NULL) < 0)
        n = 0;
    buf_addc(&reply->body, '{');
    send_page(rq, "repositories", paths, n, reply);
}

/* ---- manifests ----------------------------------------------------------------------------------------------------------- */

static struct str type_of(struct value manifest)
{
    struct str type = value_str(value_getz(manifest, "mediaType"));

    if (type.n == 0 && value_is_map(value_getz(manifest, "config")))
        return STR(OCI_MEDIA_MANIFEST);
    if (type.n == 0 && value_is_list(value_getz(manifest, "manifests")))
        return STR(OCI_MEDIA_INDEX);
    return type;
}

/* The media type of an object that is a manifest; "" for what is none. */
static struct str stored_type(struct mirror *m, struct arena *a, struct str digest)
{
    struct value v;

    return mirror_read_manifest(m, a, digest, &v, NULL) < 0 ? STR("") : type_of(v);
}

static void get_manifest(struct mirror *m, const struct httpd_request *rq, struct str name,
                         struct str reference, struct httpd_reply *reply)
{
    CLEANUP(arena_free) struct arena *a = arena_new(REQUEST_MEMORY_MAX);
    struct mirror_record record = { 0 };

    if (str_has_prefix(reference, DIGEST_PREFIX)) {
        record.manifest = str_trim_prefix(reference, DIGEST_PREFIX);
        record.media_type = stored_type(m, a, record.manifest);
    } else if (mirror_find(m, a, name, reference, &record, NULL) < 0) {
        record.media_type = STR("");
    }
    if (record.media_type.n == 0) {
        mirror_distribution_error(reply, 404, "MANIFEST_UNKNOWN", "%.*s has no %.*s", STR_ARG(name),
                                  STR_ARG(reference));
        return;
    }
    mirror_send_object(m, rq, record.manifest, NULL, reply);
    httpd_reply_header(reply, "Content-Type", "%.*s", STR_ARG(record.media_type));
    httpd_reply_header(reply, "Docker-Content-Digest", "sha256:%.*s", STR_ARG(record.manifest));
}

/* A manifest on its way in. */
struct put {
    struct mirror *m;
    struct arena *arena;
    struct str name, reference, text;
    struct value root;
    struct str type;
    char hex[SHA256_HEX];
};

static struct str descriptor_digest(struct value d)
{
    return str_trim_prefix(value_str(value_getz(d, "digest")), DIGEST_PREFIX);
}

/* The digest of the first thing that is not here; "" when all are. */
static struct str find_missing(const struct put *p)
{
    size_t n;
    struct mirror_named *named = mirror_manifest_names(p->arena, p->root, &n);

    for (size_t i = 0; i < n; i++) {
        if (!mirror_has(p->m, named[i].digest))
            return arena_printf(p->arena, "sha256:%.*s", STR_ARG(named[i].digest));
        mirror_touch(p->m, named[i].digest);
    }
    return STR("");
}

static bool check_put(struct put *p, struct httpd_reply *reply)
{
    struct str missing = find_missing(p);

    if (missing.n > 0)
        mirror_distribution_error(reply, 400, "MANIFEST_BLOB_UNKNOWN", "%.*s was not pushed",
                                  STR_ARG(missing));
    else if (p->type.n == 0)
        mirror_distribution_error(reply, 400, "MANIFEST_INVALID", "neither an image manifest nor an index");
    else if (str_has_prefix(p->reference, DIGEST_PREFIX) &&
             !str_eq(str_trim_prefix(p->reference, DIGEST_PREFIX), str_from(p->hex)))
        mirror_distribution_error(reply, 400, "DIGEST_INVALID", "the manifest has sha256:%s", p->hex);
    else if (!str_has_prefix(p->reference, DIGEST_PREFIX) && !mirror_tag_valid(p->reference))
        mirror_distribution_error(reply, 400, "TAG_INVALID", "the tag cannot be kept");
    else
        return true;
    return false;
}

static struct str find_layer(struct value manifest, struct str type)
{
    for (struct value_iter it = value_iter(value_getz(manifest, "layers")); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "mediaType")), type))
            return descriptor_digest(it.v);
    return STR("");
}

static int put_chart(struct put *p, struct str layer, struct err **err)
{
    CLEANUP(buf_done) struct buf archive = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(buf_done) struct buf provenance = BUF_INIT(MIRROR_PROVENANCE_MAX);
    struct str prov = find_layer(p->root, STR(OCI_MEDIA_PROV));
    struct mirror_addition what = {
        .folder = str_dirname(p->name), .manifest = p->text, .place = p->name, .tag = p->reference
    };
    enum mirror_outcome outcome;
    int r = mirror_read(p->m, layer, &archive, err);

    if (r == 0 && prov.n > 0)
        r = mirror_read(p->m, prov, &provenance, err);
    if (r < 0)
        return r;
    what.archive = buf_str(&archive);
    what.provenance = buf_str(&provenance);
    return mirror_add(p->m, p->arena, &what, &outcome, NULL, err);
}

static int put_untagged(struct put *p, struct err **err)
{
    int r = mirror_lock(p->m, err);

    if (r < 0)
        return r;
    r = mirror_put(p->m, p->text, p->hex, err);
    mirror_unlock(p->m);
    return r;
}

static int put_checked(struct put *p, struct err **err)
{
    struct str config = value_str(value_path(p->root, "config.mediaType")), layer = STR("");

    if (str_has_prefix(p->reference, DIGEST_PREFIX))
        return put_untagged(p, err);
    if (str_eq(config, STR(OCI_MEDIA_CONFIG))) {
        layer = find_layer(p->root, STR(OCI_MEDIA_CHART));
        if (layer.n == 0)
            layer = find_layer(p->root, STR(OCI_MEDIA_CHART_LEGACY));
        if (layer.n == 0)
            return err_set(err, ERRC_INVALID, "a chart's manifest without a chart");
        return put_chart(p, layer, err);
    }
    return mirror_add_tag(p->m, p->name, p->reference, p->text, p->type, err);
}

static void refuse_put(struct httpd_reply *reply, struct err *err)
{
    enum errc code = err_code(err);

    log_info("push refused", LOG_ERR(err));
    if (code == ERRC_DIGEST)
        mirror_distribution_error(reply, 409, "DENIED", "%s", err_message(err));
    else if (code == ERRC_IO || code == ERRC_INTERNAL)
        mirror_distribution_error(reply, 507, "UNKNOWN", "the manifest cannot be kept: %s", err_message(err));
    else
        mirror_distribution_error(reply, 400, "MANIFEST_INVALID", "%s", err_message(err));
}

static bool read_body(const struct httpd_request *rq, struct buf *out)
{
    char *to;
    ssize_t n;

    if (rq->body_fd < 0 || (uint64_t)rq->body_n > MIRROR_MANIFEST_MAX)
        return false;
    to = buf_reserve(out, (size_t)rq->body_n + 1);
    n = to ? pread(rq->body_fd, to, (size_t)rq->body_n, 0) : -1;
    if (n != rq->body_n)
        return false;
    buf_commit(out, (size_t)n);
    return true;
}

static void put_manifest(struct mirror *m, const struct httpd_request *rq, struct str name,
                         struct str reference, struct httpd_reply *reply)
{
    CLEANUP(arena_free) struct arena *a = arena_new(REQUEST_MEMORY_MAX);
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIRROR_MANIFEST_MAX + 1);
    CLEANUP(err_free) struct err *err = NULL;
    struct put p = { .m = m, .arena = a, .name = name, .reference = reference };

    if (!read_body(rq, &text)) {
        mirror_distribution_error(reply, 413, "MANIFEST_INVALID", "a manifest has up to %zu bytes",
                                  MIRROR_MANIFEST_MAX);
        return;
    }
    p.text = buf_str(&text);
    sha256_hex(p.text, p.hex);
    if (json_parse(a, p.text, NULL, &p.root, &err) < 0 || !value_is_map(p.root)) {
        mirror_distribution_error(reply, 400, "MANIFEST_INVALID", "not JSON: %s", err_message(err));
        return;
    }
    p.type = type_of(p.root);
    if (!check_put(&p, reply))
        return;
    if (put_checked(&p, &err) < 0) {
        refuse_put(reply, err);
        return;
    }
    reply->status = 201;
    httpd_reply_header(reply, "Location", "/v2/%.*s/manifests/sha256:%s", STR_ARG(name), p.hex);
    httpd_reply_header(reply, "Docker-Content-Digest", "sha256:%s", p.hex);
}

/* ---- requests ------------------------------------------------------------------------------------------------------------ */

static void on_manifest(struct mirror *m, const struct httpd_request *rq, struct str name,
                        struct str reference, struct httpd_reply *reply)
{
    if (rq->head || str_eq(rq->method, STR("GET")))
        get_manifest(m, rq, name, reference, reply);
    else if (str_eq(rq->method, STR("PUT")))
        put_manifest(m, rq, name, reference, reply);
    else
        mirror_distribution_error(reply, 405, "UNSUPPORTED", "a mirror keeps what it has");
}

static void on_blob(struct mirror *m, const struct httpd_request *rq, struct str name, struct str digest,
                    struct httpd_reply *reply)
{
    struct str hex = str_trim_prefix(digest, DIGEST_PREFIX);

    UNUSED(name);
    if (!rq->head && !str_eq(rq->method, STR("GET"))) {
        mirror_distribution_error(reply, 405, "UNSUPPORTED", "a mirror keeps what it has");
    } else if (!str_has_prefix(digest, DIGEST_PREFIX) || !mirror_has(m, hex)) {
        mirror_distribution_error(reply, 404, "BLOB_UNKNOWN", "there is no blob %.*s", STR_ARG(digest));
    } else {
        if (rq->head) /* who is about to push asks what can be left out */
            mirror_touch(m, hex);
        mirror_send_object(m, rq, hex, NULL, reply);
        httpd_reply_header(reply, "Docker-Content-Digest", "%.*s", STR_ARG(digest));
    }
}

static void on_tags(struct mirror *m, const struct httpd_request *rq, struct str name, struct str rest,
                    struct httpd_reply *reply)
{
    UNUSED(rest);
    send_tags(m, rq, name, reply);
}

/* Longest first: "/blobs/uploads/" before "/blobs/". */
static const struct {
    const char *part;
    void (*fn)(struct mirror *m, const struct httpd_request *rq, struct str name, struct str rest,
               struct httpd_reply *reply);
} routes[] = {
    { "/manifests/", on_manifest },
    { "/blobs/uploads/", mirror_upload },
    { "/blobs/", on_blob },
    { "/tags/list", on_tags },
};

void mirror_distribution(struct mirror *m, const struct httpd_request *rq, struct httpd_reply *reply)
{
    struct str path = str_trim_prefix(str_trim_prefix(rq->path, STR("/v2")), STR("/"));

    httpd_reply_header(reply, "Docker-Distribution-Api-Version", "registry/2.0");
    if (path.n == 0) {
        reply->content_type = "application/json";
        buf_adds(&reply->body, "{}\n");
        return;
    }
    if (str_eq(path, STR("_catalog"))) {
        send_catalog(m, rq, reply);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
        struct str part = str_from(routes[i].part), name;
        size_t at = str_find(path, part);

        if (at == STR_NPOS)
            continue;
        name = str_sub(path, 0, at);
        if (!mirror_path_valid(name))
            mirror_distribution_error(reply, 400, "NAME_INVALID", "the name cannot be kept");
        else
            routes[i].fn(m, rq, name, str_sub(path, at + part.n, path.n), reply);
        return;
    }
    mirror_distribution_error(reply, 404, "UNSUPPORTED", "no such thing in the distribution API");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One version from its source: by the URLs of an index, or from a registry with the manifest that stands for it there. */
#include "mirror/mirror_int.h"
#include "registry/registry.h"

void mirror_fetcher_done(struct mirror_fetcher *f)
{
    oci_client_free(f->client);
}

void mirror_fetcher_use(struct mirror_fetcher *f, const struct registry_source *source)
{
    if (f->source == source)
        return;
    oci_client_free(f->client);
    f->client = NULL;
    f->source = source;
}

/* ---- chart repositories --------------------------------------------------------------------------------------------------- */

/* The first that is there: <url>.prov of each url. None is no failure. */
static void get_provenance(const struct registry_source *source, struct arena *a,
                           const struct registry_version *v, struct buf *out)
{
    for (struct value_iter it = value_iter(value_getz(v->entry, "urls")); value_next(&it) && out->n == 0;) {
        struct str url = registry_resolve_url(a, source->url, value_str(it.v)), query = STR("");
        size_t at = str_find_char(url, '?');

        if (at != STR_NPOS) {
            query = str_sub(url, at, url.n);
            url = str_sub(url, 0, at);
        }
        url = arena_printf(a, "%.*s.prov%.*s", STR_ARG(url), STR_ARG(query));
        if (registry_fetch_url(source, url, MIRROR_PROVENANCE_MAX, out, NULL) < 0)
            buf_clear(out);
    }
    if (!str_contains(buf_str(out), STR("-----BEGIN PGP"))) /* a server that says 200 to everything */
        buf_clear(out);
}

static int get_by_url(struct mirror_fetcher *f, struct arena *a, const struct registry_version *v,
                      struct buf *archive, struct mirror_addition *what, struct err **err)
{
    CLEANUP(buf_done) struct buf provenance = BUF_INIT(MIRROR_PROVENANCE_MAX);
    int r = registry_fetch_chart(f->source, v, archive, err);

    if (r < 0)
        return r;
    get_provenance(f->source, a, v, &provenance);
    what->archive = buf_str(archive);
    what->provenance = arena_dup(a, buf_str(&provenance));
    what->entry = v->entry;
    return 0;
}

/* ---- registries ----------------------------------------------------------------------------------------------------------- */

static int open_client(struct mirror_fetcher *f, struct arena *a, const struct registry_version *v,
                       struct oci_ref *ret, struct err **err)
{
    int r = oci_ref_parse(a, value_str(value_at(value_getz(v->entry, "urls"), 0)), ret, err);

    if (r == 0 && !f->client)
        r = registry_oci_open(f->source, f->arena, arena_dup(f->arena, ret->host), &f->client, err);
    return r;
}

static int get_blob(struct mirror_fetcher *f, const struct oci_ref *ref, const struct oci_descriptor *d,
                    struct buf *out, struct err **err)
{
    struct str digest = str_trim_prefix(d->digest, STR("sha256:"));

    if (!mirror_has(f->m, digest))
        return oci_blob_fetch(f->client, ref, d, out, err);
    mirror_touch(f->m, digest);
    return mirror_read(f->m, digest, out, err);
}

/* Config and layers that are neither the archive nor its provenance file. All together are no larger than one blob may be. */
static int get_other_blobs(struct mirror_fetcher *f, struct arena *a, const struct oci_ref *ref,
                           const struct oci_manifest *m, const struct oci_chart_layers *layers,
                           struct mirror_addition *what, struct err **err)
{
    struct str *blobs = ARENA_ARRAY(a, struct str, m->n_layers + 1);
    size_t left = MIRROR_BLOB_MAX;
    int r = 0;

    what->blobs = blobs;
    for (size_t i = 0; i <= m->n_layers && r == 0; i++) {
        const struct oci_descriptor *d = i < m->n_layers ? &m->layers[i] : &m->config;
        CLEANUP(buf_done) struct buf bytes = BUF_INIT(left);

        if (str_eq(d->digest, layers->chart.digest) || str_eq(d->digest, layers->prov.digest))
            continue;
        r = get_blob(f, ref, d, &bytes, err);
        left -= bytes.n;
        blobs[what->n_blobs++] = arena_dup(a, buf_str(&bytes));
    }
    return r;
}

static int get_from_registry(struct mirror_fetcher *f, struct arena *a, const struct registry_version *v,
                             struct buf *archive, struct mirror_addition *what, struct err **err)
{
    CLEANUP(buf_done) struct buf provenance = BUF_INIT(MIRROR_PROVENANCE_MAX);
    struct oci_chart_layers layers;
    struct oci_manifest m;
    struct oci_ref ref;
    int r = open_client(f, a, v, &ref, err);

    if (r == 0)
        r = oci_manifest_fetch(f->client, a, &ref, &m, err);
    if (r == 0)
        r = oci_chart_layers(&m, &layers, err);
    if (r == 0)
        r = get_blob(f, &ref, &layers.chart, archive, err);
    if (r == 0 && layers.prov.media_type.n > 0)
        r = get_blob(f, &ref, &layers.prov, &provenance, err);
    if (r == 0)
        r = get_other_blobs(f, a, &ref, &m, &layers, what, err);
    if (r < 0)
        return r;
    what->archive = buf_str(archive);
    what->provenance = arena_dup(a, buf_str(&provenance));
    what->manifest = m.text;
    what->tag = ref.tag;
    return 0;
}

/* ---- both ------------------------------------------------------------------------------------------------------------------ */

int mirror_fetcher_get(struct mirror_fetcher *f, struct arena *a, const struct registry_version *v,
                       struct buf *archive, struct mirror_addition *what, struct err **err)
{
    return oci_is_url(f->source->url) ? get_from_registry(f, a, v, archive, what, err)
                                      : get_by_url(f, a, v, archive, what, err);
}

int mirror_fetcher_is_kept(struct mirror_fetcher *f, struct arena *a, const struct registry_version *v,
                           const struct mirror_record *record, bool *ret, struct err **err)
{
    struct str created = value_str(value_getz(v->entry, "created")), digest;
    struct oci_ref ref;
    int r;

    if (!oci_is_url(f->source->url)) {
        if (v->digest.n > 0)
            *ret = str_ieq(record->archive, v->digest);
        else /* the time of publishing must do */
            *ret = created.n > 0 && str_eq(created, value_str(value_getz(record->entry, "created")));
        return 0;
    }
    r = open_client(f, a, v, &ref, err);
    if (r == 0)
        r = oci_resolve(f->client, a, &ref, &digest, err);
    if (r == 0)
        *ret = mirror_record_has_manifest(record, str_trim_prefix(digest, STR("sha256:")));
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What was located is fetched (helm pkg/downloader DownloadTo(), pkg/registry Pull()). */
#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

static const char underscore[] =
    " contains an underscore.\n\n"
    "OCI artifact references (e.g. tags) do not support the plus sign (+). To support\n"
    "storing semantic versions, Helm adopts the convention of changing plus (+) to\n"
    "an underscore (_) in chart version tags when pushing to a registry and back to\n"
    "a plus (+) when pulling from a registry.";

static void say(const struct registry_locator *l, struct str text)
{
    if (l->line)
        l->line(l->line_ctx, text);
}

void registry_say_transferred(const struct registry_locator *l, struct arena *a, const char *verb,
                              const struct oci_ref *ref, struct str digest)
{
    CLEANUP(buf_done) struct buf name = BUF_INIT(HTTP_URL_MAX * 2);

    oci_ref_format(ref, &name);
    say(l, arena_printf(a, "%s: %s", verb, buf_z(&name)));
    say(l, arena_printf(a, "Digest: " STR_FMT, STR_ARG(digest)));
    if (str_find_char(buf_str(&name), '_') != STR_NPOS)
        say(l, arena_printf(a, "%s%s", buf_z(&name), underscore));
}

/* ---- provenance ---------------------------------------------------------------------------------------------------- */

/* There is none, or it cannot be had. A server that fails is no server without one: who asked for a check is not told that there
 * is nothing to check. */
static int no_prov(const struct registry_locator *l, struct arena *a, const struct registry_archive *x,
                   enum errc code, const char *why, struct err **err)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(HTTP_URL_MAX * 4);

    if (l->verify == REGISTRY_VERIFY_LATER ||
        (l->verify == REGISTRY_VERIFY_IF_POSSIBLE && code == ERRC_NOT_FOUND)) {
        say(l, arena_printf(a, "WARNING: Verification not found for " STR_FMT ": %s", STR_ARG(x->reference),
                            why));
        return 0;
    }
    utf8_quote(arena_printf(a, STR_FMT ".prov", STR_ARG(x->url)), &quoted);
    return err_set(err, code, "failed to fetch provenance %s", buf_z(&quoted));
}

static int check_prov(const struct registry_locator *l, struct arena *a, const struct registry_archive *x,
                      struct str prov, struct provenance_verified *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf keys = BUF_INIT(KEYRING_MAX);
    char hex[SHA256_HEX];
    struct provenance_job job = { .n_keyrings = 1, .text = prov, .file_name = x->file };
    struct str keyring;
    int r = provenance_keyring_read(l->keyring, &keys, err);

    if (r < 0)
        return r;
    keyring = buf_str(&keys);
    job.keyrings = &keyring;
    sha256_hex(x->packed, hex);
    job.digest = str_from(hex);
    return provenance_verify(a, &job, ret, err);
}

static bool verifies(const struct registry_locator *l)
{
    return l->verify == REGISTRY_VERIFY_ALWAYS || l->verify == REGISTRY_VERIFY_IF_POSSIBLE;
}

struct str registry_prov_url(struct arena *a, struct str url)
{
    size_t end = str_find_char(url, '?');

    if (end == STR_NPOS)
        return arena_printf(a, STR_FMT ".prov", STR_ARG(url));
    return arena_printf(a, STR_FMT ".prov" STR_FMT, STR_ARG(str_sub(url, 0, end)),
                        STR_ARG(str_sub(url, end, url.n)));
}

int registry_verify_archive(const struct registry_locator *l, const struct registry_source *s,
                            struct arena *a, const struct registry_archive *x, struct buf *prov,
                            struct provenance_verified *ret, struct err **err)
{
    CLEANUP(err_free) struct err *cause = NULL;

    if (l->verify == REGISTRY_VERIFY_NEVER)
        return 0;
    if (registry_fetch_url(s, registry_prov_url(a, x->url), PROVENANCE_MAX, prov, &cause) < 0)
        return no_prov(l, a, x, err_code(cause), err_message(cause), err);
    return verifies(l) ? check_prov(l, a, x, buf_str(prov), ret, err) : 0;
}

/* ---- archives ------------------------------------------------------------------------------------------------------ */

static struct registry_archive found_archive(const struct registry_found *f)
{
    return (struct registry_archive){ f->url, f->file, buf_str(&f->archive), f->reference };
}

static int fetch_oci_prov(const struct registry_locator *l, struct registry_found *f, struct oci_client *c,
                          const struct oci_ref *ref, const struct oci_chart_layers *layers, struct str digest,
                          struct err **err)
{
    struct registry_archive x = found_archive(f);
    int r;

    if (l->verify == REGISTRY_VERIFY_NEVER)
        return 0;
    if (layers->prov.media_type.n == 0)
        return no_prov(l, f->memory, &x, ERRC_NOT_FOUND,
                       "manifest does not contain a layer with mediatype " OCI_MEDIA_PROV, err);
    r = oci_blob_fetch(c, ref, &layers->prov, &f->prov, err);
    if (r < 0)
        return r;
    registry_say_transferred(l, f->memory, "Pulled", ref, digest);
    return verifies(l) ? check_prov(l, f->memory, &x, buf_str(&f->prov), &f->signer, err) : 0;
}

static int fetch_oci(const struct registry_locator *l, struct registry_found *f, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct oci_chart_layers layers;
    struct oci_manifest m;
    struct oci_ref ref;
    int r = oci_ref_parse(f->memory, f->url, &ref, err);

    if (r == 0)
        r = registry_oci_open(&f->source, f->memory, ref.host, &c, err);
    if (r == 0)
        r = oci_manifest_fetch(c, f->memory, &ref, &m, err);
    if (r == 0)
        r = oci_chart_layers(&m, &layers, err);
    if (r == 0)
        r = oci_blob_fetch(c, &ref, &layers.chart, &f->archive, err);
    if (r < 0)
        return r;
    if (layers.is_legacy)
        say(l, STR("Warning: chart media type " OCI_MEDIA_CHART_LEGACY " is deprecated"));
    registry_say_transferred(l, f->memory, "Pulled", &ref, m.digest);
    return fetch_oci_prov(l, f, c, &ref, &layers, m.digest, err);
}

static int fetch_http(const struct registry_locator *l, struct registry_found *f, struct err **err)
{
    struct registry_archive x;
    int r;

    if (f->entry.name.n > 0)
        r = registry_fetch_version(&f->source, f->memory, &f->entry, &f->archive, &f->url, err);
    else
        r = registry_fetch_url(&f->source, f->url, ARCHIVE_PACKED_MAX, &f->archive, err);
    if (r < 0)
        return r;
    x = found_archive(f);
    return registry_verify_archive(l, &f->source, f->memory, &x, &f->prov, &f->signer, err);
}

int registry_fetch_found(const struct registry_locator *l, struct registry_found *f, struct err **err)
{
    char hex[SHA256_HEX];
    int r;

    f->source.auth = &f->auth; /* the struct may have been moved */
    r = oci_is_url(f->url) ? fetch_oci(l, f, err) : fetch_http(l, f, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&f->archive), hex);
    f->digest = arena_dup(f->memory, str_from(hex));
    return 0;
}

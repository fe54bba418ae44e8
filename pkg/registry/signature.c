/* SPDX-License-Identifier: Apache-2.0 */
/* Who signed what a Chart keeps: Helm's provenance files and cosign's signatures (sigstore/cosign specs/SIGNATURE_SPEC.md). */
#include "base/digest.h"
#include "base/encode.h"
#include "base/limits.h"
#include "oci/oci.h"
#include "provenance/provenance.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

#define KEYS_MAX 64
#define SIGNER_MAX 512 /* of a key's name; the status has room for 1024 */
#define COSIGN_SIGNATURE "dev.cosignproject.cosign/signature"

/* ---- the policy ---------------------------------------------------------------------------------------------------- */

/* Which entries of the Secret are keys: as Flux has it, those that look like one. */
static bool is_key(const struct registry_policy *p, struct str name)
{
    if (p->is_cosign)
        return str_has_suffix(name, STR(".pub"));
    return str_has_suffix(name, STR(".gpg")) || str_has_suffix(name, STR(".asc"));
}

static int read_keys(struct arena *a, struct value secret, struct registry_policy *p, struct err **err)
{
    struct value data = value_getz(secret, "data");

    p->keys = ARENA_ARRAY(a, struct str, KEYS_MAX);
    for (struct value_iter it = value_iter(data); value_next(&it);) {
        CLEANUP(buf_done) struct buf raw = BUF_INIT(KEYRING_MAX);

        if (!is_key(p, it.key))
            continue;
        if (p->n_keys == KEYS_MAX)
            return err_set(err, ERRC_LIMIT, "it has more than %d keys", KEYS_MAX);
        if (!base64_decode(BASE64_STD, value_str(it.v), &raw, NULL) || raw.n == 0)
            return err_set(err, ERRC_INVALID, STR_FMT " is empty or no base64", STR_ARG(it.key));
        p->keys[p->n_keys++] = arena_dup(a, buf_str(&raw));
    }
    if (p->n_keys == 0)
        return err_set(err, ERRC_INVALID, "it has no key that ends in %s",
                       p->is_cosign ? ".pub" : ".gpg or .asc");
    return 0;
}

static struct str policy_digest(struct arena *a, const struct registry_policy *p)
{
    CLEANUP(digest_free) struct digest *d = digest_new(DIGEST_SHA256);
    char hex[SHA256_HEX];

    digest_add(d, arena_printf(a, "%u %d", p->verify, p->is_cosign));
    for (size_t i = 0; i < p->n_keys; i++) {
        digest_add(d, arena_printf(a, " %zu ", p->keys[i].n));
        digest_add(d, p->keys[i]);
    }
    digest_finish_hex(d, hex);
    return arena_dup(a, str_from(hex));
}

int registry_policy_read(struct registry_manager *m, struct arena *a, struct value verify,
                         struct registry_policy *ret, struct err **err)
{
    struct str policy = value_str(value_getz(verify, "policy"));
    struct registry_policy p = { .verify = REGISTRY_VERIFY_ALWAYS,
                                 .is_cosign =
                                     str_eq(value_str(value_getz(verify, "provider")), STR("cosign")),
                                 .secret = value_str(value_path(verify, "secretRef.name")) };
    struct kube_ref ref = KUBE_REF("v1", "Secret", str_from(m->ns), p.secret);
    struct value secret;
    int r;

    if (value_is_null(verify) || str_eq(policy, STR("never"))) {
        *ret = (struct registry_policy){ .digest = STR("") };
        return 0;
    }
    if (str_eq(policy, STR("ifPresent")))
        p.verify = REGISTRY_VERIFY_IF_POSSIBLE;
    if (p.secret.n == 0)
        return err_set(err, ERRC_INVALID, "spec.verify.secretRef: a Secret with keys is needed");
    r = kube_get(m->kube, a, &ref, &secret, err);
    if (r == 0)
        r = read_keys(a, secret, &p, err);
    if (r < 0)
        return err_wrap(err, r, "spec.verify.secretRef: Secret %s/" STR_FMT, m->ns, STR_ARG(p.secret));
    p.digest = policy_digest(a, &p);
    *ret = p;
    return 0;
}

/* ---- what went wrong ----------------------------------------------------------------------------------------------- */

/* A server said that there is none: 0 when the policy lets that pass. */
static int missing(struct registry_signature *s, const char *what, struct err **err)
{
    if (s->policy->verify == REGISTRY_VERIFY_IF_POSSIBLE)
        return 0;
    s->reason = "SignatureMissing";
    s->is_refused = true;
    return err_set(err, ERRC_NOT_FOUND, "there is no %s", what);
}

static int unreachable(struct registry_signature *s, int r, const char *what, struct err **err)
{
    s->is_refused = r == -ERRC_LIMIT;
    s->reason = s->is_refused ? "SignatureInvalid" : "SignatureUnavailable";
    return err_wrap(err, r, "the %s cannot be fetched", what);
}

static int judged(struct registry_signature *s, int r)
{
    s->is_refused = r < 0 && r != -ERRC_UNSUPPORTED && r != -ERRC_INVALID;
    if (r < 0)
        s->reason = s->is_refused ? "SignatureInvalid" : r == -ERRC_INVALID ? "KeyInvalid" : "CannotVerify";
    return r;
}

/* ---- provenance files ---------------------------------------------------------------------------------------------- */

static int check_prov(struct arena *a, struct registry_signature *s, struct str url, struct str text,
                      struct err **err)
{
    struct provenance_job job = {
        .keyrings = s->policy->keys, .n_keyrings = s->policy->n_keys, .text = text, .digest = s->digest
    };
    struct provenance_verified v = { 0 };
    struct str name = STR("");
    int r = 0;

    if (oci_is_url(url))
        job.file_name = arena_printf(a, STR_FMT "-" STR_FMT ".tgz", STR_ARG(s->version->name),
                                     STR_ARG(s->version->version));
    else
        r = registry_name_of_url(a, url, &job.file_name, err);
    if (r < 0)
        return unreachable(s, r, "provenance file", err);
    r = provenance_verify(a, &job, &v, err);
    if (r < 0)
        return judged(s, r);
    if (v.n_identities > 0)
        name = str_sub(v.identities[0], 0, MIN(v.identities[0].n, (size_t)SIGNER_MAX));
    s->signer =
        arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(name), name.n ? ", " : "", STR_ARG(v.fingerprint));
    return 0;
}

/* Of several urls one that works is enough, as for the archive; that there is none is believed when all of them say so. */
static int check_provenance(struct arena *a, struct registry_signature *s, struct err **err)
{
    CLEANUP(err_free) struct err *first = NULL;
    struct value urls = value_getz(s->version->entry, "urls");
    int failed = 0;

    for (struct value_iter it = value_iter(urls); value_next(&it);) {
        CLEANUP(buf_done) struct buf text = BUF_INIT(PROVENANCE_MAX);
        CLEANUP(err_free) struct err *cause = NULL;
        struct str url = registry_resolve_url(a, s->source->url, value_str(it.v));
        int r = registry_fetch_url(s->source, registry_prov_url(a, url), PROVENANCE_MAX, &text, &cause);

        if (r == 0)
            return check_prov(a, s, url, buf_str(&text), err);
        if (r != -ERRC_NOT_FOUND && failed == 0) {
            failed = r;
            first = TAKE(cause);
        }
    }
    if (failed == 0)
        return missing(s, "provenance file", err);
    if (err)
        *err = TAKE(first);
    return unreachable(s, failed, "provenance file", err);
}

/* ---- cosign -------------------------------------------------------------------------------------------------------- */

static int check_layer(struct registry_signature *s, struct oci_client *c, const struct oci_ref *ref,
                       const struct oci_manifest *m, size_t i, struct str digest, struct err **err)
{
    CLEANUP(buf_done) struct buf payload = BUF_INIT(COSIGN_PAYLOAD_MAX);
    struct value annotations = value_getz(value_at(value_getz(m->root, "layers"), i), "annotations");
    struct provenance_cosign job = { .keys = s->policy->keys,
                                     .n_keys = s->policy->n_keys,
                                     .signature = value_str(value_getz(annotations, COSIGN_SIGNATURE)),
                                     .digest = digest };
    int r = oci_blob_fetch(c, ref, &m->layers[i], &payload, err);

    if (r < 0)
        return unreachable(s, r, "cosign signature", err);
    job.payload = buf_str(&payload);
    return judged(s, provenance_cosign_verify(&job, err));
}

/* One good signature is enough: others may have signed, too. */
static int check_layers(struct arena *a, struct registry_signature *s, struct oci_client *c,
                        const struct oci_ref *ref, const struct oci_manifest *m, struct str digest,
                        struct err **err)
{
    CLEANUP(err_free) struct err *first = NULL;
    struct registry_signature told = *s;
    int failed = 0;

    for (size_t i = 0; i < m->n_layers; i++) {
        CLEANUP(err_free) struct err *cause = NULL;
        int r = check_layer(s, c, ref, m, i, digest, &cause);

        if (r == 0) {
            s->signer = arena_printf(a, "a cosign key of Secret " STR_FMT, STR_ARG(s->policy->secret));
            return 0;
        }
        if (failed == 0) {
            failed = r;
            first = TAKE(cause);
            told = *s;
        }
    }
    if (failed == 0)
        return judged(s, err_set(err, ERRC_PARSE, "cosign's manifest has no signature"));
    *s = told;
    if (err)
        *err = TAKE(first);
    return err_wrap(err, failed, "none of %zu cosign signatures is good", m->n_layers);
}

/* The manifest that is signed must be about the archive that we have. */
static int find_manifest(struct arena *a, struct registry_signature *s, struct oci_client *c,
                         const struct oci_ref *ref, struct oci_manifest *ret, struct err **err)
{
    struct oci_chart_layers layers;
    int r = oci_manifest_fetch(c, a, ref, ret, err);

    if (r == 0)
        r = oci_chart_layers(ret, &layers, err);
    if (r < 0)
        return unreachable(s, r, "manifest", err);
    if (str_eq(str_trim_prefix(layers.chart.digest, STR("sha256:")), s->digest))
        return 0;
    return judged(s, err_set(err, ERRC_DIGEST,
                             "the manifest names another archive: " STR_FMT ", not sha256:" STR_FMT,
                             STR_ARG(layers.chart.digest), STR_ARG(s->digest)));
}

static int check_cosign(struct arena *a, struct registry_signature *s, struct str url, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    CLEANUP(err_free) struct err *cause = NULL;
    struct oci_manifest chart, signatures;
    struct oci_ref ref;
    int r = oci_ref_parse(a, url, &ref, err);

    if (r == 0)
        r = registry_oci_open(s->source, a, ref.host, &c, err);
    if (r < 0)
        return unreachable(s, r, "manifest", err);
    r = find_manifest(a, s, c, &ref, &chart, err);
    if (r < 0)
        return r;
    ref.tag =
        arena_printf(a, "sha256-" STR_FMT ".sig", STR_ARG(str_trim_prefix(chart.digest, STR("sha256:"))));
    ref.digest = STR("");
    r = oci_manifest_fetch(c, a, &ref, &signatures, &cause);
    if (r == -ERRC_NOT_FOUND)
        return missing(s, "cosign signature", err);
    if (r == 0)
        return check_layers(a, s, c, &ref, &signatures, chart.digest, err);
    if (err)
        *err = TAKE(cause);
    return r == -ERRC_PARSE || r == -ERRC_DIGEST ? judged(s, r) : unreachable(s, r, "cosign signature", err);
}

int registry_signature_check(struct arena *a, struct registry_signature *s, struct err **err)
{
    struct str url = registry_resolve_url(a, s->source->url,
                                          value_str(value_at(value_getz(s->version->entry, "urls"), 0)));

    s->signer = STR("");
    s->reason = NULL;
    s->is_refused = false;
    if (s->policy->verify == REGISTRY_VERIFY_NEVER)
        return 0;
    if (!s->policy->is_cosign)
        return check_provenance(a, s, err);
    if (oci_is_url(url))
        return check_cosign(a, s, url, err);
    return judged(
        s, err_set(err, ERRC_UNSUPPORTED,
                   "spec.verify.provider: cosign's signatures are in registries, and this chart is not"));
}

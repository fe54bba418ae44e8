/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* oci: charts in OCI registries (distribution-spec 1.1): references, logins, tags, manifests, blobs, and the layout in which
 * Helm pushes and pulls charts (helm pkg/registry, oras-go v2, whose words errors use).
 *
 * What a registry sends is checked: manifests and blobs against their digests and sizes, pages and their number, media types.
 * Credentials go to the registry's origin alone. A token service elsewhere gets them only when the user said so
 * (pass_credentials) or when it is the known one of that registry (Docker Hub, gitlab.com); without credentials any is asked. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "http/http.h"
#include "value/value.h"

#define OCI_SCHEME "oci://"
#define OCI_MEDIA_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define OCI_MEDIA_INDEX "application/vnd.oci.image.index.v1+json"
#define OCI_MEDIA_CONFIG "application/vnd.cncf.helm.config.v1+json"
#define OCI_MEDIA_CHART "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
#define OCI_MEDIA_CHART_LEGACY "application/tar+gzip"
#define OCI_MEDIA_PROV "application/vnd.cncf.helm.chart.provenance.v1.prov"

/* ---- references ---------------------------------------------------------------------------------------------------- */

struct oci_ref {
    struct str host;       /* "registry.example.com:5000" */
    struct str repository; /* "charts/web" */
    struct str tag;        /* as the registry has it: '_' where the version has '+'; "" */
    struct str digest;     /* "sha256:…"; "" */
};
bool oci_host_is_valid(struct str host); /* "registry.example.com:5000", "[::1]:5000" */
bool oci_is_url(struct str text);        /* does it begin with "oci://"? */
/* "[oci://]host/repository[:tag][@digest]"; a '+' in the tag becomes '_'. Strings in `a`. INVALID with oras' words:
 * "invalid reference: missing registry or repository", invalid reference: invalid tag "…". */
NODISCARD int oci_ref_parse(struct arena *a, struct str text, struct oci_ref *ret, struct err **err);
/* "host/repository:tag", without a tag "host/repository@digest". */
void oci_ref_format(const struct oci_ref *ref, struct buf *out);
bool oci_digest_is_valid(struct str digest); /* "sha256:" and 64 hex digits in lower case */
struct str oci_tag_of_version(struct arena *a, struct str version); /* '+' becomes '_' */
struct str oci_version_of_tag(struct arena *a, struct str tag);     /* '_' becomes '+' */

/* ---- logins: helm's registry/config.json, docker's config.json, dockerconfigjson Secrets --------------------------- */

struct oci_login {
    struct str user, password;
    struct str identity_token; /* for the token service */
    struct str registry_token; /* used as it is */
};
/* The login for `host` in the text of a config.json. 1, or 0 when it has none; strings in `a`. PARSE, and UNSUPPORTED naming
 * the credential helper that the file hands this host to: helpers are programs, none is run. */
NODISCARD int oci_login_find(struct arena *a, struct str config, struct str host, struct oci_login *ret,
                             struct err **err);
/* The text with that login added or replaced (`login` NULL: removed); everything else in it is kept. `config` may be empty.
 * UNSUPPORTED when the file hands the host to a helper. */
NODISCARD int oci_login_put(struct str config, struct str host, const struct oci_login *login,
                            struct buf *out, struct err **err);

/* ---- the client ---------------------------------------------------------------------------------------------------- */

struct oci_options { /* borrowed until the client is freed */
    struct http_client *http;
    struct oci_login login;
    struct str ca_pem, cert_pem, key_pem;
    const char *proxy;     /* NULL: from the environment */
    bool insecure;         /* certificates are not checked */
    bool plain_http;       /* http:// instead of https:// */
    bool pass_credentials; /* to a token service elsewhere, too */
    unsigned refuse_nets;  /* http.h */
    int64_t deadline_ms;   /* of each exchange; 0: http's */
};
/* A client of one registry; keeps its token. One thread at a time. */
struct oci_client;
/* `host` as in a reference. */
struct oci_client *oci_client_new(struct str host, const struct oci_options *o) NODISCARD;
void oci_client_free(struct oci_client *c); /* may be NULL */
DEFINE_CLEANUP(struct oci_client *, oci_client_free)

/* Asks for /v2/ with the login: what `registry login` checks. */
NODISCARD int oci_ping(struct oci_client *c, struct err **err);
/* All tags, page by page, as they come; in `a`. LIMIT beyond OCI_TAGS_MAX. */
NODISCARD int oci_tags(struct oci_client *c, struct arena *a, const struct oci_ref *ref, struct str **ret,
                       size_t *ret_n, struct err **err);

struct oci_descriptor {
    struct str media_type, digest;
    int64_t size;
};
struct oci_manifest {
    struct str digest; /* of the bytes */
    struct str text;
    struct value root; /* parsed */
    struct oci_descriptor config;
    struct oci_descriptor *layers;
    size_t n_layers;
};
/* The image manifest of ref's digest, else of its tag; checked against the digest. Lives in `a`. NOT_FOUND, DIGEST, PARSE (no
 * image manifest), LIMIT beyond OCI_MANIFEST_MAX. */
NODISCARD int oci_manifest_fetch(struct oci_client *c, struct arena *a, const struct oci_ref *ref,
                                 struct oci_manifest *ret, struct err **err);
/* The digest of what the tag names; one HEAD request. In `a`. */
NODISCARD int oci_resolve(struct oci_client *c, struct arena *a, const struct oci_ref *ref, struct str *ret,
                          struct err **err);
/* Appends a blob, checked against its digest and size. LIMIT when it does not fit into out->max. */
NODISCARD int oci_blob_fetch(struct oci_client *c, const struct oci_ref *ref, const struct oci_descriptor *d,
                             struct buf *out, struct err **err);

/* ---- charts -------------------------------------------------------------------------------------------------------- */

struct oci_chart_layers { /* borrow from the manifest; media_type "" where there is none */
    struct oci_descriptor chart, prov;
    bool is_legacy;
};
/* Helm's checks of a manifest: a config of its media type, a chart layer. INVALID in Helm's words. */
NODISCARD int oci_chart_layers(const struct oci_manifest *m, struct oci_chart_layers *ret, struct err **err);

struct oci_push {
    struct oci_ref ref; /* with the tag */
    struct str archive;
    struct str prov;          /* "" when there is none */
    struct str config;        /* the metadata as JSON */
    struct value annotations; /* of the manifest: a map of strings */
};
/* Uploads what the registry lacks, then the manifest, as helm push does. *ret_digest (in `a`) is the manifest's. */
NODISCARD int oci_push_chart(struct oci_client *c, struct arena *a, const struct oci_push *p,
                             struct str *ret_digest, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* oci_int: what the files of this module share. */
#include "oci/oci.h"

struct oci_client {
    struct oci_options options;
    char *host; /* as in references */
    char *base; /* "https://host" */
    /* what the registry asked for last time */
    bool basic;
    char *token, *scope; /* token is for this scope */
};

/* One exchange with the registry. */
struct oci_request {
    const char *method;
    struct str path; /* below the base, or a whole URL of the same origin */
    const char *accept;
    const char *content_type;
    struct str body; /* sent when body.p is not NULL */
    struct str scope;
    size_t body_max; /* of the answer; 0: OCI_MANIFEST_MAX */
    bool missing_ok; /* 404 is an answer */
};
/* Sends, with a token when the registry wants one. Release *ret with http_response_done(). */
NODISCARD int oci_do(struct oci_client *c, const struct oci_request *rq, struct http_response *ret,
                     struct err **err);
/* "repository:charts/web:pull" */
struct str oci_scope(struct arena *a, const struct oci_ref *ref, const char *actions);
/* An absolute URL of the client's registry for a Location or Link; FORBIDDEN when it leads elsewhere. In `a`. */
NODISCARD int oci_same_origin(struct oci_client *c, struct arena *a, struct str from, struct str target,
                              struct str *ret, struct err **err);

/* A WWW-Authenticate header: the first challenge that is Bearer or Basic. */
struct oci_challenge {
    enum { OCI_AUTH_NONE, OCI_AUTH_BASIC, OCI_AUTH_BEARER } scheme;
    struct str realm, service; /* in the arena */
};
void oci_challenge_parse(struct arena *a, struct str header, struct oci_challenge *ret);
/* A token for the scope from the service that the challenge names; in `a`. */
NODISCARD int oci_token_fetch(struct oci_client *c, struct arena *a, const struct oci_challenge *ch,
                              struct str scope, struct str *ret, struct err **err);
/* What every request of a client has in common: TLS, proxy, limits. */
void oci_fill(const struct oci_client *c, struct http_request *rq, struct http_tls *tls,
              struct http_credentials *credentials);
/* `GET "https://…": response status code 404: name unknown: …`; the code fits the status. */
int oci_status_error(const char *method, const struct http_response *rs, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* request: one request on its way through the server, from HTTP or from the server's own controllers.
 *
 * Functions that take a request and can fail return 0, or a negative number after they left the failure in the request:
 * a Status that becomes the answer. */
#include "apiserver/catalog.h"
#include "apiserver/invalid.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "value/value.h"

struct apiserver;
struct api_stream;

enum api_method { API_GET, API_HEAD, API_POST, API_PUT, API_PATCH, API_DELETE, API_OTHER };
enum api_validation { API_VALIDATE_IGNORE, API_VALIDATE_WARN, API_VALIDATE_STRICT };
enum api_form { API_FORM_OBJECT, API_FORM_TABLE, API_FORM_META };

struct api_param {
    struct str name, value;
};

struct api_user {
    struct str name, uid;
    const struct str *groups;
    size_t n_groups;
    struct value extra; /* map of lists, or null */
    bool admin;         /* in system:masters */
};

struct api_header {
    const char *name;
    struct str value;
};
enum { API_HEADERS_MAX = 16 };

struct api_request {
    struct apiserver *server;
    struct arena *arena;
    struct api_catalog *catalog; /* a reference */
    struct wall_time now;
    struct api_user user;
    /* as it came */
    enum api_method method;
    struct str method_name, path, query; /* still escaped */
    struct api_param *params;
    size_t n_params;
    struct str content_type, accept, user_agent, if_none_match;
    struct api_impersonate *as; /* impersonation headers; NULL: none */
    struct str body;
    /* what it asks for */
    const struct api_resource *res;
    struct str ns, name, sub;
    const char *verb; /* "create" */
    bool dry_run;
    struct str manager; /* field manager, never empty for writes */
    enum api_validation validation;
    enum api_form form;
    bool yaml;               /* the answer is YAML */
    struct str form_version; /* "v1" of meta.k8s.io for tables and metadata */
    /* the answer */
    int code;
    const char *type; /* content type */
    struct buf out;
    struct api_header headers[API_HEADERS_MAX];
    size_t n_headers;
    struct api_stream *stream; /* instead of out */
    struct api_notes warnings;
    struct value failure; /* a Status; null when all is well */
    int retry_after_s;
};

/* A request of the server itself: as system:masters, without HTTP. */
void api_request_init(struct api_request *rq, struct apiserver *s);
void api_request_done(struct api_request *rq);
DEFINE_CLEANUP_VALUE(struct api_request, api_request_done)
/* Aims it at an object: false when the resource is not served. */
bool api_request_aim(struct api_request *rq, struct str id, struct str ns, struct str name);

struct str api_param(const struct api_request *rq, const char *name); /* "" when absent */
bool api_param_has(const struct api_request *rq, const char *name);
bool api_param_bool(const struct api_request *rq, const char *name);
/* Takes note of a header if it is one of Impersonate-*. */
void api_request_impersonation_header(struct api_request *rq, struct str name, struct str value);
NODISCARD int api_request_parse_query(struct api_request *rq, struct str query);
/* Path segment `i` of the path, unescaped, in the arena. False at a bad escape. */
bool api_unescape(struct api_request *rq, struct str in, bool plus, struct str *ret);

/* ---- answers ---- */
void api_answer_header(struct api_request *rq, const char *name, struct str value);
int api_answer_value(struct api_request *rq, int code, struct value v); /* as JSON */
int api_answer_text(struct api_request *rq, int code, const char *type, struct str text);
int api_answer_success(struct api_request *rq, struct value details); /* Status Success */

/* ---- failures: each returns -1 ---- */
int api_fail(struct api_request *rq, int code, const char *reason, const char *fmt, ...) PRINTF(4, 5);
/* The error of a lower layer, by its HTTP status and reason if it has them, else by its code. Takes err. */
int api_fail_err(struct api_request *rq, struct err *err);
int api_fail_not_found(struct api_request *rq, const struct api_resource *res, struct str name);
int api_fail_path(struct api_request *rq); /* "the server could not find the requested resource" */
int api_fail_exists(struct api_request *rq, const struct api_resource *res, struct str name);
int api_fail_conflict(struct api_request *rq, const struct api_resource *res, struct str name,
                      const char *fmt, ...) PRINTF(4, 5);
int api_fail_changed(struct api_request *rq, const struct api_resource *res, struct str name);
int api_fail_invalid(struct api_request *rq, struct str kind, struct str group, struct str name,
                     const struct api_causes *causes);
int api_fail_forbidden(struct api_request *rq, const struct api_resource *res, struct str name,
                       const char *fmt, ...) PRINTF(4, 5);
int api_fail_method(struct api_request *rq);
int api_fail_expired(struct api_request *rq, const char *fmt, ...) PRINTF(2, 3);
/* details of the failure just made: {name, group, kind} and causes; null ones are left out. */
void api_fail_details(struct api_request *rq, struct str name, struct str group, struct str kind,
                      struct value causes);
struct value api_status_of(struct api_request *rq); /* the failure as a Status object */
int api_status_code(struct value status);
struct value api_meta(struct value obj);                    /* metadata, null when absent */
struct str api_meta_str(struct value obj, const char *key); /* a member of metadata */
struct value api_str(struct api_request *rq, struct str s); /* copied into the arena */

/* The whole way of a request: authentication, routing, the verb. Never fails: a failure is the answer. */
void api_request_serve(struct api_request *rq, struct str authorization);

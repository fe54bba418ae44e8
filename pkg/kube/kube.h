/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* kube: a client of the Kubernetes API: configuration, requests on objects, discovery, watches, events, readiness.
 *
 * Objects are values (value/value.h) in the caller's arena, with every field the server sent; integers stay exact. A
 * struct kube is one connection and one identity; any number of threads may share it. kube_as() gives a cheap view
 * with another identity on the same connection. Domain code never sees URLs: an object is addressed by apiVersion,
 * kind, namespace and name, and discovery knows the rest.
 *
 * Errors keep the HTTP status and the Status' reason (err_http_status(), err_http_reason()): 404 NOT_FOUND, 409
 * EXISTS (reason AlreadyExists) or CONFLICT, 410 GONE, 401 UNAUTHORIZED, 403 FORBIDDEN, 400/422 INVALID, 413 LIMIT,
 * 504 TIMEOUT, 429 and 5xx UNAVAILABLE. Requests are repeated as client-go does: up to 10 attempts on 429 and 5xx with
 * Retry-After, GET also on a broken connection; a write whose fate is unknown is never repeated here. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

/* ---- configuration ------------------------------------------------------------------------------------------------
 * As client-go (tools/clientcmd): first file wins per entry, relative paths are relative to their file, credentials
 * are used over https alone. */

struct kube_config;

/* What flags say on top of the files; zero: nothing. Borrowed during the call. */
struct kube_config_options {
    const char *kubeconfig; /* --kubeconfig: this file alone; NULL: $KUBECONFIG, then ~/.kube/config */
    const char *context, *cluster, *user, *namespace;
    const char *server, *token, *ca_file, *tls_server_name;
    const char *as; /* impersonate this user */
    const char *const *as_groups;
    size_t n_as_groups;
    bool insecure;
    bool in_cluster;             /* the service account of this pod, no file is read */
    const char *fallback_server; /* when nothing names one; NULL: that is an error */
};

/* The configuration kubectl would use: files, else (when they say nothing) the pod's service account. `o` may be NULL.
 * NOT_FOUND (file, context, cluster, user), INVALID, PARSE; messages name file and entry. */
NODISCARD int kube_config_load(const struct kube_config_options *o, struct kube_config **ret,
                               struct err **err);
/* The text of one kubeconfig that somebody else wrote (a Secret): what would read files or run programs here is
 * refused, each with its own error: exec, auth-provider, tokenFile, paths of certificates and keys,
 * insecure-skip-tls-verify, proxy-url. `context` may be empty. */
NODISCARD int kube_config_parse_untrusted(struct str text, struct str context, struct kube_config **ret,
                                          struct err **err);
void kube_config_free(struct kube_config *c); /* may be NULL */
DEFINE_CLEANUP(struct kube_config *, kube_config_free)
struct str kube_config_server(const struct kube_config *c); /* borrowed */
struct str
kube_config_namespace(const struct kube_config *c); /* "default" when nothing says otherwise; borrowed */
struct str kube_config_context(const struct kube_config *c); /* "" without one; borrowed */

/* ---- the client --------------------------------------------------------------------------------------------------- */

struct kube;

/* A client with its own connections. Keeps what it needs of `c`. No request is made yet. */
NODISCARD int kube_new(const struct kube_config *c, struct kube **ret, struct err **err);
/* Another connection with the same configuration and identity: nothing on `k` delays or cancels it. */
NODISCARD int kube_new_like(struct kube *k, struct kube **ret, struct err **err);
struct kube *kube_ref(struct kube *k);
struct kube *kube_unref(struct kube *k); /* may be NULL; always returns NULL */
DEFINE_CLEANUP(struct kube *, kube_unref)

/* The same connection, discovery and observer under another identity: a new reference. Every request carries
 * Impersonate-User (and -Group). A view of a view replaces the identity. */
struct kube *kube_as(struct kube *k, struct str user, const struct str *groups, size_t n_groups) NODISCARD;
struct kube *kube_as_service_account(struct kube *k, struct str ns, struct str name) NODISCARD;
struct str kube_identity(const struct kube *k); /* the impersonated user; "" for the client's own */

/* All requests of all views end with CANCELLED at once, now and later. For a quick stop; no way back. */
void kube_cancel(struct kube *k);

/* From this moment of clock_mono_ms() on, writes of all views fail with CANCELLED before they are sent: the lease that
 * allowed them is over, even when this process slept through its end. 0: never. May be moved at any time. */
void kube_set_fence(struct kube *k, int64_t until_ms);

/* Told after every HTTP exchange, from the thread that made it, one at a time. For metrics and tests. `code` is 0 when no
 * answer came. */
struct kube_exchange {
    const char *
        verb; /* "get", "list", "watch", "create", "update", "patch", "apply", "delete", "discovery", "raw" */
    struct str resource; /* plural; "" for raw paths; borrowed */
    struct str path;     /* with the query; borrowed */
    struct str identity; /* impersonated user or "" */
    int code;
    int64_t took_ms;
};
typedef void (*kube_observe_fn)(void *ctx, const struct kube_exchange *x);
/* At most 4 at a time. Both know the observer by `ctx`; after the removal it is not called any more. */
void kube_add_observer(struct kube *k, kube_observe_fn fn, void *ctx);
void kube_remove_observer(struct kube *k, const void *ctx);

/* ---- objects ------------------------------------------------------------------------------------------------------ */

/* Where an object is. Borrowed strings. */
struct kube_ref {
    struct str api_version; /* "v1", "apps/v1" */
    struct str kind;
    struct str ns;   /* empty for cluster-scoped kinds; empty in lists and watches: all namespaces */
    struct str name; /* empty in lists and watches */
};
#define KUBE_REF(api_version, kind, ns, name) ((struct kube_ref){ STR(api_version), STR(kind), (ns), (name) })

struct kube_ref kube_ref_of(struct value object); /* from apiVersion, kind and metadata */
/* "Deployment default/web", "Namespace web": for messages. */
void kube_ref_format(const struct kube_ref *ref, struct buf *out);

/* Members of an object; "" or 0 when missing. */
struct str kube_name(struct value object);
struct str kube_namespace(struct value object);
struct str kube_uid(struct value object);
struct str kube_resource_version(struct value object);
int64_t kube_generation(struct value object);
struct str kube_label(struct value object, struct str key);
struct str kube_annotation(struct value object, struct str key);
bool kube_is_deleting(struct value object); /* metadata.deletionTimestamp is set */
bool kube_has_finalizer(struct value object, struct str name);
bool kube_is_owned_by(struct value object, struct value owner); /* by uid, in ownerReferences */
/* An ownerReferences item for `owner` (controller: true, blockOwnerDeletion: true when asked). */
struct value kube_owner_reference(struct arena *a, struct value owner, bool controller, bool block);

enum kube_verb {
    KUBE_GET,
    KUBE_LIST, /* all pages; the answer is a list object with items and metadata.resourceVersion of the first page; items
                * carry the apiVersion and kind that were asked for */
    KUBE_CREATE,
    KUBE_UPDATE, /* PUT; metadata.resourceVersion in the object guards it */
    KUBE_PATCH,
    KUBE_APPLY, /* server-side apply; creates what is absent */
    KUBE_DELETE,
};
enum kube_patch { KUBE_PATCH_MERGE, KUBE_PATCH_JSON, KUBE_PATCH_STRATEGIC };
enum kube_propagation { KUBE_PROPAGATION_DEFAULT, KUBE_BACKGROUND, KUBE_FOREGROUND, KUBE_ORPHAN };

/* One request. Zero is the default of every field; what does not belong to the verb is ignored. Borrowed until the
 * call returns. */
struct kube_request {
    enum kube_verb verb;
    struct kube_ref ref; /* create, update, apply: what is empty is taken from the object */
    struct value
        object; /* create, update, apply: the object; patch: the patch (a map, or a list for JSON patch) */
    struct str body;        /* instead of `object`: its JSON text, when p is not NULL */
    struct str subresource; /* "status", "scale", … */
    bool metadata_only;     /* get, list: the answer is a PartialObjectMetadata(List) */

    enum kube_patch patch;
    struct str field_manager;    /* required for apply; writes: empty sends none */
    bool force;                  /* apply: take fields from other managers */
    bool dry_run;                /* writes: everything runs, nothing is stored */
    struct str field_validation; /* "Strict", "Warn", "Ignore"; empty: the server's default */

    enum kube_propagation propagation; /* delete */
    struct str uid, resource_version;  /* delete: preconditions; get, list: resource_version as is */
    int64_t grace_s;                   /* delete: with has_grace */
    bool has_grace;

    struct str label_selector, field_selector; /* list */
    int64_t limit;                             /* list: objects a page; 0: KUBE_LIST_PAGE */
    struct str continue_token;                 /* list: of a page; pagers set it */
    int64_t deadline_ms;                       /* with all repetitions; 0: KUBE_DEADLINE_MS */
    bool no_retry;                             /* one attempt */
};

/* Sends it and waits. *ret is the object, the list, or for a delete the Status or object, in `a`. `ret` may be NULL. */
NODISCARD int kube_do(struct kube *k, struct arena *a, const struct kube_request *rq, struct value *ret,
                      struct err **err);

struct kube_result {
    int r; /* as kube_do() returned it */
    struct value object;
    bool created;    /* the server said 201 */
    struct err *err; /* when r is below 0; kube_results_done() frees it */
};
/* All of them, at most `parallel` (0: 16) in flight, each result in the place of its request. No order between them is
 * promised. 0, or the first failure's code: each result tells for itself. */
NODISCARD int kube_do_all(struct kube *k, struct arena *a, const struct kube_request *rq, size_t n,
                          size_t parallel, struct kube_result *ret);
void kube_results_done(struct kube_result *results, size_t n);

/* Short forms of kube_do(). */
NODISCARD int kube_get(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value *ret,
                       struct err **err);
/* 1 and the object, or 0 when it is absent. */
NODISCARD int kube_find(struct kube *k, struct arena *a, const struct kube_ref *ref, struct value *ret,
                        struct err **err);
NODISCARD int kube_list(struct kube *k, struct arena *a, const struct kube_ref *ref,
                        struct str label_selector, struct value *ret, struct err **err);
NODISCARD int kube_create(struct kube *k, struct arena *a, struct value object, struct value *ret,
                          struct err **err);
NODISCARD int kube_update(struct kube *k, struct arena *a, struct value object, struct value *ret,
                          struct err **err);
NODISCARD int kube_apply(struct kube *k, struct arena *a, struct value object, struct str field_manager,
                         bool force, struct value *ret, struct err **err);
NODISCARD int kube_merge_patch(struct kube *k, struct arena *a, const struct kube_ref *ref,
                               struct value patch, struct value *ret, struct err **err);
/* Merge patch of the status subresource. With metadata.resourceVersion in `patch` it is guarded. */
NODISCARD int kube_patch_status(struct kube *k, struct arena *a, const struct kube_ref *ref,
                                struct value patch, struct value *ret, struct err **err);
/* Background deletion; absent is 0. `uid` may be empty. */
NODISCARD int kube_delete(struct kube *k, const struct kube_ref *ref, struct str uid, struct err **err);

/* Reads, lets `change` edit a copy, and writes it back guarded by resourceVersion; again when somebody was faster (as
 * client-go's RetryOnConflict: 5 tries, 10 ms, jitter). `change` returns 1 to write, 0 to leave it, or a failure. */
typedef int (*kube_change_fn)(void *ctx, struct arena *a, struct value object, struct err **err);
NODISCARD int kube_update_retry(struct kube *k, struct arena *a, const struct kube_ref *ref,
                                struct str subresource, kube_change_fn change, void *ctx, struct value *ret,
                                struct err **err);

/* Page by page, for lists that are too large to hold. */
struct kube_pager;
struct kube_pager *kube_pager_new(struct kube *k, const struct kube_request *list)
    NODISCARD; /* copies the request */
void kube_pager_free(struct kube_pager *p);
DEFINE_CLEANUP(struct kube_pager *, kube_pager_free)
/* 1 and a page's items (a list, maybe empty) in `a`, 0 after the last. A continue token that expired is replaced by one
 * full list (client-go's pager): `*ret_restart` is then true and what came before must be forgotten. */
NODISCARD int kube_pager_next(struct kube_pager *p, struct arena *a, struct value *ret_items,
                              bool *ret_restart, struct err **err);
struct str
kube_pager_resource_version(const struct kube_pager *p); /* of the list; "" before the first page */

/* Any path ("/version", "/readyz", "/openapi/v3"): appends the answer to `out`; up to out->max bytes. `accept` may be
 * NULL: application/json. */
NODISCARD int kube_raw_get(struct kube *k, const char *path, const char *accept, struct buf *out,
                           struct err **err);

/* An apply met fields of other managers; the message names each of them and the manager. */
bool kube_err_is_apply_conflict(const struct err *e);
bool kube_err_is_no_match(const struct err *e); /* the server does not know the kind */

/* ---- discovery ---------------------------------------------------------------------------------------------------
 * Common built-in kinds are known without asking. Everything else is asked once (aggregated form, else legacy) and
 * kept; an unknown kind asks again, at most every 2 s (CRDs appear). A group that fails is unknown, not an error. */

struct kube_kind { /* lives as long as the client */
    struct str api_version, group, version, kind, plural;
    bool namespaced;
};
/* NOT_FOUND: no matches for kind "X" in version "g/v" (kube_err_is_no_match()). */
NODISCARD int kube_kind_find(struct kube *k, struct str api_version, struct str kind,
                             const struct kube_kind **ret, struct err **err);
/* By what a user types: plural, singular, short name, kind, "name.group", "name.version.group". */
NODISCARD int kube_kind_find_resource(struct kube *k, struct str name, const struct kube_kind **ret,
                                      struct err **err);
/* Makes a kind known without asking the server (our own CRDs). */
void kube_kind_add(struct kube *k, struct str api_version, struct str kind, struct str plural,
                   bool namespaced);
/* Takes that back: the next look-up asks the server. */
void kube_kind_forget(struct kube *k, struct str api_version, struct str kind);
void kube_discovery_forget(struct kube *k); /* the next look-up asks again */
/* What .Capabilities.APIVersions holds: "v1", "apps/v1", "apps/v1/Deployment", …, sorted; a list of strings in `a`. */
NODISCARD int kube_api_versions(struct kube *k, struct arena *a, struct value *ret, struct err **err);
/* Asks for /version once, with no word in front of the error: is the server there, and does it let us in? */
NODISCARD int kube_reach(struct kube *k, struct err **err);
/* The answer of /version: gitVersion, major, minor, …. */
NODISCARD int kube_server_version(struct kube *k, struct arena *a, struct value *ret, struct err **err);

/* ---- list and watch ----------------------------------------------------------------------------------------------
 * client-go's reflector (spec §3.1): list, watch from there, follow bookmarks, list again after 410, back off with
 * jitter (0.8 s to 30 s). A watch asks the server to end after `watch_s`; one that neither ends nor speaks a few seconds
 * later is dead and replaced: so a silent connection is noticed within 45 s, whatever stands in between. */

enum kube_event_type { KUBE_ADDED, KUBE_MODIFIED, KUBE_DELETED };

struct kube_reflector_options {
    struct kube_ref ref; /* api_version, kind, ns */
    struct str label_selector, field_selector;
    bool metadata_only; /* PartialObjectMetadata: no spec, no status */
    int watch_s;        /* 0: 30 (25 to 35, random) */
};
/* Called from the thread in kube_reflect() alone. Objects live until the call returns. The server's list replaces
 * everything: between list_begin and list_end come all objects; what did not come is gone. */
struct kube_reflector_sink {
    void *ctx;
    void (*list_begin)(void *ctx);
    void (*list_item)(void *ctx, struct value object);
    void (*list_end)(void *ctx, struct str resource_version);
    void (*event)(void *ctx, enum kube_event_type type, struct value object);
    void (*trouble)(
        void *ctx, const struct err *err); /* a failed list or watch; it goes on after a pause; may be NULL */
};
struct kube_reflector;
struct kube_reflector *kube_reflector_new(struct kube *k, const struct kube_reflector_options *o,
                                          const struct kube_reflector_sink *sink) NODISCARD; /* copies both */
void kube_reflector_run(struct kube_reflector *r); /* returns after kube_reflector_stop() */
/* From any thread; run returns at once, or when the request of a list that is under way has ended. */
void kube_reflector_stop(struct kube_reflector *r);
void kube_reflector_free(struct kube_reflector *r); /* after run has returned; may be NULL */
DEFINE_CLEANUP(struct kube_reflector *, kube_reflector_free)
struct kube_reflector_figures {
    uint64_t lists, watches, events, bookmarks, failures,
        silent; /* silent: watches given up because nothing came */
};
struct kube_reflector_figures kube_reflector_figures(const struct kube_reflector *r);

/* One watch without a list, for waiting on something: reads events until `until` returns 1 (then 1), an error, or the
 * deadline (TIMEOUT). Starts with the current state (synthetic ADDED). `event` as above; it returns 1 to stop. */
typedef int (*kube_until_fn)(void *ctx, enum kube_event_type type, struct value object, struct err **err);
NODISCARD int kube_watch_until(struct kube *k, const struct kube_reflector_options *o, int64_t deadline_ms,
                               kube_until_fn until, void *ctx, struct err **err);

/* The framing of a watch stream: takes bytes, yields events. For the reflector and its fuzz target. */
struct kube_watch_event {
    struct str type; /* "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR" or whatever the server sent */
    struct value object;
};
struct kube_watch_parser;
struct kube_watch_parser *kube_watch_parser_new(size_t event_max) NODISCARD; /* 0: KUBE_EVENT_MAX */
void kube_watch_parser_free(struct kube_watch_parser *p);
DEFINE_CLEANUP(struct kube_watch_parser *, kube_watch_parser_free)
void kube_watch_parser_add(struct kube_watch_parser *p, struct str bytes);
/* 1 and the next event (in `a`), 0 when more bytes are needed, PARSE, LIMIT. */
NODISCARD int kube_watch_parser_next(struct kube_watch_parser *p, struct arena *a,
                                     struct kube_watch_event *ret, struct err **err);

/* ---- events ------------------------------------------------------------------------------------------------------
 * core/v1 Events, written by a thread of their own, never waited for. Equal ones (object, type, reason, message) are
 * one object whose count grows; per object at most 25 at once and one per 5 minutes after (as client-go's correlator);
 * beyond KUBE_RECORDER_QUEUE_MAX they are dropped and counted. Nothing secret belongs in them. */

struct kube_recorder;
/* `component`: "pintle". Writes with k's identity. */
struct kube_recorder *kube_recorder_new(struct kube *k, struct str component) NODISCARD;
void kube_recorder_free(struct kube_recorder *r); /* gives what waits up to 1 s; may be NULL */
DEFINE_CLEANUP(struct kube_recorder *, kube_recorder_free)
enum kube_event_severity { KUBE_EVENT_NORMAL, KUBE_EVENT_WARNING };
/* `regarding`: the object (apiVersion, kind, metadata are read). reason: CamelCase; the message is cut at 1,024 bytes.
 * `r` may be NULL: nothing happens. */
void kube_event(struct kube_recorder *r, struct value regarding, enum kube_event_severity severity,
                const char *reason, const char *fmt, ...) PRINTF(5, 6);
uint64_t kube_recorder_dropped(struct kube_recorder *r); /* how many found no room */

/* ---- readiness and conditions -------------------------------------------------------------------------------------
 * kstatus as Helm 4 uses it (fluxcd/cli-utils): a pure function over the object. */

enum kube_status {
    KUBE_STATUS_CURRENT,     /* ready: the object is what its spec says */
    KUBE_STATUS_IN_PROGRESS, /* not yet */
    KUBE_STATUS_FAILED,      /* it will not become ready by waiting */
    KUBE_STATUS_TERMINATING, /* being deleted */
    KUBE_STATUS_NOT_FOUND,   /* object is null */
    KUBE_STATUS_UNKNOWN,     /* not an object */
};
const char *kube_status_name(enum kube_status s); /* "Current", "InProgress", … as kstatus prints them */
struct kube_status_options {
    bool wait_for_jobs;   /* a Job is current when it is complete, not when it has started */
    struct wall_time now; /* for "unschedulable since 15 s"; zero: clock_wall() */
};
/* `o` and `ret_message` may be NULL. The message says what is missing ("Available: 1/3"), in `a`. */
enum kube_status kube_status(struct arena *a, struct value object, const struct kube_status_options *o,
                             struct str *ret_message);

struct kube_condition {
    struct str type;             /* "Ready" */
    const char *status;          /* "True", "False", "Unknown" */
    struct str reason;           /* CamelCase */
    struct str message;          /* cut at 32 KiB, as the API's limit */
    int64_t observed_generation; /* 0: left out */
};
/* The condition of that type in status.conditions of the object (or of the list itself); null when absent. */
struct value kube_condition_find(struct value object_or_list, struct str type);
bool kube_condition_is(struct value object_or_list, struct str type, const char *status);
/* A new list with the condition set; lastTransitionTime moves only when the status changes. `list` may be null. Order
 * is kept. *ret_changed (may be NULL) is false when the list is equal to the old one. */
struct value kube_condition_set(struct arena *a, struct value list, const struct kube_condition *c,
                                bool *ret_changed);
struct value kube_condition_unset(struct arena *a, struct value list, struct str type, bool *ret_changed);

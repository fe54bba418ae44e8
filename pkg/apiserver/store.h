/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store: objects as JSON text under one counter, the resourceVersion, with their history.
 *
 * Every write makes a revision: a row with the number, the key and the whole object as it is from then on. A superseded
 * revision stays until it is compacted, so lists can be continued and watches resumed at an older number; below the
 * compacted number they fail with GONE. An acknowledged write survives the death of the process. Threads may share it. */
#include "base/arena.h"
#include "base/err.h"
#include "value/value.h"

struct api_store;

struct api_key {
    struct str resource; /* "deployments.apps", "configmaps" */
    struct str ns, name; /* ns "" for cluster scope */
};

struct api_row {
    struct api_key key;
    int64_t rv;
    struct str json;   /* with metadata.resourceVersion */
    struct str labels; /* as api_labels_pack() makes it */
};

enum api_op { API_OP_CREATE = 1, API_OP_UPDATE = 2, API_OP_DELETE = 3 };

struct api_change {
    struct api_row row; /* DELETE: the last state, its resourceVersion that of the deletion */
    enum api_op op;
    bool has_before;
    struct str before_json, before_labels; /* of the revision before; JSON only when asked for */
};

NODISCARD int api_store_open(const char *path, struct api_store **ret, struct err **err);
void api_store_close(struct api_store *s); /* s may be NULL */
DEFINE_CLEANUP(struct api_store *, api_store_close)

int64_t api_store_rv(struct api_store *s); /* of the last write */
/* A number that differs whenever something happened to `resource` since. */
NODISCARD int api_store_stamp(struct api_store *s, struct str resource, int64_t *ret, struct err **err);

/* NOT_FOUND, or the current object copied into `a`. */
NODISCARD int api_store_get(struct api_store *s, const struct api_key *key, struct arena *a,
                            struct api_row *ret, struct err **err);

struct api_list {
    struct str resource;
    struct str ns;   /* "" all */
    struct str name; /* "" all */
    bool continued;  /* start behind `after` */
    struct api_key after;
    size_t limit; /* 0: none */
    int64_t at;   /* 0: now; else the state at this resourceVersion */
    bool count;   /* *ret_remaining is wanted */
};
struct api_list_end {
    int64_t rv;        /* of the state that was listed */
    bool more;         /* stopped at the limit */
    int64_t remaining; /* rows behind the last one taken */
};
/* Calls fn for each row in key order; the row is borrowed for the call. fn returns 1 for a row that counts against the
 * limit, 0 to skip it, or a failure. GONE when `at` was compacted. */
typedef int (*api_row_fn)(void *ctx, const struct api_row *row, struct err **err);
NODISCARD int api_store_list(struct api_store *s, const struct api_list *q, api_row_fn fn, void *ctx,
                             struct api_list_end *ret, struct err **err);

struct api_write {
    enum api_op op;
    struct api_key key;
    int64_t expect;      /* UPDATE, DELETE: the resourceVersion that must be current */
    struct value object; /* a heap map; metadata.resourceVersion is set by the write */
};
/* EXISTS (CREATE), NOT_FOUND, CONFLICT. */
NODISCARD int api_store_write(struct api_store *s, const struct api_write *w, struct err **err);

/* What happened to `resource` ("" all) in `ns` ("" all) after `after`, oldest first, at most `max`; copied into `a`.
 * *ret_rv is where to go on. GONE when `after` was compacted. */
struct api_changes {
    struct str resource, ns;
    int64_t after;
    size_t max;
    bool before; /* before_json is wanted */
};
NODISCARD int api_store_changes(struct api_store *s, const struct api_changes *q, struct arena *a,
                                struct api_change **ret, size_t *ret_n, int64_t *ret_rv, struct err **err);
/* Waits until something may have happened to `resource` ("" any) after `after`: true, or false at the timeout. */
bool api_store_wait(struct api_store *s, struct str resource, int64_t after, int timeout_ms);
void api_store_wake(struct api_store *s); /* ends all waits early */

/* Keys of the objects with an ownerReference to `uid`, in `a`. */
NODISCARD int api_store_dependents(struct api_store *s, struct str uid, struct arena *a, struct api_key **ret,
                                   size_t *ret_n, struct err **err);

/* Drops superseded revisions that are older than `keep_ms` or beyond the newest `keep_n`. */
NODISCARD int api_store_compact(struct api_store *s, int64_t keep_ms, int64_t keep_n, struct err **err);
NODISCARD int api_store_check(struct api_store *s, struct err **err);

/* The value of a label in packed text: false when it is not there. */
bool api_labels_get(struct str packed, struct str key, struct str *ret);

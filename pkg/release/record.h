/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* record: Helm's release record, one Secret a revision (helm pkg/storage/driver/secrets.go, pkg/release/v1).
 *
 * The record is kept as the JSON tree that Helm wrote, so that members we do not know survive; accessors give it types.
 * Its Secret's labels are Helm's; our intent (who works on it, with which inputs, how far) is in annotations
 * pintle.dev/…, which Helm drops whenever it writes the Secret itself: a record without them was last written by another
 * tool. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "value/value.h"

#define RECORD_SECRET_TYPE "helm.sh/release.v1"
#define RECORD_ANNOTATION_OWNER "pintle.dev/release-uid"  /* metadata.uid of the Release object */
#define RECORD_ANNOTATION_INPUTS "pintle.dev/inputs"      /* digest of what decided this revision */
#define RECORD_ANNOTATION_ATTEMPT "pintle.dev/attempt"    /* counts from 1 */
#define RECORD_ANNOTATION_STARTED "pintle.dev/started-at" /* RFC 3339, when this attempt began */
#define RECORD_ANNOTATION_EVENT "pintle.dev/hook-event"   /* the event that the hooks' phases belong to */
#define RECORD_ANNOTATION_UNDO "pintle.dev/undo" /* why this attempt failed: it is, or was, undone for it */
#define RECORD_ANNOTATION_ROLLBACK \
    "pintle.dev/rollback"                        /* this revision undoes another: the one it goes back to */
#define RECORD_ANNOTATION_STEP "pintle.dev/step" /* the step that was about to run */

/* X(code, Helm's word, an operation is under way) */
#define RECORD_STATUS_MAP(X)                    \
    X(UNKNOWN, "unknown", false)                \
    X(DEPLOYED, "deployed", false)              \
    X(UNINSTALLED, "uninstalled", false)        \
    X(SUPERSEDED, "superseded", false)          \
    X(FAILED, "failed", false)                  \
    X(UNINSTALLING, "uninstalling", true)       \
    X(PENDING_INSTALL, "pending-install", true) \
    X(PENDING_UPGRADE, "pending-upgrade", true) \
    X(PENDING_ROLLBACK, "pending-rollback", true)

enum record_status {
#define X(code, text, busy) RECORD_##code,
    RECORD_STATUS_MAP(X)
#undef X
        RECORD_STATUS_MAX_,
};
const char *record_status_name(enum record_status s);
bool record_status_busy(enum record_status s);

struct record {
    struct arena *arena;
    struct value release;             /* Helm's JSON; a map that may be changed */
    struct value labels, annotations; /* of the Secret; maps that may be changed */
    struct str resource_version;      /* "" before it was stored */
};

struct record *record_new(struct str ns, struct str name, int64_t revision) NODISCARD;
/* A new revision with the chart, values, manifest and hooks of an earlier one, as helm rollback makes it: pending-rollback,
 * "Rollback to N". It shares nothing with `target`. */
struct record *record_new_rollback(const struct record *target, int64_t revision) NODISCARD;
void record_free(struct record *r);
DEFINE_CLEANUP(struct record *, record_free)

/* From a Secret as the API serves it. PARSE or LIMIT (unpacked over RELEASE_RECORD_UNPACKED_MAX); names the Secret. */
NODISCARD int record_decode(struct value secret, struct record **ret, struct err **err);
/* The Secret to write, in `a`. LIMIT with the sizes when it is over RELEASE_RECORD_MAX: known before the first write. */
NODISCARD int record_encode(const struct record *r, struct arena *a, struct value *ret, struct err **err);

/* What the metadata of a stored Secret says, without its payload; revision 0 when it is not one of Helm's. */
struct record_head {
    struct str secret_name, release;
    int64_t revision;
    enum record_status status;
};
struct record_head record_head(struct value secret_metadata);

struct str record_name(const struct record *r);
struct str record_namespace(const struct record *r);
int64_t record_revision(const struct record *r);
enum record_status record_status(const struct record *r);
struct str record_manifest(const struct record *r);
struct value record_config(const struct record *r); /* null or a map */
struct value record_chart(const struct record *r);
struct value record_hooks(const struct record *r);                     /* a list or null */
struct str record_annotation(const struct record *r, const char *key); /* "" when absent */
bool record_is_ssa(const struct record *r);                            /* last written by server-side apply */

/* Status, in the JSON and in the labels, and its description; STR_NONE leaves the old one, as Helm does for superseded. */
void record_set_status(struct record *r, enum record_status s, struct str description);
/* When this revision was deployed first and last: now. */
void record_set_deployed_now(struct record *r);
void record_set_annotation(struct record *r, const char *key, struct str v);

/* How a hook's last run went; `phase` is Helm's: Unknown (""), Running, Succeeded, Failed. */
struct record_hook_run {
    struct str phase;
    bool started;
};
struct record_hook_run record_hook_run(const struct record *r, struct str kind, struct str name,
                                       struct str path);
/* Forgets how the hooks of an event ran: they are about to run for it. */
void record_reset_hooks(struct record *r, const char *event);
void record_set_hook_run(struct record *r, struct str kind, struct str name, struct str path,
                         const char *phase);

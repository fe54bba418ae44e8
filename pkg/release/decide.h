/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* decide: which operation a Release needs, from what its records say. Pure: a table from facts to an answer. */
#include "base/str.h"
#include "release/record.h"

/* X(code, word) */
#define OPERATION_MAP(X)      \
    X(NONE, "none")           \
    X(WAIT, "wait")           \
    X(ADOPT, "adopt")         \
    X(INSTALL, "install")     \
    X(UPGRADE, "upgrade")     \
    X(ROLLBACK, "rollback")   \
    X(UNINSTALL, "uninstall") \
    X(FORGET, "forget")

enum operation {
#define X(code, text) OPERATION_##code,
    OPERATION_MAP(X)
#undef X
        OPERATION_MAX_,
};
const char *operation_name(enum operation op);

struct decide_facts {
    bool deleting;  /* the Release has a deletionTimestamp */
    bool orphan;    /* deletionPolicy: Orphan */
    bool suspended; /* spec.suspend or the pause annotation */

    bool has_record; /* any record of this release name in the target namespace */
    int64_t last_revision;
    enum record_status last_status;
    bool last_ours; /* our intent annotations are on it: we wrote it last, for this very Release object */
    bool
        last_same_inputs; /* ours: the digest is equal; otherwise: chart and config of the record equal the wanted ones */
    bool last_is_install; /* the unfinished or failed attempt had no deployed revision before it */
    int64_t last_age_ms;  /* since its status was written */
    bool has_deployed;    /* some revision is deployed */

    /* flags.atomic: what failed is undone, as Helm's --rollback-on-failure does, and not tried again with the same inputs. */
    bool last_wants_undo;  /* ours: the attempt failed and is to be undone */
    bool last_is_rollback; /* ours: it undoes an earlier attempt */
    bool undone; /* the status says: an attempt with these inputs failed and was undone, or is being undone */
    bool wish;   /* the user asks for a reconcile now */
};

struct decision {
    enum operation op;
    int64_t revision; /* of the record to work on */
    bool resume;      /* that record exists already: go on with it as it stands */
    bool
        retry; /* that record exists and failed: render again and overwrite it, so that history does not grow */
    bool abandon;        /* the last record is unfinished: mark it failed first */
    bool undo;           /* ROLLBACK, UNINSTALL: because an attempt with these inputs failed */
    bool undone;         /* NONE: these inputs failed and are not tried again */
    const char *because; /* constant; for logs and `pintle plan` */
    int64_t wait_ms;     /* WAIT: look again after so long */
};

/* How long another tool's unfinished operation is left alone before it counts as dead (Helm's default --timeout, doubled). */
#define DECIDE_FOREIGN_OPERATION_MS ((int64_t)10 * 60 * 1000)

struct decision decide(const struct decide_facts *f);

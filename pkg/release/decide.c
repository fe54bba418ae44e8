/* SPDX-License-Identifier: Apache-2.0 */
#include "release/decide.h"

static const char *const names[OPERATION_MAX_] = {
#define X(code, text) [OPERATION_##code] = text,
    OPERATION_MAP(X)
#undef X
};

const char *operation_name(enum operation op)
{
    return names[op];
}

static struct decision next_revision(const struct decide_facts *f, enum operation op, const char *because)
{
    return (struct decision){ .op = op, .revision = f->last_revision + 1, .because = because };
}

static struct decision same_revision(const struct decide_facts *f, const char *because)
{
    return (struct decision){
        .op = f->last_is_install ? OPERATION_INSTALL : OPERATION_UPGRADE,
        .revision = f->last_revision,
        .resume = f->last_status != RECORD_FAILED,
        .retry = f->last_status == RECORD_FAILED,
        .because = because,
    };
}

static struct decision decide_deletion(const struct decide_facts *f)
{
    struct decision d = { .op = OPERATION_UNINSTALL, .revision = f->last_revision, .resume = true };

    if (!f->has_record) {
        d.op = OPERATION_FORGET;
        d.because = "nothing is installed";
    } else if (f->orphan) {
        d.op = OPERATION_FORGET;
        d.because = "deletionPolicy is Orphan: the objects stay";
    } else {
        d.because = "the Release is being deleted";
    }
    return d;
}

static struct decision rollback(const struct decide_facts *f, const char *because)
{
    return (struct decision){
        .op = OPERATION_ROLLBACK,
        .revision = f->last_revision + !f->last_is_rollback,
        .resume = f->last_is_rollback && f->last_status != RECORD_FAILED,
        .retry = f->last_is_rollback && f->last_status == RECORD_FAILED,
        .undo = true,
        .because = because,
    };
}

/* The first attempt of a release leaves nothing to go back to: it is taken away. */
static struct decision undo(const struct decide_facts *f)
{
    if (!f->last_is_install)
        return rollback(f, "the last attempt failed and is rolled back");
    return (struct decision){ .op = OPERATION_UNINSTALL,
                              .revision = f->last_revision,
                              .resume = true,
                              .undo = true,
                              .because = "the install failed and is undone" };
}

static struct decision leave(const struct decide_facts *f, const char *because)
{
    return (struct decision){
        .op = OPERATION_NONE, .revision = f->last_revision, .undone = true, .because = because
    };
}

static struct decision decide_unfinished(const struct decide_facts *f)
{
    struct decision d;

    if (f->last_ours && f->last_status == RECORD_UNINSTALLING)
        return (struct decision){ .op = OPERATION_UNINSTALL,
                                  .revision = f->last_revision,
                                  .resume = true,
                                  .undo = f->undone,
                                  .because = "an uninstall was begun and is not finished" };
    if (f->last_ours && f->last_is_rollback && (f->undone || f->last_same_inputs))
        return rollback(f, "a rollback was begun and is not finished");
    if (f->last_ours && f->last_same_inputs)
        return same_revision(f, "the last attempt is not finished");
    if (!f->last_ours && f->last_age_ms < DECIDE_FOREIGN_OPERATION_MS)
        return (struct decision){ .op = OPERATION_WAIT,
                                  .revision = f->last_revision,
                                  .wait_ms = DECIDE_FOREIGN_OPERATION_MS - f->last_age_ms,
                                  .because = "another tool's operation is in progress" };
    d = next_revision(f, OPERATION_UPGRADE,
                      f->last_ours ? "the inputs changed before the last attempt was finished"
                                   : "another tool's operation was never finished");
    d.abandon = true;
    return d;
}

static struct decision decide_failed(const struct decide_facts *f)
{
    if (f->last_ours && f->last_is_rollback && f->undone)
        return rollback(f, "the rollback failed");
    if (f->last_ours && f->last_wants_undo && f->last_same_inputs)
        return undo(f);
    if (f->last_ours && f->last_same_inputs)
        return same_revision(f, "the last attempt failed");
    return next_revision(f, OPERATION_UPGRADE, "the last attempt failed and the inputs changed");
}

static struct decision decide_deployed(const struct decide_facts *f)
{
    if (f->last_same_inputs)
        return (struct decision){ .op = f->last_ours ? OPERATION_NONE : OPERATION_ADOPT,
                                  .revision = f->last_revision,
                                  .resume = true,
                                  .because = f->last_ours ? "it is deployed with these inputs"
                                                          : "another tool deployed it with these inputs" };
    if (f->undone && !f->wish)
        return leave(f, "these inputs failed and were rolled back");
    return next_revision(f, OPERATION_UPGRADE,
                         f->last_ours ? "the inputs changed" : "another tool deployed it with other inputs");
}

struct decision decide(const struct decide_facts *f)
{
    if (f->deleting)
        return decide_deletion(f);
    if (f->suspended)
        return (struct decision){ .op = OPERATION_NONE,
                                  .revision = f->last_revision,
                                  .because = "it is suspended" };
    if (!f->has_record && f->undone && !f->wish)
        return leave(f, "the install failed and was undone");
    if (!f->has_record)
        return next_revision(f, OPERATION_INSTALL, "it is not installed");
    if (record_status_busy(f->last_status))
        return decide_unfinished(f);
    switch (f->last_status) {
    case RECORD_DEPLOYED:
        return decide_deployed(f);
    case RECORD_FAILED:
        return decide_failed(f);
    case RECORD_UNINSTALLED:
        return next_revision(f, OPERATION_INSTALL, "it was uninstalled, with its history kept");
    default:
        return next_revision(f, OPERATION_UPGRADE, "no revision is deployed");
    }
}

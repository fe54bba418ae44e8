/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* report: what happened, in the Release's status and in events. One patch, only when something changed. Values from
 * Secrets never get this far. */
#include "release/observe.h"

/* The closed table of reasons of Ready; documented in docs/reasons.md, which a test compares. */
#define RELEASE_REASON_MAP(X)                                                                     \
    X(Deployed, "the chart is installed with these inputs")                                       \
    X(Progressing, "an operation is under way")                                                   \
    X(RolledBack, "an upgrade failed and was rolled back, as flags.atomic of the Config asks")    \
    X(InstallUndone, "an install failed and was uninstalled, as flags.atomic of the Config asks") \
    X(Suspended, "spec.suspend or the pause annotation is set")                                   \
    X(DryRun, "the Config asks for a dry run: nothing is written")                                \
    X(SpecInvalid, "a field of the Release cannot be used")                                       \
    X(ConfigNotFound, "spec.config names a Config that is not there")                             \
    X(ConfigInvalid, "a field of the Config cannot be used")                                      \
    X(NamespaceNotAllowed, "the Config does not let this Release into its target namespace")      \
    X(AccountNotFound, "the service account is not there")                                        \
    X(RepositoryNotFound, "spec.repo names a Repository that is not there")                       \
    X(ChartNotFound, "no content of the chart, or no version that fits, is in the cluster")       \
    X(ChartInvalid, "the chart's content cannot be used")                                         \
    X(ValuesNotFound, "a Values object, ConfigMap or Secret is not there")                        \
    X(ValuesInvalid, "values form a cycle or cannot be read")                                     \
    X(SchemaViolated, "the values break the chart's schema")                                      \
    X(TemplateFailed, "a template failed")                                                        \
    X(Forbidden, "the identity of the release lacks rights")                                      \
    X(OwnershipConflict, "an object exists and belongs to someone else")                          \
    X(FieldConflict, "another manager owns a field that the chart sets")                          \
    X(RecordTooLarge, "the release record does not fit into a Secret")                            \
    X(OperationInProgress, "another tool is working on the release")                              \
    X(HookFailed, "a hook failed")                                                                \
    X(Timeout, "waiting took longer than the timeout")                                            \
    X(OperationFailed, "the API refused a part of the operation")                                 \
    X(Unavailable, "the API server or another server did not answer; it is tried again")          \
    X(Uninstalling, "the release is being removed")
const char *release_reason(enum release_stage stage, const struct err *err);

struct release_report {
    const char *ready; /* "True", "False", "Unknown" */
    const char *reason;
    struct str message;
    bool reconciling, stalled;
    struct kube_condition health; /* status and message; no status: as it was */
    const char *word;             /* yaho's status.status: success, initError, updateFailed, initResource */
    bool deployed;                /* revision, versions, digest and changes are those of the observation */
    bool recalled;                /* what an earlier process did and did not come to tell */
};

/* Writes the status when it differs, and one event when Ready's reason or message changed. */
NODISCARD int release_report(struct release_manager *m, struct observation *o,
                             const struct release_report *rep, struct err **err);

/* "image.tag, replicas and 3 more": the paths of the changed values, in the arena. */
struct str release_changed_paths(struct observation *o);
/* The text without anything that came from a Secret. In the arena. */
struct str release_redact(struct observation *o, struct str text);

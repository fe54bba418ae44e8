/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* spec: a Release and its Config as structs, and the rules between them. Strings are borrowed from the objects. */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "value/value.h"

#define RELEASE_API_VERSION "pintle.dev/v1alpha1"
#define RELEASE_FINALIZER "pintle.dev/release"
#define RELEASE_ANNOTATION_PAUSED "pintle.dev/paused"
#define RELEASE_TIMEOUT_DEFAULT_MS ((int64_t)5 * 60 * 1000)
#define RELEASE_HISTORY_DEFAULT 10
#define RELEASE_INTERVAL_DEFAULT_MS ((int64_t)10 * 60 * 1000)
#define RELEASE_INTERVAL_MIN_MS 1000
#define RELEASE_NAME_MAX 53 /* Helm: pkg/chart/common/util/validate_name */

struct release_spec {
    struct value object;      /* the whole Release */
    struct str ns, name, uid; /* of the Release object */
    int64_t generation;
    struct str release, target_ns;
    struct str repo, chart, version, config;
    struct value values;        /* names of Values objects, in order; a list or null */
    struct value values_from;   /* a list or null */
    struct value inline_values; /* a map or null */
    bool suspend, orphan, deleting;
    bool force_conflicts, take_ownership;
    int64_t timeout_ms;  /* 0: the Config's, or the default */
    int64_t max_history; /* 0: all */
};

struct release_config {
    struct str name;            /* "" when there is none */
    struct str service_account; /* "": the controller's own rights, unless it has a default account */
    struct value allowed;       /* namespaces; a list or null */
    bool create_namespace;
    bool atomic, skip_crds, sub_notes, disable_validation, dry_run, disable_hooks, wait, wait_for_jobs, force,
        cleanup_on_fail;
    int64_t timeout_ms;
    struct str description; /* "": Helm's own */
};

/* INVALID naming the field: the release's name, a timeout that is none. */
NODISCARD int release_spec_read(struct value object, struct release_spec *ret, struct err **err);
/* `object` may be null: no Config. */
NODISCARD int release_config_read(struct value object, struct release_config *ret, struct err **err);

/* FORBIDDEN unless the Config lets releases of this namespace go to the target: without a list only the Release's own
 * namespace, else exactly the listed ones. Names both and says what to change. */
NODISCARD int release_check_namespace(const struct release_spec *s, const struct release_config *c,
                                      struct err **err);

/* The rule for timeouts: below 1,000,000 seconds, else nanoseconds; or a Go duration. 0 for null. False: none of these. */
bool release_timeout_parse(struct value v, int64_t *ret_ms);

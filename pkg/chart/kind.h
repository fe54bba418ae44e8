/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* kind: what the files of the Chart kind share. Private to the module. */
#include <pthread.h>

#include "base/map.h"
#include "chart/chart.h"
#include "chart/store.h"
#include "controller/controller.h"
#include "registry/registry.h"

#define CHART_API_VERSION "pintle.dev/v1alpha1"
#define CHART_FIELD_MANAGER "pintle"
#define CHART_ANNOTATION_ACCEPT "pintle.dev/accept-digest"
#define CHART_ANNOTATION_ASKED "pintle.dev/asked-for"
#define REASON_DEPENDENCY "DependencyNotFound"
#define REASON_CYCLE "DependencyCycle"

struct chart_manager {
    struct kube *kube;
    struct kube_recorder *recorder;
    struct registry_manager *registry;
    struct chart_store *store;
    char *ns;
    struct controller_watch watches[4];
    struct controller_kind kind;
    pthread_mutex_t mutex; /* guards: */
    struct map holding;    /* "repository/chart" of which a version is kept only because it is used */
    struct map
        settled; /* "repository/chart\nCHART": the digest, owned, of what this Chart was found to be right for */
    uint64_t deletions; /* of content, as they were told */
    struct map waiting; /* "repository/chart\nCHART": this Chart needs that chart's content */
};

struct resolved {
    struct str constraint;
    const struct registry_version *version;
    struct chart_stored id;
    struct str app_version;
    struct str signer,
        verified_with; /* who signed it, and the digest of the policy that was satisfied with that */
    size_t parts;
};

struct subject { /* one Chart under reconciliation */
    struct arena *arena;
    struct value object, spec;
    struct registry_db *db;
    struct str repository, name; /* the Repository and the chart's name in its index */
    struct registry_version *versions;
    size_t n_versions;
    struct resolved *resolved;
    size_t n_resolved;
    struct chart_stored *stored;
    size_t n_stored;
    struct value content; /* metadata of all ConfigMaps with content of the chart */
    struct value md;      /* annotations of the newest resolved version: deprecated, type, tags */
    bool deps_synced;
    struct registry_source source; /* the Repository */
    struct registry_auth auth;     /* read when something is fetched of it */
    struct registry_policy policy; /* whose signatures are wanted */
    struct str retained;           /* versions that left the spec and who uses them; "" for none */
    uint64_t deletions;            /* when this began */
    const char *reason;            /* of a failure, when the code does not tell */
    int64_t retry_ms; /* above 0: the server's answer was bad; its Repository asks again after so long */
};

/* "repository/chart": what Charts, contents and Releases have in common. */
struct str chart_kind_key(struct arena *a, struct str repository, struct str chart);

/* Nothing has changed since all of it was in the cluster, as this process saw it. */
bool chart_kind_is_settled(struct chart_manager *m, const struct subject *s);
/* Unless content was deleted meanwhile. */
void chart_kind_settle(struct chart_manager *m, const struct subject *s);
void chart_kind_begin(struct chart_manager *m, struct subject *s); /* of a reconcile */
void chart_kind_forget(struct chart_manager *m, struct arena *a, struct str chart_object);
/* Content of this chart was deleted. */
void chart_kind_unsettle(struct chart_manager *m, struct arena *a, struct str repository, struct str chart);

/* Charts that wait for a dependency are woken when content of that chart is written. */
void chart_kind_wake_waiting(struct chart_manager *m, struct arena *a, const struct chart_stored *id,
                             struct controller_wake *out);

/* For what the archive lacks: the Charts that bring it, made when they are absent, and which of their versions. `ret` has room
 * for all dependencies of the chart. UNAVAILABLE while they are not in the cluster, s->reason says why. */
NODISCARD int chart_kind_dependencies(struct chart_manager *m, struct subject *s, const struct chart *c,
                                      struct store_dependency *ret, size_t *ret_n, struct err **err);

/* Before the content of this version goes: the Charts that bring what it lacks need not keep that for it any more. */
NODISCARD int chart_kind_release(struct chart_manager *m, struct subject *s, const struct chart_stored *id,
                                 struct err **err);

/* Who asks a Chart that brings dependencies for what, kept in its annotation: {"CHART": {"VERSION": ["CONSTRAINT"]}}. What is asked
 * for is in spec.versions as long as somebody asks for it. All pure, in `a`. */
struct value chart_asked_read(struct arena *a, struct value chart); /* a map, empty when there is none */
struct value chart_asked_with(struct arena *a, struct value asked, struct str chart, struct str version,
                              struct str constraint);
struct value chart_asked_without(struct arena *a, struct value asked, struct str chart, struct str version);
/* Only what is asked by owners (of metadata.ownerReferences); without any, by anybody. */
struct value chart_asked_by(struct arena *a, struct value asked, struct value owners);
/* spec.versions that was `versions`: what nobody asked for before stays; never made empty, that would mean the newest. */
struct value chart_asked_versions(struct arena *a, struct value versions, struct value before,
                                  struct value after);

/* What is stored of the chart, into s; what a process left behind that died while it wrote or deleted is removed. */
NODISCARD int chart_kind_survey(struct chart_manager *m, struct subject *s, struct err **err);
/* 1 when this version's content is the Chart's or nobody's; 0 when another Chart brought it, or it is gone. */
NODISCARD int chart_kind_owns(struct chart_manager *m, const struct subject *s, const struct chart_stored *id,
                              struct err **err);
/* Deletes the versions that left the spec, unless a Release or another chart's content uses them: those are named in
 * s->retained. Content that other Charts own is theirs. */
NODISCARD int chart_kind_sweep(struct chart_manager *m, struct subject *s, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* catalog: what is served right now: the built-in kinds and those that CRDs define.
 *
 * A catalog never changes; a changed CRD makes a new one. Requests and watches hold a reference, so what they point into
 * stays. Unchanged CRDs are shared between catalogs. */
#include "apiserver/kinds.h"
#include "apiserver/printer.h"
#include "apiserver/schema.h"
#include "base/map.h"

struct api_store;
struct api_crd;

enum api_resource_flag {
    API_RES_NO_UNCONDITIONAL = 1, /* an update must carry resourceVersion */
    API_RES_CREATE_ON_UPDATE = 2, /* PUT of an absent name creates it */
    API_RES_RETURN_DELETED = 4,   /* DELETE answers the object, not a Status */
    API_RES_VIRTUAL = 8,          /* nothing is stored: reviews, bindings */
    API_RES_ORPHAN = 16,          /* dependents are orphaned unless a policy says otherwise */
};

struct api_resource {
    struct str group, version, kind, list_kind, plural, singular;
    struct str api_version;             /* "apps/v1", "v1" */
    struct str id;                      /* what the store calls it: "deployments.apps" */
    struct str stored_version;          /* api_version of what is stored */
    struct str short_names, categories; /* comma separated */
    bool namespaced;
    uint16_t verbs;
    unsigned flags;                     /* enum api_resource_flag */
    const struct api_kind *builtin;     /* NULL for a custom kind */
    const struct api_resource *storage; /* the row whose version is stored; may be itself */
    /* custom kinds */
    struct api_crd *crd;
    struct api_schema *schema;
    const struct api_printer *printer; /* built-in kinds too; never NULL */
    struct value openapi;              /* the version's schema, borrowed from the CRD */
    struct value selectable;           /* selectableFields, or null */
    struct value scale;                /* subresources.scale, or null */
    bool has_status, has_scale;
    bool deprecated;
    struct str deprecation_warning;
};

struct api_catalog;

/* Reads the CRDs from the store; what did not change since `old` (may be NULL) is shared with it. */
NODISCARD int api_catalog_new(struct api_store *s, struct api_catalog *old, struct api_catalog **ret,
                              struct err **err);
struct api_catalog *api_catalog_ref(struct api_catalog *c);
struct api_catalog *api_catalog_unref(struct api_catalog *c); /* c may be NULL; returns NULL */
DEFINE_CLEANUP(struct api_catalog *, api_catalog_unref)

/* All of them, in discovery order: built-in groups, then custom ones by name; in a group the preferred version first. */
const struct api_resource *api_catalog_all(const struct api_catalog *c, size_t *ret_n);
/* The order of a custom group's versions, preferred first: v2, v1, v1beta1, v1alpha1, then others by name
 * (k8s.io/apimachinery/pkg/version CompareKubeAwareVersionStrings, the other way round). */
int api_version_compare(struct str a, struct str b);
const struct api_resource *api_catalog_find(const struct api_catalog *c, struct str group, struct str version,
                                            struct str plural); /* or NULL */
const struct api_resource *api_catalog_find_kind(const struct api_catalog *c, struct str group,
                                                 struct str version,
                                                 struct str kind); /* or NULL; version "" any */
const struct api_resource *api_catalog_find_id(const struct api_catalog *c,
                                               struct str id); /* its storage row */
bool api_catalog_has_version(const struct api_catalog *c, struct str group, struct str version);
uint64_t api_catalog_digest(const struct api_catalog *c); /* changes when the content does */

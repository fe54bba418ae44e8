/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* defaults: what kube-apiserver fills in for built-in kinds. Objects are maps in an arena, changed in place, and went
 * through api_schema_decode(). */
#include "apiserver/kinds.h"
#include "base/arena.h"

/* pkg/apis/<group>/<version>/defaults.go: for every decoded body and patch result. New values live in `a`. */
void api_default_object(struct arena *a, const struct api_kind *k, struct value obj);

/* The kind's strategy before a create: status emptied or set, fields the server owns (Pod phase and QoS, Namespace
 * finalizers and phase, Secret stringData folded into data, Job selector and labels by uid, Service ipFamilies ...).
 * metadata.uid must be set. metadata.generation is set for the kinds that have one. Addresses (clusterIP, nodePort) are
 * the caller's. */
void api_default_create(struct arena *a, const struct api_kind *k, struct value obj);
/* Before an update through the main endpoint: status from `old`, generation + 1 when the spec changed, stringData,
 * fields that an update cannot lose (clusterIP ...). */
void api_default_update(struct arena *a, const struct api_kind *k, struct value obj, struct value old);
/* Before an update through /status: spec and whatever else is not status comes from `old`, metadata
 * from the request (apart from what the kind's strategy keeps). */
void api_default_status_update(struct arena *a, const struct api_kind *k, struct value obj, struct value old);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* worker: the thread that does what kube-controller-manager does for every object: garbage collection by owner
 * references, emptying of namespaces and CRDs that go away, what each namespace contains, expiry of events, compaction. */
#include "apiserver/server.h"

NODISCARD int api_worker_start(struct apiserver *s, struct err **err);
void api_worker_stop(struct apiserver *s); /* s->stopping is set; waits for the thread */

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* simulate: completes what nodes and, where there are none, the controllers of a cluster would: a client that speaks
 * only the API, to any server.
 *
 * What nodes would do, always: Pods run and become ready, those that may end succeed, claims get a volume, Services of
 * type LoadBalancer an address. What kube-controller-manager would do, only where there is none: Deployments get
 * ReplicaSets, ReplicaSets, StatefulSets, DaemonSets and Jobs get Pods, and all of them their status. CronJobs never
 * start anything.
 *
 * Annotations on the Pod, or on the workload that owns it:
 *   simulate.pintle.dev/fail: TEXT     it does not become ready: a Pod that runs crashes again and again, one that may
 *                                      end fails; a claim stays pending. TEXT is the message.
 *   simulate.pintle.dev/delay: 10s     instead of options.delay_ms */
#include "base/base.h"
#include "base/err.h"
#include "kube/kube.h"

#define SIMULATE_ANNOTATION_FAIL "simulate.pintle.dev/fail"
#define SIMULATE_ANNOTATION_DELAY "simulate.pintle.dev/delay"

enum simulate_controllers {
    SIMULATE_CONTROLLERS_AUTO, /* unless the cluster shows traces of kube-controller-manager */
    SIMULATE_CONTROLLERS_ON,
    SIMULATE_CONTROLLERS_OFF,
};

struct simulate_options {
    struct kube *kube; /* required; referenced */
    int64_t delay_ms;  /* from an object's creation until it is ready; -1: SIMULATE_DELAY_MS */
    enum simulate_controllers controllers;
    unsigned workers; /* 0: 4 */
    bool signals;     /* SIGTERM and SIGINT stop it */
};
#define SIMULATE_DELAY_MS ((int64_t)1000)

struct simulate;
NODISCARD int simulate_new(const struct simulate_options *o, struct simulate **ret, struct err **err);
/* Works until simulate_stop(): 0. With AUTO it asks the server first and fails when there is no answer. */
NODISCARD int simulate_run(struct simulate *s, struct err **err);
void simulate_stop(struct simulate *s); /* from any thread or signal handler */
void simulate_free(struct simulate *s); /* after simulate_run() has returned; may be NULL */
DEFINE_CLEANUP(struct simulate *, simulate_free)

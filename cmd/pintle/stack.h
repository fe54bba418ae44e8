/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* stack: the controller with all its kinds, wired: for `pintle controller` and `pintle dev`. */
#include "base/err.h"
#include "controller/controller.h"
#include "kube/kube.h"

struct stack_options {
    struct kube *kube;                   /* referenced */
    const char *ns;                      /* of chart content and leases */
    const char *data_dir;                /* of the index database; made when absent */
    const char *listen;                  /* NULL: no metrics and health server */
    const char *default_service_account; /* "" for none */
    unsigned workers;                    /* 0: the controller's default */
    bool leader_election, signals;
    bool allow_local; /* repositories on loopback and link-local addresses */
    struct {
        const char *listen; /* where archives are served; NULL: none are kept */
        const char *url;    /* the same as others see it; "": made of listen */
        int64_t bytes_max;
    } mirror;
};

struct stack;
NODISCARD int stack_new(const struct stack_options *o, struct stack **ret, struct err **err);
void stack_free(struct stack *s); /* after stack_run() has returned; may be NULL */
DEFINE_CLEANUP(struct stack *, stack_free)
/* Until it is stopped by stack_stop() or, with `signals`, by SIGTERM or SIGINT: 0. */
NODISCARD int stack_run(struct stack *s, struct err **err);
void stack_stop(struct stack *s); /* from any thread */

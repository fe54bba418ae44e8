/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tzrule: POSIX TZ rules ("CET-1CEST,M3.5.0,M10.5.0/3"), which say what holds after a zone file's last transition.
 * Private to the module. */
#include "template/gozone.h"

/* Replaces *at (of the last transition) with what holds then; leaves it when the rule cannot be read. */
void tzrule_apply(struct str rule, int64_t unix_s, struct gozone_at *at);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Shared by the files of semver alone. */
#include "semver/semver.h"

/* How many bytes of dot-separated identifiers ([0-9A-Za-z-]+) stand there; no dot at the end. */
size_t semver_scan_idents(struct str s, size_t at);
int semver_cmp_prerelease(struct str a, struct str b); /* identifier by identifier; "" is the lowest */

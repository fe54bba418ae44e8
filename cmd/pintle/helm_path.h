/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* helm_path: where helm keeps its files (pkg/cli/environment.go, pkg/helmpath): flag, environment, XDG folders. */
#include "base/arena.h"
#include "pintle/cli.h"

enum helm_path_kind {
    HELM_REPOSITORY_CONFIG, /* ~/.config/helm/repositories.yaml */
    HELM_REPOSITORY_CACHE,  /* ~/.cache/helm/repository */
    HELM_REGISTRY_CONFIG,   /* ~/.config/helm/registry/config.json */
};
/* In `a`. Nothing is created. */
const char *helm_path(const struct cli *c, enum helm_path_kind kind, struct arena *a);

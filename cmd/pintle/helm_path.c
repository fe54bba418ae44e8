/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/helm_path.h"

#include <stdlib.h>

static const struct {
    const char *flag, *env, *helm_home, *xdg_home, *folder, *name;
} paths[] = {
    [HELM_REPOSITORY_CONFIG] = { "repository-config", "HELM_REPOSITORY_CONFIG", "HELM_CONFIG_HOME",
                                 "XDG_CONFIG_HOME", ".config", "repositories.yaml" },
    [HELM_REPOSITORY_CACHE] = { "repository-cache", "HELM_REPOSITORY_CACHE", "HELM_CACHE_HOME",
                                "XDG_CACHE_HOME", ".cache", "repository" },
    [HELM_REGISTRY_CONFIG] = { "registry-config", "HELM_REGISTRY_CONFIG", "HELM_CONFIG_HOME",
                               "XDG_CONFIG_HOME", ".config", "registry/config.json" },
};

static const char *env(const char *name)
{
    const char *v = getenv(name);

    return v && v[0] ? v : NULL;
}

const char *helm_path(const struct cli *c, enum helm_path_kind kind, struct arena *a)
{
    const char *flag = cli_string(c, paths[kind].flag), *home;

    if (flag[0])
        return flag;
    if (env(paths[kind].env))
        return env(paths[kind].env);
    home = env(paths[kind].helm_home);
    if (home)
        return arena_printf(a, "%s/%s", home, paths[kind].name).p;
    home = env(paths[kind].xdg_home);
    if (home)
        return arena_printf(a, "%s/helm/%s", home, paths[kind].name).p;
    return arena_printf(a, "%s/%s/helm/%s", env("HOME") ? env("HOME") : "", paths[kind].folder,
                        paths[kind].name)
        .p;
}

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* commands: every subcommand, sorted; a group comes before its members. cmd_<name>.c defines cmd_<name>. */
#include "pintle/cli.h"

#define COMMANDS(X)         \
    X(apiserver)            \
    X(apply)                \
    X(completion)           \
    X(controller)           \
    X(crds)                 \
    X(dependency)           \
    X(dependency_build)     \
    X(dependency_list)      \
    X(dependency_update)    \
    X(dev)                  \
    X(get)                  \
    X(help)                 \
    X(lint)                 \
    X(manifests)            \
    X(mirror)               \
    X(mirror_accept_digest) \
    X(mirror_add)           \
    X(mirror_export)        \
    X(mirror_import)        \
    X(mirror_prune)         \
    X(mirror_remove)        \
    X(mirror_serve)         \
    X(mirror_sync)          \
    X(mirror_verify)        \
    X(package)              \
    X(pull)                 \
    X(push)                 \
    X(registry)             \
    X(registry_login)       \
    X(registry_logout)      \
    X(repo)                 \
    X(repo_add)             \
    X(repo_index)           \
    X(repo_list)            \
    X(repo_remove)          \
    X(repo_update)          \
    X(search)               \
    X(search_repo)          \
    X(show)                 \
    X(show_all)             \
    X(show_chart)           \
    X(show_crds)            \
    X(show_readme)          \
    X(show_values)          \
    X(simulate)             \
    X(template)             \
    X(verify)               \
    X(version)

#define X(name) extern const struct cli_command cmd_##name;
COMMANDS(X)
#undef X

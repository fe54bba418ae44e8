/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files of the dependency module share. */
#include "dependency/dependency.h"

#define FILE_SCHEME STR("file://")
#define OCI_SCHEME STR("oci://")

/* An HTTP repository that a dependency names. */
struct dependency_index {
    struct str name; /* of its files in the cache */
    struct registry_entry entry;
    bool managed; /* it is one of repositories.yaml */
    bool loaded;
    struct registry_found access; /* how it is spoken to */
};

struct dependency_run {
    const struct dependency_job *job;
    struct arena *arena;
    struct registry_entry *entries; /* of repositories.yaml */
    size_t n_entries;
    struct dependency_index **indexes; /* in the arena */
    size_t n_indexes;
    char *temp; /* for the database of this run; NULL: none yet */
    struct registry_db *db;
};

/* Tells job->line. */
void dependency_say(const struct dependency_run *run, const char *fmt, ...) PRINTF(2, 3);

/* index.c */
/* The configured repository that "@name", "alias:name" or a URL means; NULL when there is none. */
const struct registry_entry *dependency_entry_find(const struct dependency_run *run, struct str repository);
/* The repository at `url`, known or not; lives as long as the run. */
NODISCARD int dependency_index_get(struct dependency_run *run, struct str url, struct dependency_index **ret,
                                   struct err **err);
/* Fetches into helm's cache and says how that went: a repository that cannot be reached is not a failure here. */
void dependency_index_refresh(struct dependency_run *run, struct dependency_index *x);
/* All of repositories.yaml, with helm's words around it. */
void dependency_refresh_all(struct dependency_run *run);
/* All versions of a chart, newest first. *ret_n 0: the index has no such chart. NOT_FOUND: it is not in the cache. */
NODISCARD int dependency_index_versions(struct dependency_run *run, struct dependency_index *x,
                                        struct str chart, struct registry_version **ret, size_t *ret_n,
                                        struct err **err);
/* The first version with an URL that `fits`: 1 with its entry in *ret, or 0. */
NODISCARD int dependency_index_pick(struct dependency_run *run, struct dependency_index *x, struct str chart,
                                    bool (*fits)(const void *ctx, struct str version), const void *ctx,
                                    struct registry_version *ret, struct err **err);

/* resolve.c */
/* "file://../web" or "../web" seen from the chart; in the arena. NOT_FOUND "directory x not found". */
NODISCARD int dependency_local_path(const struct dependency_run *run, struct str repository, const char **ret,
                                    struct err **err);
/* Versions for all of `wanted`, whose aliases are resolved: *ret has as many items. */
NODISCARD int dependency_resolve(struct dependency_run *run, const struct metadata_dependency *wanted,
                                 size_t n, struct metadata_dependency **ret, struct err **err);

/* download.c */
/* Everything into charts/; versions of folders are set in `deps`. Outdated archives go. */
NODISCARD int dependency_download(struct dependency_run *run, struct metadata_dependency *deps, size_t n,
                                  struct err **err);

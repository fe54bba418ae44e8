/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* embedded: files of the source tree that the program carries; made by tools/embed.awk. Tables end with a NULL name. */
#include <stddef.h>

struct embedded_file {
    const char *name; /* without its directory */
    const char *text;
};

extern const struct embedded_file cmd_crds_files[]; /* crds/, sorted by name */
/* cmd/pintle/manifests/: cmd_manifests.c fills in what stands between two @ */
extern const struct embedded_file cmd_manifests_files[];

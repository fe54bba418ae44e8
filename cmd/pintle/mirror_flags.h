/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* mirror_flags: where the controller's chart mirror listens and how large it may be. */
#include "pintle/cli.h"
#include "pintle/stack.h"

#define MIRROR_SIZE_DEFAULT "8Gi"
/* `listen`: the default address, or NULL for none. */
#define MIRROR_FLAGS(listen)                                                                                \
    { "mirror-listen",                                                                                      \
      0,                                                                                                    \
      CLI_STRING,                                                                                           \
      listen,                                                                                               \
      NULL,                                                                                                 \
      "address where the archives of Repositories with spec.mirror are served, such as :8879; \"\": none "  \
      "are kept",                                                                                           \
      NULL },                                                                                               \
        { "mirror-max-size",                                                                                \
          0,                                                                                                \
          CLI_STRING,                                                                                       \
          MIRROR_SIZE_DEFAULT,                                                                              \
          NULL,                                                                                             \
          "what these archives may take on disk; more are not kept",                                        \
          NULL },                                                                                           \
    {                                                                                                       \
        "mirror-url", 0, CLI_STRING, NULL, NULL,                                                            \
            "that address as others see it, for status.mirror.url (default: made of --mirror-listen)", NULL \
    }

/* Fills o->mirror. INVALID for a size that is none. */
NODISCARD int mirror_flags_read(struct cli *c, struct stack_options *o, struct err **err);
/* "500Mi", "10G", "1073741824": Kubernetes' amounts without fractions. */
bool mirror_flags_size(struct str text, int64_t *ret);

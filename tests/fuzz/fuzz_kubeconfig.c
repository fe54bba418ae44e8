/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "kube/kube.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A kubeconfig that somebody else wrote is refused, or names a server. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(kube_config_free) struct kube_config *c = NULL;
    struct str text = { (const char *)data, size };

    if (kube_config_parse_untrusted(text, STR_NONE, &c, NULL) == 0) {
        assert(kube_config_server(c).n > 0);
        assert(kube_config_namespace(c).n > 0);
    }
    return 0;
}

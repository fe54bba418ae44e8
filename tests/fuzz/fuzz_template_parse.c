/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "template/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes end in an error or in templates. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    CLEANUP(err_free) struct err *err = NULL;
    struct str text = { (const char *)data, size };

    if (tpl_set_add(set, STR("c/templates/a.yaml"), text, &err) == 0)
        IGNORE_ERROR(tpl_set_add(set, STR("c/templates/b.yaml"), text, NULL));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch.h"
#include "apiserver/schema.h"
#include "base/limits.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* {"doc": object, "patch": object or list}: as a strategic merge patch of a Pod and as a JSON patch. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(32 * MIB);
    CLEANUP(buf_done) struct buf b = BUF_INIT(16 * MIB);
    const struct json_options o = { .depth_max = 300 };
    const struct api_kind *pod = api_kind_find(STR(""), STR("v1"), STR("Pod"));
    struct value in, doc, ret = VALUE_NONE;

    if (json_parse(a, (struct str){ (const char *)data, size }, &o, &in, NULL) < 0)
        return 0;
    doc = value_getz(in, "doc");
    if (!value_is_map(doc))
        return 0;
    if (api_patch_json(a, doc, value_getz(in, "patch"), &ret, NULL) >= 0)
        IGNORE_ERROR(json_print(ret, 0, &b, NULL));
    if (api_schema_decode(a, pod, doc, &doc, NULL, NULL) >= 0 &&
        api_patch_strategic(a, api_kind_ref(pod), doc, value_getz(in, "patch"), &ret, NULL) >= 0)
        IGNORE_ERROR(api_schema_decode(a, pod, ret, &ret, NULL, NULL));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/apply.h"
#include "apiserver/schema.h"
#include "base/limits.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* {"crd": definition, "schema": its schema, "live": object, "sent": object}: whatever passes is checked, pruned, validated
 * and applied without a crash. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(32 * MIB);
    CLEANUP(api_schema_unref) struct api_schema *s = NULL;
    const struct json_options o = { .depth_max = 300 };
    const struct api_apply_options apply = { .manager = STR("m"),
                                             .api_version = STR("a/v1"),
                                             .has_status = true };
    struct api_causes causes = API_CAUSES_INIT(a);
    struct value in, live = VALUE_NONE, sent = VALUE_NONE, ret;

    if (json_parse(a, (struct str){ (const char *)data, size }, &o, &in, NULL) < 0)
        return 0;
    api_schema_check_crd(value_getz(in, "crd"), VALUE_NONE, &causes);
    if (api_schema_new(value_getz(in, "schema"), &s, NULL) < 0)
        return 0;
    if (!value_is_map(value_getz(in, "live")) || !value_is_map(value_getz(in, "sent")) ||
        api_schema_decode_custom(a, s, value_getz(in, "live"), &live, NULL, NULL) < 0 ||
        api_schema_decode_custom(a, s, value_getz(in, "sent"), &sent, NULL, NULL) < 0)
        return 0;
    api_schema_validate(s, sent, live, &causes);
    IGNORE_ERROR(api_apply_patch(a, api_schema_root(s), &apply, live, sent, &causes, &ret, NULL));
    IGNORE_ERROR(api_apply_update(a, api_schema_root(s), &apply, live, sent, &ret, NULL));
    return 0;
}

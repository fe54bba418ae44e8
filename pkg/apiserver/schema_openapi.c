/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/openapi.h"
#include "apiserver/schema_int.h"
#include "base/limits.h"
#include "json/json.h"

/* "com.example.stable.v1.CronTab": the group backwards, as kube-apiserver names custom schemas. */
static void print_id(struct str group, struct str version, struct str kind, struct buf *out)
{
    for (size_t end = group.n; end > 0;) {
        const size_t dot = str_rfind_char(str_sub(group, 0, end), '.');
        const size_t from = dot == STR_NPOS ? 0 : dot + 1;

        buf_addf(out, STR_FMT ".", STR_ARG(str_sub(group, from, end)));
        end = dot == STR_NPOS ? 0 : dot;
    }
    buf_addf(out, STR_FMT "." STR_FMT, STR_ARG(version), STR_ARG(kind));
}

static struct value string_schema(struct arena *a, const char *description)
{
    struct value v = value_new_map(a);

    value_setz(v, "type", VALUE_STR("string"));
    value_setz(v, "description", value_from_str(str_from(description)));
    return v;
}

/* The version's schema with what every object has. */
static struct value whole_schema(struct arena *a, const struct api_schema_openapi_kind *k, struct str group,
                                 struct str version)
{
    struct value v = value_is_map(k->openapi) ? value_copy_maps(a, k->openapi) : value_new_map(a);
    struct value properties = value_getz(v, "properties"), gvk = value_new_map(a), meta = value_new_map(a),
                 ref;
    struct value_list l = VALUE_LIST_INIT(a), all = VALUE_LIST_INIT(a);

    if (!value_is_map(properties)) {
        properties = value_new_map(a);
        value_setz(v, "properties", properties);
    }
    value_setz(v, "type", VALUE_STR("object"));
    value_setz(
        properties, "apiVersion",
        string_schema(
            a, "APIVersion defines the versioned schema of this representation of an object. Servers should "
               "convert recognized schemas to the latest internal value, and may reject unrecognized "
               "values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
               "api-conventions.md#resources"));
    value_setz(
        properties, "kind",
        string_schema(
            a, "Kind is a string value representing the REST resource this object represents. Servers may "
               "infer this from the endpoint the client submits requests to. Cannot be updated. In "
               "CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
               "api-conventions.md#types-kinds"));
    ref = value_new_map(a);
    value_setz(ref, "$ref", VALUE_STR(OPENAPI_REF "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
    value_list_add(&all, ref);
    value_setz(meta, "allOf", value_list_done(&all));
    value_setz(meta, "description",
               VALUE_STR("Standard object's metadata. More info: https://git.k8s.io/community/"
                         "contributors/devel/sig-architecture/api-conventions.md#metadata"));
    value_setz(properties, "metadata", meta);
    value_setz(gvk, "group", value_from_str(group));
    value_setz(gvk, "version", value_from_str(version));
    value_setz(gvk, "kind", value_from_str(k->kind));
    value_list_add(&l, gvk);
    value_setz(v, "x-kubernetes-group-version-kind", value_list_done(&l));
    return v;
}

int api_schema_openapi_v3(struct str group, struct str version, const struct api_schema_openapi_kind *kinds,
                          size_t n, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(free_ptr) bool *used = xcalloc(api_kind_types.n_types, sizeof(*used));
    bool first = true;

    openapi_begin(out);
    for (size_t i = 0; i < n; i++) {
        const struct openapi_kind o = {
            group, version, kinds[i].kind,       kinds[i].plural,   kinds[i].namespaced,
            0xff,  STR(""), kinds[i].has_status, kinds[i].has_scale
        };

        openapi_paths(&o, &first, out);
    }
    openapi_begin_schemas(out);
    first = true;
    openapi_mark(api_kind_object_meta().type, used);
    openapi_builtin_schemas(used, group, version, &first, out);
    for (size_t i = 0; i < n; i++) {
        CLEANUP(buf_done) struct buf id = BUF_INIT(KIB);
        int r;

        print_id(group, version, kinds[i].kind, &id);
        buf_addc(out, ',');
        json_print_string(buf_str(&id), 0, out);
        buf_addc(out, ':');
        r = json_print(whole_schema(a, &kinds[i], group, version), 0, out, err);
        if (r < 0)
            return r;
    }
    openapi_end(out);
    return buf_check(out, err);
}

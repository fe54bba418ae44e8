/* SPDX-License-Identifier: Apache-2.0 */
#include "mirror/mirror_int.h"
#include "registry/registry.h"
#include "json/json.h"

/* helm pkg/registry/chart.go and client.go Push. */

static struct value descriptor(struct arena *a, const char *type, struct str digest, size_t size)
{
    struct value d = value_new_map(a);

    value_setz(d, "mediaType", value_from_str(str_from(type)));
    value_setz(d, "digest", value_from_str(arena_printf(a, "sha256:%.*s", STR_ARG(digest))));
    value_setz(d, "size", value_from_int((int64_t)size));
    return d;
}

int mirror_make_manifest(struct arena *a, const struct mirror_manifest_parts *parts, struct buf *config,
                         struct buf *out, struct err **err)
{
    struct value v = value_new_map(a);
    struct value_list layers = VALUE_LIST_INIT(a);
    char hex[SHA256_HEX];
    int r = metadata_print_json(parts->metadata, config, err);

    if (r < 0)
        return r;
    sha256_hex(buf_str(config), hex);
    value_setz(v, "schemaVersion", value_from_int(2));
    value_setz(v, "mediaType", VALUE_STR(OCI_MEDIA_MANIFEST));
    value_setz(v, "config", descriptor(a, OCI_MEDIA_CONFIG, str_from(hex), config->n));
    value_list_add(&layers, descriptor(a, OCI_MEDIA_CHART, parts->archive, parts->archive_size));
    if (parts->provenance.n > 0)
        value_list_add(&layers, descriptor(a, OCI_MEDIA_PROV, parts->provenance, parts->provenance_size));
    value_setz(v, "layers", value_list_done(&layers));
    value_setz(v, "annotations", registry_chart_annotations(a, parts->metadata, parts->created));
    return json_print(v, 0, out, err);
}

/* ---- what manifests name ------------------------------------------------------------------------------------------------ */

static void add_named(struct mirror_named *to, size_t *n, struct value descriptor, bool is_manifest)
{
    struct str digest = value_str(value_getz(descriptor, "digest"));

    to[(*n)++] = (struct mirror_named){ str_trim_prefix(digest, STR("sha256:")), is_manifest };
}

struct mirror_named *mirror_manifest_names(struct arena *a, struct value manifest, size_t *ret_n)
{
    struct value config = value_getz(manifest, "config"), layers = value_getz(manifest, "layers"),
                 manifests = value_getz(manifest, "manifests");
    struct mirror_named *all =
        ARENA_ARRAY(a, struct mirror_named, value_len(layers) + value_len(manifests) + 1);
    size_t n = 0;

    if (value_is_map(config))
        add_named(all, &n, config, false);
    for (struct value_iter it = value_iter(layers); value_next(&it);)
        add_named(all, &n, it.v, false);
    for (struct value_iter it = value_iter(manifests); value_next(&it);)
        add_named(all, &n, it.v, true);
    *ret_n = n;
    return all;
}

int mirror_read_manifest(struct mirror *m, struct arena *a, struct str digest, struct value *ret,
                         struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIRROR_MANIFEST_MAX);
    int r = mirror_read(m, digest, &text, err);

    if (r == 0)
        r = json_parse(a, buf_str(&text), NULL, ret, err);
    return r < 0 ? err_wrap(err, r, "manifest %.*s", STR_ARG(digest)) : 0;
}

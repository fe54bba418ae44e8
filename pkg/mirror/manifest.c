/* SPDX-License-Identifier: Apache-2.0 */
#include "mirror/mirror_int.h"
#include "json/json.h"

/* helm pkg/registry/chart.go and client.go Push. */

#define ANNOTATION "org.opencontainers.image."

static void set_text(struct value map, const char *key, struct str text)
{
    if (str_trim(text).n > 0)
        value_set(map, str_from(key), value_from_str(text));
}

static struct str authors(struct arena *a, const struct metadata *md)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);

    for (size_t i = 0; i < md->n_maintainers; i++) {
        const struct metadata_maintainer *m = &md->maintainers[i];

        buf_addf(&text, "%s%.*s", i ? ", " : "", STR_ARG(m->name));
        if (m->email.n > 0)
            buf_addf(&text, " (%.*s)", STR_ARG(m->email));
    }
    return arena_dup(a, buf_str(&text));
}

static struct value annotations(struct arena *a, const struct mirror_manifest_parts *parts)
{
    const struct metadata *md = parts->metadata;
    struct value map = value_new_map(a);

    set_text(map, ANNOTATION "description", md->description);
    set_text(map, ANNOTATION "url", md->home);
    set_text(map, ANNOTATION "created", parts->created);
    if (md->sources.n > 0)
        set_text(map, ANNOTATION "source", md->sources.items[0]);
    set_text(map, ANNOTATION "authors", authors(a, md));
    for (struct value_iter it = value_iter(md->annotations); value_next(&it);)
        value_set(map, it.key, it.v);
    value_unset(map, STR(ANNOTATION "title"));
    value_unset(map, STR(ANNOTATION "version"));
    set_text(map, ANNOTATION "title", md->name);
    set_text(map, ANNOTATION "version", md->version);
    return map;
}

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
    value_setz(v, "annotations", annotations(a, parts));
    return json_print(v, 0, out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* helm push (pkg/pusher/ocipusher.go, pkg/registry/chart.go): where a chart goes, and what its manifest says. */
#include "base/limits.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

#define ANNOTATION "org.opencontainers.image."

static void annotate(struct value map, const char *key, struct str text)
{
    if (str_trim(text).n > 0)
        value_set(map, str_from(key), value_from_str(text));
}

/* "Ann (ann@example.com), Bob" */
static struct str authors(struct arena *a, const struct metadata *md)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(ARCHIVE_FILE_MAX);

    for (size_t i = 0; i < md->n_maintainers; i++) {
        const struct metadata_maintainer *m = &md->maintainers[i];

        buf_addstr(&text, m->name);
        if (m->email.n > 0)
            buf_addf(&text, " (" STR_FMT ")", STR_ARG(m->email));
        buf_adds(&text, i + 1 < md->n_maintainers ? ", " : "");
    }
    return arena_dup(a, buf_str(&text));
}

struct value registry_chart_annotations(struct arena *a, const struct metadata *md, struct str created)
{
    struct value map = value_new_map(a);

    annotate(map, ANNOTATION "description", md->description);
    annotate(map, ANNOTATION "url", md->home);
    annotate(map, ANNOTATION "created", created);
    if (md->sources.n > 0)
        annotate(map, ANNOTATION "source", md->sources.items[0]);
    annotate(map, ANNOTATION "authors", authors(a, md));
    for (struct value_iter it = value_iter(md->annotations); value_next(&it);)
        value_set(map, it.key, it.v);
    value_unset(map, STR(ANNOTATION "title"));
    value_unset(map, STR(ANNOTATION "version"));
    annotate(map, ANNOTATION "title", md->name);
    annotate(map, ANNOTATION "version", md->version);
    return map;
}

static int open_registry(const struct registry_locator *l, struct arena *a, struct str reference,
                         struct registry_found *f, struct oci_client **ret, struct err **err)
{
    struct oci_ref ref;
    int r = oci_ref_parse(a, reference, &ref, err);

    if (r == 0)
        r = registry_use_registry(l, a, &ref, f, err);
    return r < 0 ? r : registry_oci_open(&f->source, a, ref.host, ret, err);
}

int registry_push(const struct registry_locator *l, const struct registry_push *p, struct str remote,
                  struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * ARCHIVE_PACKED_MAX);
    CLEANUP(buf_done) struct buf config = BUF_INIT(OCI_MANIFEST_MAX);
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct registry_found who = { 0 };
    struct oci_push push = { .archive = p->archive, .prov = p->prov };
    struct str digest, reference;
    int r;

    if (!oci_is_url(remote)) {
        size_t end = str_find(remote, STR("://"));

        if (end == STR_NPOS)
            return err_set(err, ERRC_INVALID, "scheme prefix missing from remote (e.g. \"oci://\")");
        return err_set(err, ERRC_UNSUPPORTED, "scheme \"" STR_FMT "\" not supported",
                       STR_ARG(str_sub(remote, 0, end)));
    }
    while (str_has_suffix(remote, STR("/")))
        remote = str_sub(remote, 0, remote.n - 1);
    reference = arena_printf(a, STR_FMT "/" STR_FMT ":" STR_FMT, STR_ARG(remote), STR_ARG(p->metadata->name),
                             STR_ARG(p->metadata->version));
    r = oci_ref_parse(a, reference, &push.ref, err);
    if (r == 0)
        r = metadata_print_json(p->metadata, &config, err);
    if (r == 0)
        r = open_registry(l, a, reference, &who, &c, err);
    if (r < 0)
        return r;
    push.config = buf_str(&config);
    push.annotations = registry_chart_annotations(a, p->metadata, p->created);
    r = oci_push_chart(c, a, &push, &digest, err);
    if (r == 0)
        registry_say_transferred(l, a, "Pushed", &push.ref, digest);
    return r;
}

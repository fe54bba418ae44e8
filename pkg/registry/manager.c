/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/limits.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

/* A group is found by the names of its members: also by those of Repositories that stand in its way. */
static void note_group(void *ctx, struct value object, struct controller_note *note)
{
    UNUSED(ctx);
    for (struct value_iter it = value_iter(value_path(object, "spec.repos")); value_next(&it);)
        controller_note_index(note, value_str(value_getz(it.v, "name")));
}

static void map_member(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    UNUSED(ctx);
    controller_wake_index(out, "repogroups", kube_name(e->object));
}

/* Under this key a Repository is found that lists the tags of the charts that are asked for. No object has a slash in it. */
static struct str registry_key(struct arena *a, struct str repository)
{
    return arena_printf(a, "registry/" STR_FMT, STR_ARG(repository));
}

static void note_repository(void *ctx, struct value object, struct controller_note *note)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);

    UNUSED(ctx);
    if (oci_is_url(value_str(value_path(object, "spec.url"))))
        controller_note_index(note, registry_key(a, kube_name(object)));
    for (struct value_iter it = value_iter(value_path(object, "spec.charts")); value_next(&it);)
        controller_note_index(
            note, repository_chart_name(a, value_str(value_getz(it.v, "name")), kube_name(object)));
}

/* A Chart that was deleted by hand comes back, and one that stood in the way may be made; a new one may be the first to ask for
 * a chart of a registry. Other changes are its own. */
static void map_chart(void *ctx, const struct controller_event *e, struct controller_wake *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    UNUSED(ctx);
    if (e->type == KUBE_DELETED)
        controller_wake_index(out, "repositories", kube_name(e->object));
    else if (!e->initial)
        controller_wake_index(out, "repositories",
                              registry_key(a, value_str(value_path(e->object, "spec.repository"))));
}

struct registry_manager *registry_manager_new(const struct registry_manager_options *o)
{
    struct registry_manager *m = xcalloc(1, sizeof(*m));
    struct controller_watch *w = m->watches;

    m->kube = kube_ref(o->kube);
    m->recorder = o->recorder;
    m->http = o->http;
    m->db = o->db;
    m->ns = str_dup(o->ns);
    m->refuse_nets = o->refuse_nets;
    m->follower = o->follower;
    w[0] = (struct controller_watch){ .name = "repositories",
                                      .api_version = STR(REGISTRY_API_VERSION),
                                      .kind = STR("Repository"),
                                      .ignore_status = true,
                                      .extract = note_repository };
    w[1] = (struct controller_watch){ .name = "repository-charts",
                                      .api_version = STR(REGISTRY_API_VERSION),
                                      .kind = STR("Chart"),
                                      .ignore_status = true,
                                      .map = map_chart };
    w[2] = (struct controller_watch){ .name = "repogroups",
                                      .api_version = STR(REGISTRY_API_VERSION),
                                      .kind = STR("RepoGroup"),
                                      .ignore_status = true,
                                      .extract = note_group };
    w[3] = (struct controller_watch){ .name = "group-repositories",
                                      .api_version = STR(REGISTRY_API_VERSION),
                                      .kind = STR("Repository"),
                                      .metadata_only = true,
                                      .map = map_member };
    m->kinds[0] = (struct controller_kind){ "Repository", repository_reconcile, m, &w[0], 2 };
    m->kinds[1] = (struct controller_kind){ "RepoGroup", repogroup_reconcile, m, &w[2], 2 };
    return m;
}

void registry_manager_free(struct registry_manager *m)
{
    if (!m)
        return;
    kube_unref(m->kube);
    free(m->ns);
    free(m);
}

const struct controller_kind *registry_manager_kinds(struct registry_manager *m, size_t *ret_n)
{
    *ret_n = ARRAY_SIZE(m->kinds);
    return m->kinds;
}

struct registry_db *registry_manager_db(struct registry_manager *m)
{
    return m->db;
}

int registry_find_by_url(struct registry_manager *m, struct arena *a, struct str url, struct str *ret,
                         struct err **err)
{
    struct kube_ref ref = KUBE_REF(REGISTRY_API_VERSION, "Repository", STR_NONE, STR_NONE);
    struct str alias = str_has_prefix(url, STR("@"))        ? str_sub(url, 1, url.n)
                       : str_has_prefix(url, STR("alias:")) ? str_sub(url, 6, url.n)
                                                            : STR("");
    struct str wanted = registry_normalize_url(a, url);
    struct value list;
    int r = kube_list(m->kube, a, &ref, STR_NONE, &list, err);

    if (r < 0)
        return err_wrap(err, r, "Repositories");
    *ret = STR("");
    for (struct value_iter it = value_iter(value_getz(list, "items")); value_next(&it) && ret->n == 0;) {
        struct str have = registry_normalize_url(a, value_str(value_path(it.v, "spec.url")));

        if (alias.n ? str_eq(alias, kube_name(it.v)) : str_eq(have, wanted))
            *ret = kube_name(it.v);
    }
    return 0;
}

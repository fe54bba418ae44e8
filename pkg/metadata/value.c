/* SPDX-License-Identifier: Apache-2.0 */
#include "metadata/metadata.h"

static struct value strings_value(struct arena *a, const struct metadata_strings *list)
{
    struct value *items = ARENA_ARRAY(a, struct value, list->n);

    for (size_t i = 0; i < list->n; i++)
        items[i] = value_from_str(list->items[i]);
    return value_from_list(items, list->n);
}

/* ---- as encoding/json would write it ---- */

static void put_text(struct value map, const char *name, struct str s)
{
    if (s.n > 0)
        value_set(map, str_from(name), value_from_str(s));
}

static void put_list(struct value map, const char *name, struct value list)
{
    if (value_len(list) > 0)
        value_set(map, str_from(name), list);
}

static struct value maintainer_value(struct arena *a, const struct metadata_maintainer *m)
{
    struct value v = value_new_map(a);

    put_text(v, "name", m->name);
    put_text(v, "email", m->email);
    put_text(v, "url", m->url);
    return v;
}

static struct value dependency_value(struct arena *a, const struct metadata_dependency *d)
{
    struct value v = value_new_map(a);

    value_setz(v, "name", value_from_str(d->name));
    put_text(v, "version", d->version);
    value_setz(v, "repository", value_from_str(d->repository));
    put_text(v, "condition", d->condition);
    put_list(v, "tags", strings_value(a, &d->tags));
    if (d->enabled)
        value_setz(v, "enabled", value_from_bool(true));
    put_list(v, "import-values", d->import_values);
    put_text(v, "alias", d->alias);
    return v;
}

struct value metadata_to_value(struct arena *a, const struct metadata *md)
{
    struct value v = value_new_map_sized(a, 17);
    struct value_list maintainers = VALUE_LIST_INIT(a), dependencies = VALUE_LIST_INIT(a);

    put_text(v, "name", md->name);
    put_text(v, "home", md->home);
    put_list(v, "sources", strings_value(a, &md->sources));
    put_text(v, "version", md->version);
    put_text(v, "description", md->description);
    put_list(v, "keywords", strings_value(a, &md->keywords));
    for (size_t i = 0; i < md->n_maintainers; i++)
        value_list_add(&maintainers, maintainer_value(a, &md->maintainers[i]));
    put_list(v, "maintainers", value_list_done(&maintainers));
    put_text(v, "icon", md->icon);
    put_text(v, "apiVersion", md->api_version);
    put_text(v, "condition", md->condition);
    put_text(v, "tags", md->tags);
    put_text(v, "appVersion", md->app_version);
    if (md->deprecated)
        value_setz(v, "deprecated", value_from_bool(true));
    put_list(v, "annotations", md->annotations);
    put_text(v, "kubeVersion", md->kube_version);
    for (size_t i = 0; i < md->n_dependencies; i++)
        value_list_add(&dependencies, dependency_value(a, &md->dependencies[i]));
    put_list(v, "dependencies", value_list_done(&dependencies));
    put_text(v, "type", md->type);
    return v;
}

struct value metadata_lock_to_value(struct arena *a, const struct metadata_lock *lock)
{
    struct value v = value_new_map_sized(a, 3);
    struct value_list dependencies = VALUE_LIST_INIT(a);

    for (size_t i = 0; i < lock->n_dependencies; i++)
        value_list_add(&dependencies, dependency_value(a, &lock->dependencies[i]));
    value_setz(v, "dependencies", lock->dependencies ? value_list_done(&dependencies) : VALUE_NONE);
    value_setz(v, "digest", value_from_str(lock->digest));
    value_setz(v, "generated", value_from_str(lock->generated));
    return v;
}

/* ---- as Helm 4 shows it to templates (structToMap) ---- */

static struct value template_maintainer(struct arena *a, const struct metadata_maintainer *m)
{
    struct value v = value_new_map_sized(a, 3);

    value_setz(v, "Email", value_from_str(m->email));
    value_setz(v, "Name", value_from_str(m->name));
    value_setz(v, "URL", value_from_str(m->url));
    return v;
}

static struct value template_dependency(struct arena *a, const struct metadata_dependency *d)
{
    struct value v = value_new_map_sized(a, 8);

    value_setz(v, "Alias", value_from_str(d->alias));
    value_setz(v, "Condition", value_from_str(d->condition));
    value_setz(v, "Enabled", value_from_bool(d->enabled));
    value_setz(v, "ImportValues",
               value_is_list(d->import_values) ? d->import_values : value_from_list(NULL, 0));
    value_setz(v, "Name", value_from_str(d->name));
    value_setz(v, "Repository", value_from_str(d->repository));
    value_setz(v, "Tags", strings_value(a, &d->tags));
    value_setz(v, "Version", value_from_str(d->version));
    return v;
}

struct value metadata_template_value(struct arena *a, const struct metadata *md)
{
    struct value v = value_new_map_sized(a, 18);
    struct value annotations =
        value_is_map(md->annotations) ? value_copy_maps(a, md->annotations) : value_new_map(a);
    struct value_list maintainers = VALUE_LIST_INIT(a), dependencies = VALUE_LIST_INIT(a);

    annotations.type = VALUE_TYPE_STRING_MAP;
    if (!value_is_map(md->annotations))
        annotations.flags |= VALUE_NIL;
    for (size_t i = 0; i < md->n_maintainers; i++)
        value_list_add(&maintainers, template_maintainer(a, &md->maintainers[i]));
    for (size_t i = 0; i < md->n_dependencies; i++)
        value_list_add(&dependencies, template_dependency(a, &md->dependencies[i]));
    value_setz(v, "APIVersion", value_from_str(md->api_version));
    value_setz(v, "Annotations", annotations);
    value_setz(v, "AppVersion", value_from_str(md->app_version));
    value_setz(v, "Condition", value_from_str(md->condition));
    value_setz(v, "Dependencies", value_list_done(&dependencies));
    value_setz(v, "Deprecated", value_from_bool(md->deprecated));
    value_setz(v, "Description", value_from_str(md->description));
    value_setz(v, "Home", value_from_str(md->home));
    value_setz(v, "Icon", value_from_str(md->icon));
    value_setz(v, "Keywords", strings_value(a, &md->keywords));
    value_setz(v, "KubeVersion", value_from_str(md->kube_version));
    value_setz(v, "Maintainers", value_list_done(&maintainers));
    value_setz(v, "Name", value_from_str(md->name));
    value_setz(v, "Sources", strings_value(a, &md->sources));
    value_setz(v, "Tags", value_from_str(md->tags));
    value_setz(v, "Type", value_from_str(md->type));
    value_setz(v, "Version", value_from_str(md->version));
    return v;
}

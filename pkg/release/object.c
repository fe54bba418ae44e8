/* SPDX-License-Identifier: Apache-2.0 */
#include "release/object.h"

#include <stdlib.h>

#include "base/limits.h"
#include "chart/chart.h"
#include "yaml/yaml.h"

#define LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define ANNOTATION_NAME "meta.helm.sh/release-name"
#define ANNOTATION_NAMESPACE "meta.helm.sh/release-namespace"

struct collector {
    struct kube *kube;
    struct arena *arena;
    const struct release_owner *owner;
    struct release_objects *out;
    size_t cap;
    struct str path;
    bool skip_unknown;
};

static struct str group_of(struct str api_version)
{
    return str_dirname(api_version);
}

static struct value with_namespace(struct arena *a, struct value body, struct str ns)
{
    struct value copy = value_copy_maps(a, body);

    value_setz(value_getz(copy, "metadata"), "namespace", value_from_str(ns));
    return copy;
}

static int add_object(struct collector *c, struct value body, struct err **err)
{
    struct release_object *o;
    const struct kube_kind *kind;
    struct kube_ref ref = kube_ref_of(body);
    int r;

    if (ref.kind.n == 0 || ref.api_version.n == 0)
        return err_set(err, ERRC_INVALID, "%.*s: an object without %s", STR_ARG(c->path),
                       ref.kind.n == 0 ? "kind" : "apiVersion");
    if (ref.name.n == 0)
        return err_set(err, ERRC_INVALID, "%.*s: a %.*s without metadata.name", STR_ARG(c->path),
                       STR_ARG(ref.kind));
    r = kube_kind_find(c->kube, ref.api_version, ref.kind, &kind, err);
    if (r == -ERRC_NOT_FOUND && c->skip_unknown) {
        err_clear(err);
        return 0;
    }
    if (r < 0)
        return err_wrap(err, r, "%.*s", STR_ARG(c->path));
    if (!kind->namespaced) {
        ref.ns = STR_NONE;
    } else if (ref.ns.n == 0) {
        body = with_namespace(c->arena, body, c->owner->ns);
        ref.ns = c->owner->ns;
    }
    if (c->out->n == RELEASE_OBJECTS_MAX)
        return err_set(err, ERRC_LIMIT, "more than %zu objects in one release", RELEASE_OBJECTS_MAX);
    ARRAY_GROW(c->out->items, c->cap, c->out->n + 1);
    o = &c->out->items[c->out->n++];
    *o = (struct release_object){ ref, c->path, body };
    return 0;
}

static int add_document(struct collector *c, struct value doc, struct err **err)
{
    struct value items = value_getz(doc, "items");
    int r = 0;

    if (value_is_null(doc))
        return 0;
    if (!value_is_map(doc))
        return err_set(err, ERRC_INVALID, "%.*s: a document that is not an object", STR_ARG(c->path));
    if (!str_has_suffix(value_str(value_getz(doc, "kind")), STR("List")) || !value_is_list(items))
        return add_object(c, doc, err);
    for (size_t i = 0; i < items.n && r == 0; i++)
        r = add_object(c, value_at(items, i), err);
    return r;
}

/* "# Source: web/templates/a.yaml" leads each document of a record's manifest. */
static struct str source_path(struct str text)
{
    static const struct str mark = { "# Source: ", 10 };
    struct str line;

    if (!str_has_prefix(text, mark) || !str_split(&text, '\n', &line))
        return STR("manifest");
    return str_sub(line, mark.n, line.n);
}

static int collect(struct collector *c, struct str manifest, struct err **err)
{
    size_t n;
    struct str *docs = chart_split_manifests(c->arena, manifest, &n);
    struct value doc;
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++) {
        c->path = source_path(docs[i]);
        r = yml_parse(c->arena, docs[i], NULL, &doc, err);
        r = r < 0 ? err_wrap(err, r, "%.*s", STR_ARG(c->path)) : add_document(c, doc, err);
    }
    return r;
}

static void free_items(void *p)
{
    free(p);
}

static int parse(struct kube *k, struct arena *a, struct str manifest, const struct release_owner *owner,
                 bool skip_unknown, struct release_objects *ret, struct err **err)
{
    struct release_objects out = { 0 };
    struct collector c = { .kube = k, .arena = a, .owner = owner, .out = &out, .skip_unknown = skip_unknown };
    int r = collect(&c, manifest, err);

    arena_on_free(a, free_items, out.items);
    if (r == 0)
        *ret = out;
    return r;
}

int release_objects_parse(struct kube *k, struct arena *a, struct str manifest,
                          const struct release_owner *owner, struct release_objects *ret, struct err **err)
{
    return parse(k, a, manifest, owner, false, ret, err);
}

int release_objects_parse_known(struct kube *k, struct arena *a, struct str manifest,
                                const struct release_owner *owner, struct release_objects *ret,
                                struct err **err)
{
    return parse(k, a, manifest, owner, true, ret, err);
}

struct value release_object_owned(struct arena *a, struct value body, const struct release_owner *owner)
{
    struct value copy = value_copy_maps(a, body);
    struct value metadata = value_getz(copy, "metadata");
    struct value labels = value_getz(metadata, "labels"), annotations = value_getz(metadata, "annotations");

    if (!value_is_map(labels))
        value_setz(metadata, "labels", labels = value_new_map(a));
    if (!value_is_map(annotations))
        value_setz(metadata, "annotations", annotations = value_new_map(a));
    value_setz(labels, LABEL_MANAGED_BY, VALUE_STR("Helm"));
    value_setz(annotations, ANNOTATION_NAME, value_from_str(owner->release));
    value_setz(annotations, ANNOTATION_NAMESPACE, value_from_str(owner->ns));
    return copy;
}

bool release_owner_matches(struct value live, const struct release_owner *owner)
{
    return str_eq(kube_label(live, STR(LABEL_MANAGED_BY)), STR("Helm")) &&
           str_eq(kube_annotation(live, STR(ANNOTATION_NAME)), owner->release) &&
           str_eq(kube_annotation(live, STR(ANNOTATION_NAMESPACE)), owner->ns);
}

static void explain_key(struct str got, const char *what, const char *key, struct str want, struct buf *out)
{
    if (str_eq(got, want))
        return;
    if (out->n > 0)
        buf_adds(out, "; ");
    buf_addf(out, "%s validation error: ", what);
    if (got.n == 0)
        buf_addf(out, "missing key \"%s\": must be set to \"%.*s\"", key, STR_ARG(want));
    else
        buf_addf(out, "key \"%s\" must equal \"%.*s\": current value is \"%.*s\"", key, STR_ARG(want),
                 STR_ARG(got));
}

void release_owner_explain(struct value live, const struct release_owner *owner, struct buf *out)
{
    explain_key(kube_label(live, STR(LABEL_MANAGED_BY)), "label", LABEL_MANAGED_BY, STR("Helm"), out);
    explain_key(kube_annotation(live, STR(ANNOTATION_NAME)), "annotation", ANNOTATION_NAME, owner->release,
                out);
    explain_key(kube_annotation(live, STR(ANNOTATION_NAMESPACE)), "annotation", ANNOTATION_NAMESPACE,
                owner->ns, out);
}

static int compare_refs(const struct kube_ref *a, const struct kube_ref *b)
{
    int c = str_cmp(a->kind, b->kind);

    if (c == 0)
        c = str_cmp(group_of(a->api_version), group_of(b->api_version));
    if (c == 0)
        c = str_cmp(a->ns, b->ns);
    return c ? c : str_cmp(a->name, b->name);
}

static bool release_object_same(const struct kube_ref *a, const struct kube_ref *b)
{
    return compare_refs(a, b) == 0;
}

const struct release_object *release_objects_find(const struct release_objects *set,
                                                  const struct kube_ref *ref)
{
    for (size_t i = 0; i < set->n; i++)
        if (release_object_same(&set->items[i].ref, ref))
            return &set->items[i];
    return NULL;
}

static int compare_by_identity(const void *a, const void *b)
{
    return compare_refs(&((const struct release_object *)a)->ref, &((const struct release_object *)b)->ref);
}

static int compare_for_uninstall(const void *x, const void *y)
{
    const struct release_object *a = x, *b = y;
    int i = chart_uninstall_rank(a->ref.kind), j = chart_uninstall_rank(b->ref.kind);

    return i != j ? (i < j ? -1 : 1) : compare_by_identity(x, y);
}

static void release_objects_sort_uninstall(struct release_objects *set)
{
    if (set->n > 1)
        qsort(set->items, set->n, sizeof(*set->items), compare_for_uninstall);
}

struct release_objects release_objects_removed(struct arena *a, const struct release_objects *before,
                                               const struct release_objects *now)
{
    struct release_object *sorted = ARENA_ARRAY(a, struct release_object, now->n);
    struct release_objects out = { ARENA_ARRAY(a, struct release_object, before->n), 0 };
    size_t n = 0;

    if (now->n > 0) {
        memcpy(sorted, now->items, now->n * sizeof(*sorted));
        qsort(sorted, now->n, sizeof(*sorted), compare_by_identity);
    }
    for (size_t i = 0; i < before->n; i++)
        if (now->n == 0 || !bsearch(&before->items[i], sorted, now->n, sizeof(*sorted), compare_by_identity))
            out.items[out.n++] = before->items[i];
    release_objects_sort_uninstall(&out);
    for (size_t i = 0; i < out.n; i++) /* several old revisions may have had the same object */
        if (n == 0 || !release_object_same(&out.items[n - 1].ref, &out.items[i].ref))
            out.items[n++] = out.items[i];
    out.n = n;
    return out;
}

bool release_object_is_kept(struct value body)
{
    return str_ieq(str_trim(kube_annotation(body, STR("helm.sh/resource-policy"))), STR("keep"));
}

size_t release_objects_group_end(const struct release_objects *set, size_t from)
{
    size_t i = from + 1;

    while (i < set->n && str_eq(set->items[i].ref.kind, set->items[from].ref.kind))
        i++;
    return i;
}

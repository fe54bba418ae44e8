/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/utf8.h"
#include "chart/chart_int.h"
#include "yaml/yaml.h"

#define HOOK_ANNOTATION "helm.sh/hook"
#define WEIGHT_ANNOTATION "helm.sh/hook-weight"
#define DELETE_ANNOTATION "helm.sh/hook-delete-policy"
#define OUTPUT_LOG_ANNOTATION "helm.sh/hook-output-log-policy"

/* ---- splitting ---- */

static struct str trim_left(struct str s)
{
    while (s.n > 0) {
        uint32_t r;
        size_t width = utf8_decode(s, &r);

        if (!utf8_is_space(r))
            break;
        s = str_sub(s, width, s.n);
    }
    return s;
}

size_t chart_find_separator(struct str s, size_t from)
{
    while (from + 3 <= s.n) {
        const char *newline;

        if (memcmp(s.p + from, "---", 3) == 0)
            return from;
        newline = memchr(s.p + from, '\n', s.n - from);
        if (!newline)
            break;
        from = (size_t)(newline - s.p) + 1;
    }
    return STR_NPOS;
}

struct str *chart_split_manifests(struct arena *a, struct str text, size_t *ret_n)
{
    struct str rest = trim_left(text), *docs = NULL;
    size_t n = 0, cap = 0;
    bool line_start = true;

    while (rest.n > 0) {
        const char *newline = line_start ? rest.p : memchr(rest.p, '\n', rest.n);
        size_t from = !newline ? rest.n : line_start ? 0 : (size_t)(newline - rest.p) + 1;
        size_t at = chart_find_separator(rest, from);
        struct str doc = trim_left(str_sub(rest, 0, at == STR_NPOS ? rest.n : at));

        if (doc.n > 0) {
            if (n == cap) {
                size_t larger = cap ? 2 * cap : 4;

                docs = arena_grow(a, docs, cap * sizeof(*docs), larger * sizeof(*docs));
                cap = larger;
            }
            docs[n++] = doc;
        }
        if (at == STR_NPOS)
            break;
        for (at += 3; at < rest.n && (rest.p[at] == ' ' || rest.p[at] == '\t');)
            at++;
        rest = str_sub(rest, at, rest.n);
        line_start = false; /* what follows a separator on its line is content, even "---" */
    }
    *ret_n = n;
    return docs;
}

/* ---- order of kinds ---- */

static const char *const install_order[] = {
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
};

static const char *const uninstall_order[] = {
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "APIService",
    "Ingress",
    "IngressClass",
    "Service",
    "CronJob",
    "Job",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "DaemonSet",
    "RoleBindingList",
    "RoleBinding",
    "RoleList",
    "Role",
    "ClusterRoleBindingList",
    "ClusterRoleBinding",
    "ClusterRoleList",
    "ClusterRole",
    "CustomResourceDefinition",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ConfigMap",
    "SecretList",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "PodSecurityPolicy",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Namespace",
    "PriorityClass",
};

static int rank_in(const char *const *order, size_t n, struct str kind)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(kind, str_from(order[i])))
            return (int)i;
    return INT_MAX;
}

static int chart_install_rank(struct str kind)
{
    return rank_in(install_order, ARRAY_SIZE(install_order), kind);
}

int chart_uninstall_rank(struct str kind)
{
    return rank_in(uninstall_order, ARRAY_SIZE(uninstall_order), kind);
}

/* ---- hooks ---- */

static const char *const event_names[CHART_HOOK_MAX_] = {
    [CHART_HOOK_PRE_INSTALL] = "pre-install",
    [CHART_HOOK_POST_INSTALL] = "post-install",
    [CHART_HOOK_PRE_DELETE] = "pre-delete",
    [CHART_HOOK_POST_DELETE] = "post-delete",
    [CHART_HOOK_PRE_UPGRADE] = "pre-upgrade",
    [CHART_HOOK_POST_UPGRADE] = "post-upgrade",
    [CHART_HOOK_PRE_ROLLBACK] = "pre-rollback",
    [CHART_HOOK_POST_ROLLBACK] = "post-rollback",
    [CHART_HOOK_TEST] = "test",
};

const char *chart_hook_event_name(enum chart_hook_event e)
{
    return event_names[e];
}

static bool chart_hook_event_parse(struct str name, enum chart_hook_event *ret)
{
    if (str_eq(name, STR("test-success")))
        name = STR("test");
    for (size_t i = 0; i < CHART_HOOK_MAX_; i++) {
        if (str_eq(name, str_from(event_names[i]))) {
            *ret = (enum chart_hook_event)i;
            return true;
        }
    }
    return false;
}

bool chart_hook_has_event(const struct chart_hook *h, enum chart_hook_event e)
{
    for (size_t i = 0; i < h->n_events; i++)
        if (h->events[i] == e)
            return true;
    return false;
}

bool chart_hook_has_delete_policy(const struct chart_hook *h, const char *policy)
{
    for (size_t i = 0; i < h->n_delete_policies; i++)
        if (str_eq(h->delete_policies[i], str_from(policy)))
            return true;
    return false;
}

/* ---- what Helm reads of every document (SimpleHead) ---- */

struct head {
    struct str api_version, kind, name;
    struct value annotations; /* a map, or null */
    struct value object;
};

struct sorter {
    struct arena *arena;   /* of the result */
    struct arena *scratch; /* of one document */
    const struct chart_render_options *o;
    struct chart_manifest *manifests;
    size_t n_manifests, cap_manifests;
    struct chart_hook *hooks;
    size_t n_hooks, cap_hooks;
};

static int bad_head(struct value v, const char *where, const char *type, struct err **err)
{
    return err_set(
        err, ERRC_TEMPLATE,
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go %s of type %s",
        metadata_json_kind(v), where, type);
}

/* A member that Go decodes into a string. */
static int head_text(struct sorter *s, struct value map, const char *name, const char *where, struct str *ret,
                     struct err **err)
{
    struct value v = metadata_member(map, str_from(name));

    *ret = STR("");
    if (metadata_scalar_text(s->scratch, v, ret))
        return 0;
    return bad_head(v, where, "string", err);
}

static int read_annotations(struct sorter *s, struct value metadata, struct head *h, struct err **err)
{
    struct value v = metadata_member(metadata, STR("annotations"));

    if (value_is_null(v))
        return 0;
    if (!value_is_map(v))
        return bad_head(v, "struct field .metadata.annotations", "map[string]string", err);
    h->annotations = value_new_map_sized(s->scratch, value_len(v));
    for (struct value_iter it = value_iter(v); value_next(&it);) {
        struct str text = STR("");

        if (!metadata_scalar_text(s->scratch, it.v, &text))
            return bad_head(it.v, "struct field .metadata.annotations", "string", err);
        value_set(h->annotations, it.key, value_from_str(text));
    }
    return 0;
}

static int read_head(struct sorter *s, struct value v, struct head *h, struct err **err)
{
    struct value metadata = metadata_member(v, STR("metadata"));
    int r;

    *h = (struct head){ .api_version = STR(""), .kind = STR(""), .name = STR(""), .object = v };
    if (value_is_null(v))
        return 0;
    if (!value_is_map(v))
        return bad_head(v, "value", "util.SimpleHead", err);
    r = head_text(s, v, "apiVersion", "struct field SimpleHead.apiVersion", &h->api_version, err);
    if (r < 0)
        return r;
    r = head_text(s, v, "kind", "struct field SimpleHead.kind", &h->kind, err);
    if (r < 0)
        return r;
    if (value_is_null(metadata))
        return 0;
    if (!value_is_map(metadata))
        return bad_head(metadata, "struct field SimpleHead.metadata",
                        "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string "
                        "\"json:\\\"annotations\\\"\" }",
                        err);
    r = read_annotations(s, metadata, h, err);
    if (r < 0)
        return r;
    return head_text(s, metadata, "name", "struct field .metadata.name", &h->name, err);
}

/* ---- documents to manifests and hooks ---- */

static struct value kept_object(struct sorter *s, const struct head *h)
{
    return s->o->keep_objects ? value_copy(s->arena, h->object, NULL) : VALUE_NONE;
}

static void *list_room(struct arena *a, void *items, size_t *cap, size_t n, size_t size)
{
    size_t larger = *cap ? 2 * *cap : 16;

    if (n < *cap)
        return items;
    items = arena_grow(a, items, *cap * size, larger * size);
    *cap = larger;
    return items;
}

static void add_manifest(struct sorter *s, struct str path, struct str content, const struct head *h)
{
    s->manifests =
        list_room(s->arena, s->manifests, &s->cap_manifests, s->n_manifests, sizeof(*s->manifests));
    s->manifests[s->n_manifests++] = (struct chart_manifest){
        .path = path,
        .api_version = arena_dup(s->arena, h->api_version),
        .kind = arena_dup(s->arena, h->kind),
        .name = arena_dup(s->arena, h->name),
        .content = content,
        .object = kept_object(s, h),
    };
}

static struct str lower_trimmed(struct arena *a, struct str s)
{
    char *p;

    s = arena_dup(a, str_trim(s));
    p = (char *)(uintptr_t)s.p;
    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_lower(p[i]);
    return s;
}

/* False when one of the events is unknown: then the document vanishes, as in Helm. */
static bool read_events(struct sorter *s, struct str text, struct chart_hook *h)
{
    struct str rest = text, one;
    enum chart_hook_event *events;
    size_t n = 1;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == ',';
    events = ARENA_ARRAY(s->arena, enum chart_hook_event, n);
    h->events = events;
    rest.p = rest.p ? rest.p : "";
    while (str_split(&rest, ',', &one))
        if (!chart_hook_event_parse(lower_trimmed(s->scratch, one), &events[h->n_events++]))
            return false;
    return true;
}

static const struct str *read_policies(struct sorter *s, const struct head *h, const char *annotation,
                                       size_t *ret_n)
{
    const struct value_entry *e = value_find(h->annotations, str_from(annotation));
    struct str rest, one, *items;
    size_t n = 1;

    *ret_n = 0;
    if (!e)
        return NULL;
    rest = value_str(e->v);
    rest.p = rest.p ? rest.p : "";
    for (size_t i = 0; i < rest.n; i++)
        n += rest.p[i] == ',';
    items = ARENA_ARRAY(s->arena, struct str, n);
    while (str_split(&rest, ',', &one))
        items[(*ret_n)++] = lower_trimmed(s->arena, one);
    return items;
}

static void skip_unknown_hook(struct sorter *s, struct str types)
{
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB);

    chart_log_attr(&attrs, "hookTypes", types);
    chart_log_line(s->o->log, "INFO", buf_z(&attrs), "skipping unknown hooks");
}

static void add_hook(struct sorter *s, struct str path, struct str content, const struct head *head,
                     struct str types)
{
    struct chart_hook h = { .path = path, .content = content };

    if (!read_events(s, types, &h)) {
        skip_unknown_hook(s, types);
        return;
    }
    h.api_version = arena_dup(s->arena, head->api_version);
    h.kind = arena_dup(s->arena, head->kind);
    h.name = arena_dup(s->arena, head->name);
    if (number_parse_int(value_str(value_getz(head->annotations, WEIGHT_ANNOTATION)), 10, 64, &h.weight) !=
        NUMBER_OK)
        h.weight = 0;
    h.delete_policies = read_policies(s, head, DELETE_ANNOTATION, &h.n_delete_policies);
    h.output_log_policies = read_policies(s, head, OUTPUT_LOG_ANNOTATION, &h.n_output_log_policies);
    h.object = kept_object(s, head);
    s->hooks = list_room(s->arena, s->hooks, &s->cap_hooks, s->n_hooks, sizeof(*s->hooks));
    s->hooks[s->n_hooks++] = h;
}

static int add_document(struct sorter *s, struct str path, struct str content, struct err **err)
{
    static const struct str members[] = { { "apiVersion", 10 }, { "kind", 4 }, { "metadata", 8 } };
    struct yml_options options = { .borrow = true, .only = members };
    const struct value_entry *hook;
    struct head h;
    struct value v;
    int r;

    options.n_only = s->o->keep_objects ? 0 : ARRAY_SIZE(members);
    r = yml_parse(s->scratch, content, &options, &v, err);
    if (r >= 0)
        r = read_head(s, v, &h, err);
    if (r < 0)
        return err_wrap(err, r, "YAML parse error on " STR_FMT, STR_ARG(path));
    hook = value_find(h.annotations, STR(HOOK_ANNOTATION));
    if (hook)
        add_hook(s, path, content, &h, value_str(hook->v));
    else
        add_manifest(s, path, content, &h);
    return 0;
}

static int add_file(struct sorter *s, const struct chart_rendered_file *f, struct err **err)
{
    size_t n;
    struct str *docs;

    if (tpl_name_is_partial(f->path))
        return 0;
    docs = chart_split_manifests(s->arena, f->text, &n);
    for (size_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(s->scratch);
        int r = add_document(s, f->path, docs[i], err);

        arena_rewind(s->scratch, mark);
        if (r < 0)
            return r;
        if (arena_failed(s->arena) || arena_failed(s->scratch))
            return err_set(err, ERRC_LIMIT, STR_FMT ": the manifests take more memory than allowed",
                           STR_ARG(f->path));
    }
    return 0;
}

/* ---- sorting ---- */

static int cmp_files(const void *a, const void *b)
{
    const struct chart_rendered_file *x = a, *y = b;

    return str_cmp(x->path, y->path);
}

/* The place of a document: by kind; what is equal keeps its order. */
struct place {
    int rank;
    struct str kind;
    size_t at;
};

static int cmp_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = x->rank < y->rank ? -1 : x->rank > y->rank;

    if (order == 0 && x->rank == INT_MAX)
        order = str_cmp(x->kind, y->kind);
    if (order == 0)
        order = x->at < y->at ? -1 : x->at > y->at;
    return order;
}

static void sort_manifests(struct sorter *s)
{
    struct place *places = ARENA_ARRAY(s->scratch, struct place, s->n_manifests);
    struct chart_manifest *sorted = ARENA_ARRAY(s->arena, struct chart_manifest, s->n_manifests);

    for (size_t i = 0; i < s->n_manifests; i++)
        places[i] = (struct place){ chart_install_rank(s->manifests[i].kind), s->manifests[i].kind, i };
    qsort(places, s->n_manifests, sizeof(*places), cmp_places);
    for (size_t i = 0; i < s->n_manifests; i++)
        sorted[i] = s->manifests[places[i].at];
    s->manifests = sorted;
}

static void sort_hooks(struct sorter *s)
{
    struct place *places = ARENA_ARRAY(s->scratch, struct place, s->n_hooks);
    struct chart_hook *sorted = ARENA_ARRAY(s->arena, struct chart_hook, s->n_hooks);

    for (size_t i = 0; i < s->n_hooks; i++)
        places[i] = (struct place){ chart_install_rank(s->hooks[i].kind), s->hooks[i].kind, i };
    qsort(places, s->n_hooks, sizeof(*places), cmp_places);
    for (size_t i = 0; i < s->n_hooks; i++)
        sorted[i] = s->hooks[places[i].at];
    s->hooks = sorted;
}

int chart_sort_manifests(struct chart_rendered *r, struct chart_rendered_file *files, size_t n,
                         const struct chart_render_options *o, struct err **err)
{
    CLEANUP(arena_free) struct arena *scratch = arena_new(TEMPLATE_MEMORY_MAX);
    struct sorter s = { .arena = r->arena, .scratch = scratch, .o = o };

    qsort(files, n, sizeof(*files), cmp_files);
    for (size_t i = 0; i < n; i++) {
        int rc = add_file(&s, &files[i], err);

        if (rc < 0)
            return rc;
    }
    sort_manifests(&s);
    sort_hooks(&s);
    r->manifests = s.manifests;
    r->n_manifests = s.n_manifests;
    r->hooks = s.hooks;
    r->n_hooks = s.n_hooks;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* .Capabilities (pkg/chart/common/capabilities.go, internal/version): Go structs behind a pointer. */
#include "template/template.h"
#include "template/types.h"

#define KUBE_FIELDS 4
#define HELM_FIELDS 5

struct version {
    struct tpl_object o;
    struct str fields[HELM_FIELDS]; /* in the order of the Go struct */
    const struct version *copy;     /* of a KubeVersion: what an interface {} holds */
};

struct capabilities {
    struct tpl_object o;
    struct version kube, kube_copy, helm;
    struct value api_versions;
};

static const char *const kube_names[KUBE_FIELDS] = { "Version", "normalizedVersion", "Major", "Minor" };
static const char *const helm_names[HELM_FIELDS] = { "Version", "GitCommit", "GitTreeState", "GoVersion",
                                                     "KubeClientVersion" };
static const char *const helm_json_names[HELM_FIELDS] = { "version", "git_commit", "git_tree_state",
                                                          "go_version", "kube_client_version" };
static const char *const unexported[] = { "normalizedVersion", NULL };

static bool find_field(const struct str *fields, const char *const *names, size_t n, struct str name,
                       struct value *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(name, str_from(names[i])) && names[i] != kube_names[1]) {
            *ret = value_from_str(fields[i]);
            return true;
        }
    }
    return false;
}

/* ---- KubeVersion ---- */

static bool kube_field(const struct tpl_object *o, struct arena *a, struct str name, struct value *ret)
{
    UNUSED(a);
    return find_field(((const struct version *)o)->fields, kube_names, KUBE_FIELDS, name, ret);
}

static struct str kube_string(const struct version *v)
{
    return v->fields[1].n > 0 ? v->fields[1] : v->fields[0];
}

static void kube_print(const struct tpl_object *o, char verb, bool with_names, struct buf *out)
{
    UNUSED(verb);
    UNUSED(with_names);
    buf_addstr(out, kube_string((const struct version *)o));
}

static bool kube_struct_field(const struct tpl_object *o, size_t i, const char **ret_name, struct value *ret)
{
    if (i >= KUBE_FIELDS)
        return false;
    *ret_name = kube_names[i];
    *ret = value_from_str(((const struct version *)o)->fields[i]);
    return true;
}

static struct value kube_json(const struct tpl_object *o, struct arena *a)
{
    struct value map = value_new_map(a);

    for (size_t i = 0; i < KUBE_FIELDS; i++)
        if (i != 1)
            value_append(map, str_from(kube_names[i]),
                         value_from_str(((const struct version *)o)->fields[i]));
    return map;
}

static struct value kube_copied(const struct tpl_object *o)
{
    return tpl_object_value(&((const struct version *)o)->copy->o);
}

static bool kube_equal(const struct tpl_object *a, const struct tpl_object *b)
{
    for (size_t i = 0; i < KUBE_FIELDS; i++)
        if (!str_eq(((const struct version *)a)->fields[i], ((const struct version *)b)->fields[i]))
            return false;
    return true;
}

static const struct version *receiver(const struct tpl_call *c)
{
    return c->receiver.object;
}

static int kube_git_version(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = value_from_str(receiver(c)->fields[0]);
    return 0;
}

static int kube_to_string(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = value_from_str(kube_string(receiver(c)));
    return 0;
}

static const struct tpl_method kube_methods[] = {
    { "GitVersion", "", 's', kube_git_version },
    { "String", "", 's', kube_to_string },
    { NULL, NULL, 0, NULL },
};

/* As a field of the struct behind the pointer; Go finds the methods of its address. */
static const struct tpl_object_type kube_type = {
    .go_name = "common.KubeVersion",
    .go_kind = "struct",
    .field = kube_field,
    .methods = kube_methods,
    .unexported = unexported,
    .print = kube_print,
    .to_json = kube_json,
    .copied = kube_copied,
    .equal = kube_equal,
};

static const struct tpl_object_type kube_copy_type;

static struct version copy_of_kube(const struct version *v)
{
    struct version copy = *v;

    copy.o.type = &kube_copy_type;
    copy.fields[1] = STR("");
    copy.copy = NULL;
    return copy;
}

static struct value kube_deep_copy(const struct tpl_object *o, struct arena *a)
{
    struct version *copy = ARENA_NEW(a, struct version);

    *copy = copy_of_kube((const struct version *)o);
    return tpl_object_value(&copy->o);
}

/* As a copy in an interface {}: it has no address and so no methods. */
static const struct tpl_object_type kube_copy_type = {
    .go_name = "common.KubeVersion",
    .go_kind = "struct",
    .field = kube_field,
    .unexported = unexported,
    .struct_field = kube_struct_field,
    .to_json = kube_json,
    .deep_copy = kube_deep_copy,
    .equal = kube_equal,
};

/* ---- HelmVersion ---- */

static bool helm_field(const struct tpl_object *o, struct arena *a, struct str name, struct value *ret)
{
    UNUSED(a);
    return find_field(((const struct version *)o)->fields, helm_names, HELM_FIELDS, name, ret);
}

static bool helm_struct_field(const struct tpl_object *o, size_t i, const char **ret_name, struct value *ret)
{
    if (i >= HELM_FIELDS)
        return false;
    *ret_name = helm_names[i];
    *ret = value_from_str(((const struct version *)o)->fields[i]);
    return true;
}

static struct value helm_json(const struct tpl_object *o, struct arena *a)
{
    const struct version *v = (const struct version *)o;
    struct value map = value_new_map(a);

    for (size_t i = 0; i < HELM_FIELDS; i++)
        if (v->fields[i].n > 0 || i == HELM_FIELDS - 1) /* the others are omitempty */
            value_append(map, str_from(helm_json_names[i]), value_from_str(v->fields[i]));
    return map;
}

static const struct tpl_object_type helm_type = {
    .go_name = "version.BuildInfo",
    .go_kind = "struct",
    .field = helm_field,
    .struct_field = helm_struct_field,
    .to_json = helm_json,
};

/* ---- Capabilities ---- */

static bool capabilities_field(const struct tpl_object *o, struct arena *a, struct str name,
                               struct value *ret)
{
    const struct capabilities *c = (const struct capabilities *)o;

    UNUSED(a);
    if (str_eq(name, STR("KubeVersion")))
        *ret = tpl_object_value(&c->kube.o);
    else if (str_eq(name, STR("APIVersions")))
        *ret = c->api_versions;
    else if (str_eq(name, STR("HelmVersion")))
        *ret = tpl_object_value(&c->helm.o);
    else
        return false;
    return true;
}

static bool capabilities_struct_field(const struct tpl_object *o, size_t i, const char **ret_name,
                                      struct value *ret)
{
    static const char *const names[] = { "KubeVersion", "APIVersions", "HelmVersion" };
    const struct capabilities *c = (const struct capabilities *)o;
    const struct value fields[] = { tpl_object_value(&c->kube_copy.o), c->api_versions,
                                    tpl_object_value(&c->helm.o) };

    if (i >= ARRAY_SIZE(names))
        return false;
    *ret_name = names[i];
    *ret = fields[i];
    return true;
}

static struct value capabilities_json(const struct tpl_object *o, struct arena *a)
{
    const struct capabilities *c = (const struct capabilities *)o;
    struct value map = value_new_map(a);

    value_append(map, STR("KubeVersion"), kube_json(&c->kube.o, a));
    value_append(map, STR("APIVersions"), c->api_versions);
    value_append(map, STR("HelmVersion"), helm_json(&c->helm.o, a));
    return map;
}

static struct value capabilities_deep_copy(const struct tpl_object *o, struct arena *a)
{
    struct capabilities *copy = ARENA_NEW(a, struct capabilities);

    *copy = *(const struct capabilities *)o;
    copy->kube.fields[1] = STR("");
    copy->kube_copy = copy_of_kube(&copy->kube);
    copy->kube.copy = &copy->kube_copy;
    return tpl_object_value(&copy->o);
}

/* Copy(): the same content at another address. */
static int capabilities_copy(struct tpl_call *c, struct value *ret, struct err **err)
{
    UNUSED(err);
    *ret = c->receiver;
    return 0;
}

static const struct tpl_method capabilities_methods[] = {
    { "Copy", "", '?', capabilities_copy },
    { NULL, NULL, 0, NULL },
};

static const struct tpl_object_type capabilities_type = {
    .go_name = "*common.Capabilities",
    .go_kind = "ptr",
    .field = capabilities_field,
    .methods = capabilities_methods,
    .struct_field = capabilities_struct_field,
    .to_json = capabilities_json,
    .deep_copy = capabilities_deep_copy,
};

struct value tpl_capabilities_value(struct arena *a, const struct tpl_capabilities *c)
{
    struct capabilities *to = ARENA_NEW(a, struct capabilities);
    struct value *versions = ARENA_ARRAY(a, struct value, c->n_api_versions);

    for (size_t i = 0; i < c->n_api_versions; i++)
        versions[i] = value_from_str(c->api_versions[i]);
    *to = (struct capabilities){
        .o.type = &capabilities_type,
        .kube = { .o.type = &kube_type,
                  .fields = { c->kube_version, c->kube_version_normalized, c->kube_major, c->kube_minor },
                  .copy = &to->kube_copy },
        .helm = { .o.type = &helm_type,
                  .fields = { c->helm_version, c->helm_git_commit, c->helm_git_tree_state, c->helm_go_version,
                              c->helm_kube_client_version } },
        .api_versions = value_from_list(versions, c->n_api_versions),
    };
    to->kube_copy = to->kube;
    to->kube_copy.o.type = &kube_copy_type;
    to->kube_copy.copy = NULL;
    to->api_versions.type = TPL_TYPE_VERSION_SET;
    return tpl_object_value(&to->o);
}

static int version_set_has(struct tpl_call *c, struct value *ret, struct err **err)
{
    struct str want = value_str(c->args[0]);
    bool found = false;

    UNUSED(err);
    for (uint32_t i = 0; i < c->receiver.n && !found; i++)
        found = str_eq(value_str(value_at(c->receiver, i)), want);
    *ret = value_from_bool(found);
    return 0;
}

const struct tpl_method tpl_methods_version_set[] = {
    { "Has", "s", 'b', version_set_has },
    { NULL, NULL, 0, NULL },
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Members that every object has. */
#include "kube/kube_int.h"

static struct str meta(struct value object, struct str key)
{
    return value_str(value_get(value_getz(object, "metadata"), key));
}

struct kube_ref kube_ref_of(struct value object)
{
    return (struct kube_ref){ .api_version = value_str(value_getz(object, "apiVersion")),
                              .kind = value_str(value_getz(object, "kind")),
                              .ns = kube_namespace(object),
                              .name = kube_name(object) };
}

void kube_ref_format(const struct kube_ref *ref, struct buf *out)
{
    escape_controls(ref->kind.n ? ref->kind : STR("object"), out);
    if (ref->ns.n == 0 && ref->name.n == 0)
        return;
    buf_addc(out, ' ');
    if (ref->ns.n > 0) {
        escape_controls(ref->ns, out);
        buf_addc(out, '/');
    }
    escape_controls(ref->name.n ? ref->name : STR("*"), out);
}

struct str kube_name(struct value object)
{
    return meta(object, STR("name"));
}

struct str kube_namespace(struct value object)
{
    return meta(object, STR("namespace"));
}

struct str kube_uid(struct value object)
{
    return meta(object, STR("uid"));
}

struct str kube_resource_version(struct value object)
{
    return meta(object, STR("resourceVersion"));
}

int64_t kube_generation(struct value object)
{
    return value_int(value_path(object, "metadata.generation"), 0);
}

struct str kube_label(struct value object, struct str key)
{
    return value_str(value_get(value_path(object, "metadata.labels"), key));
}

struct str kube_annotation(struct value object, struct str key)
{
    return value_str(value_get(value_path(object, "metadata.annotations"), key));
}

bool kube_is_deleting(struct value object)
{
    return meta(object, STR("deletionTimestamp")).n > 0;
}

bool kube_has_finalizer(struct value object, struct str name)
{
    struct value_iter it = value_iter(value_path(object, "metadata.finalizers"));

    while (value_next(&it)) {
        if (str_eq(value_str(it.v), name))
            return true;
    }
    return false;
}

bool kube_is_owned_by(struct value object, struct value owner)
{
    struct value_iter it = value_iter(value_path(object, "metadata.ownerReferences"));

    while (value_next(&it)) {
        if (str_eq(value_str(value_getz(it.v, "uid")), kube_uid(owner)))
            return true;
    }
    return false;
}

struct value kube_owner_reference(struct arena *a, struct value owner, bool controller, bool block)
{
    struct kube_ref ref = kube_ref_of(owner);
    struct value v = value_new_map(a);

    value_setz(v, "apiVersion", value_from_str(arena_dup(a, ref.api_version)));
    value_setz(v, "kind", value_from_str(arena_dup(a, ref.kind)));
    value_setz(v, "name", value_from_str(arena_dup(a, ref.name)));
    value_setz(v, "uid", value_from_str(arena_dup(a, kube_uid(owner))));
    if (controller)
        value_setz(v, "controller", value_from_bool(true));
    if (block)
        value_setz(v, "blockOwnerDeletion", value_from_bool(true));
    return v;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that another object makes: what to apply, what to delete. */
#include "base/digest.h"
#include "base/limits.h"
#include "controller/controller.h"
#include "json/json.h"

/* Digest of the object as it was applied last. A member that left the list's entry shows in it alone: the live object may
 * hold more than we wrote, defaults and what others set. */
#define ANNOTATION_APPLIED "pintle.dev/applied-digest"

static struct value find(struct value objects, struct str name)
{
    for (struct value_iter it = value_iter(objects); value_next(&it);)
        if (str_eq(kube_name(it.v), name))
            return it.v;
    return VALUE_NONE;
}

static bool is_nobodys(const struct controller_children *c, struct value object)
{
    return c->label && value_has(value_path(object, "metadata.labels"), str_from(c->label)) &&
           !kube_is_owned_by(object, c->owner);
}

static int check(const struct controller_children *c, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * KIB);

    for (struct value_iter it = value_iter(c->wanted); value_next(&it);) {
        struct value live = find(c->live, kube_name(it.v));
        struct kube_ref ref = kube_ref_of(it.v);

        for (size_t k = 0; k < it.i; k++)
            if (str_eq(kube_name(value_at(c->wanted, k)), ref.name))
                return err_set(err, ERRC_INVALID, "%s[%zu].name %.*s is there twice", c->field, it.i,
                               STR_ARG(ref.name));
        if (value_is_null(live) || kube_is_owned_by(live, c->owner) || is_nobodys(c, live))
            continue;
        kube_ref_format(&ref, &text);
        return err_set(
            err, ERRC_EXISTS,
            "%s[%zu]: %s exists and does not belong to this %.*s: delete it or choose another name", c->field,
            it.i, buf_z(&text), STR_ARG(kube_ref_of(c->owner).kind));
    }
    return 0;
}

/* The object as it is applied: with its owner and the digest of what it says. */
static int finish_object(struct arena *a, const struct controller_children *c, struct value wanted,
                         struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KUBE_OBJECT_MAX);
    struct value object = value_copy_maps(a, wanted);
    struct value_list owners = VALUE_LIST_INIT(a);
    struct value annotations = value_new_map(a);
    char digest[SHA256_HEX];
    int r;

    value_list_add(&owners, kube_owner_reference(a, c->owner, true, c->block));
    value_set_path(object, "metadata.ownerReferences", value_list_done(&owners));
    r = json_print(object, 0, &text, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&text), digest);
    value_setz(annotations, ANNOTATION_APPLIED, value_from_str(arena_dup(a, str_from(digest))));
    value_set_path(object, "metadata.annotations", annotations);
    *ret = object;
    return 0;
}

/* Does the live value say everything that the wanted one says? */
static bool covers(struct value live, struct value wanted)
{
    if (value_is_list(wanted) && (!value_is_list(live) || value_len(live) != value_len(wanted)))
        return false;
    if (!value_is_map(wanted) && !value_is_list(wanted))
        return value_equal(live, wanted);
    for (struct value_iter it = value_iter(wanted); value_next(&it);)
        if (!covers(value_is_list(wanted) ? value_at(live, it.i) : value_get(live, it.key), it.v))
            return false;
    return true;
}

static bool is_current(const struct controller_children *c, struct value live, struct value object)
{
    return value_is_map(live) && kube_is_owned_by(live, c->owner) &&
           covers(value_getz(live, "spec"), value_getz(object, "spec")) &&
           covers(value_path(live, "metadata.labels"), value_path(object, "metadata.labels")) &&
           str_eq(kube_annotation(live, STR(ANNOTATION_APPLIED)),
                  kube_annotation(object, STR(ANNOTATION_APPLIED)));
}

int controller_children_plan(struct arena *a, const struct controller_children *c,
                             struct controller_children_plan *ret, struct err **err)
{
    struct value_list apply = VALUE_LIST_INIT(a), remove = VALUE_LIST_INIT(a);
    struct controller_children_plan plan = { .wanted = value_len(c->wanted) };
    int r = check(c, err);

    if (r < 0)
        return r;
    for (struct value_iter it = value_iter(c->wanted); value_next(&it);) {
        struct value live = find(c->live, kube_name(it.v)), object;

        r = finish_object(a, c, it.v, &object, err);
        if (r < 0)
            return err_wrap(err, r, "%s[%zu]", c->field, it.i);
        if (!is_current(c, live, object))
            value_list_add(&apply, object);
        else if (kube_condition_is(live, STR("Ready"), "True"))
            plan.ready++;
    }
    for (struct value_iter it = value_iter(c->live); value_next(&it);)
        if (kube_is_owned_by(it.v, c->owner) && !kube_is_deleting(it.v) &&
            value_is_null(find(c->wanted, kube_name(it.v))))
            value_list_add(&remove, it.v);
    plan.apply = value_list_done(&apply);
    plan.remove = value_list_done(&remove);
    *ret = plan;
    return 0;
}

static int name_failure(struct value object, int r, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(4 * KIB);
    struct kube_ref ref = kube_ref_of(object);

    kube_ref_format(&ref, &text);
    return err_wrap(err, r, "%s", buf_z(&text));
}

int controller_children_act(struct kube *k, struct arena *a, struct str field_manager,
                            const struct controller_children_plan *plan, struct err **err)
{
    int r;

    for (struct value_iter it = value_iter(plan->apply); value_next(&it);) {
        r = kube_apply(k, a, it.v, field_manager, true, NULL, err);
        if (r < 0)
            return name_failure(it.v, r, err);
    }
    for (struct value_iter it = value_iter(plan->remove); value_next(&it);) {
        struct kube_ref ref = kube_ref_of(it.v);

        r = kube_delete(k, &ref, kube_uid(it.v), err);
        if (r < 0)
            return name_failure(it.v, r, err);
    }
    return 0;
}

struct controller_report controller_children_report(struct arena *a, struct value owner, const char *plural,
                                                    const struct controller_children_plan *plan,
                                                    const struct err *cause)
{
    bool all = plan->ready == plan->wanted;
    struct controller_report rep = { .object = owner,
                                     .ready = all ? "True" : "Unknown",
                                     .reason = all ? "MembersReady" : "Progressing",
                                     .message = arena_printf(a, "%zu of %zu %s are ready", plan->ready,
                                                             plan->wanted, plural),
                                     .reconciling = !all };

    if (cause)
        rep =
            controller_failure(owner, err_code(cause) == ERRC_EXISTS ? "NotAMember" : "MembersFailed", cause);
    rep.fields = value_new_map(a);
    value_setz(rep.fields, "members", value_from_int((int64_t)plan->wanted));
    value_setz(rep.fields, "ready", value_from_int((int64_t)plan->ready));
    return rep;
}

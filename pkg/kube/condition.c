/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions as k8s.io/apimachinery's meta.SetStatusCondition() treats them. */
#include "base/clock.h"
#include "kube/kube_int.h"

#define MESSAGE_MAX (32 * KIB) /* metav1.Condition.message, in characters; bytes here */
#define REASON_MAX ((size_t)1024)

static struct value list_of(struct value v)
{
    return value_is_map(v) ? value_path(v, "status.conditions") : v;
}

struct value kube_condition_find(struct value object_or_list, struct str type)
{
    struct value_iter it = value_iter(list_of(object_or_list));

    while (value_is_list(it.of) && value_next(&it)) {
        if (str_eq(value_str(value_getz(it.v, "type")), type))
            return it.v;
    }
    return VALUE_NONE;
}

bool kube_condition_is(struct value object_or_list, struct str type, const char *status)
{
    struct value c = kube_condition_find(object_or_list, type);

    return str_eq(value_str(value_getz(c, "status")), str_from(status));
}

/* Cut at a character's beginning. */
static struct str cut(struct str s, size_t max)
{
    if (s.n <= max)
        return s;
    s.n = max;
    while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80)
        s.n--;
    return s;
}

static struct value now_text(struct arena *a)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);

    clock_format_rfc3339(clock_wall(), &text);
    return value_from_str(arena_dup(a, buf_str(&text)));
}

static struct value build(struct arena *a, const struct kube_condition *c, struct value old)
{
    struct value v = value_is_map(old) ? value_copy_maps(a, old) : value_new_map(a);
    bool same = str_eq(value_str(value_getz(old, "status")), str_from(c->status));
    struct value since = value_getz(old, "lastTransitionTime");

    value_setz(v, "type", value_from_str(arena_dup(a, c->type)));
    value_setz(v, "status", value_from_str(arena_dup(a, str_from(c->status))));
    value_setz(v, "reason", value_from_str(arena_dup(a, cut(c->reason, REASON_MAX))));
    value_setz(v, "message", value_from_str(arena_dup(a, cut(c->message, MESSAGE_MAX))));
    value_setz(v, "lastTransitionTime", same && value_is_string(since) ? since : now_text(a));
    if (c->observed_generation > 0)
        value_setz(v, "observedGeneration", value_from_int(c->observed_generation));
    return v;
}

struct value kube_condition_set(struct arena *a, struct value list, const struct kube_condition *c,
                                bool *ret_changed)
{
    struct value old = kube_condition_find(list, c->type);
    struct value item = build(a, c, old);
    struct value_list out = VALUE_LIST_INIT(a);
    struct value_iter it = value_iter(list_of(list));

    while (value_next(&it)) {
        bool is_it = str_eq(value_str(value_getz(it.v, "type")), c->type);

        value_list_add(&out, is_it ? item : it.v);
    }
    if (value_is_null(old))
        value_list_add(&out, item);
    if (ret_changed)
        *ret_changed = !value_equal(old, item);
    return value_list_done(&out);
}

struct value kube_condition_unset(struct arena *a, struct value list, struct str type, bool *ret_changed)
{
    struct value_list out = VALUE_LIST_INIT(a);
    struct value_iter it = value_iter(list_of(list));

    while (value_next(&it)) {
        if (!str_eq(value_str(value_getz(it.v, "type")), type))
            value_list_add(&out, it.v);
    }
    if (ret_changed)
        *ret_changed = out.n != value_len(list_of(list));
    return value_list_done(&out);
}

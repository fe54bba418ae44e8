/* SPDX-License-Identifier: Apache-2.0 */
/* Lists page by page, as client-go's pager. */
#include "kube/kube_int.h"
#include "json/json.h"

#define SELECTORS_MAX (64 * KIB)

struct kube_pager {
    struct kube *k;
    struct arena *memory;
    struct kube_request rq;
    char *token, *resource_version;
    bool started, full; /* full: one list without pages, after a token had expired */
};

struct kube_pager *kube_pager_new(struct kube *k, const struct kube_request *list)
{
    struct kube_pager *p = xcalloc(1, sizeof(*p));
    struct str *const strings[] = { &p->rq.ref.api_version, &p->rq.ref.kind,       &p->rq.ref.ns,
                                    &p->rq.label_selector,  &p->rq.field_selector, &p->rq.resource_version };

    p->k = kube_ref(k);
    p->memory = arena_new(SELECTORS_MAX);
    p->rq = *list;
    p->rq.verb = KUBE_LIST;
    p->rq.ref.name = STR_NONE;
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
        *strings[i] = arena_dup(p->memory, *strings[i]);
    p->token = xstrdup("");
    p->resource_version = xstrdup("");
    return p;
}

void kube_pager_free(struct kube_pager *p)
{
    if (!p)
        return;
    kube_unref(p->k);
    arena_free(p->memory);
    free(p->token);
    free(p->resource_version);
    free(p);
}

struct str kube_pager_resource_version(const struct kube_pager *p)
{
    return str_from(p->resource_version);
}

static int get_page(struct kube_pager *p, struct arena *a, struct value *ret, struct err **err)
{
    CLEANUP(exchange_done) struct kube_exchange_state x = { 0 };
    CLEANUP(http_response_done) struct http_response res = { 0 };
    struct kube_request rq = p->rq;
    int r;

    rq.limit = p->full ? INT32_MAX : rq.limit;
    rq.continue_token = str_from(p->token);
    r = exchange_init(&x, p->k, &rq, err);
    if (r == 0)
        r = exchange_run(&x, &res, err);
    return r < 0 ? r : exchange_decode(&x, a, &res, ret, err);
}

static void take_page(struct kube_pager *p, struct value page)
{
    if (!p->started) {
        free(p->resource_version);
        p->resource_version = str_dup(kube_resource_version(page));
    }
    free(p->token);
    p->token = str_dup(value_str(value_path(page, "metadata.continue")));
    p->started = true;
}

/* The server leaves apiVersion and kind of items out, or says PartialObjectMetadata. */
static void name_items(const struct kube_pager *p, struct arena *a, struct value items)
{
    struct value api_version = value_from_str(arena_dup(a, p->rq.ref.api_version));
    struct value kind = value_from_str(arena_dup(a, p->rq.ref.kind));
    struct value_iter it = value_iter(items);

    while (value_is_list(items) && value_next(&it)) {
        if (!value_is_map(it.v))
            continue;
        value_setz(it.v, "apiVersion", api_version);
        value_setz(it.v, "kind", kind);
    }
}

int kube_pager_next(struct kube_pager *p, struct arena *a, struct value *ret_items, bool *ret_restart,
                    struct err **err)
{
    CLEANUP(err_free) struct err *e = NULL;
    struct value page = VALUE_NONE;
    int r;

    *ret_restart = false;
    if (p->started && !*p->token)
        return 0;
    r = get_page(p, a, &page, &e);
    if (r == -ERRC_GONE && *p->token &&
        !p->full) { /* the token expired: everything once more, in one piece */
        p->full = *ret_restart = true;
        p->started = false;
        *p->token = '\0';
        r = get_page(p, a, &page, NULL);
    }
    if (r < 0) {
        if (err)
            *err = TAKE(e);
        return r;
    }
    take_page(p, page);
    *ret_items = value_getz(page, "items");
    name_items(p, a, *ret_items);
    return 1;
}

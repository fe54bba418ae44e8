/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/listing.h"

#include "apiserver/server.h"

enum { FUTURE_WAIT_MS = 3000 };

static int parse_number(struct api_request *rq, const char *name, int64_t *ret)
{
    struct str s = api_param(rq, name);

    if (s.n == 0)
        return 0;
    if (!str_to_int64(s, ret))
        return api_fail(rq, 400, "BadRequest", "strconv.ParseInt: parsing \"" STR_FMT "\": invalid syntax",
                        STR_ARG(s));
    return 0;
}

static int parse_rv(struct api_request *rq, struct api_list_options *o)
{
    struct str s = api_param(rq, "resourceVersion");
    uint64_t n;

    if (s.n == 0)
        return 0;
    if (!str_to_uint64(s, &n) || n > INT64_MAX) {
        struct api_causes c = API_CAUSES_INIT(rq->arena);

        api_cause_invalid(&c, "resourceVersion", value_from_str(s),
                          "strconv.ParseUint: parsing: invalid syntax");
        return api_fail_invalid(rq, STR("ListOptions"), STR("meta.k8s.io"), STR(""), &c);
    }
    o->has_rv = true;
    o->rv = (int64_t)n;
    return 0;
}

static void parse_match(struct api_request *rq, struct api_list_options *o, struct api_causes *c)
{
    static const char *const supported[] = { "Exact", "NotOlderThan", "" };
    struct str s = api_param(rq, "resourceVersionMatch");

    if (str_eq(s, STR("Exact")))
        o->match = API_MATCH_EXACT;
    else if (str_eq(s, STR("NotOlderThan")))
        o->match = API_MATCH_NOT_OLDER;
    else if (s.n > 0)
        api_cause_not_supported(c, "resourceVersionMatch", value_from_str(s), supported,
                                ARRAY_SIZE(supported));
}

/* apimachinery/pkg/apis/meta/internalversion/validation */
static void check_list(const struct api_list_options *o, struct api_causes *c)
{
    if (o->match == API_MATCH_UNSET)
        return;
    if (!o->has_rv)
        api_cause_forbidden(c, "resourceVersionMatch",
                            "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (o->token.n > 0)
        api_cause_forbidden(c, "resourceVersionMatch",
                            "resourceVersionMatch is forbidden when continue is provided");
    if (o->match == API_MATCH_EXACT && o->has_rv && o->rv == 0)
        api_cause_forbidden(c, "resourceVersionMatch",
                            "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
}

static void check_watch(const struct api_list_options *o, struct api_causes *c)
{
    if (o->has_initial_events) {
        if (o->match != API_MATCH_NOT_OLDER)
            api_cause_forbidden(c, "resourceVersionMatch",
                                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    } else if (o->match != API_MATCH_UNSET) {
        api_cause_forbidden(
            c, "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
}

int api_list_options_parse(struct api_request *rq, bool watch, struct api_list_options *ret)
{
    struct api_causes causes = API_CAUSES_INIT(rq->arena);
    struct api_list_options o = { .token = api_param(rq, "continue") };
    struct err *err = NULL;

    if (api_selector_parse(rq->arena, api_param(rq, "labelSelector"), api_param(rq, "fieldSelector"), rq->res,
                           &o.selector, &err) < 0)
        return api_fail_err(rq, err);
    if (parse_number(rq, "limit", &o.limit) < 0 || parse_number(rq, "timeoutSeconds", &o.timeout_s) < 0 ||
        parse_rv(rq, &o) < 0)
        return -1;
    o.bookmarks = api_param_bool(rq, "allowWatchBookmarks");
    o.has_initial_events = api_param_has(rq, "sendInitialEvents");
    o.initial_events = api_param_bool(rq, "sendInitialEvents");
    parse_match(rq, &o, &causes);
    if (watch)
        check_watch(&o, &causes);
    else
        check_list(&o, &causes);
    if (causes.n > 0)
        return api_fail_invalid(rq, STR("ListOptions"), STR("meta.k8s.io"), STR(""), &causes);
    *ret = o;
    return 0;
}

int api_wait_for_rv(struct api_request *rq, int64_t rv)
{
    int64_t until = clock_mono_ms() + FUTURE_WAIT_MS, now = api_store_rv(rq->server->store);
    struct api_causes causes = API_CAUSES_INIT(rq->arena);

    while (now < rv && clock_mono_ms() < until && !rq->server->stopping) {
        api_store_wait(rq->server->store, STR(""), now, (int)MAX(until - clock_mono_ms(), 1));
        now = api_store_rv(rq->server->store);
    }
    if (now >= rv)
        return 0;
    api_cause_add(&causes, "ResourceVersionTooLarge", STR(""), STR("Too large resource version"));
    api_fail(rq, 504, "Timeout", "Timeout: Too large resource version: %lld, current: %lld", (long long)rv,
             (long long)now);
    api_fail_details(rq, STR(""), STR(""), STR(""), api_causes_value(&causes));
    value_setz(value_getz(rq->failure, "details"), "retryAfterSeconds", value_from_int(1));
    api_answer_header(rq, "Retry-After", STR("1"));
    return -1;
}

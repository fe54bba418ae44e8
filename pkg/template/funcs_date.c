/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include "template/funcs.h"
#include "template/time_object.h"

#define SECOND INT64_C(1000000000)

static struct gotime now(const struct tpl_call *c)
{
    struct wall_time w = tpl_now(c->x);

    return (struct gotime){ w.s, w.ns, gozone_local() };
}

static struct gotime from_unix(int64_t s)
{
    return (struct gotime){ s, 0, gozone_local() };
}

static bool is_go_int(struct value v, enum value_type type)
{
    return v.kind == VALUE_INT && v.type == type;
}

/* What sprig takes for a date; anything else is now. */
static struct gotime date_arg(const struct tpl_call *c, struct value v, bool int32)
{
    if (time_object_is(v))
        return time_object_get(v);
    if (is_go_int(v, VALUE_TYPE_PLAIN) || is_go_int(v, VALUE_TYPE_INT) ||
        (int32 && is_go_int(v, VALUE_TYPE_INT32)))
        return from_unix(v.i);
    return now(c);
}

static int ret_format(FN_ARGS, struct gotime t, struct str layout)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    gotime_format(t, layout, &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int ret_date(FN_ARGS, struct str layout, struct value date, struct str zone)
{
    struct gotime t = date_arg(c, date, true);
    const struct gozone *in = gozone_load(zone);

    t.zone = in ? in : gozone_utc();
    return ret_format(c, ret, err, t, layout);
}

/* ---- functions ---- */

static int fn_now(FN_ARGS)
{
    return time_object_new(c, now(c), ret);
}

static int fn_date(FN_ARGS)
{
    return ret_date(c, ret, err, fn_str(c, 0), c->args[1], STR("Local"));
}

static int fn_date_in_zone(FN_ARGS)
{
    return ret_date(c, ret, err, fn_str(c, 0), c->args[1], fn_str(c, 2));
}

static int fn_html_date(FN_ARGS)
{
    return ret_date(c, ret, err, STR("2006-01-02"), c->args[0], STR("Local"));
}

static int fn_html_date_in_zone(FN_ARGS)
{
    return ret_date(c, ret, err, STR("2006-01-02"), c->args[0], fn_str(c, 1));
}

static int fn_must_date_modify(FN_ARGS)
{
    int64_t ns;
    int r = gotime_parse_duration(fn_str(c, 0), &ns, err);

    return r < 0 ? r : time_object_new(c, gotime_add(time_object_get(c->args[1]), ns), ret);
}

static int fn_date_modify(FN_ARGS)
{
    int64_t ns = 0;

    if (gotime_parse_duration(fn_str(c, 0), &ns, NULL) < 0)
        ns = 0;
    return time_object_new(c, gotime_add(time_object_get(c->args[1]), ns), ret);
}

static int fn_must_to_date(FN_ARGS)
{
    struct gotime t;
    int r = gotime_parse(c->arena, fn_str(c, 0), fn_str(c, 1), gozone_local(), &t, err);

    return r < 0 ? r : time_object_new(c, t, ret);
}

static int fn_to_date(FN_ARGS)
{
    struct gotime t = { GOTIME_ZERO_S, 0, gozone_utc() };

    IGNORE_ERROR(gotime_parse(c->arena, fn_str(c, 0), fn_str(c, 1), gozone_local(), &t, NULL));
    return time_object_new(c, t, ret);
}

static int fn_unix_epoch(FN_ARGS)
{
    return fn_ret_str(ret, arena_printf(c->arena, "%lld", (long long)time_object_get(c->args[0]).s));
}

static int ret_duration_text(FN_ARGS, int64_t ns)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    clock_format_duration(ns, &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int fn_ago(FN_ARGS)
{
    return ret_duration_text(
        c, ret, err, gotime_round_duration(gotime_between(now(c), date_arg(c, c->args[0], false)), SECOND));
}

static int fn_duration(FN_ARGS)
{
    struct value v = c->args[0];
    int64_t s = 0;

    if (is_go_int(v, VALUE_TYPE_PLAIN))
        s = v.i;
    else if (value_is_string(v) && number_parse_int(value_str(v), 10, 64, &s) == NUMBER_SYNTAX)
        s = 0;
    return ret_duration_text(c, ret, err, (int64_t)((uint64_t)s * (uint64_t)SECOND));
}

static int fn_duration_round(FN_ARGS)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        { "y", (uint64_t)SECOND * 86400 * 365 }, { "mo", (uint64_t)SECOND * 86400 * 30 },
        { "d", (uint64_t)SECOND * 86400 },       { "h", (uint64_t)SECOND * 3600 },
        { "m", (uint64_t)SECOND * 60 },          { "s", (uint64_t)SECOND },
    };
    struct value v = c->args[0];
    int64_t ns = 0;
    uint64_t u;

    if (value_is_string(v))
        IGNORE_ERROR(gotime_parse_duration(value_str(v), &ns, NULL));
    else if (is_go_int(v, VALUE_TYPE_PLAIN))
        ns = v.i;
    else if (time_object_is(v))
        ns = gotime_between(now(c), time_object_get(v));
    u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (u > units[i].ns)
            return fn_ret_str(
                ret, arena_printf(c->arena, "%llu%s", (unsigned long long)(u / units[i].ns), units[i].name));
    return fn_ret_str(ret, STR("0s"));
}

static const struct tpl_func funcs[] = {
    { "ago", "*", 's', fn_ago },
    { "date", "s*", 's', fn_date },
    { "dateInZone", "s*s", 's', fn_date_in_zone },
    { "dateModify", "st", '?', fn_date_modify },
    { "date_in_zone", "s*s", 's', fn_date_in_zone },
    { "date_modify", "st", '?', fn_date_modify },
    { "duration", "*", 's', fn_duration },
    { "durationRound", "*", 's', fn_duration_round },
    { "htmlDate", "*", 's', fn_html_date },
    { "htmlDateInZone", "*s", 's', fn_html_date_in_zone },
    { "mustDateModify", "st", '?', fn_must_date_modify },
    { "mustToDate", "ss", '?', fn_must_to_date },
    { "must_date_modify", "st", '?', fn_must_date_modify },
    { "now", "", '?', fn_now },
    { "toDate", "ss", '?', fn_to_date },
    { "unixEpoch", "t", 's', fn_unix_epoch },
};

const struct tpl_func_table tpl_funcs_date = { funcs, ARRAY_SIZE(funcs) };

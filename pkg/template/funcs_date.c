/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include "template/funcs.h"
#include "template/gotime.h"
#include "template/types.h"

#define SECOND INT64_C(1000000000)

struct time_object {
    struct tpl_object object;
    struct gotime t;
};

static const struct tpl_object_type time_type;

static int ret_time(struct tpl_call *c, struct gotime t, struct value *ret)
{
    struct time_object *o = ARENA_NEW(c->arena, struct time_object);

    o->object.type = &time_type;
    o->t = t;
    *ret = tpl_object_value(&o->object);
    return 0;
}

static bool is_time(struct value v)
{
    return v.kind == VALUE_OBJECT && ((const struct tpl_object *)v.object)->type == &time_type;
}

static struct gotime time_of(struct value v)
{
    return ((const struct time_object *)v.object)->t;
}

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
    if (is_time(v))
        return time_of(v);
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
    return ret_time(c, now(c), ret);
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

static struct gotime add(struct gotime t, int64_t ns)
{
    int64_t fraction = t.ns + ns % SECOND;

    t.s = (int64_t)((uint64_t)t.s + (uint64_t)(ns / SECOND));
    if (fraction >= SECOND)
        t.s++;
    else if (fraction < 0)
        t.s--;
    t.ns = (int32_t)((fraction + SECOND) % SECOND);
    return t;
}

static int fn_must_date_modify(FN_ARGS)
{
    int64_t ns;
    int r = gotime_parse_duration(fn_str(c, 0), &ns, err);

    return r < 0 ? r : ret_time(c, add(time_of(c->args[1]), ns), ret);
}

static int fn_date_modify(FN_ARGS)
{
    int64_t ns = 0;

    if (gotime_parse_duration(fn_str(c, 0), &ns, NULL) < 0)
        ns = 0;
    return ret_time(c, add(time_of(c->args[1]), ns), ret);
}

static int fn_must_to_date(FN_ARGS)
{
    struct gotime t;
    int r = gotime_parse(c->arena, fn_str(c, 0), fn_str(c, 1), gozone_local(), &t, err);

    return r < 0 ? r : ret_time(c, t, ret);
}

static int fn_to_date(FN_ARGS)
{
    struct gotime t = { GOTIME_ZERO_S, 0, gozone_utc() };

    IGNORE_ERROR(gotime_parse(c->arena, fn_str(c, 0), fn_str(c, 1), gozone_local(), &t, NULL));
    return ret_time(c, t, ret);
}

static int fn_unix_epoch(FN_ARGS)
{
    return fn_ret_str(ret, arena_printf(c->arena, "%lld", (long long)time_of(c->args[0]).s));
}

static int ret_duration_text(FN_ARGS, int64_t ns)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    clock_format_duration(ns, &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* Time.Sub: from b to a, at the ends of int64 what fits. */
static int64_t between(struct gotime a, struct gotime b)
{
    int64_t ns;

    if (__builtin_sub_overflow(a.s, b.s, &ns) || __builtin_mul_overflow(ns, SECOND, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a.ns - b.ns, &ns))
        return a.s < b.s ? INT64_MIN : INT64_MAX;
    return ns;
}

/* Duration.Round: half away from zero. */
static int64_t round_duration(int64_t ns, int64_t unit)
{
    int64_t rest = unit > 0 ? ns % unit : 0, down = ns - rest;

    if (unit <= 0)
        return ns;
    if (rest < 0)
        return -rest < unit + rest ? down : down < INT64_MIN + unit ? INT64_MIN : down - unit;
    return rest < unit - rest ? down : down > INT64_MAX - unit ? INT64_MAX : down + unit;
}

static int fn_ago(FN_ARGS)
{
    return ret_duration_text(c, ret, err,
                             round_duration(between(now(c), date_arg(c, c->args[0], false)), SECOND));
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
    else if (is_time(v))
        ns = between(now(c), time_of(v));
    u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (u > units[i].ns)
            return fn_ret_str(
                ret, arena_printf(c->arena, "%llu%s", (unsigned long long)(u / units[i].ns), units[i].name));
    return fn_ret_str(ret, STR("0s"));
}

/* ---- methods of time.Duration, time.Month, time.Weekday ---- */

/* Go's sum of whole units and the rest, which rounds otherwise than one division. */
static int ret_units(struct value *ret, int64_t ns, int64_t unit)
{
    *ret = value_from_float((double)(ns / unit) + (double)(ns % unit) / (double)unit);
    return 0;
}

static int ret_typed(struct value *ret, int64_t i, enum tpl_type type)
{
    *ret = (struct value){ .kind = VALUE_INT, .type = (uint8_t)type, .i = i };
    return 0;
}

static int duration_hours(FN_ARGS)
{
    return ret_units(ret, c->receiver.i, 3600 * SECOND);
}

static int duration_minutes(FN_ARGS)
{
    return ret_units(ret, c->receiver.i, 60 * SECOND);
}

static int duration_seconds(FN_ARGS)
{
    return ret_units(ret, c->receiver.i, SECOND);
}

static int duration_milliseconds(FN_ARGS)
{
    return fn_ret_int64(ret, c->receiver.i / 1000000);
}

static int duration_microseconds(FN_ARGS)
{
    return fn_ret_int64(ret, c->receiver.i / 1000);
}

static int duration_nanoseconds(FN_ARGS)
{
    return fn_ret_int64(ret, c->receiver.i);
}

static int duration_abs(FN_ARGS)
{
    int64_t ns = c->receiver.i;

    return ret_typed(ret, ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns, TPL_TYPE_DURATION);
}

static int duration_round(FN_ARGS)
{
    return ret_typed(ret, round_duration(c->receiver.i, fn_int(c, 0)), TPL_TYPE_DURATION);
}

static int duration_truncate(FN_ARGS)
{
    int64_t unit = fn_int(c, 0);

    return ret_typed(ret, unit <= 0 ? c->receiver.i : c->receiver.i - c->receiver.i % unit,
                     TPL_TYPE_DURATION);
}

static int named_string(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(64);

    tpl_print_value(c->receiver, &b);
    return fn_ret_buf(c, &b, ret, err);
}

const struct tpl_method tpl_methods_duration[] = {
    { "Abs", "", '?', duration_abs },
    { "Hours", "", 'f', duration_hours },
    { "Microseconds", "", 'l', duration_microseconds },
    { "Milliseconds", "", 'l', duration_milliseconds },
    { "Minutes", "", 'f', duration_minutes },
    { "Nanoseconds", "", 'l', duration_nanoseconds },
    { "Round", "d", '?', duration_round },
    { "Seconds", "", 'f', duration_seconds },
    { "String", "", 's', named_string },
    { "Truncate", "d", '?', duration_truncate },
    { NULL, NULL, 0, NULL },
};

const struct tpl_method tpl_methods_named[] = {
    { "String", "", 's', named_string },
    { NULL, NULL, 0, NULL },
};

/* ---- methods of time.Time ---- */

#define RECEIVER time_of(c->receiver)
#define PARTS gotime_split(RECEIVER)

static int ret_int(struct value *ret, int64_t i)
{
    *ret = fn_go_int(i);
    return 0;
}

static int time_year(FN_ARGS)
{
    return ret_int(ret, PARTS.year);
}

static int time_month(FN_ARGS)
{
    return ret_typed(ret, PARTS.month, TPL_TYPE_MONTH);
}

static int time_day(FN_ARGS)
{
    return ret_int(ret, PARTS.day);
}

static int time_hour(FN_ARGS)
{
    return ret_int(ret, PARTS.hour);
}

static int time_minute(FN_ARGS)
{
    return ret_int(ret, PARTS.minute);
}

static int time_second(FN_ARGS)
{
    return ret_int(ret, PARTS.second);
}

static int time_nanosecond(FN_ARGS)
{
    return ret_int(ret, RECEIVER.ns);
}

static int time_weekday(FN_ARGS)
{
    return ret_typed(ret, PARTS.weekday, TPL_TYPE_WEEKDAY);
}

static int time_year_day(FN_ARGS)
{
    return ret_int(ret, PARTS.year_day);
}

static int time_unix(FN_ARGS)
{
    return fn_ret_int64(ret, RECEIVER.s);
}

static int64_t scaled(struct gotime t, int64_t per_second)
{
    return (int64_t)((uint64_t)t.s * (uint64_t)per_second + (uint64_t)(t.ns / (SECOND / per_second)));
}

static int time_unix_milli(FN_ARGS)
{
    return fn_ret_int64(ret, scaled(RECEIVER, 1000));
}

static int time_unix_micro(FN_ARGS)
{
    return fn_ret_int64(ret, scaled(RECEIVER, 1000000));
}

static int time_unix_nano(FN_ARGS)
{
    return fn_ret_int64(ret, scaled(RECEIVER, SECOND));
}

static int time_format(FN_ARGS)
{
    return ret_format(c, ret, err, RECEIVER, fn_str(c, 0));
}

static int time_string(FN_ARGS)
{
    return ret_format(c, ret, err, RECEIVER, STR("2006-01-02 15:04:05.999999999 -0700 MST"));
}

static int time_utc(FN_ARGS)
{
    struct gotime t = RECEIVER;

    t.zone = gozone_utc();
    return ret_time(c, t, ret);
}

static int time_local(FN_ARGS)
{
    struct gotime t = RECEIVER;

    t.zone = gozone_local();
    return ret_time(c, t, ret);
}

static int time_add(FN_ARGS)
{
    return ret_time(c, add(RECEIVER, fn_int(c, 0)), ret);
}

static int time_add_date(FN_ARGS)
{
    struct gotime t = RECEIVER;
    struct gotime_parts p = gotime_split(t);

    return ret_time(c,
                    gotime_date(p.year + fn_int(c, 0), p.month + fn_int(c, 1), p.day + fn_int(c, 2),
                                p.hour * 3600 + p.minute * 60 + p.second, t.ns, t.zone),
                    ret);
}

static int time_sub(FN_ARGS)
{
    return ret_typed(ret, between(RECEIVER, time_of(c->args[0])), TPL_TYPE_DURATION);
}

static int order(struct gotime a, struct gotime b)
{
    if (a.s != b.s)
        return a.s < b.s ? -1 : 1;
    return a.ns < b.ns ? -1 : a.ns > b.ns;
}

static int time_compare(FN_ARGS)
{
    return ret_int(ret, order(RECEIVER, time_of(c->args[0])));
}

static int time_before(FN_ARGS)
{
    return fn_ret_bool(ret, order(RECEIVER, time_of(c->args[0])) < 0);
}

static int time_after(FN_ARGS)
{
    return fn_ret_bool(ret, order(RECEIVER, time_of(c->args[0])) > 0);
}

static int time_equal(FN_ARGS)
{
    return fn_ret_bool(ret, order(RECEIVER, time_of(c->args[0])) == 0);
}

static int time_is_zero(FN_ARGS)
{
    struct gotime t = RECEIVER;

    return fn_ret_bool(ret, t.s == GOTIME_ZERO_S && t.ns == 0);
}

static const struct tpl_method time_methods[] = {
    { "Add", "d", '?', time_add },
    { "AddDate", "iii", '?', time_add_date },
    { "After", "t", 'b', time_after },
    { "Before", "t", 'b', time_before },
    { "Compare", "t", 'i', time_compare },
    { "Day", "", 'i', time_day },
    { "Equal", "t", 'b', time_equal },
    { "Format", "s", 's', time_format },
    { "Hour", "", 'i', time_hour },
    { "IsZero", "", 'b', time_is_zero },
    { "Local", "", '?', time_local },
    { "Minute", "", 'i', time_minute },
    { "Month", "", '?', time_month },
    { "Nanosecond", "", 'i', time_nanosecond },
    { "Second", "", 'i', time_second },
    { "String", "", 's', time_string },
    { "Sub", "t", '?', time_sub },
    { "UTC", "", '?', time_utc },
    { "Unix", "", 'l', time_unix },
    { "UnixMicro", "", 'l', time_unix_micro },
    { "UnixMilli", "", 'l', time_unix_milli },
    { "UnixNano", "", 'l', time_unix_nano },
    { "Weekday", "", '?', time_weekday },
    { "Year", "", 'i', time_year },
    { "YearDay", "", 'i', time_year_day },
    { NULL, NULL, 0, NULL },
};

static void time_print(const struct tpl_object *o, char verb FN_UNUSED, bool sharp_or_plus FN_UNUSED,
                       struct buf *out)
{
    gotime_format(((const struct time_object *)o)->t, STR("2006-01-02 15:04:05.999999999 -0700 MST"), out);
}

static struct value time_to_json(const struct tpl_object *o, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(128);

    gotime_format(((const struct time_object *)o)->t, STR("2006-01-02T15:04:05.999999999Z07:00"), &b);
    return value_from_str(arena_dup(a, buf_str(&b)));
}

static bool time_deep_equal(const struct tpl_object *a, const struct tpl_object *b)
{
    struct gotime ta = ((const struct time_object *)a)->t, tb = ((const struct time_object *)b)->t;

    return order(ta, tb) == 0 && ta.zone == tb.zone;
}

static const char *const time_unexported[] = { "ext", "loc", "wall", NULL };

static const struct tpl_object_type time_type = {
    .go_name = "time.Time",
    .go_kind = "struct",
    .methods = time_methods,
    .unexported = time_unexported,
    .print = time_print,
    .to_json = time_to_json,
    .equal = time_deep_equal,
};

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

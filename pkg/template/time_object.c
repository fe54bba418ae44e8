/* SPDX-License-Identifier: Apache-2.0 */
/* time.Time, time.Duration, time.Month, time.Weekday and time.Location: their methods and what prints them. */
#include "template/time_object.h"

#define SECOND INT64_C(1000000000)
#define RFC3339_NANO STR("2006-01-02T15:04:05.999999999Z07:00")
#define GO_FORMAT STR("2006-01-02 15:04:05.999999999 -0700 MST")

struct time_object {
    struct tpl_object object;
    struct gotime t;
};

static const struct tpl_object_type time_type;

struct value time_object_value(struct arena *a, struct gotime t)
{
    struct time_object *o = ARENA_NEW(a, struct time_object);

    o->object.type = &time_type;
    o->t = t;
    return tpl_object_value(&o->object);
}

bool time_object_is(struct value v)
{
    return v.kind == VALUE_OBJECT && ((const struct tpl_object *)v.object)->type == &time_type;
}

struct gotime time_object_get(struct value v)
{
    return ((const struct time_object *)v.object)->t;
}

static int ret_format(FN_ARGS, struct gotime t, struct str layout)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    gotime_format(t, layout, &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* ---- the dates of TOML ---- */

/* Where a time was written without a zone: the library tells by these which form to print. */
static const struct {
    enum value_type type;
    const char *zone;
} toml_zones[] = {
    { VALUE_TYPE_LOCAL_DATE_TIME, "datetime-local" },
    { VALUE_TYPE_LOCAL_DATE, "date-local" },
    { VALUE_TYPE_LOCAL_TIME, "time-local" },
};

static enum value_type toml_type(struct gotime t)
{
    for (size_t i = 0; i < ARRAY_SIZE(toml_zones); i++)
        if (str_eq(gozone_name(t.zone), str_from(toml_zones[i].zone)))
            return toml_zones[i].type;
    return VALUE_TYPE_DATE_TIME;
}

struct value time_object_from_toml(struct arena *a, struct value text, int64_t now_s)
{
    int offset_s = gozone_lookup(gozone_local(), now_s).offset_s;
    struct gotime t = { GOTIME_ZERO_S, 0, gozone_utc() };

    if (gotime_parse(a, RFC3339_NANO, value_str(text), gozone_local(), &t, NULL) < 0)
        return text;
    for (size_t i = 0; i < ARRAY_SIZE(toml_zones); i++) {
        if (text.type != toml_zones[i].type)
            continue;
        t.zone = gozone_fixed(a, str_from(toml_zones[i].zone), offset_s);
        t.s -= offset_s;
    }
    return time_object_value(a, t);
}

static struct value time_to_moment(const struct tpl_object *o, struct arena *a, bool toml)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(128);
    struct gotime t = ((const struct time_object *)o)->t;
    enum value_type type = toml ? toml_type(t) : VALUE_TYPE_DATE_TIME;
    struct value v;

    if (type != VALUE_TYPE_DATE_TIME)
        t.zone = gozone_utc();
    gotime_format(t, RFC3339_NANO, &b);
    v = value_from_str(arena_dup(a, buf_str(&b)));
    v.type = (uint8_t)type;
    return v;
}

/* ---- time.Location ---- */

struct location {
    struct tpl_object object;
    const struct gozone *zone;
};

static int location_string(FN_ARGS)
{
    return fn_ret_str(ret, gozone_name(((const struct location *)c->receiver.object)->zone));
}

static void location_print(const struct tpl_object *o, char verb FN_UNUSED, bool sharp FN_UNUSED,
                           struct buf *out)
{
    buf_addstr(out, gozone_name(((const struct location *)o)->zone));
}

static const struct tpl_object_type location_type;

static struct value location_deep_copy(const struct tpl_object *o FN_UNUSED, struct arena *a)
{
    struct location *l = ARENA_NEW(a, struct location);

    l->object.type = &location_type;
    l->zone = gozone_fixed(a, STR(""), 0);
    return tpl_object_value(&l->object);
}

static const struct tpl_method location_methods[] = {
    { "String", "", 's', location_string },
    { NULL, NULL, 0, NULL },
};

static const struct tpl_object_type location_type = {
    .go_name = "*time.Location",
    .go_kind = "ptr",
    .methods = location_methods,
    .print = location_print,
    .deep_copy = location_deep_copy,
};

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
    return ret_typed(ret, gotime_round_duration(c->receiver.i, fn_int(c, 0)), TPL_TYPE_DURATION);
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

#define RECEIVER time_object_get(c->receiver)
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
    return ret_format(c, ret, err, RECEIVER, GO_FORMAT);
}

static int time_utc(FN_ARGS)
{
    struct gotime t = RECEIVER;

    t.zone = gozone_utc();
    return time_object_new(c, t, ret);
}

static int time_local(FN_ARGS)
{
    struct gotime t = RECEIVER;

    t.zone = gozone_local();
    return time_object_new(c, t, ret);
}

static int time_add(FN_ARGS)
{
    return time_object_new(c, gotime_add(RECEIVER, fn_int(c, 0)), ret);
}

static int time_add_date(FN_ARGS)
{
    struct gotime t = RECEIVER;
    struct gotime_parts p = gotime_split(t);

    return time_object_new(c,
                           gotime_date(p.year + fn_int(c, 0), p.month + fn_int(c, 1), p.day + fn_int(c, 2),
                                       p.hour * 3600 + p.minute * 60 + p.second, t.ns, t.zone),
                           ret);
}

static int time_sub(FN_ARGS)
{
    return ret_typed(ret, gotime_between(RECEIVER, time_object_get(c->args[0])), TPL_TYPE_DURATION);
}

static int order(struct gotime a, struct gotime b)
{
    if (a.s != b.s)
        return a.s < b.s ? -1 : 1;
    return a.ns < b.ns ? -1 : a.ns > b.ns;
}

static int time_compare(FN_ARGS)
{
    return ret_int(ret, order(RECEIVER, time_object_get(c->args[0])));
}

static int time_before(FN_ARGS)
{
    return fn_ret_bool(ret, order(RECEIVER, time_object_get(c->args[0])) < 0);
}

static int time_after(FN_ARGS)
{
    return fn_ret_bool(ret, order(RECEIVER, time_object_get(c->args[0])) > 0);
}

static int time_equal(FN_ARGS)
{
    return fn_ret_bool(ret, order(RECEIVER, time_object_get(c->args[0])) == 0);
}

static int time_location(FN_ARGS)
{
    struct location *l = ARENA_NEW(c->arena, struct location);

    l->object.type = &location_type;
    l->zone = RECEIVER.zone;
    *ret = tpl_object_value(&l->object);
    return 0;
}

static int time_in(FN_ARGS)
{
    struct gotime t = RECEIVER;

    if (fn_is_nil(c->args[0]))
        return err_set(err, ERRC_TEMPLATE, "time: missing Location in call to Time.In");
    t.zone = ((const struct location *)c->args[0].object)->zone;
    return time_object_new(c, t, ret);
}

static int time_is_dst(FN_ARGS)
{
    struct gotime t = RECEIVER;

    return fn_ret_bool(ret, gozone_lookup(t.zone, t.s).dst);
}

/* What is left of the time since year 1 in units of `unit`. */
static int64_t remainder_of(struct gotime t, int64_t unit)
{
    __int128 ns = ((__int128)t.s - GOTIME_ZERO_S) * SECOND + t.ns;
    int64_t rest = (int64_t)(ns % unit);

    return rest < 0 ? rest + unit : rest;
}

static int time_truncate(FN_ARGS)
{
    int64_t unit = fn_int(c, 0);

    return time_object_new(c, unit <= 0 ? RECEIVER : gotime_add(RECEIVER, -remainder_of(RECEIVER, unit)),
                           ret);
}

static int time_round(FN_ARGS)
{
    int64_t unit = fn_int(c, 0), rest = unit > 0 ? remainder_of(RECEIVER, unit) : 0;

    return time_object_new(c, gotime_add(RECEIVER, rest < unit - rest || unit <= 0 ? -rest : unit - rest),
                           ret);
}

static void go_string(struct gotime t, struct buf *out)
{
    struct gotime_parts p = gotime_split(t);
    struct str zone = gozone_name(t.zone);

    buf_addf(out, "time.Date(%lld, time.%s, %d, %d, %d, %d, %d, ", (long long)p.year,
             gotime_months[p.month - 1], p.day, p.hour, p.minute, p.second, (int)t.ns);
    if (t.zone == gozone_local()) {
        buf_adds(out, "time.Local)");
    } else if (str_eq(zone, STR("UTC"))) {
        buf_adds(out, "time.UTC)");
    } else {
        buf_adds(out, "time.Location(");
        gotime_quote(zone, out);
        buf_adds(out, "))");
    }
}

static int time_go_string(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    go_string(RECEIVER, &b);
    return fn_ret_buf(c, &b, ret, err);
}

static int time_marshal_text(FN_ARGS)
{
    int r = ret_format(c, ret, err, RECEIVER, RFC3339_NANO);

    ret->kind = r == 0 ? VALUE_BYTES : VALUE_NULL;
    return r;
}

static int time_marshal_json(FN_ARGS)
{
    int r = ret_format(c, ret, err, RECEIVER, STR("\"2006-01-02T15:04:05.999999999Z07:00\""));

    ret->kind = r == 0 ? VALUE_BYTES : VALUE_NULL;
    return r;
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
    { "Clock", "", '3', NULL },
    { "Compare", "t", 'i', time_compare },
    { "Date", "", '3', NULL },
    { "Day", "", 'i', time_day },
    { "Equal", "t", 'b', time_equal },
    { "Format", "s", 's', time_format },
    { "GoString", "", 's', time_go_string },
    { "Hour", "", 'i', time_hour },
    { "ISOWeek", "", '2', NULL },
    { "In", "P", '?', time_in },
    { "IsDST", "", 'b', time_is_dst },
    { "IsZero", "", 'b', time_is_zero },
    { "Local", "", '?', time_local },
    { "Location", "", '?', time_location },
    { "MarshalJSON", "", 'B', time_marshal_json },
    { "MarshalText", "", 'B', time_marshal_text },
    { "Minute", "", 'i', time_minute },
    { "Month", "", '?', time_month },
    { "Nanosecond", "", 'i', time_nanosecond },
    { "Round", "d", '?', time_round },
    { "Second", "", 'i', time_second },
    { "String", "", 's', time_string },
    { "Sub", "t", '?', time_sub },
    { "Truncate", "d", '?', time_truncate },
    { "UTC", "", '?', time_utc },
    { "Unix", "", 'l', time_unix },
    { "UnixMicro", "", 'l', time_unix_micro },
    { "UnixMilli", "", 'l', time_unix_milli },
    { "UnixNano", "", 'l', time_unix_nano },
    { "Weekday", "", '?', time_weekday },
    { "Year", "", 'i', time_year },
    { "YearDay", "", 'i', time_year_day },
    { "Zone", "", '2', NULL },
    { "ZoneBounds", "", '4', NULL },
    { NULL, NULL, 0, NULL },
};

static void time_print(const struct tpl_object *o, char verb FN_UNUSED, bool sharp, struct buf *out)
{
    struct gotime t = ((const struct time_object *)o)->t;

    if (sharp)
        go_string(t, out);
    else
        gotime_format(t, GO_FORMAT, out);
}

static struct value time_to_json(const struct tpl_object *o, struct arena *a)
{
    struct value v = time_to_moment(o, a, false);

    v.type = VALUE_TYPE_PLAIN;
    return v;
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
    .to_moment = time_to_moment,
    .equal = time_deep_equal,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "template/gotime.h"

#include <stdlib.h>

#include "base/clock.h"

#define DAY 86400
/* From where Go counts, without a sign: year -292277022399, March. Beyond it time goes round. */
#define ABSOLUTE_DAYS (UINT64_C(106751990353932) + 306 + 719162)
#define SECOND INT64_C(1000000000)

const char *const gotime_months[12] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"
};
const char *const gotime_weekdays[7] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                         "Thursday", "Friday", "Saturday" };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

struct gotime_parts gotime_split(struct gotime t)
{
    struct gozone_at at = gozone_lookup(t.zone, t.s);
    struct gotime_parts p = { .zone_name = at.name, .offset_s = at.offset_s };
    uint64_t local = (uint64_t)t.s + (uint64_t)(int64_t)at.offset_s + ABSOLUTE_DAYS * DAY;
    int64_t days = (int64_t)(local / DAY - ABSOLUTE_DAYS);
    int second = (int)(local % DAY);

    clock_civil_from_days(days, &p.year, &p.month, &p.day);
    p.hour = second / 3600;
    p.minute = second / 60 % 60;
    p.second = second % 60;
    p.weekday = (int)(((days + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
    p.year_day = (int)(days - clock_days_from_civil(p.year, 1, 1)) + 1;
    return p;
}

struct gotime gotime_date(int64_t year, int64_t month, int64_t day, int64_t seconds_of_day, int32_t ns,
                          const struct gozone *zone)
{
    int64_t years = floor_div(month - 1, 12), s;
    struct gozone_at at;

    year += years;
    month -= years * 12;
    s = (clock_days_from_civil(year, (int)month, 1) + day - 1) * DAY + seconds_of_day;
    at = gozone_lookup(zone, s); /* as if it were UTC; right unless a transition is near */
    if (at.offset_s != 0) {
        int64_t guess = s - at.offset_s;

        if (guess < at.start || guess >= at.end)
            at = gozone_lookup(zone, guess);
        s -= at.offset_s;
    }
    return (struct gotime){ s, ns, zone };
}

/* ---- layouts ---- */

static bool has(struct str s, size_t at, const char *text)
{
    return str_has_prefix(str_sub(s, at, s.n), str_from(text));
}

static bool lower_follows(struct str s, size_t at)
{
    return at < s.n && s.p[at] >= 'a' && s.p[at] <= 'z';
}

/* Fixed elements; the longer ones first. `alone`: not in front of a lower-case letter. */
static const struct {
    const char *text;
    enum gotime_element element;
    bool alone;
} elements[] = {
    { "January", EL_LONG_MONTH, false },
    { "Jan", EL_MONTH, true },
    { "Monday", EL_LONG_WEEKDAY, false },
    { "Mon", EL_WEEKDAY, true },
    { "MST", EL_ZONE_NAME, false },
    { "01", EL_ZERO_MONTH, false },
    { "02", EL_ZERO_DAY, false },
    { "03", EL_ZERO_HOUR12, false },
    { "04", EL_ZERO_MINUTE, false },
    { "05", EL_ZERO_SECOND, false },
    { "06", EL_YEAR, false },
    { "002", EL_ZERO_YEAR_DAY, false },
    { "15", EL_HOUR, false },
    { "1", EL_NUM_MONTH, false },
    { "2006", EL_LONG_YEAR, false },
    { "2", EL_DAY, false },
    { "_2", EL_UNDER_DAY, false },
    { "__2", EL_UNDER_YEAR_DAY, false },
    { "3", EL_HOUR12, false },
    { "4", EL_MINUTE, false },
    { "5", EL_SECOND, false },
    { "PM", EL_UPPER_PM, false },
    { "pm", EL_LOWER_PM, false },
};

static const struct {
    const char *text; /* behind the '-' or 'Z' */
    bool colon, minutes, seconds;
} offsets[] = {
    { "070000", false, true, true }, { "07:00:00", true, true, true }, { "0700", false, true, false },
    { "07:00", true, true, false },  { "07", false, false, false },
};

static bool read_offset(struct str layout, size_t at, struct gotime_chunk *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
        if (!has(layout, at + 1, offsets[i].text))
            continue;
        ret->element = EL_OFFSET;
        ret->n = strlen(offsets[i].text) + 1;
        ret->offset_z = layout.p[at] == 'Z';
        ret->offset_colon = offsets[i].colon;
        ret->offset_minutes = offsets[i].minutes;
        ret->offset_seconds = offsets[i].seconds;
        return true;
    }
    return false;
}

/* ".000", ",999": the digits must end there. */
static bool read_fraction(struct str layout, size_t at, struct gotime_chunk *ret)
{
    size_t end = at + 1;
    char digit = end < layout.n ? layout.p[end] : '\0';

    if (digit != '0' && digit != '9')
        return false;
    while (end < layout.n && layout.p[end] == digit)
        end++;
    if (end < layout.n && ascii_is_digit(layout.p[end]))
        return false;
    ret->element = digit == '0' ? EL_FRACTION0 : EL_FRACTION9;
    ret->n = end - at;
    ret->digits = end - at - 1;
    ret->separator = layout.p[at];
    return true;
}

static bool read_element(struct str layout, size_t at, struct gotime_chunk *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(elements); i++) {
        size_t n = strlen(elements[i].text);

        if (layout.p[at] != elements[i].text[0] || !has(layout, at, elements[i].text))
            continue;
        if (elements[i].alone && lower_follows(layout, at + n))
            continue;
        ret->element = elements[i].element;
        ret->n = n;
        return true;
    }
    return false;
}

struct gotime_chunk gotime_next_chunk(struct str layout)
{
    for (size_t at = 0; at < layout.n; at++) {
        struct gotime_chunk chunk = { .at = at };
        char c = layout.p[at];
        bool found;

        if (has(layout, at, "_2006")) /* an underscore and a year */
            continue;
        if (c == '-' || c == 'Z')
            found = read_offset(layout, at, &chunk);
        else if (c == '.' || c == ',')
            found = read_fraction(layout, at, &chunk);
        else
            found = read_element(layout, at, &chunk);
        if (found)
            return chunk;
    }
    return (struct gotime_chunk){ .element = EL_NONE, .at = layout.n };
}

/* ---- formatting ---- */

static void add_offset(const struct gotime_chunk *c, int offset_s, struct buf *out)
{
    int minutes = offset_s / 60, absolute = offset_s;

    if (offset_s == 0 && c->offset_z) {
        buf_addc(out, 'Z');
        return;
    }
    buf_addc(out, minutes < 0 ? '-' : '+');
    if (minutes < 0) {
        minutes = -minutes;
        absolute = -absolute;
    }
    buf_addf(out, "%02d", minutes / 60);
    if (c->offset_minutes)
        buf_addf(out, "%s%02d", c->offset_colon ? ":" : "", minutes % 60);
    if (c->offset_seconds)
        buf_addf(out, "%s%02d", c->offset_colon ? ":" : "", absolute % 60);
}

static void add_zone_name(const struct gotime_parts *p, struct buf *out)
{
    int minutes = p->offset_s / 60;

    if (p->zone_name.n > 0) {
        buf_addstr(out, p->zone_name);
        return;
    }
    buf_addc(out, minutes < 0 ? '-' : '+');
    minutes = minutes < 0 ? -minutes : minutes;
    buf_addf(out, "%02d%02d", minutes / 60, minutes % 60);
}

static void add_fraction(const struct gotime_chunk *c, int32_t ns, struct buf *out)
{
    char digits[16];
    size_t n = MIN(c->digits, 9);

    if (c->element == EL_FRACTION9 && ns == 0)
        return;
    for (size_t i = 9; i > 0; i--) {
        digits[i - 1] = (char)('0' + ns % 10);
        ns /= 10;
    }
    while (c->element == EL_FRACTION9 && n > 0 && digits[n - 1] == '0')
        n--;
    if (n == 0 && c->element == EL_FRACTION9)
        return;
    buf_addc(out, c->separator);
    buf_add(out, digits, n);
}

static void add_year(int64_t year, struct buf *out)
{
    if (year < 0)
        buf_addf(out, "-%04llu", 0 - (unsigned long long)year);
    else
        buf_addf(out, "%04lld", (long long)year);
}

/* False: the element is no number. */
static bool add_number(enum gotime_element element, const struct gotime_parts *p, struct buf *out)
{
    int hour12 = p->hour % 12 == 0 ? 12 : p->hour % 12;
    const struct {
        int value, width;
        bool zeros;
    } numbers[] = {
        [EL_YEAR] = { abs((int)(p->year % 100)), 2, true },
        [EL_NUM_MONTH] = { p->month, 1, false },
        [EL_ZERO_MONTH] = { p->month, 2, true },
        [EL_DAY] = { p->day, 1, false },
        [EL_UNDER_DAY] = { p->day, 2, false },
        [EL_ZERO_DAY] = { p->day, 2, true },
        [EL_UNDER_YEAR_DAY] = { p->year_day, 3, false },
        [EL_ZERO_YEAR_DAY] = { p->year_day, 3, true },
        [EL_HOUR] = { p->hour, 2, true },
        [EL_HOUR12] = { hour12, 1, false },
        [EL_ZERO_HOUR12] = { hour12, 2, true },
        [EL_MINUTE] = { p->minute, 1, false },
        [EL_ZERO_MINUTE] = { p->minute, 2, true },
        [EL_SECOND] = { p->second, 1, false },
        [EL_ZERO_SECOND] = { p->second, 2, true },
    };

    if (element >= ARRAY_SIZE(numbers) || numbers[element].width == 0)
        return false;
    buf_addf(out, numbers[element].zeros ? "%0*d" : "%*d", numbers[element].width, numbers[element].value);
    return true;
}

static void add_element(const struct gotime_chunk *c, const struct gotime_parts *p, int32_t ns,
                        struct buf *out)
{
    if (add_number(c->element, p, out))
        return;
    if (c->element == EL_LONG_YEAR)
        add_year(p->year, out);
    else if (c->element == EL_MONTH)
        buf_add(out, gotime_months[p->month - 1], 3);
    else if (c->element == EL_LONG_MONTH)
        buf_adds(out, gotime_months[p->month - 1]);
    else if (c->element == EL_WEEKDAY)
        buf_add(out, gotime_weekdays[p->weekday], 3);
    else if (c->element == EL_LONG_WEEKDAY)
        buf_adds(out, gotime_weekdays[p->weekday]);
    else if (c->element == EL_UPPER_PM)
        buf_adds(out, p->hour >= 12 ? "PM" : "AM");
    else if (c->element == EL_LOWER_PM)
        buf_adds(out, p->hour >= 12 ? "pm" : "am");
    else if (c->element == EL_ZONE_NAME)
        add_zone_name(p, out);
    else if (c->element == EL_OFFSET)
        add_offset(c, p->offset_s, out);
    else if (c->element == EL_FRACTION0 || c->element == EL_FRACTION9)
        add_fraction(c, ns, out);
}

void gotime_format(struct gotime t, struct str layout, struct buf *out)
{
    struct gotime_parts p = gotime_split(t);

    while (layout.n > 0) {
        struct gotime_chunk c = gotime_next_chunk(layout);

        buf_add(out, layout.p, c.at);
        add_element(&c, &p, t.ns, out);
        layout = str_sub(layout, c.at + c.n, layout.n);
    }
}

/* ---- durations ---- */

struct gotime gotime_add(struct gotime t, int64_t ns)
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

int64_t gotime_between(struct gotime a, struct gotime b)
{
    int64_t ns;

    if (__builtin_sub_overflow(a.s, b.s, &ns) || __builtin_mul_overflow(ns, SECOND, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a.ns - b.ns, &ns))
        return a.s < b.s ? INT64_MIN : INT64_MAX;
    return ns;
}

int64_t gotime_round_duration(int64_t ns, int64_t unit)
{
    int64_t rest = unit > 0 ? ns % unit : 0, down = ns - rest;

    if (unit <= 0)
        return ns;
    if (rest < 0)
        return -rest < unit + rest ? down : down < INT64_MIN + unit ? INT64_MIN : down - unit;
    return rest < unit - rest ? down : down > INT64_MAX - unit ? INT64_MAX : down + unit;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "template/gotime.h"

#include "base/clock.h"

/* What is known of a time while its text is read. */
struct reading {
    struct str layout, text; /* whole, for messages */
    struct str rest;
    int64_t year;
    int month, day, year_day; /* -1: not seen */
    int hour, minute, second;
    int64_t ns;
    bool am, pm, utc, has_offset;
    int offset_s;
    struct str zone_name;
    const char *out_of_range; /* what is */
};

void gotime_quote(struct str s, struct buf *out)
{
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c >= 0x80 || c < ' ') {
            buf_addf(out, "\\x%02x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            buf_addc(out, '\\');
        buf_addc(out, (char)c);
    }
    buf_addc(out, '"');
}

#define QUOTED_MAX ((size_t)64 * 1024)

/* ParseError with a message of its own. */
static int fail_message(const struct reading *rd, const char *message, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(QUOTED_MAX);

    gotime_quote(rd->text, &text);
    return err_set(err, ERRC_PARSE, "parsing time %s: %s", buf_z(&text), message);
}

static int fail_element(const struct reading *rd, struct str rest, struct str element, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(4 * QUOTED_MAX);

    buf_adds(&b, "parsing time ");
    gotime_quote(rd->text, &b);
    buf_adds(&b, " as ");
    gotime_quote(rd->layout, &b);
    buf_adds(&b, ": cannot parse ");
    gotime_quote(rest, &b);
    buf_adds(&b, " as ");
    gotime_quote(element, &b);
    return err_set(err, ERRC_PARSE, "%s", buf_z(&b));
}

static bool digit_at(struct str s, size_t i)
{
    return i < s.n && ascii_is_digit(s.p[i]);
}

static void drop(struct reading *rd, size_t n)
{
    rd->rest = str_sub(rd->rest, n, rd->rest.n);
}

/* One or two digits; with `fixed` two. */
static bool read_number(struct reading *rd, bool fixed, int *ret)
{
    struct str s = rd->rest;

    if (!digit_at(s, 0) || (fixed && !digit_at(s, 1)))
        return false;
    *ret = s.p[0] - '0';
    if (digit_at(s, 1))
        *ret = *ret * 10 + s.p[1] - '0';
    drop(rd, digit_at(s, 1) ? 2 : 1);
    return true;
}

static bool read_ranged(struct reading *rd, bool fixed, int low, int high, const char *what, int *ret)
{
    if (!read_number(rd, fixed, ret))
        return false;
    if (*ret < low || *ret > high)
        rd->out_of_range = what;
    return true;
}

/* A name of the table, or its first three letters, in any case. */
static bool read_name(struct reading *rd, const char *const *names, int n, bool brief, int *ret)
{
    for (int i = 0; i < n; i++) {
        struct str name = str_from(names[i]);

        if (brief)
            name.n = 3;
        if (rd->rest.n >= name.n && str_ieq(str_sub(rd->rest, 0, name.n), name)) {
            drop(rd, name.n);
            *ret = i;
            return true;
        }
    }
    return false;
}

/* The layout's text in front of an element; a blank stands for any number of them. */
static bool skip_prefix(struct reading *rd, struct str prefix)
{
    while (prefix.n > 0) {
        if (prefix.p[0] == ' ') {
            if (rd->rest.n > 0 && rd->rest.p[0] != ' ')
                return false;
            while (prefix.n > 0 && prefix.p[0] == ' ')
                prefix = str_sub(prefix, 1, prefix.n);
            while (rd->rest.n > 0 && rd->rest.p[0] == ' ')
                drop(rd, 1);
            continue;
        }
        if (rd->rest.n == 0 || rd->rest.p[0] != prefix.p[0])
            return false;
        prefix = str_sub(prefix, 1, prefix.n);
        drop(rd, 1);
    }
    return true;
}

static bool read_year(struct reading *rd, size_t digits)
{
    int64_t year;

    if (rd->rest.n < digits || (digits == 4 && !digit_at(rd->rest, 0)) ||
        !str_to_int64(str_sub(rd->rest, 0, digits), &year))
        return false;
    drop(rd, digits);
    rd->year = digits == 4 ? year : year >= 69 ? year + 1900 : year + 2000;
    return true;
}

static bool read_year_day(struct reading *rd, bool fixed)
{
    size_t n = 0;
    int day = 0;

    for (int i = 0; i < 2 && !fixed; i++)
        if (rd->rest.n > 0 && rd->rest.p[0] == ' ')
            drop(rd, 1);
    for (; n < 3 && digit_at(rd->rest, n); n++)
        day = day * 10 + rd->rest.p[n] - '0';
    if (n == 0 || (fixed && n != 3))
        return false;
    rd->year_day = day;
    drop(rd, n);
    return true;
}

/* A point or comma and digits, n bytes in all. */
static bool read_fraction(struct reading *rd, size_t n)
{
    size_t used = MIN(n, 10);

    if (rd->rest.n < n || (rd->rest.p[0] != '.' && rd->rest.p[0] != ','))
        return false;
    rd->ns = 0;
    for (size_t i = 1; i < 10; i++) {
        if (i < used && !digit_at(rd->rest, i))
            return false;
        rd->ns = rd->ns * 10 + (i < used ? rd->rest.p[i] - '0' : 0);
    }
    drop(rd, n);
    return true;
}

static size_t fraction_length(struct str s)
{
    size_t n = 1;

    if (s.n < 2 || (s.p[0] != '.' && s.p[0] != ',') || !digit_at(s, 1))
        return 0;
    while (digit_at(s, n))
        n++;
    return n;
}

/* A fraction may follow the seconds even when the layout has none. */
static bool read_second(struct reading *rd, bool fixed, struct str layout)
{
    enum gotime_element next;
    size_t n;

    if (!read_ranged(rd, fixed, 0, 59, "second", &rd->second))
        return false;
    n = rd->out_of_range ? 0 : fraction_length(rd->rest);
    if (n == 0)
        return true;
    next = gotime_next_chunk(layout).element;
    return next == EL_FRACTION0 || next == EL_FRACTION9 || read_fraction(rd, n);
}

static bool read_half(struct reading *rd, const char *am, const char *pm)
{
    if (str_has_prefix(rd->rest, str_from(pm)))
        rd->pm = true;
    else if (str_has_prefix(rd->rest, str_from(am)))
        rd->am = true;
    else
        return false;
    drop(rd, 2);
    return true;
}

static bool two_digits(struct str s, size_t at, int *ret)
{
    if (!digit_at(s, at) || !digit_at(s, at + 1))
        return false;
    *ret = (s.p[at] - '0') * 10 + s.p[at + 1] - '0';
    return true;
}

static bool read_offset(struct reading *rd, const struct gotime_chunk *c)
{
    struct str s = rd->rest;
    size_t colon = c->offset_colon ? 1 : 0, n = c->n;
    int hour = 0, minute = 0, second = 0;
    bool ok;

    if (c->offset_z && s.n > 0 && s.p[0] == 'Z') {
        rd->utc = true;
        drop(rd, 1);
        return true;
    }
    if (s.n < n || (colon && s.p[3] != ':') || (colon && c->offset_seconds && s.p[6] != ':'))
        return false;
    ok = two_digits(s, 1, &hour) && (!c->offset_minutes || two_digits(s, 3 + colon, &minute)) &&
         (!c->offset_seconds || two_digits(s, 5 + 2 * colon, &second));
    rd->out_of_range = second > 60   ? "time zone offset second"
                       : minute > 60 ? "time zone offset minute"
                       : hour > 24   ? "time zone offset hour"
                                     : NULL;
    rd->offset_s = (hour * 60 + minute) * 60 + second;
    rd->has_offset = true;
    if (s.p[0] == '-')
        rd->offset_s = -rd->offset_s;
    drop(rd, n);
    return ok && (s.p[0] == '+' || s.p[0] == '-');
}

/* "+03" behind GMT or alone: its length, 0 when it is none. */
static size_t signed_offset_length(struct str s)
{
    size_t n = 1;
    int hours = 0;

    if (s.n == 0 || (s.p[0] != '+' && s.p[0] != '-'))
        return 0;
    for (; digit_at(s, n); n++)
        if ((hours = hours * 10 + s.p[n] - '0') > 23)
            return 0;
    return n > 1 ? n : 0;
}

static size_t zone_name_length(struct str s)
{
    size_t upper = 0;

    if (s.n < 3)
        return 0;
    if (str_has_prefix(s, STR("ChST")) || str_has_prefix(s, STR("MeST")))
        return 4;
    if (str_has_prefix(s, STR("GMT")))
        return 3 + signed_offset_length(str_sub(s, 3, s.n));
    if (s.p[0] == '+' || s.p[0] == '-')
        return signed_offset_length(s);
    while (upper < 6 && upper < s.n && s.p[upper] >= 'A' && s.p[upper] <= 'Z')
        upper++;
    if (upper == 5)
        return s.p[4] == 'T' ? 5 : 0;
    if (upper == 4)
        return s.p[3] == 'T' || str_has_prefix(s, STR("WITA")) ? 4 : 0;
    return upper == 3 ? 3 : 0;
}

static bool read_zone_name(struct reading *rd)
{
    size_t n;

    if (str_has_prefix(rd->rest, STR("UTC"))) {
        rd->utc = true;
        drop(rd, 3);
        return true;
    }
    n = zone_name_length(rd->rest);
    rd->zone_name = str_sub(rd->rest, 0, n);
    drop(rd, n);
    return n > 0;
}

static bool read_month_name(struct reading *rd, bool brief)
{
    if (!read_name(rd, gotime_months, 12, brief, &rd->month))
        return false;
    rd->month++;
    return true;
}

static bool read_day(struct reading *rd, enum gotime_element element)
{
    if (element == EL_UNDER_DAY && rd->rest.n > 0 && rd->rest.p[0] == ' ')
        drop(rd, 1);
    return read_number(rd, element == EL_ZERO_DAY, &rd->day);
}

/* `layout` is what follows the element. */
static bool read_element(struct reading *rd, const struct gotime_chunk *c, struct str layout)
{
    enum gotime_element e = c->element;
    int ignored;

    switch (e) {
    case EL_YEAR:
        return read_year(rd, 2);
    case EL_LONG_YEAR:
        return read_year(rd, 4);
    case EL_MONTH:
    case EL_LONG_MONTH:
        return read_month_name(rd, e == EL_MONTH);
    case EL_NUM_MONTH:
    case EL_ZERO_MONTH:
        return read_ranged(rd, e == EL_ZERO_MONTH, 1, 12, "month", &rd->month);
    case EL_WEEKDAY:
    case EL_LONG_WEEKDAY:
        return read_name(rd, gotime_weekdays, 7, e == EL_WEEKDAY, &ignored);
    case EL_DAY:
    case EL_UNDER_DAY:
    case EL_ZERO_DAY:
        return read_day(rd, e);
    case EL_UNDER_YEAR_DAY:
    case EL_ZERO_YEAR_DAY:
        return read_year_day(rd, e == EL_ZERO_YEAR_DAY);
    case EL_HOUR:
        return read_ranged(rd, false, 0, 23, "hour", &rd->hour);
    case EL_HOUR12:
    case EL_ZERO_HOUR12:
        return read_ranged(rd, e == EL_ZERO_HOUR12, 0, 12, "hour", &rd->hour);
    case EL_MINUTE:
    case EL_ZERO_MINUTE:
        return read_ranged(rd, e == EL_ZERO_MINUTE, 0, 59, "minute", &rd->minute);
    case EL_SECOND:
    case EL_ZERO_SECOND:
        return read_second(rd, e == EL_ZERO_SECOND, layout);
    case EL_UPPER_PM:
        return read_half(rd, "AM", "PM");
    case EL_LOWER_PM:
        return read_half(rd, "am", "pm");
    case EL_ZONE_NAME:
        return read_zone_name(rd);
    case EL_OFFSET:
        return read_offset(rd, c);
    case EL_FRACTION0:
        return read_fraction(rd, c->digits + 1);
    case EL_FRACTION9:
        return fraction_length(rd->rest) == 0 || read_fraction(rd, fraction_length(rd->rest));
    case EL_NONE:
        break;
    }
    return true;
}

static int read_all(struct reading *rd, struct err **err)
{
    struct str layout = rd->layout;

    for (;;) {
        struct gotime_chunk c = gotime_next_chunk(layout);
        struct str prefix = str_sub(layout, 0, c.at), element = str_sub(layout, c.at, c.at + c.n), hold;

        if (!skip_prefix(rd, prefix))
            return fail_element(rd, rd->rest, prefix, err);
        if (c.element == EL_NONE)
            break;
        layout = str_sub(layout, c.at + c.n, layout.n);
        hold = rd->rest;
        if (!read_element(rd, &c, layout) && !rd->out_of_range)
            return fail_element(rd, hold, element, err);
        if (rd->out_of_range) {
            CLEANUP(buf_done) struct buf message = BUF_INIT(64);

            buf_addf(&message, "%s out of range", rd->out_of_range);
            return fail_message(rd, buf_z(&message), err);
        }
    }
    if (rd->rest.n > 0) {
        CLEANUP(buf_done) struct buf message = BUF_INIT(QUOTED_MAX);

        buf_adds(&message, "extra text: ");
        gotime_quote(rd->rest, &message);
        return fail_message(rd, buf_z(&message), err);
    }
    return 0;
}

static int days_in(int64_t year, int month)
{
    int64_t next =
        month == 12 ? clock_days_from_civil(year + 1, 1, 1) : clock_days_from_civil(year, month + 1, 1);

    return (int)(next - clock_days_from_civil(year, month, 1));
}

static int use_year_day(struct reading *rd, struct err **err)
{
    int64_t new_year = clock_days_from_civil(rd->year, 1, 1), year;
    int days = (int)(clock_days_from_civil(rd->year + 1, 1, 1) - new_year), month, day;

    if (rd->year_day < 1 || rd->year_day > days)
        return fail_message(rd, "day-of-year out of range", err);
    clock_civil_from_days(new_year + rd->year_day - 1, &year, &month, &day);
    if (rd->month >= 0 && rd->month != month)
        return fail_message(rd, "day-of-year does not match month", err);
    if (rd->day >= 0 && rd->day != day)
        return fail_message(rd, "day-of-year does not match day", err);
    rd->month = month;
    rd->day = day;
    return 0;
}

static int check_day(struct reading *rd, struct err **err)
{
    if (rd->pm && rd->hour < 12)
        rd->hour += 12;
    else if (rd->am && rd->hour == 12)
        rd->hour = 0;
    if (rd->year_day >= 0) {
        int r = use_year_day(rd, err);

        if (r < 0)
            return r;
    }
    rd->month = rd->month < 0 ? 1 : rd->month;
    rd->day = rd->day < 0 ? 1 : rd->day;
    if (rd->day < 1 || rd->day > days_in(rd->year, rd->month))
        return fail_message(rd, "day out of range", err);
    return 0;
}

static struct gotime place(const struct reading *rd, struct arena *a, const struct gozone *zone)
{
    int64_t seconds = rd->hour * 3600 + rd->minute * 60 + rd->second;
    bool given = rd->has_offset || rd->zone_name.n > 0;
    const struct gozone *in = rd->utc || given ? gozone_utc() : zone;
    struct gotime t = gotime_date(rd->year, rd->month, rd->day, seconds, (int32_t)rd->ns, in);
    int offset_s = 0;

    if (rd->utc || !given)
        return t;
    if (rd->has_offset) {
        struct gozone_at at;

        t.s -= rd->offset_s;
        at = gozone_lookup(zone, t.s);
        if (at.offset_s == rd->offset_s && (rd->zone_name.n == 0 || str_eq(at.name, rd->zone_name)))
            t.zone = zone;
        else
            t.zone = gozone_fixed(a, rd->zone_name, rd->offset_s);
        return t;
    }
    if (gozone_lookup_name(zone, rd->zone_name, t.s, &offset_s)) {
        t.s -= offset_s;
        t.zone = zone;
        return t;
    }
    if (rd->zone_name.n > 3 && str_has_prefix(rd->zone_name, STR("GMT"))) {
        int64_t hours = 0;

        str_to_int64(str_sub(rd->zone_name, 3, rd->zone_name.n), &hours);
        offset_s = (int)hours * 3600;
    }
    t.zone = gozone_fixed(a, rd->zone_name, offset_s);
    return t;
}

int gotime_parse(struct arena *a, struct str layout, struct str text, const struct gozone *zone,
                 struct gotime *ret, struct err **err)
{
    struct reading rd = {
        .layout = layout, .text = text, .rest = text, .month = -1, .day = -1, .year_day = -1
    };
    int r = read_all(&rd, err);

    if (r == 0)
        r = check_day(&rd, err);
    if (r == 0)
        *ret = place(&rd, a, zone);
    return r;
}

/* ---- durations ---- */

#define DURATION_TOP ((uint64_t)1 << 63)

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    { "ns", 1 },       { "us", 1000 },      { "\xc2\xb5s", 1000 }, { "\xce\xbcs", 1000 },
    { "ms", 1000000 }, { "s", 1000000000 }, { "m", 60000000000 },  { "h", 3600000000000 },
};

static bool read_whole(struct str *s, uint64_t *ret)
{
    uint64_t v = 0;
    size_t i = 0;

    for (; digit_at(*s, i); i++) {
        if (v > DURATION_TOP / 10)
            return false;
        v = v * 10 + (uint64_t)(s->p[i] - '0');
        if (v > DURATION_TOP)
            return false;
    }
    *s = str_sub(*s, i, s->n);
    *ret = v;
    return true;
}

/* Digits behind the point; those that do not fit are dropped. */
static uint64_t read_decimals(struct str *s, double *scale)
{
    uint64_t v = 0;
    bool full = false;
    size_t i = 0;

    for (; digit_at(*s, i); i++) {
        full = full || v > (DURATION_TOP - 1) / 10;
        if (full)
            continue;
        v = v * 10 + (uint64_t)(s->p[i] - '0');
        *scale *= 10;
    }
    *s = str_sub(*s, i, s->n);
    return v;
}

static int fail_duration(struct str text, const char *what, struct str unit, struct err **err)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(2 * QUOTED_MAX);

    buf_addf(&b, "time: %s", what);
    if (unit.n > 0) {
        gotime_quote(unit, &b);
        buf_adds(&b, " in duration");
    }
    buf_addc(&b, ' ');
    gotime_quote(text, &b);
    return err_set(err, ERRC_PARSE, "%s", buf_z(&b));
}

/* One number with its unit, added to *sum. */
static int read_term(struct str text, struct str *s, uint64_t *sum, struct err **err)
{
    uint64_t whole, decimals = 0, unit = 0;
    size_t before = s->n, n = 0;
    double scale = 1;
    bool digits;

    if (!digit_at(*s, 0) && s->p[0] != '.')
        return fail_duration(text, "invalid duration", STR_NONE, err);
    if (!read_whole(s, &whole))
        return fail_duration(text, "invalid duration", STR_NONE, err);
    digits = s->n < before;
    if (s->n > 0 && s->p[0] == '.') {
        *s = str_sub(*s, 1, s->n);
        before = s->n;
        decimals = read_decimals(s, &scale);
        digits = digits || s->n < before;
    }
    if (!digits)
        return fail_duration(text, "invalid duration", STR_NONE, err);
    while (n < s->n && s->p[n] != '.' && !digit_at(*s, n))
        n++;
    if (n == 0)
        return fail_duration(text, "missing unit in duration", STR_NONE, err);
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (str_eq(str_sub(*s, 0, n), str_from(units[i].name)))
            unit = units[i].ns;
    if (unit == 0)
        return fail_duration(text, "unknown unit ", str_sub(*s, 0, n), err);
    *s = str_sub(*s, n, s->n);
    if (whole > DURATION_TOP / unit)
        return fail_duration(text, "invalid duration", STR_NONE, err);
    whole *= unit;
    if (decimals > 0)
        whole += (uint64_t)((double)decimals * ((double)unit / scale));
    if (whole > DURATION_TOP || (*sum += whole) > DURATION_TOP)
        return fail_duration(text, "invalid duration", STR_NONE, err);
    return 0;
}

int gotime_parse_duration(struct str text, int64_t *ret_ns, struct err **err)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    struct str s = text;
    uint64_t sum = 0;

    if (negative || (s.n > 0 && s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    if (str_eq(s, STR("0"))) {
        *ret_ns = 0;
        return 0;
    }
    if (s.n == 0)
        return fail_duration(text, "invalid duration", STR_NONE, err);
    while (s.n > 0) {
        int r = read_term(text, &s, &sum, err);

        if (r < 0)
            return r;
    }
    if (!negative && sum == DURATION_TOP)
        return fail_duration(text, "invalid duration", STR_NONE, err);
    *ret_ns = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 0;
}

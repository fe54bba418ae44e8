/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

static const struct clock_fake *fake_source;

void clock_set_fake(const struct clock_fake *fake)
{
    fake_source = fake;
}

struct wall_time clock_wall(void)
{
    struct timespec t;

    if (fake_source)
        return fake_source->wall;
    clock_gettime(CLOCK_REALTIME, &t);
    return (struct wall_time){ t.tv_sec, (int32_t)t.tv_nsec };
}

int64_t clock_mono_ns(void)
{
    struct timespec t;

    if (fake_source)
        return fake_source->mono_ns;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000;
}

/* Howard Hinnant, "chrono-compatible low-level date algorithms": eras of 400 years, years from March. */
int64_t clock_days_from_civil(int64_t y, int m, int d)
{
    int64_t era, yoe, doy, doe;

    y -= m <= 2;
    era = (y >= 0 ? y : y - 399) / 400;
    yoe = y - era * 400;
    doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

void clock_civil_from_days(int64_t z, int64_t *year, int *month, int *day)
{
    int64_t era, doe, yoe, doy, mp;

    z += 719468;
    era = (z >= 0 ? z : z - 146096) / 146097;
    doe = z - era * 146097;
    yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    mp = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

static void add_seconds(struct wall_time t, struct buf *out)
{
    int64_t days = t.s / 86400, left = t.s % 86400, y;
    int m, d;

    if (left < 0) {
        left += 86400;
        days--;
    }
    clock_civil_from_days(days, &y, &m, &d);
    buf_addf(out, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)y, m, d, (int)(left / 3600),
             (int)(left / 60 % 60), (int)(left % 60));
}

void clock_format_rfc3339(struct wall_time t, struct buf *out)
{
    add_seconds(t, out);
    buf_addc(out, 'Z');
}

void clock_format_rfc3339_micro(struct wall_time t, struct buf *out)
{
    add_seconds(t, out);
    buf_addf(out, ".%06dZ", (int)(t.ns / 1000));
}

void clock_format_rfc3339_nano(struct wall_time t, struct buf *out)
{
    add_seconds(t, out);
    if (t.ns > 0) {
        buf_addf(out, ".%09d", (int)t.ns);
        while (out->n > 0 && out->p[out->n - 1] == '0')
            buf_truncate(out, out->n - 1);
    }
    buf_addc(out, 'Z');
}

static bool digits(struct str s, size_t at, size_t n, int *ret)
{
    int v = 0;

    if (at + n > s.n)
        return false;
    for (size_t i = at; i < at + n; i++) {
        if (!ascii_is_digit(s.p[i]))
            return false;
        v = v * 10 + (s.p[i] - '0');
    }
    *ret = v;
    return true;
}

static int days_in(int64_t y, int m)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if (m == 2 && ((y % 4 == 0 && y % 100 != 0) || y % 400 == 0))
        return 29;
    return days[m - 1];
}

static bool parse_offset(struct str s, int *ret_s)
{
    int h, m;

    if (str_eq(s, STR("Z")) || str_eq(s, STR("z"))) {
        *ret_s = 0;
        return true;
    }
    if (s.n != 6 || (s.p[0] != '+' && s.p[0] != '-') || s.p[3] != ':' || !digits(s, 1, 2, &h) ||
        !digits(s, 4, 2, &m) || h > 24 || m > 59)
        return false;
    *ret_s = (h * 3600 + m * 60) * (s.p[0] == '-' ? -1 : 1);
    return true;
}

bool clock_parse_rfc3339(struct str s, struct wall_time *ret)
{
    int y, mo, d, h, mi, se, offset;
    size_t at = 19, n = 0;
    int32_t ns = 0;

    if (s.n < 20 || s.p[4] != '-' || s.p[7] != '-' || (s.p[10] != 'T' && s.p[10] != 't') || s.p[13] != ':' ||
        s.p[16] != ':')
        return false;
    if (!digits(s, 0, 4, &y) || !digits(s, 5, 2, &mo) || !digits(s, 8, 2, &d) || !digits(s, 11, 2, &h) ||
        !digits(s, 14, 2, &mi) || !digits(s, 17, 2, &se))
        return false;
    if (mo < 1 || mo > 12 || d < 1 || d > days_in(y, mo) || h > 23 || mi > 59 || se > 59)
        return false;
    if (s.p[at] == '.') {
        for (at++; at < s.n && ascii_is_digit(s.p[at]); at++, n++)
            if (n < 9)
                ns = ns * 10 + (s.p[at] - '0');
        if (n == 0)
            return false;
        for (; n < 9; n++)
            ns *= 10;
    }
    if (!parse_offset(str_sub(s, at, s.n), &offset))
        return false;
    ret->s = clock_days_from_civil(y, mo, d) * 86400 + h * 3600 + mi * 60 + se - offset;
    ret->ns = ns;
    return true;
}

static bool unit_ns(struct str u, uint64_t *ret)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        { "ns", 1 },       { "us", 1000 },      { "\xc2\xb5s", 1000 }, { "\xce\xbcs", 1000 },
        { "ms", 1000000 }, { "s", 1000000000 }, { "m", 60000000000 },  { "h", 3600000000000 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (str_eq(u, str_from(units[i].name))) {
            *ret = units[i].ns;
            return true;
        }
    }
    return false;
}

/* One "12.5ms" off the front. Go: time/format.go ParseDuration, with its overflow rules. */
static bool take_piece(struct str *s, uint64_t *ret)
{
    uint64_t whole = 0, part = 0, unit;
    double scale = 1;
    size_t i = 0, start;
    bool any = false, full = false;

    for (; i < s->n && ascii_is_digit(s->p[i]); i++, any = true) {
        if (whole > (uint64_t)INT64_MAX / 10 + 1)
            return false;
        whole = whole * 10 + (uint64_t)(s->p[i] - '0');
        if (whole > (uint64_t)1 << 63)
            return false;
    }
    if (i < s->n && s->p[i] == '.') {
        for (i++; i < s->n && ascii_is_digit(s->p[i]); i++, any = true) {
            if (full || part > (uint64_t)INT64_MAX / 10) {
                full = true;
                continue;
            }
            part = part * 10 + (uint64_t)(s->p[i] - '0');
            scale *= 10;
        }
    }
    if (!any)
        return false;
    for (start = i; i < s->n && s->p[i] != '.' && !ascii_is_digit(s->p[i]);)
        i++;
    if (!unit_ns(str_sub(*s, start, i), &unit) || whole > ((uint64_t)1 << 63) / unit)
        return false;
    *ret = whole * unit + (part ? (uint64_t)((double)part * ((double)unit / scale)) : 0);
    *s = str_sub(*s, i, s->n);
    return *ret <= (uint64_t)1 << 63;
}

bool clock_parse_duration(struct str s, int64_t *ret_ns)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t sum = 0, piece;

    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    if (str_eq(s, STR("0"))) {
        *ret_ns = 0;
        return true;
    }
    if (s.n == 0)
        return false;
    while (s.n > 0) {
        if (!take_piece(&s, &piece))
            return false;
        sum += piece;
        if (sum > (uint64_t)1 << 63)
            return false;
    }
    if (!negative && sum > INT64_MAX)
        return false;
    *ret_ns = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* `v` in units of 10^-places seconds-like parts: "1.5", without trailing zeros. */
static void add_fraction(uint64_t whole, uint64_t part, int places, struct buf *out)
{
    buf_addf(out, "%llu", (unsigned long long)whole);
    if (part == 0)
        return;
    buf_addf(out, ".%0*llu", places, (unsigned long long)part);
    while (out->n > 0 && out->p[out->n - 1] == '0')
        buf_truncate(out, out->n - 1);
}

void clock_format_duration(int64_t ns, struct buf *out)
{
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, s;

    if (ns == 0) {
        buf_adds(out, "0s");
        return;
    }
    if (ns < 0)
        buf_addc(out, '-');
    if (u < 1000) {
        buf_addf(out, "%lluns", (unsigned long long)u);
    } else if (u < 1000000) {
        add_fraction(u / 1000, u % 1000, 3, out);
        buf_adds(out, "\xc2\xb5s");
    } else if (u < 1000000000) {
        add_fraction(u / 1000000, u % 1000000, 6, out);
        buf_adds(out, "ms");
    } else {
        s = u / 1000000000;
        if (s >= 3600)
            buf_addf(out, "%lluh", (unsigned long long)(s / 3600));
        if (s >= 60)
            buf_addf(out, "%llum", (unsigned long long)(s / 60 % 60));
        add_fraction(s % 60, u % 1000000000, 9, out);
        buf_addc(out, 's');
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "template/tzrule.h"

#include "base/clock.h"

#define HOUR 3600
#define DAY 86400

struct rule {
    enum { RULE_JULIAN, RULE_DAY_OF_YEAR, RULE_MONTH_WEEK_DAY } kind;
    int day, week, month;
    int time_s;
};

struct span { /* a name and its offset */
    struct str name;
    int offset_s;
    bool dst;
};

static char front(struct str s)
{
    return s.n > 0 ? s.p[0] : '\0';
}

static void skip(struct str *s, size_t n)
{
    *s = str_sub(*s, n, s->n);
}

static bool read_number(struct str *s, int low, int high, int *ret)
{
    int n = 0;
    size_t i = 0;

    for (; i < s->n && ascii_is_digit(s->p[i]); i++) {
        n = n * 10 + s->p[i] - '0';
        if (n > high)
            return false;
    }
    if (i == 0 || n < low)
        return false;
    skip(s, i);
    *ret = n;
    return true;
}

static bool read_name(struct str *s, struct str *ret)
{
    size_t n = 0;

    if (front(*s) == '<') {
        n = str_find_char(*s, '>');
        if (n == STR_NPOS)
            return false;
        *ret = str_sub(*s, 1, n);
        skip(s, n + 1);
        return true;
    }
    while (n < s->n && !ascii_is_digit(s->p[n]) && s->p[n] != ',' && s->p[n] != '-' && s->p[n] != '+')
        n++;
    if (n < 3)
        return false;
    *ret = str_sub(*s, 0, n);
    skip(s, n);
    return true;
}

/* [+-]hh[:mm[:ss]] in seconds */
static bool read_offset(struct str *s, int *ret)
{
    static const int highest[] = { 24 * 7, 59, 59 };
    static const int units[] = { HOUR, 60, 1 };
    bool negative = front(*s) == '-';
    int total = 0;

    if (negative || front(*s) == '+')
        skip(s, 1);
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        int n;

        if (i > 0 && front(*s) != ':')
            break;
        if (i > 0)
            skip(s, 1);
        if (!read_number(s, 0, highest[i], &n))
            return false;
        total += n * units[i];
    }
    *ret = negative ? -total : total;
    return true;
}

static bool read_dot_number(struct str *s, int low, int high, int *ret)
{
    if (front(*s) != '.')
        return false;
    skip(s, 1);
    return read_number(s, low, high, ret);
}

static bool read_rule(struct str *s, struct rule *ret)
{
    *ret = (struct rule){ .kind = RULE_DAY_OF_YEAR, .time_s = 2 * HOUR };
    if (front(*s) == 'J') {
        skip(s, 1);
        ret->kind = RULE_JULIAN;
        if (!read_number(s, 1, 365, &ret->day))
            return false;
    } else if (front(*s) == 'M') {
        skip(s, 1);
        ret->kind = RULE_MONTH_WEEK_DAY;
        if (!read_number(s, 1, 12, &ret->month) || !read_dot_number(s, 1, 5, &ret->week) ||
            !read_dot_number(s, 0, 6, &ret->day))
            return false;
    } else if (!read_number(s, 0, 365, &ret->day)) {
        return false;
    }
    if (front(*s) != '/')
        return true;
    skip(s, 1);
    return read_offset(s, &ret->time_s);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Seconds from the start of the year until the rule's moment. */
static int64_t rule_seconds(struct rule rule, int64_t year, int offset_s)
{
    int64_t new_year = clock_days_from_civil(year, 1, 1), first, next, day;

    if (rule.kind == RULE_JULIAN)
        day = rule.day - 1 + (is_leap(year) && rule.day >= 60);
    else if (rule.kind == RULE_DAY_OF_YEAR)
        day = rule.day;
    else {
        first = clock_days_from_civil(year, rule.month, 1);
        next = rule.month == 12 ? clock_days_from_civil(year + 1, 1, 1)
                                : clock_days_from_civil(year, rule.month + 1, 1);
        day = first + ((rule.day - (first + 4)) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
        for (int week = 1; week < rule.week && day + 7 < next; week++)
            day += 7;
        day -= new_year;
    }
    return day * DAY + rule.time_s - offset_s;
}

static bool read_spans(struct str *s, struct span *std, struct span *dst)
{
    int offset;

    if (!read_name(s, &std->name) || !read_offset(s, &offset))
        return false;
    std->offset_s = -offset;
    if (s->n == 0 || front(*s) == ',')
        return true;
    if (!read_name(s, &dst->name))
        return false;
    dst->offset_s = std->offset_s + HOUR;
    if (s->n > 0 && front(*s) != ',') {
        if (!read_offset(s, &offset))
            return false;
        dst->offset_s = -offset;
    }
    return true;
}

static bool read_rules(struct str s, struct rule *start, struct rule *end)
{
    if (s.n == 0)
        s = STR(",M3.2.0,M11.1.0");
    if (front(s) != ',' && front(s) != ';')
        return false;
    skip(&s, 1);
    if (!read_rule(&s, start) || front(s) != ',')
        return false;
    skip(&s, 1);
    return read_rule(&s, end) && s.n == 0;
}

static struct gozone_at between(struct span span, int64_t start, int64_t end)
{
    return (struct gozone_at){ span.name, span.offset_s, start, end, span.dst };
}

/* At the ends of int64 it goes round, as in Go. */
static int64_t plus(int64_t a, uint64_t b)
{
    return (int64_t)((uint64_t)a + b);
}

void tzrule_apply(struct str rule, int64_t unix_s, struct gozone_at *at)
{
    struct span std = { 0 }, dst = { .dst = true };
    struct rule start_rule, end_rule;
    int64_t year, year_start, start, end, in_year, days = unix_s / DAY - (unix_s % DAY < 0);
    int month, day;

    if (!read_spans(&rule, &std, &dst))
        return;
    if (dst.name.n == 0) {
        *at = between(std, at->start, INT64_MAX);
        return;
    }
    if (!read_rules(rule, &start_rule, &end_rule))
        return;
    clock_civil_from_days(days, &year, &month, &day);
    year_start = plus(0, (uint64_t)clock_days_from_civil(year, 1, 1) * DAY);
    in_year = plus(unix_s, 0 - (uint64_t)year_start);
    start = rule_seconds(start_rule, year, std.offset_s);
    end = rule_seconds(end_rule, year, dst.offset_s);
    if (end < start) { /* south of the equator summer is what stands between the ends of a year */
        struct span swap = std;
        int64_t moment = start;

        std = dst;
        dst = swap;
        start = end;
        end = moment;
    }
    if (in_year < start)
        *at = between(std, year_start, plus(year_start, start));
    else if (in_year >= end)
        *at = between(std, plus(year_start, end), plus(year_start, 365 * DAY));
    else
        *at = between(dst, plus(year_start, start), plus(year_start, end));
}

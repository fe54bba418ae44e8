/* SPDX-License-Identifier: Apache-2.0 */
/* What plain scalars mean: go.yaml.in/yaml/v2 resolve.go. */
#include <math.h>

#include "base/number.h"
#include "yaml/yaml_int.h"

/* What the first byte hints at: number or time, word of the table below, float, nothing. */
static const char hints[256] = {
    ['+'] = 'D', ['-'] = 'D', ['0'] = 'D', ['1'] = 'D', ['2'] = 'D', ['3'] = 'D', ['4'] = 'D', ['5'] = 'D',
    ['6'] = 'D', ['7'] = 'D', ['8'] = 'D', ['9'] = 'D', ['y'] = 'M', ['Y'] = 'M', ['n'] = 'M', ['N'] = 'M',
    ['t'] = 'M', ['T'] = 'M', ['f'] = 'M', ['F'] = 'M', ['o'] = 'M', ['O'] = 'M', ['~'] = 'M', ['.'] = '.',
};

static const struct {
    struct str word; /* also capitalised and in capitals */
    enum yml_tag tag;
    double number; /* and truth */
} words[] = {
    { { "y", 1 }, YML_BOOL, 1 },
    { { "yes", 3 }, YML_BOOL, 1 },
    { { "true", 4 }, YML_BOOL, 1 },
    { { "on", 2 }, YML_BOOL, 1 },
    { { "n", 1 }, YML_BOOL, 0 },
    { { "no", 2 }, YML_BOOL, 0 },
    { { "false", 5 }, YML_BOOL, 0 },
    { { "off", 3 }, YML_BOOL, 0 },
    { { "~", 1 }, YML_NULL, 0 },
    { { "null", 4 }, YML_NULL, 0 },
    { { ".inf", 4 }, YML_FLOAT, INFINITY },
    { { "+.inf", 5 }, YML_FLOAT, INFINITY },
    { { "-.inf", 5 }, YML_FLOAT, -INFINITY },
};

/* "yes", "Yes", "YES", not "yEs". The first letter of ".inf" is its second byte. */
static bool same_word(struct str s, struct str word)
{
    size_t first = 0;
    bool capitals = true, lower = true;

    if (s.n != word.n || !str_ieq(s, word))
        return false;
    while (first < s.n && !ascii_is_alpha(s.p[first]))
        first++;
    for (size_t i = first + 1; i < s.n; i++) {
        capitals = capitals && s.p[i] == ascii_upper(s.p[i]);
        lower = lower && s.p[i] == word.p[i];
    }
    return lower || (capitals && s.p[first] != word.p[first]);
}

static bool find_word(struct str s, enum yml_tag *tag, struct value *ret)
{
    if (s.n > 5)
        return false;
    if (str_eq(s, STR(".nan")) || str_eq(s, STR(".NaN")) || str_eq(s, STR(".NAN"))) {
        *tag = YML_FLOAT;
        *ret = value_from_float(NAN);
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (s.n != words[i].word.n || ascii_lower(s.p[0]) != words[i].word.p[0] ||
            !same_word(s, words[i].word))
            continue;
        *tag = words[i].tag;
        *ret = *tag == YML_BOOL   ? value_from_bool(words[i].number != 0)
               : *tag == YML_NULL ? VALUE_NONE
                                  : value_from_float(words[i].number);
        return true;
    }
    return false;
}

/* ---- timestamps: Go's time.Parse with the layouts of go-yaml ---- */

/* One or two digits. */
static bool take_number(struct str *s, int *ret)
{
    size_t n = 0;

    if (s->n == 0 || !ascii_is_digit(s->p[0]))
        return false;
    for (*ret = 0; n < 2 && n < s->n && ascii_is_digit(s->p[n]); n++)
        *ret = *ret * 10 + (s->p[n] - '0');
    *s = str_sub(*s, n, s->n);
    return true;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_sub(*s, 1, s->n);
    return true;
}

static void skip_fraction(struct str *s)
{
    size_t n = 1;

    if (s->n < 2 || (s->p[0] != '.' && s->p[0] != ',') || !ascii_is_digit(s->p[1]))
        return;
    while (n < s->n && ascii_is_digit(s->p[n]))
        n++;
    *s = str_sub(*s, n, s->n);
}

static bool take_zone(struct str *s)
{
    int hours, minutes;

    if (take_char(s, 'Z'))
        return true;
    if (s->n < 6 || (s->p[0] != '+' && s->p[0] != '-') || s->p[3] != ':')
        return false;
    for (int i = 1; i < 6; i++)
        if (i != 3 && !ascii_is_digit(s->p[i]))
            return false;
    hours = (s->p[1] - '0') * 10 + s->p[2] - '0';
    minutes = (s->p[4] - '0') * 10 + s->p[5] - '0';
    *s = str_sub(*s, 6, s->n);
    return hours <= 24 && minutes <= 60;
}

static int days_in(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

static bool is_timestamp(struct str s)
{
    int year = 0, month, day, hour, minute, second;
    char separator;

    if (s.n < 8 || s.p[4] != '-')
        return false;
    for (int i = 0; i < 4; i++) {
        if (!ascii_is_digit(s.p[i]))
            return false;
        year = year * 10 + (s.p[i] - '0');
    }
    s = str_sub(s, 5, s.n);
    if (!take_number(&s, &month) || !take_char(&s, '-') || !take_number(&s, &day) || month < 1 ||
        month > 12 || day < 1 || day > days_in(year, month))
        return false;
    if (s.n == 0)
        return true;
    separator = s.p[0];
    if (separator != 'T' && separator != 't' && separator != ' ')
        return false;
    s = str_sub(s, 1, s.n);
    while (separator == ' ' && take_char(&s, ' '))
        ;
    if (!take_number(&s, &hour) || !take_char(&s, ':') || !take_number(&s, &minute) || !take_char(&s, ':') ||
        !take_number(&s, &second) || hour > 23 || minute > 59 || second > 59)
        return false;
    skip_fraction(&s);
    return (separator == ' ' || take_zone(&s)) && s.n == 0;
}

/* ---- numbers ---- */

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(struct str s)
{
    size_t i = 0, before, after;

    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    for (before = i; i < s.n && ascii_is_digit(s.p[i]); i++)
        ;
    before = i - before;
    if (i < s.n && s.p[i] == '.') {
        for (after = ++i; i < s.n && ascii_is_digit(s.p[i]); i++)
            ;
        after = i - after;
        if (before == 0 && after == 0)
            return false;
    } else if (before == 0) {
        return false;
    }
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        if (i == s.n)
            return false;
        while (i < s.n && ascii_is_digit(s.p[i]))
            i++;
    }
    return i == s.n;
}

static bool parse_integer(struct str s, int base, struct value *ret)
{
    int64_t i;
    uint64_t u;
    enum number_result r = number_parse_int(s, base, 64, &i);

    if (r == NUMBER_OK)
        *ret = value_from_int(i);
    if (r != NUMBER_RANGE) /* else it has the right shape */
        return r == NUMBER_OK;
    if (number_parse_uint(s, base, 64, &u) != NUMBER_OK)
        return false;
    *ret = value_from_uint(u);
    return true;
}

/* "0b" with a sign behind it is what is left here, as in go-yaml. */
static bool parse_odd_binary(struct str s, struct value *ret)
{
    char text[80] = "-";

    if (str_has_prefix(s, STR("0b")))
        return parse_integer(str_sub(s, 2, s.n), 2, ret);
    if (!str_has_prefix(s, STR("-0b")) || s.n >= sizeof(text))
        return false;
    memcpy(text + 1, s.p + 3, s.n - 3);
    return number_parse_int((struct str){ text, s.n - 2 }, 2, 64, &ret->i) == NUMBER_OK &&
           (*ret = value_from_int(ret->i), true);
}

static bool parse_float(struct str s, struct value *ret)
{
    bool range = false;
    double f;

    if (!number_parse_float(s, 64, &f, &range) || range)
        return false;
    *ret = value_from_float(f);
    return true;
}

static enum yml_tag resolve_number(struct str text, struct value *ret)
{
    char plain[512];
    struct str s = text;
    int64_t small;

    if (memchr(text.p, '_', text.n)) {
        s = (struct str){ plain, 0 };
        for (size_t i = 0; i < text.n; i++) {
            if (s.n == sizeof(plain))
                return YML_STR;
            if (text.p[i] != '_')
                plain[s.n++] = text.p[i];
        }
    }
    if (s.n > 1 && s.n < 18 && s.p[s.p[0] == '-' || s.p[0] == '+'] > '0' && str_to_int64(s, &small)) {
        *ret = value_from_int(small);
        return YML_INT;
    }
    if (parse_integer(s, 0, ret))
        return YML_INT;
    if (is_float(s) && parse_float(s, ret))
        return YML_FLOAT;
    return parse_odd_binary(s, ret) ? YML_INT : YML_STR;
}

/* What no number has but behind an x, and no time has: most digests are told by their first letters, versions by their second dot. */
static bool is_no_number(struct str s)
{
    static const bool strange[256] = {
        ['a'] = true, ['c'] = true, ['d'] = true, ['f' ... 'n'] = true, ['p' ... 's'] = true,
        ['u'] = true, ['v'] = true, ['w'] = true, ['y'] = true,         ['/'] = true,
    };
    size_t dots = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = ascii_lower(s.p[i]);

        if (c == 'x')
            return false;
        dots += c == '.';
        if (strange[(unsigned char)c] || dots == 2)
            return true;
    }
    return false;
}

enum yml_tag yml_resolve_tag(struct str text, bool timestamps, struct value *ret)
{
    char hint = text.n ? hints[(unsigned char)text.p[0]] : 'M';
    enum yml_tag tag = YML_STR;
    struct value v = value_from_str(text);

    *ret = v;
    if (text.n == 0) {
        *ret = VALUE_NONE;
        return YML_NULL;
    }
    if (hint == 0)
        return YML_STR;
    if (find_word(text, &tag, ret))
        return tag;
    if (hint == '.')
        return parse_float(text, ret) ? YML_FLOAT : YML_STR;
    if (hint != 'D' || is_no_number(text))
        return YML_STR;
    if (timestamps && is_timestamp(text))
        return YML_TIMESTAMP;
    tag = resolve_number(text, &v);
    if (tag != YML_STR)
        *ret = v;
    return tag;
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
static bool is_base60(struct str s)
{
    size_t i = 0, groups = 0;

    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    if (i == s.n || !ascii_is_digit(s.p[i]))
        return false;
    while (i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '_'))
        i++;
    for (; i + 1 < s.n && s.p[i] == ':' && ascii_is_digit(s.p[i + 1]); groups++) {
        bool two = i + 2 < s.n && s.p[i + 1] <= '5' && ascii_is_digit(s.p[i + 2]);

        i += two ? 3 : 2;
    }
    if (groups > 0 && i < s.n && s.p[i] == '.')
        for (i++; i < s.n && (ascii_is_digit(s.p[i]) || s.p[i] == '_');)
            i++;
    return groups > 0 && i == s.n;
}

bool yml_reads_as_string(struct str text)
{
    char hint = text.n ? hints[(unsigned char)text.p[0]] : 'M';
    struct value v;

    if (hint == 0)
        return true;
    return yml_resolve_tag(text, true, &v) == YML_STR && !(hint == 'D' && is_base60(text));
}

struct value yml_number(struct value v, bool floats)
{
    if (floats) {
        if (v.kind == VALUE_INT)
            return value_from_float((double)v.i);
        if (v.kind == VALUE_UINT)
            return value_from_float((double)v.u);
        return v;
    }
    if (v.kind != VALUE_FLOAT || v.f != trunc(v.f))
        return v;
    if (v.f >= -0x1p63 && v.f < 0x1p63)
        return value_from_int((int64_t)v.f);
    return v.f >= 0 && v.f < 0x1p64 ? value_from_uint((uint64_t)v.f) : v;
}

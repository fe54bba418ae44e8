/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/utf8.h"
#include "toml/toml_int.h"

/* ---- dates and times ---- */

struct moment {
    int year, month, day, hour, minute, second, nanos, offset; /* offset in minutes */
    enum value_type type;
};

/* Exactly two (or four) digits at *at. */
static bool take_digits(struct str s, size_t *at, int n, int *ret)
{
    *ret = 0;
    for (int i = 0; i < n; i++, ++*at) {
        if (*at >= s.n || !ascii_is_digit(s.p[*at]))
            return false;
        *ret = *ret * 10 + (s.p[*at] - '0');
    }
    return true;
}

static bool take_char(struct str s, size_t *at, char c)
{
    if (*at >= s.n || s.p[*at] != c)
        return false;
    ++*at;
    return true;
}

static bool take_fraction(struct str s, size_t *at, int *nanos)
{
    int scale = 100000000;
    size_t from;

    if (!take_char(s, at, '.'))
        return true;
    for (from = *at; *at < s.n && ascii_is_digit(s.p[*at]); ++*at, scale /= 10)
        *nanos += (s.p[*at] - '0') * scale;
    return *at > from;
}

static bool take_time(struct str s, size_t *at, struct moment *m)
{
    if (!take_digits(s, at, 2, &m->hour) || !take_char(s, at, ':') || !take_digits(s, at, 2, &m->minute))
        return false;
    if (take_char(s, at, ':') && (!take_digits(s, at, 2, &m->second) || !take_fraction(s, at, &m->nanos)))
        return false;
    return m->hour < 24 && m->minute < 60 && m->second < 60;
}

static bool take_zone(struct str s, size_t *at, struct moment *m)
{
    int hours, minutes;
    bool negative;

    m->type = *at == s.n ? VALUE_TYPE_LOCAL_DATE_TIME : VALUE_TYPE_DATE_TIME;
    if (*at == s.n || take_char(s, at, 'Z'))
        return true;
    negative = s.p[*at] == '-';
    if (!take_char(s, at, negative ? '-' : '+') || !take_digits(s, at, 2, &hours) || !take_char(s, at, ':') ||
        !take_digits(s, at, 2, &minutes) || hours > 24 || minutes > 60)
        return false;
    m->offset = (hours * 60 + minutes) * (negative ? -1 : 1);
    return true;
}

static bool is_date(const struct moment *m)
{
    int64_t year;
    int month, day;

    if (m->month < 1 || m->month > 12 || m->day < 1 || m->day > 31)
        return false;
    clock_civil_from_days(clock_days_from_civil(m->year, m->month, m->day), &year, &month, &day);
    return month == m->month && day == m->day;
}

static bool read_moment(struct str s, struct moment *m)
{
    size_t at = 0;

    m->type = s.n > 2 && s.p[2] == ':' ? VALUE_TYPE_LOCAL_TIME : VALUE_TYPE_LOCAL_DATE;
    if (m->type == VALUE_TYPE_LOCAL_TIME)
        return take_time(s, &at, m) && at == s.n;
    if (!take_digits(s, &at, 4, &m->year) || !take_char(s, &at, '-') || !take_digits(s, &at, 2, &m->month) ||
        !take_char(s, &at, '-') || !take_digits(s, &at, 2, &m->day) || !is_date(m))
        return false;
    if (at == s.n)
        return true;
    return take_char(s, &at, 'T') && take_time(s, &at, m) && take_zone(s, &at, m) && at == s.n;
}

static bool toml_read_datetime(struct arena *a, struct str text, struct value *ret)
{
    struct moment m = { .month = 1, .day = 1 };
    char fraction[16] = "", zone[16] = "Z";
    char *p = arena_alloc_bytes(a, text.n);
    size_t n;

    for (size_t i = 0; i < text.n; i++) {
        char c = ascii_upper(text.p[i]);

        p[i] = c == ' ' ? 'T' : c;
    }
    if (!read_moment((struct str){ p, text.n }, &m))
        return false;
    if (m.nanos > 0) {
        n = (size_t)snprintf(fraction, sizeof(fraction), ".%09d", m.nanos);
        while (fraction[n - 1] == '0')
            fraction[--n] = '\0';
    }
    if (m.offset != 0)
        snprintf(zone, sizeof(zone), "%c%02d:%02d", m.offset < 0 ? '-' : '+', abs(m.offset) / 60 % 100,
                 abs(m.offset) % 60);
    *ret = value_from_str(arena_printf(a, "%04d-%02d-%02dT%02d:%02d:%02d%s%s", m.year, m.month, m.day, m.hour,
                                       m.minute, m.second, fraction, zone));
    ret->type = (uint8_t)m.type;
    return true;
}

/* ---- numbers ---- */

static bool is_hex(char c)
{
    return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

/* Underscores stand between digits, hexadecimal ones at most. */
static bool underscores_ok(struct str s)
{
    bool accept = false;

    if (s.n >= 3 && (str_has_suffix(s, STR("nan")) || str_has_suffix(s, STR("inf"))))
        return true;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '_' && !accept)
            return false;
        accept = is_hex(s.p[i]);
    }
    return accept;
}

static bool has_leading_zero(struct str s)
{
    if (s.n > 1 && s.p[0] == '0' && !ascii_is_one_of(s.p[1], "box"))
        return true;
    return s.n > 2 && (s.p[0] == '-' || s.p[0] == '+') && s.p[1] == '0';
}

static bool periods_ok(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '.' && (i + 1 == s.n || !ascii_is_digit(s.p[i + 1])))
            return false;
    return true;
}

static int fail_number(struct toml_parser *p, const char *kind, struct str s, const char *why)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);

    utf8_quote(s, &b);
    return toml_fail_at(p, p->line, "Invalid %s%s%s", kind, buf_z(&b), why);
}

static NODISCARD int make_integer(struct toml_parser *p, struct str s, struct value *ret)
{
    int64_t i;

    if (!underscores_ok(s))
        return fail_number(p, "integer ", s, ": underscores must be surrounded by digits");
    if (has_leading_zero(s))
        return fail_number(p, "integer ", s, ": cannot have leading zeroes");
    if (number_parse_int(s, 0, 64, &i) != NUMBER_OK)
        return toml_fail_at(p, p->line, STR_FMT " is out of range for int64", STR_ARG(s));
    *ret = value_from_int(i);
    return 0;
}

/* The parts between points and exponents are looked at one by one. */
static bool float_underscores_ok(struct str s)
{
    size_t from = 0;

    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && s.p[i] != '.' && ascii_lower(s.p[i]) != 'e')
            continue;
        if (i > from && !underscores_ok(str_sub(s, from, i)))
            return false;
        from = i + 1;
    }
    return true;
}

static NODISCARD int make_float(struct toml_parser *p, struct str s, struct value *ret)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(s.n + 1);
    size_t first = 0;
    bool range = false;
    double f;

    while (first < s.n && s.p[first] != '.' && ascii_lower(s.p[first]) != 'e')
        first++;
    if (!float_underscores_ok(s))
        return fail_number(p, "float ", s, ": underscores must be surrounded by digits");
    if (has_leading_zero(str_sub(s, 0, first)))
        return fail_number(p, "float ", s, ": cannot have leading zeroes");
    if (!periods_ok(s))
        return fail_number(p, "float ", s, ": '.' must be followed by one or more digits");
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_')
            buf_addc(&plain, s.p[i]);
    if (str_has_suffix(s, STR("nan"))) {
        *ret = value_from_float(s.p[0] == '-' ? -NAN : NAN);
        return 0;
    }
    if (!number_parse_float(buf_str(&plain), 64, &f, &range))
        return fail_number(p, "float value: ", s, "");
    if (range)
        return toml_fail_at(p, p->line, STR_FMT " is out of range for float64", STR_ARG(s));
    *ret = value_from_float(f);
    return 0;
}

/* ---- which one it is ---- */

/* Reads on while the characters are digits or in `more`. */
static NODISCARD int read_while(struct toml_parser *p, const char *more, bool hex)
{
    uint32_t c;
    int r;

    do {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
    } while (!p->at_eof && c < 0x80 &&
             ((hex ? is_hex((char)c) : ascii_is_digit((char)c)) || ascii_is_one_of((char)c, more)));
    toml_back(p);
    return 0;
}

static NODISCARD int read_float(struct toml_parser *p, size_t start, struct value *ret)
{
    int r = read_while(p, "_.-+eE", false);

    return r < 0 ? r : make_float(p, str_sub(p->text, start, p->pos), ret);
}

static NODISCARD int read_date(struct toml_parser *p, size_t start, struct value *ret)
{
    struct str text;
    int r = read_while(p, "-:Tt .Zz+", false);

    if (r < 0)
        return r;
    text = str_trim(str_sub(p->text, start, p->pos));
    if (toml_read_datetime(p->arena, text, ret))
        return 0;
    CLEANUP(buf_done) struct buf upper = BUF_INIT(text.n + 1);
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(KIB);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        buf_addc(&upper, c == ' ' || c == 't' ? 'T' : c == 'z' ? 'Z' : c);
    }
    utf8_quote(buf_str(&upper), &quoted);
    return toml_fail_at(p, p->line, "invalid datetime: %s", buf_z(&quoted));
}

/* 0b, 0o, 0x: the letter was just read. */
static NODISCARD int read_based(struct toml_parser *p, size_t start, uint32_t base, struct value *ret)
{
    static const struct {
        char letter;
        const char *digits, *name;
    } bases[] = { { 'b', "01", "a binary" }, { 'o', "01234567", "an octal" }, { 'x', "", "a hexadecimal" } };
    size_t i = 0;
    uint32_t c;
    int r;

    while (bases[i].letter != (char)base)
        i++;
    r = toml_peek(p, &c);
    if (r < 0)
        return r;
    if (c >= 0x80 || !(base == 'x' ? is_hex((char)c) : ascii_is_one_of((char)c, bases[i].digits))) {
        CLEANUP(buf_done) struct buf rune = BUF_INIT(8);

        buf_add_rune(&rune, c);
        return toml_fail(p, "not %s number: '0%c" STR_FMT "'", bases[i].name, (int)base,
                         STR_ARG(buf_str(&rune)));
    }
    do {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
    } while (c < 0x80 &&
             (c == '_' || (base == 'x' ? is_hex((char)c) : ascii_is_one_of((char)c, bases[i].digits))));
    toml_back(p);
    return make_integer(p, str_sub(p->text, start, p->pos), ret);
}

/* A digit was just read; after an underscore or a sign it is no date. */
static NODISCARD int read_number(struct toml_parser *p, size_t start, bool date, struct value *ret)
{
    uint32_t c;
    int r;

    for (;;) {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
        if (c == '_')
            date = false;
        else if (!(c >= '0' && c <= '9'))
            break;
    }
    if (c == '.' || c == 'e' || c == 'E')
        return read_float(p, start, ret);
    /* a single 0 begins neither a date nor a time */
    if (date && (c == '-' || c == ':') && (p->text.p[start] != '0' || p->pos - start > 2))
        return read_date(p, start, ret);
    toml_back(p);
    return make_integer(p, str_sub(p->text, start, p->pos), ret);
}

static NODISCARD int read_signed(struct toml_parser *p, size_t start, struct value *ret)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64);
    uint32_t c, next;
    int r = toml_next(p, &c);

    if (r < 0)
        return r;
    if (c == 'i' || c == 'n') {
        const char *word = c == 'i' ? "inf" : "nan";

        for (int i = 1; i < 3; i++) {
            r = toml_next(p, &next);
            if (r < 0)
                return r;
            if (next == (unsigned char)word[i])
                continue;
            toml_back(p);
            return toml_fail(p, "invalid float: '" STR_FMT "'", STR_ARG(str_sub(p->text, start, p->pos)));
        }
        return make_float(p, str_sub(p->text, start, p->pos), ret);
    }
    if (c == '.')
        return toml_fail(p, "floats must start with a digit, not '.'");
    if (c >= '0' && c <= '9') {
        r = toml_peek(p, &next);
        if (r < 0)
            return r;
        p->previous = p->pos;
        if (c == '0' && (next == 'b' || next == 'o' || next == 'x'))
            return toml_fail(p, "cannot use sign with non-decimal numbers: '" STR_FMT "%c'",
                             STR_ARG(str_sub(p->text, start, p->pos)), (int)next);
        return read_number(p, start, false, ret);
    }
    toml_quote_rune(c, &quoted);
    return toml_fail(p, "expected a digit but got %s", buf_z(&quoted));
}

static bool is_letter(uint32_t c)
{
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);

    return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

static NODISCARD int read_word(struct toml_parser *p, size_t start, struct value *ret)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(KIB);
    struct str rest = str_sub(p->text, start, p->text.n), word;
    uint32_t c;
    int r;

    if (str_has_prefix(rest, STR("inf")) || str_has_prefix(rest, STR("nan"))) {
        p->pos = start + 3;
        return make_float(p, str_sub(rest, 0, 3), ret);
    }
    /* upstream tries "inf" and "nan" first and then forgets to go back over a second letter that fits */
    if (rest.n > 1 && ascii_is_one_of(rest.p[0], "in") && ascii_is_one_of(rest.p[1], "na"))
        start++;
    do {
        r = toml_next(p, &c);
        if (r < 0)
            return r;
    } while (!p->at_eof && is_letter(c));
    toml_back(p);
    word = str_sub(p->text, start, p->pos);
    if (str_eq(word, STR("true")) || str_eq(word, STR("false"))) {
        *ret = value_from_bool(word.p[0] == 't');
        return 0;
    }
    utf8_quote(word, &quoted);
    return toml_fail(p, "expected value but found %s instead", buf_z(&quoted));
}

int toml_read_scalar(struct toml_parser *p, uint32_t first, struct value *ret)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64);
    size_t start = p->previous;
    uint32_t next;
    int r;

    if (p->at_eof)
        return toml_fail(p, "unexpected EOF; expected value");
    if (first == '0') {
        r = toml_next(p, &next);
        if (r < 0)
            return r;
        if (next == 'b' || next == 'o' || next == 'x')
            return read_based(p, start, next, ret);
        toml_back(p);
    }
    if (first >= '0' && first <= '9')
        return read_number(p, start, true, ret);
    if (first == '-' || first == '+')
        return read_signed(p, start, ret);
    if (first == '.')
        return toml_fail(p, "floats must start with a digit, not '.'");
    if (is_letter(first))
        return read_word(p, start, ret);
    toml_quote_rune(first, &quoted);
    if (first == '\n')
        return toml_fail_previous(p, "expected value but found %s instead", buf_z(&quoted));
    return toml_fail(p, "expected value but found %s instead", buf_z(&quoted));
}

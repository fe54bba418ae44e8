/* SPDX-License-Identifier: Apache-2.0 */
#include "template/unicode.h"

#include <utf8proc.h>

enum {
    LETTER = 1,
    DIGIT = 2,
    NUMBER = 4,
    UPPER = 8,
    LOWER = 16,
    TITLE = 32,
    PUNCT = 64,
    PRINT = 128,
};

static const uint8_t classes[] = {
    [UTF8PROC_CATEGORY_LU] = LETTER | UPPER | PRINT,
    [UTF8PROC_CATEGORY_LL] = LETTER | LOWER | PRINT,
    [UTF8PROC_CATEGORY_LT] = LETTER | TITLE | PRINT,
    [UTF8PROC_CATEGORY_LM] = LETTER | PRINT,
    [UTF8PROC_CATEGORY_LO] = LETTER | PRINT,
    [UTF8PROC_CATEGORY_MN] = PRINT,
    [UTF8PROC_CATEGORY_MC] = PRINT,
    [UTF8PROC_CATEGORY_ME] = PRINT,
    [UTF8PROC_CATEGORY_ND] = DIGIT | NUMBER | PRINT,
    [UTF8PROC_CATEGORY_NL] = NUMBER | PRINT,
    [UTF8PROC_CATEGORY_NO] = NUMBER | PRINT,
    [UTF8PROC_CATEGORY_PC] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_PD] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_PS] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_PE] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_PI] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_PF] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_PO] = PUNCT | PRINT,
    [UTF8PROC_CATEGORY_SM] = PRINT,
    [UTF8PROC_CATEGORY_SC] = PRINT,
    [UTF8PROC_CATEGORY_SK] = PRINT,
    [UTF8PROC_CATEGORY_SO] = PRINT,
    [UTF8PROC_CATEGORY_CO] = 0,
};

static bool is(uint32_t r, unsigned class)
{
    return r <= 0x10FFFF && (classes[utf8proc_category((utf8proc_int32_t)r)] & class) != 0;
}

bool unicode_is_letter(uint32_t r)
{
    return is(r, LETTER);
}

bool unicode_is_digit(uint32_t r)
{
    return is(r, DIGIT);
}

bool unicode_is_number(uint32_t r)
{
    return is(r, NUMBER);
}

bool unicode_is_upper(uint32_t r)
{
    return is(r, UPPER);
}

bool unicode_is_lower(uint32_t r)
{
    return is(r, LOWER);
}

bool unicode_is_title(uint32_t r)
{
    return is(r, TITLE);
}

bool unicode_is_punct(uint32_t r)
{
    return is(r, PUNCT);
}

bool unicode_is_print(uint32_t r)
{
    return r == ' ' || is(r, PRINT);
}

bool unicode_is_space(uint32_t r)
{
    return (r >= '\t' && r <= '\r') || r == ' ' || r == 0x85 || r == 0xA0 || r == 0x1680 ||
           (r >= 0x2000 && r <= 0x200A) || r == 0x2028 || r == 0x2029 || r == 0x202F || r == 0x205F ||
           r == 0x3000;
}

/* utf8proc maps sharp s to U+1E9E; UnicodeData.txt, and with it Go, has no capital for it. */
#define SHARP_S 0xDF

uint32_t unicode_to_upper(uint32_t r)
{
    return r > 0x10FFFF || r == SHARP_S ? r : (uint32_t)utf8proc_toupper((utf8proc_int32_t)r);
}

uint32_t unicode_to_lower(uint32_t r)
{
    return r > 0x10FFFF ? r : (uint32_t)utf8proc_tolower((utf8proc_int32_t)r);
}

uint32_t unicode_to_title(uint32_t r)
{
    return r > 0x10FFFF || r == SHARP_S ? r : (uint32_t)utf8proc_totitle((utf8proc_int32_t)r);
}

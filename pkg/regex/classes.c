/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "regex/syntax_int.h"

#define NAME_MAX_ 64

/* What \p{...} may name in Go 1.26, without '_', '-' and ' ' and with one capital letter, and libre2's word for it.
 * Scripts of several words are missing there too. Sorted by the first column (a test checks it). */
static const struct {
    const char *go, *re2;
} classes[] = {
    { "Adlam", "Adlam" }, { "Ahom", "Ahom" }, { "Any", "Any" }, { "Arabic", "Arabic" },
    { "Armenian", "Armenian" }, { "Ascii", "Ascii" }, { "Assigned", "Assigned" }, { "Avestan", "Avestan" },
    { "Balinese", "Balinese" }, { "Bamum", "Bamum" }, { "Batak", "Batak" }, { "Bengali", "Bengali" },
    { "Bhaiksuki", "Bhaiksuki" }, { "Bopomofo", "Bopomofo" }, { "Brahmi", "Brahmi" },
    { "Braille", "Braille" }, { "Buginese", "Buginese" }, { "Buhid", "Buhid" }, { "C", "C" },
    { "Carian", "Carian" }, { "Casedletter", "LC" }, { "Cc", "Cc" }, { "Cf", "Cf" }, { "Chakma", "Chakma" },
    { "Cham", "Cham" }, { "Cherokee", "Cherokee" }, { "Chorasmian", "Chorasmian" },
    { "Closepunctuation", "Pe" }, { "Cn", "Cn" }, { "Cntrl", "Cc" }, { "Co", "Co" },
    { "Combiningmark", "M" }, { "Common", "Common" }, { "Connectorpunctuation", "Pc" }, { "Control", "Cc" },
    { "Coptic", "Coptic" }, { "Cs", "Cs" }, { "Cuneiform", "Cuneiform" }, { "Currencysymbol", "Sc" },
    { "Cypriot", "Cypriot" }, { "Cyrillic", "Cyrillic" }, { "Dashpunctuation", "Pd" },
    { "Decimalnumber", "Nd" }, { "Deseret", "Deseret" }, { "Devanagari", "Devanagari" }, { "Digit", "Nd" },
    { "Dogra", "Dogra" }, { "Duployan", "Duployan" }, { "Elbasan", "Elbasan" }, { "Elymaic", "Elymaic" },
    { "Enclosingmark", "Me" }, { "Ethiopic", "Ethiopic" }, { "Finalpunctuation", "Pf" }, { "Format", "Cf" },
    { "Georgian", "Georgian" }, { "Glagolitic", "Glagolitic" }, { "Gothic", "Gothic" },
    { "Grantha", "Grantha" }, { "Greek", "Greek" }, { "Gujarati", "Gujarati" }, { "Gurmukhi", "Gurmukhi" },
    { "Han", "Han" }, { "Hangul", "Hangul" }, { "Hanunoo", "Hanunoo" }, { "Hatran", "Hatran" },
    { "Hebrew", "Hebrew" }, { "Hiragana", "Hiragana" }, { "Inherited", "Inherited" },
    { "Initialpunctuation", "Pi" }, { "Javanese", "Javanese" }, { "Kaithi", "Kaithi" },
    { "Kannada", "Kannada" }, { "Katakana", "Katakana" }, { "Kawi", "Kawi" },
    { "Kharoshthi", "Kharoshthi" }, { "Khmer", "Khmer" }, { "Khojki", "Khojki" },
    { "Khudawadi", "Khudawadi" }, { "L", "L" }, { "Lao", "Lao" }, { "Latin", "Latin" }, { "Lc", "LC" },
    { "Lepcha", "Lepcha" }, { "Letter", "L" }, { "Letternumber", "Nl" }, { "Limbu", "Limbu" },
    { "Lineseparator", "Zl" }, { "Lisu", "Lisu" }, { "Ll", "Ll" }, { "Lm", "Lm" }, { "Lo", "Lo" },
    { "Lowercaseletter", "Ll" }, { "Lt", "Lt" }, { "Lu", "Lu" }, { "Lycian", "Lycian" },
    { "Lydian", "Lydian" }, { "M", "M" }, { "Mahajani", "Mahajani" }, { "Makasar", "Makasar" },
    { "Malayalam", "Malayalam" }, { "Mandaic", "Mandaic" }, { "Manichaean", "Manichaean" },
    { "Marchen", "Marchen" }, { "Mark", "M" }, { "Mathsymbol", "Sm" }, { "Mc", "Mc" }, { "Me", "Me" },
    { "Medefaidrin", "Medefaidrin" }, { "Miao", "Miao" }, { "Mn", "Mn" }, { "Modi", "Modi" },
    { "Modifierletter", "Lm" }, { "Modifiersymbol", "Sk" }, { "Mongolian", "Mongolian" }, { "Mro", "Mro" },
    { "Multani", "Multani" }, { "Myanmar", "Myanmar" }, { "N", "N" }, { "Nabataean", "Nabataean" },
    { "Nandinagari", "Nandinagari" }, { "Nd", "Nd" }, { "Newa", "Newa" }, { "Nko", "Nko" }, { "Nl", "Nl" },
    { "No", "No" }, { "Nonspacingmark", "Mn" }, { "Number", "N" }, { "Nushu", "Nushu" },
    { "Ogham", "Ogham" }, { "Openpunctuation", "Ps" }, { "Oriya", "Oriya" }, { "Osage", "Osage" },
    { "Osmanya", "Osmanya" }, { "Other", "C" }, { "Otherletter", "Lo" }, { "Othernumber", "No" },
    { "Otherpunctuation", "Po" }, { "Othersymbol", "So" }, { "P", "P" }, { "Palmyrene", "Palmyrene" },
    { "Paragraphseparator", "Zp" }, { "Pc", "Pc" }, { "Pd", "Pd" }, { "Pe", "Pe" }, { "Pf", "Pf" },
    { "Phoenician", "Phoenician" }, { "Pi", "Pi" }, { "Po", "Po" }, { "Privateuse", "Co" }, { "Ps", "Ps" },
    { "Punct", "P" }, { "Punctuation", "P" }, { "Rejang", "Rejang" }, { "Runic", "Runic" }, { "S", "S" },
    { "Samaritan", "Samaritan" }, { "Saurashtra", "Saurashtra" }, { "Sc", "Sc" }, { "Separator", "Z" },
    { "Sharada", "Sharada" }, { "Shavian", "Shavian" }, { "Siddham", "Siddham" }, { "Sinhala", "Sinhala" },
    { "Sk", "Sk" }, { "Sm", "Sm" }, { "So", "So" }, { "Sogdian", "Sogdian" }, { "Soyombo", "Soyombo" },
    { "Spaceseparator", "Zs" }, { "Spacingmark", "Mc" }, { "Sundanese", "Sundanese" },
    { "Surrogate", "Cs" }, { "Symbol", "S" }, { "Syriac", "Syriac" }, { "Tagalog", "Tagalog" },
    { "Tagbanwa", "Tagbanwa" }, { "Takri", "Takri" }, { "Tamil", "Tamil" }, { "Tangsa", "Tangsa" },
    { "Tangut", "Tangut" }, { "Telugu", "Telugu" }, { "Thaana", "Thaana" }, { "Thai", "Thai" },
    { "Tibetan", "Tibetan" }, { "Tifinagh", "Tifinagh" }, { "Tirhuta", "Tirhuta" },
    { "Titlecaseletter", "Lt" }, { "Toto", "Toto" }, { "Ugaritic", "Ugaritic" }, { "Unassigned", "Cn" },
    { "Uppercaseletter", "Lu" }, { "Vai", "Vai" }, { "Vithkuqi", "Vithkuqi" }, { "Wancho", "Wancho" },
    { "Yezidi", "Yezidi" }, { "Yi", "Yi" }, { "Z", "Z" }, { "Zl", "Zl" }, { "Zp", "Zp" }, { "Zs", "Zs" },
};

static int compare(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

const char *regex_class_name(struct str name)
{
    char canonical[NAME_MAX_];
    const char *const *row;
    size_t n = 0;

    for (size_t i = 0; i < name.n && n < sizeof(canonical) - 1; i++) {
        char c = name.p[i];

        if (c != '_' && c != '-' && c != ' ') {
            canonical[n] = n == 0 ? ascii_upper(c) : ascii_lower(c);
            n++;
        }
    }
    canonical[n] = '\0';
    row = bsearch(canonical, classes, ARRAY_SIZE(classes), sizeof(classes[0]), compare);
    return row ? row[1] : NULL;
}

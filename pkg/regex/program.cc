/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/program.h"

#include <re2/re2.h>
#include <stdlib.h>

struct program {
    RE2 re;
    program(const re2::StringPiece &pattern, const RE2::Options &options) : re(pattern, options)
    {
    }
};

static const struct {
    RE2::ErrorCode from;
    enum re2_error to;
} codes[] = {
    { RE2::ErrorBadEscape, RE2_BAD_ESCAPE },
    { RE2::ErrorBadCharClass, RE2_BAD_CHAR_CLASS },
    { RE2::ErrorBadCharRange, RE2_BAD_CHAR_RANGE },
    { RE2::ErrorMissingBracket, RE2_MISSING_BRACKET },
    { RE2::ErrorMissingParen, RE2_MISSING_PAREN },
    { RE2::ErrorUnexpectedParen, RE2_UNEXPECTED_PAREN },
    { RE2::ErrorTrailingBackslash, RE2_TRAILING_BACKSLASH },
    { RE2::ErrorRepeatArgument, RE2_REPEAT_ARGUMENT },
    { RE2::ErrorRepeatSize, RE2_REPEAT_SIZE },
    { RE2::ErrorRepeatOp, RE2_REPEAT_OP },
    { RE2::ErrorBadPerlOp, RE2_BAD_PERL_OP },
    { RE2::ErrorBadUTF8, RE2_BAD_UTF8 },
    { RE2::ErrorBadNamedCapture, RE2_BAD_NAMED_CAPTURE },
    { RE2::ErrorPatternTooLarge, RE2_TOO_LARGE },
};

struct program *regex_program_new(struct str pattern, size_t memory, enum re2_error *ret_error,
                                  char **ret_arg, size_t *ret_arg_n)
{
    RE2::Options options;

    options.set_log_errors(false);
    options.set_max_mem(static_cast<int64_t>(memory));
    struct program *re = new struct program(re2::StringPiece(pattern.p, pattern.n), options);
    if (re->re.ok())
        return re;
    *ret_error = RE2_INTERNAL;
    for (const auto &c : codes)
        if (c.from == re->re.error_code())
            *ret_error = c.to;
    const std::string &arg = re->re.error_arg();
    *ret_arg = str_dup((struct str){ arg.data(), arg.size() });
    *ret_arg_n = arg.size();
    delete re;
    return NULL;
}

void regex_program_free(struct program *re)
{
    delete re;
}

size_t regex_program_groups(const struct program *re)
{
    return static_cast<size_t>(re->re.NumberOfCapturingGroups());
}

#define GROUPS_ON_STACK 16

bool regex_program_find(const struct program *re, struct str text, size_t at, struct regex_span *spans,
                        size_t n)
{
    re2::StringPiece few[GROUPS_ON_STACK], *groups = few;
    size_t have = regex_program_groups(re) + 1, want = MIN(n, have);
    const char *p = text.n > 0 ? text.p : "";

    if (want > GROUPS_ON_STACK)
        groups = new re2::StringPiece[want];
    bool found = re->re.Match(re2::StringPiece(p, text.n), at, text.n, RE2::UNANCHORED, groups,
                              static_cast<int>(want));
    for (size_t i = 0; found && i < n; i++) {
        bool took_part = i < want && groups[i].data();

        spans[i].from = took_part ? groups[i].data() - p : -1;
        spans[i].to = took_part ? spans[i].from + static_cast<ptrdiff_t>(groups[i].size()) : -1;
    }
    if (groups != few)
        delete[] groups;
    return found;
}

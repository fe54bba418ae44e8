/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* program: libre2 for C. Shared by the files of regex alone. */
#ifdef __cplusplus
extern "C" {
#endif
#include "base/str.h"
#include "regex/regex.h"

enum re2_error {
    RE2_OK,
    RE2_INTERNAL,
    RE2_BAD_ESCAPE,
    RE2_BAD_CHAR_CLASS,
    RE2_BAD_CHAR_RANGE,
    RE2_MISSING_BRACKET,
    RE2_MISSING_PAREN,
    RE2_UNEXPECTED_PAREN,
    RE2_TRAILING_BACKSLASH,
    RE2_REPEAT_ARGUMENT,
    RE2_REPEAT_SIZE,
    RE2_REPEAT_OP,
    RE2_BAD_PERL_OP,
    RE2_BAD_UTF8,
    RE2_BAD_NAMED_CAPTURE,
    RE2_TOO_LARGE,
    RE2_ERROR_MAX_,
};

struct program;

/* NULL with *ret_error and the piece of the pattern it is about in *ret_arg (owned, free()). */
struct program *regex_program_new(struct str pattern, size_t memory, enum re2_error *ret_error,
                                  char **ret_arg, size_t *ret_arg_n);
void regex_program_free(struct program *re);
size_t regex_program_groups(const struct program *re);
/* First match at or after `at`; the text must be valid UTF-8. spans may be NULL when n is 0. */
bool regex_program_find(const struct program *re, struct str text, size_t at, struct regex_span *spans,
                        size_t n);

#ifdef __cplusplus
}
#endif

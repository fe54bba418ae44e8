/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* syntax: from Go's pattern to one that this libre2 takes. Shared by the files of regex alone. */
#include "base/buf.h"
#include "regex/regex.h"

struct regex_name {
    struct str name; /* borrowed from the pattern */
    int group;
};

struct regex_source {
    struct buf out; /* the pattern for libre2: groups with names of ours, Go's class names spelled its way */
    struct regex_name *names;
    size_t n_names, cap_names;
    /* What Go refuses and libre2 would take or word otherwise; problem NULL: nothing. What stands before problem_at
     * may hold an error that Go would have seen earlier. */
    const char *problem;
    size_t problem_at, problem_to; /* the piece it names, in the pattern */
    size_t out_before;             /* out.n when the problem was met */
};

void regex_source_read(struct regex_source *s, struct str pattern);
void regex_source_done(struct regex_source *s);
DEFINE_CLEANUP_VALUE(struct regex_source, regex_source_done)

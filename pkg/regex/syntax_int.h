/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Shared by syntax.c and classes.c. */
#include "base/str.h"

/* libre2's name of a Unicode class as Go's \p{...} names it; NULL when Go knows none. */
const char *regex_class_name(struct str name);

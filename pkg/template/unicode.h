/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* unicode: Go's unicode and strconv predicates and simple case mapping, on utf8proc's tables (Unicode 15 as Go's).
 * Runes beyond U+10FFFF are in no class and map to themselves. Private to the module. */
#include "base/base.h"

bool unicode_is_letter(uint32_t r);
bool unicode_is_digit(uint32_t r);  /* Nd */
bool unicode_is_number(uint32_t r); /* N */
bool unicode_is_upper(uint32_t r);
bool unicode_is_lower(uint32_t r);
bool unicode_is_title(uint32_t r);
bool unicode_is_space(uint32_t r); /* White_Space */
bool unicode_is_punct(uint32_t r); /* P */
bool unicode_is_print(uint32_t r); /* strconv.IsPrint: L, M, N, P, S and U+0020 */
uint32_t unicode_to_upper(uint32_t r);
uint32_t unicode_to_lower(uint32_t r);
uint32_t unicode_to_title(uint32_t r);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* funcs: what the files of the function library share. Private to the module. */
#include "base/arena.h"
#include "base/limits.h"
#include "template/func.h"
#include "template/object.h"

/* Bytes of one text that a function makes: nothing longer can be printed. */
#define FN_TEXT_MAX TEMPLATE_OUTPUT_MAX

#define FN_NIL_POINTER "runtime error: invalid memory address or nil pointer dereference"

/* The parameters of a template function; most cannot fail and some take nothing. */
#define FN_UNUSED __attribute__((unused))
#define FN_ARGS struct tpl_call *c FN_UNUSED, struct value *ret, struct err **err FN_UNUSED

static inline struct str fn_str(const struct tpl_call *c, size_t i)
{
    return value_str(c->args[i]);
}

static inline int64_t fn_int(const struct tpl_call *c, size_t i)
{
    return c->args[i].i;
}

/* Results. Each returns 0. */
static inline int fn_ret_str(struct value *ret, struct str s)
{
    *ret = value_from_str(s);
    return 0;
}

static inline int fn_ret_bool(struct value *ret, bool b)
{
    *ret = value_from_bool(b);
    return 0;
}

static inline int fn_ret_int64(struct value *ret, int64_t i)
{
    *ret = value_from_int(i);
    return 0;
}

static inline struct value fn_go_int(int64_t i) /* Go's int, where value_from_int() is int64 */
{
    return (struct value){ .kind = VALUE_INT, .type = VALUE_TYPE_INT, .i = i };
}

static inline struct value fn_string_list(const struct value *items, size_t n) /* []string */
{
    return (
        struct value){ .kind = VALUE_LIST, .type = VALUE_TYPE_STRING_LIST, .n = (uint32_t)n, .list = items };
}

static inline struct value fn_nil_list(enum value_type type) /* a nil slice */
{
    return (struct value){ .kind = VALUE_LIST, .type = (uint8_t)type, .flags = VALUE_NIL };
}

/* Memory for n bytes of text in the render's arena, paid from its budgets. */
NODISCARD int fn_text(struct tpl_call *c, size_t n, char **ret, struct err **err);
/* The same for n values. */
NODISCARD int fn_values(struct tpl_call *c, size_t n, struct value **ret, struct err **err);
/* Pays for looking at n bytes. */
NODISCARD int fn_pay(struct tpl_call *c, size_t n, struct err **err);

/* A buffer to build a text in, and the text as the function's result. */
#define FN_BUF BUF_INIT(FN_TEXT_MAX)
NODISCARD int fn_ret_buf(struct tpl_call *c, const struct buf *b, struct value *ret, struct err **err);
NODISCARD int fn_keep(struct tpl_call *c, const struct buf *b, struct str *ret, struct err **err);

/* Sprig's strval(): texts and bytes as they are, errors and Stringers by their text, anything else as %v. */
NODISCARD int fn_strval(struct tpl_call *c, struct value v, struct str *ret, struct err **err);
/* Sprig's strslice(): any value as a list of texts, nil items dropped. */
NODISCARD int fn_strslice(struct tpl_call *c, struct value v, struct value *ret, struct err **err);

static inline bool fn_is_nil(struct value v) /* Go's nil interface */
{
    return v.kind == VALUE_NULL;
}

static inline bool fn_is_slice(struct value v)
{
    return v.kind == VALUE_LIST || v.kind == VALUE_BYTES;
}

/* Item i of a slice as an interface {} holds it. */
struct value fn_item(struct value slice, size_t i);

bool fn_empty(struct value v); /* sprig's empty() */
/* reflect.DeepEqual of two interface {}; pays for every pair it looks at. */
NODISCARD int fn_deep_equal(struct tpl_call *c, struct value a, struct value b, bool *ret, struct err **err);

/* cast.ToInt64, cast.ToFloat64: 0 for what cannot be converted. */
int64_t fn_to_int64(struct value v);
double fn_to_float64(struct value v);

/* An object's error text for a list function: "Cannot push on type string". */
NODISCARD int fn_wrong_kind(struct value v, const char *what, struct err **err);

/* xstrings: snake_case and kebab-case (connector '_' or '-'), PascalCase. */
void fn_split_case(struct str s, char connector, struct buf *out);
void fn_pascal_case(struct str s, struct buf *out);

/* The rune at the front and at the end of s (s.n > 0): an invalid byte is U+FFFD of width 1. */
size_t fn_rune(struct str s, uint32_t *ret);
/* strings.TrimSpace, strings.Trim. */
struct str fn_trim_space(struct str s);
struct str fn_trim(struct str s, struct str cutset);

/* n below `below` evenly from the render's source of random. */
uint32_t fn_random_below(struct tpl_call *c, uint32_t below);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* func: how the evaluator calls a template function, and what a function may ask of it. Private to the module. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "template/object.h"
#include "value/value.h"

struct tpl_exec; /* one running render */

struct tpl_call {
    struct tpl_exec *x;
    struct arena *arena; /* released with the render, never one by one */
    const struct value *args;
    size_t n;
    struct value receiver; /* of a method */
};

/* One row of a function table, sorted by name (a test checks it).
 * `args` has one letter a parameter, checked and converted before the call; a trailing '+' makes the last one variadic:
 *   * interface {}   s string   i int   l int64   u uint32   f float64   b bool   B []uint8
 *   m map[string]interface {}   L []interface {}   S []string   D map[string]string
 *   t time.Time   d time.Duration   V *semver.Version   P *time.Location   C sprig.certificate (objects by the name of
 *   their type)
 *   v reflect.Value: the argument as it is, with VALUE_FROM_ELEMENT; W io.Writer: nothing a template has
 * Arguments of all other kinds arrive without VALUE_FROM_ELEMENT. A missing value for a nillable parameter is a typed nil
 * (VALUE_NIL; an empty frozen map: writing to it is Go's "assignment to entry in nil map"), null for '*' and 'v'.
 * `result` is the Go result type with the same letters ('*': interface {}, 'v': returned as it is, '?': other concrete
 * type). '2' (the second an int), '3', '4': as many results,
 * which no template can take; then there is no function. A failure becomes "error calling NAME: <text>", as for a Go error or panic. */
struct tpl_func {
    const char *name;
    const char *args;
    char result;
    int (*fn)(struct tpl_call *c, struct value *ret, struct err **err);
};

struct tpl_func_table {
    const struct tpl_func *funcs;
    size_t n;
};
/* The parts of the library; the evaluator merges them once into one sorted table. */
extern const struct tpl_func_table tpl_funcs_string, tpl_funcs_list, tpl_funcs_dict, tpl_funcs_number,
    tpl_funcs_date, tpl_funcs_crypto, tpl_funcs_regex, tpl_funcs_encoding, tpl_funcs_reflect, tpl_funcs_misc;
/* Functions that need the evaluator itself: include, tpl, required, fail, lookup and text/template's builtins. */
extern const struct tpl_func_table tpl_funcs_engine, tpl_funcs_builtin;

/* What the evaluator offers (exec.c, print.c). */
struct wall_time tpl_now(const struct tpl_exec *x);
void tpl_random(struct tpl_exec *x, void *p, size_t n); /* bytes nobody can guess, or the test's */
/* getHostByName: "" when DNS is off. */
NODISCARD int tpl_resolve(struct tpl_exec *x, struct str host, struct str *ret, struct err **err);
/* Counts n units of work against the render's step budget: call it in loops over data. LIMIT when it is spent. */
NODISCARD int tpl_spend(struct tpl_exec *x, size_t n, struct err **err);
/* Would n bytes more fit the render's memory? LIMIT otherwise. Call before allocating what the template chose. */
NODISCARD int tpl_reserve(struct tpl_exec *x, size_t n, struct err **err);

/* A list never changes, but `items` may have room for more behind the first n: the next append to just this list goes
 * there, so that a loop of appends copies each item a few times at most. */
void tpl_list_keep_tail(struct tpl_exec *x, struct value *items, size_t n, size_t cap);
/* The place behind the list's last item, which the caller must fill; NULL: it has none, or another append took it. */
struct value *tpl_list_take_tail(struct tpl_exec *x, struct value list);

/* fmt.Sprint-like pieces: %v of a value; the Go type's name (%T); kindOf's word. Cyclic values fail the buffer. */
void tpl_print_value(struct value v, struct buf *out);
void tpl_print_type(struct value v, struct buf *out);
const char *tpl_kind_name(struct value v);
void tpl_print_quoted(struct str s, struct buf *out); /* strconv.Quote */
/* strconv.IsPrint, unicode.IsUpper/… are in template/unicode.h */
bool tpl_truth(struct value v); /* text/template IsTrue */
/* Objects and typed maps as plain values: what encoding/json, the encoder of go-yaml v3 or the one of TOML would see. Fails
 * for what Go cannot marshal. */
enum tpl_form { TPL_FORM_JSON, TPL_FORM_YAML3, TPL_FORM_TOML };
NODISCARD int tpl_to_plain(struct arena *a, struct value v, enum tpl_form form, struct value *ret,
                           struct err **err);
/* printf: fmt.Sprintf(format, args...). */
NODISCARD int tpl_sprintf(struct tpl_exec *x, struct str format, const struct value *args, size_t n,
                          struct buf *out, struct err **err);
/* An item of a list or map as Go's reflection sees it: with VALUE_FROM_ELEMENT when the container holds interface {},
 * and with the element type of typed lists and maps. */
struct value tpl_element(struct value container, struct value item);

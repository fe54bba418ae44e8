/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* value: the tree that JSON, YAML, template data and Kubernetes objects share.
 *
 * struct value is 16 bytes and passed by value. Null, booleans, numbers and "" need no memory; everything else
 * points into an arena (or into constants). Two states:
 *   - in a heap (an arena of one render or reconcile): maps may be changed in place and have identity, as Go's;
 *   - frozen (struct doc): reference counted, readable from any thread, never changed.
 * Pointers go heap -> heap, heap -> kept doc, doc -> itself; never doc -> heap. Lists and strings never change.
 *
 * Kinds say how a value behaves, types which Go type it has where that shows (printf %T, error texts, equality). */
#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

enum value_kind {
    VALUE_NULL, /* Go's nil interface; also "absent" */
    VALUE_BOOL,
    VALUE_INT,  /* any signed integer type */
    VALUE_UINT, /* any unsigned integer type; JSON numbers above INT64_MAX */
    VALUE_FLOAT,
    VALUE_STRING, /* any bytes; UTF-8 where it came from JSON or YAML */
    VALUE_BYTES,  /* Go's []byte */
    VALUE_LIST,
    VALUE_MAP,    /* keys are strings, sorted bytewise */
    VALUE_OBJECT, /* a Go struct or pointer with fields and methods: see the template module */
};

/* The zero of each row is what JSON and YAML make. */
enum value_type {
    VALUE_TYPE_PLAIN, /* bool, int64, uint64, float64, string, []byte, []interface {}, map[string]interface {} */
    VALUE_TYPE_INT,   /* Go int */
    VALUE_TYPE_INT32, /* rune */
    VALUE_TYPE_UINT8,
    VALUE_TYPE_UINT32,
    VALUE_TYPE_FLOAT32,
    VALUE_TYPE_STRING_LIST, /* []string */
    VALUE_TYPE_INT_LIST,    /* []int */
    VALUE_TYPE_STRING_MAP,  /* map[string]string */
    VALUE_TYPE_VALUES,      /* common.Values */
    VALUE_TYPE_FILES,       /* engine.files: path -> bytes */
    VALUE_TYPE_STRUCT,      /* VALUE_MAP with the fields of a Go struct in their order; only printed */
    VALUE_TYPE_DATE_TIME,   /* VALUE_STRING, RFC 3339: a point in time; not quoted by TOML and toYamlPretty */
    VALUE_TYPE_LOCAL_DATE_TIME, /* TOML's kinds of time without a zone: the same text with Z, and with zeros */
    VALUE_TYPE_LOCAL_DATE,
    VALUE_TYPE_LOCAL_TIME,
    VALUE_TYPE_FIRST_FREE, /* the template module numbers further Go types from here */
};

enum value_flag {
    VALUE_FROM_ELEMENT = 1, /* came straight out of a map or list: static type interface {} in Go's terms */
    VALUE_NIL = 2,          /* a typed nil: nil slice or nil map */
    VALUE_SENSITIVE = 4,    /* from a Secret: never printed outside of what is applied */
};

struct value_map;

struct value {
    uint8_t kind; /* enum value_kind */
    uint8_t type; /* enum value_type */
    uint16_t flags;
    uint32_t n; /* bytes of a string, items of a list */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        const char *s;            /* not NUL-terminated */
        const struct value *list; /* n items */
        struct value_map *map;
        void *object;
    };
};
_Static_assert(sizeof(struct value) == 16, "values travel in two registers");

struct value_entry {
    struct str key;
    struct value v;
};

struct value_map {
    struct arena *arena; /* where it grows; NULL when frozen */
    uint32_t n, cap;
    struct value_entry *e; /* sorted by key, bytewise */
};

/* Makers. Strings and lists borrow what they are given. */
#define VALUE_NONE ((struct value){ .kind = VALUE_NULL })
static inline struct value value_from_bool(bool b)
{
    return (struct value){ .kind = VALUE_BOOL, .b = b };
}
static inline struct value value_from_int(int64_t i) /* int64 */
{
    return (struct value){ .kind = VALUE_INT, .i = i };
}
static inline struct value value_from_uint(uint64_t u) /* uint64 */
{
    return (struct value){ .kind = VALUE_UINT, .u = u };
}
static inline struct value value_from_float(double f)
{
    return (struct value){ .kind = VALUE_FLOAT, .f = f };
}
static inline struct value value_from_str(struct str s)
{
    return (struct value){ .kind = VALUE_STRING, .n = (uint32_t)s.n, .s = s.p };
}
#define VALUE_STR(lit) value_from_str(STR(lit))
static inline struct value value_from_list(const struct value *items, size_t n)
{
    return (struct value){ .kind = VALUE_LIST, .n = (uint32_t)n, .list = items };
}
static inline struct value value_from_map(struct value_map *m)
{
    return (struct value){ .kind = VALUE_MAP, .map = m };
}
struct value value_new_map(struct arena *a); /* empty, growing in a */
struct value value_new_map_sized(struct arena *a, size_t n);

/* Readers. The typed ones answer a neutral value for another kind. */
static inline bool value_is_null(struct value v)
{
    return v.kind == VALUE_NULL;
}
static inline bool value_is_map(struct value v)
{
    return v.kind == VALUE_MAP;
}
static inline bool value_is_list(struct value v)
{
    return v.kind == VALUE_LIST;
}
static inline bool value_is_string(struct value v)
{
    return v.kind == VALUE_STRING;
}
static inline struct str value_str(struct value v) /* "" unless a string or bytes */
{
    return v.kind == VALUE_STRING || v.kind == VALUE_BYTES ? (struct str){ v.s, v.n } : STR("");
}
static inline bool value_bool(struct value v) /* false unless a bool */
{
    return v.kind == VALUE_BOOL && v.b;
}
int64_t value_int(struct value v, int64_t otherwise); /* integers, and floats without a fraction that fit */
static inline size_t value_len(struct value v)        /* items of a list or map, bytes of a string; else 0 */
{
    return v.kind == VALUE_MAP ? v.map->n : v.kind >= VALUE_STRING && v.kind <= VALUE_LIST ? v.n : 0;
}
static inline struct value value_at(struct value v, size_t i) /* i < value_len() of a list */
{
    return v.list[i];
}

/* Maps. A missing key, or a receiver that is not a map, yields null. */
struct value value_get(struct value map, struct str key);
bool value_has(struct value map, struct str key);
const struct value_entry *value_find(struct value map, struct str key); /* NULL when absent */
#define value_getz(map, lit) value_get((map), STR(lit))
static inline const struct value_entry *value_entry_at(struct value map, size_t i)
{
    return &map.map->e[i];
}
/* Changes the map in place; the key is borrowed and must live as long as the map. Asserts that it is not frozen. */
void value_set(struct value map, struct str key, struct value v);
#define value_setz(map, lit, v) value_set((map), STR(lit), (v))
bool value_unset(struct value map, struct str key); /* was it there? */
/* Adds without looking for the place; value_sort() must follow before any read. Of equal keys the last one wins. */
void value_append(struct value map, struct str key, struct value v);
void value_sort(struct value map);

/* for (struct value_iter it = value_iter(v); value_next(&it);) … it.i, it.key ("" in a list), it.v */
struct value_iter {
    struct value of;
    size_t i, next;
    struct str key;
    struct value v;
};
struct value_iter value_iter(struct value v); /* a map or list; anything else is empty */
bool value_next(struct value_iter *it);

/* Paths: names separated by '.', without escapes; "a.b.c". Null where something is missing. */
struct value value_path(struct value v, const char *path);
/* Sets a nested member of a heap map; missing or non-map parents become maps (in the map's own arena). */
void value_set_path(struct value map, const char *path, struct value v);

/* Lists are built in an array and then fixed. */
struct value_list {
    struct arena *arena;
    struct value *items;
    size_t n, cap;
};
#define VALUE_LIST_INIT(a) ((struct value_list){ .arena = (a) })
void value_list_add(struct value_list *l, struct value v);
static inline struct value value_list_done(const struct value_list *l)
{
    return value_from_list(l->items, l->n);
}

/* Deep copy into a; strings too, so nothing of v's memory is needed afterwards. Trees deeper than VALUE_DEPTH_MAX
 * (or cyclic) are cut at that depth with null and `*ret_cut` (may be NULL) set. */
struct value value_copy(struct arena *a, struct value v, bool *ret_cut);
/* Fresh maps, shared strings and lists of scalars: enough to change maps without touching the source. */
struct value value_copy_maps(struct arena *a, struct value v);

/* Are more than `levels` maps and lists in each other? Looks no deeper than that. */
bool value_is_deeper(struct value v, int levels);

/* Same kind and content; an integer never equals a float; -0 equals 0. Type details (int or int64) do not matter. */
bool value_equal(struct value a, struct value b);

/* RFC 7386 JSON merge patch of `patch` onto `target`; the result is new, in a, sharing unchanged parts. */
struct value value_merge_patch(struct arena *a, struct value target, struct value patch);

/* One difference between two trees. Paths look like "image.tag", "ports[0].name", "a\.b" for a key with a dot. */
struct value_change {
    struct str path;
    struct value before, after; /* null with has_* false: absent there */
    bool has_before, has_after;
};
/* All differences, maps in key order, lists by index, at most `max`; *ret_n is how many there are in all. */
struct value_change *value_diff(struct arena *a, struct value before, struct value after, size_t max,
                                size_t *ret_n);

/* doc: a frozen tree and the memory it stands in. Shared between threads by reference count. */
struct doc;
struct doc *doc_freeze(struct value v); /* deep copy; a new reference */
/* Takes the arena: `root` and all it points to must live in it (or be constants). The arena must not be used again. */
struct doc *doc_take(struct arena *a, struct value root);
struct doc *doc_ref(struct doc *d);
struct doc *doc_unref(struct doc *d); /* d may be NULL; returns NULL */
DEFINE_CLEANUP(struct doc *, doc_unref)
struct value doc_root(const struct doc *d); /* d may be NULL: null. Borrowed */
/* The arena holds a reference to the doc until it is freed: values may then point into it. */
void doc_keep(struct arena *a, struct doc *d);

/* SPDX-License-Identifier: Apache-2.0 */
#include "template/gozone.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "template/tzrule.h"

#define TZIF_MAX ((size_t)1 << 20)
#define NAME_MAX_ 256
#define TZIF_HEADER 44

struct zone_type {
    struct str name;
    int offset_s;
    bool dst;
};

struct gozone {
    char *data; /* the file: names point into it */
    struct zone_type *types;
    int64_t *when; /* ascending; from then on type index[i] holds */
    unsigned char *index;
    size_t n_types, n_when;
    struct str extend; /* POSIX rule for what is behind the last transition; "" without one */
    struct str name;   /* of the location, where templates can meet it */
};

static struct {
    pthread_mutex_t lock;
    struct map zones; /* name -> struct gozone *, NULL values: there is no such file */
    pthread_once_t local_once;
    struct gozone *local_file; /* NULL: UTC, or one of `zones` */
    struct gozone local;       /* a copy of what it is in truth: Go tells Local and UTC apart */
} loaded = { .lock = PTHREAD_MUTEX_INITIALIZER, .local_once = PTHREAD_ONCE_INIT };

static struct zone_type utc_type = { { "UTC", 3 }, 0, false };
static const struct gozone utc = { .types = &utc_type, .n_types = 1, .name = { "UTC", 3 } };

const struct gozone *gozone_utc(void)
{
    return &utc;
}

struct str gozone_name(const struct gozone *z)
{
    return z->name;
}

/* ---- TZif (RFC 8536) ---- */

struct reader {
    const unsigned char *p;
    size_t left;
    bool failed;
};

static const unsigned char *take(struct reader *r, size_t n)
{
    const unsigned char *p = r->p;

    if (n > r->left) {
        r->failed = true;
        return NULL;
    }
    r->p += n;
    r->left -= n;
    return p;
}

static int64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t v = p[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

struct counts {
    size_t utc, std, leap, when, type, chars;
    int version;
};

static bool read_header(struct reader *r, struct counts *ret)
{
    const unsigned char *p = take(r, TZIF_HEADER);
    size_t *const to[] = { &ret->utc, &ret->std, &ret->leap, &ret->when, &ret->type, &ret->chars };

    if (!p || memcmp(p, "TZif", 4) != 0)
        return false;
    ret->version = p[4] == '\0' ? 1 : p[4] >= '2' ? 2 : 0;
    for (size_t i = 0; i < ARRAY_SIZE(to); i++) {
        int64_t n = big_endian(p + 20 + 4 * i, 4);

        if (n < 0 || n > (int64_t)TZIF_MAX)
            return false;
        *to[i] = (size_t)n;
    }
    return ret->version > 0;
}

static bool read_types(struct gozone *z, const unsigned char *types, const char *chars, size_t n_chars)
{
    for (size_t i = 0; i < z->n_types; i++) {
        const unsigned char *p = types + 6 * i;

        if (p[5] >= n_chars)
            return false;
        z->types[i].offset_s = (int)big_endian(p, 4);
        z->types[i].dst = p[4] != 0;
        z->types[i].name = (struct str){ chars + p[5], strnlen(chars + p[5], n_chars - p[5]) };
    }
    return true;
}

static bool read_block(struct gozone *z, struct reader *r, const struct counts *c, size_t time_size)
{
    const unsigned char *when = take(r, c->when * time_size), *index = take(r, c->when),
                        *types = take(r, c->type * 6);
    const char *chars = (const char *)take(r, c->chars);

    take(r, c->leap * (time_size + 4) + c->std + c->utc);
    if (r->failed || c->type == 0)
        return false;
    z->n_types = c->type;
    z->types = xcalloc(c->type, sizeof(*z->types));
    z->n_when = MAX(c->when, 1);
    z->when = xcalloc(z->n_when, sizeof(*z->when));
    z->index = xcalloc(z->n_when, 1);
    z->when[0] = INT64_MIN; /* without transitions the first type always holds */
    for (size_t i = 0; i < c->when; i++) {
        z->when[i] = big_endian(when + i * time_size, time_size);
        z->index[i] = index[i];
        if (index[i] >= c->type)
            return false;
    }
    return read_types(z, types, chars, c->chars);
}

static bool read_zone(struct gozone *z, struct str file)
{
    struct reader r = { (const unsigned char *)file.p, file.n, false };
    struct counts c;

    if (!read_header(&r, &c))
        return false;
    if (c.version == 1)
        return read_block(z, &r, &c, 4);
    take(&r, c.when * 5 + c.type * 6 + c.chars + c.leap * 8 + c.std + c.utc);
    if (r.failed || !read_header(&r, &c) || !read_block(z, &r, &c, 8))
        return false;
    z->extend = STR("");
    if (r.left > 2 && r.p[0] == '\n' && r.p[r.left - 1] == '\n')
        z->extend = (struct str){ (const char *)r.p + 1, r.left - 2 };
    return true;
}

static void zone_free(struct gozone *z)
{
    free(z->data);
    free(z->types);
    free(z->when);
    free(z->index);
    free(z);
}

static struct gozone *read_file(const char *path)
{
    CLEANUP(buf_done) struct buf file = BUF_INIT(TZIF_MAX);
    struct gozone *z;
    size_t n;

    if (!fs_is_file(path) || fs_read_file(path, &file, NULL) < 0)
        return NULL;
    n = file.n;
    z = xcalloc(1, sizeof(*z));
    z->data = buf_take(&file);
    if (read_zone(z, (struct str){ z->data, n }))
        return z;
    zone_free(z);
    return NULL;
}

/* ---- finding ---- */

static struct gozone *search(const char *name)
{
    static const char *const dirs[] = { "/usr/share/zoneinfo", "/usr/share/lib/zoneinfo",
                                        "/usr/lib/locale/TZ", "/etc/zoneinfo" };
    const char *first = getenv("ZONEINFO");
    struct gozone *z = NULL;

    for (size_t i = 0; !z && i < ARRAY_SIZE(dirs) + 1; i++) {
        const char *dir = i == 0 ? first : dirs[i - 1];
        CLEANUP(free_ptr) char *path = dir && dir[0] ? fs_join(dir, name) : NULL;

        if (path)
            z = read_file(path);
    }
    return z;
}

static const struct gozone *load(const char *name)
{
    struct str key = str_from(name);
    struct gozone *z;

    pthread_mutex_lock(&loaded.lock);
    z = map_get(&loaded.zones, key);
    if (!z) {
        z = search(name);
        if (z)
            map_put(&loaded.zones, key, z);
    }
    pthread_mutex_unlock(&loaded.lock);
    return z;
}

/* As initLocal() of Go's time/zoneinfo_unix.go names it. */
static void find_local(void)
{
    const char *tz = getenv("TZ");
    const struct gozone *found = NULL;
    struct str name = STR("Local");

    if (tz && tz[0] == ':')
        tz++;
    if (!tz || tz[0] == '/') {
        found = loaded.local_file = read_file(tz ? tz : "/etc/localtime");
        if (tz && strcmp(tz, "/etc/localtime") != 0)
            name = str_from(tz);
    } else if (tz[0] && strcmp(tz, "UTC") != 0) {
        found = load(tz);
        name = str_from(tz);
    }
    loaded.local = found ? *found : utc;
    loaded.local.name = found ? name : STR("UTC");
}

const struct gozone *gozone_local(void)
{
    pthread_once(&loaded.local_once, find_local);
    return &loaded.local;
}

const struct gozone *gozone_load(struct str name)
{
    char text[NAME_MAX_];

    if (name.n == 0 || str_eq(name, STR("UTC")))
        return &utc;
    if (str_eq(name, STR("Local")))
        return gozone_local();
    if (name.n >= sizeof(text) || name.p[0] == '/' || name.p[0] == '\\' || str_contains(name, STR("..")) ||
        memchr(name.p, '\0', name.n))
        return NULL;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return load(text);
}

const struct gozone *gozone_fixed(struct arena *a, struct str name, int offset_s)
{
    struct gozone *z = ARENA_NEW(a, struct gozone);

    z->types = ARENA_NEW(a, struct zone_type);
    z->types[0] = (struct zone_type){ name, offset_s, false };
    z->n_types = 1;
    z->name = name;
    return z;
}

/* ---- asking ---- */

/* What holds before the first transition. */
static size_t first_type(const struct gozone *z)
{
    bool used = false;

    for (size_t i = 0; i < z->n_when; i++)
        used = used || z->index[i] == 0;
    if (!used)
        return 0;
    if (z->n_when > 0 && z->types[z->index[0]].dst)
        for (size_t i = z->index[0]; i > 0; i--)
            if (!z->types[i - 1].dst)
                return i - 1;
    for (size_t i = 0; i < z->n_types; i++)
        if (!z->types[i].dst)
            return i;
    return 0;
}

static struct gozone_at at_type(const struct gozone *z, size_t i, int64_t start, int64_t end)
{
    return (struct gozone_at){ z->types[i].name, z->types[i].offset_s, start, end, z->types[i].dst };
}

struct gozone_at gozone_lookup(const struct gozone *z, int64_t unix_s)
{
    size_t low = 0, high = z->n_when;
    struct gozone_at at;

    if (z->n_when == 0 || unix_s < z->when[0])
        return at_type(z, first_type(z), INT64_MIN, z->n_when > 0 ? z->when[0] : INT64_MAX);
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (unix_s < z->when[mid])
            high = mid;
        else
            low = mid;
    }
    at = at_type(z, z->index[low], z->when[low], high < z->n_when ? z->when[high] : INT64_MAX);
    if (low + 1 == z->n_when && z->extend.n > 0)
        tzrule_apply(z->extend, unix_s, &at);
    return at;
}

bool gozone_lookup_name(const struct gozone *z, struct str name, int64_t local_s, int *ret_offset_s)
{
    const struct zone_type *found = NULL;

    for (size_t i = 0; i < z->n_types; i++) {
        struct gozone_at at;

        if (!str_eq(z->types[i].name, name))
            continue;
        found = found ? found : &z->types[i];
        at = gozone_lookup(z, local_s - z->types[i].offset_s);
        if (str_eq(at.name, name)) {
            *ret_offset_s = at.offset_s;
            return true;
        }
    }
    if (found)
        *ret_offset_s = found->offset_s;
    return found != NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mirror/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "mirror/mirror_int.h"

/* Serialised: "pintle-pack 1\n", then gzip of: deflater, header size, header, tar size, number of sources, their digests (32
 * bytes each), number of segments, the segments (source, at, n), and the own text to the end. Numbers are LEB128. */
#define MAGIC "pintle-pack 1\n"
#define DIGEST_RAW 32
#define HEADER_MAX ((size_t)4096)
/* The first version of a chart gains little; it is kept as a pack so that the next one can take pieces from it. */
#define WORTH(packed, whole) ((packed) <= (whole) + (whole) / 20)

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void put_number(struct buf *out, size_t v)
{
    for (; v >= 0x80; v >>= 7)
        buf_addc(out, (char)(v | 0x80));
    buf_addc(out, (char)v);
}

/* What is left to read; `bad` once something was not there. */
struct input {
    struct str rest;
    bool bad;
};

static size_t get_number(struct input *in, size_t max)
{
    size_t v = 0;

    for (unsigned shift = 0; shift < 35; shift += 7) {
        unsigned char c;

        if (in->rest.n == 0)
            break;
        c = (unsigned char)in->rest.p[0];
        in->rest = str_sub(in->rest, 1, in->rest.n);
        v |= (size_t)(c & 0x7f) << shift;
        if (c & 0x80)
            continue;
        if (v > max)
            break;
        return v;
    }
    in->bad = true;
    return 0;
}

static struct str get_bytes(struct input *in, size_t n)
{
    struct str s = STR("");

    if (n > in->rest.n) {
        in->bad = true;
        return s;
    }
    s = str_sub(in->rest, 0, n);
    in->rest = str_sub(in->rest, n, in->rest.n);
    return s;
}

/* ---- the serialised form ------------------------------------------------------------------------------------------ */

static int print(const struct pack *p, struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(2 * MIRROR_TAR_MAX);

    put_number(&plain, p->deflater);
    put_number(&plain, p->header.n);
    buf_addstr(&plain, p->header);
    put_number(&plain, p->tar_size);
    put_number(&plain, p->n_sources);
    for (size_t i = 0; i < p->n_sources; i++)
        hex_decode(p->sources[i], &plain);
    put_number(&plain, p->n_segments);
    for (size_t i = 0; i < p->n_segments; i++) {
        put_number(&plain, p->segments[i].source);
        put_number(&plain, p->segments[i].at);
        put_number(&plain, p->segments[i].n);
    }
    buf_addstr(&plain, p->text);
    buf_adds(out, MAGIC);
    if (plain.failed)
        return buf_check(&plain, err);
    return archive_gzip(buf_str(&plain), out, err);
}

static struct str get_digest(struct arena *a, struct input *in)
{
    CLEANUP(buf_done) struct buf hex = BUF_INIT(SHA256_HEX);

    hex_encode(get_bytes(in, DIGEST_RAW), &hex);
    return arena_dup(a, buf_str(&hex));
}

static void get_segments(struct arena *a, struct input *in, struct pack *p)
{
    size_t left = p->tar_size;

    p->n_segments = get_number(in, in->rest.n); /* each takes three bytes or more */
    if (in->bad)
        return;
    p->segments = ARENA_ARRAY(a, struct pack_segment, p->n_segments + 1);
    for (size_t i = 0; i < p->n_segments && !in->bad; i++) {
        struct pack_segment *s = &p->segments[i];

        s->source = (uint32_t)get_number(in, p->n_sources);
        s->at = (uint32_t)get_number(in, MIRROR_TAR_MAX);
        s->n = (uint32_t)get_number(in, left);
        left -= s->n;
    }
    in->bad = in->bad || left > 0;
}

int pack_parse(struct arena *a, struct str bytes, struct pack *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(2 * MIRROR_TAR_MAX);
    struct pack p = { 0 };
    struct input in = { 0 };
    int r;

    if (!str_has_prefix(bytes, STR(MAGIC)))
        return err_set(err, ERRC_PARSE, "not a pack");
    r = archive_gunzip(str_sub(bytes, sizeof(MAGIC) - 1, bytes.n), &plain, err);
    if (r < 0)
        return r;
    in.rest = arena_dup(a, buf_str(&plain));
    p.deflater = (enum archive_deflater)get_number(&in, ARCHIVE_DEFLATE_MAX_ - 1);
    p.header = get_bytes(&in, get_number(&in, HEADER_MAX));
    p.tar_size = get_number(&in, MIRROR_TAR_MAX);
    p.n_sources = get_number(&in, MIRROR_SOURCES_MAX);
    p.sources = ARENA_ARRAY(a, struct str, p.n_sources + 1);
    for (size_t i = 0; i < p.n_sources; i++)
        p.sources[i] = get_digest(a, &in);
    get_segments(a, &in, &p);
    if (in.bad)
        return err_set(err, ERRC_PARSE, "a damaged pack");
    p.text = in.rest;
    *ret = p;
    return 0;
}

int pack_tar(const struct pack *p, const struct str *texts, struct buf *tar, struct err **err)
{
    for (size_t i = 0; i < p->n_segments; i++) {
        const struct pack_segment *s = &p->segments[i];
        struct str text = texts[s->source];

        if (s->at > text.n || s->n > text.n - s->at)
            return err_set(err, ERRC_PARSE, "a damaged pack: a piece lies outside of its source");
        buf_add(tar, text.p + s->at, s->n);
    }
    return buf_check(tar, err);
}

/* ---- pieces that are known ------------------------------------------------------------------------------------------ */

struct piece {
    struct str bytes;
    size_t at; /* in the base's tar, or in the own text */
    bool is_own;
};

/* Open addressing, at most half full. */
struct pieces {
    struct piece *slots;
    size_t cap;
};

static struct piece *find_slot(struct pieces *t, struct str bytes)
{
    size_t i = (size_t)str_hash(bytes) & (t->cap - 1);

    while (t->slots[i].bytes.p && !str_eq(t->slots[i].bytes, bytes))
        i = (i + 1) & (t->cap - 1);
    return &t->slots[i];
}

static size_t count_pieces(struct str tar)
{
    size_t n = 0;

    for (size_t at = 0; at < tar.n; n++)
        at += mirror_cut(str_sub(tar, at, tar.n), at);
    return n;
}

static void add_base(struct pieces *t, struct str tar)
{
    for (size_t at = 0, n; at < tar.n; at += n) {
        struct str bytes;
        struct piece *slot;

        n = mirror_cut(str_sub(tar, at, tar.n), at);
        bytes = str_sub(tar, at, at + n);
        slot = find_slot(t, bytes);
        if (!slot->bytes.p)
            *slot = (struct piece){ bytes, at, false };
    }
}

/* ---- taking apart ----------------------------------------------------------------------------------------------------- */

struct maker {
    struct arena *arena;
    const struct pack_base *base;
    struct pack *pack;
    size_t cap;
    struct buf text;
    uint32_t from_base[MIRROR_SOURCES_MAX + 1];  /* our number of a source of the base; 0: none yet */
    const struct str *texts[MIRROR_SOURCES_MAX]; /* of our sources */
    bool full;                                   /* too many sources */
    size_t segment,
        start; /* of the base: where the last look-up ended, and where that segment begins in its tar */
};

static void add_segment(struct maker *m, uint32_t source, size_t at, size_t n)
{
    struct pack *p = m->pack;
    struct pack_segment *last = p->n_segments ? &p->segments[p->n_segments - 1] : NULL;

    if (last && last->source == source && (size_t)last->at + last->n == at) {
        last->n += (uint32_t)n;
        return;
    }
    if (p->n_segments == m->cap) {
        size_t cap = m->cap * 2 + 64;

        p->segments =
            arena_grow(m->arena, p->segments, m->cap * sizeof(*p->segments), cap * sizeof(*p->segments));
        m->cap = cap;
    }
    p->segments[p->n_segments++] = (struct pack_segment){ source, (uint32_t)at, (uint32_t)n };
}

static uint32_t take_source(struct maker *m, uint32_t of_base)
{
    struct pack *p = m->pack;

    if (m->from_base[of_base])
        return m->from_base[of_base];
    if (p->n_sources == MIRROR_SOURCES_MAX) {
        m->full = true;
        return 0;
    }
    m->texts[p->n_sources] = &m->base->texts[of_base];
    p->sources[p->n_sources++] = of_base == 0 ? m->base->digest : m->base->pack->sources[of_base - 1];
    m->from_base[of_base] = (uint32_t)p->n_sources;
    return m->from_base[of_base];
}

/* A stretch of the base's tar, in the base's own segments. */
static void add_from_base(struct maker *m, size_t at, size_t n)
{
    const struct pack *p = m->base->pack;

    if (at < m->start)
        m->segment = m->start = 0;
    for (; n > 0 && m->segment < p->n_segments; m->start += p->segments[m->segment++].n) {
        const struct pack_segment *s = &p->segments[m->segment];
        size_t skip, part;

        if (at >= m->start + s->n)
            continue;
        skip = at - m->start;
        part = MIN(n, s->n - skip);
        add_segment(m, take_source(m, s->source), s->at + skip, part);
        at += part;
        n -= part;
        if (n == 0)
            break;
    }
}

static void take_apart(struct maker *m, struct pieces *known, struct str tar)
{
    for (size_t at = 0, n; at < tar.n && !m->full; at += n) {
        struct str bytes;
        struct piece *slot;

        n = mirror_cut(str_sub(tar, at, tar.n), at);
        bytes = str_sub(tar, at, at + n);
        slot = find_slot(known, bytes);
        if (!slot->bytes.p) {
            *slot = (struct piece){ bytes, m->text.n, true };
            buf_addstr(&m->text, bytes);
        }
        if (slot->is_own)
            add_segment(m, 0, slot->at, n);
        else
            add_from_base(m, slot->at, n);
    }
}

static void make_segments(struct maker *m, struct str tar)
{
    struct pieces known = { .cap = 64 };
    size_t n = count_pieces(tar) + (m->base ? count_pieces(m->base->tar) : 0);

    while (known.cap < 2 * n)
        known.cap *= 2;
    known.slots = xcalloc(known.cap, sizeof(*known.slots));
    m->pack->sources = ARENA_ARRAY(m->arena, struct str, MIRROR_SOURCES_MAX);
    if (m->base)
        add_base(&known, m->base->tar);
    take_apart(m, &known, tar);
    m->pack->text = arena_dup(m->arena, buf_str(&m->text));
    m->pack->tar_size = tar.n;
    free(known.slots);
    buf_done(&m->text);
}

/* Does what was written give the tar back? */
static int check(const struct maker *m, struct str bytes, struct str tar, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(4 * MIRROR_TAR_MAX);
    CLEANUP(buf_done) struct buf again = BUF_INIT(MIRROR_TAR_MAX);
    struct str texts[MIRROR_SOURCES_MAX + 1];
    struct pack p;
    int r = pack_parse(a, bytes, &p, err);

    if (r < 0)
        return r;
    texts[0] = p.text;
    for (size_t i = 0; i < p.n_sources; i++)
        texts[i + 1] = *m->texts[i];
    r = pack_tar(&p, texts, &again, err);
    if (r == 0 && !str_eq(buf_str(&again), tar))
        return err_set(err, ERRC_INTERNAL, "a pack does not give its archive back");
    return r;
}

/* The encoder that makes this very archive from its tar. */
static bool find_deflater(struct str archive, struct str header, struct str tar, enum archive_deflater *ret)
{
    for (int how = 0; how < ARCHIVE_DEFLATE_MAX_; how++) {
        CLEANUP(buf_done) struct buf again = BUF_INIT(archive.n);

        if (archive_gzip_join(header, (enum archive_deflater)how, tar, &again, NULL) == 0 &&
            str_eq(buf_str(&again), archive)) {
            *ret = (enum archive_deflater)how;
            return true;
        }
    }
    return false;
}

int pack_make(struct arena *a, struct str archive, const struct pack_base *base, struct pack *ret,
              struct buf *out, struct err **err)
{
    CLEANUP(buf_done) struct buf tar = BUF_INIT(MIRROR_TAR_MAX);
    struct pack p = { 0 };
    struct maker m = { .arena = a, .base = base, .pack = &p, .text = BUF_INIT(MIRROR_TAR_MAX) };
    int r;

    if (archive_gzip_split(archive, &p.header, &tar, NULL) < 0 || p.header.n > HEADER_MAX ||
        !find_deflater(archive, p.header, buf_str(&tar), &p.deflater))
        return 0;
    p.header = arena_dup(a, p.header);
    make_segments(&m, buf_str(&tar));
    if (m.full)
        return 0;
    r = print(&p, out, err);
    if (r == 0)
        r = check(&m, buf_str(out), buf_str(&tar), err);
    if (r < 0)
        return r;
    *ret = p;
    return WORTH(out->n, archive.n);
}

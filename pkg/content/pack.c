/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"
#include "base/digest.h"
#include "base/encode.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/utf8.h"
#include "content/content.h"
#include "content/content_int.h"
#include "json/json.h"

#define KEY_MAX 253
#define PLAIN_FILE_MAX (16 * KIB) /* in a set that must be compressed, text up to here stays readable */
#define CONTENTS_RESERVE (64 * KIB)

/* What a file became: bytes, and how they are written. */
struct packed {
    struct str bytes;
    const char *encoding;     /* "text", "bytes", "gzip" */
    struct value_list chunks; /* {part, key} */
};

struct packer {
    struct arena *arena;
    const struct content_set *set;
    struct value *parts;
    size_t n_parts, cap_parts, used; /* bytes in the last part */
    struct map keys;                 /* of all parts: a key is used once */
};

static bool is_text(struct str s)
{
    return utf8_valid(s) && !memchr(s.p ? s.p : "", '\0', s.n);
}

static bool is_key_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

/* "templates/web.yaml" becomes "templates__web.yaml"; a number makes it the only one of its name. */
static struct str make_key(struct packer *p, struct str path)
{
    struct arena *a = p->arena;
    char *text = arena_alloc_bytes(a, 2 * path.n + 2);
    struct str base, key;
    size_t n = 0;

    for (size_t i = 0; i < path.n && n + 2 < KEY_MAX - 8; i++) {
        if (path.p[i] == '/') {
            text[n++] = '_';
            text[n++] = '_';
        } else {
            text[n] = is_key_char(path.p[i]) && !(n == 0 && path.p[i] == '.') ? path.p[i] : '_';
            n++;
        }
    }
    base = key = (struct str){ text, n };
    for (int i = 2; key.n == 0 || map_has(&p->keys, key) || str_eq(key, STR(CONTENT_KEY)); i++)
        key = arena_printf(a, "%.*s_%d", STR_ARG(base), i);
    map_put(&p->keys, key, p);
    return key;
}

static struct value new_part(struct packer *p)
{
    struct arena *a = p->arena;
    struct value o = value_new_map(a);
    size_t number = p->n_parts + 1;
    struct str name =
        number == 1 ? p->set->name : arena_printf(a, "%.*s.part%zu", STR_ARG(p->set->name), number);

    value_setz(o, "apiVersion", VALUE_STR("v1"));
    value_setz(o, "kind", VALUE_STR("ConfigMap"));
    value_set_path(o, "metadata.name", value_from_str(name));
    value_set_path(o, "metadata.namespace", value_from_str(p->set->ns));
    value_set_path(o, "metadata.labels", value_copy_maps(a, p->set->labels));
    value_set_path(o, "metadata.annotations", value_copy_maps(a, p->set->annotations));
    if (value_is_map(p->set->owner))
        value_set_path(o, "metadata.ownerReferences", value_from_list(&p->set->owner, 1));
    if (p->set->immutable)
        value_setz(o, "immutable", value_from_bool(true));
    p->parts = arena_grow(a, p->parts, p->n_parts * sizeof(*p->parts), number * sizeof(*p->parts));
    p->parts[p->n_parts++] = o;
    p->used = number == 1 ? CONTENTS_RESERVE : 0;
    return o;
}

static void put(struct packer *p, struct str key, struct str bytes, bool text)
{
    CLEANUP(buf_done) struct buf encoded = BUF_INIT(8 * MIB);
    struct value part = p->parts[p->n_parts - 1];
    struct str member = text ? STR("data") : STR("binaryData");
    struct value data = value_get(part, member);

    if (!value_is_map(data))
        value_set(part, member, data = value_new_map(p->arena));
    if (!text)
        base64_encode(BASE64_STD, bytes, &encoded);
    value_set(data, key, value_from_str(text ? bytes : arena_dup(p->arena, buf_str(&encoded))));
    p->used += bytes.n;
}

/* Places the bytes behind what is there; only what is larger than a whole part is cut. */
static void place(struct packer *p, struct packed *f, struct str path, struct str wanted_key)
{
    bool text = str_eq(str_from(f->encoding), STR("text"));
    struct str rest = f->bytes;

    do {
        size_t room = CONFIGMAP_PART_MAX - p->used, n;
        struct value chunk = value_new_map(p->arena);
        struct str key;

        if (rest.n > room && (rest.n <= CONFIGMAP_PART_MAX || room < KIB)) {
            new_part(p);
            room = CONFIGMAP_PART_MAX;
        }
        n = MIN(rest.n, room);
        key = wanted_key.n && !map_has(&p->keys, wanted_key) ? wanted_key : make_key(p, path);
        map_put(&p->keys, key, p);
        put(p, key, str_sub(rest, 0, n), text);
        value_setz(chunk, "part", value_from_int((int64_t)p->n_parts));
        value_setz(chunk, "key", value_from_str(key));
        value_list_add(&f->chunks, chunk);
        rest = str_sub(rest, n, rest.n);
    } while (rest.n > 0);
}

static void encode_file(struct arena *a, const struct content_file *file, bool compress, struct packed *ret)
{
    CLEANUP(buf_done) struct buf packed = BUF_INIT(2 * ARCHIVE_UNPACKED_MAX);
    bool text = is_text(file->data);

    ret->bytes = file->data;
    ret->encoding = text ? "text" : "bytes";
    ret->chunks = VALUE_LIST_INIT(a);
    if (!compress || (text && file->data.n <= PLAIN_FILE_MAX) || archive_is_gzip(file->data))
        return;
    if (archive_gzip(file->data, &packed, NULL) < 0 || packed.n >= file->data.n)
        return;
    ret->bytes = arena_dup(a, buf_str(&packed));
    ret->encoding = "gzip";
}

/* Text that has to be cut could be cut inside a rune: then it is bytes. */
static void avoid_cut_text(struct packed *f)
{
    if (f->bytes.n > CONFIGMAP_PART_MAX && str_eq(str_from(f->encoding), STR("text")))
        f->encoding = "bytes";
}

static struct value describe(struct arena *a, const struct content_file *file, const struct packed *f)
{
    struct value v = value_new_map(a);
    char hex[SHA256_HEX];

    sha256_hex(file->data, hex);
    value_setz(v, "path", value_from_str(file->path));
    value_setz(v, "size", value_from_int((int64_t)file->data.n));
    value_setz(v, "sha256", value_from_str(arena_dup(a, str_from(hex))));
    value_setz(v, "encoding", value_from_str(str_from(f->encoding)));
    value_setz(v, "in", value_list_done(&f->chunks));
    return v;
}

/* The table goes into part 1: as text, or compressed when it is long. */
static void add_contents(struct packer *p, struct value files)
{
    CLEANUP(buf_done)
    struct buf text = BUF_INIT(64 * MIB), packed = BUF_INIT(64 * MIB), encoded = BUF_INIT(128 * MIB);
    struct value contents = value_new_map(p->arena), data;
    struct str member = STR("data");

    value_setz(contents, "version", value_from_int(CONTENT_VERSION));
    value_setz(contents, "parts", value_from_int((int64_t)p->n_parts));
    value_setz(contents, "files", files);
    if (json_print(contents, 0, &text, NULL) < 0)
        return;
    if (text.n > CONTENTS_RESERVE) {
        IGNORE_ERROR(archive_gzip(buf_str(&text), &packed, NULL));
        base64_encode(BASE64_STD, buf_str(&packed), &encoded);
        member = STR("binaryData");
    }
    data = value_get(p->parts[0], member);
    if (!value_is_map(data))
        value_set(p->parts[0], member, data = value_new_map(p->arena));
    value_setz(data, CONTENT_KEY,
               value_from_str(arena_dup(p->arena, encoded.n ? buf_str(&encoded) : buf_str(&text))));
}

static void label_parts(struct packer *p)
{
    for (size_t i = 0; i < p->n_parts; i++) {
        struct value labels = value_path(p->parts[i], "metadata.labels");

        value_setz(labels, CONTENT_LABEL_PART, value_from_str(arena_printf(p->arena, "%zu", i + 1)));
        value_setz(labels, CONTENT_LABEL_PARTS, value_from_str(arena_printf(p->arena, "%zu", p->n_parts)));
    }
}

struct value *content_objects(struct arena *a, const struct content_set *set,
                              const struct content_file *files, size_t n, size_t *ret_n)
{
    struct packer p = { .arena = a, .set = set };
    struct value_list described = VALUE_LIST_INIT(a);
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += files[i].data.n;
    new_part(&p);
    for (size_t i = 0; i < n; i++) {
        struct packed f;

        encode_file(a, &files[i], total > CONFIGMAP_PART_MAX - CONTENTS_RESERVE, &f);
        avoid_cut_text(&f);
        place(&p, &f, files[i].path, files[i].key);
        value_list_add(&described, describe(a, &files[i], &f));
    }
    add_contents(&p, value_list_done(&described));
    label_parts(&p);
    map_done(&p.keys);
    *ret_n = p.n_parts;
    return p.parts;
}

/* ---- back ---------------------------------------------------------------------------------------------------------- */

static int decode_base64(struct arena *a, struct str text, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(8 * MIB);

    if (!base64_decode(BASE64_STD, text, &raw, NULL) || raw.failed)
        return err_set(err, ERRC_PARSE, "not base64");
    *ret = arena_dup(a, buf_str(&raw));
    return 0;
}

static int read_key(struct arena *a, struct value part, struct str key, struct str *ret, struct err **err)
{
    struct value text = value_get(value_getz(part, "data"), key),
                 bytes = value_get(value_getz(part, "binaryData"), key);

    if (value_is_string(text)) {
        *ret = value_str(text);
        return 0;
    }
    if (!value_is_string(bytes))
        return err_set(err, ERRC_NOT_FOUND, "ConfigMap %.*s has no key %.*s",
                       STR_ARG(value_str(value_path(part, "metadata.name"))), STR_ARG(key));
    return decode_base64(a, value_str(bytes), ret, err);
}

static int gunzip(struct arena *a, struct str packed, size_t max, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(max);
    int r = archive_gunzip(packed, &out, err);

    if (r == 0)
        *ret = arena_dup(a, buf_str(&out));
    return r;
}

static int read_contents(struct arena *a, struct value part, struct value *ret, struct err **err)
{
    struct str text;
    int r = read_key(a, part, STR(CONTENT_KEY), &text, err);

    if (r == 0 && archive_is_gzip(text))
        r = gunzip(a, text, 64 * MIB, &text, err);
    if (r == 0)
        r = json_parse(a, text, NULL, ret, err);
    if (r < 0)
        return r;
    if (value_int(value_getz(*ret, "version"), 0) != CONTENT_VERSION)
        return err_set(err, ERRC_UNSUPPORTED, "ConfigMap %.*s: contents of version %lld",
                       STR_ARG(value_str(value_path(part, "metadata.name"))),
                       (long long)value_int(value_getz(*ret, "version"), 0));
    return 0;
}

size_t content_part_count(struct arena *a, struct value first)
{
    struct value contents;

    return read_contents(a, first, &contents, NULL) < 0 ? 0
                                                        : (size_t)value_int(value_getz(contents, "parts"), 0);
}

static int join_chunks(struct arena *a, const struct value *parts, size_t n_parts, struct value in,
                       struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(2 * ARCHIVE_UNPACKED_MAX);
    struct str piece = STR("");

    for (struct value_iter it = value_iter(in); value_next(&it);) {
        int64_t part = value_int(value_getz(it.v, "part"), 0);
        int r;

        if (part < 1 || (size_t)part > n_parts)
            return err_set(err, ERRC_NOT_FOUND, "part %lld is missing", (long long)part);
        r = read_key(a, parts[part - 1], value_str(value_getz(it.v, "key")), &piece, err);
        if (r < 0)
            return r;
        if (value_len(in) > 1)
            buf_addstr(&all, piece);
    }
    *ret = value_len(in) > 1 ? arena_dup(a, buf_str(&all)) : piece;
    return buf_check(&all, err);
}

static int unpack_file(struct arena *a, const struct value *parts, size_t n_parts, struct value entry,
                       struct content_file *ret, struct err **err)
{
    struct str encoding = value_str(value_getz(entry, "encoding")), data;
    struct str path = value_str(value_getz(entry, "path"));
    int64_t size = value_int(value_getz(entry, "size"), -1);
    char hex[SHA256_HEX];
    int r = join_chunks(a, parts, n_parts, value_getz(entry, "in"), &data, err);

    if (r == 0 && (size < 0 || (size_t)size > ARCHIVE_UNPACKED_MAX))
        return err_set(err, ERRC_LIMIT, "%.*s: size %lld", STR_ARG(path), (long long)size);
    if (r == 0 && str_eq(encoding, STR("gzip")))
        r = gunzip(a, data, (size_t)size, &data, err);
    if (r < 0)
        return err_wrap(err, r, "%.*s", STR_ARG(path));
    sha256_hex(data, hex);
    if ((size_t)size != data.n || !str_eq(str_from(hex), value_str(value_getz(entry, "sha256"))))
        return err_set(err, ERRC_DIGEST, "%.*s does not match its digest", STR_ARG(path));
    *ret = (struct content_file){ .path = path, .data = data };
    return 0;
}

int content_unpack(struct arena *a, const struct value *parts, size_t n_parts, struct content_file **ret,
                   size_t *ret_n, struct err **err)
{
    struct value contents, entries;
    struct content_file *files;
    int r =
        n_parts ? read_contents(a, parts[0], &contents, err) : err_set(err, ERRC_NOT_FOUND, "no part at all");

    if (r < 0)
        return r;
    entries = value_getz(contents, "files");
    if (value_len(entries) > ARCHIVE_ENTRIES_MAX)
        return err_set(err, ERRC_LIMIT, "%zu files", value_len(entries));
    files = ARENA_ARRAY(a, struct content_file, value_len(entries));
    for (struct value_iter it = value_iter(entries); value_next(&it);) {
        r = unpack_file(a, parts, n_parts, it.v, &files[it.i], err);
        if (r < 0)
            return r;
    }
    *ret = files;
    *ret_n = value_len(entries);
    return 0;
}

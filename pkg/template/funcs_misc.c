/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/gourl.h"
#include "semver/semver.h"
#include "template/funcs.h"

/* ---- paths: Go's path; path/filepath is the same on Linux ---- */

/* path.Clean. */
static struct str clean(struct arena *a, struct str path)
{
    bool rooted = path.n > 0 && path.p[0] == '/';
    char *out = arena_alloc_bytes(a, path.n + 2);
    size_t n = 0, keep = 0; /* what stands before keep is not undone by ".." */
    struct str part;

    if (rooted)
        out[n++] = '/';
    keep = n;
    while (str_split(&path, '/', &part)) {
        if (part.n == 0 || str_eq(part, STR(".")))
            continue;
        if (str_eq(part, STR("..")) && n > keep) {
            while (n > keep && out[n - 1] != '/')
                n--;
            if (n > keep)
                n--;
            continue;
        }
        if (str_eq(part, STR("..")) && rooted)
            continue;
        if (n > (rooted ? 1u : 0u))
            out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
        if (str_eq(part, STR("..")))
            keep = n;
    }
    return n == 0 ? STR(".") : (struct str){ out, n };
}

static int fn_clean(FN_ARGS)
{
    int r = tpl_reserve(c->x, fn_str(c, 0).n, err);

    return r < 0 ? r : fn_ret_str(ret, clean(c->arena, fn_str(c, 0)));
}

static int fn_base(FN_ARGS)
{
    struct str path = fn_str(c, 0);

    if (path.n == 0)
        return fn_ret_str(ret, STR("."));
    while (path.n > 0 && path.p[path.n - 1] == '/')
        path.n--;
    return fn_ret_str(ret, path.n == 0 ? STR("/") : str_basename(path));
}

static int fn_dir(FN_ARGS)
{
    struct str path = fn_str(c, 0);
    size_t slash = str_rfind_char(path, '/');
    int r = tpl_reserve(c->x, path.n, err);

    if (r < 0)
        return r;
    return fn_ret_str(ret, clean(c->arena, slash == STR_NPOS ? STR("") : str_sub(path, 0, slash + 1)));
}

static int fn_ext(FN_ARGS)
{
    struct str path = fn_str(c, 0);

    for (size_t i = path.n; i > 0 && path.p[i - 1] != '/'; i--)
        if (path.p[i - 1] == '.')
            return fn_ret_str(ret, str_sub(path, i - 1, path.n));
    return fn_ret_str(ret, STR(""));
}

static int fn_is_abs(FN_ARGS)
{
    return fn_ret_bool(ret, str_has_prefix(fn_str(c, 0), STR("/")));
}

/* ---- URLs ---- */

static int fn_url_parse(FN_ARGS)
{
    CLEANUP(buf_done) struct buf user = FN_BUF;
    struct gourl u;
    struct value map;
    struct str text = fn_str(c, 0), userinfo;
    int r = tpl_reserve(c->x, 4 * text.n, err);

    if (r == 0 && (r = gourl_parse(c->arena, text, &u, err)) < 0)
        r = err_wrap(err, r, "unable to parse url");
    if (r < 0)
        return r;
    gourl_format_user(&u, &user);
    r = fn_keep(c, &user, &userinfo, err);
    if (r < 0)
        return r;
    map = value_new_map_sized(c->arena, 8);
    value_setz(map, "scheme", value_from_str(u.scheme));
    value_setz(map, "host", value_from_str(u.host));
    value_setz(map, "hostname", value_from_str(gourl_hostname(&u)));
    value_setz(map, "path", value_from_str(u.path));
    value_setz(map, "query", value_from_str(u.query));
    value_setz(map, "opaque", value_from_str(u.opaque));
    value_setz(map, "fragment", value_from_str(u.fragment));
    value_setz(map, "userinfo", value_from_str(userinfo));
    *ret = map;
    return 0;
}

static int url_part(struct value map, const char *key, struct str *ret, struct err **err)
{
    const struct value_entry *e = value_find(map, str_from(key));

    if (!e) {
        *ret = STR("");
        return 0;
    }
    if (fn_is_nil(e->v))
        return err_set(err, ERRC_TEMPLATE, FN_NIL_POINTER);
    if (!value_is_string(e->v))
        return err_set(err, ERRC_TEMPLATE, "unable to parse %s key, must be of type string, but %s found",
                       key, tpl_kind_name(e->v));
    *ret = value_str(e->v);
    return 0;
}

static int url_user(struct tpl_call *c, struct gourl *u, struct str userinfo, struct err **err)
{
    struct gourl from;
    struct str text;
    int r = tpl_reserve(c->x, 4 * userinfo.n, err);

    if (r < 0)
        return r;
    text = arena_printf(c->arena, "proto://" STR_FMT "@host", STR_ARG(userinfo));
    r = gourl_parse(c->arena, text, &from, err);
    if (r < 0)
        return err_wrap(err, r, "unable to parse userinfo in dict");
    u->user = from.user;
    u->password = from.password;
    u->has_user = from.has_user;
    u->has_password = from.has_password;
    return 0;
}

static int fn_url_join(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;
    struct gourl u = { 0 };
    struct str userinfo;
    const struct {
        const char *key;
        struct str *to;
    } parts[] = { { "scheme", &u.scheme },  { "host", &u.host },     { "path", &u.path },
                  { "query", &u.query },    { "opaque", &u.opaque }, { "fragment", &u.fragment },
                  { "userinfo", &userinfo } };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++)
        r = url_part(c->args[0], parts[i].key, parts[i].to, err);
    if (r == 0 && userinfo.n > 0)
        r = url_user(c, &u, userinfo, err);
    if (r < 0)
        return r;
    gourl_format(&u, &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* ---- versions ---- */

struct version {
    struct tpl_object object;
    struct semver v;
};

static const struct semver *receiver(const struct tpl_call *c)
{
    return &((const struct version *)c->receiver.object)->v;
}

static int ret_uint64(struct value *ret, uint64_t u)
{
    *ret = value_from_uint(u);
    return 0;
}

static int version_major(FN_ARGS)
{
    return ret_uint64(ret, receiver(c)->major);
}

static int version_minor(FN_ARGS)
{
    return ret_uint64(ret, receiver(c)->minor);
}

static int version_patch(FN_ARGS)
{
    return ret_uint64(ret, receiver(c)->patch);
}

static int version_prerelease(FN_ARGS)
{
    return fn_ret_str(ret, receiver(c)->pre);
}

static int version_metadata(FN_ARGS)
{
    return fn_ret_str(ret, receiver(c)->metadata);
}

static int version_original(FN_ARGS)
{
    return fn_ret_str(ret, receiver(c)->original);
}

static int version_string(FN_ARGS)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    semver_format(receiver(c), &b);
    return fn_ret_buf(c, &b, ret, err);
}

/* The order of the receiver and the argument; a nil argument panics as Go does. */
static int order(const struct tpl_call *c, int *ret, struct err **err)
{
    if (c->args[0].kind != VALUE_OBJECT)
        return err_set(err, ERRC_TEMPLATE, FN_NIL_POINTER);
    *ret = semver_cmp(receiver(c), &((const struct version *)c->args[0].object)->v);
    return 0;
}

static int version_compare(FN_ARGS)
{
    int cmp = 0, r = order(c, &cmp, err);

    if (r == 0)
        *ret = fn_go_int(cmp);
    return r;
}

static int version_equal(FN_ARGS)
{
    int cmp = 0, r = order(c, &cmp, err);

    return r < 0 ? r : fn_ret_bool(ret, cmp == 0);
}

static int version_less_than(FN_ARGS)
{
    int cmp = 0, r = order(c, &cmp, err);

    return r < 0 ? r : fn_ret_bool(ret, cmp < 0);
}

static int version_greater_than(FN_ARGS)
{
    int cmp = 0, r = order(c, &cmp, err);

    return r < 0 ? r : fn_ret_bool(ret, cmp > 0);
}

static int version_less_than_equal(FN_ARGS)
{
    int cmp = 0, r = order(c, &cmp, err);

    return r < 0 ? r : fn_ret_bool(ret, cmp <= 0);
}

static int version_greater_than_equal(FN_ARGS)
{
    int cmp = 0, r = order(c, &cmp, err);

    return r < 0 ? r : fn_ret_bool(ret, cmp >= 0);
}

static struct value new_version(struct arena *a, struct semver v);

/* IncMajor and its like: a value, not a pointer, upstream; with a leading v where the original had one. */
static int ret_incremented(FN_ARGS, const char *part, struct semver next)
{
    struct str original = receiver(c)->original;
    CLEANUP(buf_done) struct buf text = FN_BUF;
    uint64_t changed = part[0] == 'm' && part[1] == 'a' ? next.major
                       : part[0] == 'm'                 ? next.minor
                                                        : next.patch;
    int r;

    if (changed == UINT64_MAX && part[0] != '\0')
        return err_set(err, ERRC_TEMPLATE, "%s version increment would overflow uint64", part);
    next.major += part[0] == 'm' && part[1] == 'a';
    next.minor += part[0] == 'm' && part[1] == 'i';
    next.patch += part[0] == 'p';
    next.pre = next.metadata = STR("");
    if (original.n > 0 && original.p[0] == 'v')
        buf_addc(&text, 'v');
    semver_format(&next, &text);
    r = fn_keep(c, &text, &next.original, err);
    if (r == 0)
        *ret = new_version(c->arena, next);
    return r;
}

static int version_inc_major(FN_ARGS)
{
    struct semver next = *receiver(c);

    next.minor = next.patch = 0;
    return ret_incremented(c, ret, err, "major", next);
}

static int version_inc_minor(FN_ARGS)
{
    struct semver next = *receiver(c);

    next.patch = 0;
    return ret_incremented(c, ret, err, "minor", next);
}

/* A pre-release's next patch is its own release. */
static int version_inc_patch(FN_ARGS)
{
    return ret_incremented(c, ret, err, receiver(c)->pre.n > 0 ? "" : "patch", *receiver(c));
}

static void version_print(const struct tpl_object *o, char verb FN_UNUSED, bool sharp_or_plus FN_UNUSED,
                          struct buf *out)
{
    semver_format(&((const struct version *)o)->v, out);
}

static struct value version_to_json(const struct tpl_object *o, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = FN_BUF;

    semver_format(&((const struct version *)o)->v, &b);
    return value_from_str(arena_dup(a, buf_str(&b)));
}

static bool version_struct_field(const struct tpl_object *o, size_t i, const char **ret_name,
                                 struct value *ret)
{
    static const char *const names[] = { "major", "minor", "patch", "pre", "metadata", "original" };
    const struct semver *v = &((const struct version *)o)->v;
    const struct value fields[] = { value_from_uint(v->major),   value_from_uint(v->minor),
                                    value_from_uint(v->patch),   value_from_str(v->pre),
                                    value_from_str(v->metadata), value_from_str(v->original) };

    if (i >= ARRAY_SIZE(names))
        return false;
    *ret_name = names[i];
    *ret = fields[i];
    return true;
}

/* MarshalText: a text for every encoder. */
static struct value version_to_moment(const struct tpl_object *o, struct arena *a, bool toml FN_UNUSED)
{
    return version_to_json(o, a);
}

static bool version_deep_equal(const struct tpl_object *a, const struct tpl_object *b)
{
    const struct semver *va = &((const struct version *)a)->v, *vb = &((const struct version *)b)->v;

    return va->major == vb->major && va->minor == vb->minor && va->patch == vb->patch &&
           str_eq(va->pre, vb->pre) && str_eq(va->metadata, vb->metadata) &&
           str_eq(va->original, vb->original);
}

static const struct tpl_method version_methods[] = {
    { "Compare", "V", 'i', version_compare },
    { "Equal", "V", 'b', version_equal },
    { "GreaterThan", "V", 'b', version_greater_than },
    { "GreaterThanEqual", "V", 'b', version_greater_than_equal },
    { "IncMajor", "", '?', version_inc_major },
    { "IncMinor", "", '?', version_inc_minor },
    { "IncPatch", "", '?', version_inc_patch },
    { "LessThan", "V", 'b', version_less_than },
    { "LessThanEqual", "V", 'b', version_less_than_equal },
    { "Major", "", '?', version_major },
    { "Metadata", "", 's', version_metadata },
    { "Minor", "", '?', version_minor },
    { "Original", "", 's', version_original },
    { "Patch", "", '?', version_patch },
    { "Prerelease", "", 's', version_prerelease },
    { "String", "", 's', version_string },
    { NULL, NULL, 0, NULL },
};

static const char *const version_unexported[] = { "major", "metadata", "minor", "original",
                                                  "patch", "pre",      NULL };

static struct value new_version(struct arena *a, struct semver v);

static struct value version_deep_copy(const struct tpl_object *o FN_UNUSED, struct arena *a)
{
    return new_version(a, (struct semver){ .pre = STR(""), .metadata = STR(""), .original = STR("") });
}

static const struct tpl_object_type version_type = {
    .go_name = "*semver.Version",
    .go_kind = "ptr",
    .methods = version_methods,
    .unexported = version_unexported,
    .print = version_print,
    .struct_field = version_struct_field,
    .to_json = version_to_json,
    .to_moment = version_to_moment,
    .deep_copy = version_deep_copy,
    .equal = version_deep_equal,
};

static struct value new_version(struct arena *a, struct semver v)
{
    struct version *o = ARENA_NEW(a, struct version);

    o->object.type = &version_type;
    o->v = v;
    return tpl_object_value(&o->object);
}

static int fn_semver(FN_ARGS)
{
    struct semver v;
    int r = semver_parse(fn_str(c, 0), &v, err);

    if (r == 0)
        *ret = new_version(c->arena, v);
    return r;
}

static int fn_semver_compare(FN_ARGS)
{
    CLEANUP(semver_constraint_free) struct semver_constraint *constraint = NULL;
    struct semver v;
    int r = semver_constraint_parse(fn_str(c, 0), &constraint, err);

    if (r == 0)
        r = semver_parse(fn_str(c, 1), &v, err);
    return r < 0 ? r : fn_ret_bool(ret, semver_constraint_check(constraint, &v));
}

/* ---- network ---- */

static int fn_get_host_by_name(FN_ARGS)
{
    struct str address;
    int r = tpl_resolve(c->x, fn_str(c, 0), &address, err);

    return r < 0 ? r : fn_ret_str(ret, address);
}

static const struct tpl_func funcs[] = {
    { "base", "s", 's', fn_base },
    { "clean", "s", 's', fn_clean },
    { "dir", "s", 's', fn_dir },
    { "ext", "s", 's', fn_ext },
    { "getHostByName", "s", 's', fn_get_host_by_name },
    { "isAbs", "s", 'b', fn_is_abs },
    { "osBase", "s", 's', fn_base },
    { "osClean", "s", 's', fn_clean },
    { "osDir", "s", 's', fn_dir },
    { "osExt", "s", 's', fn_ext },
    { "osIsAbs", "s", 'b', fn_is_abs },
    { "semver", "s", '?', fn_semver },
    { "semverCompare", "ss", 'b', fn_semver_compare },
    { "urlJoin", "m", 's', fn_url_join },
    { "urlParse", "s", 'm', fn_url_parse },
};

const struct tpl_func_table tpl_funcs_misc = { funcs, ARRAY_SIZE(funcs) };

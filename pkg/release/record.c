/* SPDX-License-Identifier: Apache-2.0 */
#include "release/record.h"

#include <assert.h>
#include <stdlib.h>

#include "archive/archive.h"
#include "base/encode.h"
#include "base/limits.h"
#include "json/json.h"

static const struct {
    const char *name;
    bool busy;
} statuses[RECORD_STATUS_MAX_] = {
#define X(code, text, busy) [RECORD_##code] = { text, busy },
    RECORD_STATUS_MAP(X)
#undef X
};

const char *record_status_name(enum record_status s)
{
    return statuses[s].name;
}

static enum record_status record_status_parse(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
        if (str_eq(name, str_from(statuses[i].name)))
            return (enum record_status)i;
    return RECORD_UNKNOWN;
}

bool record_status_busy(enum record_status s)
{
    return statuses[s].busy;
}

static struct record *record_empty(void)
{
    struct record *r = xcalloc(1, sizeof(*r));

    r->arena = arena_new(4 * RELEASE_RECORD_UNPACKED_MAX);
    return r;
}

struct record *record_new(struct str ns, struct str name, int64_t revision)
{
    struct record *r = record_empty();

    r->release = value_new_map(r->arena);
    r->labels = value_new_map(r->arena);
    r->annotations = value_new_map(r->arena);
    value_setz(r->release, "name", value_from_str(arena_dup(r->arena, name)));
    value_setz(r->release, "namespace", value_from_str(arena_dup(r->arena, ns)));
    value_setz(r->release, "version", value_from_int(revision));
    value_setz(r->release, "apply_method", VALUE_STR("ssa"));
    value_setz(r->release, "info", value_new_map(r->arena));
    return r;
}

struct record *record_new_rollback(const struct record *target, int64_t revision)
{
    static const char *const kept[] = { "chart", "config", "manifest", "hooks" };
    struct record *r = record_new(record_namespace(target), record_name(target), revision);
    struct value info = value_getz(r->release, "info"), old = value_getz(target->release, "info");

    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        if (value_has(target->release, str_from(kept[i])))
            value_set(r->release, str_from(kept[i]),
                      value_copy(r->arena, value_get(target->release, str_from(kept[i])), NULL));
    for (struct value_iter it = value_iter(record_hooks(r)); value_next(&it);)
        value_unset(it.v, STR("last_run"));
    if (value_has(old, STR("notes")))
        value_setz(info, "notes", value_copy(r->arena, value_getz(old, "notes"), NULL));
    value_setz(info, "first_deployed", value_copy(r->arena, value_getz(old, "first_deployed"), NULL));
    record_set_deployed_now(r);
    record_set_status(r, RECORD_PENDING_ROLLBACK,
                      arena_printf(r->arena, "Rollback to %lld", (long long)record_revision(target)));
    for (struct value_iter it = value_iter(target->labels); value_next(&it);)
        value_set(r->labels, arena_dup(r->arena, it.key), value_copy(r->arena, it.v, NULL));
    return r;
}

void record_free(struct record *r)
{
    if (!r)
        return;
    arena_free(r->arena);
    free(r);
}

/* data.release is base64 of the API, then base64 of Helm, then gzip unless an old Helm wrote plain JSON. */
static int unpack(struct str data, struct buf *json, struct err **err)
{
    CLEANUP(buf_done)
    struct buf outer = BUF_INIT(2 * RELEASE_RECORD_MAX), inner = BUF_INIT(2 * RELEASE_RECORD_MAX);

    if (!base64_decode(BASE64_STD, data, &outer, NULL) || outer.failed ||
        !base64_decode(BASE64_STD, buf_str(&outer), &inner, NULL) || inner.failed)
        return err_set(err, ERRC_PARSE, "data.release is not base64 of base64");
    if (archive_is_gzip(buf_str(&inner)))
        return archive_gunzip(buf_str(&inner), json, err);
    buf_addstr(json, buf_str(&inner));
    return buf_check(json, err);
}

static struct value map_or_new(struct arena *a, struct value v)
{
    return value_is_map(v) ? value_copy(a, v, NULL) : value_new_map(a);
}

int record_decode(struct value secret, struct record **ret, struct err **err)
{
    CLEANUP(buf_done) struct buf json = BUF_INIT(RELEASE_RECORD_UNPACKED_MAX);
    CLEANUP(record_free) struct record *r = record_empty();
    struct value metadata = value_getz(secret, "metadata");
    struct str name = value_str(value_getz(metadata, "name"));
    int e = unpack(value_str(value_path(secret, "data.release")), &json, err);

    if (e == 0)
        e = json_parse(r->arena, buf_str(&json), NULL, &r->release, err);
    if (e < 0)
        return err_wrap(err, e, "release record %.*s", STR_ARG(name));
    if (!value_is_map(r->release) || !value_is_map(value_getz(r->release, "info")))
        return err_set(err, ERRC_PARSE, "release record %.*s: not a Helm release", STR_ARG(name));
    r->labels = map_or_new(r->arena, value_getz(metadata, "labels"));
    r->annotations = map_or_new(r->arena, value_getz(metadata, "annotations"));
    r->resource_version = arena_dup(r->arena, value_str(value_getz(metadata, "resourceVersion")));
    *ret = TAKE(r);
    return 0;
}

static bool is_system_label(struct str key)
{
    static const char *const names[] = { "name", "owner", "status", "version", "createdAt", "modifiedAt" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (str_eq(key, str_from(names[i])))
            return true;
    return false;
}

/* Custom labels stay; Helm's own are made anew, with createdAt or modifiedAt as Helm does on create and update. */
static struct value encode_labels(const struct record *r, struct arena *a)
{
    struct value labels = value_new_map(a);

    for (struct value_iter it = value_iter(r->labels); value_next(&it);)
        if (!is_system_label(it.key))
            value_set(labels, it.key, it.v);
    value_setz(labels, "name", value_from_str(record_name(r)));
    value_setz(labels, "owner", VALUE_STR("helm"));
    value_setz(labels, "status", value_from_str(str_from(record_status_name(record_status(r)))));
    value_setz(labels, "version", value_from_str(arena_printf(a, "%lld", (long long)record_revision(r))));
    value_set(labels, r->resource_version.n > 0 ? STR("modifiedAt") : STR("createdAt"),
              value_from_str(arena_printf(a, "%lld", (long long)clock_wall().s)));
    return labels;
}

static int pack(const struct record *r, struct arena *a, struct str *ret, struct err **err)
{
    CLEANUP(buf_done)
    struct buf json = BUF_INIT(RELEASE_RECORD_UNPACKED_MAX), packed = BUF_INIT(RELEASE_RECORD_MAX);
    CLEANUP(buf_done)
    struct buf inner = BUF_INIT(2 * RELEASE_RECORD_MAX), outer = BUF_INIT(4 * RELEASE_RECORD_MAX);
    int e = json_print(r->release, JSON_ESCAPE_HTML, &json, err);

    if (e < 0)
        return e;
    e = archive_gzip(buf_str(&json), &packed, err);
    if (e == 0)
        base64_encode(BASE64_STD, buf_str(&packed), &inner);
    if (e < 0 || inner.n > RELEASE_RECORD_MAX) {
        err_clear(err);
        return err_set(
            err, ERRC_LIMIT,
            "the release record has %zu bytes unpacked and more than the %zu packed ones that a Secret holds",
            json.n, RELEASE_RECORD_MAX);
    }
    base64_encode(BASE64_STD, buf_str(&inner), &outer);
    *ret = arena_dup(a, buf_str(&outer));
    return 0;
}

static struct str record_secret_name(struct arena *a, struct str release, int64_t revision)
{
    return arena_printf(a, "sh.helm.release.v1.%.*s.v%lld", STR_ARG(release), (long long)revision);
}

int record_encode(const struct record *r, struct arena *a, struct value *ret, struct err **err)
{
    struct value secret = value_new_map(a), metadata = value_new_map(a), data = value_new_map(a);
    struct str packed, name = record_secret_name(a, record_name(r), record_revision(r));
    int e = pack(r, a, &packed, err);

    if (e < 0)
        return err_wrap(err, e, "release record %.*s", STR_ARG(name));
    value_setz(metadata, "name", value_from_str(name));
    value_setz(metadata, "namespace", value_from_str(record_namespace(r)));
    value_setz(metadata, "labels", encode_labels(r, a));
    if (value_len(r->annotations) > 0)
        value_setz(metadata, "annotations", r->annotations);
    if (r->resource_version.n > 0)
        value_setz(metadata, "resourceVersion", value_from_str(r->resource_version));
    value_setz(data, "release", value_from_str(packed));
    value_setz(secret, "apiVersion", VALUE_STR("v1"));
    value_setz(secret, "kind", VALUE_STR("Secret"));
    value_setz(secret, "type", VALUE_STR(RECORD_SECRET_TYPE));
    value_setz(secret, "metadata", metadata);
    value_setz(secret, "data", data);
    *ret = secret;
    return 0;
}

struct record_head record_head(struct value metadata)
{
    struct value labels = value_getz(metadata, "labels");
    struct record_head h = {
        .secret_name = value_str(value_getz(metadata, "name")),
        .release = value_str(value_getz(labels, "name")),
        .status = record_status_parse(value_str(value_getz(labels, "status"))),
    };

    if (!str_eq(value_str(value_getz(labels, "owner")), STR("helm")) ||
        !str_to_int64(value_str(value_getz(labels, "version")), &h.revision))
        h.revision = 0;
    return h;
}

struct str record_name(const struct record *r)
{
    return value_str(value_getz(r->release, "name"));
}

struct str record_namespace(const struct record *r)
{
    return value_str(value_getz(r->release, "namespace"));
}

int64_t record_revision(const struct record *r)
{
    return value_int(value_getz(r->release, "version"), 0);
}

enum record_status record_status(const struct record *r)
{
    return record_status_parse(value_str(value_path(r->release, "info.status")));
}

struct str record_manifest(const struct record *r)
{
    return value_str(value_getz(r->release, "manifest"));
}

struct value record_config(const struct record *r)
{
    return value_getz(r->release, "config");
}

struct value record_chart(const struct record *r)
{
    return value_getz(r->release, "chart");
}

struct value record_hooks(const struct record *r)
{
    return value_getz(r->release, "hooks");
}

struct str record_annotation(const struct record *r, const char *key)
{
    return value_str(value_get(r->annotations, str_from(key)));
}

bool record_is_ssa(const struct record *r)
{
    return str_eq(value_str(value_getz(r->release, "apply_method")), STR("ssa"));
}

static struct value now_text(struct arena *a)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64);

    clock_format_rfc3339_nano(clock_wall(), &text);
    return value_from_str(arena_dup(a, buf_str(&text)));
}

void record_set_status(struct record *r, enum record_status s, struct str description)
{
    struct value info = value_getz(r->release, "info");

    value_setz(info, "status", value_from_str(str_from(record_status_name(s))));
    if (description.p)
        value_setz(info, "description", value_from_str(arena_dup(r->arena, description)));
    if (s == RECORD_UNINSTALLING)
        value_setz(info, "deleted", now_text(r->arena));
}

void record_set_deployed_now(struct record *r)
{
    struct value info = value_getz(r->release, "info"), now = now_text(r->arena);

    if (!value_has(info, STR("first_deployed")))
        value_setz(info, "first_deployed", now);
    value_setz(info, "last_deployed", now);
}

void record_set_annotation(struct record *r, const char *key, struct str v)
{
    value_set(r->annotations, arena_dup(r->arena, str_from(key)), value_from_str(arena_dup(r->arena, v)));
}

static struct value find_hook(const struct record *r, struct str kind, struct str name, struct str path)
{
    for (struct value_iter it = value_iter(record_hooks(r)); value_next(&it);)
        if (str_eq(value_str(value_getz(it.v, "kind")), kind) &&
            str_eq(value_str(value_getz(it.v, "name")), name) &&
            str_eq(value_str(value_getz(it.v, "path")), path))
            return it.v;
    return VALUE_NONE;
}

struct record_hook_run record_hook_run(const struct record *r, struct str kind, struct str name,
                                       struct str path)
{
    struct value run = value_getz(find_hook(r, kind, name, path), "last_run");

    return (struct record_hook_run){ value_str(value_getz(run, "phase")), value_has(run, STR("started_at")) };
}

void record_set_hook_run(struct record *r, struct str kind, struct str name, struct str path,
                         const char *phase)
{
    struct value hook = find_hook(r, kind, name, path), run;

    assert(value_is_map(hook)); /* hooks come from the record itself */
    run = value_new_map(r->arena);
    if (str_eq(str_from(phase), STR("Running")))
        value_setz(run, "started_at", now_text(r->arena));
    else
        value_setz(run, "started_at", value_path(hook, "last_run.started_at"));
    if (!str_eq(str_from(phase), STR("Running")))
        value_setz(run, "completed_at", now_text(r->arena));
    value_setz(run, "phase", value_from_str(arena_dup(r->arena, str_from(phase))));
    value_setz(hook, "last_run", run);
}

void record_reset_hooks(struct record *r, const char *event)
{
    for (struct value_iter it = value_iter(record_hooks(r)); value_next(&it);)
        for (struct value_iter e = value_iter(value_getz(it.v, "events")); value_next(&e);)
            if (str_eq(value_str(e.v), str_from(event)))
                value_unset(it.v, STR("last_run"));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "base/utf8.h"
#include "metadata/metadata.h"
#include "semver/semver.h"

#define QUOTED_MAX ((size_t)64 * 1024)

static bool is_clean(struct str s)
{
    bool clean = true;

    for (size_t i = 0; i < s.n; i++) /* without a branch for each of them */
        clean &= (unsigned char)(s.p[i] - 0x20) < 0x7f - 0x20;
    return clean;
}

/* White space becomes a blank, what cannot be printed goes; an invalid byte is U+FFFD to Go's strings.Map(). */
static void sanitise(struct arena *a, struct str *s)
{
    char *out;
    size_t n = 0;

    if (is_clean(*s))
        return;
    out = arena_alloc_bytes(a, 3 * s->n + 1);
    for (size_t i = 0; i < s->n;) {
        uint32_t rune;
        size_t width = utf8_decode(str_sub(*s, i, s->n), &rune);

        if (rune == UTF8_INVALID) {
            memcpy(out + n, "\xef\xbf\xbd", 3);
            n += 3;
        } else if (utf8_is_space(rune)) {
            out[n++] = ' ';
        } else if (utf8_is_print(rune)) {
            memcpy(out + n, s->p + i, width);
            n += width;
        }
        i += width;
    }
    *s = (struct str){ out, n };
}

static void sanitise_all(struct arena *a, struct metadata_strings *list)
{
    for (size_t i = 0; i < list->n; i++)
        sanitise(a, &list->items[i]);
}

static int refuse(struct err **err, const char *text)
{
    return err_set(err, ERRC_INVALID, "validation: %s", text);
}

static int refuse_named(struct err **err, const char *before, struct str name, const char *after)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(QUOTED_MAX);

    utf8_quote(name, &quoted);
    return err_set(err, ERRC_INVALID, "validation: %s%s%s", before, buf_z(&quoted), after);
}

/* filepath.Base(name) == name for a name that is not empty. */
static bool is_base_name(struct str name)
{
    return str_find_char(name, '/') == STR_NPOS;
}

static int check_name(const struct metadata *md, struct err **err)
{
    if (md->name.n == 0)
        return refuse(err, "chart.metadata.name is required");
    if (str_eq(md->name, STR(".")) || str_eq(md->name, STR("..")))
        return refuse_named(err, "chart.metadata.name ", md->name, " is not allowed");
    if (!is_base_name(md->name))
        return refuse_named(err, "chart.metadata.name ", md->name, " is invalid");
    return 0;
}

static int check_version(const struct metadata *md, struct err **err)
{
    struct semver v;

    if (md->version.n == 0)
        return refuse(err, "chart.metadata.version is required");
    if (semver_parse(md->version, &v, NULL) < 0)
        return refuse_named(err, "chart.metadata.version ", md->version, " is invalid");
    return 0;
}

static int check_type(const struct metadata *md, struct err **err)
{
    if (md->type.n > 0 && !str_eq(md->type, STR("application")) && !str_eq(md->type, STR("library")))
        return refuse(err, "chart.metadata.type must be application or library");
    return 0;
}

static int check_maintainers(struct arena *a, struct metadata *md, struct err **err)
{
    for (size_t i = 0; i < md->n_maintainers; i++) {
        struct metadata_maintainer *m = &md->maintainers[i];

        if (m->is_null)
            return refuse(err, "maintainers must not contain empty or null nodes");
        sanitise(a, &m->name);
        sanitise(a, &m->email);
        sanitise(a, &m->url);
    }
    return 0;
}

static bool is_alias(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
            return false;
    return true;
}

static int check_dependency(struct arena *a, struct metadata_dependency *d, struct err **err)
{
    if (d->is_null)
        return refuse(err, "dependencies must not contain empty or null nodes");
    sanitise(a, &d->name);
    sanitise(a, &d->version);
    sanitise(a, &d->repository);
    sanitise(a, &d->condition);
    sanitise_all(a, &d->tags);
    if (!is_alias(d->alias))
        return refuse_named(err, "dependency ", d->name, " has disallowed characters in the alias");
    return 0;
}

static int check_dependencies(struct arena *a, struct metadata *md, struct err **err)
{
    CLEANUP(map_done) struct map seen = MAP_INIT;

    for (size_t i = 0; i < md->n_dependencies; i++) {
        struct metadata_dependency *d = &md->dependencies[i];
        struct str key;
        int r = check_dependency(a, d, err);

        if (r < 0)
            return r;
        key = d->alias.n > 0 ? d->alias : d->name;
        if (md->n_dependencies > 1 && map_put(&seen, key, d))
            return refuse_named(err, "more than one dependency with name or alias ", key, "");
    }
    return 0;
}

int metadata_check(struct arena *a, struct metadata *md, struct err **err)
{
    struct str *const texts[] = { &md->name,      &md->description, &md->home,        &md->icon,
                                  &md->condition, &md->tags,        &md->app_version, &md->kube_version };
    int (*const checks[])(const struct metadata *, struct err **) = { check_name, check_version, check_type };
    int r;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        sanitise(a, texts[i]);
    sanitise_all(a, &md->sources);
    sanitise_all(a, &md->keywords);
    if (md->api_version.n == 0)
        return refuse(err, "chart.metadata.apiVersion is required");
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        r = checks[i](md, err);
        if (r < 0)
            return r;
    }
    r = check_maintainers(a, md, err);
    if (r < 0)
        return r;
    return check_dependencies(a, md, err);
}

struct metadata *metadata_copy(struct arena *a, const struct metadata *md)
{
    struct metadata *copy = ARENA_NEW(a, struct metadata);

    *copy = *md;
    if (md->dependencies) { /* an empty list is not the same as none */
        copy->dependencies = ARENA_ARRAY(a, struct metadata_dependency, md->n_dependencies);
        memcpy(copy->dependencies, md->dependencies, md->n_dependencies * sizeof(*md->dependencies));
    }
    return copy;
}

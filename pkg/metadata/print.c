/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/limits.h"
#include "metadata/metadata.h"
#include "json/json.h"

/* Members of one JSON object, in the order they are added. */
struct object {
    struct buf *out;
    struct err **err;
    bool first;
    int failed;
};

static struct object object_open(struct buf *out, struct err **err)
{
    buf_addc(out, '{');
    return (struct object){ .out = out, .err = err, .first = true };
}

static void object_name(struct object *o, const char *name)
{
    if (!o->first)
        buf_addc(o->out, ',');
    o->first = false;
    buf_addf(o->out, "\"%s\":", name);
}

static void add_text(struct object *o, const char *name, struct str s)
{
    if (s.n == 0)
        return;
    object_name(o, name);
    json_print_string(s, JSON_ESCAPE_HTML, o->out);
}

static void add_texts(struct object *o, const char *name, const struct metadata_strings *list)
{
    if (list->n == 0)
        return;
    object_name(o, name);
    for (size_t i = 0; i < list->n; i++) {
        buf_addc(o->out, i ? ',' : '[');
        json_print_string(list->items[i], JSON_ESCAPE_HTML, o->out);
    }
    buf_addc(o->out, ']');
}

static void add_true(struct object *o, const char *name, bool b)
{
    if (!b)
        return;
    object_name(o, name);
    buf_adds(o->out, "true");
}

static void add_value(struct object *o, const char *name, struct value v)
{
    if (value_len(v) == 0 || o->failed < 0)
        return;
    object_name(o, name);
    o->failed = json_print(v, JSON_ESCAPE_HTML, o->out, o->err);
}

static void add_maintainers(struct object *o, const struct metadata *md)
{
    if (md->n_maintainers == 0)
        return;
    object_name(o, "maintainers");
    for (size_t i = 0; i < md->n_maintainers; i++) {
        const struct metadata_maintainer *m = &md->maintainers[i];
        struct object item;

        buf_addc(o->out, i ? ',' : '[');
        item = object_open(o->out, o->err);
        add_text(&item, "name", m->name);
        add_text(&item, "email", m->email);
        add_text(&item, "url", m->url);
        buf_addc(o->out, '}');
    }
    buf_addc(o->out, ']');
}

/* name and repository are always there, as their Go tags have no omitempty. */
static int print_dependency(const struct metadata_dependency *d, struct buf *out, struct err **err)
{
    struct object o = object_open(out, err);

    object_name(&o, "name");
    json_print_string(d->name, JSON_ESCAPE_HTML, out);
    add_text(&o, "version", d->version);
    object_name(&o, "repository");
    json_print_string(d->repository, JSON_ESCAPE_HTML, out);
    add_text(&o, "condition", d->condition);
    add_texts(&o, "tags", &d->tags);
    add_true(&o, "enabled", d->enabled);
    add_value(&o, "import-values", d->import_values);
    add_text(&o, "alias", d->alias);
    buf_addc(out, '}');
    return o.failed;
}

static int print_dependencies(const struct metadata_dependency *deps, size_t n, struct buf *out,
                              struct err **err)
{
    buf_addc(out, '[');
    for (size_t i = 0; i < n; i++) {
        int r;

        if (i > 0)
            buf_addc(out, ',');
        r = print_dependency(&deps[i], out, err);
        if (r < 0)
            return r;
    }
    buf_addc(out, ']');
    return 0;
}

int metadata_print_json(const struct metadata *md, struct buf *out, struct err **err)
{
    struct object o;

    if (!md) {
        buf_adds(out, "null");
        return buf_check(out, err);
    }
    o = object_open(out, err);
    add_text(&o, "name", md->name);
    add_text(&o, "home", md->home);
    add_texts(&o, "sources", &md->sources);
    add_text(&o, "version", md->version);
    add_text(&o, "description", md->description);
    add_texts(&o, "keywords", &md->keywords);
    add_maintainers(&o, md);
    add_text(&o, "icon", md->icon);
    add_text(&o, "apiVersion", md->api_version);
    add_text(&o, "condition", md->condition);
    add_text(&o, "tags", md->tags);
    add_text(&o, "appVersion", md->app_version);
    add_true(&o, "deprecated", md->deprecated);
    add_value(&o, "annotations", md->annotations);
    add_text(&o, "kubeVersion", md->kube_version);
    if (md->n_dependencies > 0 && o.failed >= 0) {
        object_name(&o, "dependencies");
        o.failed = print_dependencies(md->dependencies, md->n_dependencies, out, err);
    }
    add_text(&o, "type", md->type);
    buf_addc(out, '}');
    return o.failed < 0 ? o.failed : buf_check(out, err);
}

int metadata_lock_print_json(const struct metadata_lock *lock, struct buf *out, struct err **err)
{
    int r;

    if (!lock) {
        buf_adds(out, "null");
        return buf_check(out, err);
    }
    buf_adds(out, "{\"generated\":");
    json_print_string(lock->generated, JSON_ESCAPE_HTML, out);
    buf_adds(out, ",\"digest\":");
    json_print_string(lock->digest, JSON_ESCAPE_HTML, out);
    buf_adds(out, ",\"dependencies\":");
    if (!lock->dependencies) {
        buf_adds(out, "null");
    } else {
        r = print_dependencies(lock->dependencies, lock->n_dependencies, out, err);
        if (r < 0)
            return r;
    }
    buf_addc(out, '}');
    return buf_check(out, err);
}

int metadata_lock_digest(const struct metadata_dependency *requested, size_t n_requested,
                         const struct metadata_dependency *locked, size_t n_locked, struct buf *out,
                         struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
    const struct metadata_dependency *const lists[] = { requested, locked };
    const size_t counts[] = { n_requested, n_locked };
    char hex[SHA256_HEX];
    int r;

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        buf_addc(&text, i ? ',' : '[');
        if (!lists[i]) {
            buf_adds(&text, "null");
            continue;
        }
        r = print_dependencies(lists[i], counts[i], &text, err);
        if (r < 0)
            return r;
    }
    buf_addc(&text, ']');
    r = buf_check(&text, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&text), hex);
    buf_addf(out, "sha256:%s", hex);
    return buf_check(out, err);
}

int metadata_requirements_digest(const struct metadata_dependency *requested, size_t n, struct buf *out,
                                 struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);
    char hex[SHA256_HEX];
    int r;

    buf_adds(&text, "{\"dependencies\":");
    r = print_dependencies(requested, n, &text, err);
    buf_addc(&text, '}');
    if (r >= 0)
        r = buf_check(&text, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&text), hex);
    buf_addf(out, "sha256:%s", hex);
    return 0;
}

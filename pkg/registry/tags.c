/* SPDX-License-Identifier: Apache-2.0 */
/* A registry has no index: one is made of the tags of its charts, and goes the way of every other. */
#include <stdlib.h>

#include "base/digest.h"
#include "base/fs.h"
#include "base/limits.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"
#include "semver/semver.h"
#include "json/json.h"

struct tag {
    struct str tag, version;
    struct semver parsed;
};

static int newest_first(const void *x, const void *y)
{
    const struct tag *a = x, *b = y;
    int c = semver_cmp(&b->parsed, &a->parsed);

    return c ? c : str_cmp(a->tag, b->tag);
}

/* As Helm, tags that are no strict semantic version once '_' is '+' again are left out. */
int registry_oci_versions(struct oci_client *c, struct arena *a, const struct oci_ref *ref, struct str **ret,
                          size_t *ret_n, struct err **err)
{
    struct str *tags, *out;
    struct tag *sorted;
    size_t n, kept = 0;
    int r = oci_tags(c, a, ref, &tags, &n, err);

    if (r < 0)
        return r;
    sorted = ARENA_ARRAY(a, struct tag, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct tag *t = &sorted[kept];

        t->tag = tags[i];
        t->version = oci_version_of_tag(a, tags[i]);
        kept += semver_parse_strict(t->version, &t->parsed, NULL) == 0;
    }
    if (kept > 1)
        qsort(sorted, kept, sizeof(*sorted), newest_first);
    out = ARENA_ARRAY(a, struct str, kept + 1);
    for (size_t i = 0; i < kept; i++)
        out[i] = sorted[i].version;
    *ret = out;
    *ret_n = kept;
    return 0;
}

static struct value make_entry(struct arena *a, struct str url, struct str chart, struct str version)
{
    struct value entry = value_new_map(a);
    struct value_list urls = VALUE_LIST_INIT(a);

    value_list_add(&urls, value_from_str(arena_printf(a, STR_FMT ":" STR_FMT, STR_ARG(url),
                                                      STR_ARG(oci_tag_of_version(a, version)))));
    value_setz(entry, "apiVersion", VALUE_STR("v2"));
    value_setz(entry, "name", value_from_str(chart));
    value_setz(entry, "version", value_from_str(version));
    value_setz(entry, "urls", value_list_done(&urls));
    return entry;
}

/* 1; 0 when the registry has no such chart. */
static int add_chart(struct oci_client *c, struct arena *a, struct str base, struct str chart,
                     struct value entries, struct err **err)
{
    struct str url =
        arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(str_trim_suffix(base, STR("/"))), STR_ARG(chart));
    struct value_list list = VALUE_LIST_INIT(a);
    CLEANUP(err_free) struct err *cause = NULL;
    struct str *versions;
    struct oci_ref ref;
    size_t n;
    int r = oci_ref_parse(a, url, &ref, &cause);

    if (r == 0)
        r = registry_oci_versions(c, a, &ref, &versions, &n, &cause);
    if (r == -ERRC_NOT_FOUND)
        return 0;
    if (r < 0) {
        if (err)
            *err = TAKE(cause);
        return r;
    }
    for (size_t i = 0; i < n; i++)
        value_list_add(&list, make_entry(a, url, chart, versions[i]));
    value_set(entries, chart, value_list_done(&list));
    return 1;
}

static int collect(const struct registry_source *s, struct arena *a, const struct str *charts, size_t n,
                   struct value entries, struct err **err)
{
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct oci_ref ref;
    int r = oci_ref_parse(a, arena_printf(a, STR_FMT "/x", STR_ARG(str_trim_suffix(s->url, STR("/")))), &ref,
                          err),
        found = 0;

    if (r == 0)
        r = registry_oci_open(s, a, ref.host, &c, err);
    for (size_t i = 0; i < n && r >= 0; i++) {
        r = add_chart(c, a, s->url, charts[i], entries, err);
        found += r == 1;
    }
    if (r < 0)
        return r;
    if (n == 0 || found > 0)
        return 0;
    r = err_set(err, ERRC_NOT_FOUND, "the registry has none of the charts (%s" STR_FMT ")",
                n > 1 ? "the first is " : "", STR_ARG(charts[0]));
    if (err)
        err_set_http(*err, 404, STR_NONE, 0);
    return r;
}

int registry_fetch_tags(const struct registry_source *s, struct arena *a,
                        const struct registry_fetched *known, const struct str *charts, size_t n,
                        const char *path, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(INDEX_TEXT_MAX);
    struct value root = value_new_map(a), entries = value_new_map(a);
    char hex[SHA256_HEX];
    int r = collect(s, a, charts, n, entries, err);

    if (r < 0)
        return err_wrap(err, r, "registry " STR_FMT, STR_ARG(s->url));
    value_setz(root, "apiVersion", VALUE_STR("v1"));
    value_setz(root, "entries", entries);
    r = json_print(root, 0, &text, err);
    if (r == 0)
        r = buf_check(&text, err);
    if (r < 0)
        return r;
    sha256_hex(buf_str(&text), hex);
    if (known && str_eq(known->url, s->url) && str_eq(known->digest, str_from(hex)))
        return 0;
    r = fs_write_file(path, buf_str(&text), 0600, err);
    return r < 0 ? r : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One entry of an index: Helm's validation (pkg/repo/v1/index.go loadIndex), and its fields as Go reads them. */
#include "metadata/metadata.h"
#include "registry/registry_int.h"
#include "yaml/yaml.h"
#include "json/json.h"

static const struct str string_fields[] = {
    { "apiVersion", 10 },    { "appVersion", 10 },  { "checksum", 8 }, { "condition", 9 },
    { "description", 11 },   { "digest", 6 },       { "engine", 6 },   { "home", 4 },
    { "icon", 4 },           { "kubeVersion", 11 }, { "name", 4 },     { "tags", 4 },
    { "tillerVersion", 13 }, { "type", 4 },         { "url", 3 },      { "version", 7 },
};

static bool is_string_field(struct str key)
{
    for (size_t i = 0; i < ARRAY_SIZE(string_fields); i++)
        if (str_ieq(key, string_fields[i]))
            return true;
    return false;
}

/* `appVersion: 1.10` is the string "1.1" to Helm, and so it is to whoever reads the entry here. */
void index_entry_make_strings(struct arena *a, struct value entry)
{
    for (size_t i = 0; i < value_len(entry); i++) {
        const struct value_entry *e = value_entry_at(entry, i);
        struct str text;

        if (e->v.kind >= VALUE_BOOL && e->v.kind <= VALUE_FLOAT && is_string_field(e->key) &&
            metadata_scalar_text(a, e->v, &text))
            value_set(entry, e->key, value_from_str(text));
    }
}

static struct str join_keywords(struct arena *a, const struct metadata_strings *words)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(SIZE_MAX);

    for (size_t i = 0; i < words->n; i++) {
        if (i > 0)
            buf_addc(&text, ' ');
        buf_addstr(&text, words->items[i]);
    }
    return arena_dup(a, buf_str(&text));
}

bool index_entry_unwrap(struct value list, struct value *ret)
{
    if (!value_is_list(list) || value_len(list) != 1)
        return false;
    *ret = value_at(list, 0);
    return true;
}

int index_entry_parse(struct arena *a, struct str text, struct value *ret, struct err **err)
{
    static const struct json_options json = { .refuse_duplicates = true, .borrow = true };
    static const struct yml_options yaml = { .strict = true, .borrow = true };
    struct value list;
    int r;

    if (str_has_prefix(text, STR("{")))
        return json_parse(a, text, &json, ret, err);
    r = yml_parse(a, text, &yaml, &list, err);
    if (r == 0 && !index_entry_unwrap(list, ret))
        r = err_set(err, ERRC_PARSE, "not one entry");
    return r;
}

/* JFrog's servers strip the alias of dependencies: Helm lets that pass (helm/helm#12748). */
static bool is_tolerated(const struct err *cause)
{
    return cause && str_has_prefix(str_from(err_message(cause)),
                                   STR("validation: more than one dependency with name or alias"));
}

bool index_entry_read(struct arena *a, struct value entry, struct registry_version *ret)
{
    CLEANUP(err_free) struct err *cause = NULL;
    struct metadata md = { 0 };

    if (!value_is_map(entry) || metadata_decode(a, entry, &md, NULL) < 0)
        return false;
    if (md.api_version.n == 0)
        md.api_version = STR("v1");
    if (metadata_check(a, &md, &cause) < 0 && !is_tolerated(cause))
        return false;
    index_entry_make_strings(a, entry);
    *ret = (struct registry_version){
        .name = md.name,
        .version = md.version,
        .app_version = md.app_version,
        .description = md.description,
        .keywords = join_keywords(a, &md.keywords),
    };
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* helm's repositories.yaml (pkg/repo/v1/repo.go). */
#include "base/fs.h"
#include "base/limits.h"
#include "metadata/metadata.h"
#include "registry/registry.h"
#include "yaml/yaml.h"

static struct str text_of(struct arena *a, struct value row, const char *name)
{
    struct str s = STR("");

    return metadata_scalar_text(a, metadata_member(row, str_from(name)), &s) ? s : STR("");
}

static struct registry_entry read_entry(struct arena *a, struct value row)
{
    return (struct registry_entry){
        .name = text_of(a, row, "name"),
        .url = text_of(a, row, "url"),
        .user = text_of(a, row, "username"),
        .password = text_of(a, row, "password"),
        .ca_file = text_of(a, row, "caFile"),
        .cert_file = text_of(a, row, "certFile"),
        .key_file = text_of(a, row, "keyFile"),
        .insecure = value_bool(metadata_member(row, STR("insecure_skip_tls_verify"))),
        .pass_credentials = value_bool(metadata_member(row, STR("pass_credentials_all"))),
    };
}

/* The whole file; null when it is absent. */
static int read_root(struct arena *a, const char *path, struct value *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(REPOSITORIES_FILE_MAX);
    int r = path && fs_exists(path) ? fs_read_file(path, &text, err) : 0;

    if (r == 0)
        r = yml_parse(a, arena_dup(a, buf_str(&text)), NULL, ret, NULL);
    if (r == -ERRC_PARSE || (r == 0 && !value_is_map(*ret) && !value_is_null(*ret)))
        return err_set(err, ERRC_PARSE, "%s is not a list of repositories", path); /* it may hold passwords */
    return r;
}

int registry_entries_read(struct arena *a, const char *path, struct registry_entry **ret, size_t *ret_n,
                          struct err **err)
{
    struct value root, rows;
    int r = read_root(a, path, &root, err);

    if (r < 0)
        return r;
    rows = metadata_member(root, STR("repositories"));
    *ret = ARENA_ARRAY(a, struct registry_entry, value_len(rows) + 1);
    *ret_n = 0;
    for (struct value_iter it = value_iter(rows); value_next(&it);)
        if (value_is_map(it.v))
            (*ret)[(*ret_n)++] = read_entry(a, it.v);
    return 0;
}

static struct value entry_row(struct arena *a, const struct registry_entry *e)
{
    struct value row = value_new_map_sized(a, 9);

    value_setz(row, "caFile", value_from_str(e->ca_file));
    value_setz(row, "certFile", value_from_str(e->cert_file));
    value_setz(row, "insecure_skip_tls_verify", value_from_bool(e->insecure));
    value_setz(row, "keyFile", value_from_str(e->key_file));
    value_setz(row, "name", value_from_str(e->name));
    value_setz(row, "pass_credentials_all", value_from_bool(e->pass_credentials));
    value_setz(row, "password", value_from_str(e->password));
    value_setz(row, "url", value_from_str(e->url));
    value_setz(row, "username", value_from_str(e->user));
    return row;
}

/* What the file is to hold; what else it says stays. */
static int print_entries(const char *path, const struct registry_entry *entries, size_t n, struct buf *text,
                         struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(8 * REPOSITORIES_FILE_MAX);
    struct value_list rows = VALUE_LIST_INIT(a);
    struct value was, root = value_new_map(a);
    struct str generated;
    int r = read_root(a, path, &was, err);

    if (r < 0)
        return r;
    generated = text_of(a, was, "generated");
    for (size_t i = 0; i < n; i++)
        value_list_add(&rows, entry_row(a, &entries[i]));
    value_setz(root, "apiVersion", value_from_str(text_of(a, was, "apiVersion")));
    value_setz(root, "generated", value_from_str(generated.n ? generated : STR("0001-01-01T00:00:00Z")));
    value_setz(root, "repositories", value_list_done(&rows));
    return yml_print(root, text, err);
}

struct fs_staged *registry_entries_stage(const char *path, const struct registry_entry *entries, size_t n)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(REPOSITORIES_FILE_MAX);

    return print_entries(path, entries, n, &text, NULL) < 0 ? NULL : fs_stage(path, buf_str(&text), 0600);
}

int registry_entries_write(const char *path, const struct registry_entry *entries, size_t n,
                           struct fs_staged *staged, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(REPOSITORIES_FILE_MAX);
    int r = print_entries(path, entries, n, &text, err);

    if (r < 0 || (staged && fs_staged_put(staged, buf_str(&text))))
        return r;
    return fs_write_file(path, buf_str(&text), 0600, err);
}

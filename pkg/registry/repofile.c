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

int registry_entries_read(struct arena *a, const char *path, struct registry_entry **ret, size_t *ret_n,
                          struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(REPOSITORIES_FILE_MAX);
    struct value root, rows;
    int r = path && fs_exists(path) ? fs_read_file(path, &text, err) : 0;

    if (r == 0)
        r = yml_parse(a, arena_dup(a, buf_str(&text)), NULL, &root, NULL);
    if (r == -ERRC_PARSE || (r == 0 && !value_is_map(root) && !value_is_null(root)))
        return err_set(err, ERRC_PARSE, "%s is not a list of repositories", path); /* it may hold passwords */
    if (r < 0)
        return r;
    rows = value_getz(root, "repositories");
    *ret = ARENA_ARRAY(a, struct registry_entry, value_len(rows) + 1);
    *ret_n = 0;
    for (struct value_iter it = value_iter(rows); value_next(&it);)
        if (value_is_map(it.v))
            (*ret)[(*ret_n)++] = read_entry(a, it.v);
    return 0;
}

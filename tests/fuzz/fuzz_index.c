/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "registry/registry.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *folder;

static void remove_folder(void)
{
    IGNORE_ERROR(fs_remove_tree(folder, NULL));
    free(folder);
}

/* Loads the text and writes down all that is known then. False when it is refused. */
static bool load(struct arena *a, struct str text, struct buf *out)
{
    CLEANUP(registry_db_close) struct registry_db *db = NULL;
    CLEANUP(free_ptr) char *path = fs_join(folder, "index.yaml");
    struct registry_load what = { .repository = STR("r"), .path = path };
    struct registry_loaded loaded;
    struct str *charts;
    size_t n;

    assert(fs_write_file(path, text, 0600, NULL) == 0 && registry_db_open(folder, &db, NULL) == 0);
    assert(registry_forget(db, STR("r"), NULL) == 0);
    if (registry_index_load(db, &what, a, &loaded, NULL) < 0)
        return false;
    buf_addf(out, "%lld skipped\n", (long long)loaded.figures.skipped);
    assert(registry_charts(db, STR("r"), a, &charts, &n, NULL) == 0);
    for (size_t i = 0; i < n; i++) {
        struct registry_version *v;
        size_t m;

        assert(registry_versions(db, STR("r"), charts[i], a, &v, &m, NULL) == 0 && m > 0);
        assert(registry_versions_load(db, STR("r"), a, v, m, NULL) == 0);
        for (size_t k = 0; k < m; k++) {
            buf_addf(out, STR_FMT " " STR_FMT " ", STR_ARG(charts[i]), STR_ARG(v[k].version));
            assert(json_print(v[k].entry, 0, out, NULL) == 0);
        }
    }
    return true;
}

static bool load_behind(struct arena *a, const char *head, struct str text, struct buf *out)
{
    CLEANUP(buf_done) struct buf copy = BUF_INIT(64 * MIB);

    buf_adds(&copy, head);
    buf_addstr(&copy, text);
    return load(a, buf_str(&copy), out);
}

/* An index is the same to every reader that takes it: a directive in front leaves its entries to libyaml, and one with a blank behind
 * it all of the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    CLEANUP(buf_done)
    struct buf fast = BUF_INIT(64 * MIB), pieces = BUF_INIT(64 * MIB), whole = BUF_INIT(64 * MIB);
    struct str text = { (const char *)data, size };
    bool taken, taken_in_pieces;

    if (!folder) {
        assert(fs_make_temp_dir("fuzz-index", &folder, NULL) == 0);
        atexit(remove_folder);
    }
    taken = load(a, text, &fast);
    if (str_contains(text, STR("---")) || str_contains(text, STR("%")) ||
        str_has_prefix(text, STR("\xef\xbb\xbf")) || str_find_char(text, '{') == 0)
        return 0;
    taken_in_pieces = load_behind(a, "%YAML 1.1\n---\n", text, &pieces);
    assert(load_behind(a, "%YAML 1.1 \n---\n", text, &whole) == taken_in_pieces);
    assert(!taken || taken_in_pieces);
    assert(!taken || str_eq(buf_str(&fast), buf_str(&whole)));
    assert(!taken_in_pieces || str_eq(buf_str(&pieces), buf_str(&whole)));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fs.h"
#include "base/limits.h"
#include "mirror/mirror.h"
#include "oci/oci.h"
#include "pintle/commands.h"

#define MEMORY_MAX (64 * MIB)

static void print_outcome(struct cli *c, const struct mirror_record *r, enum mirror_outcome outcome)
{
    static const char *const words[] = { "added", "kept", "replaced" };

    cli_printf(c, "%s %.*s %.*s sha256:%.*s\n", words[outcome], STR_ARG(r->path), STR_ARG(r->version),
               STR_ARG(r->archive));
}

/* ---- add ------------------------------------------------------------------------------------------------------------ */

static const struct cli_flag add_flags[] = {
    { "folder", 0, CLI_STRING, NULL, NULL, "folder of the mirror that the charts go to", NULL },
    CLI_FLAGS_END,
};

static int add_file(struct cli *c, struct mirror *m, const char *file, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MEMORY_MAX);
    CLEANUP(buf_done) struct buf archive = BUF_INIT(ARCHIVE_PACKED_MAX);
    CLEANUP(buf_done) struct buf provenance = BUF_INIT(MIRROR_PROVENANCE_MAX);
    CLEANUP(free_ptr) char *beside = xasprintf("%s.prov", file);
    struct mirror_addition what = { .folder = str_from(cli_string(c, "folder")) };
    enum mirror_outcome outcome;
    struct mirror_record record;
    int r = fs_read_file(file, &archive, err);

    if (r == 0 && fs_is_file(beside))
        r = fs_read_file(beside, &provenance, err);
    if (r < 0)
        return r;
    what.archive = buf_str(&archive);
    what.provenance = buf_str(&provenance);
    r = mirror_add(m, a, &what, &outcome, &record, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file);
    print_outcome(c, &record, outcome);
    return 0;
}

static int run_add(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    int r = mirror_open(c->args[0], true, &m, err);

    for (size_t i = 1; i < c->n_args && r == 0; i++)
        r = add_file(c, m, c->args[i], err);
    return r;
}

const struct cli_command cmd_mirror_add = {
    .parent = "mirror",
    .name = "add",
    .usage = "DIR FILE.tgz [...]",
    .brief = "put chart archives of this machine into a mirror",
    .help = "Put chart archives of this machine, with the provenance files (.tgz.prov) beside them, into the "
            "mirror in DIR. "
            "A folder that is absent or empty becomes one.",
    .args_min = 2,
    .args_max = -1,
    .flags = add_flags,
    .run = run_add,
};

/* ---- accept-digest --------------------------------------------------------------------------------------------------- */

static int run_accept(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new(MEMORY_MAX);
    int r = mirror_open(c->args[0], false, &m, err);

    return r < 0 ? r
                 : mirror_accept(m, str_from(c->args[1]), oci_tag_of_version(a, str_from(c->args[2])),
                                 str_from(c->args[3]), err);
}

const struct cli_command cmd_mirror_accept_digest = {
    .parent = "mirror",
    .name = "accept-digest",
    .usage = "DIR CHART VERSION sha256:DIGEST",
    .brief = "let a version that was published again take the place of the one that is kept",
    .help = "A version that is kept never changes. When its publisher means other bytes, name their digest "
            "here: the next "
            "sync or push that brings these bytes replaces the version.",
    .args_min = 4,
    .args_max = 4,
    .run = run_accept,
};

/* ---- verify ---------------------------------------------------------------------------------------------------------- */

static int run_verify(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    CLEANUP(buf_done) struct buf problems = BUF_INIT(64 * MIB);
    struct mirror_figures f;
    int r = mirror_open(c->args[0], false, &m, err);

    if (r == 0)
        r = mirror_verify(m, &problems, &f, err);
    if (r < 0)
        return r;
    cli_write(c, buf_str(&problems));
    cli_printf(c, "%zu versions of %zu charts, %zu other tags; %lld bytes of archives kept in %lld\n",
               f.versions, f.charts, f.tags, (long long)f.archive_bytes, (long long)f.disk_bytes);
    if (f.problems > 0)
        return err_set(err, ERRC_DIGEST, "%zu %s wrong", f.problems,
                       f.problems == 1 ? "thing is" : "things are");
    return 0;
}

const struct cli_command cmd_mirror_verify = {
    .parent = "mirror",
    .name = "verify",
    .usage = "DIR",
    .brief = "check every byte of a mirror against its digests",
    .args_min = 1,
    .args_max = 1,
    .run = run_verify,
};

/* ---- remove ---------------------------------------------------------------------------------------------------------- */

static int remove_versions(struct cli *c, struct mirror *m, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MEMORY_MAX);
    struct str path = str_from(c->args[1]), *tags = NULL;
    size_t n = c->n_args - 2;
    int r = n == 0 ? mirror_tags(m, a, path, &tags, &n, err) : 0;

    if (r == 0 && n == 0)
        r = err_set(err, ERRC_NOT_FOUND, "the mirror has no %s", c->args[1]);
    for (size_t i = 0; i < n && r == 0; i++) {
        struct str tag = tags ? tags[i] : oci_tag_of_version(a, str_from(c->args[i + 2]));

        r = mirror_remove(m, path, tag, err);
        if (r == 0)
            cli_printf(c, "removed %.*s %.*s\n", STR_ARG(path), STR_ARG(tag));
    }
    return r;
}

static int run_remove(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    int r = mirror_open(c->args[0], false, &m, err);

    return r < 0 ? r : remove_versions(c, m, err);
}

const struct cli_command cmd_mirror_remove = {
    .parent = "mirror",
    .name = "remove",
    .usage = "DIR CHART [VERSION ...]",
    .brief = "take versions out of a mirror",
    .help = "Take these versions of a chart out of the mirror in DIR, or all of them. `pintle mirror prune` "
            "gives back the\n"
            "room that they took.",
    .args_min = 2,
    .args_max = -1,
    .run = run_remove,
};

/* ---- prune ----------------------------------------------------------------------------------------------------------- */

static const struct cli_flag prune_flags[] = {
    { "min-age", 0, CLI_DURATION, "1h", NULL, "younger bytes stay: a push may be about to name them", NULL },
    CLI_FLAGS_END,
};

static int run_prune(struct cli *c, struct err **err)
{
    CLEANUP(mirror_close) struct mirror *m = NULL;
    struct mirror_prune_figures f;
    int r = mirror_open(c->args[0], false, &m, err);

    if (r == 0)
        r = mirror_prune(m, cli_duration_ns(c, "min-age") / 1000000000, &f, err);
    if (r < 0)
        return r;
    cli_printf(c, "%zu objects of %lld bytes deleted\n", f.objects, (long long)f.bytes);
    return 0;
}

const struct cli_command cmd_mirror_prune = {
    .parent = "mirror",
    .name = "prune",
    .usage = "DIR",
    .brief = "delete bytes that nothing in a mirror names any more",
    .help =
        "Delete the bytes of versions that were removed or replaced, and of pushes that were given up. What "
        "a "
        "version, a tag\n"
        "or one of their manifests names stays, and so does what other archives take pieces from. The mirror "
        "may be served\n"
        "and written to meanwhile.",
    .args_min = 1,
    .args_max = 1,
    .flags = prune_flags,
    .run = run_prune,
};

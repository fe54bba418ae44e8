/* SPDX-License-Identifier: Apache-2.0 */
/* helm repo add, list, remove, update (pkg/cmd/repo_*.go) on helm's own files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "pintle/commands.h"
#include "pintle/helm_output.h"
#include "pintle/helm_path.h"
#include "pintle/secret_input.h"
#include "registry/registry.h"

#define LOCK_WAIT_MS 30000
#define LOCK_LOOK_MS 50
#define UPDATES_AT_ONCE 8

/* helm's files, and what is read of them. */
struct repos {
    struct arena *arena;
    const char *config, *cache;
    struct registry_entry *entries;
    size_t n;
    struct registry_db *db;
    struct http_client *http;
    struct fs_staged *staged; /* the file with one more entry; NULL: none */
};

static void repos_done(struct repos *p)
{
    fs_staged_free(p->staged);
    registry_db_close(p->db);
    http_client_free(p->http);
    arena_free(p->arena);
}
DEFINE_CLEANUP_VALUE(struct repos, repos_done)

static int repos_init(const struct cli *c, struct repos *p, struct err **err)
{
    p->arena = arena_new(8 * REPOSITORIES_FILE_MAX);
    p->config = helm_path(c, HELM_REPOSITORY_CONFIG, p->arena);
    p->cache = helm_path(c, HELM_REPOSITORY_CACHE, p->arena);
    return registry_entries_read(p->arena, p->config, &p->entries, &p->n, err);
}

static int open_cache(struct repos *p, struct err **err)
{
    int r = fs_make_dirs(p->cache, 0755, err);

    return r < 0 ? r : registry_db_open(p->cache, &p->db, err);
}

static struct registry_entry *find(struct repos *p, struct str name)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->entries[i].name, name))
            return &p->entries[i];
    return NULL;
}

/* "repositories.lock" beside the file, as helm's own processes take it. *ret_fd is closed to let go. */
static int lock_config(const struct repos *p, int *ret_fd, struct err **err)
{
    struct str path = str_from(p->config), dir = str_dirname(path);
    CLEANUP(free_ptr) char *lock = xasprintf(STR_FMT ".lock", STR_ARG(str_trim_suffix(path, STR(".yaml"))));
    CLEANUP(free_ptr) char *folder = str_dup(dir.n ? dir : STR("."));
    CLEANUP(fd_close) int fd = -1;
    int64_t until = clock_mono_ms() + LOCK_WAIT_MS;
    int r = fs_make_dirs(folder, 0755, err);

    if (r < 0)
        return r;
    fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return err_errno(err, errno, "%s", lock);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_errno(err, errno, "%s", lock);
        if (clock_mono_ms() > until)
            return err_set(err, ERRC_TIMEOUT, "%s is held by another process", lock);
        usleep(LOCK_LOOK_MS * 1000);
    }
    *ret_fd = fd;
    fd = -1;
    return 0;
}

static int open_http(struct repos *p, struct err **err)
{
    return p->http ? 0 : http_client_new(NULL, &p->http, err);
}

/* Any thread may call it; strings in `a`. */
static int fetch(const struct repos *p, struct arena *a, const struct registry_entry *e, int64_t deadline_ms,
                 const struct registry_meanwhile *meanwhile, struct err **err)
{
    struct registry_locator l = { .source = { .http = p->http, .files = true, .deadline_ms = deadline_ms } };
    struct registry_found found = { 0 };
    int r = registry_entry_source(&l, a, e, &found, err);

    return r < 0 ? r : registry_cache_update(p->db, p->cache, &found.source, meanwhile, err);
}

/* ---- add -------------------------------------------------------------------------------------------------------------- */

#define TIMEOUT_FLAG                                                                                      \
    {                                                                                                     \
        "timeout", 0, CLI_DURATION, "2m0s", NULL, "time to wait for the index file download to complete", \
            NULL                                                                                          \
    }

static int64_t timeout_ms(const struct cli *c)
{
    return cli_duration_ns(c, "timeout") / 1000000;
}

static const struct cli_flag add_flags[] = {
    { "username", 0, CLI_STRING, NULL, NULL, "chart repository username", NULL },
    { "password", 0, CLI_STRING, NULL, NULL, "chart repository password", NULL },
    { "password-stdin", 0, CLI_BOOL, NULL, NULL, "read chart repository password from stdin", NULL },
    { "force-update", 0, CLI_BOOL, NULL, NULL, "replace (overwrite) the repo if it already exists", NULL },
    { "cert-file", 0, CLI_STRING, NULL, NULL, "identify HTTPS client using this SSL certificate file", NULL },
    { "key-file", 0, CLI_STRING, NULL, NULL, "identify HTTPS client using this SSL key file", NULL },
    { "ca-file", 0, CLI_STRING, NULL, NULL,
      "verify certificates of HTTPS-enabled servers using this CA bundle", NULL },
    { "insecure-skip-tls-verify", 0, CLI_BOOL, NULL, NULL, "skip tls certificate checks for the repository",
      NULL },
    { "allow-deprecated-repos", 0, CLI_BOOL, NULL, NULL,
      "accepted for scripts made for helm: no repository is refused", NULL },
    { "pass-credentials", 0, CLI_BOOL, NULL, NULL, "pass credentials to all domains", NULL },
    TIMEOUT_FLAG,
    CLI_FLAGS_END,
};

static bool same_entry(const struct registry_entry *a, const struct registry_entry *b)
{
    return str_eq(a->name, b->name) && str_eq(a->url, b->url) && str_eq(a->user, b->user) &&
           str_eq(a->password, b->password) && str_eq(a->ca_file, b->ca_file) &&
           str_eq(a->cert_file, b->cert_file) && str_eq(a->key_file, b->key_file) &&
           a->insecure == b->insecure && a->pass_credentials == b->pass_credentials;
}

static int read_flags(struct cli *c, struct arena *a, struct registry_entry *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf password = BUF_INIT(64 * KIB);
    int r = 0;

    *ret = (struct registry_entry){
        .name = str_from(c->args[0]),
        .url = str_from(c->args[1]),
        .user = str_from(cli_string(c, "username")),
        .ca_file = str_from(cli_string(c, "ca-file")),
        .cert_file = str_from(cli_string(c, "cert-file")),
        .key_file = str_from(cli_string(c, "key-file")),
        .insecure = cli_bool(c, "insecure-skip-tls-verify"),
        .pass_credentials = cli_bool(c, "pass-credentials"),
    };
    buf_adds(&password, cli_string(c, "password"));
    if (ret->user.n > 0 && password.n == 0)
        r = cli_bool(c, "password-stdin") ? secret_input_stdin(&password, err)
                                          : secret_input_line(c, "Password: ", true, &password, err);
    if (r < 0)
        return r;
    ret->password = arena_dup(a, buf_str(&password));
    if (str_find_char(ret->name, '/') != STR_NPOS)
        return err_set(err, ERRC_INVALID,
                       "repository name (%s) contains '/', please specify a different name without '/'",
                       c->args[0]);
    return 0;
}

static int store_entry(struct repos *p, const struct registry_entry *e, struct err **err)
{
    struct registry_entry *have = find(p, e->name);

    if (have)
        *have = *e;
    else
        p->entries[p->n++] = *e; /* registry_entries_read() left room for one */
    return registry_entries_write(p->config, p->entries, p->n, p->staged, err);
}

/* The entry behind those that are there. A disk needs longer for the file than for the index: it has the time of the download. */
static void stage_entry(void *ctx)
{
    struct repos *p = ctx;

    if (!find(p, p->entries[p->n].name))
        p->staged = registry_entries_stage(p->config, p->entries, p->n + 1);
}

static void say(struct cli *c, struct str name, const char *what)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    utf8_quote(name, &quoted);
    cli_printf(c, "%s %s\n", buf_z(&quoted), what);
}

/* What the file says while nobody else writes it: *ret_lock is the right to write it until it is closed. */
static int read_locked(struct repos *p, int *ret_lock, struct err **err)
{
    int r = lock_config(p, ret_lock, err);

    return r < 0 ? r : registry_entries_read(p->arena, p->config, &p->entries, &p->n, err);
}

/* Is e there already? 1 after saying so; EXISTS when something else has its name. */
static int check_present(struct cli *c, struct repos *p, const struct registry_entry *e, struct err **err)
{
    const struct registry_entry *have = find(p, e->name);

    if (!have || cli_bool(c, "force-update"))
        return 0;
    if (!same_entry(have, e))
        return err_set(err, ERRC_EXISTS,
                       "repository name (%s) already exists, please specify a different name", c->args[0]);
    say(c, e->name, "already exists with the same configuration, skipping");
    return 1;
}

static int download(struct cli *c, struct repos *p, const struct registry_entry *e, struct err **err)
{
    const struct registry_meanwhile meanwhile = { stage_entry, p };
    int r = open_http(p, err); /* first: it goes on by itself */

    p->entries[p->n] = *e; /* there is room for one */
    if (r == 0)
        r = open_cache(p, err);
    if (r == 0)
        r = fetch(p, p->arena, e, timeout_ms(c), &meanwhile, err);
    if (r < 0 && err && str_has_prefix(str_from(err_message(*err)), STR("looks like")))
        return r; /* the fetch said so */
    return r < 0 ? err_wrap(err, r, "looks like \"%s\" is not a valid chart repository or cannot be reached",
                            c->args[1])
                 : 0;
}

/* Behind the download, which nobody else has to wait for. */
static int add_downloaded(struct cli *c, struct repos *p, const struct registry_entry *e, struct err **err)
{
    CLEANUP(fd_close) int lock = -1;
    int r = read_locked(p, &lock, err);

    if (r == 0)
        r = check_present(c, p, e, err);
    if (r == -ERRC_EXISTS) /* since then; its index is what the cache has to have */
        IGNORE_ERROR(fetch(p, p->arena, find(p, e->name), timeout_ms(c), NULL, NULL));
    if (r != 0)
        return r;
    r = store_entry(p, e, err);
    if (r == 0)
        say(c, e->name, "has been added to your repositories");
    return r;
}

static int run_add(struct cli *c, struct err **err)
{
    CLEANUP(repos_done) struct repos p = { 0 };
    struct registry_entry e;
    int lock = -1, r;

    r = repos_init(c, &p, err);
    if (r == 0)
        r = read_locked(&p, &lock, err);
    fd_close(lock);
    if (r == 0)
        r = read_flags(c, p.arena, &e, err);
    if (r == 0)
        r = check_present(c, &p, &e, err);
    if (r == 0)
        r = download(c, &p, &e, err);
    if (r == 0)
        r = add_downloaded(c, &p, &e, err);
    return MIN(r, 0);
}

/* ---- update ------------------------------------------------------------------------------------------------------------- */

static const struct cli_flag update_flags[] = {
    TIMEOUT_FLAG,
    CLI_FLAGS_END,
};

static bool is_requested(const struct cli *c, struct str name)
{
    for (size_t i = 0; i < c->n_args; i++)
        if (str_eq(name, str_from(c->args[i])))
            return true;
    return c->n_args == 0;
}

/* What the threads share that update repositories. */
struct update {
    struct cli *cli;
    const struct repos *repos;
    struct buf failed; /* URLs; guarded by the mutex, as are what is printed and `next` */
    size_t next;       /* to be looked at */
    pthread_mutex_t mutex;
};

static void report(struct update *u, const struct registry_entry *e, int r, const struct err *cause)
{
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    utf8_quote(e->name, &quoted);
    pthread_mutex_lock(&u->mutex);
    if (r == 0) {
        cli_printf(u->cli, "...Successfully got an update from the %s chart repository\n", buf_z(&quoted));
    } else {
        cli_printf(u->cli, "...Unable to get an update from the %s chart repository (" STR_FMT "):\n\t%s\n",
                   buf_z(&quoted), STR_ARG(e->url), err_message(cause));
        buf_addf(&u->failed, "%s" STR_FMT, u->failed.n ? " " : "", STR_ARG(e->url));
    }
    pthread_mutex_unlock(&u->mutex);
}

static const struct registry_entry *take_next(struct update *u)
{
    const struct registry_entry *e = NULL;

    pthread_mutex_lock(&u->mutex);
    while (u->next < u->repos->n && !e) {
        e = &u->repos->entries[u->next++];
        if (!is_requested(u->cli, e->name))
            e = NULL;
    }
    pthread_mutex_unlock(&u->mutex);
    return e;
}

static void *update_some(void *arg)
{
    struct update *u = arg;
    const struct registry_entry *e;

    while ((e = take_next(u))) {
        CLEANUP(arena_free) struct arena *a = arena_new(8 * REPOSITORIES_FILE_MAX);
        CLEANUP(err_free) struct err *cause = NULL;
        int r = fetch(u->repos, a, e, timeout_ms(u->cli), NULL, &cause);

        report(u, e, r, cause);
    }
    return NULL;
}

/* Several at once, told in the order in which they are through, as in helm. */
static void update_all(struct update *u)
{
    pthread_t helpers[UPDATES_AT_ONCE - 1];
    size_t n = 0, wanted = u->cli->n_args ? u->cli->n_args : u->repos->n;

    pthread_mutex_init(&u->mutex, NULL);
    while (n + 1 < MIN(wanted, (size_t)UPDATES_AT_ONCE) &&
           pthread_create(&helpers[n], NULL, update_some, u) == 0)
        n++;
    update_some(u);
    while (n > 0)
        pthread_join(helpers[--n], NULL);
    pthread_mutex_destroy(&u->mutex);
}

static int run_update(struct cli *c, struct err **err)
{
    CLEANUP(repos_done) struct repos p = { 0 };
    struct update update = { .cli = c, .repos = &p, .failed = BUF_INIT(MIB) };
    int r = repos_init(c, &p, err);

    if (r < 0)
        return err_wrap(err, r, "failed loading file: %s", p.config);
    if (p.n == 0)
        return err_set(err, ERRC_NOT_FOUND, "no repositories found. You must add one before updating");
    for (size_t i = 0; i < c->n_args; i++)
        if (!find(&p, str_from(c->args[i])))
            return err_set(err, ERRC_NOT_FOUND,
                           "no repositories found matching '%s'.  Nothing will be updated", c->args[i]);
    r = open_cache(&p, err);
    if (r == 0)
        r = open_http(&p, err);
    if (r < 0)
        return r;
    cli_printf(c, "Hang tight while we grab the latest from your chart repositories...\n");
    update_all(&update);
    if (update.failed.n > 0)
        r = err_set(err, ERRC_UNAVAILABLE, "failed to update the following repositories: [%s]",
                    buf_z(&update.failed));
    buf_done(&update.failed);
    if (r == 0)
        cli_printf(c, "Update Complete. \xe2\x8e\x88Happy Helming!\xe2\x8e\x88\n");
    return r;
}

/* ---- list ----------------------------------------------------------------------------------------------------------------- */

static const struct cli_flag list_flags[] = {
    { "no-headers", 0, CLI_BOOL, NULL, NULL, "suppress headers in the output", NULL },
    HELM_OUTPUT_FLAG,
    CLI_FLAGS_END,
};

static int run_list(struct cli *c, struct err **err)
{
    static const struct helm_column columns[] = { { "NAME", "name" }, { "URL", "url" } };
    CLEANUP(repos_done) struct repos p = { 0 };
    CLEANUP(err_free) struct err *ignored = NULL;
    enum helm_format format;
    struct helm_list list = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };
    struct str *cells;
    int r = helm_output_format(c, &format, err);

    if (r < 0)
        return r;
    if (repos_init(c, &p, &ignored) < 0) /* as helm: a file that cannot be read has no repositories */
        p.n = 0;
    if (p.n == 0 && format == HELM_TABLE) {
        fprintf(c->errout, "no repositories to show\n");
        return 0;
    }
    cells = ARENA_ARRAY(p.arena, struct str, 2 * p.n);
    for (size_t i = 0; i < p.n; i++) {
        cells[2 * i] = p.entries[i].name;
        cells[2 * i + 1] = p.entries[i].url;
    }
    list.cells = cells;
    list.n_rows = p.n;
    list.no_headers = cli_bool(c, "no-headers");
    return helm_output_list(c, format, &list, err);
}

/* ---- remove ----------------------------------------------------------------------------------------------------------------- */

static int remove_one(struct cli *c, struct repos *p, struct str name, struct err **err)
{
    size_t kept = 0;
    int r;

    for (size_t i = 0; i < p->n; i++)
        if (!str_eq(p->entries[i].name, name))
            p->entries[kept++] = p->entries[i];
    if (kept == p->n) {
        CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

        utf8_quote(name, &quoted);
        return err_set(err, ERRC_NOT_FOUND, "no repo named %s found", buf_z(&quoted));
    }
    p->n = kept;
    r = registry_entries_write(p->config, p->entries, p->n, NULL, err);
    if (r == 0)
        r = registry_cache_remove(p->db, p->cache, name, err);
    if (r == 0)
        say(c, name, "has been removed from your repositories");
    return r;
}

static int run_remove(struct cli *c, struct err **err)
{
    CLEANUP(repos_done) struct repos p = { 0 };
    int r = repos_init(c, &p, err);

    if (r == 0 && p.n == 0)
        return err_set(err, ERRC_NOT_FOUND, "no repositories configured");
    if (r == 0)
        r = open_cache(&p, err);
    for (size_t i = 0; i < c->n_args && r == 0; i++)
        r = remove_one(c, &p, str_from(c->args[i]), err);
    return r;
}

const struct cli_command cmd_repo_add = {
    .parent = "repo",
    .name = "add",
    .usage = "[NAME] [URL]",
    .brief = "add a chart repository",
    .args_min = 2,
    .args_max = 2,
    .flags = add_flags,
    .run = run_add,
};
const struct cli_command cmd_repo_list = {
    .parent = "repo",
    .name = "list",
    .brief = "list chart repositories",
    .flags = list_flags,
    .run = run_list,
};
const struct cli_command cmd_repo_remove = {
    .parent = "repo",
    .name = "remove",
    .usage = "[REPO1 [REPO2 ...]]",
    .brief = "remove one or more chart repositories",
    .args_min = 1,
    .args_max = -1,
    .run = run_remove,
};
const struct cli_command cmd_repo_update = {
    .parent = "repo",
    .name = "update",
    .usage = "[REPO1 [REPO2 ...]]",
    .brief = "update information of available charts locally from chart repositories",
    .help = "Update gets the latest information about charts from the repositories: all of them, or those "
            "that are named. "
            "A server that has nothing new is asked once and sends nothing.",
    .args_max = -1,
    .flags = update_flags,
    .run = run_update,
};

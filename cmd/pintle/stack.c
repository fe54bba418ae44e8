/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/stack.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "chart/chart.h"
#include "http/http.h"
#include "mirror/mirror.h"
#include "registry/registry.h"
#include "release/release.h"
#include "releasegroup/releasegroup.h"

#define CHART_CACHE_BYTES (32 * MIB)
#define KINDS_MAX 16

struct stack {
    struct kube *kube;
    char *data_dir;
    struct http_client *http;
    struct registry_db *db;
    struct kube_recorder *recorder;
    struct chart_store *store;
    struct mirror *mirror;
    struct mirror_server *mirror_server;
    struct mirror_manager *mirrors;
    struct registry_manager *registry;
    struct chart_manager *charts;
    struct release_manager *releases;
    struct releasegroup_manager *groups;
    struct controller *controller;
};

static int open_parts(struct stack *s, const struct stack_options *o, struct err **err)
{
    CLEANUP(free_ptr) char *db_path = fs_join(o->data_dir, "indexes");
    int r = fs_make_dirs(o->data_dir, 0700, err);

    if (r == 0)
        r = http_client_new(NULL, &s->http, err);
    return r < 0 ? r : registry_db_open(db_path, &s->db, err);
}

/* "http://127.0.0.1:8879" for ":8879"; the port is the one that was taken. */
static struct str mirror_url(const struct stack *s, const struct stack_options *o, struct buf *out)
{
    struct str listen = str_from(o->mirror.listen);
    size_t colon = str_rfind_char(listen, ':');
    struct str host = str_sub(listen, 0, MIN(colon, listen.n));

    if (o->mirror.url && *o->mirror.url)
        return str_from(o->mirror.url);
    buf_addf(out, "http://%.*s:%d", STR_ARG(host.n ? host : STR("127.0.0.1")),
             mirror_server_port(s->mirror_server));
    return buf_str(out);
}

static int open_mirror(struct stack *s, const struct stack_options *o, struct err **err)
{
    CLEANUP(free_ptr) char *folder = fs_join(o->data_dir, "mirror");
    CLEANUP(buf_done) struct buf url = BUF_INIT(4 * KIB);
    int r;

    if (!o->mirror.listen) {
        s->mirrors = mirror_manager_new(NULL, STR(""));
        return 0;
    }
    r = mirror_open(folder, true, &s->mirror, err);
    if (r < 0)
        return err_wrap(err, r, "mirror");
    mirror_set_limit(s->mirror, o->mirror.bytes_max);
    r = mirror_serve(s->mirror, &(struct mirror_serve_options){ .address = o->mirror.listen },
                     &s->mirror_server, err);
    if (r < 0)
        return err_wrap(err, r, "mirror");
    s->mirrors = mirror_manager_new(s->mirror, mirror_url(s, o, &url));
    return 0;
}

static void make_managers(struct stack *s, const struct stack_options *o)
{
    struct str ns = str_from(o->ns);

    s->recorder = kube_recorder_new(s->kube, STR("pintle"));
    s->store = chart_store_new(s->kube, ns, CHART_CACHE_BYTES);
    s->registry = registry_manager_new(&(struct registry_manager_options){
        .kube = s->kube,
        .recorder = s->recorder,
        .http = s->http,
        .db = s->db,
        .ns = ns,
        .refuse_nets = o->allow_local ? 0 : HTTP_REFUSE_LOCAL,
        .follower = mirror_manager_follower(s->mirrors),
    });
    s->charts = chart_manager_new(&(struct chart_manager_options){
        .kube = s->kube, .recorder = s->recorder, .registry = s->registry, .store = s->store, .ns = ns });
    s->releases = release_manager_new(&(struct release_manager_options){
        .kube = s->kube,
        .store = s->store,
        .recorder = s->recorder,
        .ns = ns,
        .default_service_account = str_from(o->default_service_account),
    });
    s->groups = releasegroup_manager_new(s->kube, s->recorder);
}

static size_t collect_kinds(struct stack *s, struct controller_kind *out)
{
    const struct controller_kind *parts[4];
    size_t n[4], total = 0;

    parts[0] = registry_manager_kinds(s->registry, &n[0]);
    parts[1] = chart_manager_kinds(s->charts, &n[1]);
    parts[2] = release_manager_kinds(s->releases, &n[2]);
    parts[3] = releasegroup_manager_kinds(s->groups, &n[3]);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        for (size_t k = 0; k < n[i] && total < KINDS_MAX; k++)
            out[total++] = parts[i][k];
    return total;
}

static void know_our_kinds(struct kube *k)
{
    static const struct {
        const char *kind, *plural;
        bool namespaced;
    } kinds[] = {
        { "Repository", "repositories", false },
        { "RepoGroup", "repogroups", false },
        { "Chart", "charts", false },
        { "Release", "releases", true },
        { "ReleaseGroup", "releasegroups", true },
        { "Values", "values", true },
        { "Config", "configs", true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        kube_kind_add(k, STR("pintle.dev/v1alpha1"), str_from(kinds[i].kind), str_from(kinds[i].plural),
                      kinds[i].namespaced);
}

/* The index of a Repository was lost: it is fetched again, or forgotten when there is no such Repository. */
static void on_index_lost(void *ctx, struct str repository)
{
    controller_enqueue(ctx, "Repository", (struct controller_key){ STR_NONE, repository });
}

/* Repositories that were deleted while nobody looked: their files go. */
static void enqueue_known(struct stack *s)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    struct str *names;
    size_t n = registry_known(s->db, a, &names);

    for (size_t i = 0; i < n; i++)
        on_index_lost(s->controller, names[i]);
}

static void cancel_fetches(void *ctx)
{
    struct stack *s = ctx;

    http_client_cancel(s->http);
}

static int make_controller(struct stack *s, const struct stack_options *o, struct err **err)
{
    struct controller_kind kinds[KINDS_MAX];
    size_t n = collect_kinds(s, kinds);
    struct controller_options options = {
        .kube = s->kube,
        .workers = o->workers,
        .listen = o->listen,
        .lease_ns = o->leader_election ? str_from(o->ns) : STR_NONE,
        .lease_name = o->leader_election ? STR("pintle-controller") : STR_NONE,
        .cancel = cancel_fetches,
        .cancel_ctx = s,
        .signals = o->signals,
    };
    int r = controller_new(&options, kinds, n, &s->controller, err);

    if (r < 0)
        return r;
    release_manager_attach(s->releases, s->controller);
    registry_db_on_lost(s->db, on_index_lost, s->controller);
    enqueue_known(s);
    return 0;
}

int stack_new(const struct stack_options *o, struct stack **ret, struct err **err)
{
    CLEANUP(stack_free) struct stack *s = xcalloc(1, sizeof(*s));
    int r;

    s->kube = kube_ref(o->kube);
    s->data_dir = xstrdup(o->data_dir);
    know_our_kinds(s->kube);
    r = open_parts(s, o, err);
    if (r == 0)
        r = open_mirror(s, o, err);
    if (r < 0)
        return r;
    make_managers(s, o);
    r = make_controller(s, o, err);
    if (r == 0)
        *ret = TAKE(s);
    return r;
}

void stack_free(struct stack *s)
{
    if (!s)
        return;
    controller_free(s->controller);
    releasegroup_manager_free(s->groups);
    release_manager_free(s->releases);
    chart_manager_free(s->charts);
    registry_manager_free(s->registry);
    mirror_manager_free(s->mirrors);
    mirror_server_stop(s->mirror_server);
    mirror_close(s->mirror);
    chart_store_free(s->store);
    kube_recorder_free(s->recorder);
    registry_db_close(s->db);
    http_client_free(s->http);
    kube_unref(s->kube);
    free(s->data_dir);
    free(s);
}

int stack_run(struct stack *s, struct err **err)
{
    return controller_run(s->controller, err);
}

void stack_stop(struct stack *s)
{
    controller_stop(s->controller);
}

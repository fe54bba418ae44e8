/* SPDX-License-Identifier: Apache-2.0 */
/* Which kubeconfig, which context, what flags say on top. Behaviour: client-go's clientcmd. */
#include "base/fs.h"
#include "kube/kube_int.h"
#include "yaml/yaml.h"

#define CONFIG_MEMORY_MAX (64 * MIB)
#define ENTRIES_MAX ((size_t)10000)

enum list { CLUSTERS, USERS, CONTEXTS, LISTS };
static const struct {
    const char *list, *member;
} lists[LISTS] = { { "clusters", "cluster" }, { "users", "user" }, { "contexts", "context" } };

struct files {
    struct arena *a; /* of the config that is being made */
    struct config_entry *entries[LISTS];
    size_t n[LISTS], cap[LISTS];
    struct str current;
    bool any; /* a file was read */
};

static void files_done(struct files *f)
{
    for (int i = 0; i < LISTS; i++)
        free(f->entries[i]);
}
DEFINE_CLEANUP_VALUE(struct files, files_done)

static struct kube_config *config_new(void)
{
    struct kube_config *c = xcalloc(1, sizeof(*c));

    c->memory = arena_new(CONFIG_MEMORY_MAX);
    c->compress = true;
    return c;
}

void kube_config_free(struct kube_config *c)
{
    if (c)
        arena_free(c->memory);
    free(c);
}

struct str kube_config_server(const struct kube_config *c)
{
    return c->server;
}

struct str kube_config_namespace(const struct kube_config *c)
{
    return c->ns.n > 0 ? c->ns : STR("default");
}

struct str kube_config_context(const struct kube_config *c)
{
    return c->context;
}

static const struct config_entry *find(const struct files *f, enum list l, struct str name)
{
    for (size_t i = 0; i < f->n[l]; i++) {
        if (str_eq(f->entries[l][i].name, name))
            return &f->entries[l][i];
    }
    return NULL;
}

static int add_list(struct files *f, enum list l, struct value config, struct str file, struct str dir,
                    struct err **err)
{
    struct value_iter it = value_iter(value_get(config, str_from(lists[l].list)));

    while (value_is_list(it.of) && value_next(&it)) {
        struct str name = value_str(value_getz(it.v, "name"));

        if (find(f, l, name)) /* the first file wins whole */
            continue;
        if (f->n[l] == ENTRIES_MAX)
            return err_set(err, ERRC_LIMIT, STR_FMT ": more than %zu %s", STR_ARG(file), ENTRIES_MAX,
                           lists[l].list);
        ARRAY_GROW(f->entries[l], f->cap[l], f->n[l] + 1);
        f->entries[l][f->n[l]++] =
            (struct config_entry){ name, value_get(it.v, str_from(lists[l].member)), file, dir };
    }
    return 0;
}

static int add_text(struct files *f, struct str text, struct str file, struct str dir, struct err **err)
{
    struct value v;
    int r = yml_parse(f->a, arena_dup(f->a, text), NULL, &v, err);

    if (r < 0)
        return err_wrap(err, r, STR_FMT, STR_ARG(file));
    if (!value_is_map(v) && !value_is_null(v))
        return err_set(err, ERRC_PARSE, STR_FMT ": this is no kubeconfig", STR_ARG(file));
    for (int l = 0; l < LISTS; l++) {
        r = add_list(f, (enum list)l, v, file, dir, err);
        if (r < 0)
            return r;
    }
    if (f->current.n == 0)
        f->current = value_str(value_getz(v, "current-context"));
    f->any = true;
    return 0;
}

static int add_file(struct files *f, const char *path, bool required, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KUBE_CONFIG_MAX);
    CLEANUP(err_free) struct err *e = NULL;
    CLEANUP(free_ptr) char *absolute = realpath(path, NULL);
    struct str file = arena_dup(f->a, str_from(path));
    int r = fs_read_file(path, &text, &e);

    if (r == -ERRC_NOT_FOUND && !required)
        return 0;
    if (r < 0)
        return err_set(err, err_code(e), "kubeconfig %s", err_message(e));
    return add_text(f, buf_str(&text), file,
                    arena_dup(f->a, str_dirname(str_from(absolute ? absolute : path))), err);
}

static int add_files(struct files *f, const struct kube_config_options *o, struct err **err)
{
    struct str list = str_from(getenv("KUBECONFIG")), path;
    CLEANUP(free_ptr) char *home = NULL;

    if (o->kubeconfig)
        return add_file(f, o->kubeconfig, true, err);
    if (list.n == 0) {
        home = fs_home_path(".kube/config");
        return home ? add_file(f, home, false, err) : 0;
    }
    while (str_split(&list, ':', &path)) {
        CLEANUP(free_ptr) char *z = str_dup(path);
        int r = path.n > 0 ? add_file(f, z, false, err) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

/* Explicitly chosen entries must be there. */
static int choose(const struct files *f, enum list l, struct str name, const struct config_entry **ret,
                  struct err **err)
{
    *ret = find(f, l, name);
    if (!*ret && name.n > 0)
        return err_set(err, ERRC_NOT_FOUND, "kubeconfig: there is no %s \"" STR_FMT "\"", lists[l].member,
                       STR_ARG(name));
    return 0;
}

static int resolve(struct kube_config *c, const struct files *f, const struct kube_config_options *o,
                   struct err **err)
{
    const struct config_entry *context, *cluster, *user;
    struct str cluster_name = str_from(o->cluster), user_name = str_from(o->user);
    int r;

    c->context = arena_dup(c->memory, o->context ? str_from(o->context) : f->current);
    r = choose(f, CONTEXTS, c->context, &context, err);
    if (r < 0)
        return r;
    if (context && cluster_name.n == 0)
        cluster_name = value_str(value_getz(context->v, "cluster"));
    if (context && user_name.n == 0)
        user_name = value_str(value_getz(context->v, "user"));
    if (context)
        c->ns = arena_dup(c->memory, value_str(value_getz(context->v, "namespace")));
    r = choose(f, CLUSTERS, cluster_name, &cluster, err);
    if (r == 0)
        r = choose(f, USERS, user_name, &user, err);
    if (r == 0 && user)
        r = config_read_user(c, user, err);
    if (r == 0 && cluster)
        r = config_read_cluster(c, cluster, err);
    return r;
}

static struct str flag(struct kube_config *c, const char *z)
{
    return arena_dup(c->memory, str_from(z));
}

/* What flags take the place of, they clear. */
static void apply_flags(struct kube_config *c, const struct kube_config_options *o)
{
    if (o->namespace)
        c->ns = flag(c, o->namespace);
    if (o->server) {
        c->server = flag(c, o->server);
        c->server_name = STR_NONE;
    }
    if (o->token) {
        c->token = flag(c, o->token);
        c->token_file = c->user = c->password = STR_NONE;
        c->exec = NULL;
    }
    if (o->ca_file) {
        c->ca_file = flag(c, o->ca_file);
        c->ca_pem = STR_NONE;
    }
    if (o->insecure) {
        c->insecure = true;
        c->ca_file = c->ca_pem = STR_NONE;
    }
    if (o->tls_server_name)
        c->server_name = flag(c, o->tls_server_name);
    if (o->as) {
        c->as = flag(c, o->as);
        c->n_as_groups = o->n_as_groups;
        c->as_groups = ARENA_ARRAY(c->memory, struct str, o->n_as_groups);
        for (size_t i = 0; i < o->n_as_groups; i++)
            c->as_groups[i] = flag(c, o->as_groups[i]);
    }
}

static int config_check(const struct kube_config *c, struct err **err)
{
    CLEANUP(http_url_done) struct http_url u = { 0 };
    bool cert = c->cert_pem.n > 0 || c->cert_file.n > 0, key = c->key_pem.n > 0 || c->key_file.n > 0;
    int r;

    if (c->server.n == 0)
        return err_set(err, ERRC_INVALID, "kubeconfig: the cluster has no server");
    r = http_url_parse(c->server, &u, err);
    if (r < 0)
        return err_wrap(err, r, "kubeconfig: server");
    if (cert != key)
        return err_set(err, ERRC_INVALID, "kubeconfig: the user has a client %s without a %s",
                       cert ? "certificate" : "key", cert ? "key" : "certificate");
    return 0;
}

/* ---- in a pod ----------------------------------------------------------------------------------------------------- */

static struct str pod_namespace(struct kube_config *c, const char *dir)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KUBE_CONFIG_MAX);
    CLEANUP(free_ptr) char *path = fs_join(dir, "namespace");
    const char *env = getenv("POD_NAMESPACE");

    if (env && *env)
        return arena_dup(c->memory, str_from(env));
    if (fs_read_file(path, &text, NULL) < 0)
        return STR_NONE;
    return arena_dup(c->memory, str_trim(buf_str(&text)));
}

static int config_in_cluster(struct kube_config **ret, struct err **err)
{
    CLEANUP(kube_config_free) struct kube_config *c = config_new();
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    const char *dir = getenv("PINTLE_SERVICE_ACCOUNT_DIR"); /* for tests */
    bool v6 = host && strchr(host, ':');
    struct str ca;
    int r;

    if (!dir)
        dir = "/var/run/secrets/kubernetes.io/serviceaccount";
    if (!host || !port || !*host || !*port)
        return err_set(err, ERRC_NOT_FOUND,
                       "not in a cluster: KUBERNETES_SERVICE_HOST and _PORT are not set");
    c->server = arena_printf(c->memory, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    c->token_file = arena_printf(c->memory, "%s/token", dir);
    ca = arena_printf(c->memory, "%s/ca.crt", dir);
    if (fs_is_file(ca.p)) /* else the system's roots */
        c->ca_file = ca;
    if (!fs_is_file(c->token_file.p))
        return err_set(err, ERRC_NOT_FOUND, "not in a cluster: %s is missing", c->token_file.p);
    c->ns = pod_namespace(c, dir);
    r = config_check(c, err);
    if (r < 0)
        return r;
    *ret = TAKE(c);
    return 0;
}

/* ---- loading ---------------------------------------------------------------------------------------------------- */

/* "https://h:6443" for "h:6443", as client-go's DefaultServerURL() reads it. */
static void complete_server(struct kube_config *c)
{
    bool tls = c->ca_pem.n > 0 || c->ca_file.n > 0 || c->cert_pem.n > 0 || c->cert_file.n > 0 || c->insecure;

    if (c->server.n > 0 && str_find(c->server, STR("://")) == STR_NPOS)
        c->server = arena_printf(c->memory, "%s://" STR_FMT, tls ? "https" : "http", STR_ARG(c->server));
}

int kube_config_load(const struct kube_config_options *o, struct kube_config **ret, struct err **err)
{
    static const struct kube_config_options none;
    CLEANUP(kube_config_free) struct kube_config *c = NULL;
    CLEANUP(files_done) struct files f = { 0 };
    int r;

    o = o ? o : &none;
    if (o->in_cluster)
        return config_in_cluster(ret, err);
    c = config_new();
    f.a = c->memory;
    r = add_files(&f, o, err);
    if (r == 0)
        r = resolve(c, &f, o, err);
    if (r < 0)
        return r;
    apply_flags(c, o);
    complete_server(c);
    if (c->server.n == 0 && !o->kubeconfig && getenv("KUBERNETES_SERVICE_HOST"))
        return config_in_cluster(ret, err);
    if (c->server.n == 0 && o->fallback_server)
        c->server = arena_dup(c->memory, str_from(o->fallback_server));
    if (c->server.n == 0 && !f.any)
        return err_set(
            err, ERRC_NOT_FOUND,
            "no kubeconfig: neither --kubeconfig, $KUBECONFIG nor ~/.kube/config, and not in a cluster");
    r = config_check(c, err);
    if (r < 0)
        return r;
    *ret = TAKE(c);
    return 0;
}

static int refuse_all(const struct files *f, struct err **err)
{
    for (size_t i = 0; i < f->n[CLUSTERS]; i++) {
        int r = config_refuse_untrusted(&f->entries[CLUSTERS][i], false, err);

        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < f->n[USERS]; i++) {
        int r = config_refuse_untrusted(&f->entries[USERS][i], true, err);

        if (r < 0)
            return r;
    }
    return 0;
}

int kube_config_parse_untrusted(struct str text, struct str context, struct kube_config **ret,
                                struct err **err)
{
    CLEANUP(kube_config_free) struct kube_config *c = config_new();
    CLEANUP(files_done) struct files f = { .a = c->memory };
    CLEANUP(free_ptr) char *name = str_dup(context);
    struct kube_config_options o = { .context = context.n > 0 ? name : NULL };
    int r;

    if (text.n > KUBE_CONFIG_MAX)
        return err_set(err, ERRC_LIMIT, "kubeconfig: larger than %zu bytes", KUBE_CONFIG_MAX);
    r = add_text(&f, text, STR("kubeconfig"), STR_NONE, err);
    if (r == 0)
        r = refuse_all(&f, err);
    if (r == 0)
        r = resolve(c, &f, &o, err);
    if (r < 0)
        return r;
    complete_server(c);
    r = config_check(c, err);
    if (r < 0)
        return r;
    *ret = TAKE(c);
    return 0;
}

/* ---- copies ------------------------------------------------------------------------------------------------------- */

static struct str *copy_strs(struct arena *a, const struct str *from, size_t n)
{
    struct str *to = ARENA_ARRAY(a, struct str, n);

    for (size_t i = 0; i < n; i++)
        to[i] = arena_dup(a, from[i]);
    return to;
}

static struct kube_exec *copy_exec(struct arena *a, const struct kube_exec *from)
{
    struct kube_exec *x;

    if (!from)
        return NULL;
    x = ARENA_NEW(a, struct kube_exec);
    *x = *from;
    x->command = arena_dup(a, from->command);
    x->api_version = arena_dup(a, from->api_version);
    x->install_hint = arena_dup(a, from->install_hint);
    x->args = copy_strs(a, from->args, from->n_args);
    x->env = ARENA_ARRAY(a, struct kube_exec_env, from->n_env);
    for (size_t i = 0; i < from->n_env; i++) {
        x->env[i].name = arena_dup(a, from->env[i].name);
        x->env[i].value = arena_dup(a, from->env[i].value);
    }
    x->cluster_config = value_copy(a, from->cluster_config, NULL);
    return x;
}

struct kube_config *config_copy(const struct kube_config *from)
{
    struct kube_config *c = config_new();
    struct arena *a = c->memory;
    struct str *const strings[] = { &c->server,     &c->ns,          &c->context,  &c->ca_pem,
                                    &c->ca_file,    &c->server_name, &c->proxy,    &c->cert_pem,
                                    &c->key_pem,    &c->cert_file,   &c->key_file, &c->token,
                                    &c->token_file, &c->user,        &c->password, &c->as };

    *c = *from;
    c->memory = a;
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
        *strings[i] = arena_dup(a, *strings[i]);
    c->as_groups = copy_strs(a, from->as_groups, from->n_as_groups);
    c->exec = copy_exec(a, from->exec);
    return c;
}

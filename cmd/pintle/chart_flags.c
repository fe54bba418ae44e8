/* SPDX-License-Identifier: Apache-2.0 */
#include "pintle/chart_flags.h"

#include <stdlib.h>

#include "base/encode.h"
#include "base/fs.h"
#include "base/gourl.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "pintle/cluster.h"
#include "pintle/helm_path.h"

static void print_line(void *ctx, struct str text)
{
    struct cli *c = ctx;

    fprintf(c->errout, STR_FMT "\n", STR_ARG(text));
}

struct chart_log chart_flags_log(struct cli *c)
{
    return (struct chart_log){ .line = print_line, .ctx = c, .debug = cli_bool(c, "debug") };
}

/* As helm's getters do it for values: with no other credentials than the URL's own. */
static int fetch_values(void *ctx, struct str url, struct buf *out, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(http_client_free) struct http_client *http = NULL;
    CLEANUP(buf_done) struct buf plain = BUF_INIT(HTTP_URL_MAX);
    struct registry_auth auth = { 0 };
    struct registry_source source = { .auth = &auth };
    struct gourl u;
    int r = gourl_parse(a, url, &u, err);

    UNUSED(ctx);
    if (r == 0)
        r = http_client_new(NULL, &http, err);
    if (r < 0)
        return r;
    auth.user = u.user;
    auth.password = u.password;
    u.has_user = u.has_password = false;
    gourl_format(&u, &plain);
    if (u.host.n == 0)
        return err_set(err, ERRC_INVALID, "Get \"%s\": http: no Host in request URL", buf_z(&plain));
    source.http = http;
    source.url = buf_str(&plain);
    return registry_fetch_url(&source, source.url, HTTP_BODY_MAX, out, err);
}

int chart_flags_values(const struct cli *c, struct arena *a, struct value *ret, struct err **err)
{
    struct chart_value_sources s = { .fetch = fetch_values };

    s.files = cli_list(c, "values", &s.n_files);
    s.set = cli_list(c, "set", &s.n_set);
    s.set_string = cli_list(c, "set-string", &s.n_set_string);
    s.set_file = cli_list(c, "set-file", &s.n_set_file);
    s.set_json = cli_list(c, "set-json", &s.n_set_json);
    s.set_literal = cli_list(c, "set-literal", &s.n_set_literal);
    return chart_values_collect(a, &s, ret, err);
}

struct str chart_flags_namespace(const struct cli *c, struct arena *a)
{
    const char *ns = cli_string(c, "namespace");
    CLEANUP(kube_config_free) struct kube_config *config = NULL;

    if (!ns[0])
        ns = getenv("HELM_NAMESPACE");
    if (ns && ns[0])
        return str_from(ns);
    if (cli_cluster_config(c, &config, NULL) < 0)
        return STR("default");
    return arena_dup(a, kube_config_namespace(config));
}

int chart_flags_kube_version(const struct cli *c, struct arena *a, struct chart_capabilities *caps,
                             struct err **err)
{
    const char *version = cli_string(c, "kube-version");
    int r;

    if (!version[0])
        return 0;
    r = chart_kube_version_parse(a, str_from(version), caps, err);
    return r < 0 ? err_wrap(err, r, "invalid kube version '%s'", version) : 0;
}

/* ---- where the chart is -------------------------------------------------------------------------------------------- */

static void fetcher_line(void *ctx, struct str text)
{
    struct cli *c = ctx;

    cli_printf(c, STR_FMT "\n", STR_ARG(text));
}

static void other_version(void *ctx, struct str chart, struct str requested, struct str selected)
{
    struct chart_log log = chart_flags_log(ctx);
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB);

    chart_log_attr(&attrs, "chart", chart);
    chart_log_attr(&attrs, "requested", requested);
    chart_log_attr(&attrs, "selected", selected);
    chart_log_line(&log, "WARN", buf_z(&attrs),
                   "unable to find exact version requested; falling back to closest available version");
}

static int read_file_flag(struct cli *c, struct arena *a, const char *flag, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(MIB);
    const char *path = cli_string(c, flag);
    int r = path[0] ? fs_read_file(path, &text, err) : 0;

    if (r < 0)
        return err_wrap(err, r, "--%s", flag);
    *ret = arena_dup(a, buf_str(&text));
    return 0;
}

static int read_auth(struct cli *c, struct chart_fetcher *f, struct err **err)
{
    struct registry_auth *auth = &f->auth;
    const char *user = cli_string(c, "username"), *password = cli_string(c, "password");
    int r = read_file_flag(c, f->arena, "ca-file", &auth->ca_pem, err);

    if (r == 0)
        r = read_file_flag(c, f->arena, "cert-file", &auth->cert_pem, err);
    if (r == 0)
        r = read_file_flag(c, f->arena, "key-file", &auth->key_pem, err);
    if (r < 0)
        return r;
    if ((auth->cert_pem.n > 0) != (auth->key_pem.n > 0))
        return err_set(err, ERRC_INVALID, "--cert-file and --key-file are needed together");
    if (user[0] && password[0]) { /* as in helm, one of them alone is nothing */
        auth->user = str_from(user);
        auth->password = str_from(password);
    }
    return 0;
}

int chart_fetcher_init(struct cli *c, struct chart_fetcher *f, struct err **err)
{
    int r;

    *f = (struct chart_fetcher){ .arena = arena_new(16 * MIB) };
    r = read_auth(c, f, err);
    if (r == 0)
        r = http_client_new(NULL, &f->http, err);
    if (r < 0)
        return r;
    f->locator = (struct registry_locator){
        .source = { .http = f->http,
                    .auth = &f->auth,
                    .insecure = cli_bool(c, "insecure-skip-tls-verify"),
                    .plain_http = cli_bool(c, "plain-http"),
                    .pass_credentials = cli_bool(c, "pass-credentials"),
                    .files = true },
        .repositories = helm_path(c, HELM_REPOSITORY_CONFIG, f->arena),
        .cache = helm_path(c, HELM_REPOSITORY_CACHE, f->arena),
        .logins = helm_path(c, HELM_REGISTRY_CONFIG, f->arena),
        .line = fetcher_line,
        .other_version = other_version,
        .line_ctx = c,
    };
    return 0;
}

void chart_fetcher_done(struct chart_fetcher *f)
{
    http_client_free(TAKE(f->http));
    arena_free(TAKE(f->arena));
}

void chart_flags_log_version(struct cli *c, const char *text, const char *otherwise)
{
    struct chart_log log = chart_flags_log(c);
    CLEANUP(buf_done) struct buf attrs = BUF_INIT(64 * KIB), set = BUF_INIT(KIB);
    const char *version = cli_string(c, "version");

    chart_log_attr(&attrs, "version", str_from(version));
    chart_log_debug(&log, buf_z(&attrs), text);
    if (cli_bool(c, "devel"))
        otherwise = ">0.0.0-0";
    if (version[0] || !otherwise)
        return;
    buf_addf(&set, "setting version to %s", otherwise);
    chart_log_debug(&log, "", buf_z(&set));
}

struct str chart_flags_version(const struct cli *c)
{
    const char *version = cli_string(c, "version");

    return str_from(!version[0] && cli_bool(c, "devel") ? ">0.0.0-0" : version);
}

void chart_found_done(struct chart_found *f)
{
    free(TAKE(f->path));
    registry_found_done(&f->remote);
}

const char *chart_flags_keyring(const struct cli *c, struct arena *a)
{
    const char *home = getenv("GNUPGHOME");
    CLEANUP(free_ptr) char *below = NULL, *path = NULL;

    if (cli_given(c, "keyring"))
        return cli_string(c, "keyring");
    below = home ? xstrdup(home) : fs_home_path(".gnupg");
    path = fs_join(below ? below : ".gnupg", "pubring.gpg");
    return arena_dupz(a, str_from(path));
}

void chart_fetcher_verify(const struct cli *c, struct chart_fetcher *f, enum registry_verify how)
{
    if (!cli_bool(c, "verify"))
        return;
    f->locator.verify = how;
    f->locator.keyring = chart_flags_keyring(c, f->arena);
}

void chart_flags_print_signer(struct cli *c, const struct provenance_verified *v)
{
    for (size_t i = 0; i < v->n_identities; i++) {
        CLEANUP(buf_done) struct buf name = BUF_INIT(KEYRING_MAX);

        escape_controls(v->identities[i], &name);
        cli_printf(c, "Signed by: %s\n", buf_z(&name));
    }
    cli_printf(c, "Using Key With Fingerprint: " STR_FMT "\n", STR_ARG(v->fingerprint));
    cli_printf(c, "Chart Hash Verified: " STR_FMT "\n", STR_ARG(v->digest));
}

static int verify_here(const struct cli *c, const char *path, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(free_ptr) char *prov = xasprintf("%s.prov", path);
    struct provenance_verified signer;

    return provenance_verify_file(a, path, prov, chart_flags_keyring(c, a), &signer, err);
}

static int find_here(struct str name, struct chart_found *ret, struct err **err)
{
    CLEANUP(free_ptr) char *path = str_dup(name);
    CLEANUP(buf_done) struct buf quoted = BUF_INIT(64 * KIB);

    if (fs_exists(path)) {
        ret->path = fs_absolute(path);
        return 1;
    }
    if (name.n == 0 || (name.p[0] != '/' && name.p[0] != '.'))
        return 0;
    utf8_quote(name, &quoted);
    return err_set(err, ERRC_NOT_FOUND, "path %s not found", buf_z(&quoted));
}

int chart_flags_locate(struct cli *c, const char *name, struct chart_found *ret, struct err **err)
{
    CLEANUP(chart_fetcher_done) struct chart_fetcher f = { 0 };
    struct str wanted = str_trim(str_from(name)), repo = str_from(cli_string(c, "repo"));
    struct chart_log log = chart_flags_log(c);
    int r = repo.n == 0 ? find_here(wanted, ret, err) : 0;

    if (r == 1 && cli_bool(c, "verify"))
        return verify_here(c, ret->path, err);
    if (r != 0)
        return MIN(r, 0);
    chart_log_debug(&log, "", "set up default downloader cache");
    r = chart_fetcher_init(c, &f, err);
    if (r < 0)
        return r;
    chart_fetcher_verify(c, &f, REGISTRY_VERIFY_ALWAYS);
    return registry_locate(&f.locator, wanted, repo, chart_flags_version(c), &ret->remote, err);
}

int chart_found_load(const struct chart_found *f, const struct chart_log *log, struct chart **ret,
                     struct err **err)
{
    if (f->path)
        return chart_load(f->path, log, ret, err);
    return chart_load_archive(buf_str(&f->remote.archive), log, ret, err);
}

int chart_found_load_to_render(const struct chart_found *f, const struct chart_log *log, struct chart **ret,
                               struct err **err)
{
    return f->path ? chart_load_to_render(f->path, log, ret, err) : chart_found_load(f, log, ret, err);
}

/* ---- its dependencies -------------------------------------------------------------------------------------------- */

static void dependency_line(void *ctx, struct str text)
{
    fetcher_line(ctx, text);
    fflush(((struct cli *)ctx)->out); /* progress */
}

int chart_flags_dependencies(struct cli *c, const char *path,
                             int (*act)(const struct dependency_job *, struct err **), unsigned how,
                             struct err **err)
{
    CLEANUP(chart_fetcher_done) struct chart_fetcher fetcher = { 0 };
    struct chart_log log = chart_flags_log(c);
    struct dependency_job j = { .chart_path = path,
                                .locator = &fetcher.locator,
                                .skip_refresh = how & CHART_FLAGS_SKIP_REFRESH,
                                .debug = cli_bool(c, "debug"),
                                .line = how & CHART_FLAGS_QUIET ? NULL : dependency_line,
                                .line_ctx = c,
                                .log = &log };
    int r = chart_fetcher_init(c, &fetcher, err);

    if (r < 0)
        return r;
    fetcher.locator.configured = true;
    if (how & (CHART_FLAGS_VERIFY_ALWAYS | CHART_FLAGS_VERIFY_IF_POSSIBLE))
        chart_fetcher_verify(c, &fetcher,
                             how & CHART_FLAGS_VERIFY_ALWAYS ? REGISTRY_VERIFY_ALWAYS
                                                             : REGISTRY_VERIFY_IF_POSSIBLE);
    if (how & CHART_FLAGS_QUIET)
        fetcher.locator.line = NULL;
    return act(&j, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Logins of registries: helm's registry/config.json, with docker's behind it. */
#include <stdlib.h>

#include "base/fs.h"
#include "base/limits.h"
#include "oci/oci.h"
#include "registry/registry.h"
#include "registry/registry_int.h"

void registry_use_flags(const struct registry_locator *l, struct str url, struct registry_found *f)
{
    f->source = l->source;
    f->source.url = url;
    f->source.name = url;
    f->auth = l->source.auth ? *l->source.auth : (struct registry_auth){ 0 };
    f->source.auth = &f->auth;
}

/* 1 when the file has a login for the host; then auth has the file. */
static int look_into(struct arena *a, const char *file, struct str host, struct registry_auth *auth,
                     struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(OCI_CONFIG_MAX);
    struct oci_login login;
    int r;

    if (!file || !fs_exists(file))
        return 0;
    r = fs_read_file(file, &text, err);
    if (r == 0)
        r = oci_login_find(a, buf_str(&text), host, &login, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file);
    if (r == 1)
        auth->logins = arena_dup(a, buf_str(&text));
    return r;
}

int registry_use_registry(const struct registry_locator *l, struct arena *a, const struct oci_ref *ref,
                          struct registry_found *f, struct err **err)
{
    const char *home = getenv("DOCKER_CONFIG");
    CLEANUP(free_ptr) char *dir = home && home[0] ? xstrdup(home) : fs_home_path(".docker");
    CLEANUP(free_ptr) char *docker = dir ? fs_join(dir, "config.json") : NULL;
    int r = 0;

    registry_use_flags(l, arena_printf(a, OCI_SCHEME STR_FMT, STR_ARG(ref->host)), f);
    if (f->auth.user.n + f->auth.bearer.n + f->auth.logins.n > 0)
        return 0;
    r = look_into(a, l->logins, ref->host, &f->auth, err);
    if (r == 0)
        r = look_into(a, docker, ref->host, &f->auth, err);
    return MIN(r, 0);
}

/* ---- login and logout -------------------------------------------------------------------------------------------- */

static int rewrite(const char *file, struct str host, const struct oci_login *login, struct err **err)
{
    CLEANUP(buf_done) struct buf old = BUF_INIT(OCI_CONFIG_MAX), text = BUF_INIT(4 * OCI_CONFIG_MAX);
    CLEANUP(free_ptr) char *dir = str_dup(str_dirname(str_from(file)));
    int r = fs_exists(file) ? fs_read_file(file, &old, err) : 0;

    if (r == 0)
        r = oci_login_put(buf_str(&old), host, login, &text, err);
    if (r == 0 && dir[0])
        r = fs_make_dirs(dir, 0700, err);
    if (r == 0)
        r = fs_write_file(file, buf_str(&text), 0600, err);
    return r < 0 ? err_wrap(err, r, "%s", file) : 0;
}

int registry_login(const struct registry_locator *l, struct str host, struct str user, struct str password,
                   struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    CLEANUP(oci_client_free) struct oci_client *c = NULL;
    struct registry_found f = { 0 };
    struct oci_login login = { .user = user, .password = password };
    int r;

    if (!oci_host_is_valid(host))
        return err_set(err, ERRC_INVALID, "invalid reference: invalid registry \"" STR_FMT "\"",
                       STR_ARG(host));
    registry_use_flags(l, arena_printf(a, OCI_SCHEME STR_FMT, STR_ARG(host)), &f);
    f.auth.user = user;
    f.auth.password = password;
    r = registry_oci_open(&f.source, a, host, &c, err);
    if (r == 0)
        r = oci_ping(c, err);
    if (r < 0)
        return err_wrap(err, r, "authenticating to \"" STR_FMT "\"", STR_ARG(host));
    return rewrite(l->logins, host, &login, err);
}

int registry_logout(const struct registry_locator *l, struct str host, struct err **err)
{
    return fs_exists(l->logins) ? rewrite(l->logins, host, NULL, err) : 0;
}

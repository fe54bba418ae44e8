/* SPDX-License-Identifier: Apache-2.0 */
/* Logins in the format of docker's config.json, as oras-go's credential store reads and writes them. */
#include "base/encode.h"
#include "base/limits.h"
#include "oci/oci_int.h"
#include "json/json.h"

/* Docker Hub has its own key. */
static struct str key_of_host(struct str host)
{
    if (str_eq(host, STR("docker.io")) || str_eq(host, STR("registry-1.docker.io")))
        return STR("https://index.docker.io/v1/");
    return host;
}

/* "https://registry.example.com/v2/" is an old way to write "registry.example.com". */
static struct str host_of_key(struct str key)
{
    size_t slash;

    key = str_trim_prefix(str_trim_prefix(key, STR("http://")), STR("https://"));
    slash = str_find_char(key, '/');
    return slash == STR_NPOS ? key : str_sub(key, 0, slash);
}

/* null when there is none. */
static struct value find_entry(struct value auths, struct str host)
{
    const struct value_entry *e = value_find(auths, key_of_host(host));

    if (e)
        return e->v;
    for (struct value_iter it = value_iter(auths); value_next(&it);)
        if (value_is_map(auths) && str_eq(host_of_key(it.key), host))
            return it.v;
    return VALUE_NONE;
}

static int parse(struct arena *a, struct str config, struct value *ret, struct err **err)
{
    int r;

    *ret = VALUE_NONE;
    if (str_trim(config).n == 0)
        return 0;
    if (config.n > OCI_CONFIG_MAX)
        return err_set(err, ERRC_LIMIT, "registry logins: larger than %zu bytes", OCI_CONFIG_MAX);
    r = json_parse(a, config, NULL, ret, NULL);
    if (r < 0 || (!value_is_map(*ret) && !value_is_null(*ret)))
        return err_set(err, ERRC_PARSE, "registry logins: invalid config format"); /* it holds secrets */
    return 0;
}

static int decode_auth(struct arena *a, struct str auth, struct oci_login *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(OCI_CONFIG_MAX);
    struct str text;
    size_t colon;

    if (!base64_decode(BASE64_STD, auth, &raw, NULL))
        return err_set(err, ERRC_PARSE, "registry logins: auth is not base64");
    text = arena_dup(a, buf_str(&raw));
    colon = str_find_char(text, ':');
    if (colon == STR_NPOS)
        return err_set(err, ERRC_PARSE, "registry logins: auth is not base64 of user:password");
    ret->user = str_sub(text, 0, colon);
    ret->password = str_sub(text, colon + 1, text.n);
    return 0;
}

static int check_helpers(struct value root, struct str host, bool found, struct err **err)
{
    struct value helper = value_get(value_getz(root, "credHelpers"), key_of_host(host));

    if (value_str(helper).n == 0 && !found)
        helper = value_getz(root, "credsStore");
    if (value_str(helper).n == 0)
        return 0;
    return err_set(
        err, ERRC_UNSUPPORTED,
        "registry logins: the credentials of " STR_FMT " are with the helper docker-credential-" STR_FMT
        ", and helpers are not run; log in with `pintle registry login`, or give user name and password",
        STR_ARG(host), STR_ARG(value_str(helper)));
}

int oci_login_find(struct arena *a, struct str config, struct str host, struct oci_login *ret,
                   struct err **err)
{
    struct oci_login login = { 0 };
    struct value root, entry;
    struct str auth;
    int r;

    config = arena_dup(a, config);
    r = parse(a, config, &root, err);
    if (r < 0)
        return r;
    entry = find_entry(value_getz(root, "auths"), host);
    login.user = value_str(value_getz(entry, "username"));
    login.password = value_str(value_getz(entry, "password"));
    login.identity_token = value_str(value_getz(entry, "identitytoken"));
    login.registry_token = value_str(value_getz(entry, "registrytoken"));
    auth = value_str(value_getz(entry, "auth"));
    if (auth.n > 0)
        r = decode_auth(a, auth, &login, err);
    if (r < 0)
        return r;
    if (login.user.n + login.password.n + login.identity_token.n + login.registry_token.n > 0) {
        *ret = login;
        return 1;
    }
    return check_helpers(root, host, value_is_map(entry) && value_len(entry) > 0, err);
}

static struct value entry_of(struct arena *a, const struct oci_login *login)
{
    CLEANUP(buf_done) struct buf pair = BUF_INIT(OCI_CONFIG_MAX), auth = BUF_INIT(2 * OCI_CONFIG_MAX);
    struct value entry = value_new_map(a);

    if (login->user.n + login->password.n > 0) {
        buf_addf(&pair, STR_FMT ":" STR_FMT, STR_ARG(login->user), STR_ARG(login->password));
        base64_encode(BASE64_STD, buf_str(&pair), &auth);
        value_setz(entry, "auth", value_from_str(arena_dup(a, buf_str(&auth))));
    }
    if (login->identity_token.n > 0)
        value_setz(entry, "identitytoken", value_from_str(login->identity_token));
    if (login->registry_token.n > 0)
        value_setz(entry, "registrytoken", value_from_str(login->registry_token));
    return entry;
}

int oci_login_put(struct str config, struct str host, const struct oci_login *login, struct buf *out,
                  struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * OCI_CONFIG_MAX);
    struct value root, auths;
    int r = parse(a, config, &root, err);

    if (r < 0)
        return r;
    if (!value_is_map(root))
        root = value_new_map(a);
    r = login ? check_helpers(root, host, false, err) : 0;
    if (r < 0)
        return r;
    auths = value_getz(root, "auths");
    if (!value_is_map(auths))
        auths = value_new_map(a);
    if (login)
        value_set(auths, key_of_host(host), entry_of(a, login));
    else
        value_unset(auths, key_of_host(host));
    value_setz(root, "auths", auths);
    r = json_print(root, JSON_INDENT, out, err);
    return r < 0 ? r : buf_check(out, err);
}

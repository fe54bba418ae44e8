/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of repositories, as Secrets hold them. */
#include "base/encode.h"
#include "base/limits.h"
#include "registry/registry.h"

static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] > 0x7e)
            return false;
    return s.n > 0;
}

/* yaho wanted its Secrets encoded twice: what is base64 of printable text once more, padding and all, is taken so. */
static struct str decode_again(struct arena *a, struct str s)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(64 * KIB);

    s = str_trim_suffix(s, STR("\n"));
    if (s.n < 4 || s.n % 4 != 0 || !base64_decode(BASE64_STD, s, &raw, NULL) || !is_printable(buf_str(&raw)))
        return s;
    return arena_dup(a, buf_str(&raw));
}

static struct str secret_value(struct arena *a, struct value secret, struct str key)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(MIB);
    struct value v = value_get(value_getz(secret, "data"), key);

    if (!value_is_string(v) || !base64_decode(BASE64_STD, value_str(v), &raw, NULL) || raw.failed)
        return STR("");
    return arena_dup(a, buf_str(&raw));
}

static struct str either(struct arena *a, struct value secret, struct str one, struct str other)
{
    struct str v = secret_value(a, secret, one);

    return v.n ? v : secret_value(a, secret, other);
}

static struct str once_or_twice(struct arena *a, struct value secret, struct str one, struct str other)
{
    return decode_again(a, either(a, secret, one, other));
}

/* What is there without the other half of it; NULL when nothing is missing. */
static const char *missing_half(const struct registry_auth *auth)
{
    const struct {
        struct str have, need;
        const char *name;
    } pairs[] = {
        { auth->user, auth->password, "password" },
        { auth->password, auth->user, "user" },
        { auth->proxy_user, auth->proxy_password, "proxyPassword" },
        { auth->proxy_password, auth->proxy_user, "proxyUsername" },
        { auth->cert_pem, auth->key_pem, "tls.key" },
        { auth->key_pem, auth->cert_pem, "tls.crt" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
        if (pairs[i].have.n > 0 && pairs[i].need.n == 0)
            return pairs[i].name;
    return NULL;
}

int registry_auth_from_secret(struct arena *a, struct value secret, struct registry_auth *ret,
                              struct err **err)
{
    struct registry_auth auth = {
        .user = once_or_twice(a, secret, STR("user"), STR("username")),
        .password = once_or_twice(a, secret, STR("password"), STR("")),
        .bearer = once_or_twice(a, secret, STR("token"), STR("bearerToken")),
        .proxy_user = once_or_twice(a, secret, STR("proxyUsername"), STR("proxyUser")),
        .proxy_password = once_or_twice(a, secret, STR("proxyPassword"), STR("")),
        .ca_pem = either(a, secret, STR("ca.crt"), STR("caFile")),
        .cert_pem = either(a, secret, STR("tls.crt"), STR("certFile")),
        .key_pem = either(a, secret, STR("tls.key"), STR("keyFile")),
        .logins = either(a, secret, STR(".dockerconfigjson"), STR("config.json")),
    };
    const char *missing = missing_half(&auth);

    if (auth.user.n + auth.bearer.n + auth.proxy_user.n + auth.ca_pem.n + auth.cert_pem.n + auth.logins.n ==
            0 &&
        !missing)
        missing = "user and password, token, ca.crt, tls.crt or .dockerconfigjson";
    if (missing)
        return err_set(err, ERRC_INVALID, "Secret " STR_FMT " has no %s", STR_ARG(kube_name(secret)),
                       missing);
    *ret = auth;
    return 0;
}

const char *registry_proxy_url(struct arena *a, const char *proxy, const struct registry_auth *auth)
{
    CLEANUP(buf_done) struct buf url = BUF_INIT(64 * KIB);
    struct str text = str_from(proxy);
    size_t at = str_find(text, STR("://"));

    if (auth->proxy_user.n == 0 || text.n == 0 || at == STR_NPOS)
        return proxy;
    buf_addstr(&url, str_sub(text, 0, at + 3));
    url_escape(auth->proxy_user, "", &url);
    buf_addc(&url, ':');
    url_escape(auth->proxy_password, "", &url);
    buf_addc(&url, '@');
    buf_addstr(&url, str_sub(text, at + 3, text.n));
    return arena_dupz(a, buf_str(&url));
}

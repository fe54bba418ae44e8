/* SPDX-License-Identifier: Apache-2.0 */
/* Proxies from the environment, with the rules of golang.org/x/net/http/httpproxy: libcurl reads other variables and
 * matches NO_PROXY more narrowly. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "http/http_int.h"

static const char *env_any(const char *upper, const char *lower)
{
    const char *v = getenv(upper);

    return v && *v ? v : getenv(lower);
}

/* Address bytes of a literal; 4, 16 or 0. */
static size_t address_bytes(struct str host, unsigned char out[16])
{
    char text[64];

    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_sub(host, 1, host.n - 1);
    if (host.n == 0 || host.n >= sizeof(text))
        return 0;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (inet_pton(AF_INET, text, out) == 1)
        return 4;
    return inet_pton(AF_INET6, text, out) == 1 ? 16 : 0;
}

static bool in_cidr(struct str host, struct str cidr)
{
    unsigned char a[16], b[16];
    size_t slash = str_find_char(cidr, '/'), n;
    int64_t bits;

    if (slash == STR_NPOS || !str_to_int64(str_sub(cidr, slash + 1, cidr.n), &bits))
        return false;
    n = address_bytes(host, a);
    if (n == 0 || address_bytes(str_sub(cidr, 0, slash), b) != n || bits < 0 || (size_t)bits > n * 8)
        return false;
    for (size_t i = 0; i < n && bits > 0; i++, bits -= 8) {
        unsigned mask = bits >= 8 ? 0xffU : 0xffU << (8 - bits) & 0xffU;

        if ((a[i] & mask) != (b[i] & mask))
            return false;
    }
    return true;
}

/* Takes ":port" off; false when it names another port than the URL's. */
static bool port_fits(struct str *entry, int port)
{
    size_t colon = str_rfind_char(*entry, ':');
    int64_t n;

    if (colon == STR_NPOS || str_find_char(*entry, ':') != colon) /* none, or an IPv6 address */
        return true;
    if (!str_to_int64(str_sub(*entry, colon + 1, entry->n), &n))
        return true;
    entry->n = colon;
    return n == port;
}

static bool entry_matches(struct str entry, const struct http_url *u)
{
    unsigned char a[16], b[16];
    struct str tail;
    size_t n;

    if (str_eq(entry, STR("*")) || in_cidr(u->host, entry))
        return true;
    if (!port_fits(&entry, u->port) || entry.n == 0)
        return false;
    n = address_bytes(entry, a);
    if (n > 0)
        return address_bytes(u->host, b) == n && memcmp(a, b, n) == 0;
    if (str_has_prefix(entry, STR("*.")))
        entry = str_sub(entry, 1, entry.n);
    if (entry.p[0] != '.' && str_ieq(entry, u->host))
        return true;
    if (entry.p[0] == '.')
        entry = str_sub(entry, 1, entry.n);
    if (u->host.n <= entry.n + 1 || u->host.p[u->host.n - entry.n - 1] != '.')
        return false;
    tail = str_sub(u->host, u->host.n - entry.n, u->host.n);
    return str_ieq(tail, entry);
}

static bool is_direct(const struct http_url *u)
{
    struct str list = str_from(env_any("NO_PROXY", "no_proxy")), entry;
    enum http_net net;

    if (str_eq(u->host, STR("localhost")) || (http_net_of(u->host, &net) && net == HTTP_NET_LOOPBACK))
        return true;
    while (str_split(&list, ',', &entry)) {
        entry = str_trim(entry);
        if (entry.n > 0 && entry_matches(entry, u))
            return true;
    }
    return false;
}

char *proxy_for(const struct http_url *u)
{
    const char *proxy = str_eq(u->scheme, STR("https")) ? env_any("HTTPS_PROXY", "https_proxy")
                                                        : env_any("HTTP_PROXY", "http_proxy");

    return xstrdup(proxy && *proxy && !is_direct(u) ? proxy : "");
}

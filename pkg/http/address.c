/* SPDX-License-Identifier: Apache-2.0 */
/* Which net a numeric address belongs to: RFC 6890 and the registries of special addresses behind it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "http/http_int.h"

struct net4 {
    uint32_t base, mask;
    enum http_net net;
};
#define NET4(a, b, c, d, bits, net)                                                                         \
    {                                                                                                       \
        ((uint32_t)(a) << 24) | ((b) << 16) | ((c) << 8) | (d), (uint32_t)(0xffffffffULL << (32 - (bits))), \
            net                                                                                             \
    }

static const struct net4 nets4[] = {
    NET4(0, 0, 0, 0, 8, HTTP_NET_SPECIAL),       NET4(10, 0, 0, 0, 8, HTTP_NET_PRIVATE),
    NET4(100, 64, 0, 0, 10, HTTP_NET_PRIVATE),   NET4(127, 0, 0, 0, 8, HTTP_NET_LOOPBACK),
    NET4(169, 254, 0, 0, 16, HTTP_NET_LINK),     NET4(172, 16, 0, 0, 12, HTTP_NET_PRIVATE),
    NET4(192, 0, 0, 0, 24, HTTP_NET_SPECIAL),    NET4(192, 0, 2, 0, 24, HTTP_NET_SPECIAL),
    NET4(192, 168, 0, 0, 16, HTTP_NET_PRIVATE),  NET4(198, 18, 0, 0, 15, HTTP_NET_SPECIAL),
    NET4(198, 51, 100, 0, 24, HTTP_NET_SPECIAL), NET4(203, 0, 113, 0, 24, HTTP_NET_SPECIAL),
    NET4(224, 0, 0, 0, 4, HTTP_NET_SPECIAL),     NET4(240, 0, 0, 0, 4, HTTP_NET_SPECIAL),
};

static enum http_net net_of_4(uint32_t address)
{
    for (size_t i = 0; i < ARRAY_SIZE(nets4); i++) {
        if ((address & nets4[i].mask) == nets4[i].base)
            return nets4[i].net;
    }
    return HTTP_NET_PUBLIC;
}

static uint32_t be32(const unsigned char *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static enum http_net net_of_6(const unsigned char p[16])
{
    static const unsigned char zero[12];
    static const unsigned char nat64[12] = { 0, 0x64, 0xff, 0x9b };

    if (memcmp(p, zero, 12) == 0 && be32(p + 12) == 1)
        return HTTP_NET_LOOPBACK;
    if (memcmp(p, zero, 10) == 0 && p[10] == 0xff && p[11] == 0xff) /* mapped */
        return net_of_4(be32(p + 12));
    if (memcmp(p, zero, 12) == 0 || memcmp(p, nat64, 12) == 0)
        return net_of_4(be32(p + 12));
    if (p[0] == 0x20 && p[1] == 0x02) /* 6to4 */
        return net_of_4(be32(p + 2));
    if ((p[0] & 0xfe) == 0xfc)
        return HTTP_NET_PRIVATE;
    if (p[0] == 0xfe && (p[1] & 0xc0) == 0x80)
        return HTTP_NET_LINK;
    if (p[0] == 0xff || (p[0] & 0xe0) != 0x20 || be32(p) == 0x20010db8)
        return HTTP_NET_SPECIAL; /* only 2000::/3 is given out */
    return HTTP_NET_PUBLIC;
}

bool http_net_of_sockaddr(const struct sockaddr *sa, enum http_net *ret)
{
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, sa, sizeof(in));
        *ret = net_of_4(ntohl(in.sin_addr.s_addr));
        return true;
    }
    if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, sa, sizeof(in6));
        *ret = net_of_6(in6.sin6_addr.s6_addr);
        return true;
    }
    return false;
}

bool http_net_of(struct str host, enum http_net *ret)
{
    struct in6_addr a6;
    struct in_addr a4;
    char text[128];

    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_sub(host, 1, host.n - 1);
    if (str_find_char(host, '%') != STR_NPOS) /* a zone */
        host.n = str_find_char(host, '%');
    if (host.n == 0 || host.n >= sizeof(text))
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (inet_pton(AF_INET6, text, &a6) == 1) {
        *ret = net_of_6(a6.s6_addr);
        return true;
    }
    if (inet_aton(text, &a4) != 0) { /* decimal, octal and short forms too: resolvers take them */
        *ret = net_of_4(ntohl(a4.s_addr));
        return true;
    }
    return false;
}

const char *http_net_name(enum http_net net)
{
    static const char *const names[] = {
        [HTTP_NET_PUBLIC] = "public",           [HTTP_NET_PRIVATE] = "private",
        [HTTP_NET_LOOPBACK] = "loopback",       [HTTP_NET_LINK] = "link-local",
        [HTTP_NET_SPECIAL] = "special-purpose",
    };

    return names[net];
}

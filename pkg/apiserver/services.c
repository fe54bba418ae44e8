/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/services.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>

#include "apiserver/server.h"
#include "base/random.h"
#include "json/json.h"

enum {
    IPS = 65536,  /* of 10.96.0.0/16 */
    IP_FIRST = 2, /* .0.0 is the network, .0.1 is kubernetes.default */
    PORT_FIRST = 30000,
    PORTS = 2768,
};
#define NETWORK 0x0a600000U

struct api_ips {
    pthread_mutex_t mutex;
    uint8_t ip[IPS / 8];
    uint8_t port[PORTS / 8 + 1];
};

struct api_ips *api_ips_new(void)
{
    struct api_ips *p = xcalloc(1, sizeof(*p));

    pthread_mutex_init(&p->mutex, NULL);
    p->ip[0] = 0x01;
    p->ip[IPS / 8 - 1] = 0x80; /* the broadcast address */
    return p;
}

void api_ips_free(struct api_ips *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

static bool get(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] & (1U << (i % 8));
}

static void set(uint8_t *bits, uint32_t i, bool on)
{
    if (on)
        bits[i / 8] = (uint8_t)(bits[i / 8] | (1U << (i % 8)));
    else
        bits[i / 8] = (uint8_t)(bits[i / 8] & ~(1U << (i % 8)));
}

/* Takes one that is free, from a random place on: true and *ret. */
static bool take_any(uint8_t *bits, uint32_t first, uint32_t n, uint32_t *ret)
{
    uint32_t start = random_below(n - first);

    for (uint32_t i = 0; i < n - first; i++) {
        uint32_t at = first + (start + i) % (n - first);

        if (!get(bits, at)) {
            set(bits, at, true);
            *ret = at;
            return true;
        }
    }
    return false;
}

static bool ip_index(struct str text, uint32_t *ret)
{
    char z[INET_ADDRSTRLEN];
    struct in_addr a;

    if (text.n == 0 || text.n >= sizeof(z))
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = 0;
    if (inet_pton(AF_INET, z, &a) != 1 || (ntohl(a.s_addr) & 0xffff0000U) != NETWORK)
        return false;
    *ret = ntohl(a.s_addr) & 0xffffU;
    return true;
}

static bool port_index(int64_t port, uint32_t *ret)
{
    if (port < PORT_FIRST || port >= PORT_FIRST + PORTS)
        return false;
    *ret = (uint32_t)(port - PORT_FIRST);
    return true;
}

static void mark(struct api_ips *p, struct value service, bool on)
{
    uint32_t i;

    if (ip_index(value_str(value_path(service, "spec.clusterIP")), &i))
        set(p->ip, i, on);
    for (struct value_iter it = value_iter(value_path(service, "spec.ports")); value_next(&it);)
        if (port_index(value_int(value_getz(it.v, "nodePort"), 0), &i))
            set(p->port, i, on);
    if (port_index(value_int(value_path(service, "spec.healthCheckNodePort"), 0), &i))
        set(p->port, i, on);
}

static int on_service(void *ctx, const struct api_row *row, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 << 20);
    struct value v;
    int r = json_parse(a, row->json, NULL, &v, err);

    if (r < 0)
        return r;
    mark(ctx, v, true);
    return 1;
}

int api_ips_load(struct api_ips *p, struct api_store *s, struct err **err)
{
    const struct api_list q = { .resource = STR("services") };
    struct api_list_end end;

    return api_store_list(s, &q, on_service, p, &end, err);
}

/* ---- one Service --------------------------------------------------------------------------------------------- */

static int fail_field(struct api_request *rq, const char *field, struct value bad, const char *detail)
{
    struct api_causes c = API_CAUSES_INIT(rq->arena);

    api_cause_invalid(&c, field, bad, detail);
    return api_fail_invalid(rq, STR("Service"), STR(""), rq->name, &c);
}

static int assign_ip(struct api_request *rq, struct value spec, struct value live)
{
    struct api_ips *p = rq->server->ips;
    struct str want = value_str(value_getz(spec, "clusterIP")), text;
    struct value *list = ARENA_NEW(rq->arena, struct value);
    uint32_t i;

    if (str_eq(want, value_str(value_path(live, "spec.clusterIP"))) && want.n > 0)
        return 0;
    if (str_eq(value_str(value_getz(spec, "type")), STR("ExternalName")) || str_eq(want, STR("None")))
        return 0;
    if (want.n == 0) {
        if (!take_any(p->ip, IP_FIRST, IPS, &i))
            return api_fail(rq, 500, "InternalError",
                            "Internal error occurred: failed to allocate a serviceIP: range "
                            "is full");
    } else {
        if (!ip_index(want, &i))
            return fail_field(rq, "spec.clusterIPs", value_from_str(want),
                              "failed to allocate IP: the provided network does not match the current range");
        if (get(p->ip, i))
            return fail_field(rq, "spec.clusterIPs", value_from_str(want),
                              "failed to allocate IP: provided IP is already allocated");
        if (!rq->dry_run)
            set(p->ip, i, true);
    }
    if (rq->dry_run && want.n == 0)
        set(p->ip, i, false);
    text = arena_printf(rq->arena, "10.96.%u.%u", i >> 8, i & 0xff);
    value_setz(spec, "clusterIP", value_from_str(text));
    *list = value_from_str(text);
    value_setz(spec, "clusterIPs", value_from_list(list, 1));
    return 0;
}

static bool had_port(struct value live, int64_t port)
{
    for (struct value_iter it = value_iter(value_path(live, "spec.ports")); value_next(&it);)
        if (value_int(value_getz(it.v, "nodePort"), 0) == port)
            return true;
    return false;
}

/* A port without a number keeps the one that the live Service has under the same name or number. */
static int64_t old_port(struct value live, struct value port)
{
    for (struct value_iter it = value_iter(value_path(live, "spec.ports")); value_next(&it);)
        if (value_equal(value_getz(it.v, "port"), value_getz(port, "port")) &&
            value_equal(value_getz(it.v, "protocol"), value_getz(port, "protocol")))
            return value_int(value_getz(it.v, "nodePort"), 0);
    return 0;
}

static int assign_port(struct api_request *rq, struct value port, size_t n, struct value live)
{
    struct api_ips *p = rq->server->ips;
    int64_t want = value_int(value_getz(port, "nodePort"), 0);
    uint32_t i;

    if (want == 0) {
        want = old_port(live, port);
        if (want > 0) {
            value_setz(port, "nodePort", value_from_int(want));
            return 0;
        }
        if (!take_any(p->port, 0, PORTS, &i))
            return api_fail(rq, 500, "InternalError",
                            "Internal error occurred: failed to allocate a nodePort: range is "
                            "full");
        if (rq->dry_run)
            set(p->port, i, false);
        value_setz(port, "nodePort", value_from_int(PORT_FIRST + (int64_t)i));
        return 0;
    }
    if (had_port(live, want))
        return 0;
    if (!port_index(want, &i))
        return fail_field(rq, arena_dupz(rq->arena, arena_printf(rq->arena, "spec.ports[%zu].nodePort", n)),
                          value_from_int(want),
                          "provided port is not in the valid range. The range of valid ports is "
                          "30000-32767");
    if (get(p->port, i))
        return fail_field(rq, arena_dupz(rq->arena, arena_printf(rq->arena, "spec.ports[%zu].nodePort", n)),
                          value_from_int(want), "provided port is already allocated");
    if (!rq->dry_run)
        set(p->port, i, true);
    return 0;
}

static bool wants_ports(struct value spec)
{
    struct str type = value_str(value_getz(spec, "type"));
    struct value allocate = value_getz(spec, "allocateLoadBalancerNodePorts");

    if (str_eq(type, STR("NodePort")))
        return true;
    return str_eq(type, STR("LoadBalancer")) && (value_is_null(allocate) || value_bool(allocate));
}

/* Lists never change: the ports are copied to get their numbers. */
static struct value own_ports(struct api_request *rq, struct value spec)
{
    struct value_list l = VALUE_LIST_INIT(rq->arena);

    for (struct value_iter it = value_iter(value_getz(spec, "ports")); value_next(&it);)
        value_list_add(&l, value_copy_maps(rq->arena, it.v));
    return value_list_done(&l);
}

int api_service_assign(struct api_request *rq, struct value obj, struct value live)
{
    struct value spec = value_getz(obj, "spec"), ports;
    size_t n = 0;
    int r;

    if (!value_is_map(spec))
        return 0;
    pthread_mutex_lock(&rq->server->ips->mutex);
    r = assign_ip(rq, spec, live);
    if (r == 0 && wants_ports(spec)) {
        ports = own_ports(rq, spec);
        for (struct value_iter it = value_iter(ports); r == 0 && value_next(&it); n++)
            r = assign_port(rq, it.v, n, live);
        value_setz(spec, "ports", ports);
    }
    pthread_mutex_unlock(&rq->server->ips->mutex);
    return r;
}

void api_service_release(struct api_request *rq, struct value obj)
{
    pthread_mutex_lock(&rq->server->ips->mutex);
    mark(rq->server->ips, obj, false);
    pthread_mutex_unlock(&rq->server->ips->mutex);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics, /healthz, /readyz, on libmicrohttpd, which is opened when the server is wanted. It changes nothing. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/dynlib.h"
#include "controller/controller_int.h"

#define CONNECTIONS_MAX 64
#define TIMEOUT_S 10
#define METRICS_TEXT_MAX (64 * MIB)
#define STUCK_MS 1800000 /* a reconcile that runs so long is no longer healthy */

static struct {
    struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                       void *accept_ctx, MHD_AccessHandlerCallback handle, void *handle_ctx,
                                       ...);
    void (*stop_daemon)(struct MHD_Daemon *d);
    const union MHD_DaemonInfo *(*get_daemon_info)(struct MHD_Daemon *d, enum MHD_DaemonInfoType type, ...);
    struct MHD_Response *(*create_response_from_buffer)(size_t n, void *p, enum MHD_ResponseMemoryMode mode);
    enum MHD_Result (*add_response_header)(struct MHD_Response *r, const char *name, const char *value);
    enum MHD_Result (*queue_response)(struct MHD_Connection *c, unsigned status, struct MHD_Response *r);
    void (*destroy_response)(struct MHD_Response *r);
} mhd;

#define SYMBOL(member) DYNLIB_SYMBOL(mhd, member, "MHD_" #member)
static const struct dynlib_symbol symbols[] = {
    SYMBOL(start_daemon),        SYMBOL(stop_daemon),
    SYMBOL(get_daemon_info),     SYMBOL(create_response_from_buffer),
    SYMBOL(add_response_header), SYMBOL(queue_response),
    SYMBOL(destroy_response),
};
static struct dynlib library =
    DYNLIB("libmicrohttpd", "libmicrohttpd12", &mhd, symbols, "libmicrohttpd.so.12");

struct web {
    struct controller *c;
    struct MHD_Daemon *daemon;
};

static enum MHD_Result answer(struct MHD_Connection *conn, unsigned status, const char *type, struct str text)
{
    struct MHD_Response *r =
        mhd.create_response_from_buffer(text.n, (void *)(uintptr_t)text.p, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!r)
        return MHD_NO;
    mhd.add_response_header(r, "Content-Type", type);
    result = mhd.queue_response(conn, status, r);
    mhd.destroy_response(r);
    return result;
}

static enum MHD_Result page_metrics(struct controller *c, struct MHD_Connection *conn)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(METRICS_TEXT_MAX);

    controller_update_gauges(c);
    metrics_format(c->metrics, &text);
    return answer(conn, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&text));
}

static enum MHD_Result page_healthz(struct controller *c, struct MHD_Connection *conn)
{
    bool healthy = queue_figures(c->queue).oldest_ms < STUCK_MS;

    return answer(conn, healthy ? 200 : 503, "text/plain",
                  healthy ? STR("ok\n") : STR("a reconcile does not end\n"));
}

static enum MHD_Result page_readyz(struct controller *c, struct MHD_Connection *conn)
{
    bool ready = controller_is_ready(c);

    return answer(conn, ready ? 200 : 503, "text/plain",
                  ready ? STR("ok\n") : STR("watches have not listed yet\n"));
}

static const struct {
    const char *path;
    enum MHD_Result (*page)(struct controller *c, struct MHD_Connection *conn);
} pages[] = { { "/metrics", page_metrics }, { "/healthz", page_healthz }, { "/readyz", page_readyz } };

static enum MHD_Result handle(void *ctx, struct MHD_Connection *conn, const char *path, const char *method,
                              const char *version, const char *data, size_t *n, void **state)
{
    struct web *w = ctx;

    UNUSED(version);
    UNUSED(data);
    if (!*state) { /* the headers alone; an answer now would end keep-alive */
        *state = w;
        return MHD_YES;
    }
    if (*n > 0) { /* bodies are not wanted */
        *n = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer(conn, 405, "text/plain", STR("only GET\n"));
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        if (strcmp(path, pages[i].path) == 0)
            return pages[i].page(w->c, conn);
    }
    return answer(conn, 404, "text/plain", STR("not found\n"));
}

static int resolve(const char *listen, struct addrinfo **ret, struct err **err)
{
    struct str text = str_from(listen);
    size_t colon = str_rfind_char(text, ':');
    CLEANUP(free_ptr) char *host = NULL, *port = NULL;
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                              .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM };
    int e;

    if (colon == STR_NPOS)
        return err_set(err, ERRC_INVALID, "listen address %s: host:port is wanted", listen);
    host = str_dup(str_trim_chars(str_sub(text, 0, colon), "[]"));
    port = str_dup(str_sub(text, colon + 1, text.n));
    e = getaddrinfo(*host ? host : NULL, port, &hints, ret);
    if (e != 0)
        return err_set(err, ERRC_INVALID, "listen address %s: %s", listen, gai_strerror(e));
    return 0;
}

int web_start(struct controller *c, const char *listen, struct web **ret, struct err **err)
{
    struct addrinfo *address = NULL;
    struct web *w;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;
    int r = dynlib_open(&library, err);

    if (r == 0)
        r = resolve(listen, &address, err);
    if (r < 0)
        return r;
    w = xcalloc(1, sizeof(*w));
    w->c = c;
    if (address->ai_family == AF_INET6)
        flags |= MHD_USE_DUAL_STACK;
    w->daemon = mhd.start_daemon(flags, 0, NULL, NULL, handle, w, MHD_OPTION_SOCK_ADDR, address->ai_addr,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                                 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
    freeaddrinfo(address);
    if (!w->daemon) {
        free(w);
        return err_set(err, ERRC_IO, "cannot listen on %s", listen);
    }
    *ret = w;
    return 0;
}

void web_stop(struct web *w)
{
    if (!w)
        return;
    mhd.stop_daemon(w->daemon);
    free(w);
}

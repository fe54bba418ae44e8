/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong on the way, in the words of Go's net/http where they are known: users read them in helm's errors. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/fs.h"
#include "http/http_int.h"

static enum errc code_errc(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return ERRC_TIMEOUT;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        return ERRC_INVALID;
    case CURLE_BAD_CONTENT_ENCODING:
        return ERRC_PARSE;
    case CURLE_OUT_OF_MEMORY:
        return ERRC_INTERNAL;
    default:
        return ERRC_UNAVAILABLE;
    }
}

/* libcurl's reason without its measurements: the same failure reads the same each time, so that it is news once. "Failed to
 * connect to h port 1 after 3 ms: …", "Operation timed out after 1001 milliseconds with 5 bytes received". */
static void add_curl_reason(const struct transfer *t, CURLcode code, struct buf *out)
{
    struct str why = str_from(*t->reason ? t->reason : curl.easy_strerror(code)), rest;
    size_t at = str_find(why, STR(" after ")), end = at + strlen(" after ");

    if (at == STR_NPOS) {
        escape_controls(why, out);
        return;
    }
    while (end < why.n && ascii_is_digit(why.p[end]))
        end++;
    rest = str_sub(why, end, why.n);
    escape_controls(str_sub(why, 0, at), out);
    if (str_has_prefix(rest, STR(" ms")))
        escape_controls(str_trim_prefix(rest, STR(" ms")), out);
    else if (!str_has_prefix(rest, STR(" milliseconds")))
        escape_controls(str_sub(why, at, why.n), out);
}

/* "127.0.0.1:80", "[::1]:80"; false before there was an address. */
static bool add_peer(const struct transfer *t, struct buf *out)
{
    char text[INET6_ADDRSTRLEN];

    if (t->peer.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&t->peer;

        inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
        buf_addf(out, "%s:%u", text, ntohs(in->sin_port));
    } else if (t->peer.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&t->peer;

        inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
        buf_addf(out, "[%s]:%u", text, ntohs(in6->sin6_port));
    } else {
        return false;
    }
    return true;
}

/* "dial tcp 127.0.0.1:1: connect: connection refused" */
static bool add_dial(const struct transfer *t, struct buf *out)
{
    CLEANUP(buf_done) struct buf peer = BUF_INIT(128);
    const char *why;
    long number = 0;

    if (!add_peer(t, &peer) || curl.easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number) != CURLE_OK ||
        number == 0)
        return false;
    why = strerrordesc_np((int)number);
    if (!why)
        return false;
    buf_addf(out, "%sdial tcp %s: connect: %c%s", t->proxied ? "proxyconnect tcp: " : "", buf_z(&peer),
             ascii_lower(why[0]), why + 1);
    return true;
}

/* " on 10.0.0.2:53": Go names the server that it asked first. */
static void add_name_server(struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(64 * KIB);
    struct str rest, line;

    if (fs_read_file("/etc/resolv.conf", &text, NULL) < 0)
        return;
    for (rest = buf_str(&text); str_split(&rest, '\n', &line);) {
        struct str server = str_trim(str_trim_prefix(line, STR("nameserver")));

        if (!str_has_prefix(line, STR("nameserver")) || server.n == 0)
            continue;
        buf_addf(out, memchr(server.p, ':', server.n) ? " on [" STR_FMT "]:53" : " on " STR_FMT ":53",
                 STR_ARG(server));
        return;
    }
}

static bool add_lookup(const struct transfer *t, struct buf *out)
{
    CLEANUP(http_url_done) struct http_url u = { 0 };

    if (t->proxied || http_url_parse(str_from(t->url), &u, NULL) < 0)
        return false;
    buf_addf(out, "dial tcp: lookup " STR_FMT, STR_ARG(u.host));
    add_name_server(out);
    buf_adds(out, ": no such host");
    return true;
}

/* Numbers of OpenSSL's X509_V_ERR_…: no issuer that we know. */
static bool is_unknown_authority(const struct transfer *t)
{
    long result = 0;

    return curl.easy_getinfo(t->easy, CURLINFO_SSL_VERIFYRESULT, &result) == CURLE_OK &&
           (result == 2 || (result >= 18 && result <= 21));
}

static bool add_go_reason(const struct transfer *t, CURLcode code, struct buf *out)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        return add_dial(t, out);
    case CURLE_COULDNT_RESOLVE_HOST:
        return add_lookup(t, out);
    case CURLE_GOT_NOTHING:
        buf_adds(out, "EOF");
        return true;
    case CURLE_PEER_FAILED_VERIFICATION:
        if (!is_unknown_authority(t))
            return false;
        buf_adds(out, "tls: failed to verify certificate: x509: certificate signed by unknown authority");
        return true;
    case CURLE_SSL_CONNECT_ERROR:
        if (!strstr(t->reason, "wrong version number"))
            return false;
        buf_adds(out, "http: server gave HTTP response to HTTPS client");
        return true;
    default:
        return false;
    }
}

/* As Go's url.Error, `Get "https://host/path": …`, when the reason is Go's. */
int transfer_failed(const struct transfer *t, CURLcode code, struct err **err)
{
    CLEANUP(buf_done) struct buf url = BUF_INIT(HTTP_URL_MAX * 4), why = BUF_INIT(8 * KIB);
    const char *method = transfer_method(t);
    CLEANUP(free_ptr) char *verb = xstrdup(method);

    http_url_redact(str_from(t->url), &url);
    if (t->fail_code != ERRC_NONE)
        return err_set(err, (enum errc)t->fail_code, "%s %s: %s", method, buf_z(&url), t->fail_text);
    for (size_t i = 1; verb[0] && verb[i]; i++)
        verb[i] = ascii_lower(verb[i]);
    if (add_go_reason(t, code, &why))
        return err_set(err, code_errc(code), "%s \"%s\": %s", verb, buf_z(&url), buf_z(&why));
    add_curl_reason(t, code, &why);
    return err_set(err, code_errc(code), "%s %s: %s", method, buf_z(&url), buf_z(&why));
}

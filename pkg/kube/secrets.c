/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are at this moment: tokens and certificates are read again while the process runs. */
#include "base/clock.h"
#include "base/fs.h"
#include "kube/kube_int.h"

#define REREAD_MS \
    5000 /* files; client-go looks every 50 s, which is longer than some tokens are accepted after a rotation */
#define EARLY_S 10 /* a plugin's credentials are replaced so long before they end */
#define SECRETS_MAX (4 * KUBE_CONFIG_MAX)

void kube_secrets_unref(struct kube_secrets *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
        return;
    arena_free(s->memory);
    free(s);
}

static struct kube_secrets *secrets_new(void)
{
    struct kube_secrets *s = xcalloc(1, sizeof(*s));

    atomic_init(&s->refs, 1);
    s->memory = arena_new(SECRETS_MAX);
    return s;
}

static int read_file(struct kube_secrets *s, struct str path, bool trim, struct str *ret, struct err **err)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(KUBE_CONFIG_MAX);
    int r;

    if (path.n == 0)
        return 0;
    r = fs_read_file(path.p, &text, err);
    if (r < 0)
        return err_wrap(err, r, "kubeconfig");
    *ret = arena_dup(s->memory, trim ? str_trim(buf_str(&text)) : buf_str(&text));
    return 0;
}

static int read_all(const struct kube_config *c, struct kube_secrets *s, struct err **err)
{
    int r;

    s->ca_pem = c->ca_pem;
    s->cert_pem = c->cert_pem;
    s->key_pem = c->key_pem;
    s->token = c->token;
    r = read_file(s, c->ca_file, false, &s->ca_pem, err);
    if (r == 0)
        r = read_file(s, c->cert_file, false, &s->cert_pem, err);
    if (r == 0)
        r = read_file(s, c->key_file, false, &s->key_pem, err);
    if (r == 0 && c->token_file.n > 0) {
        r = read_file(s, c->token_file, true, &s->token, c->token.n > 0 ? NULL : err);
        r = c->token.n > 0 ? 0 : r;
    }
    return r;
}

static bool exec_is_used(const struct kube_config *c)
{
    return c->exec && c->token.n == 0 && c->token_file.n == 0 && c->user.n == 0 && c->cert_pem.n == 0 &&
           c->cert_file.n == 0;
}

static bool is_fresh(const struct kube_conn *c, const struct kube_secrets *used)
{
    const struct kube_secrets *s = c->secrets;
    int64_t age_ms = clock_mono_ms() - c->secrets_ms;
    const struct kube_config *f = c->config;
    bool files = f->ca_file.n || f->cert_file.n || f->key_file.n || f->token_file.n;

    if (!s)
        return false;
    if (used == s)
        return age_ms <
               1000; /* a server that refuses everything must not make us read or run without pause */
    if (s->expires_s > 0 && clock_wall().s >= s->expires_s - EARLY_S)
        return false;
    return !files || age_ms < REREAD_MS;
}

static bool same(const struct kube_secrets *a, const struct kube_secrets *b)
{
    return str_eq(a->ca_pem, b->ca_pem) && str_eq(a->cert_pem, b->cert_pem) &&
           str_eq(a->key_pem, b->key_pem) && str_eq(a->token, b->token) && a->expires_s == b->expires_s;
}

static int refresh(struct kube_conn *c, bool refused, struct err **err)
{
    CLEANUP(kube_secrets_unref) struct kube_secrets *s = secrets_new();
    CLEANUP(err_free) struct err *e = NULL;
    bool run = exec_is_used(c->config), keep;
    int r = read_all(c->config, s, &e);

    keep = run && c->secrets && !refused &&
           (c->secrets->expires_s == 0 || clock_wall().s < c->secrets->expires_s - EARLY_S);
    if (r == 0 && keep) { /* only files were due */
        s->token = arena_dup(s->memory, c->secrets->token);
        s->cert_pem = arena_dup(s->memory, c->secrets->cert_pem);
        s->key_pem = arena_dup(s->memory, c->secrets->key_pem);
        s->expires_s = c->secrets->expires_s;
    } else if (r == 0 && run) {
        r = kube_exec_run(c->config, s, &e);
    }
    c->secrets_ms = clock_mono_ms();
    if (r < 0 && c->secrets) /* the last good ones; the server decides whether they still are */
        return 0;
    if (r < 0)
        return err_set(err, err_code(e), "%s", err_message(e));
    if (c->secrets && same(c->secrets, s))
        return 0;
    kube_secrets_unref(c->secrets);
    c->secrets = TAKE(s);
    return 0;
}

int kube_secrets_get(struct kube_conn *c, const struct kube_secrets *used, struct kube_secrets **ret,
                     struct err **err)
{
    int r = 0;

    pthread_mutex_lock(&c->secrets_lock);
    if (!is_fresh(c, used))
        r = refresh(c, used && used == c->secrets, err);
    if (r == 0) {
        atomic_fetch_add(&c->secrets->refs, 1);
        *ret = c->secrets;
    }
    pthread_mutex_unlock(&c->secrets_lock);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <crypt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "mirror/serve_int.h"

/* Who showed the right password lately: password hashes are slow by design, and a pull is several requests. */
#define REMEMBERED 16
#define USERS_MAX 10000

struct user {
    char *name, *hash;
};
struct mirror_auth {
    struct user *users;
    size_t n, cap;
    char *read_token, *push_token;
    pthread_mutex_t lock;
    char remembered[REMEMBERED][SHA256_HEX];
    size_t next;
};

/* Takes as long whatever the bytes are. */
static bool same_secret(struct str a, const char *secret)
{
    struct str b = str_from(secret);
    unsigned char difference = 0;

    if (!secret || a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        difference |= (unsigned char)(a.p[i] ^ b.p[i]);
    return difference == 0;
}

static int add_user(struct mirror_auth *a, struct str line, size_t number, struct err **err)
{
    struct str name;

    line = str_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return 0;
    if (!str_split(&line, ':', &name) || name.n == 0 || line.n == 0)
        return err_set(err, ERRC_INVALID, "htpasswd: line %zu: want user:hash", number);
    if (line.p[0] != '$' || str_has_prefix(line, STR("$apr1$")))
        return err_set(err, ERRC_INVALID,
                       "htpasswd: line %zu: the hash of %.*s is of a kind that is not taken; `htpasswd -B` "
                       "makes a good one",
                       number, STR_ARG(name));
    if (a->n >= USERS_MAX)
        return err_set(err, ERRC_LIMIT, "htpasswd: more than %d users", USERS_MAX);
    ARRAY_GROW(a->users, a->cap, a->n + 1);
    a->users[a->n++] = (struct user){ str_dup(name), str_dup(line) };
    return 0;
}

int mirror_auth_new(const struct mirror_serve_options *o, struct mirror_auth **ret, struct err **err)
{
    struct mirror_auth *a = xcalloc(1, sizeof(*a));
    struct str rest = o->htpasswd, line;
    size_t number = 0;
    int r = 0;

    pthread_mutex_init(&a->lock, NULL);
    a->read_token = o->read_token.n ? str_dup(o->read_token) : NULL;
    a->push_token = o->push_token.n ? str_dup(o->push_token) : NULL;
    while (r == 0 && rest.n > 0 && str_split(&rest, '\n', &line))
        r = add_user(a, line, ++number, err);
    if (r == 0 && o->htpasswd.n > 0 && a->n == 0)
        r = err_set(err, ERRC_INVALID, "htpasswd: there is no user in it");
    if (r < 0) {
        mirror_auth_free(a);
        return r;
    }
    *ret = a;
    return 0;
}

void mirror_auth_free(struct mirror_auth *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++) {
        free(a->users[i].name);
        free(a->users[i].hash);
    }
    free(a->users);
    free(a->read_token);
    free(a->push_token);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

bool mirror_auth_can_push(const struct mirror_auth *a)
{
    return a->push_token != NULL;
}

/* ---- passwords --------------------------------------------------------------------------------------------------------- */

static bool is_remembered(struct mirror_auth *a, const char *hex)
{
    bool found = false;

    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < REMEMBERED; i++)
        found = found || same_secret(str_from(hex), a->remembered[i]);
    pthread_mutex_unlock(&a->lock);
    return found;
}

static void remember(struct mirror_auth *a, const char *hex)
{
    pthread_mutex_lock(&a->lock);
    memcpy(a->remembered[a->next], hex, SHA256_HEX);
    a->next = (a->next + 1) % REMEMBERED;
    pthread_mutex_unlock(&a->lock);
}

static bool check_hash(const char *password, const char *hash)
{
    struct crypt_data *data = xcalloc(1, sizeof(*data));
    const char *made = crypt_rn(password, hash, data, (int)sizeof(*data));
    bool same = made && made[0] != '*' && same_secret(str_from(made), hash);

    explicit_bzero(data, sizeof(*data));
    free(data);
    return same;
}

static bool check_user(struct mirror_auth *a, struct str user, struct str password)
{
    CLEANUP(free_ptr) char *z = str_dup(password);
    bool good = false;

    for (size_t i = 0; i < a->n && !good; i++)
        if (str_eq(user, str_from(a->users[i].name)))
            good = check_hash(z, a->users[i].hash);
    explicit_bzero(z, strlen(z));
    return good;
}

static enum mirror_right token_right(const struct mirror_auth *a, struct str token)
{
    if (same_secret(token, a->push_token))
        return MIRROR_MAY_PUSH;
    return same_secret(token, a->read_token) ? MIRROR_MAY_READ : MIRROR_MAY_NOTHING;
}

static enum mirror_right basic_right(struct mirror_auth *a, struct str encoded)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(4 * KIB);
    struct str user, password;
    enum mirror_right right;
    char hex[SHA256_HEX];

    if (!base64_decode(BASE64_STD, str_trim(encoded), &plain, NULL) || plain.failed)
        return MIRROR_MAY_NOTHING;
    password = buf_str(&plain);
    if (!str_split(&password, ':', &user))
        return MIRROR_MAY_NOTHING;
    right = token_right(a, password);
    if (right == MIRROR_MAY_NOTHING && a->n > 0) {
        sha256_hex(encoded, hex);
        if (is_remembered(a, hex))
            right = MIRROR_MAY_READ;
        else if (check_user(a, user, password)) {
            remember(a, hex);
            right = MIRROR_MAY_READ;
        }
    }
    explicit_bzero(plain.p, plain.n);
    return right;
}

static bool take_scheme(struct str *header, struct str scheme)
{
    if (header->n < scheme.n || !str_ieq(str_sub(*header, 0, scheme.n), scheme))
        return false;
    *header = str_trim(str_sub(*header, scheme.n, header->n));
    return true;
}

enum mirror_right mirror_auth_right(struct mirror_auth *a, struct str authorization)
{
    enum mirror_right right = MIRROR_MAY_NOTHING;
    struct str header = str_trim(authorization);

    if (take_scheme(&header, STR("Bearer ")))
        right = token_right(a, header);
    else if (take_scheme(&header, STR("Basic ")))
        right = basic_right(a, header);
    if (right == MIRROR_MAY_NOTHING && a->n == 0 && !a->read_token && (header.n == 0 || !a->push_token))
        right =
            MIRROR_MAY_READ; /* a wrong token is told so, where there are tokens: that is what a login asks */
    return right;
}

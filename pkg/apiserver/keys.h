/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* keys: the CA, the server's certificate, the admin token and service-account tokens.
 *
 * CA, the key of service-account tokens and the admin token are made once and kept in the data directory (0600); the
 * server's certificate is issued by the CA anew at every start. */
#include "base/arena.h"
#include "base/err.h"
#include "value/value.h"

struct api_keys;

/* Reads what is in `dir` and makes what is missing. `address` goes into the certificate beside the usual names. */
NODISCARD int api_keys_open(const char *dir, const char *address, struct api_keys **ret, struct err **err);
void api_keys_free(struct api_keys *k); /* k may be NULL */
DEFINE_CLEANUP(struct api_keys *, api_keys_free)

const char *api_keys_ca(const struct api_keys *k);                  /* PEM; borrowed, as all of these */
const char *api_keys_server_cert(const struct api_keys *k);         /* PEM, leaf and CA */
const char *api_keys_server_key(const struct api_keys *k);          /* PEM */
struct str api_keys_token(const struct api_keys *k);                /* of system:masters */
bool api_keys_token_is(const struct api_keys *k, struct str token); /* in constant time */

/* A JWT (ES256) with these claims, a map. */
NODISCARD int api_keys_sign(const struct api_keys *k, struct value claims, struct buf *out, struct err **err);
/* The claims of a JWT that this server signed, in `a`. UNAUTHORIZED otherwise; expiry is the caller's. */
NODISCARD int api_keys_verify(const struct api_keys *k, struct str jwt, struct arena *a, struct value *ret,
                              struct err **err);
/* {"keys":[…]} for /openid/v1/jwks. */
NODISCARD int api_keys_jwks(const struct api_keys *k, struct buf *out, struct err **err);

/* A kubeconfig for the admin, mode 0600. */
NODISCARD int api_keys_write_kubeconfig(const struct api_keys *k, const char *path, const char *url,
                                        struct err **err);

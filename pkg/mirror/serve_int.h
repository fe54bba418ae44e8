/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the files of the mirror's server share. */
#include "httpd/httpd.h"
#include "mirror/mirror_int.h"

struct mirror_auth;
/* auth.c */
NODISCARD int mirror_auth_new(const struct mirror_serve_options *o, struct mirror_auth **ret,
                              struct err **err);
void mirror_auth_free(struct mirror_auth *a); /* may be NULL */
enum mirror_right { MIRROR_MAY_NOTHING, MIRROR_MAY_READ, MIRROR_MAY_PUSH };
/* What the one who sends this Authorization header may do. */
enum mirror_right mirror_auth_right(struct mirror_auth *a, struct str authorization);
bool mirror_auth_can_push(const struct mirror_auth *a); /* could anyone? */

struct mirror_index_cache;
/* index.c: the index of a folder as a file, made anew when something has changed. Any thread. */
struct mirror_index_cache *mirror_index_cache_new(struct mirror *m) NODISCARD;
void mirror_index_cache_free(struct mirror_index_cache *c); /* may be NULL */
NODISCARD int mirror_index_cache_open(struct mirror_index_cache *c, struct str folder, int *ret_fd,
                                      int64_t *ret_size, char etag[SHA256_HEX + 2], struct err **err);

/* distribution.c: a request below /v2/. */
void mirror_distribution(struct mirror *m, const struct httpd_request *rq, struct httpd_reply *reply);
/* {"errors":[{"code":…,"message":…}]} */
void mirror_distribution_error(struct httpd_reply *reply, int status, const char *code, const char *fmt, ...)
    PRINTF(4, 5);

/* upload.c: /v2/<name>/blobs/uploads/<id>, id "" to begin. */
void mirror_upload(struct mirror *m, const struct httpd_request *rq, struct str name, struct str id,
                   struct httpd_reply *reply);

/* An object as an answer; `type` NULL: octets. */
void mirror_send_object(struct mirror *m, const struct httpd_request *rq, struct str digest, const char *type,
                        struct httpd_reply *reply);

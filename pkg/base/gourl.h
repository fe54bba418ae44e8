/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* gourl: URLs as Go's net/url takes them apart and puts them together. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct gourl {
    struct str scheme, opaque, host, path, query, fragment; /* unescaped, but for opaque and query */
    struct str raw_path, raw_fragment; /* as written, where that is not the default escaping */
    struct str user, password;
    bool has_user, has_password, force_query, omit_host;
};

/* Borrows from `text` and `a`. PARSE with Go's text: parse ":": missing protocol scheme. */
NODISCARD int gourl_parse(struct arena *a, struct str text, struct gourl *ret, struct err **err);
/* url.ParseRequestURI(): '#' starts no fragment, and without a scheme the text has to begin with '/'. */
NODISCARD int gourl_parse_request(struct arena *a, struct str text, struct gourl *ret, struct err **err);
struct str gourl_hostname(const struct gourl *u); /* the host without port and brackets */
void gourl_format_user(const struct gourl *u, struct buf *out);
void gourl_format(const struct gourl *u, struct buf *out);

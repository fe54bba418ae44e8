/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The text of a provenance file, taken apart without looking at who signed it. */
#include "base/buf.h"
#include "provenance/provenance.h"

struct provenance_message {
    struct str plain;     /* lines as the signer saw them, with LF */
    struct str canonical; /* the bytes that are signed: the lines with CR LF between them */
    struct str signature; /* one OpenPGP signature packet */
};
/* RFC 4880 7, read as go-crypto's clearsign.Decode() does: text around the message is skipped, "Hash" is the only header. In
 * `a`. PARSE "signature block not found"; UNAUTHORIZED for more than one message or signature. */
NODISCARD int provenance_message_parse(struct arena *a, struct str text, struct provenance_message *ret,
                                       struct err **err);

/* The digest that the signed lines give for the file, "sha256:…" when Helm wrote it; in `a`. Helm's ParseMessageBlock(). DIGEST when
 * the file is not listed. */
NODISCARD int provenance_sum_find(struct arena *a, struct str plain, struct str file_name, struct str *ret,
                                  struct err **err);

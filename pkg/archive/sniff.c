/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive.h"

/* The rows of net/http's sniffer (WHATWG MIME sniffing) that a file taken for a chart can plausibly hit. */
static const struct {
    struct str magic;
    const char *type;
} magics[] = {
    { { "\x1f\x8b\x08", 3 }, "application/x-gzip" },
    { { "PK\x03\x04", 4 }, "application/zip" },
    { { "%PDF-", 5 }, "application/pdf" },
    { { "%!PS-Adobe-", 11 }, "application/postscript" },
    { { "Rar!\x1a\x07\x00", 7 }, "application/x-rar-compressed" },
    { { "Rar!\x1a\x07\x01\x00", 8 }, "application/x-rar-compressed" },
    { { "\x89PNG\r\n\x1a\n", 8 }, "image/png" },
    { { "GIF87a", 6 }, "image/gif" },
    { { "GIF89a", 6 }, "image/gif" },
    { { "\xff\xd8\xff", 3 }, "image/jpeg" },
    { { "BM", 2 }, "image/bmp" },
    { { "\x00\x00\x01\x00", 4 }, "image/x-icon" },
    { { "OTTO", 4 }, "font/otf" },
    { { "ttcf", 4 }, "font/collection" },
    { { "wOFF", 4 }, "font/woff" },
    { { "wOF2", 4 }, "font/woff2" },
    { { "\x00\x01\x00\x00", 4 }, "font/ttf" },
    { { "\x00\x61\x73\x6d", 4 }, "application/wasm" },
    { { "\xfe\xff", 2 }, "text/plain; charset=utf-16be" },
    { { "\xff\xfe", 2 }, "text/plain; charset=utf-16le" },
    { { "\xef\xbb\xbf", 3 }, "text/plain; charset=utf-8" },
};

/* HTML and XML: after white space, without regard to case; a tag must end there. */
static const char *const html_tags[] = {
    "<!DOCTYPE HTML", "<HTML",  "<HEAD", "<SCRIPT", "<IFRAME", "<H1", "<DIV", "<FONT", "<TABLE", "<A",
    "<STYLE",         "<TITLE", "<B",    "<BODY",   "<BR",     "<P",  "<!--",
};

static const char *markup_type(struct str s)
{
    while (s.n > 0 && (ascii_is_space(s.p[0]) && s.p[0] != '\v'))
        s = str_sub(s, 1, s.n);
    for (size_t i = 0; i < ARRAY_SIZE(html_tags); i++) {
        struct str tag = str_from(html_tags[i]);

        if (s.n > tag.n && str_ieq(str_sub(s, 0, tag.n), tag) && (s.p[tag.n] == ' ' || s.p[tag.n] == '>'))
            return "text/html; charset=utf-8";
    }
    if (str_has_prefix(s, STR("<?xml")))
        return "text/xml; charset=utf-8";
    return NULL;
}

static bool is_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c <= 0x08 || c == 0x0b || (c >= 0x0e && c <= 0x1a) || (c >= 0x1c && c <= 0x1f))
            return false;
    }
    return true;
}

const char *archive_content_type(struct str head)
{
    const char *markup;

    if (head.n > 512)
        head.n = 512;
    markup = markup_type(head);
    if (markup)
        return markup;
    for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
        if (str_has_prefix(head, magics[i].magic))
            return magics[i].type;
    return is_text(head) ? "text/plain; charset=utf-8" : "application/octet-stream";
}

/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 4880 6.2 (armor) and 7 (cleartext signatures), after go-crypto's openpgp/clearsign. */
#include "base/encode.h"
#include "base/limits.h"
#include "provenance/provenance_int.h"
#include "value/value.h"
#include "yaml/yaml.h"

#define MESSAGE_BEGIN "-----BEGIN PGP SIGNED MESSAGE-----"
#define SIGNATURE_BEGIN "-----BEGIN PGP SIGNATURE-----"
#define SIGNATURE_END "-----END PGP SIGNATURE-----"

/* Values of the header "Hash". What it says is not believed: the signature names its hash itself. */
static const char *const hashes[] = { "MD5",    "SHA1",   "RIPEMD160", "SHA224",  "SHA256",
                                      "SHA384", "SHA512", "SHA3-256",  "SHA3-512" };

static int not_found(struct err **err)
{
    return err_set(err, ERRC_PARSE, "signature block not found");
}

/* The next line without its LF or CR LF; false at the end. */
static bool next_line(struct str *rest, struct str *line)
{
    if (rest->n == 0)
        return false;
    str_split(rest, '\n', line);
    *line = str_trim_suffix(*line, STR("\r"));
    return true;
}

/* Moves behind the line that begins the message; false when there is none. */
static bool find_begin(struct str *rest)
{
    struct str line;

    while (next_line(rest, &line))
        if (str_has_prefix(line, STR(MESSAGE_BEGIN)))
            return line.n == sizeof(MESSAGE_BEGIN) - 1;
    return false;
}

static bool is_hash(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(hashes); i++)
        if (str_ieq(name, str_from(hashes[i])))
            return true;
    return false;
}

static bool is_hash_list(struct str text)
{
    bool good = false;

    for (struct str one; str_split(&text, ',', &one);) {
        good = is_hash(str_trim(one));
        if (!good)
            break;
    }
    return good;
}

static bool skip_headers(struct str *rest)
{
    struct str line, key;

    while (next_line(rest, &line)) {
        if (str_trim(line).n == 0)
            return true;
        if (!str_split(&line, ':', &key) || !str_eq(str_trim(key), STR("Hash")) || !is_hash_list(line))
            return false;
    }
    return false;
}

static struct str trim_right(struct str line)
{
    while (line.n > 0 && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\t'))
        line.n--;
    return line;
}

/* The lines up to the one that begins the signature, unescaped; *rest is behind that. */
static bool read_lines(struct str *rest, struct buf *plain, struct buf *canonical)
{
    struct str line;

    for (bool first = true; next_line(rest, &line); first = false) {
        if (str_eq(line, STR(SIGNATURE_BEGIN)))
            return true;
        if (!first) {
            buf_addc(plain, '\n');
            buf_adds(canonical, "\r\n");
        }
        line = trim_right(str_trim_prefix(line, STR("- ")));
        buf_addstr(plain, line);
        buf_addstr(canonical, line);
    }
    return false;
}

/* The packet in the armor, whose checksum adds nothing to a signature's own; *rest is what follows. */
static bool read_armor(struct str *rest, struct buf *out)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(PROVENANCE_MAX);
    struct str line;

    while (next_line(rest, &line) && str_trim(line).n > 0)
        if (!str_contains(line, STR(": ")))
            return false;
    while (next_line(rest, &line)) {
        line = str_trim(line);
        if (str_eq(line, STR(SIGNATURE_END)))
            return base64_decode(BASE64_STD, buf_str(&text), out, NULL) && !out->failed;
        if (str_has_prefix(line, STR("-----")))
            return false;
        if (!str_has_prefix(line, STR("=")))
            buf_addstr(&text, line);
    }
    return false;
}

/* RFC 4880 4.2: where the body of the first packet ends; 0 for a length that is none, or not known beforehand. */
static size_t packet_end(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t octets = (size_t)1 << (p[0] & 3), length = 0, first = 1;

    if (p[0] & 0x40) {
        octets = s.n < 2 ? 0 : p[1] < 192 ? 1 : p[1] < 224 ? 2 : p[1] == 255 ? 5 : 0;
        first = octets == 5 ? 2 : 1;
    } else if (octets == 8) {
        octets = 0;
    }
    if (octets == 0 || s.n < 1 + octets)
        return 0;
    for (size_t i = first; i < 1 + octets; i++)
        length = length << 8 | p[i];
    if ((p[0] & 0x40) && octets == 2)
        length -= (192 << 8) - 192;
    return length > s.n - 1 - octets ? 0 : 1 + octets + length;
}

/* One signature and nothing else goes on to librnp: no compressed data, no second opinion. */
static int check_packet(struct str s, struct err **err)
{
    unsigned char first = s.n > 0 ? (unsigned char)s.p[0] : 0;
    unsigned tag = first & 0x40 ? first & 0x3fU : first >> 2 & 0xfU;
    size_t end;

    if (s.n == 0)
        return err_set(err, ERRC_UNAUTHORIZED, "openpgp: signature made by unknown entity");
    if (!(first & 0x80))
        return err_set(err, ERRC_PARSE, "openpgp: invalid data: tag byte does not have MSB set");
    if (tag != 2)
        return err_set(err, ERRC_PARSE, "openpgp: invalid data: non signature packet found");
    end = packet_end(s);
    if (end == 0)
        return err_set(err, ERRC_PARSE, "unexpected EOF");
    if (end < s.n)
        return err_set(err, ERRC_UNAUTHORIZED,
                       "the provenance has more than one signature, and which of them counts is not said");
    return 0;
}

int provenance_message_parse(struct arena *a, struct str text, struct provenance_message *ret,
                             struct err **err)
{
    CLEANUP(buf_done) struct buf plain = BUF_INIT(PROVENANCE_MAX);
    CLEANUP(buf_done) struct buf canonical = BUF_INIT(2 * PROVENANCE_MAX);
    CLEANUP(buf_done) struct buf signature = BUF_INIT(PROVENANCE_MAX);
    struct str rest = text;
    int r;

    if (text.n > PROVENANCE_MAX)
        return err_set(err, ERRC_LIMIT, "the provenance has more than %zu bytes", PROVENANCE_MAX);
    if (!find_begin(&rest) || !skip_headers(&rest) || !read_lines(&rest, &plain, &canonical) ||
        !read_armor(&rest, &signature))
        return not_found(err);
    if (find_begin(&rest))
        return err_set(
            err, ERRC_UNAUTHORIZED,
            "the provenance has more than one signed message, and which of them counts is not said");
    r = check_packet(buf_str(&signature), err);
    if (r < 0)
        return r;
    ret->plain = arena_dup(a, buf_str(&plain));
    ret->canonical = arena_dup(a, buf_str(&canonical));
    ret->signature = arena_dup(a, buf_str(&signature));
    return 0;
}

/* ---- the digests --------------------------------------------------------------------------------------------------- */

int provenance_sum_find(struct arena *a, struct str plain, struct str file_name, struct str *ret,
                        struct err **err)
{
    static const struct str separator = STR("\n...\n");
    static const struct yml_options options = { .strict = true, .keep_kinds = true };
    size_t at = str_find(plain, separator), end;
    struct value root, sum;
    struct str sums;
    int r;

    if (at == STR_NPOS)
        return err_set(err, ERRC_PARSE, "message block must have at least two parts");
    sums = str_sub(plain, at + separator.n, plain.n);
    end = str_find(sums, separator);
    r = yml_parse(a, end == STR_NPOS ? sums : str_sub(sums, 0, end), &options, &root, err);
    if (r < 0)
        return r;
    sum = value_get(value_getz(root, "files"), file_name);
    if (value_is_null(sum))
        return err_set(err, ERRC_DIGEST, "provenance does not contain a SHA for a file named \"" STR_FMT "\"",
                       STR_ARG(file_name));
    if (!value_is_string(sum))
        return err_set(err, ERRC_PARSE, "the provenance's SHA for " STR_FMT " is no text",
                       STR_ARG(file_name));
    *ret = value_str(sum);
    return 0;
}

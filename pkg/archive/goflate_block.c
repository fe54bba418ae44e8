/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "archive/archive_int.h"

/* How Go chooses codes and forms of a block (compress/flate/huffman_code.go, huffman_bit_writer.go): lengths by package-merge
 * that takes a package before a leaf of the same weight, codes canonical; a form is taken only when it is smaller. */
enum {
    LITERALS = 286,
    END_OF_BLOCK = 256,
    DISTANCES = 30,
    LENGTH_SYMBOLS = 19,
    BITS_MAX = 15,
    STORED_MAX = 65535,
};

struct code {
    uint16_t code, length; /* the code's bits in the order they are written */
};
struct codes {
    struct code of[LITERALS];
};
struct leaf {
    uint32_t weight;
    uint16_t symbol;
};

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static void put(struct goflate_bits *w, uint32_t bits, unsigned n)
{
    w->bits |= (uint64_t)bits << w->n;
    for (w->n += n; w->n >= 8; w->n -= 8, w->bits >>= 8)
        buf_addc(w->out, (char)w->bits);
}

static void put_code(struct goflate_bits *w, struct code c)
{
    put(w, c.code, c.length);
}

static void put_stored_header(struct goflate_bits *w, size_t n, bool last)
{
    put(w, last, 3);
    if (w->n > 0)
        put(w, 0, 8 - w->n);
    put(w, (uint32_t)n, 16);
    put(w, (uint32_t)~n & 0xffff, 16);
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

static int compare_weight(const void *x, const void *y)
{
    const struct leaf *a = x, *b = y;

    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return a->symbol < b->symbol ? -1 : 1;
}

/* One row of package-merge: leaves and pairs of the row below, lightest first; is_pair[] tells which is which. */
struct row {
    uint32_t weight[2 * LITERALS];
    bool is_pair[2 * LITERALS];
    size_t n;
};

static void merge_row(const struct leaf *leaves, size_t n, const struct row *below, struct row *row)
{
    size_t leaf = 0, pair = 0, pairs = below ? below->n / 2 : 0;

    for (row->n = 0; leaf < n || pair < pairs; row->n++) {
        uint32_t weight = pair < pairs ? below->weight[2 * pair] + below->weight[2 * pair + 1] : 0;
        bool is_pair = pair < pairs && (leaf == n || weight <= leaves[leaf].weight);

        row->is_pair[row->n] = is_pair;
        row->weight[row->n] = is_pair ? weight : leaves[leaf].weight;
        pair += is_pair;
        leaf += !is_pair;
    }
}

/* lengths[i] of leaf i, leaves sorted by weight; n is 3 or more. */
static void find_lengths(const struct leaf *leaves, size_t n, unsigned bits_max, unsigned *lengths)
{
    struct row *rows;
    size_t taken = 2 * n - 2;

    bits_max = (unsigned)MIN((size_t)bits_max, n - 1);
    rows = xmalloc(bits_max * sizeof(*rows));
    for (unsigned i = 0; i < bits_max; i++)
        merge_row(leaves, n, i ? &rows[i - 1] : NULL, &rows[i]);
    memset(lengths, 0, n * sizeof(*lengths));
    for (unsigned i = bits_max; i-- > 0 && taken > 0;) {
        size_t pairs = 0;

        for (size_t k = 0; k < taken; k++)
            pairs += rows[i].is_pair[k];
        for (size_t k = 0; k < taken - pairs; k++)
            lengths[k]++;
        taken = 2 * pairs;
    }
    free(rows);
}

static uint16_t reversed(unsigned code, unsigned length)
{
    unsigned r = 0;

    for (unsigned i = 0; i < length; i++)
        r |= (code >> i & 1) << (length - 1 - i);
    return (uint16_t)r;
}

static void assign_codes(struct codes *c, size_t symbols)
{
    unsigned code = 0;

    for (unsigned length = 1; length <= BITS_MAX; length++, code <<= 1)
        for (size_t i = 0; i < symbols; i++)
            if (c->of[i].length == length)
                c->of[i].code = reversed(code++, length);
}

static void make_codes(const uint32_t *weights, size_t symbols, unsigned bits_max, struct codes *ret)
{
    struct leaf leaves[LITERALS];
    unsigned lengths[LITERALS];
    size_t n = 0;

    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < symbols; i++)
        if (weights[i] > 0)
            leaves[n++] = (struct leaf){ weights[i], (uint16_t)i };
    if (n <= 2) {
        for (size_t i = 0; i < n; i++)
            lengths[i] = 1;
    } else {
        qsort(leaves, n, sizeof(*leaves), compare_weight);
        find_lengths(leaves, n, bits_max, lengths);
    }
    for (size_t i = 0; i < n; i++)
        ret->of[leaves[i].symbol].length = (uint16_t)lengths[i];
    assign_codes(ret, symbols);
}

static void make_fixed_codes(struct codes *literals, struct codes *distances)
{
    memset(literals, 0, sizeof(*literals));
    memset(distances, 0, sizeof(*distances));
    for (unsigned i = 0; i < LITERALS; i++) {
        unsigned length = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        unsigned code = i < 144 ? 48 + i : i < 256 ? 256 + i : i < 280 ? i - 256 : i - 88;

        literals->of[i] = (struct code){ reversed(code, length), (uint16_t)length };
    }
    for (unsigned i = 0; i < DISTANCES; i++)
        distances->of[i] = (struct code){ reversed(i, 5), 5 };
}

static size_t bit_length(const uint32_t *weights, size_t symbols, const struct codes *c)
{
    size_t n = 0;

    for (size_t i = 0; i < symbols; i++)
        n += (size_t)weights[i] * c->of[i].length;
    return n;
}

/* ---- symbols of matches ------------------------------------------------------------------------------------------- */

struct symbol {
    unsigned symbol, extra, extra_bits;
};

/* `v` is a length - 3 or a distance - 1: two (lengths: four) symbols to a power of two. */
static struct symbol find_symbol(unsigned v, unsigned low_bits)
{
    unsigned top = 0, bits;

    if (v < 2u << low_bits)
        return (struct symbol){ v, 0, 0 };
    while (v >> (top + 1))
        top++;
    bits = top - low_bits;
    return (struct symbol){ (bits << low_bits) + (v >> bits), v & ((1u << bits) - 1), bits };
}

static struct symbol length_symbol(uint32_t token)
{
    unsigned v = token >> 16 & 0xff;
    struct symbol s = v == 255 ? (struct symbol){ 28, 0, 0 } : find_symbol(v, 2);

    s.symbol += END_OF_BLOCK + 1;
    return s;
}

static struct symbol distance_symbol(uint32_t token)
{
    return find_symbol(token & 0xffff, 1);
}

/* ---- a block ------------------------------------------------------------------------------------------------------ */

struct block {
    const uint32_t *tokens;
    size_t n;
    uint32_t literals[LITERALS], distances[DISTANCES], lengths[LENGTH_SYMBOLS]; /* how often each is used */
    size_t n_literals, n_distances, n_lengths;
    size_t extra_bits;
    uint8_t run[2 * (LITERALS + DISTANCES)]; /* length symbols, 16 to 18 followed by their count */
    size_t n_run;
    struct codes literal_codes, distance_codes, length_codes;
};

static const uint8_t length_order[LENGTH_SYMBOLS] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                      11, 4,  12, 3, 13, 2, 14, 1, 15 };

static size_t used(const uint32_t *weights, size_t n)
{
    while (n > 0 && weights[n - 1] == 0)
        n--;
    return n;
}

static void count_symbols(struct block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        uint32_t t = b->tokens[i];

        if (t & GOFLATE_MATCH) {
            struct symbol length = length_symbol(t), distance = distance_symbol(t);

            b->literals[length.symbol]++;
            b->distances[distance.symbol]++;
            b->extra_bits += length.extra_bits + distance.extra_bits;
        } else {
            b->literals[t]++;
        }
    }
    b->literals[END_OF_BLOCK]++;
    b->n_literals = used(b->literals, LITERALS);
    b->n_distances = used(b->distances, DISTANCES);
    if (b->n_distances == 0) {
        b->distances[0] = 1; /* a code without symbols cannot be written */
        b->n_distances = 1;
    }
}

static void add_run(struct block *b, uint8_t symbol, size_t count, size_t least)
{
    b->lengths[symbol]++;
    b->run[b->n_run++] = symbol;
    if (symbol >= 16)
        b->run[b->n_run++] = (uint8_t)(count - least);
}

static void add_lengths(struct block *b, uint8_t length, size_t count)
{
    if (length == 0) {
        for (; count >= 11; count -= MIN(count, (size_t)138))
            add_run(b, 18, MIN(count, (size_t)138), 11);
        if (count >= 3) {
            add_run(b, 17, count, 3);
            count = 0;
        }
    } else {
        add_run(b, length, 1, 0);
        for (count--; count >= 3; count -= MIN(count, (size_t)6))
            add_run(b, 16, MIN(count, (size_t)6), 3);
    }
    while (count-- > 0)
        add_run(b, length, 1, 0);
}

/* RFC 1951 3.2.7: the code lengths, run-length encoded. */
static void make_length_runs(struct block *b)
{
    uint8_t all[LITERALS + DISTANCES];
    size_t n = 0;

    for (size_t i = 0; i < b->n_literals; i++)
        all[n++] = (uint8_t)b->literal_codes.of[i].length;
    for (size_t i = 0; i < b->n_distances; i++)
        all[n++] = (uint8_t)b->distance_codes.of[i].length;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end] == all[i];)
            end++;
        add_lengths(b, all[i], end - i);
    }
    make_codes(b->lengths, LENGTH_SYMBOLS, 7, &b->length_codes);
    b->n_lengths = LENGTH_SYMBOLS;
    while (b->n_lengths > 4 && b->lengths[length_order[b->n_lengths - 1]] == 0)
        b->n_lengths--;
}

static size_t dynamic_size(const struct block *b)
{
    return 3 + 5 + 5 + 4 + 3 * b->n_lengths + bit_length(b->lengths, LENGTH_SYMBOLS, &b->length_codes) +
           2 * b->lengths[16] + 3 * b->lengths[17] + 7 * b->lengths[18] +
           bit_length(b->literals, LITERALS, &b->literal_codes) +
           bit_length(b->distances, DISTANCES, &b->distance_codes) + b->extra_bits;
}

static void put_dynamic_header(struct goflate_bits *w, const struct block *b)
{
    put(w, 4, 3);
    put(w, (uint32_t)b->n_literals - 257, 5);
    put(w, (uint32_t)b->n_distances - 1, 5);
    put(w, (uint32_t)b->n_lengths - 4, 4);
    for (size_t i = 0; i < b->n_lengths; i++)
        put(w, b->length_codes.of[length_order[i]].length, 3);
    for (size_t i = 0; i < b->n_run; i++) {
        uint8_t symbol = b->run[i];

        put_code(w, b->length_codes.of[symbol]);
        if (symbol >= 16)
            put(w, b->run[++i], symbol == 16 ? 2 : symbol == 17 ? 3 : 7);
    }
}

static void put_tokens(struct goflate_bits *w, const struct block *b, const struct codes *literals,
                       const struct codes *distances)
{
    for (size_t i = 0; i < b->n; i++) {
        uint32_t t = b->tokens[i];
        struct symbol length, distance;

        if (!(t & GOFLATE_MATCH)) {
            put_code(w, literals->of[t]);
            continue;
        }
        length = length_symbol(t);
        distance = distance_symbol(t);
        put_code(w, literals->of[length.symbol]);
        put(w, length.extra, length.extra_bits);
        put_code(w, distances->of[distance.symbol]);
        put(w, distance.extra, distance.extra_bits);
    }
    put_code(w, literals->of[END_OF_BLOCK]);
}

void goflate_write_block(struct goflate_bits *w, const uint32_t *tokens, size_t n, struct str plain)
{
    struct block b = { .tokens = tokens, .n = n };
    struct codes literals, distances;
    size_t fixed, dynamic;

    count_symbols(&b);
    make_codes(b.literals, LITERALS, BITS_MAX, &b.literal_codes);
    make_codes(b.distances, DISTANCES, BITS_MAX, &b.distance_codes);
    make_length_runs(&b);
    make_fixed_codes(&literals, &distances);
    fixed = 3 + bit_length(b.literals, LITERALS, &literals) + bit_length(b.distances, DISTANCES, &distances) +
            b.extra_bits;
    dynamic = dynamic_size(&b);
    if (plain.p && plain.n <= STORED_MAX && (plain.n + 5) * 8 < MIN(fixed, dynamic)) {
        put_stored_header(w, plain.n, false);
        buf_addstr(w->out, plain);
    } else if (dynamic < fixed) {
        put_dynamic_header(w, &b);
        put_tokens(w, &b, &b.literal_codes, &b.distance_codes);
    } else {
        put(w, 2, 3);
        put_tokens(w, &b, &literals, &distances);
    }
}

void goflate_write_end(struct goflate_bits *w)
{
    put_stored_header(w, 0, true);
}

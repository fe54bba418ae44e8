/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml/yaml.h"

#include "base/limits.h"
#include "lib/check.h"

/* Hands out few bytes at a time. */
static int read_text(void *ctx, char *to, size_t n, struct err **err)
{
    struct str *text = ctx;
    size_t take = MIN(MIN(n, (size_t)1000), text->n);

    UNUSED(err);
    memcpy(to, text->p, take);
    *text = str_sub(*text, take, text->n);
    return (int)take;
}

static int read_failing(void *ctx, char *to, size_t n, struct err **err)
{
    struct str *text = ctx;

    if (text->n > 0)
        return read_text(ctx, to, n, err);
    return err_set(err, ERRC_IO, "the disk is gone");
}

static void put(struct buf *out, const char *name, struct str s)
{
    if (s.p)
        buf_addf(out, " %s=" STR_FMT, name, STR_ARG(s));
}

/* At most `max` events, each as a line. */
static void list(struct yml_reader *r, size_t max, struct buf *out)
{
    CLEANUP(err_free) struct err *err = NULL;
    struct yml_event e = { .kind = YML_MAP };

    for (size_t i = 0; i < max && e.kind != YML_END; i++) {
        if (yml_reader_next(r, &e, &err) < 0) {
            buf_adds(out, err_message(err));
            break;
        }
        buf_addf(out, "%zu: %d%s", e.line, (int)e.kind, e.plain ? " plain" : "");
        put(out, "text", e.text);
        put(out, "tag", e.tag);
        put(out, "anchor", e.anchor);
        buf_addc(out, '\n');
    }
    yml_reader_free(r);
}

static void assert_same(struct str text, yml_read_fn read, size_t max)
{
    CLEANUP(buf_done) struct buf want = BUF_INIT(64 * MIB), got = BUF_INIT(64 * MIB);
    struct str left = text;

    list(yml_reader_new(read, &left), max, &want);
    left = text;
    list(yml_reader_new_ahead(read, &left), max, &got);
    assert_str(buf_str(&got), buf_z(&want));
}

static void test_the_events_are_the_same(void **state)
{
    static const char *const texts[] = {
        "", "a", "a: &x !t [1, \"2\", '', *x]\n---\nb: |\n  text\n", "a: b\nc: [d", "a: b\n\tc", "'",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        assert_same(str_from(texts[i]), read_text, SIZE_MAX);
}

static void long_text(struct buf *out)
{
    for (int i = 0; i < 20000; i++)
        buf_addf(out, "key%d: {a: [%d, value of some length], \"b\": ~}\n", i, i);
}

static void test_a_long_text_is_handed_over_in_parts(void **state)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);

    UNUSED(state);
    long_text(&text);
    assert_same(buf_str(&text), read_text, SIZE_MAX);
    assert_same(buf_str(&text), read_failing, SIZE_MAX);
    buf_adds(&text, "]");
    assert_same(buf_str(&text), read_text, SIZE_MAX);
}

static void test_who_reads_may_leave_early(void **state)
{
    CLEANUP(buf_done) struct buf text = BUF_INIT(16 * MIB);

    UNUSED(state);
    long_text(&text);
    for (size_t max = 0; max < 20000; max = max * 3 + 1)
        assert_same(buf_str(&text), read_text, max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_events_are_the_same),
        cmocka_unit_test(test_a_long_text_is_handed_over_in_parts),
        cmocka_unit_test(test_who_reads_may_leave_early),
    };

    return RUN_TESTS(tests);
}

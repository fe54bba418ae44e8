/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a manifest as helm lint sees them. What the real decoder yields is in tests/data/chart/decoder.rows. */
#include "base/limits.h"
#include "chart/lint_int.h"
#include "lib/check.h"
#include "lib/rows.h"

static void decode(struct str text, struct buf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new(16 * MIB);
    CLEANUP(lint_decoder_done) struct lint_decoder d;
    CLEANUP(err_free) struct err *err = NULL;
    struct lint_object o;
    int r;

    lint_decoder_init(&d, a, text);
    while ((r = lint_decoder_next(&d, &o, &err)) > 0) {
        if (r == 2)
            buf_adds(out, "null; ");
        else
            buf_addf(out, STR_FMT "|" STR_FMT "|" STR_FMT "; ", STR_ARG(o.api_version), STR_ARG(o.kind),
                     STR_ARG(o.name));
    }
    if (r < 0)
        buf_addf(out, "! %s", err_message(err));
}

static void test_objects_are_those_of_the_real_decoder(void **state)
{
    CLEANUP(rows_done) struct rows rows;
    struct row row;

    UNUSED(state);
    rows_open(&rows, "chart/decoder.rows");
    while (rows_next(&rows, &row)) {
        CLEANUP(buf_done) struct buf got = BUF_INIT(MIB);

        decode(row.field[0], &got);
        check_str(buf_str(&got), row.field[1], row.name, __FILE__, __LINE__);
    }
}

static void test_every_beginning_of_a_text_ends_in_objects_or_an_error(void **state)
{
    static const char *const texts[] = {
        "apiVersion: v1\nkind: A\nmetadata:\n  name: one\n---\n# none\n---\nkind: B\nmetadata: {name: two}\n",
        "{\"kind\":\"A\",\"metadata\":{\"name\":\"one\"}}\n---\n{\"kind\":\"B\"}",
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        for (size_t n = 0; n <= strlen(texts[i]); n++) {
            CLEANUP(buf_done) struct buf got = BUF_INIT(MIB);

            decode((struct str){ texts[i], n }, &got);
            assert_false(got.failed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_are_those_of_the_real_decoder),
        cmocka_unit_test(test_every_beginning_of_a_text_ends_in_objects_or_an_error),
    };

    return RUN_TESTS(tests);
}

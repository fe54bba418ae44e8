/* SPDX-License-Identifier: Apache-2.0 */
#include "content/content.h"

#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "json/json.h"

static const struct content_set *example_set(struct arena *a)
{
    struct content_set *s = ARENA_NEW(a, struct content_set);

    s->ns = STR("pintle-system");
    s->name = STR("helm-tmpl-stable-web-1.0.0");
    s->labels = value_new_map(a);
    s->annotations = value_new_map(a);
    s->immutable = true;
    value_setz(s->labels, "pintle.dev/type", VALUE_STR("tmpl"));
    return s;
}

static size_t decoded_bytes(struct value object)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(64 * MIB);
    size_t n = 0;

    for (struct value_iter it = value_iter(value_getz(object, "data")); value_next(&it);)
        n += value_len(it.v);
    for (struct value_iter it = value_iter(value_getz(object, "binaryData")); value_next(&it);)
        assert_true(base64_decode(BASE64_STD, value_str(it.v), &raw, NULL));
    return n + raw.n;
}

/* Text that gzip makes about three quarters of. */
static struct str noise(struct arena *a, size_t n)
{
    CLEANUP(buf_done) struct buf raw = BUF_INIT(64 * MIB), text = BUF_INIT(64 * MIB);
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < n * 3 / 4; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        buf_addc(&raw, (char)x);
    }
    base64_encode(BASE64_STD, buf_str(&raw), &text);
    return arena_dup(a, str_sub(buf_str(&text), 0, n));
}

static void check_round_trip(struct arena *a, const struct content_file *files, size_t n, size_t want_parts)
{
    size_t n_parts, n_back;
    struct value *parts = content_objects(a, example_set(a), files, n, &n_parts);
    struct content_file *back;
    struct err *err = NULL;

    if (want_parts)
        assert_num(n_parts, want_parts);
    for (size_t i = 0; i < n_parts; i++)
        assert_true(decoded_bytes(parts[i]) <= MIB);
    assert_ok(content_unpack(a, parts, n_parts, &back, &n_back, &err), err);
    assert_num(n_back, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(str_eq(back[i].path, files[i].path));
        assert_true(str_eq(back[i].data, files[i].data));
    }
}

static void test_small_text_stays_readable(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    static const struct content_file files[] = {
        { .path = { "Chart.yaml", 10 }, .data = { "name: web\n", 10 } },
        { .path = { "templates/a/b.yaml", 18 }, .data = { "kind: X\n", 8 } },
        { .path = { "templates/a__b.yaml", 19 }, .data = { "kind: Y\n", 8 } },
        { .path = { "logo.png", 8 }, .data = { "\x89PNG\0x", 6 } },
        { .path = { "empty", 5 }, .data = { "", 0 } },
        { .path = { ".helmignore", 11 }, .data = { "*.swp\n", 6 } },
    };
    size_t n;
    struct value *parts = content_objects(a, example_set(a), files, ARRAY_SIZE(files), &n);

    UNUSED(state);
    assert_num(n, 1);
    assert_str(value_str(value_get(value_getz(parts[0], "data"), STR("templates__a__b.yaml"))), "kind: X\n");
    assert_str(value_str(value_get(value_getz(parts[0], "data"), STR("templates__a__b.yaml_2"))),
               "kind: Y\n");
    assert_true(value_has(value_getz(parts[0], "binaryData"), STR("logo.png")));
    check_round_trip(a, files, ARRAY_SIZE(files), 1);
}

static void test_large_content_is_compressed_and_split(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
    struct content_file files[] = {
        { .path = STR("Chart.yaml"), .data = STR("name: web\n") },
        { .path = STR("crds/big.yaml"), .data = noise(a, 3 * MIB) },
        { .path = STR("crds/other.yaml"), .data = noise(a, 900 * KIB) },
    };
    size_t n;
    struct value *parts = content_objects(a, example_set(a), files, ARRAY_SIZE(files), &n);

    UNUSED(state);
    assert_true(n >= 3);
    assert_str(value_str(value_getz(value_getz(parts[0], "data"), "Chart.yaml")), "name: web\n");
    check_round_trip(a, files, ARRAY_SIZE(files), 0);
}

static void test_one_part_is_enough_up_to_the_limit(void **state)
{
    UNUSED(state);
    for (int over = -1; over <= 1; over++) {
        CLEANUP(arena_free) struct arena *a = arena_new(256 * MIB);
        size_t n = CONFIGMAP_PART_MAX - 64 * KIB + (size_t)over;
        struct content_file file = { .path = STR("a"), .data = noise(a, n) };
        struct value *parts = content_objects(a, example_set(a), &file, 1, &n);

        assert_num(n, 1);
        assert_num(value_has(value_getz(parts[0], "data"), STR("a")), over <= 0); /* else it is compressed */
        check_round_trip(a, &file, 1, 1);
    }
}

static void test_a_changed_byte_is_noticed(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    struct content_file file = { .path = STR("a"), .data = STR("one") }, *back;
    struct err *err = NULL;
    size_t n;
    struct value *parts = content_objects(a, example_set(a), &file, 1, &n);

    UNUSED(state);
    value_setz(value_getz(parts[0], "data"), "a", VALUE_STR("two"));
    assert_fails(content_unpack(a, parts, n, &back, &n, &err), ERRC_DIGEST, err,
                 "a does not match its digest");
}

static void test_names_follow_the_identity(void **state)
{
    static const struct {
        const char *kind, *repo, *chart, *version, *want;
    } cases[] = {
        { "tmpl", "stable", "web", "1.0.0", "helm-tmpl-stable-web-1.0.0" },
        { "crds", "stable", "cert-manager", "v1.2.3", "helm-crds-stable-cert-manager-v1.2.3" },
        { "default", "stable", "web", "1.0.0", "helm-default-stable-web-1.0.0" },
        { "index", "stable", "web", "", "helm-stable-web-index" },
    };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct str one, two, plus;

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_str(content_name(a, cases[i].kind, str_from(cases[i].repo), str_from(cases[i].chart),
                                str_from(cases[i].version)),
                   cases[i].want);
    /* "a-b" + "c" and "a" + "b-c" would be one name */
    one = content_name(a, "tmpl", STR("a-b"), STR("c"), STR("1.0.0"));
    two = content_name(a, "tmpl", STR("a"), STR("b-c"), STR("1.0.0"));
    assert_false(str_eq(one, two));
    plus = content_name(a, "tmpl", STR("a"), STR("b"), STR("1.0.0+build.5"));
    assert_true(str_has_prefix(plus, STR("helm-tmpl-a-b-1-0-0-build-5-")));
    assert_num(plus.n, 36);
}

static void test_labels_hold_any_text(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf text = BUF_INIT(KIB);

    UNUSED(state);
    assert_str(content_label(a, STR("web-1.0.0")), "web-1.0.0");
    for (size_t n = 62; n <= 64; n++) {
        buf_clear(&text);
        buf_add_repeat(&text, 'x', n);
        assert_num(content_label(a, buf_str(&text)).n, n <= 63 ? n : 63);
    }
    assert_true(str_has_prefix(content_label(a, STR("1.0.0+b")), STR("1.0.0_b-")));
    assert_num(content_label(a, STR("")).n, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_text_stays_readable),
        cmocka_unit_test(test_large_content_is_compressed_and_split),
        cmocka_unit_test(test_one_part_is_enough_up_to_the_limit),
        cmocka_unit_test(test_a_changed_byte_is_noticed),
        cmocka_unit_test(test_names_follow_the_identity),
        cmocka_unit_test(test_labels_hold_any_text),
    };

    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/proto.h"
#include "base/encode.h"
#include "base/limits.h"
#include "lib/check.h"
#include "value/value.h"
#include "json/json.h"

/* "base64(protobuf) JSON" */
static void check_vector(struct str line)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf body = BUF_INIT(4 * MIB), got = BUF_INIT(4 * MIB), want = BUF_INIT(4 * MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE, expected = VALUE_NONE;
    struct str base64;

    str_split(&line, ' ', &base64);
    assert_true(base64_decode(BASE64_STD, base64, &body, NULL));
    assert_ok(json_parse(a, line, NULL, &expected, &err), err);
    assert_ok(api_proto_decode(a, buf_str(&body), &v, &err), err);
    assert_ok(json_print(v, 0, &got, &err), err);
    assert_ok(json_print(expected, 0, &want, &err), err);
    assert_case_str(value_str(value_getz(expected, "kind")).p, buf_str(&got), buf_z(&want));
}

static void test_every_vector_of_the_go_module_decodes_to_its_json(void **state)
{
    CLEANUP(buf_done) struct buf all = BUF_INIT(16 * MIB);
    struct str rest, line;
    size_t n = 0;

    UNUSED(state);
    check_read_data("apiserver/proto.txt", &all);
    rest = buf_str(&all);
    while (str_split(&rest, '\n', &line)) {
        if (line.n == 0)
            continue;
        check_vector(line);
        n++;
    }
    assert_num(n, 58);
}

static void decode_hex(struct arena *a, const char *hex, struct value *ret)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;

    assert_true(hex_decode(str_from(hex), &b));
    assert_ok(api_proto_decode(a, buf_str(&b), ret, &err), err);
}

static void test_zero_values_go_and_zero_pointers_stay(void **state)
{
    /* kubectl delete --grace-period=0: DeleteOptions{gracePeriodSeconds: 0, propagationPolicy: Background} */
    static const char options[] = "6b387300"
                                  "0a13"
                                  "0a027631"
                                  "120d44656c6574654f7074696f6e73"
                                  "120e"
                                  "0800"
                                  "220a4261636b67726f756e64"
                                  "1a00"
                                  "2200";
    /* a ConfigMap as Go writes it: every string of metadata is there, though empty */
    static const char config_map[] = "6b387300"
                                     "0a0f"
                                     "0a027631"
                                     "1209436f6e6669674d6170"
                                     "1217"
                                     "0a0d0a0161120022002a0032003800"
                                     "1206"
                                     "0a016b120176";
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct value v = VALUE_NONE;

    UNUSED(state);
    decode_hex(a, options, &v);
    assert_ok(json_print(v, 0, &b, &err), err);
    assert_str(buf_str(&b), "{\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,\"kind\":\"DeleteOptions\","
                            "\"propagationPolicy\":\"Background\"}");
    buf_clear(&b);
    decode_hex(a, config_map, &v);
    assert_ok(json_print(v, 0, &b, &err), err);
    assert_str(buf_str(&b), "{\"apiVersion\":\"v1\",\"data\":{\"k\":\"v\"},\"kind\":\"ConfigMap\","
                            "\"metadata\":{\"name\":\"a\"}}");
}

static void test_bodies_that_are_not_protobuf_are_refused(void **state)
{
    static const struct {
        const char *name, *hex, *text;
        enum errc code;
    } cases[] = {
        { "json", "7b7d",
          "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
          ERRC_PARSE },
        { "cut envelope", "6b3873000a13", "proto: unexpected end of message", ERRC_PARSE },
        { "varint without end", "6b38730008ffffffffffffffffffffff01", "proto: integer overflow", ERRC_PARSE },
        { "group", "6b3873000b", "proto: illegal wire type", ERRC_PARSE },
        { "field 0", "6b38730000", "proto: illegal field number", ERRC_PARSE },
        { "unknown kind", "6b3873000a090a02763112035a5a5a",
          "no kind \"ZZZ\" is registered for version \"v1\"", ERRC_UNSUPPORTED },
        { "number for a string",
          "6b3873000a0f0a027631"
          "1209436f6e6669674d6170"
          "1202"
          "0a00"
          "",
          NULL, ERRC_NONE },
        { "metadata as number",
          "6b3873000a0f0a027631"
          "1209436f6e6669674d6170"
          "1202"
          "0801",
          "proto: wrong wire type", ERRC_PARSE },
    };

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new(MIB);
        CLEANUP(buf_done) struct buf b = BUF_INIT(KIB);
        CLEANUP(err_free) struct err *err = NULL;
        struct value v = VALUE_NONE;
        int r;

        assert_true(hex_decode(str_from(cases[i].hex), &b));
        r = api_proto_decode(a, buf_str(&b), &v, &err);
        if (cases[i].code == ERRC_NONE) {
            assert_ok(r, err);
            continue;
        }
        assert_case_num(cases[i].name, err_http_status(err), 400);
        assert_fails(r, cases[i].code, err, cases[i].text);
    }
}

/* b becomes a message with what it was as its field `tag`. */
static void wrap(struct buf *b, const char *tag)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    size_t n = b->n;

    buf_adds(&out, tag);
    for (; n > 0x7f; n >>= 7)
        buf_addc(&out, (char)((n & 0x7f) | 0x80));
    buf_addc(&out, (char)n);
    buf_addstr(&out, buf_str(b));
    buf_clear(b);
    buf_addstr(b, buf_str(&out));
}

/* A CRD whose schema nests `depth` times in `not` (field 27). */
static int decode_nested(int depth)
{
    static const char *const around[] = { "\x0a", "\x22", "\x3a", "\x12",
                                          "\x12" }; /* schema, version, spec, raw */
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB), body = BUF_INIT(MIB);
    struct value v = VALUE_NONE;

    for (int i = 0; i < depth; i++)
        wrap(&b, "\xda\x01");
    for (size_t i = 0; i < ARRAY_SIZE(around); i++)
        wrap(&b, around[i]);
    buf_add(&body, "k8s\0\x0a", 5);
    buf_addc(&body, 2 + 23 + 2 + 24);
    buf_adds(&body, "\x0a\x17"
                    "apiextensions.k8s.io/v1"
                    "\x12\x18"
                    "CustomResourceDefinition");
    buf_addstr(&body, buf_str(&b));
    return api_proto_decode(a, buf_str(&body), &v, NULL);
}

static void test_nesting_has_a_limit(void **state)
{
    const int around = 4; /* the messages around the schema */

    UNUSED(state);
    assert_num(decode_nested(API_PROTO_DEPTH_MAX - around - 2), 0);
    assert_num(decode_nested(API_PROTO_DEPTH_MAX - around - 1), 0);
    assert_num(decode_nested(API_PROTO_DEPTH_MAX - around), -ERRC_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_vector_of_the_go_module_decodes_to_its_json),
        cmocka_unit_test(test_zero_values_go_and_zero_pointers_stay),
        cmocka_unit_test(test_bodies_that_are_not_protobuf_are_refused),
        cmocka_unit_test(test_nesting_has_a_limit),
    };

    return RUN_TESTS(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/twin.h"

#include <stdlib.h>

#include "unit/registry/index_lib.h"
#include "yaml/yaml.h"

/* Entries one after the other, each with the rest of the first where it says nothing else. */
#define HEAD "  - apiVersion: v2\n"
#define TAIL "    name: web\n    version: 1.0.0\n"

static const struct twin_case {
    const char *what, *one, *other;
    bool twin;
} cases[] = {
    { "the same text", HEAD TAIL, HEAD TAIL, true },
    { "another version", HEAD TAIL, HEAD "    name: web\n    version: 1.0.1-rc.1+b\n", true },
    { "no version", HEAD TAIL, HEAD "    name: web\n    version: nothing\n", false },
    { "a version that is a number", HEAD TAIL, HEAD "    name: web\n    version: 1.10\n", false },
    { "a quoted version", HEAD TAIL, HEAD "    name: web\n    version: \"1.0.1\"\n", false },
    { "a version that goes on", HEAD TAIL, HEAD "    name: web\n    version: 1.0.1\n     more\n", false },
    { "another name", HEAD TAIL, HEAD "    name: app\n    version: 1.0.0\n", false },
    { "one more key", HEAD TAIL, HEAD TAIL "    home: x\n", false },
    { "an app version", HEAD "    appVersion: 1.2.3\n" TAIL, HEAD "    appVersion: v2.0.0\n" TAIL, true },
    { "a quoted app version", HEAD "    appVersion: \"1.2\"\n" TAIL, HEAD "    appVersion: \"1.3\"\n" TAIL,
      true },
    { "other quotation marks", HEAD "    appVersion: \"1.2\"\n" TAIL, HEAD "    appVersion: '1.3'\n" TAIL,
      false },
    { "an app version that is a number", HEAD "    appVersion: 1.2\n" TAIL, HEAD "    appVersion: 1.3\n" TAIL,
      false },
    { "an app version of two lines", HEAD "    appVersion: v1\n      beta\n" TAIL,
      HEAD "    appVersion: v2\n      beta\n" TAIL, false },
    { "an app version in quotes of two lines", HEAD "    appVersion: \"v1\n      beta\"\n" TAIL,
      HEAD "    appVersion: \"v2\n      beta\"\n" TAIL, false },
    { "an empty app version", HEAD "    appVersion: \"1\"\n" TAIL, HEAD "    appVersion: \"\"\n" TAIL,
      false },
    { "created and digest", HEAD "    created: \"2026-01-02T03:04:05.6+01:00\"\n    digest: aabb01\n" TAIL,
      HEAD "    created: \"2025-01-02T03:04:05Z\"\n    digest: 00ffee\n" TAIL, true },
    { "a digest that is a number", HEAD "    digest: aabb01\n" TAIL, HEAD "    digest: 0123\n" TAIL, true },
    { "a digest that is a float", HEAD "    digest: aabb01\n" TAIL, HEAD "    digest: 12e4\n" TAIL, false },
    { "a digest that is true", HEAD "    digest: aabb01\n" TAIL, HEAD "    digest: true\n" TAIL, false },
    { "a version of digits", HEAD TAIL, HEAD "    name: web\n    version: 2\n", false },
    { "a dependency's switch", HEAD "    dependencies:\n    - enabled: true\n      name: a\n" TAIL,
      HEAD "    dependencies:\n    - enabled: 1\n      name: a\n" TAIL, false },
    { "a URL", HEAD "    urls:\n    - https://h/web-1.0.0.tgz\n" TAIL,
      HEAD "    urls:\n    - https://h/web-1.0.1.tgz\n" TAIL, true },
    { "a URL with a query", HEAD "    urls:\n    - https://h/web?v=1\n" TAIL,
      HEAD "    urls:\n    - https://h/web?v=2\n" TAIL, false },
    { "a key where a word was", HEAD "    urls:\n    - aa\n" TAIL, HEAD "    urls:\n    - aa:\n" TAIL,
      false },
    { "null where a word was", HEAD "    urls:\n    - aa\n" TAIL, HEAD "    urls:\n    - null\n" TAIL,
      false },
    { "an anchor where a word was", HEAD "    urls:\n    - aa\n" TAIL, HEAD "    urls:\n    - *a\n" TAIL,
      false },
    { "another keyword", HEAD "    keywords:\n    - aa\n" TAIL, HEAD "    keywords:\n    - bb\n" TAIL,
      false },
    { "another description", HEAD "    description: An app, of 1\n" TAIL,
      HEAD "    description: The (new) app\n" TAIL, true },
    { "a description with a comment", HEAD "    description: aa\n" TAIL, HEAD "    description: b #c\n" TAIL,
      false },
    { "a description that is true", HEAD "    description: aa\n" TAIL, HEAD "    description: yes\n" TAIL,
      false },
    { "a description that is none", HEAD "    description: aa\n" TAIL, HEAD "    description: null\n" TAIL,
      false },
    { "a description in quotes", HEAD "    description: \"a a\"\n" TAIL,
      HEAD "    description: \"b b\"\n" TAIL, false },
    { "a description with a blank behind", HEAD "    description: aa\n" TAIL,
      HEAD "    description: bb \n" TAIL, false },
    { "a description of two lines", HEAD "    description: aa\n      bb\n" TAIL,
      HEAD "    description: cc\n      bb\n" TAIL, false },
    { "a first line that is the description", "  - description: aa\n" TAIL, "  - description: bb b\n" TAIL,
      true },
    { "a word in a text that is not about it", HEAD "    description: \"aa\n    urls: bb\n    cc\"\n" TAIL,
      HEAD "    description: \"aa\n    urls: dd\n    cc\"\n" TAIL, false },
    { "a version in a text",
      "  - description: \"a\n    version: 1.0.0\n    b\"\n    name: web\n    \"version\": 1.0.0\n",
      "  - description: \"a\n    version: 1.0.1\n    b\"\n    name: web\n    \"version\": 1.0.0\n", false },
    { "a key in other letters", HEAD "    Version: 1.0.0\n" TAIL, HEAD "    Version: 1.0.1\n" TAIL, false },
    { "an unknown key", HEAD "    new: aa\n" TAIL, HEAD "    new: bb\n" TAIL, false },
    { "a dependency's version", HEAD "    dependencies:\n    - name: a\n      version: 1.x.x\n" TAIL,
      HEAD "    dependencies:\n    - name: a\n      version: 2.x.x\n" TAIL, true },
    { "a dependency's name", HEAD "    dependencies:\n    - name: a\n    - name: b\n" TAIL,
      HEAD "    dependencies:\n    - name: a\n    - name: a\n" TAIL, true },
    { "a dependency's alias", HEAD "    dependencies:\n    - alias: a\n      name: a\n" TAIL,
      HEAD "    dependencies:\n    - alias: a.b\n      name: a\n" TAIL, false },
    { "two faults of dependencies", HEAD "    dependencies:\n    - name: a\n    - name: a\n    -\n" TAIL,
      HEAD "    dependencies:\n    - name: a\n    - name: b\n    -\n" TAIL, false },
    { "a flow list", HEAD "    urls: [aa, bb]\n" TAIL, HEAD "    urls: [aa, cc]\n" TAIL, false },
    { "a flow list of lines", HEAD "    urls: [\n      a,\n      - b ]\n" TAIL,
      HEAD "    urls: [\n      a,\n      - c ]\n" TAIL, false },
    { "an annotation", HEAD "    annotations:\n      a: bb\n" TAIL,
      HEAD "    annotations:\n      a: cc\n" TAIL, true },
    { "an annotation's text",
      HEAD "    annotations:\n      a: |\n        one # two\n        - 'three\n      b: x\n" TAIL,
      HEAD "    annotations:\n      a: |\n        {four: [\n        &five \"\n      b: x\n" TAIL, true },
    { "a text's line at another column",
      HEAD "    annotations:\n      a: |-\n        one\n        two\n" TAIL,
      HEAD "    annotations:\n      a: |-\n        one\n         two\n" TAIL, false },
    { "a text's line that becomes empty",
      HEAD "    annotations:\n      a: |-\n        one\n        two\n" TAIL,
      HEAD "    annotations:\n      a: |-\n        one\n        \n" TAIL, false },
    { "a text's line with other letters", HEAD "    annotations:\n      a: |\n        one\n" TAIL,
      HEAD "    annotations:\n      a: |\n        \xc3\xa9\n" TAIL, false },
    { "a comment behind a text", HEAD "    annotations:\n      a: |\n          one\n       # two\n" TAIL,
      HEAD "    annotations:\n      a: |\n          one\n       x two\n" TAIL, false },
    { "a text within a quoted one",
      HEAD "    annotations:\n      a: \"x\n      b: |\n        y\"\n      c: z\n" TAIL,
      HEAD "    annotations:\n      a: \"x\n      b: |\n        \"y\n      c: z\n" TAIL, false },
    { "a text that is folded", HEAD "    annotations:\n      a: >\n        one\n" TAIL,
      HEAD "    annotations:\n      a: >\n        one two\n" TAIL, false },
    { "a text of something else", HEAD "    sources:\n    - |\n      a b\n" TAIL,
      HEAD "    sources:\n    - |\n      a c\n" TAIL, false },
    { "a blank line behind it", HEAD TAIL, HEAD TAIL "\n", false },
    { "a deeper line behind it", HEAD TAIL, HEAD TAIL "     x\n", false },
    { "a flow map", "  - {name: web, version: 1.0.0}\n", "  - {name: web, version: 1.0.1}\n", false },
};

static const struct yml_options strict = { .strict = true };

static void test_what_is_a_twin(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);

    UNUSED(state);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(index_twin_done) struct index_twin t = { 0 };
        CLEANUP(free_ptr) char *text = xasprintf("%sgenerated: x\n", cases[i].other);
        struct index_twin_found found;
        struct value v;

        if (yml_quick_parse(a, str_from(cases[i].one), &strict, &v) && value_len(v) == 1)
            index_twin_set(&t, str_from(cases[i].one), value_at(v, 0));
        if (index_twin_match(&t, str_from(text), &found) != cases[i].twin)
            fail_msg("%s", cases[i].what);
        if (cases[i].twin)
            assert_str(found.text, cases[i].other);
    }
}

/* The index of the entries, to each reader. */
static void load_pair(struct index_test *t, const char *head, const struct twin_case *c, struct buf *out)
{
    CLEANUP(free_ptr)
    char *text =
        xasprintf("%sapiVersion: v1\nentries:\n  web:\n%s%s%s%s", head, c->one, c->other, c->one, c->other);
    struct registry_loaded got;

    if (index_test_load(t, text, &got) < 0) {
        buf_adds(out, err_message(t->err));
        err_free(TAKE(t->err));
        return;
    }
    buf_addf(out, "%d skipped\n", (int)got.figures.skipped);
    index_test_dump(t, out);
    assert_ok(registry_forget(t->db, STR("r"), &t->err), t->err);
}

static void test_twins_are_what_libyaml_reads(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(buf_done) struct buf fast = BUF_INIT(MIB), pieces = BUF_INIT(MIB), slow = BUF_INIT(MIB);

        load_pair(*state, "", &cases[i], &fast);
        load_pair(*state, "%YAML 1.1\n---\n", &cases[i], &pieces);
        load_pair(*state, "%YAML 1.1 \n---\n", &cases[i], &slow);
        assert_str(buf_str(&pieces), buf_z(&slow));
        if (str_contains(buf_str(&slow), STR("skipped"))) /* a refusal names a line */
            assert_str(buf_str(&fast), buf_z(&slow));
        else
            assert_false(str_contains(buf_str(&fast), STR("skipped")));
    }
}

static void test_twins_of_twins(void **state)
{
    static const char *const versions[] = { "1.0.0", "10.0.0-alpha.1", "2.0", "2.0.0", "1.1" };
    CLEANUP(index_twin_done) struct index_twin t = { 0 };
    CLEANUP(arena_free) struct arena *a = arena_new(MIB);
    struct index_twin_found found;
    struct value v;

    UNUSED(state);
    assert_true(yml_quick_parse(a, STR(HEAD TAIL), &strict, &v));
    index_twin_set(&t, STR(HEAD TAIL), value_at(v, 0));
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        CLEANUP(free_ptr) char *text = xasprintf(HEAD "    name: web\n    version: %s\nx: y\n", versions[i]);
        bool number = strlen(versions[i]) == 3;

        assert_int_equal(index_twin_match(&t, str_from(text), &found), !number);
        if (number)
            continue;
        assert_str(i ? found.version : STR("1.0.0"), versions[i]);
        index_twin_accept(&t, &found);
    }
    index_twin_clear(&t);
    assert_false(index_twin_match(&t, STR(HEAD TAIL "x: y\n"), &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_a_twin),
        cmocka_unit_test_setup_teardown(test_twins_are_what_libyaml_reads, index_test_begin, index_test_end),
        cmocka_unit_test(test_twins_of_twins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

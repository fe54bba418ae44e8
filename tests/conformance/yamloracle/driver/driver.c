/* SPDX-License-Identifier: Apache-2.0 */
/* Answers yamloracle's frames with our own modules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "schema/schema.h"
#include "toml/toml.h"
#include "yaml/yaml.h"
#include "json/json.h"

#define MEMORY_MAX (512 * MIB)

static const struct json_options json_floats = { .floats = true };

/* ["schema as text", instance] */
static int validate(struct value pair, struct buf *out, struct err **err)
{
    CLEANUP(schema_free) struct schema *s = NULL;
    bool sure = schema_is_surely_valid(value_str(value_at(pair, 0)), value_at(pair, 1));
    int r = schema_compile(value_str(value_at(pair, 0)), &s, err);

    if (r == 0)
        r = schema_validate(s, value_at(pair, 1), out, err);
    return sure && r > 0 ? err_set(err, ERRC_INTERNAL, "taken for surely valid") : r;
}

static int answer(char op, struct str text, struct arena *a, struct buf *out, struct err **err)
{
    struct yml_options yaml = { .floats = true, .strict = op == 's' };
    struct value v;
    int r;

    switch (op) {
    case 'y':
    case 's':
        r = yml_parse(a, text, &yaml, &v, err);
        return r < 0 ? r : json_print(v, 0, out, err);
    case 'j':
        r = json_parse(a, text, &json_floats, &v, err);
        return r < 0 ? r : json_print(v, 0, out, err);
    case 'i':
        r = json_parse(a, text, NULL, &v, err);
        return r < 0 ? r : json_print(v, JSON_INDENT | JSON_ESCAPE_HTML, out, err);
    case 'p':
    case 'q':
        r = json_parse(a, text, NULL, &v, err);
        if (r < 0)
            return r;
        return op == 'p' ? yml_print(v, out, err) : yml_print_pretty(v, out, err);
    case 't':
        r = toml_parse(a, text, &v, err);
        return r < 0 ? r : json_print(v, 0, out, err);
    case 'u':
        r = json_parse(a, text, NULL, &v, err);
        return r < 0 ? r : toml_print(v, out, err);
    case 'v':
        r = json_parse(a, text, &json_floats, &v, err);
        return r < 0 ? r : validate(v, out, err);
    default:
        return err_set(err, ERRC_INVALID, "unknown operation '%c'", op);
    }
}

int main(void)
{
    char op;
    size_t n;

    while (scanf("%c %zu", &op, &n) == 2 && getchar() == '\n') {
        CLEANUP(arena_free) struct arena *a = arena_new(MEMORY_MAX);
        CLEANUP(buf_done) struct buf out = BUF_INIT(MEMORY_MAX);
        CLEANUP(err_free) struct err *err = NULL;
        CLEANUP(free_ptr) char *text = xmalloc(n + 1);

        if (fread(text, 1, n + 1, stdin) != n + 1)
            return 1;
        if (answer(op, (struct str){ text, n }, a, &out, &err) < 0) {
            buf_clear(&out);
            buf_addf(&out, "error: %s", err_message(err));
        }
        printf("%zu\n", out.n);
        fwrite(out.p ? out.p : "", 1, out.n, stdout);
        putchar('\n');
    }
    return 0;
}

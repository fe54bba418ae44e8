/* SPDX-License-Identifier: Apache-2.0 */
/* The counterpart of engineoracle: JSON lines with files and values in, JSON lines with text or error out. With
 * "repeat" it reports nanoseconds of CPU for one render (parse included). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "template/template.h"
#include "json/json.h"

#include "unit/template/render_case.h"

struct answer {
    struct arena *arena;
    struct value out;
};

static void keep(void *ctx, struct str path, struct str text)
{
    struct answer *a = ctx;

    value_set(a->out, arena_dup(a->arena, path), value_from_str(arena_dup(a->arena, text)));
}

static void read_case(struct value line, struct render_case *c)
{
    struct value files = value_getz(line, "files");

    for (size_t i = 0; i < value_len(files) && c->n < ARRAY_SIZE(c->names); i++, c->n++) {
        c->names[c->n] = value_entry_at(files, i)->key;
        c->texts[c->n] = value_str(value_entry_at(files, i)->v);
    }
    c->values = value_getz(line, "values");
    c->ints = value_bool(value_getz(line, "ints"));
    c->env.strict = value_bool(value_getz(line, "strict"));
    c->env.lint = value_bool(value_getz(line, "lint"));
}

static int render_once(const struct render_case *c, struct answer *a, struct err **err)
{
    CLEANUP(tpl_set_free) struct tpl_set *set = tpl_set_new();
    int r = render_case_parse(c, set, err);

    a->out = value_new_map(a->arena);
    return r < 0 ? r : render_case_render(c, set, keep, a, err);
}

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void answer_line(struct str text, struct buf *out)
{
    CLEANUP(arena_free) struct arena *arena = arena_new(1024 * MIB);
    CLEANUP(err_free) struct err *err = NULL;
    struct answer a = { .arena = arena };
    struct render_case c = { 0 };
    struct value line, result = value_new_map(arena);
    int r = json_parse(arena, text, NULL, &line, &err);
    int64_t rounds, start;

    if (r == 0) {
        read_case(line, &c);
        rounds = MAX(value_int(value_getz(line, "repeat"), 1), 1);
        start = cpu_ns();
        for (int64_t i = 0; i < rounds && r == 0; i++)
            r = render_once(&c, &a, &err);
        if (value_has(line, STR("repeat")))
            value_setz(result, "ns", value_from_int((cpu_ns() - start) / rounds));
    }
    if (r < 0)
        value_setz(result, "err", value_from_str(str_from(err_message(err))));
    else
        value_setz(result, "out", a.out);
    if (json_print(result, 0, out, NULL) < 0)
        abort();
    buf_addc(out, '\n');
}

int main(void)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(1024 * MIB);
    CLEANUP(free_ptr) char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, stdin)) > 0) {
        buf_clear(&out);
        answer_line((struct str){ line, (size_t)n }, &out);
        fwrite(out.p, 1, out.n, stdout);
        fflush(stdout);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that take texts of a syntax of their own. The first byte chooses, lines are arguments. */
#include "base/limits.h"
#include "template/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const templates[] = {
    "{{ toDate .a .b }}{{ date .a (int64 (atoi .b)) }}",
    "{{ dateInZone \"2006-01-02T15:04:05Z07:00\" (int64 (atoi .b)) .a }}",
    "{{ dateModify .a (toDate \"2006\" .b) }}{{ durationRound .a }}{{ duration .b }}",
    "{{ urlJoin (urlParse .a) }}",
    "{{ urlJoin (dict \"scheme\" .a \"host\" .b \"userinfo\" .a \"path\" .b) }}",
    "{{ regexReplaceAll .a .b .a }}",
    "{{ snakecase .a }}{{ camelcase .a }}{{ kebabcase .b }}{{ title .a }}{{ swapcase .b }}{{ wrapWith 3 .a "
    ".b }}",
    "{{ b64dec .a }}{{ b32dec .a }}{{ clean .a }}{{ ext .b }}{{ base .a }}{{ trimAll .a .b }}{{ abbrevboth 5 "
    "9 .b }}",
    "{{ addf .a .b }}{{ mulf .a .b }}{{ divf .a .b }}{{ round .a 3 }}{{ int .a }}{{ toDecimal .b }}",
    "{{ genCAWithKey .a 1 .b }}",
    "{{ buildCustomCert (b64enc .a) (b64enc .b) }}",
    "{{ decryptAES .a .b }}{{ adler32sum .a }}{{ substr 1 2 .a }}",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = { (const char *)data, size }, a;
    CLEANUP(tpl_set_free) struct tpl_set *set = NULL;
    CLEANUP(tpl_run_free) struct tpl_run *run = NULL;
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    const struct tpl_env env = { .steps_max = 1000000, .memory_max = 8 * MIB, .output_max = MIB };
    struct value dot;

    if (size < 1 || size > 4096)
        return 0;
    set = tpl_set_new();
    if (tpl_set_add(set, STR("c/templates/x"), str_from(templates[data[0] % ARRAY_SIZE(templates)]), NULL) <
        0)
        return 0;
    rest = str_sub(rest, 1, rest.n);
    str_split(&rest, '\n', &a);
    run = tpl_run_new(set, &env);
    dot = value_new_map(tpl_run_arena(run));
    value_setz(dot, "a", value_from_str(a));
    value_setz(dot, "b", value_from_str(rest.p ? rest : STR("")));
    IGNORE_ERROR(tpl_render(run, STR("c/templates/x"), dot, &out, NULL));
    return 0;
}

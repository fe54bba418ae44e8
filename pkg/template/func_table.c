/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <pthread.h>

#include "template/tree.h"

#define SLOTS 1024 /* power of two, far above the number of functions */

/* Earlier tables win: Helm's functions over Sprig's over text/template's. */
static const struct tpl_func_table *const tables[] = {
    &tpl_funcs_engine,   &tpl_funcs_string,  &tpl_funcs_list,   &tpl_funcs_dict,
    &tpl_funcs_number,   &tpl_funcs_date,    &tpl_funcs_crypto, &tpl_funcs_regex,
    &tpl_funcs_encoding, &tpl_funcs_reflect, &tpl_funcs_misc,   &tpl_funcs_builtin,
};

/* Filled once, then read by every thread. */
static struct {
    struct str name;
    const struct tpl_func *func;
} slots[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t slot_of(struct str name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < name.n; i++)
        h = (h ^ (unsigned char)name.p[i]) * 16777619u;
    return (h ^ h >> 15) & (SLOTS - 1);
}

static uint32_t find_slot(struct str name)
{
    uint32_t i = slot_of(name);

    while (slots[i].func && !str_eq(name, slots[i].name))
        i = (i + 1) & (SLOTS - 1);
    return i;
}

static void fill(void)
{
    size_t n = 0;

    for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct tpl_func *f = &tables[t]->funcs[i];
            uint32_t slot = find_slot(str_from(f->name));

            n++;
            assert(n < SLOTS / 2);
            if (slots[slot].func)
                continue;
            slots[slot].name = str_from(f->name);
            slots[slot].func = f;
        }
    }
}

const struct tpl_func *func_find(struct str name)
{
    pthread_once(&once, fill);
    return slots[find_slot(name)].func;
}

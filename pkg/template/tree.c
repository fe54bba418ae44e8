/* SPDX-License-Identifier: Apache-2.0 */
#include "template/tree.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "template/template.h"

struct tpl_set *tpl_set_new(void)
{
    struct tpl_set *s = xcalloc(1, sizeof(*s));

    s->arena = arena_new(TEMPLATE_MEMORY_MAX);
    s->trees = MAP_INIT_BORROWING;
    return s;
}

void tpl_set_free(struct tpl_set *s)
{
    if (!s)
        return;
    map_done(&s->trees);
    map_done(&s->texts);
    arena_free(s->arena);
    free_ptr(s);
}

struct arena *tpl_set_arena(struct tpl_set *s)
{
    return s->arena;
}

static void free_arena(void *a)
{
    arena_free(a);
}

void tpl_set_keep(struct tpl_set *s, struct arena *a)
{
    arena_on_free(s->arena, free_arena, a);
}

const struct tree *tpl_set_find(const struct tpl_set *s, struct str name)
{
    bool is_root = str_eq(name, TPL_ROOT_NAME);

    for (; s; s = s->below) {
        const struct tree *t = is_root && s->root     ? s->root
                               : map_n(&s->trees) > 0 ? map_get(&s->trees, name)
                                                      : NULL;

        if (t)
            return t;
    }
    return NULL;
}

static size_t count_slashes(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '/';
    return n;
}

int tpl_name_cmp(struct str a, struct str b)
{
    size_t na = count_slashes(a), nb = count_slashes(b);

    return na != nb ? (na < nb ? 1 : -1) : str_cmp(b, a);
}

bool tpl_name_is_partial(struct str name)
{
    return str_has_prefix(str_basename(name), STR("_"));
}

static void print_names(const struct str *names, size_t n, bool dot_first, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 || dot_first)
            buf_addc(out, '.');
        buf_addstr(out, names[i]);
    }
}

static void print_operand(const struct node *n, struct buf *out)
{
    if (n->kind == NODE_PIPE)
        buf_addc(out, '(');
    node_print(n, out);
    if (n->kind == NODE_PIPE)
        buf_addc(out, ')');
}

static void print_pipe(const struct node *n, struct buf *out)
{
    for (size_t i = 0; i < n->n_decl; i++) {
        buf_adds(out, i > 0 ? ", " : "");
        node_print(node_decl(n)[i], out);
    }
    if (n->n_decl > 0)
        buf_adds(out, n->flag ? " = " : " := ");
    for (size_t i = 0; i < n->n; i++) {
        buf_adds(out, i > 0 ? " | " : "");
        print_operand(n->items[i], out);
    }
}

static void print_template(const struct node *n, struct buf *out)
{
    buf_adds(out, "{{template ");
    tpl_print_quoted(n->called, out);
    if (n->with) {
        buf_addc(out, ' ');
        node_print(n->with, out);
    }
    buf_adds(out, "}}");
}

void node_print(const struct node *n, struct buf *out)
{
    switch (n->kind) {
    case NODE_TEMPLATE:
        print_template(n, out);
        break;
    case NODE_PIPE:
        print_pipe(n, out);
        break;
    case NODE_COMMAND:
        for (size_t i = 0; i < n->n; i++) {
            buf_adds(out, i > 0 ? " " : "");
            print_operand(n->items[i], out);
        }
        break;
    case NODE_CHAIN:
        print_operand(n->of, out);
        print_names(n->links, n->n, true, out);
        break;
    case NODE_FIELD:
    case NODE_VARIABLE:
        print_names(n->names, n->n, n->kind == NODE_FIELD, out);
        break;
    case NODE_DOT:
        buf_addc(out, '.');
        break;
    case NODE_NIL:
        buf_adds(out, "nil");
        break;
    case NODE_BOOL:
        buf_adds(out, n->flag ? "true" : "false");
        break;
    case NODE_NUMBER:
        buf_addstr(out, n->number->text);
        break;
    case NODE_STRING:
        buf_addstr(out, (struct str){ n->quoted, n->n });
        break;
    case NODE_IDENTIFIER:
        buf_addstr(out, node_ident(n));
        break;
    case NODE_END:
        buf_adds(out, "{{end}}");
        break;
    case NODE_ELSE:
        buf_adds(out, "{{else}}");
        break;
    default: /* no error is reported at a list, a text or a control structure */
        break;
    }
}

void source_print_position(const struct source *s, uint32_t pos, struct buf *out)
{
    struct str before = str_sub(s->text, 0, pos);
    size_t line = 1, nl = str_rfind_char(before, '\n');

    for (size_t i = 0; i < before.n; i++)
        line += before.p[i] == '\n';
    buf_addstr(out, s->name);
    buf_addf(out, ":%zu:%zu", line, nl == STR_NPOS ? before.n : before.n - nl - 1);
}

/* How much of a stack is left for whatever a function calls. */
#define STACK_RESERVE ((size_t)384 * KIB)
#define STACK_ASSUMED ((size_t)8 * MIB)
#define STACK_MAIN_MAX ((size_t)64 * MIB) /* the kernel keeps more than this free below */

/* Of the main thread, whose stack grows down from the program's name. pthread_getattr_np() reads /proc/self/maps for it, which
 * takes longer than a small chart. */
static uintptr_t lowest_of_main(void)
{
    uintptr_t top = getauxval(AT_EXECFN);
    struct rlimit size;

    if (getpid() != gettid() || getrlimit(RLIMIT_STACK, &size) < 0 || size.rlim_cur > STACK_MAIN_MAX ||
        size.rlim_cur < 4 * STACK_RESERVE || top < size.rlim_cur)
        return 0;
    return top - size.rlim_cur + STACK_RESERVE;
}

/* The lowest address this thread may use, the reserve taken off. */
static uintptr_t lowest_address(uintptr_t here)
{
    uintptr_t lowest = lowest_of_main();
    pthread_attr_t attr;
    void *base = NULL;
    size_t size = 0;

    if (lowest)
        return lowest;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &base, &size) != 0)
            base = NULL;
        pthread_attr_destroy(&attr);
    }
    if (!base)
        return here - STACK_ASSUMED + 2 * STACK_RESERVE;
    return (uintptr_t)base + (size > 4 * STACK_RESERVE ? STACK_RESERVE : size / 4);
}

bool stack_is_low(size_t margin)
{
    static _Thread_local uintptr_t lowest;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (!lowest)
        lowest = lowest_address(here);
    return here - margin < lowest;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Objects within objects, on the stack that a connection has. */
#include <pthread.h>

#include "base/limits.h"
#include "unit/apiserver/serve.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define THINGS "/apis/x.io/v1/namespaces/default/things"
#define MERGE "application/merge-patch+json"
#define JSON_PATCH "application/json-patch+json"

static const char definition[] = "{'apiVersion':'apiextensions.k8s.io/"
                                 "v1','kind':'CustomResourceDefinition','metadata':{'name':'things.x.io'},"
                                 "'spec':{'group':'x.io','names':{'kind':'Thing','plural':'things'},'scope':'"
                                 "Namespaced','versions':[{'name':'v1',"
                                 "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                                 "'x-kubernetes-preserve-unknown-fields':true}}}]}}";

struct job {
    struct fixture *f;
    struct question q;
    int code;
};

static void *run_job(void *arg)
{
    struct job *job = arg;

    job->code = serve(job->f, job->q).code;
    return NULL;
}

/* The answer's code. */
static int on_a_connection(struct fixture *f, struct question q)
{
    struct job job = { .f = f, .q = q };
    pthread_attr_t attr;
    pthread_t thread;

    assert_num(pthread_attr_init(&attr), 0);
    assert_num(pthread_attr_setstacksize(&attr, API_CONNECTION_STACK), 0);
    assert_num(pthread_create(&thread, &attr, run_job, &job), 0);
    assert_num(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    return job.code;
}

/* `before`, then `levels` maps in each other, then `after`. */
static const char *nested(struct fixture *f, const char *before, int levels, const char *after)
{
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);

    buf_adds(&b, before);
    for (int i = 0; i < levels; i++)
        buf_adds(&b, "{'a':");
    buf_adds(&b, "1");
    buf_add_repeat(&b, '}', (size_t)levels);
    buf_adds(&b, after);
    return arena_dupz(f->arena, buf_str(&b));
}

static void an_object_is_nested_up_to_the_limit(void **state)
{
    static const struct {
        const char *method, *type, *before, *after;
        int around, good;
    } cases[] = {
        { "POST", NULL, "{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'one'},'spec':", "}", 1,
          201 },
        { "PATCH", MERGE, "{'spec':", "}", 1, 200 },
        { "PATCH", JSON_PATCH, "[{'op':'replace','path':'/spec','value':", "}]", 2, 200 },
    };
    struct fixture *f = *state;

    post(f, 201, DEFINITIONS, definition);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (int levels = API_DEPTH_MAX + 1; levels >= API_DEPTH_MAX - 1; levels--) {
            bool create = strcmp(cases[i].method, "POST") == 0;
            int code = on_a_connection(
                f, (struct question){
                       .method = cases[i].method,
                       .target = create ? THINGS : THINGS "/one",
                       .type = cases[i].type,
                       .body = nested(f, cases[i].before, levels - cases[i].around, cases[i].after) });
            bool taken = code == cases[i].good || (code == 409 && create && levels < API_DEPTH_MAX);

            if (levels <= API_DEPTH_MAX ? !taken : code < 400 || code >= 500)
                fail_case("%s %s, %d levels: answered %d", cases[i].method,
                          cases[i].type ? cases[i].type : "", levels, code);
        }
    }
}

static void patches_cannot_make_an_object_deeper(void **state)
{
    struct fixture *f = *state;
    CLEANUP(buf_done) struct buf b = BUF_INIT(MIB);
    int code;

    post(f, 201, DEFINITIONS, definition);
    post(f, 201, THINGS,
         nested(f, "{'apiVersion':'x.io/v1','kind':'Thing','metadata':{'name':'one'},'spec':", 400, "}"));
    buf_adds(&b, "[{'op':'copy','from':'/spec','path':'/spec");
    for (int i = 0; i < 399; i++)
        buf_adds(&b, "/a");
    buf_adds(&b, "/b'}]");
    code = on_a_connection(
        f, (struct question){
               .method = "PATCH", .target = THINGS "/one", .type = JSON_PATCH, .body = buf_z(&b) });
    assert_true(code >= 400 && code < 500);
    code = on_a_connection(
        f, (struct question){ .method = "POST", .target = THINGS, .body = nested(f, "", 20000, "") });
    assert_num(code, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVE_TEST(an_object_is_nested_up_to_the_limit),
        SERVE_TEST(patches_cannot_make_an_object_deeper),
    };

    return RUN_TESTS(tests);
}

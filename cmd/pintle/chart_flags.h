/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* chart_flags: what the commands about one chart share: where it is, the values' flags, Helm's log lines. */
#include "chart/chart.h"
#include "dependency/dependency.h"
#include "pintle/cli.h"
#include "registry/registry.h"

/* -f, --set and its family; the first flags of a command's table. */
#define VALUE_FLAGS                                                                                        \
    { "values", 'f', CLI_LIST, NULL, NULL, "specify values in a YAML file (can specify multiple)", NULL }, \
        { "set",                                                                                           \
          0,                                                                                               \
          CLI_ARRAY,                                                                                       \
          NULL,                                                                                            \
          NULL,                                                                                            \
          "set values on the command line (can specify multiple or separate values with commas: "          \
          "key1=val1,key2=val2)",                                                                          \
          NULL },                                                                                          \
        { "set-string", 0, CLI_ARRAY, NULL, NULL, "set STRING values on the command line", NULL },         \
        { "set-file", 0, CLI_ARRAY, NULL, NULL, "set values from files: key1=path1,key2=path2", NULL },    \
        { "set-json", 0,    CLI_ARRAY,                                                                     \
          NULL,       NULL, "set JSON values: key1=jsonval1,key2=jsonval2 or {\"key1\": jsonval1}",        \
          NULL },                                                                                          \
    {                                                                                                      \
        "set-literal", 0, CLI_ARRAY, NULL, NULL, "set a literal STRING value on the command line", NULL    \
    }

/* How a server is spoken to: what chart_fetcher_init() reads. */
#define CHART_TLS_FLAGS                                                                        \
    { "cert-file", 0, CLI_STRING, NULL, NULL, "certificate to show to the repository", NULL }, \
        { "key-file", 0, CLI_STRING, NULL, NULL, "key of --cert-file", NULL },                 \
        { "ca-file", 0,    CLI_STRING,                                                         \
          NULL,      NULL, "authorities that may have signed the repository's certificate",    \
          NULL },                                                                              \
        { "insecure-skip-tls-verify",                                                          \
          0,                                                                                   \
          CLI_BOOL,                                                                            \
          NULL,                                                                                \
          NULL,                                                                                \
          "do not check the repository's certificate",                                         \
          NULL },                                                                              \
        { "plain-http", 0, CLI_BOOL, NULL, NULL, "speak http with a registry", NULL },         \
    {                                                                                          \
        "pass-credentials", 0, CLI_BOOL, NULL, NULL, "pass credentials to all domains", NULL   \
    }
#define CHART_SERVER_FLAGS                                                                           \
    CHART_TLS_FLAGS, { "username", 0, CLI_STRING, NULL, NULL, "user name at the repository", NULL }, \
    {                                                                                                \
        "password", 0, CLI_STRING, NULL, NULL, "password at the repository", NULL                    \
    }
/* Where a chart may come from. */
#define CHART_PATH_FLAGS                                                                                 \
    CHART_SERVER_FLAGS,                                                                                  \
        { "version", 0, CLI_STRING, NULL, NULL, "version or range of a chart from a repository", NULL }, \
        { "repo", 0, CLI_STRING, NULL, NULL, "URL of the repository to take the chart from", NULL },     \
        { "devel", 0, CLI_BOOL, NULL, NULL, "use development versions, too", NULL },                     \
        { "verify", 0, CLI_BOOL, NULL, NULL, "verify the package before using it", NULL },               \
    {                                                                                                    \
        "keyring", 0, CLI_STRING, NULL, NULL, "location of public keys used for verification", NULL      \
    }

/* Log lines go to c->errout, as Helm prints them. */
struct chart_log chart_flags_log(struct cli *c);

/* -n, $HELM_NAMESPACE, the kubeconfig's context; a kubeconfig that cannot be read says nothing. Never empty. */
struct str chart_flags_namespace(const struct cli *c, struct arena *a);
/* --kube-version, when given, into *caps: "invalid kube version 'x': …". */
NODISCARD int chart_flags_kube_version(const struct cli *c, struct arena *a, struct chart_capabilities *caps,
                                       struct err **err);

/* What the value flags say; *ret lives in `a`. */
NODISCARD int chart_flags_values(const struct cli *c, struct arena *a, struct value *ret, struct err **err);

/* What it takes to fetch charts: an HTTP client, helm's files ($HELM_REPOSITORY_CONFIG, --repository-config, …) and
 * CHART_SERVER_FLAGS. Set locator.configured and .verify as the command needs them, then use
 * registry_resolve(), registry_fetch_found() or registry_locate() (registry.h): every chart reference goes through these. */
struct chart_fetcher {
    struct registry_locator locator;
    struct registry_auth auth;
    struct http_client *http;
    struct arena *arena;
};
/* Lines on the way ("Pulled: …") go to c->out, as in helm. The struct must not be moved. Release with
 * chart_fetcher_done(), after a failure too. */
NODISCARD int chart_fetcher_init(struct cli *c, struct chart_fetcher *f, struct err **err);
void chart_fetcher_done(struct chart_fetcher *f);
DEFINE_CLEANUP_VALUE(struct chart_fetcher, chart_fetcher_done)
/* --keyring, or where gpg 1 had its public keys; in `a`. */
const char *chart_flags_keyring(const struct cli *c, struct arena *a);
/* With --verify, charts that are fetched are verified like this, with the keys of --keyring. */
void chart_fetcher_verify(const struct cli *c, struct chart_fetcher *f, enum registry_verify how);
/* "Signed by: …", as helm tells it. */
void chart_flags_print_signer(struct cli *c, const struct provenance_verified *v);
/* --version, or with --devel alone what stands for it. */
struct str chart_flags_version(const struct cli *c);

/* A chart that was found: a folder or archive here, or an archive that was downloaded. */
struct chart_found {
    char *path; /* NULL: remote */
    struct registry_found remote;
};
void chart_found_done(struct chart_found *f);
DEFINE_CLEANUP_VALUE(struct chart_found, chart_found_done)
/* Helm's LocateChart() with the flags of CHART_PATH_FLAGS: a path here comes first, everything else is downloaded. */
NODISCARD int chart_flags_locate(struct cli *c, const char *name, struct chart_found *ret, struct err **err);
/* Helm's lines for --debug on --version and --devel; without either the version is `otherwise` (NULL: any). */
void chart_flags_log_version(struct cli *c, const char *text, const char *otherwise);
NODISCARD int chart_found_load(const struct chart_found *f, const struct chart_log *log, struct chart **ret,
                               struct err **err);
/* By chart_load_to_render() where that is possible. */
NODISCARD int chart_found_load_to_render(const struct chart_found *f, const struct chart_log *log,
                                         struct chart **ret, struct err **err);

/* dependency_update() or dependency_build() for the chart in the folder `path`, with helm's files and CHART_SERVER_FLAGS. What it
 * tells on the way goes to c->out. */
enum {
    CHART_FLAGS_SKIP_REFRESH = 1,
    CHART_FLAGS_QUIET = 2,
    CHART_FLAGS_VERIFY_ALWAYS = 4, /* what --verify means */
    CHART_FLAGS_VERIFY_IF_POSSIBLE = 8,
};
NODISCARD int chart_flags_dependencies(struct cli *c, const char *path,
                                       int (*act)(const struct dependency_job *, struct err **), unsigned how,
                                       struct err **err);

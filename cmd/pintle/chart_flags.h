/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* chart_flags: what the commands about one chart share: where it is, the values' flags, Helm's log lines. */
#include "chart/chart.h"
#include "pintle/cli.h"

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

/* Where a chart may come from. */
#define CHART_PATH_FLAGS                                                                                 \
    { "version", 0, CLI_STRING, NULL, NULL, "version or range of a chart from a repository", NULL },     \
        { "repo", 0, CLI_STRING, NULL, NULL, "URL of the repository to take the chart from", NULL },     \
        { "devel", 0, CLI_BOOL, NULL, NULL, "use development versions, too", NULL },                     \
        { "verify", 0, CLI_BOOL, NULL, NULL, "verify the package before using it", NULL },               \
        { "keyring", 0, CLI_STRING, NULL, NULL, "location of public keys used for verification", NULL }, \
        { "username", 0, CLI_STRING, NULL, NULL, "user name at the repository", NULL },                  \
        { "password", 0, CLI_STRING, NULL, NULL, "password at the repository", NULL },                   \
        { "cert-file", 0, CLI_STRING, NULL, NULL, "certificate to show to the repository", NULL },       \
        { "key-file", 0, CLI_STRING, NULL, NULL, "key of --cert-file", NULL },                           \
        { "ca-file", 0,    CLI_STRING,                                                                   \
          NULL,      NULL, "authorities that may have signed the repository's certificate",              \
          NULL },                                                                                        \
        { "insecure-skip-tls-verify",                                                                    \
          0,                                                                                             \
          CLI_BOOL,                                                                                      \
          NULL,                                                                                          \
          NULL,                                                                                          \
          "do not check the repository's certificate",                                                   \
          NULL },                                                                                        \
        { "plain-http", 0, CLI_BOOL, NULL, NULL, "use HTTP for the download", NULL },                    \
    {                                                                                                    \
        "pass-credentials", 0, CLI_BOOL, NULL, NULL, "pass credentials to all domains", NULL             \
    }

/* Log lines go to c->errout, as Helm prints them. */
struct chart_log chart_flags_log(struct cli *c);
/* "Flag --x has been deprecated, …" when it was given. */
void chart_flags_deprecated(struct cli *c, const char *flag, const char *text);

/* What the value flags say; *ret lives in `a`. */
NODISCARD int chart_flags_values(const struct cli *c, struct arena *a, struct value *ret, struct err **err);

/* Is there a folder or archive of that name? Helm's LocateChart() for what needs no network; UNSUPPORTED for what does. */
NODISCARD int chart_flags_locate(const struct cli *c, const char *name, struct err **err);
NODISCARD int chart_flags_load(struct cli *c, const char *name, const struct chart_log *log,
                               struct chart **ret, struct err **err);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* helm_output: lists as helm prints them (pkg/cli/output, gosuri/uitable): table, json, yaml. */
#include "pintle/cli.h"

struct helm_column {
    const char *title; /* of the table */
    const char *key;   /* of json and yaml */
};
struct helm_list {
    const struct helm_column *columns;
    size_t n_columns, n_rows;
    const struct str *cells; /* row by row */
    bool no_headers;
    size_t width_max; /* of a column; longer texts end in "..."; 0: any */
};
#define HELM_OUTPUT_FLAG                                                                      \
    {                                                                                         \
        "output", 'o', CLI_STRING, "table", NULL,                                             \
            "prints the output in the specified format: table, json, yaml", &helm_output_flag \
    }
extern const struct cli_special helm_output_flag;

enum helm_format { HELM_TABLE, HELM_JSON, HELM_YAML };
/* What --output says; INVALID in pflag's words. */
NODISCARD int helm_output_format(const struct cli *c, enum helm_format *ret, struct err **err);
NODISCARD int helm_output_list(struct cli *c, enum helm_format format, const struct helm_list *l,
                               struct err **err);

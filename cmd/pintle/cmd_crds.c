/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pintle/commands.h"
#include "pintle/embedded.h"

/* "releases", "releases.yaml" or "releases.pintle.dev" */
static bool is_asked_for(const struct cli *c, const char *file)
{
    struct str plural = str_trim_suffix(str_from(file), STR(".yaml"));

    if (c->n_args == 0)
        return true;
    for (size_t i = 0; i < c->n_args; i++) {
        struct str name =
            str_trim_suffix(str_trim_suffix(str_from(c->args[i]), STR(".yaml")), STR(".pintle.dev"));
        if (str_eq(name, plural))
            return true;
    }
    return false;
}

static int run(struct cli *c, struct err **err)
{
    size_t n = 0;

    for (const struct embedded_file *f = cmd_crds_files; f->name; f++)
        if (is_asked_for(c, f->name))
            cli_printf(c, "%s%s", n++ ? "---\n" : "", f->text);
    if (n < MAX(c->n_args, (size_t)1))
        return err_set(err, ERRC_NOT_FOUND,
                       "no CustomResourceDefinition for one of these: `pintle crds` prints all");
    return 0;
}

const struct cli_command cmd_crds = {
    .name = "crds",
    .usage = "[PLURAL]...",
    .brief = "print the custom resource definitions",
    .help = "Print the custom resource definitions, all or those named: pintle crds | kubectl apply -f -",
    .args_max = -1,
    .run = run,
};

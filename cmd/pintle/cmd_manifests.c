/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/limits.h"
#include "pintle/commands.h"
#include "pintle/embedded.h"

#define IMAGE_DEFAULT "pintle:v" PINTLE_VERSION
#define NAME_MAX_ 63 /* a DNS label */

static const struct cli_flag flags[] = {
    { "image", 0, CLI_STRING, IMAGE_DEFAULT, NULL, "container image of the controller", NULL },
    { "include-crds", 0, CLI_BOOL, NULL, NULL, "print the custom resource definitions first", NULL },
    { "namespace", 'n', CLI_STRING, "pintle-system", NULL, "namespace of the controller", NULL },
    { "replicas", 0, CLI_INT, "1", NULL, "controllers; one leads, the others wait", NULL },
    { "simulate", 0, CLI_BOOL, NULL, NULL, "also the account and rights of `pintle simulate`", NULL },
    CLI_FLAGS_END,
};

static bool is_dns_label(struct str s)
{
    if (s.n == 0 || s.n > NAME_MAX_ || s.p[0] == '-' || s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !ascii_is_digit(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

/* It is put between double quotes. */
static bool is_image(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && !strchr("./:@_-", s.p[i]))
            return false;
    return s.n > 0;
}

static void print_filled(struct cli *c, struct str text)
{
    struct str piece;
    bool is_name = false; /* text and names take turns between the @ */

    while (str_split(&text, '@', &piece)) {
        if (!is_name)
            cli_write(c, piece);
        else if (str_eq(piece, STR("NAMESPACE")))
            cli_printf(c, "%s", cli_string(c, "namespace"));
        else if (str_eq(piece, STR("IMAGE")))
            cli_printf(c, "%s", cli_string(c, "image"));
        else
            cli_printf(c, "%lld", (long long)cli_int(c, "replicas"));
        is_name = !is_name;
    }
}

static int run(struct cli *c, struct err **err)
{
    const struct embedded_file *f = cmd_manifests_files;

    if (!is_dns_label(str_from(cli_string(c, "namespace"))))
        return err_set(err, ERRC_INVALID, "--namespace: \"%s\" is not the name of a namespace",
                       cli_string(c, "namespace"));
    if (!is_image(str_from(cli_string(c, "image"))))
        return err_set(err, ERRC_INVALID, "--image: \"%s\" is not the name of an image",
                       cli_string(c, "image"));
    if (cli_int(c, "replicas") < 0 || cli_int(c, "replicas") > INT32_MAX)
        return err_set(err, ERRC_INVALID, "--replicas: from 0 to %d", INT32_MAX);

    if (cli_bool(c, "include-crds"))
        for (const struct embedded_file *crd = cmd_crds_files; crd->name; crd++)
            cli_printf(c, "%s---\n", crd->text);
    print_filled(c, str_from(f[0].text));
    if (cli_bool(c, "simulate")) {
        cli_printf(c, "---\n");
        print_filled(c, str_from(f[1].text));
    }
    return 0;
}

const struct cli_command cmd_manifests = {
    .name = "manifests",
    .brief = "print what installs the controller in a cluster",
    .help = "Print what installs the controller in a cluster: namespace, service account, exactly the rights "
            "it needs,\n"
            "and a Deployment.\n"
            "\n"
            "  pintle manifests --include-crds --image IMAGE | kubectl apply -f -\n",
    .flags = flags,
    .run = run,
};

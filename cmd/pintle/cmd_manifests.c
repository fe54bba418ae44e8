/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "pintle/commands.h"
#include "pintle/embedded.h"
#include "pintle/mirror_flags.h"

#define IMAGE_DEFAULT "pintle:v" PINTLE_VERSION
#define NAME_MAX_ 63 /* a DNS label */

static const struct cli_flag flags[] = {
    { "image", 0, CLI_STRING, IMAGE_DEFAULT, NULL, "container image of the controller", NULL },
    { "include-crds", 0, CLI_BOOL, NULL, NULL, "print the custom resource definitions first", NULL },
    { "mirror", 0, CLI_BOOL, NULL, NULL,
      "keep the archives of Repositories that have spec.mirror on a volume, and serve them in the cluster",
      NULL },
    { "mirror-storage", 0, CLI_STRING, "10Gi", NULL,
      "size of that volume; archives take up to three quarters", NULL },
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
        if (!ascii_is_alnum(s.p[i]) && !ascii_is_one_of(s.p[i], "./:@_-"))
            return false;
    return s.n > 0;
}

static void put_namespace(struct cli *c, struct buf *out)
{
    buf_adds(out, cli_string(c, "namespace"));
}

static void put_image(struct cli *c, struct buf *out)
{
    buf_adds(out, cli_string(c, "image"));
}

static void put_replicas(struct cli *c, struct buf *out)
{
    buf_addf(out, "%lld", (long long)cli_int(c, "replicas"));
}

static void put_storage(struct cli *c, struct buf *out)
{
    buf_adds(out, cli_string(c, "mirror-storage"));
}

/* One process writes to the volume: the old one ends before the new one starts. */
static void put_strategy(struct cli *c, struct buf *out)
{
    if (cli_bool(c, "mirror"))
        buf_adds(out, "  strategy: { type: Recreate }\n");
}

static void put_mirror_args(struct cli *c, struct buf *out)
{
    int64_t size = 0;

    if (!cli_bool(c, "mirror") || !mirror_flags_size(str_from(cli_string(c, "mirror-storage")), &size))
        return;
    buf_addf(out,
             ", \"--mirror-listen=:8879\", \"--mirror-url=http://pintle-mirror.%s.svc:8879\", "
             "\"--mirror-max-size=%lld\"",
             cli_string(c, "namespace"), (long long)(size / 4 * 3));
}

static void put_mirror_port(struct cli *c, struct buf *out)
{
    if (cli_bool(c, "mirror"))
        buf_adds(out, "            - { name: mirror, containerPort: 8879 }\n");
}

static void put_data_volume(struct cli *c, struct buf *out)
{
    buf_adds(out, cli_bool(c, "mirror") ? "        - name: data\n"
                                          "          persistentVolumeClaim: { claimName: pintle-data }\n"
                                        : "        # A cache: it is rebuilt when it is lost.\n"
                                          "        - name: data\n"
                                          "          emptyDir: { sizeLimit: 1Gi }\n");
}

/* What stands between two @ in the files. */
static const struct {
    const char *name;
    void (*put)(struct cli *c, struct buf *out);
} blanks[] = {
    { "NAMESPACE", put_namespace },     { "IMAGE", put_image },
    { "REPLICAS", put_replicas },       { "STORAGE", put_storage },
    { "STRATEGY", put_strategy },       { "MIRROR_ARGS", put_mirror_args },
    { "MIRROR_PORT", put_mirror_port }, { "DATA_VOLUME", put_data_volume },
};

static void fill(struct cli *c, struct str name, struct buf *out)
{
    size_t i = 0;

    while (i < ARRAY_SIZE(blanks) && !str_eq(name, str_from(blanks[i].name)))
        i++;
    assert(i < ARRAY_SIZE(blanks));
    blanks[i].put(c, out);
}

static void print_file(struct cli *c, const char *name)
{
    CLEANUP(buf_done) struct buf out = BUF_INIT(MIB);
    const struct embedded_file *f = cmd_manifests_files;
    struct str text, piece;
    bool is_blank = false; /* text and blanks take turns between the @ */

    while (strcmp(f->name, name) != 0)
        f++;
    text = str_from(f->text);
    while (str_split(&text, '@', &piece)) {
        if (is_blank)
            fill(c, piece, &out);
        else
            buf_addstr(&out, piece);
        is_blank = !is_blank;
    }
    cli_write(c, buf_str(&out));
}

static int check_flags(struct cli *c, struct err **err)
{
    int64_t size;

    if (!is_dns_label(str_from(cli_string(c, "namespace"))))
        return err_set(err, ERRC_INVALID, "--namespace: \"%s\" is not the name of a namespace",
                       cli_string(c, "namespace"));
    if (!is_image(str_from(cli_string(c, "image"))))
        return err_set(err, ERRC_INVALID, "--image: \"%s\" is not the name of an image",
                       cli_string(c, "image"));
    if (cli_int(c, "replicas") < 0 || cli_int(c, "replicas") > INT32_MAX)
        return err_set(err, ERRC_INVALID, "--replicas: from 0 to %d", INT32_MAX);
    if (cli_bool(c, "mirror") && cli_int(c, "replicas") > 1)
        return err_set(err, ERRC_INVALID,
                       "--mirror: the archives are on one controller's volume: --replicas 1");
    if (!mirror_flags_size(str_from(cli_string(c, "mirror-storage")), &size))
        return err_set(err, ERRC_INVALID, "--mirror-storage: \"%s\" is no size such as 10Gi",
                       cli_string(c, "mirror-storage"));
    return 0;
}

static int run(struct cli *c, struct err **err)
{
    int r = check_flags(c, err);

    if (r < 0)
        return r;
    if (cli_bool(c, "include-crds"))
        for (const struct embedded_file *crd = cmd_crds_files; crd->name; crd++)
            cli_printf(c, "%s---\n", crd->text);
    print_file(c, "10-controller.yaml");
    if (cli_bool(c, "mirror")) {
        cli_printf(c, "---\n");
        print_file(c, "20-mirror.yaml");
    }
    if (cli_bool(c, "simulate")) {
        cli_printf(c, "---\n");
        print_file(c, "30-simulate.yaml");
    }
    return 0;
}

const struct cli_command cmd_manifests = {
    .name = "manifests",
    .brief = "print what installs the controller in a cluster",
    .help = "Print what installs the controller in a cluster: namespace, service account, exactly the rights "
            "it needs,\n"
            "and a Deployment; with --mirror a volume for chart archives and a Service that hands them out.\n"
            "\n"
            "  pintle manifests --include-crds --image IMAGE | kubectl apply -f -\n",
    .flags = flags,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* helm verify (pkg/action/verify.go). */
#include "base/limits.h"
#include "pintle/chart_flags.h"
#include "pintle/commands.h"

static const struct cli_flag flags[] = {
    { "keyring", 0, CLI_STRING, NULL, NULL, "keyring containing public keys", NULL },
    CLI_FLAGS_END,
};

static int run(struct cli *c, struct err **err)
{
    CLEANUP(arena_free) struct arena *a = arena_new(64 * MIB);
    CLEANUP(free_ptr) char *prov = xasprintf("%s.prov", c->args[0]);
    struct provenance_verified v = { 0 };
    int r = provenance_verify_file(a, c->args[0], prov, chart_flags_keyring(c, a), &v, err);

    if (r == 0)
        chart_flags_print_signer(c, &v);
    return r;
}

const struct cli_command cmd_verify = {
    .name = "verify",
    .usage = "PATH",
    .brief = "verify that a chart at the given path has been signed and is valid",
    .help =
        "Checks a chart archive against the provenance file beside it (PATH.prov): its OpenPGP signature "
        "must "
        "have been\nmade by a key of the keyring ($GNUPGHOME or ~/.gnupg, pubring.gpg), and the digest that "
        "it signs must be\nthe archive's. `gpg --export >FILE` makes a keyring; armored ones are read, too.",
    .args_min = 1,
    .args_max = 1,
    .flags = flags,
    .run = run,
};

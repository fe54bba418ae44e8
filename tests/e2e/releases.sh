#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Releases from the first object to the last: install, upgrade, a version that was published again, removal.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

chart good 1.0.0
pack good 1.0.0
sed -i 's/1.0.0/1.1.0/' "$work/src/good/Chart.yaml"
pack good 1.1.0
dev_start
dev_serve "$work/repo"
namespaces team
repository main "$url" '{ name: good, versions: ["1.0.0", "^1.0"] }'
values common '{ json: { text: common } }'
release early good 1.0.0
release late good 1.0.0 ', values: [common]'
says release team/early True Deployed 'good 1.0.0 installed as team/early revision 1'
says release team/late True Deployed 'good 1.0.0 installed as team/late revision 1'
tells release team/early Deployed 'installed'

# ---- upgrade -------------------------------------------------------------------------------------------------------------
release early good ^1.0 ', inlineValues: { text: changed }'
says release team/early True Deployed 'good 1.1.0 upgraded as team/early revision 2; values changed: text'
check_has "the upgrade reaches the object" "$(get configmap team/early-map -o yaml)" 'text: changed'
check_has "revision 1 is superseded" "$("$pintle" get secrets -n team -l name=early,status=superseded -o name)" early.v1
values common '{ json: { text: other } }'
says release team/late True Deployed 'revision 2; values changed: text'

# ---- a version with other bytes ------------------------------------------------------------------------------------------
says chart default/good-main True Synced '1.0.0, 1.1.0'
sed -i 's/1.1.0/1.0.0/' "$work/src/good/Chart.yaml"
printf 'text: republished\n' >"$work/src/good/values.yaml"
pack good 1.0.0
refuses chart default/good-main DigestChanged 'was published again with other bytes'
says release team/early True Deployed 'good 1.1.0'

# ---- removal -------------------------------------------------------------------------------------------------------------
delete_release early late
gone release team/early
gone configmap team/early-map
gone secret team/sh.helm.release.v1.early.v2
gone configmap team/late-map
finish

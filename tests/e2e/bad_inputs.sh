#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What can be wrong with the objects themselves: each says so by reason, message and one event, writes nothing, disturbs
# nothing else, and heals by itself when what was wrong is mended.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh

chart good 1.0.0 && pack good 1.0.0
sed -i 's/1.0.0/1.1.0/' "$work/src/good/Chart.yaml" && pack good 1.1.0
chart broken 1.0.0
printf 'apiVersion: v1\nkind: {{ .Values.one.such.thing }}\n' >"$work/src/broken/templates/bad.yaml" && pack broken 1.0.0
chart strict 1.0.0
printf '{"properties": {"text": {"type": "integer"}}}' >"$work/src/strict/values.schema.json" && pack strict 1.0.0
chart kinds 1.0.0
mkdir "$work/src/kinds/crds"
cat >"$work/src/kinds/crds/a.yaml" <<'T'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Thing, plural: things, singular: thing, listKind: ThingList }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
T
printf 'apiVersion: example.com/v1\nkind: Thing\nmetadata: { name: "{{ .Release.Name }}" }\n' >"$work/src/kinds/templates/thing.yaml" && pack kinds 1.0.0
chart kindless 1.0.0
cp "$work/src/kinds/templates/thing.yaml" "$work/src/kindless/templates/" && pack kindless 1.0.0
dev_start
dev_serve "$work/repo"
namespaces team other
account() { printf 'apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: %s, namespace: team }\n' "$1" | apply; }

# ---- names and versions ----------------------------------------------------------------------------------------------------
release early good 1.0.0
refuses release team/early RepositoryNotFound 'there is no Repository main'
cluster_ours Chart orphan '{ name: good, repository: main }'
refuses chart default/orphan RepositoryNotFound 'there is no Repository main'
repository main "$url" '{ name: good, versions: ["1.0.0", "^1.0"] }, { name: broken }, { name: strict }, { name: kinds }, { name: kindless }'
says repository default/main True Synced '5 charts, 6 versions'
says release team/early True Deployed 'good 1.0.0 installed'
says chart default/orphan True Synced '1.1.0'
repository nowhere http://127.0.0.1:1 ''
refuses repository default/nowhere Unavailable 'is not a valid chart repository or cannot be reached'
repository nowhere "$url" ''
says repository default/nowhere True Synced '5 charts'
cluster_ours Chart nine '{ name: good, repository: main, versions: ["9.x"] }'
refuses chart default/nine VersionNotFound 'satisfies "9.x"; the newest are 1.1.0, 1.0.0'
release nine good 9.x
refuses release team/nine ChartNotFound 'no version of chart good in Repository main satisfies "9.x"'
cluster_ours Chart nonsense '{ name: good, repository: main, versions: ["one.two"] }'
refuses chart default/nonsense VersionNotFound 'one.two'
cluster_ours Chart absent '{ name: absent, repository: main }'
refuses chart default/absent ChartNotFound 'there is no chart absent in the index of Repository main'
release absent absent 1.0.0
refuses release team/absent ChartNotFound 'there is no chart absent in the index'
chart absent 1.0.0 && pack absent 1.0.0
sed -i 's/1.1.0/9.1.0/' "$work/src/good/Chart.yaml" && pack good 9.1.0
says chart default/nine True Synced 9.1.0
says release team/nine True Deployed 'good 9.1.0 installed'
says release team/absent True Deployed 'absent 1.0.0 installed'

# ---- values, templates, schemas --------------------------------------------------------------------------------------------
release novalues good 1.0.0 ', values: [later]'
refuses release team/novalues ValuesNotFound 'Values team/later'
values a '{ refs: { x: b } }'
values b '{ refs: { y: a } }'
refuses values team/a ValuesInvalid 'a -> b -> a: the refs form a cycle'
release cycle good 1.0.0 ', values: [a]'
refuses release team/cycle ValuesInvalid 'the refs form a cycle'
release template broken 1.0.0
refuses release team/template TemplateFailed \
    'broken/templates/bad.yaml:2:16 executing "broken/templates/bad.yaml" at <.Values.one.such.thing>: nil pointer evaluating interface {}.such'
release schema strict 1.0.0
refuses release team/schema SchemaViolated "at '/text': got string, want integer"
values later '{ json: { text: found } }'
values b '{ json: { text: b } }'
release template broken 1.0.0 ', inlineValues: { one: { such: { thing: } } }'
release schema strict 1.0.0 ', inlineValues: { text: 5 }'
says release team/novalues True Deployed installed
says release team/cycle True Deployed installed
says values team/a True Resolved usable
says release team/schema True Deployed installed
refuses release team/template TemplateFailed 'broken/templates/bad.yaml: an object without kind'
release template broken 1.0.0 ', inlineValues: { one: { such: { thing: "ConfigMap\nmetadata: { name: mended }" } } }'
says release team/template True Deployed installed

# ---- objects of others -----------------------------------------------------------------------------------------------------
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: kinds-map, namespace: team }\n' | apply
release kinds kinds 1.0.0
refuses release team/kinds OwnershipConflict 'ConfigMap "kinds-map" in namespace "team" exists and cannot be imported'
"$pintle" get customresourcedefinitions things.example.com >/dev/null 2>&1 && fail "no CRD before what is refused" || pass
release kindless kindless 1.0.0
says release team/kindless False TemplateFailed 'no matches for kind "Thing" in version "example.com/v1"'
delete /api/v1/namespaces/team/configmaps/kinds-map
says release team/kinds True Deployed installed
says release team/kindless True Deployed installed

# ---- rights and namespaces -------------------------------------------------------------------------------------------------
release away good 1.0.0 ', namespace: other'
refuses release team/away NamespaceNotAllowed 'only with a Config that lists it'
ours Config team/weak '{ serviceAccountName: weak }'
refuses config team/weak AccountNotFound 'serviceaccounts "weak" not found'
release powerless good 1.0.0 ', config: weak'
refuses release team/powerless AccountNotFound 'ServiceAccount team/weak'
account weak
refuses release team/powerless Forbidden 'secrets'
release noconfig good 1.0.0 ', config: far'
refuses release team/noconfig ConfigNotFound 'Config team/far'
there configmap other away-map && fail "nothing is written into a namespace that is not allowed" || pass
there configmap team '(powerless|noconfig)-map' && fail "a release without rights leaves no objects" || pass
ours Config team/far '{ namespace: { allowed: [team, other] } }'
says release team/noconfig True Deployed installed
release away good 1.0.0 ', namespace: other, config: far'
says release team/away True Deployed 'installed as other/away'
cat <<'Y' | apply
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: weak, namespace: team }
rules: [{ apiGroups: [""], resources: [secrets, configmaps], verbs: ["*"] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: weak, namespace: team }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: weak }
subjects: [{ kind: ServiceAccount, name: weak, namespace: team }]
Y
says release team/powerless True Deployed installed
says release team/early True Deployed 'revision 1'
finish

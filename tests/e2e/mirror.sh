#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A mirror between our own client and server: what a registry has comes with its manifest, versions go and come, a limit holds.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
serve() { # NAME DIR FLAGS…: sets host
    local name=$1
    shift
    launch "$name" '^serving' "$pintle" mirror serve "$@" --address 127.0.0.1:0
    host=$(sed -n 's,.* at http://,,p' "$work/$name.out")
}
manifest() { # HOST PATH REFERENCE: its bytes
    python3 -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen("http://%s/v2/%s/manifests/%s" % tuple(sys.argv[1:])).read())' "$@"
}

for version in 1.0.0 1.1.0 1.2.0+build.5; do
    chart web $version
    seq 1 3000 >"$work/src/web/README.md"
    pack web $version
done
chart db 1.0.0
pack db 1.0.0

# ---- from registry to registry: the manifest is the same ------------------------------------------------------------------
echo -n tok-push >"$work/token"
serve upstream "$work/upstream" --push-token-file "$work/token"
upstream=$host
for file in "$work"/repo/*.tgz; do
    check_status "push $(basename "$file")" 0 "$pintle" push "$file" "oci://$upstream/charts" --plain-http --username x --password tok-push
done
out=$("$pintle" mirror sync "$work/mirror" "oci://$upstream/charts" 'web@*' db --latest 0 --plain-http 2>&1)
check_has "all versions come" "$out" "4 added, 0 kept, 0 replaced, 0 refused, 0 failed"
serve mirror "$work/mirror"
mirror=$host
for version in 1.0.0 1.1.0 1.2.0_build.5; do
    check_eq "the manifest of web $version is its own" "$(manifest "$mirror" web $version | sha256sum)" \
        "$(manifest "$upstream" charts/web $version | sha256sum)"
done
digest=sha256:$(manifest "$upstream" charts/web 1.1.0 | sha256sum | cut -d ' ' -f 1)
mkdir "$work/got"
check_status "a pinned digest is good for the mirror" 0 "$pintle" pull "oci://$mirror/web@$digest" --plain-http -d "$work/got"
check_eq "and brings the same bytes" "$(cat "$work"/got/*.tgz | sha256sum)" "$(sha256sum <"$work/repo/web-1.1.0.tgz")"
out=$("$pintle" mirror sync "$work/mirror" "oci://$upstream/charts" 'web@*' db --latest 0 --plain-http 2>&1)
check_has "again: all is kept" "$out" "0 added, 4 kept"

# The same charts from a chart repository first: the registry's manifest is good beside the mirror's own.
"$pintle" repo index "$work/repo"
serve www "$work/repo"
"$pintle" mirror sync "$work/both" "http://$host" --latest 0 >/dev/null
check_has "what is kept takes the registry's manifest" "$("$pintle" mirror sync "$work/both" "oci://$upstream/charts" 'web@*' --latest 0 --plain-http 2>&1)" \
    "0 added, 3 kept"
serve both "$work/both"
check_eq "under its digest" "$(manifest "$host" web "$digest" | sha256sum)" "$(manifest "$upstream" charts/web 1.1.0 | sha256sum)"
check_status "no prune takes it" 0 "$pintle" mirror prune "$work/both" --min-age 0s
check_eq "it is still there" "$(manifest "$host" web "$digest" | sha256sum)" "$(manifest "$upstream" charts/web 1.1.0 | sha256sum)"
check_status "the mirror is whole" 0 "$pintle" mirror verify "$work/both"

# ---- versions go --------------------------------------------------------------------------------------------------------------
before=$(du -sb "$work/mirror/objects" | cut -f 1)
out=$("$pintle" mirror sync "$work/mirror" "oci://$upstream/charts" web --plain-http --prune 2>&1)
check_has "a sync with --prune removes what it does not want" "$out" "0 added, 1 kept, 0 replaced, 0 refused, 0 failed, 3 removed"
check_eq "young bytes stay" "$(du -sb "$work/mirror/objects" | cut -f 1)" "$before"
check_status "until they are old" 0 "$pintle" mirror prune "$work/mirror" --min-age 0s
check_eq "then the room is free" "$(($(du -sb "$work/mirror/objects" | cut -f 1) < before))" 1
check_eq "one version is left" "$(find "$work/mirror/charts" -name '@*' -printf '%f\n')" @1.2.0_build.5
check_status "it is whole" 0 "$pintle" mirror verify "$work/mirror"
check_status "and comes" 0 "$pintle" pull "oci://$mirror/web" --plain-http -d "$work/got" --version 1.2.0+build.5
check_eq "with its bytes" "$(sum "$work/got/web-1.2.0+build.5.tgz")" "$(sum "$work/repo/web-1.2.0+build.5.tgz")"
out=$("$pintle" mirror sync "$work/mirror" "oci://$upstream/charts" web none --plain-http --prune 2>&1)
check_has "nothing goes when something failed" "$out" "nothing is removed: not all that is wanted could be had"
check_status "remove of a version" 0 "$pintle" mirror remove "$work/mirror" web 1.2.0+build.5
check_status "that is not there" 1 "$pintle" mirror remove "$work/mirror" web 1.2.0+build.5
check_eq "the chart is gone" "$("$pintle" mirror remove "$work/mirror" web 2>&1)" "Error: the mirror has no web"
check_status "what went may come again" 0 "$pintle" mirror sync "$work/mirror" "oci://$upstream/charts" 'web@*' --latest 0 --plain-http
check_status "and is whole" 0 "$pintle" mirror verify "$work/mirror"

# ---- published again ----------------------------------------------------------------------------------------------------------
echo changed >"$work/src/web/README.md"
chart web 1.1.0
pack web 1.1.0
"$pintle" repo index "$work/repo"
"$pintle" mirror sync "$work/both" "http://$(sed -n 's,.* at http://,,p' "$work/www.out")" web@1.1.0 >"$work/again.out" 2>&1
check_eq "other bytes are refused" "$?" 1
check_has "by both digests" "$(cat "$work/again.out")" "until their digest is accepted: sha256:$(sum "$work/repo/web-1.1.0.tgz")"
check_status "the old ones stay" 0 "$pintle" mirror verify "$work/both"

# ---- what is pushed: MIRROR_BLOB_MAX, MIRROR_MANIFEST_MAX, MIRROR_UPLOADS_MAX, one below, at them, one above --------------------------------------------------
serve limits "$work/limits" --push-token-file "$work/token"
limits() {
    python3 - "$host" <<'P'
import hashlib, http.client, json, sys
host, port = sys.argv[1].split(":")
def ask(method, path, body=None):
    c = http.client.HTTPConnection(host, int(port), timeout=60)
    try:
        c.request(method, path, body, {"Authorization": "Bearer tok-push"})
        r = c.getresponse()
        r.read()
        return r.status, r.getheader("Location")
    except (BrokenPipeError, ConnectionResetError):  # refused before all was sent
        return 413, None
    finally:
        c.close()
def digest(b):
    return "sha256:" + hashlib.sha256(b).hexdigest()
def blob(n):
    b = bytes(n)
    return ask("POST", "/v2/x/blobs/uploads/?digest=" + digest(b), b)[0]
def chunks(*sizes):
    where = ask("POST", "/v2/x/blobs/uploads/")[1]
    status = [ask("PATCH", where, bytes(n))[0] for n in sizes]
    ask("DELETE", where)
    return status
def manifest(n):
    m = {"schemaVersion": 2, "config": {"mediaType": "application/x", "digest": digest(b"{}"), "size": 2}, "layers": [], "x": ""}
    m["x"] = "x" * (n - len(json.dumps(m)))
    return ask("PUT", "/v2/x/manifests/t%d" % n, json.dumps(m))[0]
mib = 1 << 20
ask("POST", "/v2/x/blobs/uploads/?digest=" + digest(b"{}"), b"{}")
print("blob", *[blob(64 * mib + k) for k in (-1, 0, 1)])
print("chunks", *chunks(64 * mib - 1, 1), *chunks(64 * mib - 1, 2))
print("manifest", *[manifest(4 * mib + k) for k in (-1, 0, 1)])
print("uploads", *sorted({(i, ask("POST", "/v2/x/blobs/uploads/")[0]) for i in range(1, 258)})[-3:])
P
}
check_eq "limits" "$(limits)" "blob 201 201 413
chunks 202 202 202 413
manifest 201 201 413
uploads (255, 202) (256, 202) (257, 429)"
finish

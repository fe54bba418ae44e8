#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the API server takes from one client, one below the limit, at it, one above: API_BODY_MAX, API_CONNECTIONS_MAX; and what `apply` reads:
# FS_TREE_DEPTH_MAX.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/check.sh
. tests/lib/dev.sh
launch apiserver 'KUBECONFIG=' "$pintle" apiserver --data "$work/data" --kubeconfig "$KUBECONFIG"

check_eq "bodies and connections" "$(python3 - "$KUBECONFIG" <<'P'
import base64, http.client, json, re, resource, socket, ssl, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
text = open(sys.argv[1]).read()
host, port = re.search(r"server: https://([^:]+):(\d+)", text).groups()
token = re.search(r"token: (\S+)", text).group(1)
trust = ssl.create_default_context(cadata=base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text).group(1)).decode())
def ask(method, path, body=None):
    c = http.client.HTTPSConnection(host, int(port), timeout=60, context=trust)
    try:
        c.request(method, path, body, {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
        return c.getresponse().status
    except (BrokenPipeError, ConnectionResetError, ssl.SSLError):  # refused before all was sent
        return 413
    finally:
        c.close()
def body(n):
    text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c%d" % n}})
    return ask("POST", "/api/v1/namespaces/default/configmaps", text + " " * (n - len(text)))
print(*[body((3 << 20) + k) for k in (-1, 0, 1)])
idle = [socket.create_connection((host, int(port))) for _ in range(998)]
got = [ask("GET", "/api/v1/namespaces/default")]
for _ in (0, 1):
    idle.append(socket.create_connection((host, int(port))))
    got.append(ask("GET", "/api/v1/namespaces/default"))
print(*got)
P
)" "201 201 413
200 200 429"

tree=$work/tree
mkdir "$tree"
for depth in 63 64 65; do
    deepest=$tree$(printf '/d%.0s' $(seq "$depth"))
    mkdir -p "$deepest"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: at%s }\n' "$depth" >"$deepest/a.yaml"
    "$pintle" apply -R -f "$tree" >"$work/apply.out" 2>&1
    check_eq "folders $depth deep: exit status" "$?" "$((depth > 64))"
done
check_has "folders 65 deep" "$(cat "$work/apply.out")" "folders are nested too deeply"
finish

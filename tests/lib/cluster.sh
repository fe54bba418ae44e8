# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A throw-away control plane of the real programs in $PEERS, on 127.0.0.1: etcd, kube-apiserver and, when asked for,
# kube-controller-manager. No scheduler, no kubelet: objects are real, Pods never run. RBAC is on.
#
#   cluster_start DIR [controllers]   sets KUBECONFIG; DIR/token.NAME for `cluster_account`
#   cluster_stop
cluster_dir=
cluster_pids=()

cluster_port() { # a free port below the range of outgoing connections
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
}

cluster_launch() { # NAME ARGS…
    local name=$1
    shift
    "$PEERS/$name" "$@" >"$cluster_dir/$name.log" 2>&1 </dev/null &
    cluster_pids+=($!)
}

cluster_wait() { # COMMAND…
    wait_for 90 "$@" || { tail -n 15 "$cluster_dir"/*.log >&2; return 1; }
}

cluster_kubeconfig() { # FILE TOKEN
    cat >"$1" <<END
apiVersion: v1
kind: Config
clusters: [{ name: real, cluster: { server: "https://127.0.0.1:$cluster_api_port", certificate-authority: $cluster_dir/certs/apiserver.crt } }]
users: [{ name: user, user: { token: "$2" } }]
contexts: [{ name: real, context: { cluster: real, user: user, namespace: default } }]
current-context: real
END
    chmod 600 "$1"
}

cluster_start() {
    local etcd_port peer_port token admission=
    cluster_dir=$1
    mkdir -p "$cluster_dir/cache"
    etcd_port=$(cluster_port)
    peer_port=$(cluster_port)
    cluster_api_port=$(cluster_port)
    token=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
    (umask 077; printf '%s,admin,admin,"system:masters"\n' "$token" >"$cluster_dir/tokens.csv")
    openssl ecparam -name prime256v1 -genkey -noout -out "$cluster_dir/sa.key"
    cluster_launch etcd --name real --data-dir "$cluster_dir/etcd" --unsafe-no-fsync \
        --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-cluster "real=http://127.0.0.1:$peer_port" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer_port"
    cluster_wait grep -q 'serving client traffic insecurely' "$cluster_dir/etcd.log" || return 1
    [ "${2:-}" = controllers ] || admission=--disable-admission-plugins=ServiceAccount
    cluster_launch kube-apiserver --etcd-servers "http://127.0.0.1:$etcd_port" --bind-address 127.0.0.1 \
        --advertise-address 127.0.0.1 --secure-port "$cluster_api_port" --endpoint-reconciler-type none \
        --cert-dir "$cluster_dir/certs" --service-cluster-ip-range 10.96.0.0/16 --allow-privileged \
        --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$cluster_dir/sa.key" \
        --service-account-signing-key-file "$cluster_dir/sa.key" --authorization-mode RBAC \
        --token-auth-file "$cluster_dir/tokens.csv" $admission ${APISERVER_FLAGS:-}
    cluster_wait test -s "$cluster_dir/certs/apiserver.crt" || return 1
    cluster_kubeconfig "$cluster_dir/kubeconfig" "$token"
    export KUBECONFIG=$cluster_dir/kubeconfig KUBECACHEDIR=$cluster_dir/cache
    cluster_wait "$KUBECTL" get --raw /readyz || return 1
    [ "${2:-}" = controllers ] || return 0
    cluster_launch kube-controller-manager --kubeconfig "$cluster_dir/kubeconfig" --secure-port 0 --leader-elect=false \
        --service-account-private-key-file "$cluster_dir/sa.key" --root-ca-file "$cluster_dir/certs/apiserver.crt"
    cluster_wait "$KUBECTL" -n default get serviceaccount default
}

# cluster_account NAMESPACE NAME FILE: a kubeconfig that is this service account
cluster_account() {
    cluster_kubeconfig "$3" "$("$KUBECTL" -n "$1" create token "$2" --duration 2h)"
}

cluster_stop() {
    local pid
    for pid in "${cluster_pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${cluster_pids[@]}"; do wait "$pid" 2>/dev/null; done
    cluster_pids=()
}

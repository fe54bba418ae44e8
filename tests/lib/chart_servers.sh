# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Servers for tests that fetch charts, all on 127.0.0.1. `. tests/lib/chart_servers.sh` from the top of the tree.
#
#   servers_start NAME ARGS…      tests/lib/chart_server.py; its port is in ${port[NAME]}
#   registry_start NAME [YAML]    Debian's docker-registry with this `auth:` and `http: tls:` text; ${port[NAME]}
#   servers_certificates DIR      ca.crt, server.crt, server.key (127.0.0.1, localhost), client.crt, client.key
#   servers_certificate DIR NAME SAN START END   one more, signed by DIR/ca.crt; times as YYYYMMDDHHMMSSZ
#   servers_stop
declare -A port
servers_pids=()
servers_dir=

servers_start() {
    local name=$1 fifo
    shift
    servers_dir=${servers_dir:-$(mktemp -d)}
    fifo=$servers_dir/$name.in
    mkfifo "$fifo"
    python3 tests/lib/chart_server.py "$@" <"$fifo" >"$servers_dir/$name.port" 2>"$servers_dir/$name.err" &
    servers_pids+=($!)
    exec {servers_fd}>"$fifo" # held open until we end
    wait_for 20 test -s "$servers_dir/$name.port" || { cat "$servers_dir/$name.err" >&2; return 1; }
    port[$name]=$(cat "$servers_dir/$name.port")
}

registry_start() {
    local name=$1 n
    servers_dir=${servers_dir:-$(mktemp -d)}
    while n=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$n") 2>/dev/null; do :; done
    cat >"$servers_dir/$name.yml" <<END
version: 0.1
log: { level: warn, accesslog: { disabled: true } }
storage: { filesystem: { rootdirectory: "$servers_dir/$name" } }
http:
  addr: 127.0.0.1:$n
${2:-}
END
    docker-registry serve "$servers_dir/$name.yml" >"$servers_dir/$name.log" 2>&1 </dev/null &
    servers_pids+=($!)
    port[$name]=$n
    wait_for 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$n" || { cat "$servers_dir/$name.log" >&2; return 1; }
}

servers_certificates() {
    local dir=$1 who
    mkdir -p "$dir"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=tests" -keyout "$dir/ca.key" -out "$dir/ca.crt" 2>/dev/null
    for who in server client; do
        openssl req -newkey rsa:2048 -nodes -subj "/CN=$who" -keyout "$dir/$who.key" -out "$dir/$who.csr" 2>/dev/null
        openssl x509 -req -days 2 -in "$dir/$who.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial \
            -extfile <(echo "subjectAltName=IP:127.0.0.1,DNS:localhost") -out "$dir/$who.crt" 2>/dev/null
    done
}

servers_certificate() {
    local dir=$1 name=$2
    mkdir -p "$dir/new"
    : >"$dir/index.txt"
    [ -s "$dir/serial" ] || echo 1000 >"$dir/serial"
    printf '[ca]\ndefault_ca = it\n[it]\nnew_certs_dir = %s/new\ndatabase = %s/index.txt\nserial = %s/serial\ndefault_md = sha256\npolicy = any\n[any]\ncommonName = supplied\n' \
        "$dir" "$dir" "$dir" >"$dir/ca.cnf"
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout "$dir/$name.key" -out "$dir/$name.csr" 2>/dev/null
    openssl ca -batch -notext -config "$dir/ca.cnf" -cert "$dir/ca.crt" -keyfile "$dir/ca.key" -in "$dir/$name.csr" \
        -extfile <(echo "subjectAltName=$3") -startdate "$4" -enddate "$5" -out "$dir/$name.crt" 2>"$dir/ca.log"
}

servers_stop() {
    local pid
    for pid in "${servers_pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${servers_pids[@]}"; do wait "$pid" 2>/dev/null; done
    servers_pids=()
    [ -z "$servers_dir" ] || rm -rf "$servers_dir"
}

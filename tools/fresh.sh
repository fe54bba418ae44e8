#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make fresh: proof that nothing but this repository is needed. Makes a bare Debian 12 root, clones HEAD into it and
# runs there `make quickstart` and `make test`, which install what they need. As root, with debootstrap.
#
#   TARGETS="quickstart test"   what to run there
#   FRESH_CACHE=DIR             the bare root and downloaded packages (default: $XDG_CACHE_HOME/pintle/fresh)
#   KEEP=1                      leave the root, print where it is
#
# Package mirrors, name servers and proxies are the host's, taken from its own configuration.
set -eu
cd "$(dirname "$0")/.."
here=$PWD
suite=bookworm
cache=${FRESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pintle/fresh}
targets=${TARGETS:-quickstart test}

die() { echo "fresh: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || die "only root may make and enter a root directory"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"

# The host's mirror when it is a Debian, else the one that debootstrap knows.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +(https?:[^ ]+\/debian)\/?( .*)?$/\3/p' | head -n 1)

mkdir -p "$cache/archives"
if [ ! -s "$cache/$suite.tar" ]; then
    echo "fresh: making a bare $suite"
    bare=$(mktemp -d "${TMPDIR:-/var/tmp}/pintle-bare.XXXXXX")
    debootstrap --variant=minbase "$suite" "$bare" ${mirror:+"$mirror"} >"$cache/debootstrap.log" 2>&1 ||
        { tail -n 20 "$cache/debootstrap.log" >&2; rm -rf "$bare"; die "debootstrap failed"; }
    tar -C "$bare" --one-file-system -cf "$cache/$suite.tar.new" .
    mv "$cache/$suite.tar.new" "$cache/$suite.tar"
    rm -rf "$bare"
fi

root=$(mktemp -d "${TMPDIR:-/var/tmp}/pintle-fresh.XXXXXX")
cleanup() {
    if [ -n "${KEEP:-}" ]; then
        echo "fresh: the root is $root"
    else
        rm -rf --one-file-system "$root"
    fi
}
trap cleanup EXIT
tar -C "$root" -xf "$cache/$suite.tar"

# How the host reaches packages.
for path in /etc/resolv.conf /etc/hosts /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/apt/keyrings /etc/apt/trusted.gpg \
    /etc/apt/trusted.gpg.d; do
    if [ -e "$path" ]; then rm -rf "${root:?}$path" && cp -rL "$path" "$root$path"; fi
done
if [ -e /etc/apt/sources.list.d/debian.sources ]; then
    cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/"
    rm -f "$root/etc/apt/sources.list"
elif grep -qs "$suite" /etc/apt/sources.list; then
    cp /etc/apt/sources.list "$root/etc/apt/sources.list"
fi
for path in $(grep -lsiE 'acquire::|proxy' /etc/apt/apt.conf /etc/apt/apt.conf.d/* || true); do
    case $path in *docker*) ;; *) cp "$path" "$root/etc/apt/apt.conf.d/" ;; esac
done
echo 'APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/00keep"
git bundle create -q "$root/pintle.bundle" HEAD

cat >"$root/run.sh" <<SCRIPT
set -eu
export DEBIAN_FRONTEND=noninteractive HOME=/root LANG=C.UTF-8
step() { printf '\n== %s\n' "\$*"; }
step "apt-get install git make"
apt-get update -qq
apt-get install -y -qq --no-install-recommends git make ca-certificates >/dev/null
git config --global advice.detachedHead false
git clone -q /pintle.bundle /src/pintle
cd /src/pintle
for target in $targets; do
    step "make \$target"
    start=\$(date +%s)
    make \$target
    echo "make \$target: exit 0 after \$((\$(date +%s) - start)) s"
done
SCRIPT

# Its own mounts and processes: both end with it.
export root cache
status=0
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" root="$root" cache="$cache" \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${no_proxy:+no_proxy="$no_proxy"} \
    unshare --mount --pid --fork --kill-child bash -c '
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/dev/shm"
        mount --bind "$cache/archives" "$root/var/cache/apt/archives"
        exec chroot "$root" bash /run.sh' || status=$?
cd "$here"
[ "$status" -eq 0 ] || die "it ended with status $status"
echo "fresh: $targets: all exit 0"

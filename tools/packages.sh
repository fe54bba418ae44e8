#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/packages.sh build|test|…: makes sure that the Debian packages of these sections of packages.txt, and of the
# sections before them, are installed. Installs with apt when it may; else prints the list and fails.
set -eu
cd "$(dirname "$0")/.."

[ $# -eq 1 ] || { echo "usage: tools/packages.sh SECTION" >&2; exit 2; }
wanted=()
found=
while read -r line; do
    case $line in
    "# section: "*)
        [ -z "$found" ] || break
        [ "${line#\# section: }" != "$1" ] || found=1
        ;;
    "#"* | "") ;;
    *) read -ra words <<<"$line"; wanted+=("${words[@]}") ;;
    esac
done <packages.txt
[ -n "$found" ] || { echo "packages.txt has no section $1" >&2; exit 2; }

command -v dpkg-query >/dev/null || {
    echo "This is no Debian or Ubuntu. What corresponds to these packages is needed: ${wanted[*]}" >&2
    exit 0
}
missing=()
while read -r state name rest; do
    case $state in
    installed) ;;
    dpkg-query:) missing+=("${rest##* }") ;; # "dpkg-query: no packages found matching NAME"
    *) missing+=("$name") ;;
    esac
done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>&1)
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        sudo=sudo
    else
        echo "These packages are missing; as root run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
fi
echo "installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
install() { $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }
install 2>/dev/null || { $sudo apt-get update -qq && install; }

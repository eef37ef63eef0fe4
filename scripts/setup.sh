#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs the Debian packages that are missing: setup.sh [--yes] PURPOSE...  (packages.sh has the list)
# Shows them and asks first, unless --yes or CI=true. Starts no service and enables none.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

yes=0
[ "${CI:-}" != true ] || yes=1
purposes=()
for arg; do
	case $arg in
	--yes | -y) yes=1 ;;
	-h | --help)
		sed -n '3,4s/^# //p' "$0"
		exit 0
		;;
	-*)
		echo "setup.sh: no option '$arg'; see setup.sh --help" >&2
		exit 2
		;;
	*) purposes+=("$arg") ;;
	esac
done
[ ${#purposes[@]} -gt 0 ] || purposes=(build run test)

names=$(xsf_packages "${purposes[@]}")
missing=()
for name in $names; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || true)
	[ "$status" = installed ] || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Missing Debian packages: ${missing[*]}"
if [ "$(id -u)" != 0 ]; then
	echo "setup.sh: installing needs root: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
	exit 1
fi
if [ $yes = 0 ]; then
	read -r -p "Install them with apt-get, without starting services? [y/N] " answer || answer=n
	case $answer in
	y | Y | yes) ;;
	*)
		echo "setup.sh: not installed: ${missing[*]}" >&2
		exit 1
		;;
	esac
fi

installed() { dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort; }
before=$(installed)

# Packages with a daemon start it when they are installed, unless this file says no.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi

export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120)
if ! "${install[@]}" -s "${missing[@]}" >/dev/null 2>&1; then
	apt-get update -q -o DPkg::Lock::Timeout=120
fi
# Lists older than the archive name versions that are gone: fresh ones, once, then again.
if ! "${install[@]}" "${missing[@]}"; then
	apt-get update -q -o DPkg::Lock::Timeout=120
	"${install[@]}" "${missing[@]}"
fi

# Nor shall they start at the next boot: units of the packages that came with this run, dependencies too.
command -v systemctl >/dev/null || exit 0
off=()
for name in $(comm -13 <(echo "$before") <(installed)); do
	for unit in $(dpkg -L "$name" |
		sed -nE 's#^(/usr)?/lib/systemd/system/([^/@]+\.(service|socket|timer|path))$#\2#p'); do
		[ "$(systemctl is-enabled "$unit" 2>/dev/null)" = enabled ] || continue
		systemctl disable --quiet "$unit" && off+=("$unit")
	done
done
[ ${#off[@]} = 0 ] || echo "Not enabled for the next boot (systemctl enable does it): ${off[*]}"

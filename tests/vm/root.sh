#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# root.sh ROOT MODULES [TEST...]: makes the directory ROOT, which becomes the test kernel's file system:
# tests/vm/init, the tools that the tests use with their libraries, the modules named below from the
# directory MODULES, and /xsf, laid out as this repository is, so that tests find their files.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/../.."

readonly TOOLS="bash ip tc bpftool ethtool nsenter unshare mount sysctl"
readonly MORE_TOOLS="clang curl promtool socat tcpdump setpriv capsh ls" # those there are, for tests named
readonly DISPATCHER=/usr/lib/x86_64-linux-gnu/bpf/xdp-dispatcher.o	 # libxdp1's, for load --share
readonly MODULES="veth 8021q macvlan bridge bonding dummy ifb vxlan tun sch_ingress cls_bpf act_bpf"

root=$1 modules=$2
shift 2

die() {
	echo "vmtest: $*" >&2
	exit 1
}

# add_binary FILE [DEST]: a program with the libraries that it needs.
add_binary() {
	local lib dest=${2-/bin/$(basename "$1")}
	install -D "$1" "$root$dest"
	while read -r lib; do
		[[ -e $root$lib ]] || install -D "$lib" "$root$lib"
	done < <(ldd "$1" 2>/dev/null | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }')
}

# add_module NAME: a module after those that it depends on; the order ends up in /modules.
add_module() {
	local file depend
	file=$(find "$modules" -name "$1.ko" -print -quit)
	[[ -n $file ]] || die "no module $1 in $modules"
	grep -qx "$1.ko" "$root/modules" && return
	for depend in $(modinfo -F depends "$file" | tr ',' ' '); do
		add_module "$depend"
	done
	install -D "$file" "$root/lib/modules/$1.ko"
	echo "$1.ko" >>"$root/modules"
}

# The guest's file system: /xsf is laid out as this directory is, so that tests find their files.
build_root() { # TEST...
	local module file tool
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,run,lib64,usr/lib,xsf/build}
	ln -s ../bin "$root/usr/bin"
	ln -s ../bin "$root/usr/sbin"
	ln -s bin "$root/sbin"
	: >"$root/modules"
	for module in $MODULES; do
		add_module "$module"
	done
	install /bin/busybox "$root/bin/busybox"
	install tests/vm/init "$root/init"
	for tool in $TOOLS; do
		file=$(command -v "$tool") || die "no $tool: run scripts/setup.sh build run test"
		add_binary "$file"
	done
	for tool in ${1:+$MORE_TOOLS}; do
		file=$(command -v "$tool") && add_binary "$file"
	done
	install -D -m 644 "$DISPATCHER" "$root$DISPATCHER"
	add_python
	add_binary build/xdp-sflow /xsf/build/xdp-sflow
	add_binary build/tests/tools/verify /xsf/build/tests/tools/verify
	for file in build/tests/progrun/*_test; do
		[[ -x $file ]] && add_binary "$file" "/xsf/$file"
	done
	install -m 644 build/*.bpf.o "$root/xsf/build/"
	for file in build/matrix/clang-*/*.bpf.o; do
		[[ -f $file ]] && install -D -m 644 "$file" "$root/xsf/$file"
	done
	for file in build/tests/netns/*.bpf.o; do
		[[ -f $file ]] && install -D -m 644 "$file" "$root/xsf/$file"
	done
	cp -r tests "$root/xsf/"
	printf '%s\n' "$@" >"$root/xsf/tests/vm/named"
	for file in cases/pcaps cases/expected.tsv lab-captures; do
		[[ -e ../shared/$file ]] || continue
		mkdir -p "$root/shared/$(dirname "$file")"
		cp -r "../shared/$file" "$root/shared/$file"
	done
}

# Debian's python3 with the plain modules of its library.
add_python() {
	local library
	library=$(/usr/bin/python3 -I -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
	add_binary /usr/bin/python3
	tar -C / -c --exclude={test,ensurepip,idlelib,lib2to3,pydoc_data,distutils,config-*} "${library#/}" |
		tar -C "$root" -x
}

ldd /bin/busybox >/dev/null 2>&1 && die "busybox is not static: apt-get install busybox-static"
build_root "$@"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The one list of Debian 12 packages, with what each is for. Sourced by setup.sh; run by hand it prints
# the names for the purposes given: scripts/packages.sh build run
#
# build  to make the command and the programs
# run    what the command and the demo use besides the libraries
# test   peers, tools and compilers of the tests

XSF_PACKAGES='
build	gcc			the command
build	libc6-dev		its headers
build	make			the build
build	pkg-config		finds the libraries
build	clang			the BPF programs
build	linux-libc-dev		kernel headers of the BPF programs
build	bpftool			skeleton of the BPF programs
build	libbpf-dev		loading
build	libxdp-dev		load --share
build	libelf-dev		libbpf needs it
build	zlib1g-dev		libbpf needs it
build	libmicrohttpd-dev	HTTP
build	libpcap-dev		captures
build	libcap-dev		drops privileges
build	libjansson-dev		topologies
build	libncurses-dev		the live table of drops
run	iproute2		ip, tc
run	kmod			modprobe, where the kernel has veth as a module
run	procps			ps, pgrep
run	curl			reads /metrics in the demo
test	libcmocka-dev		unit and program tests
test	python3			senders and comparisons
test	ethtool			offloads of test interfaces
test	nftables		rules that doctor reads
test	tcpdump			independent count of frames
test	tshark			independent decode
test	socat			plain UDP receiver
test	openvswitch-switch	a real sFlow agent
test	pmacct			a second one, and a collector
test	nfdump-sflow		a collector, beside which bench measures
test	prometheus		a real server, and promtool
test	mandoc			checks the man page
test	shellcheck		make check
test	clang-format		make check
test	clang-tidy		make check
test	libclang-rt-14-dev	sanitizers and libFuzzer for clang 14
test	clang-16		the programs load from other compilers too
test	clang-19		likewise
test	qemu-system-x86		kernel 6.1 (make vmtest)
test	busybox-static		its user space
test	cpio			its initramfs
'

# xsf_packages PURPOSE...: names, one a line.
xsf_packages() {
	local purpose
	for purpose; do
		case $purpose in
		build | run | test) ;;
		*)
			echo "packages.sh: no purpose '$purpose' (build, run, test)" >&2
			return 2
			;;
		esac
		awk -v want="$purpose" '$1 == want { print $2 }' <<<"$XSF_PACKAGES"
	done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	[ $# -gt 0 ] || set -- build run test
	xsf_packages "$@"
fi

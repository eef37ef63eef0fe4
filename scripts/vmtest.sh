#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# vmtest.sh [--keep] [TEST...]: boots Debian 12's 6.1 kernel in qemu (no KVM needed) with what is built in
# build/ and runs tests/vm/guest.sh in it, then the test scripts named, e.g. tests/netns/load_pins_test.sh.
# Prints TAP; exit 1 when a test failed. --keep keeps the serial output.
#
# The kernel comes from its package, unpacked under build/vm/ and never installed; VM_KERNEL_DIR=DIR takes
# an unpacked package from elsewhere. VM_SECONDS bounds the guest's time, VM_ACCEL is qemu's accelerator.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/.."

readonly META=linux-image-cloud-amd64
readonly CACHE=build/vm
readonly BOOT_SECONDS=${VM_SECONDS-900} # the whole guest

keep=
if [[ ${1-} == --keep ]]; then
	keep=1
	shift
fi
tests=("$@")

die() {
	echo "vmtest: $*" >&2
	exit 1
}

# Leaves the unpacked kernel package in $kernel and its release in $release.
find_kernel() {
	kernel=${VM_KERNEL_DIR-}
	if [[ -z $kernel ]]; then
		kernel=$CACHE/kernel
		[[ -d $kernel ]] || fetch_kernel
	fi
	release=$(basename "$(echo "$kernel"/lib/modules/*)")
	[[ -f $kernel/boot/vmlinuz-$release ]] || die "no kernel in $kernel: remove that, try again"
}

# The package that the metapackage stands for.
package_name() {
	apt-cache depends "$META" 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }'
}

fetch_kernel() {
	local package
	package=$(package_name)
	if [[ -z $package ]]; then
		apt-get update -qq >&2
		package=$(package_name)
	fi
	[[ -n $package ]] || die "apt knows no $META: is this Debian 12 with its main archive?"
	rm -rf "$CACHE"/deb "$CACHE"/kernel.new
	mkdir -p "$CACHE"/deb
	# The lists may be older than what the archive holds now.
	download "$package" || { apt-get update -qq >&2 && download "$package"; } ||
		die "cannot download $package: check the network and apt's sources, or set VM_KERNEL_DIR"
	dpkg-deb -x "$CACHE"/deb/*.deb "$CACHE"/kernel.new
	mv "$CACHE"/kernel.new "$CACHE"/kernel
	rm -r "$CACHE"/deb
}

download() { # PACKAGE
	(cd "$CACHE"/deb && apt-get download -qq -o APT::Sandbox::User=root "$1" >&2)
}

# Kernel messages go to the first serial port, results to the second.
boot() {
	timeout -k 5 "$BOOT_SECONDS" qemu-system-x86_64 -machine pc,accel="${VM_ACCEL-tcg}" -cpu max \
		-smp 2 -m 2048 -nodefaults -no-user-config -display none -no-reboot -net none \
		-kernel "$kernel/boot/vmlinuz-$release" -initrd "$work/initramfs" \
		-append "console=ttyS0 panic=-1 loglevel=4 mitigations=off random.trust_cpu=on" \
		-chardev file,id=console,path="$work/console" -serial chardev:console \
		-chardev file,id=results,path="$work/results" -serial chardev:results \
		</dev/null 2>"$work/qemu"
}

report() {
	tr -d '\r' <"$work/results" | awk -F'\t' -v figures="$work/figures" '
		/^figures\t/ { sub(/^figures\t/, ""); print >figures; next }
		/^1\.\./ { planned = substr($0, 4); next }
		/^(not )?ok / { ran++; if (/^not ok/) failed++ }
		{ print }
		END {
			if (planned == "" || planned != ran + 0) {
				printf "# the guest planned %s results, gave %d\n", planned, ran
				printf "not ok %d - the guest ran all its tests\n", ++ran
				failed++
			}
			print ran + 0 >(figures ".ran")
			exit failed > 0
		}'
}

if [[ $(uname -m) != x86_64 ]]; then
	echo "1..0 # SKIP x86-64 only"
	exit 0
fi
for tool in qemu-system-x86_64 cpio modinfo dpkg-deb busybox; do
	command -v "$tool" >/dev/null || die "no $tool: run scripts/setup.sh build run test"
done
[[ -x build/xdp-sflow && -f build/xdp_sflow.bpf.o && -x build/tests/tools/verify ]] ||
	die "nothing built: make all tests-bin"

work=$(mktemp -d)
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	if [[ -n $keep ]]; then
		echo "# kept $work" >&2
	else
		rm -rf "$work"
	fi
}
trap cleanup EXIT

find_kernel
scripts/kernel-matrix.sh --build
tests/vm/root.sh "$work/root" "$kernel/lib/modules/$release" "${tests[@]}"
(cd "$work/root" && find . | cpio -o -H newc --quiet -R 0:0) >"$work/initramfs"
rm -rf "$work/root"
echo "# $release in qemu"
status=0
boot || status=$?
: >>"$work/results"
failed=0
report || failed=1
n=$(cat "$work/figures.ran")
if [[ $status -ne 0 ]]; then
	echo "not ok $((++n)) - qemu ended by itself: exit $status"
	failed=1
fi
if [[ $failed -ne 0 ]]; then
	sed 's/^/# qemu: /' "$work/qemu"
	tail -n 30 "$work/console" | tr -d '\r' | sed 's/^/# console: /'
fi
if [[ -s $work/figures ]]; then
	cp "$work/figures" "build/matrix/figures-$(echo "$release" | cut -d. -f1,2).tsv"
	scripts/kernel-matrix.sh --check "$work/figures" "$n" || failed=1
else
	echo "1..$n"
fi
exit "$failed"

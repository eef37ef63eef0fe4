#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# vmlinux.sh [BTF]: makes vmlinux/vmlinux.h, the kernel types that programs of bpf/ read, from a kernel's BTF
# (default: the running one's) and the list in vmlinux/needs.bpf.c. See vmlinux/README.md.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/.."

btf=${1-/sys/kernel/btf/vmlinux}
case $btf in
-*)
	sed -n '3,4s/^# //p' "$0" >&2
	exit 2
	;;
esac
if [[ ! -r $btf ]]; then
	echo "vmlinux: cannot read $btf: is this a kernel with CONFIG_DEBUG_INFO_BTF?" >&2
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # make's variable, not the shell's
flags=$(make -s --no-print-directory --eval='print-flags: ; @echo $(BPF_CFLAGS)' print-flags)
bpftool btf dump file "$btf" format c >"$work/vmlinux_full.h"
# shellcheck disable=SC2086 # a list of flags
"${CLANG-clang}" $flags -I"$work" -c vmlinux/needs.bpf.c -o "$work/needs.bpf.o"
bpftool gen min_core_btf "$btf" "$work/min.btf" "$work/needs.bpf.o"
{
	echo '/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */'
	echo '/* Made by scripts/vmlinux.sh: do not edit. Offsets are not those of any kernel: libbpf relocates'
	echo ' * each access when the program loads (CO-RE). */'
	# The padding would say where fields lie in one kernel.
	bpftool btf dump file "$work/min.btf" format c | sed -E '/^\s*(long|int|short|char): [0-9]+;$/d'
} >"$work/vmlinux.h"
mv "$work/vmlinux.h" vmlinux/vmlinux.h

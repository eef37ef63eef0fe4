#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Native mode refused, frames of several buffers, generic mode, interfaces that stand on each other.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
pair agent xsf0 xsf1
pair agent jum0 jum1 9000

how() { "$XSF" status "$1" --json | json '[(a["mode"], a["frags"]) for a in d["attached"]]'; }

# A driver without native mode
ip link add ifb9 type ifb
ip link set ifb9 up
fails() { # NAME PATTERN COMMAND...: exit 1, one line on stderr
	local name=$1 pattern=$2
	shift 2
	run "$@"
	like "$name" "$RC $(wc -l <"$T/err") $ERR" "1 1 $pattern"
}
fails "a driver without native mode: the kernel's own word, and what to do" \
	'*ifb9: native XDP was refused: *"*native*"*--mode generic*' "$XSF" load ifb9
is "nothing is left" "$(find /sys/fs/bpf -name '*xsf*' -o -name 'xdp-sflow')" ""
run "$XSF" load ifb9 --mode generic
is "generic mode, asked for" "$RC $(how ifb9)" "0 [('generic', False)]"
unlike "says nothing about rings" "$OUT" "*rings*"
check "unload" "$XSF" unload ifb9 --purge

# An MTU above what the driver takes in one buffer
fails "jumbo MTU, plain program only: refused in the kernel's own words" \
	'*jum0: native XDP was refused: *"*MTU*"*(MTU 9000)*' "$XSF" load jum0 --mode native --frags no
run "$XSF" load jum0
like "jumbo MTU: the other program, and said so" "$RC $OUT" \
	"0 *jum0: attached, native mode for frames of several buffers,*"
is "status shows it" "$(how jum0)" "[('native', True)]"
adds "datagrams of 8500 bytes count" 10 agent jum1 10 --payload 8500
is "and are read" "$("$XSF" status --json | json 'd["totals"]["datagrams_by_outcome"]["sound"]')" 10
run "$XSF" load jum0
is "load again" "$RC $(how jum0)" "0 [('native', True)]"
adds "counts go on" 10 agent jum1 10 --payload 8500 --first 11
run "$XSF" load jum0 --mode generic
like "another mode" "$RC $OUT" "0 *jum0: detached and attached anew, generic mode,*"
is "generic mode takes the plain program" "$(how jum0)" "[('generic', False)]"
adds "which reads them too" 10 agent jum1 10 --payload 8500 --first 21
is "all" "$("$XSF" status --json | json 'd["totals"]["datagrams_by_outcome"]["sound"]')" 30
run "$XSF" load jum0
is "load without --mode stays" "$RC $(how jum0)" "0 [('generic', False)]"
fails "back to native, refused: it stays as it was" '*native XDP was refused*; it is attached as before' \
	"$XSF" load jum0 --mode native --frags no
is "generic" "$(how jum0)" "[('generic', False)]"
adds "counts go on" 10 agent jum1 10 --payload 8500 --first 31
run "$XSF" load jum0 --mode native
is "back to native" "$RC $(how jum0)" "0 [('native', True)]"
adds "counts go on" 10 agent jum1 10 --payload 8500 --first 41
check "one attachment" test "$(attachments)" = 1
run "$XSF" load xsf0 --frags yes
is "--frags yes" "$RC $(how xsf0)" "0 [('native', True)]"
run "$XSF" load xsf0
is "auto stays with it" "$RC $(how xsf0)" "0 [('native', True)]"
ip link set xsf0 mtu 9000
in_ns agent ip link set xsf1 mtu 9000
adds "so a larger MTU needs no new load" 10 agent xsf1 10 --payload 8500
ip link set xsf0 mtu 1500
in_ns agent ip link set xsf1 mtu 1500
run "$XSF" load xsf0 --frags no
is "--frags no" "$RC $(how xsf0)" "0 [('native', False)]"
check "unload" "$XSF" unload --all

# Each frame would be seen twice
ip link add br9 type bridge
ip link set xsf0 master br9
ip link set br9 up
check "load a port of a bridge" "$XSF" load xsf0
fails "its bridge is refused" \
	"*br9 stands on xsf0, where datagrams are counted already: each would count twice;*" \
	"$XSF" load br9 --mode generic
check "unload" "$XSF" unload xsf0
check "load the bridge" "$XSF" load br9 --mode generic
fails "its port is refused" "*xsf0 stands below br9, *xdp-sflow unload br9" "$XSF" load xsf0
fails "both in one command" "*xsf0 stands below br9, *" "$XSF" load br9 xsf0 --mode generic
check "unload" "$XSF" unload br9
ip link del br9
ip link add link xsf0 name mac9 type macvlan
ip link set mac9 up
check "load below a macvlan" "$XSF" load xsf0
fails "the macvlan is refused" "*mac9 stands on xsf0, *" "$XSF" load mac9 --mode generic
check "unload" "$XSF" unload xsf0
if ip link add link xsf0 name xsf0.5 type vlan id 5 2>/dev/null; then
	ip link set xsf0.5 up
	check "load below a VLAN device" "$XSF" load xsf0
	fails "the VLAN device is refused" "*xsf0.5 stands on xsf0, *" "$XSF" load xsf0.5 --mode generic
	check "unload" "$XSF" unload xsf0
else
	skip "a VLAN device on its parent" "no VLAN devices in this kernel"
fi

# Beside others, through libxdp
cat >"$T/pass.c" <<'C'
__attribute__((section("xdp"), used)) int someone_elses(void *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
C
clang -O2 -g -target bpf -c "$T/pass.c" -o "$T/pass.o"
run "$XSF" load jum0 --share --frags yes
is "load --share" $RC 0
adds "counts" 10 agent jum1 10 --payload 8500
is "status says how" "$("$XSF" status jum0 --json | json '[a["how"] for a in d["attached"]]')" "['libxdp']"
run "$XSF" load jum0 --share --frags yes
is "load again" $RC 0
adds "one count each" 10 agent jum1 10 --payload 8500 --first 11
is "one attachment" "$(attachments)" 1
run "$XSF" unload jum0
is "unload" "$RC $(programs jum0)" "0 "
is "nothing is pinned" "$(attachments)" 0
check "unload --all --purge" "$XSF" unload --all --purge
finish

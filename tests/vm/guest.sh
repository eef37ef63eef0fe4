#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Run by tests/vm/init within the test kernel, in a copy of the build. Lines that begin with "figures" are
# rows of tests/tools/verify for scripts/vmtest.sh outside.
set -u
. "$(dirname "$0")/../lib.sh"

KERNEL=$(uname -r | cut -d. -f1,2)

# Every compiler's objects pass this kernel's verifier.
test_loads() {
	local object compiler
	for object in build/matrix/clang-*/*.bpf.o; do
		[ -f "$object" ] || continue
		compiler=$(basename "$(dirname "$object")")
		check "$KERNEL: $(basename "$object") of $compiler loads" verify "$compiler" "$object"
		sed 's/^/figures	/' "$T/rows"
	done
}

# shellcheck disable=SC2317 # check calls it
verify() {
	timeout 200 build/tests/tools/verify "$@" >"$T/rows"
}

# program IFACE: the name of what is attached.
program() {
	bpftool -j net show dev "$1" | json 'd[0]["xdp"][0]["id"]' | xargs bpftool -j prog show id |
		json 'd["name"]'
}

captures() {
	ls "$T"/{one,tagged,fabric}.pcap tests/golden/*.pcap tests/golden/*/*.pcap \
		../shared/cases/pcaps/*.pcap ../shared/lab-captures/*.pcap 2>/dev/null
}

# What the programs count of all captures, one after the other, is what replay counts of them.
# test_counts PROGRAM MTU
test_counts() {
	local frames files
	mapfile -t files < <(captures)
	frames=$(tests/vm/join_pcap.py --longest $(($2 + 14)) "$T/all.pcap" "${files[@]}")
	$XSF replay --json "$T/all.pcap" >"$T/replay"
	pair agent xsf0 xsf1 "$2"
	check "$KERNEL: load, MTU $2" "$XSF" load --yes xsf0
	like "$KERNEL: the program is $1" "$(program xsf0)" "$1"
	is "$KERNEL: frames sent" "$(send agent xsf1 "$T/all.pcap" --rate 2000)" "$frames"
	sleep 0.2
	$XSF status --json >"$T/status"
	check "$KERNEL: $1 counts $frames frames of ${#files[@]} captures as replay does" \
		tests/vm/compare.py "$T/status" "$T/replay"
	check "$KERNEL: unload --purge" "$XSF" unload --all --purge
	ip link del xsf0
}

# The object as iproute2 alone loads it, and a reader on its pins.
test_iproute2() {
	pair agent xsf0 xsf1
	check "$KERNEL: ip link set xdp obj" ip link set dev xsf0 xdp obj "$OBJ" sec xdp
	send agent xsf1 "$T/one.pcap" >/dev/null
	is "$KERNEL: status --maps" \
		"$("$XSF" status --json --maps /sys/fs/bpf/xdp/globals | json 'd["totals"]["datagrams"]')" 1
	ip link set dev xsf0 xdp off
	rm -rf /sys/fs/bpf/xdp
	ip link del xsf0
}

datagrams() {
	"$XSF" status --json | json 'd["totals"]["datagrams"]'
}

# Beside others, through libxdp's dispatcher, which takes a kernel that loads freplace programs.
test_share() {
	pair agent xsf0 xsf1
	check "$KERNEL: load --share" "$XSF" load --yes --share xsf0
	like "$KERNEL: the program is the dispatcher" "$(program xsf0)" xdp_dispatcher
	send agent xsf1 "$T/one.pcap" >/dev/null
	is "$KERNEL: one datagram with --share" "$(datagrams)" 1
	check "$KERNEL: load --share again" "$XSF" load --yes --share xsf0
	send agent xsf1 "$T/one.pcap" >/dev/null
	is "$KERNEL: one more" "$(datagrams)" 2
	check "$KERNEL: unload" "$XSF" unload --all --purge
	is "$KERNEL: nothing is attached" "$(bpftool -j net show dev xsf0 | json 'd[0]["xdp"]')" "[]"
	ip link del xsf0
}

# A datagram seen on a VLAN device and on its parent counts once, or the second load is refused with one
# line that names both. test_vlan FIRST SECOND
test_vlan() {
	pair agent xsf0 xsf1
	ip link add link xsf0 name xsf0.5 type vlan id 5
	quiet "" xsf0.5
	ip link set xsf0.5 up
	check "$KERNEL: load $1" "$XSF" load --yes --mode generic "$1"
	run "$XSF" load --yes --mode generic "$2"
	if [ "$RC" = 0 ]; then
		ok "$KERNEL: load $2 beside $1"
	else
		like "$KERNEL: load $2 beside $1 is refused by name" "$ERR" "xdp-sflow: *$2*$1*"
		is "$KERNEL: in one line" "$(wc -l <"$T/err")" 1
	fi
	send agent xsf1 "$T/tagged.pcap" >/dev/null
	sleep 0.1
	is "$KERNEL: one tagged datagram with $1, then $2" "$(datagrams)" 1
	"$XSF" unload --all --purge >/dev/null
	ip link del xsf0
}

# execute FILE SECONDS LOG: runs a test; its exit code and time go to LOG.rc and LOG.s.
execute() {
	local began=$SECONDS rc=0
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$2" "$1" >"$3" 2>&1 </dev/null || rc=$?
	echo $rc >"$3.rc"
	echo $((SECONDS - began)) >"$3.s"
}

# results FILE LOG: passes on what a test said as ours.
results() {
	local line rc nr=$nr_results what
	what="$KERNEL: $(basename "$1")"
	while IFS= read -r line; do
		case $line in
		"ok "*"# SKIP "*) skip "$what: $(name "${line%# SKIP*}")" "${line##*# SKIP }" ;;
		"ok "*) ok "$what: $(name "$line")" ;;
		"not ok "*) not_ok "$what: $(name "${line#not }")" ;;
		"1..0 # SKIP "*) skip "$what" "${line##*# SKIP }" ;;
		1..*) ;;
		*) diag "${line#\# }" ;;
		esac
	done <"$2"
	rc=$(cat "$2.rc")
	if [ "$rc" != 0 ] || [ $nr = $nr_results ]; then
		not_ok "$what ended with exit code 0 and results" "exit $rc"
	fi
	diag "$(basename "$1"): $(cat "$2.s") s"
}

name() { # of a line "ok N - NAME"
	sed 's/^ok *[0-9]* *-* *//; s/ *$//' <<<"$1"
}

# The tests by test run, with this kernel's program; in the background, since there are two CPUs.
programs() {
	local file
	for file in build/tests/progrun/*_test; do
		[ ! -x "$file" ] || echo "$file"
	done
}

run_programs() {
	local file
	renice -n 19 "$BASHPID" >/dev/null
	for file in $(programs); do
		execute "$file" 400 "$T/$(basename "$file").tap"
	done
}

report_programs() {
	local file
	for file in $(programs); do
		results "$file" "$T/$(basename "$file").tap"
	done
}

# The scripts that were named.
test_named() {
	local file
	while read -r file; do
		[ -n "$file" ] || continue
		execute "$file" 900 "$T/named.tap"
		results "$file" "$T/named.tap"
	done <tests/vm/named
}

# part TEST [ARGUMENT...]: runs it and tells how long it took.
part() {
	local began=$SECONDS
	"$@"
	diag "$*: $((SECONDS - began)) s"
}

tests/vm/frames.py "$T"
check "$KERNEL: simulate" "$XSF" simulate --write "$T/fabric.pcap" --count 1000 --ipv6-agents
run_programs &
part test_loads
part test_counts xsf_xdp 1500
part test_counts xsf_xdp_frags 9000
part test_iproute2
part test_share
part test_vlan xsf0 xsf0.5
part test_vlan xsf0.5 xsf0
wait
report_programs
test_named
finish

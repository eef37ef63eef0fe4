#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One set of pins for several network namespaces, interfaces that move between them, links of others.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
pair agent xsf0 xsf1

attached() { "$XSF" status --json | json 'sorted((a["ifname"], a["mode"]) for a in d["attached"])'; }

# Interfaces of the same number in two namespaces
ip netns add other
ip link add xsf4 type veth peer name xsf5 netns other
quiet "" xsf4
quiet other xsf5
ip link set xsf4 up
in_ns other ip link set xsf5 up
check "load here" "$XSF" load xsf0
check "load there" in_ns other "$XSF" load xsf5
is "both count into one set" "$(attached)" "[('xsf0', 'native'), ('xsf5', 'native')]"
adds "here" 5 agent xsf1 5
adds "there" 5 "" xsf4 5 --first 6
is "each namespace sees both" "$(in_ns other "$XSF" status --json | json 'len(d["attached"])')" 2
fails_with "unload of an interface elsewhere says where it is" 1 \
	"*xsf5 is in another network namespace: run the command there*" "$XSF" unload xsf5
is "it goes on" "$(in_ns other ip -d link show xsf5 | grep -c 'name xsf_xdp')" 1
run nsenter --net=/run/netns/other "$XSF" load xsf5
like "load there again" "$RC $OUT" "0 *xsf5: program replaced*"
is "two attachments" "$(attachments)" 2
run "$XSF" unload --all
is "--all reaches both" "$RC $OUT $(in_ns other ip -d link show xsf5 | grep -c xsf_xdp)" \
	"0 2 interfaces detached 0"

# An interface moves
check "load" "$XSF" load xsf0
ip link set xsf0 netns other
in_ns other ip link set xsf0 up
wait_for 5 in_ns other grep -q 1 /sys/class/net/xsf0/carrier
adds "moved: goes on counting" 5 agent xsf1 5 --first 11
is "status knows" "$(attached)" "[('xsf0', 'native')]"
run nsenter --net=/run/netns/other "$XSF" load xsf0
like "load at the new place replaces" "$RC $OUT $(attachments)" "0 *xsf0: program replaced* 1"
adds "one count each" 5 agent xsf1 5 --first 16
ip netns del other
all_gone() { [ "$(attached)" = "[]" ]; }
check "its namespace goes: nothing is attached" wait_for 5 all_gone
pair agent xsf0 xsf1 2>/dev/null
ip link del xsf0 2>/dev/null
pair agent xsf0 xsf6
check "load tidies up" "$XSF" load xsf0
is "one attachment" "$(attachments)" 1
check "unload" "$XSF" unload --all --purge

# Somebody else's link
cat >"$T/link.c" <<'C'
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 2 },
				   { .code = BPF_JMP | BPF_EXIT } };
	int prog = bpf_prog_load(BPF_PROG_TYPE_XDP, "their_link", "GPL", code, 2, NULL);
	int link = bpf_link_create(prog, (int)if_nametoindex(argv[1]), BPF_XDP, NULL);

	printf("%d\n", link);
	fflush(stdout);
	return argc < 2 || link < 0 || pause();
}
C
if gcc -o "$T/link" "$T/link.c" -lbpf 2>"$T/err"; then
	start "$T/link" xsf0
	wait_for 5 test -s "$STARTED_LOG"
	fails_with "a foreign link is refused, with its number" 1 \
		"*xsf0 already has another XDP program: their_link (id *); remove it with: bpftool link *" \
		"$XSF" load xsf0
	eval "$(grep -o 'bpftool link detach id [0-9]*' "$T/err")"
	check "the command that it names helps" "$XSF" load xsf0
	stop "$PID"
	check "unload" "$XSF" unload --all --purge
else
	not_ok "a program that holds a link" "$(cat "$T/err")"
fi
is "nothing is left" "$(find $PINS 2>/dev/null)" ""
finish

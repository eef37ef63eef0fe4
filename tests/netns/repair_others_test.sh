#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Qdiscs and filters of others stay as they are; and what comes of ours when it is killed, replaced by hand,
# loses its pins or its interface.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/repair_lib.sh"
private "$@"
collector xsf0

cat >"$T/theirs.c" <<'C'
__attribute__((section("ok"), used)) int says_ok(void *ctx) { return 0; }
__attribute__((section("next"), used)) int says_next(void *ctx) { return -1; }
char _license[] __attribute__((section("license"), used)) = "GPL";
C
clang -O2 -g -target bpf -c "$T/theirs.c" -o "$T/theirs.o"
theirs() { # PREF SECTION: how their filter is attached
	tc filter add dev xsf0 ingress pref "$1" handle 7 bpf da obj "$T/theirs.o" sec "$2"
}
# state: qdiscs and filters of both ends, without what changes by itself.
state() {
	tc qdisc show dev xsf0
	tc filter show dev xsf0 ingress
	tc filter show dev xsf0 egress
}
qdisc() { tc qdisc show dev xsf0 | grep -oE 'clsact|ingress'; }
works() { # NAME FIRST: wrong ones are repaired
	send_ipfix 20 --checksum wrong --first "$2" --payloads "$T/sent"
	received
	check "$1" cmp "$T/sent" "$T/received"
}
packets() { "$XSF" repair show --json | json 'd["checksum"]["packets"]'; }

# Somebody else's clsact with filters at both ends
tc qdisc add dev xsf0 clsact
theirs 5 next
tc filter add dev xsf0 egress pref 1 bpf da obj "$T/theirs.o" sec next
before=$(state)
run "$XSF" load xsf0 --repair 4739
like "a foreign clsact is used" "$RC $OUT" "0 *xsf0: checksum program attached, *; behind 1 other filter*"
unlike "and was not made" "$OUT" "*made a clsact*"
works "behind a filter that says next: repairs" 0
like "status shows what is before it" "$("$XSF" status)" "*behind 1 filter: bpf *next* (pref 5); *"
run "$XSF" load xsf0 --repair 4739
is "replaced: exit" $RC 0
is "theirs are there" "$(state | grep -c handle)" 3
check "unload" "$XSF" unload xsf0
is "what there was is there, and nothing else" "$(state)" "$before"
tc qdisc del dev xsf0 clsact

# One at preference 1 that ends the chain
tc qdisc add dev xsf0 clsact
theirs 1 ok
before=$(state)
run "$XSF" load xsf0 --repair 4739
like "behind one that says ok" "$RC $OUT" "0 *; behind 1 other filter*"
seen=$(packets)
send_ipfix 20 --checksum wrong --first 100
is "ours is not run" "$(size) $(packets)" "$(stat -c %s "$T/sent") $seen"
like "status says what is in the way" "$("$XSF" status xsf0)" \
	"*behind 1 filter: bpf *ok* (pref 1); what that one gives a verdict on does not reach it*"
is "JSON as well" "$("$XSF" status --json | json 'd["checksum"]["attached"][0]["filters_before"]')" 1
tc filter del dev xsf0 ingress pref 1
works "theirs gone, ours runs" 200
theirs 1 ok
before=$(state | grep -v 'pref 10 ')
check "unload" "$XSF" unload xsf0
is "theirs stays" "$(state)" "$before"
tc qdisc del dev xsf0 clsact

# An ingress qdisc in its place
tc qdisc add dev xsf0 ingress
before=$(state)
check "load with an ingress qdisc" "$XSF" load xsf0 --repair 4739
is "it is used" "$(qdisc)" ingress
works "and repairs" 300
check "load again" "$XSF" load xsf0 --repair 4739
check "unload" "$XSF" unload xsf0
is "the ingress qdisc stays" "$(state)" "$before"
tc qdisc del dev xsf0 ingress

# Ours, and somebody comes later
check "load" "$XSF" load xsf0 --repair 4739
theirs 20 next
tc filter add dev xsf0 egress pref 1 bpf da obj "$T/theirs.o" sec next
works "with one behind" 400
check "unload" "$XSF" unload xsf0
is "the clsact of ours stays, since others use it" "$(qdisc) $(state | grep -c handle)" "clsact 2"
tc qdisc del dev xsf0 clsact
check "load" "$XSF" load xsf0
tc filter add dev xsf0 egress pref 1 bpf da obj "$T/theirs.o" sec next
check "unload with a filter at its other end" "$XSF" unload xsf0
is "stays likewise" "$(qdisc)" clsact
tc qdisc del dev xsf0 clsact


# A program of tcx runs before all filters
check "load" "$XSF" load xsf0 --repair 4739
sed 's/section("next"), used/used/; /section("ok")/d; s/int says_next/__attribute__((section("tc"))) &/' "$T/theirs.c" >"$T/tcx.c"
sed -i 's/return -1/return 0/' "$T/tcx.c"
clang -O2 -g -target bpf -c "$T/tcx.c" -o "$T/tcx.o"
bpftool prog load "$T/tcx.o" /sys/fs/bpf/tcx type classifier
if python3 "$PY/tcx.py" xsf0 /sys/fs/bpf/tcx 2>"$T/err"; then
	like "tcx: status shows what is before it" "$("$XSF" status)" "*behind 1 filter: tcx program *"
	send_ipfix 20 --checksum wrong --first 100
	is "and ours is not run" "$(size)" "$(stat -c %s "$T/sent")"
	python3 "$PY/tcx.py" --off xsf0 /sys/fs/bpf/tcx
	works "taken off, ours runs" 430
else
	skip "tcx: status shows what is before it" "no tcx in this kernel"
fi
rm /sys/fs/bpf/tcx
check "unload" "$XSF" unload xsf0

# Ours is removed by hand
check "load" "$XSF" load xsf0
tc qdisc del dev xsf0 clsact
is "status sees it" "$("$XSF" repair show --json | json 'd["checksum"]["attached"]')" "[]"
tc qdisc add dev xsf0 clsact
check "unload" "$XSF" unload xsf0
is "a clsact that came after ours is not ours" "$(qdisc)" clsact
tc qdisc del dev xsf0 clsact
check "load" "$XSF" load xsf0 --repair 4739
tc filter del dev xsf0 ingress pref 10
run "$XSF" load xsf0 --repair 4739
like "load puts it back" "$RC $OUT" "0 *checksum program attached, repairing 4739*"
is "one filter, one directory" "$(filters | wc -l) $(find $PINS -name 'tc_*' | wc -l)" "1 1"
works "and repairs" 450
check "unload" "$XSF" unload xsf0
[ -z "$(qdisc)" ] || tc qdisc del dev xsf0 clsact

# Our place is taken
tc qdisc add dev xsf0 clsact
theirs 10 next
before=$(state)
fails_with "our preference is another's: refused, before anything changed" 1 \
	"*xsf0: the tc preference 10, which is ours, has another filter: bpf *next*; move that one*--no-checksum" \
	"$XSF" load xsf0
is "theirs is untouched, and XDP not attached" "$(state)$(ip link show xsf0 | grep -c xdp)" "${before}0"
check "--no-checksum leaves it alone" "$XSF" load xsf0 --no-checksum
check "unload" "$XSF" unload xsf0
is "untouched" "$(state)" "$before"
tc qdisc del dev xsf0 clsact

# By hand
tc qdisc add dev xsf0 clsact
tc filter add dev xsf0 ingress bpf da obj "$ROOT/build/csum6.bpf.o" sec tc
works "tc alone repairs its default ports" 500
fails_with "load beside it would count twice" 1 \
	"*xsf0 already has xsf_csum6 (id *), attached by hand*tc filter del dev xsf0 ingress pref 49152*" \
	"$XSF" load xsf0
run "$XSF" repair show --maps /sys/fs/bpf/tc/globals
like "repair show reads what tc pinned" "$RC $OUT" "0 *xsf0 *repairing its default ports *by tc, tc preference 49152*"
for maps in /sys/fs/bpf/tc/globals $PINS; do
	fails_with "repair set says what to do: $maps" 1 \
		"*xsf0: the checksum program there was attached by hand, *tc filter del dev xsf0 ingress pref 49152; then *load xsf0 *" \
		"$XSF" repair set xsf0 --observe --maps "$maps"
done
is "and leaves nothing there" "$(find /sys/fs/bpf/tc/globals -mindepth 1 ! -name 'xsf_csum_*')" ""
check "unload leaves it" bash -c "! '$XSF' unload xsf0"
is "there it is" "$(filters | wc -l)" 1
tc qdisc del dev xsf0 clsact
rm -rf /sys/fs/bpf/tc /sys/fs/bpf/xdp /sys/fs/bpf/ip
ip link set dev xsf0 xdp obj "$ROOT/build/xdp_sflow.bpf.o" sec xdp
fails_with "repair show where ip pinned: says where the others are" 1 \
	"*/xdp/globals has maps of the XDP program and none of the checksum program: what tc pins is in /sys/fs/bpf/tc/globals, *$PINS" \
	"$XSF" repair show xsf0 --maps /sys/fs/bpf/xdp/globals
ip link set dev xsf0 xdp off
rm -rf /sys/fs/bpf/tc /sys/fs/bpf/xdp /sys/fs/bpf/ip
tc qdisc add dev xsf0 ingress_block 22 clsact
fails_with "a block shared with others: refused" 1 "*xsf0 shares its tc filters with other interfaces (block 22)*" \
	"$XSF" load xsf0
tc qdisc del dev xsf0 clsact

# Killed at any moment
nr_bad=0
for ms in $(seq 0 25 400); do
	"$XSF" load xsf0 --repair 4739 >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %03d "$ms")"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$XSF" load xsf0 --repair 4739 >/dev/null 2>"$T/again" || nr_bad=$((nr_bad + 1))
	[ "$(filters | wc -l) $(find $PINS -name 'tc_*' | wc -l)" = "1 1" ] || nr_bad=$((nr_bad + 1))
	"$XSF" unload xsf0 >/dev/null 2>"$T/again" || nr_bad=$((nr_bad + 1))
	[ -z "$(qdisc)$(filters)" ] || nr_bad=$((nr_bad + 1))
done
is "killed at 17 moments of a first load: the next one works, and unload leaves nothing $(cat "$T/again")" $nr_bad 0
check "load" "$XSF" load xsf0 --repair 4739
nr_bad=0
for ms in $(seq 0 25 400); do
	"$XSF" load xsf0 --repair 4739 >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %03d "$ms")"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ "$(filters | wc -l)" = 1 ] || nr_bad=$((nr_bad + 1))
	"$XSF" repair set xsf0 --observe >/dev/null 2>&1 || nr_bad=$((nr_bad + 1))
	[ "$("$XSF" repair show --json | json 'd["checksum"]["attached"][0]["mode"]')" = observe ] || nr_bad=$((nr_bad + 1))
done
is "killed at 17 moments of a reload: always one filter, and its policy is found" $nr_bad 0
check "load" "$XSF" load xsf0 --repair 4739
works "and repairs" 600
is "one filter, one directory" "$(filters | wc -l) $(find $PINS -name 'tc_*' | wc -l)" "1 1"

# Pins lost
rm -r $PINS/tc_*
works "its directory lost: goes on" 700
check "policy is found without it" "$XSF" repair set xsf0 --repair 4739,6343
like "status shows it" "$("$XSF" status)" "*xsf0 *repairing 4739, 6343, observing 2055, by tc, *"
run "$XSF" load xsf0 --repair 4739
like "load replaces it" "$RC $OUT" "0 *checksum program replaced, counts kept*"
is "one filter" "$(filters | wc -l) $(find $PINS -name 'tc_*' | wc -l)" "1 1"
counted="$(audit port 4739 repaired_wrong) $(audit source 2001:db8::1 repaired_wrong)"
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
run "$XSF" load xsf0 --repair 4739
like "a fresh bpffs: taken over" "$RC $OUT" "0 *checksum program replaced, counts kept*"
is "with its counts" "$(audit port 4739 repaired_wrong) $(audit source 2001:db8::1 repaired_wrong)" "$counted"
works "and goes on" 800
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
run "$XSF" unload xsf0
is "unload finds it without pins" "$RC $(filters)" "0 "
umount /sys/fs/bpf
umount /sys/fs/bpf
"$XSF" unload --all --purge >/dev/null
[ -z "$(qdisc)" ] || tc qdisc del dev xsf0 clsact

# Another pin directory
mkdir "$T/bpf"
mount -t bpf bpf "$T/bpf"
check "load --maps" "$XSF" load xsf0 --maps "$T/bpf/mine"
fails_with "set with other pins says where they are" 1 "*xsf0: its checksum program (id *) is pinned in $T/bpf/mine; add*" \
	bash -c "mkdir -p $PINS && '$XSF' repair set xsf0 --observe"
check "unload --all of another directory" "$XSF" unload --all
is "leaves it" "$(filters | wc -l)" 1
check "set there" "$XSF" repair set xsf0 --repair 4739 --maps "$T/bpf/mine"
send_ipfix 20 --checksum wrong --port 6343
like "advice names the directory" "$("$XSF" status --maps "$T/bpf/mine")" \
	"*To repair: xdp-sflow repair set xsf0 --repair *6343* --maps $T/bpf/mine"
check "unload there" "$XSF" unload xsf0 --purge --maps "$T/bpf/mine"
is "gone" "$(filters)$(qdisc)" ""

# Not confirmed
no_filter() { [ -z "$(filters)" ]; }
check "load --confirm" "$XSF" load xsf0 --repair 4739 --confirm 3
like "status says that it waits" "$("$XSF" repair show)" "*by load, not yet confirmed*"
check "undone in time" wait_for 8 no_filter
is "the qdisc too" "$(qdisc) $(find $PINS -name 'tc_*' | wc -l)" " 0"
check "load" "$XSF" load xsf0 --repair 4739
id=$(filter_id)
check "load --confirm over it" "$XSF" load xsf0 --confirm 3
back() { [ "$(filter_id)" = "$id" ]; }
check "observes" bash -c "[ '$(filter_id)' != $id ]"
check "the old one is back" wait_for 8 back
works "and repairs" 900
is "one directory" "$(find $PINS -name 'tc_*' | wc -l) $(ls $PINS/tc_*)" "1 about
xsf_csum_from
xsf_csum_policy"
check "load --no-checksum --confirm" "$XSF" load xsf0 --no-checksum --confirm 3
is "it is off" "$(filters)" ""
check "and comes back" wait_for 8 back
check "load --confirm" "$XSF" load xsf0 --repair 2055 --confirm 60
check "confirm" "$XSF" confirm xsf0
is "it stays" "$("$XSF" repair show --json | json '[(a["how"], a["mode"]) for a in d["checksum"]["attached"]]')" \
	"[('load', 'repair')]"
check "load --no-checksum --confirm" "$XSF" load xsf0 --no-checksum --confirm 60
check "confirm" "$XSF" confirm xsf0
is "off, and the qdisc with it" "$(filters)$(qdisc)$(find $PINS -name 'tc_*')" ""

# The interface goes, or is in another namespace
check "load" "$XSF" load xsf0
ip link del xsf0
is "status: nothing" "$("$XSF" repair show --json | json 'd["checksum"]["attached"]')" "[]"
pair agent xsf0 agent0
check "the same name made anew" "$XSF" load xsf0
is "one directory" "$(find $PINS -name 'tc_*' | wc -l)" 1
check "unload" "$XSF" unload --all
ip netns add far
ip link set xsf0 netns far
in_ns far ip link set xsf0 up
check "load in another namespace" in_ns far "$XSF" load xsf0
is "seen from here" "$("$XSF" repair show --json | json '[(a["ifname"], a["how"]) for a in d["checksum"]["attached"]]')" \
	"[('xsf0', 'elsewhere')]"
id=$("$XSF" repair show --json | json 'd["checksum"]["attached"][0]["prog_id"]')
check "unload --all from here" "$XSF" unload --all --purge
is "nothing is left there" "$(in_ns far tc filter show dev xsf0 ingress)$(in_ns far tc qdisc show dev xsf0 clsact)" ""
is "nor here" "$(find /sys/fs/bpf | grep -cE 'xsf|xdp-sflow')" 0
let_go() { ! bpftool prog show id "$id"; }
check "the program has gone" wait_for 5 let_go
finish

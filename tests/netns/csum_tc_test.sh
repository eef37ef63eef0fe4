#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# csum6 attached with tc alone: a socket gets the datagrams whose checksums were wrong, however the packet
# came and whatever the kernel says of its checksum (none, complete, unnecessary, partial), and filters behind
# it see every packet.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"

CSUM=$ROOT/build/csum6.bpf.o STATE=$ROOT/build/tests/netns/csum_state.bpf.o
PINS=/sys/fs/bpf/tc/globals
MAC=02:00:00:00:00:02

# A veth as it comes, not quiet: a tunnel over it needs neighbours. The agent is 2001:db8::1.
ip netns add agent
ip link add xsf0 address $MAC mtu 9216 type veth peer name xsf1 mtu 9216 netns agent
ip addr add 10.0.0.2/24 dev xsf0
ip link set xsf0 up
in_ns agent ip addr add 10.0.0.1/24 dev xsf1
in_ns agent ip link set xsf1 up

address() { # IFACE
	sysctl -qw "net.ipv6.conf.$1.accept_dad=0"
	ip addr add 2001:db8::2/64 dev "$1" nodad
}
csum() { python3 "$PY/csum.py" "$@"; }
counts() { csum counts $PINS/xsf_csum_"$1" 2>&1; }
# What the packets behind the filter were said to be, by ip_summed * 4 + csum_level.
states() { csum counts $PINS/csum_state 2>&1; }
NONE='[0]' UNNECESSARY='[4]' COMPLETE='[8]'

filter() { # IFACE PREF OBJECT SECTION
	tc filter add dev "$1" ingress pref "$2" handle 1 bpf da obj "$3" sec "$4"
}
begin() { # IFACE
	tc qdisc add dev "$1" clsact
	filters "$1"
}
filters() {
	filter "$1" 10 "$CSUM" tc
	filter "$1" 20 "$STATE" tc/count
}
end() { # IFACE
	tc qdisc del dev "$1" clsact
	rm -rf $PINS/xsf_csum_* $PINS/csum_state
}

errors() { awk '$1 == "Udp6InCsumErrors" { print $2 }' /proc/net/snmp6; }

# received NAME WANT FRAMES_ARGUMENT...: a socket gets so many of what the agent sends, and each of those as
# it was sent.
received() {
	local name=$1 want=$2
	shift 2
	start python3 "$PY/csum.py" socket 6343
	wait_for 20 grep -q ready "$STARTED_LOG"
	in_ns agent python3 "$PY/csum.py" frames "$@" >/dev/null
	stop "$PID"
	is "$name" "$(tail -1 "$STARTED_LOG")" "got $want same $want"
}

# ---- a plain veth: CHECKSUM_NONE
address xsf0
before=$(errors)
received "without the filter: the right ones" 5 xsf1 $MAC right wrong zero
is "the kernel's error counter grows" "$(($(errors) - before))" 10
begin xsf0
before=$(errors)
received "veth" 15 xsf1 $MAC right wrong zero
is "the kernel's error counter does not grow" "$(($(errors) - before))" 0
is "counted by port" "$(counts ports)" "good=5 repaired_wrong=5 repaired_zero=5"
is "counted by source" "$(counts sources)" "good=5 repaired_wrong=5 repaired_zero=5"
is "right ones untouched, others known to be right" "$(states)" "$NONE=5 $UNNECESSARY=10"
received "another port" 0 xsf1 $MAC --port 6344 wrong
like "counted as such" "$(counts totals)" "*other_port=5*"
end xsf0

# ---- a filter before says that the checksum is right: it is not said once more
tc qdisc add dev xsf0 clsact
filter xsf0 1 "$STATE" tc/unnecessary
filters xsf0
received "CHECKSUM_UNNECESSARY" 15 xsf1 $MAC right wrong zero
is "repaired all the same" "$(counts ports)" "good=5 repaired_wrong=5 repaired_zero=5"
is "the level stays" "$(states)" "$UNNECESSARY=15"
end xsf0

# ---- not one header in the first buffer
begin xsf0
received "frames in pieces" 15 xsf1 $MAC --length 8900 --linear 14 right wrong zero
is "frames in pieces, counted" "$(counts ports)" "good=5 repaired_wrong=5 repaired_zero=5"
end xsf0

# ---- XDP in generic mode; the program for several buffers takes away the Ethernet header on some kernels
for section in xdp xdp.frags; do
	begin xsf0
	ip link set dev xsf0 xdpgeneric obj "$OBJ" sec $section
	received "behind generic XDP, sec $section" 15 xsf1 $MAC right wrong zero
	is "counted behind sec $section" "$(counts ports)" "good=5 repaired_wrong=5 repaired_zero=5"
	ip link set dev xsf0 xdpgeneric off
	end xsf0
done
ip addr flush dev xsf0 scope global
ip addr add 10.0.0.2/24 dev xsf0

# ---- a tunnel whose outer checksum was verified in software: CHECKSUM_COMPLETE
in_ns agent ethtool -K xsf1 tx off >/dev/null
ethtool -K xsf0 gro off >/dev/null
if in_ns agent ip link add vx0 address 02:00:00:00:00:01 type vxlan id 5 dstport 4789 local 10.0.0.1 \
	remote 10.0.0.2 udpcsum 2>/dev/null; then
	ip link add vx0 address $MAC type vxlan id 5 dstport 4789 local 10.0.0.2 remote 10.0.0.1 udpcsum
	in_ns agent ip link set vx0 up
	ip link set vx0 up
	ethtool -K vx0 gro off >/dev/null
	address vx0
	received "tunnel, without the filter" 5 vx0 $MAC right wrong zero
	begin vx0
	before=$(errors)
	received "tunnel" 15 vx0 $MAC right wrong zero
	is "tunnel: no error" "$(($(errors) - before))" 0
	is "tunnel: all were CHECKSUM_COMPLETE and still are" "$(states)" "$COMPLETE=15"
	received "tunnel: odd length" 15 vx0 $MAC --length 1001 right wrong zero
	end vx0
	ip link del vx0
else
	skip "a tunnel" "no VXLAN in this kernel"
fi

# ---- a device without Ethernet header, every shape of packet
# tun on|off: with the filter or without; what became of each packet goes to $T/tun.on or $T/tun.off.
tun() {
	mkfifo "$T/go"
	start sh -c "exec python3 '$PY/csum.py' tun xsf2 <'$T/go'"
	exec 7>"$T/go"
	wait_for 20 grep -q ready "$STARTED_LOG"
	ip link set xsf2 mtu 9216 up
	address xsf2
	[ "$1" = off ] || begin xsf2
	echo >&7
	wait "$PID"
	exec 7>&-
	rm "$T/go"
	sed 1d "$STARTED_LOG" >"$T/tun.$1"
}
if [ -c /dev/net/tun ] && ip tuntap add dev xsf2 mode tun 2>/dev/null; then
	ip link del xsf2
	tun off
	tun on
	shapes=$(awk '{ print $1 }' "$T/tun.on" | wc -l)
	is "shapes of packets" $((shapes > 80)) 1
	is "nothing arrives changed" "$(grep -h changed "$T/tun.off" "$T/tun.on")" ""
	is "wrong ones are lost without the filter" "$(grep -cE '^(wrong|zero)_.* got' "$T/tun.off")" 0
	# What was got when right is got when wrong, but for what is too long or cannot be told.
	sed -n 's/^right_\(.*\) got/\1/p' "$T/tun.off" | grep -v 9001 | sort >"$T/want"
	for check in right wrong zero; do
		sed -n "s/^${check}_\(.*\) got/\1/p" "$T/tun.on" | grep -v 9001 | sort >"$T/got"
		check "$check: what a socket can get, it gets" diff "$T/want" "$T/got"
	done
	like "a local sender's too" "$(grep partial "$T/tun.on")" "* got"
	merged=1 gso=" left_gso=1"
	like "a merged one too, where it can be made" "$(grep merged "$T/tun.on")" "* @(got|refused)"
	grep -q 'merged refused' "$T/tun.on" && merged=0 gso=
	left="left_fragment=3$gso left_partial=1 left_routing=3 left_home_address=3 left_bad_length=3"
	is "each counted" "$(counts ports)" "good=24 repaired_wrong=24 repaired_zero=24 $left left_too_long=6"
	is "each once" "$(counts totals)" "packets=$((91 + merged)) datagrams=$((91 + merged))"
else
	skip "a device without Ethernet header" "no tun in this kernel"
fi
finish

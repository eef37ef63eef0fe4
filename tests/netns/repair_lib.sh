# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For tests/netns/repair_*_test.sh, after tests/lib.sh.

# shellcheck disable=SC2034 # for the tests
PINS=/sys/fs/bpf/xdp-sflow/v2

# addressed IFACE ADDRESS [NS]: an IPv6 address, and the interface as usual otherwise.
addressed() {
	in_ns "${3:-}" sysctl -q -w "net.ipv6.conf.$1.disable_ipv6=0" "net.ipv6.conf.$1.accept_dad=0"
	in_ns "${3:-}" ip link set "$1" arp on multicast on
	in_ns "${3:-}" ip addr add "$2" dev "$1" nodad
}

# collector IFACE: agent0 in the namespace agent, wired to IFACE here, where socat receives on port
# 4739 into $T/received.
collector() {
	local iface=$1
	pair agent "$iface" agent0
	ip link set "$iface" address 02:00:00:00:00:02
	addressed "$iface" 2001:db8::2/64
	start socat -u UDP6-RECV:4739,rcvbuf=4000000 "OPEN:$T/received,creat,append"
	wait_for 5 test -e "$T/received"
	wait_for 5 listening 4739
	: >"$T/sent"
}

listening() { ss -Hlun "sport = :$1" | grep -q .; }

# send_ipfix COUNT [OPTION...]: from the namespace agent (tests/py/ipfix.py); returns when all went through.
send_ipfix() {
	local count=$1 before
	before=$(rx_packets xsf0)
	shift
	in_ns agent python3 "$PY/ipfix.py" agent0 "$count" "$@" >/dev/null
	wait_for 5 arrived xsf0 $((before + count))
	sleep 0.2 # from the interface to the socket to the file
}

rx_packets() { cat "/sys/class/net/$1/statistics/rx_packets"; }
arrived() { [ "$(rx_packets "$1")" -ge "$2" ]; }

# size: bytes received so far.
size() { stat -c %s "$T/received"; }

# received COUNT: waits until as much has come as was sent; the datagrams' number is for the reader.
received() { wait_for 5 all_received; }
all_received() { [ "$(size)" = "$(stat -c %s "$T/sent")" ]; }

# checksum_errors: Udp6InCsumErrors and InCsumErrors of Udp: where a receiver polls the kernel finds wrong
# checksums in a function that IPv4 and IPv6 share, and counts them there (udp.c, __first_packet_length).
checksum_errors() {
	awk 'FILENAME ~ /snmp6/ { if ($1 == "Udp6InCsumErrors") n += $2; next }
		$1 == "Udp:" && !column { for (i = 1; i <= NF; i++) if ($i == "InCsumErrors") column = i; next }
		$1 == "Udp:" { n += $column } END { print n }' /proc/net/snmp6 /proc/net/snmp
}

# audit port|source WHICH OUTCOME: from repair show.
audit() {
	"$XSF" repair show --json |
		json "next((r['$3'] for r in d['checksum']['${1}s'] if str(r['$1']) == '$2'), 0)"
}

# filters: those at ingress of xsf0, a line each.
filters() { tc filter show dev xsf0 ingress 2>/dev/null | grep handle; }
filter_id() { filters | grep -oE ' id [0-9]+' | cut -d' ' -f3; }

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A simulated fabric that sends over a veth pair to the program in the kernel: sent = counted, in every value
# that the truth file has.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"

pair agent xsf0 xsf1 || { not_ok "veth pair"; finish; }
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1
sysctl -q -w net.ipv6.conf.xsf0.disable_ipv6=0
in_ns agent sysctl -q -w net.ipv6.conf.xsf1.disable_ipv6=0
ip addr add 2001:db8::1/64 dev xsf0 nodad
in_ns agent ip addr add 2001:db8::2/64 dev xsf1 nodad

# counted NAME OPTION...
counted() {
	local name=$1
	shift
	run "$XSF" load xsf0 --consume --yes
	[ $RC = 0 ] || diag "load: $ERR"
	run nsenter --net=/run/netns/agent "$XSF" simulate --truth "$T/truth" "$@"
	like "$name: sent" "$OUT" "sent * 0 send errors"
	"$XSF" status --json >"$T/status"
	check "$name: sent = counted" python3 "$PY/compare_truth.py" "$T/truth" "$T/status"
	is "$name: all sound, all consumed" \
		"$(json '"%d %d" % (d["totals"]["datagrams_by_outcome"]["sound"],
			d["totals"]["events"]["consumed"])' "$T/status")" \
		"$(json '"%d %d" % ((d["totals"]["datagrams"],) * 2)' "$T/truth")"
	run "$XSF" unload --all --purge
	[ $RC = 0 ] || diag "unload: $ERR"
}

counted "four leaves" --to 192.0.2.1 --seconds 2
counted "IPv6" --to 2001:db8::1 --ipv6-agents --rate 4000 --seconds 1 --seed 6
counted "2400 interfaces" --to 192.0.2.1 --leaves 30 --spines 8 --ports 64 --rate 5000 --seconds 2
counted "as fast as it goes" --to 192.0.2.1 --rate 0 --seconds 0 --count 200000
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a collector behind the program gets: in pass mode everything, reassembled fragments and malformed
# datagrams too, byte for byte; in consume mode only what was not counted as sound.
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/xdp.sh"
private "$@"

pair agent xsf0 xsf1 9100
# The captures are sent to these.
ip link set xsf0 address 02:00:00:00:00:02
sysctl -q -w net.ipv6.conf.xsf0.disable_ipv6=0 net.ipv6.conf.xsf0.accept_dad=0 \
	net.ipv6.conf.xsf0.accept_ra=0 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.xsf0.rp_filter=0
ip addr add 198.51.100.10/24 dev xsf0
ip addr add 2001:db8:ffff::10/64 dev xsf0 nodad
ip route add default dev xsf0
ip -6 route add default dev xsf0

files=()
for file in "$GOLDEN"/pcaps/*.pcap; do
	case $file in */35-*) continue ;; esac
	files+=("$file")
done

# received FILE...: what the receiver gets, in $T/received.
received() {
	local sent
	start python3 "$PY/receive.py" 6343
	wait_for 10 grep -q ready "$STARTED_LOG"
	sent=$(send agent xsf1 "$@" --rate 2000)
	[ "$sent" -gt 0 ]
	stop "$PID"
	grep -v ready "$STARTED_LOG" >"$T/received"
}

received "${files[@]}"
cp "$T/received" "$T/without"
nr=$(wc -l <"$T/without")
if [ "$nr" -gt 100 ]; then ok "the receiver works"; else not_ok "the receiver works" "$nr datagrams"; fi

for mode in native generic; do
	"$XSF" load --mode $mode xsf0 >/dev/null
	received "${files[@]}"
	check "$mode: everything is passed on, byte for byte" diff "$T/without" "$T/received"
	"$XSF" unload --all --purge >/dev/null
done

"$XSF" load xsf0 >/dev/null
received "$GOLDEN/pcaps/01a-ip4-fragments.pcap" "$GOLDEN/pcaps/01c-ip6-fragments.pcap"
is "fragmented datagrams arrive whole" "$(wc -l <"$T/received")" 4
is "and are counted as fragments" "$("$XSF" status --json | json 'd["totals"]["fragments"]')" 4
"$XSF" unload --all --purge >/dev/null

"$XSF" load --consume xsf0 >/dev/null
received "${files[@]}"
"$XSF" status --json >"$T/status.json"
# Of those that the stack delivers: fragmented 01a 01b 01c; faulty or refused 10, 12a, 12b, 22, 25c, 30b, 40, 46,
# 47; four extension headers 47; too long 48.
is "only what is not sound arrives" "$(wc -l <"$T/received")" \
	$((1 + 1 + 1 + 5 + 10 + 1 + 5 + 1 + 1 + 7 + 1 + 1 + 1 + 1))
check "and is what was sent" test -z "$(sort "$T/received" | comm -13 <(sort "$T/without") -)"
is "sound datagrams to this host are consumed" "$(json 'd["totals"]["events"]["consumed"]' "$T/status.json")" \
	"$(json 'd["totals"]["datagrams_by_outcome"]["sound"]' "$T/status.json")"
"$XSF" unload --all --purge >/dev/null

"$XSF" load --consume xsf0 >/dev/null
received "$GOLDEN/pcaps/01a-ip4-fragments.pcap" "$GOLDEN/pcaps/12a-cut-datagrams.pcap" \
	"$GOLDEN/pcaps/22-other-versions.pcap" "$GOLDEN/pcaps/48-longest.pcap"
# One whole and one fragmented; ten cut ones; five versions and a sound one; one read and one too long.
is "fragments, malformed and too long ones arrive" "$(wc -l <"$T/received")" $((1 + 10 + 5 + 1))
finish

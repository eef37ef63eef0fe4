# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the tests with real agents share; sourced after lib.sh.

# wired IFACE ADDRESS [NS]: an address, and neighbours are asked for again.
wired() {
	in_ns "${3:-}" ip link set "$1" arp on && in_ns "${3:-}" ip addr add "$2" dev "$1"
}

# host NS NAME PORT ADDRESS: a host (namespace and interface NAME) at PORT of the switch in NS.
host() {
	local ns=$1 name=$2 port=$3
	ip netns add "$name" || return 1
	in_ns "$ns" ip link add "$port" type veth peer name "$name" netns "$name" || return 1
	quiet "$name" "$name"
	quiet "$ns" "$port"
	in_ns "$name" ip link set "$name" address "02:00:00:00:01:0${name: -1}" up
	in_ns "$name" ip addr add "$4" dev "$name"
	in_ns "$name" ethtool -K "$name" tx off >/dev/null 2>&1
	in_ns "$ns" ip link set "$port" up
}

# capture NS IFACE: every frame that it sends into $T/wire.pcap, from now until `captured`. A receiver on port
# 6343 here, or the agent would be told that there is none.
capture() {
	start socat -u UDP-RECV:6343 /dev/null
	start in_ns "$1" tcpdump -Q out -i "$2" -n -U --immediate-mode -B 8192 -s 0 -w "$T/wire.pcap"
	CAPTURE=$PID CAPTURE_LOG=$STARTED_LOG
	wait_for 10 grep -q 'listening on' "$CAPTURE_LOG"
}

# captured: ends the capture when nothing more comes, and takes what was counted: $T/status.json from the
# kernel, $T/replay.json from the capture, $SHARK = "datagrams flows samples" as tshark decodes it: samples as
# announced, since it gives up on records of counters samples that it does not know.
captured() {
	local before
	before=-1
	while [ "$before" != "$(stat -c %s "$T/wire.pcap")" ]; do
		before=$(stat -c %s "$T/wire.pcap")
		sleep 1.2 # more than the agents' second
	done
	stop "$CAPTURE" INT
	is "tcpdump lost nothing" "$(grep -c '^0 packets dropped by kernel' "$CAPTURE_LOG")" 1
	"$XSF" status --json >"$T/status.json"
	"$XSF" replay --json "$T/wire.pcap" >"$T/replay.json"
	SHARK=$(tshark -r "$T/wire.pcap" -d udp.port==6343,sflow -Y sflow -T fields \
		-e sflow_245.numsamples -e sflow_245.sampletype 2>/dev/null |
		awk -F'\t' '{ n++; all += $1; c = split($2, t, ",")
			for (i = 1; i <= c; i++) flow += t[i] == 1 || t[i] == 3 }
			END { print n + 0, flow + 0, all + 0 }')
}

# agrees DATAGRAMS: kernel, replay and tshark count the same, and at least so many datagrams.
agrees() {
	is "XDP counts what tshark decodes" "$SHARK" "$(json '"%d %d %d" % (d["totals"]["datagrams"],
		d["totals"]["flow_samples"], sum(d["totals"]["samples_by_type"].values()))' "$T/status.json")"
	check "XDP counts what replay counts" \
		python3 "$PY/compare_totals.py" same "$T/status.json" "$T/replay.json"
	if [ "${SHARK%% *}" -ge "$1" ]; then
		ok "at least $1 datagrams"
	else
		not_ok "at least $1 datagrams" "$SHARK"
		return 1
	fi
}

# at_least NAME KEY N: a value of the kernel's totals.
at_least() {
	local got
	got=$(json "d['totals'][\"$2\"]" "$T/status.json")
	if [ "${got:-0}" -ge "$3" ] 2>/dev/null; then
		ok "$1: $3 or more"
	else
		not_ok "$1: $3 or more" "got $got"
	fi
}

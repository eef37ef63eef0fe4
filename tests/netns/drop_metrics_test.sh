#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Drop notifications from a switch to the numbers that are read: a simulated fabric drops, XDP counts, and
# `status --json` and /metrics say who dropped what where, what switches kept to themselves, and what got lost
# on the way, exactly.
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

# begun: nothing counted yet, and somebody serves it.
begun() {
	run "$XSF" load xsf0 --consume --yes
	[ $RC = 0 ] || diag "load: $ERR"
	start "$XSF" export --listen 127.0.0.1:0
	EXPORTER=$PID
	wait_for 10 grep -q ' serving ' "$STARTED_LOG" || diag "$(cat "$STARTED_LOG")"
	URL=$(sed -n 's,.* serving \(http://.*\)$,\1,p' "$STARTED_LOG")
}
# counted NAME TRUTH: what is said of it.
counted() {
	"$XSF" status --json >"$T/status"
	curl -sf --max-time 20 "$URL" >"$T/metrics"
	check "$1: status and /metrics" python3 "$PY/check_drop_counts.py" "$2" "$T/status" "$T/metrics"
	is "$1: promtool is silent" "$(promtool check metrics <"$T/metrics" 2>&1)" ""
}
ended() {
	stop $EXPORTER
	run "$XSF" unload --all --purge
	[ $RC = 0 ] || diag "unload: $ERR"
}
# of_truth EXPRESSION FILE: summed over its agents' counts, x.
of_truth() { json "sum($1 for a in d['agents'] for x in [a['drop_notifications']])" "$2"; }

# live NAME OPTION...
live() {
	local name=$1
	shift
	begun
	run nsenter --net=/run/netns/agent "$XSF" simulate --truth "$T/truth" "$@"
	like "$name: sent" "$OUT" "sent * 0 send errors"
	counted "$name" "$T/truth"
	ended
}

live "50,000 a second" --to 192.0.2.1 --seconds 3 --drops 50000 --polling 1
is "50,000 a second: all of them" "$(of_truth 'x["notified"] > 1000' "$T/truth") \
$(json 'd["totals"]["drop_samples"] >= 150000' "$T/truth")" "6 True"
live "switches that limit" --to 192.0.2.1 --seconds 3 --drops 20000 --drop-limit 200
is "switches that limit: most is suppressed" \
	"$(($(of_truth 'x["suppressed"]' "$T/truth") > 4 * $(of_truth 'x["notified"]' "$T/truth")))" 1
live "IPv6, few" --to 2001:db8::1 --ipv6-agents --seconds 2 --drops 20 --drop-limit 5

# Every reason by its name, those with two codes once, and 1,000 without a name.
begun
python3 "$PY/drop_codes.py" "$T/codes.pcap" >"$T/truth"
send agent xsf1 "$T/codes.pcap" >"$T/sent"
is "reasons: sent" "$(cat "$T/sent")" "$(json 'd["totals"]["datagrams"]' "$T/truth")"
counted "reasons" "$T/truth"
is "reasons: named, each once" "$(grep -c '^xdp_sflow_place_drop_notifications_total{.*reason="[a-z]' "$T/metrics") \
$(grep '^xdp_sflow_place_drop_notifications_total{.*reason="dev_hdr"' "$T/metrics" | sed 's/.* //')" "133 2"
is "reasons: numbered" "$(grep -c '^xdp_sflow_place_drop_notifications_total{.*reason="[0-9]' "$T/metrics")" 1000
ended

# What is lost, late or there twice.
on_the_way() { # NAME LOSS-OPTION...
	local name=$1
	shift
	"$XSF" simulate --to 192.0.2.1 --seconds 4 --drops 8000 --drop-limit 400 --polling 1 \
		--write "$T/sent.pcap" --truth "$T/dropped" >/dev/null
	python3 "$PY/drop_loss.py" "$T/sent.pcap" "$T/came.pcap" "$@" >"$T/truth"
	is "$name: something of everything" "$(of_truth '0 not in (x["lost"], x["reordered"], x["suppressed"])' "$T/truth")" 6
	begun
	send agent xsf1 "$T/came.pcap" >"$T/sent"
	is "$name: sent" "$(cat "$T/sent")" "$(json 'd["totals"]["datagrams"]' "$T/truth")"
	counted "$name" "$T/truth"
	ended
	"$XSF" replay --json "$T/came.pcap" >"$T/replay"
	"$XSF" replay --metrics "$T/came.pcap" >"$T/metrics"
	check "$name: replay" python3 "$PY/check_drop_counts.py" "$T/truth" "$T/replay" "$T/metrics"
	is "$name: replay as status" "$(of_drops "$T/replay")" "$(of_drops "$T/status")"
	# It says no more than was dropped, and of what the switches told all but the last: what is lost behind the
	# last one that came, nobody can know.
	at_least=$(($(json 'sum(a["drop_notifications"]["at_least"] + a["drop_notifications"]["pending"]
		for a in d["agents"])' "$T/status")))
	dropped=$(of_truth 'x["at_least"]' "$T/dropped")
	is "$name: at least so many, of those dropped" "$((at_least <= dropped && at_least > dropped - 60))" 1
}
# of_drops FILE: all that is said of drops, but when.
of_drops() {
	json '[[a["agent"], a["drop_notifications"]] for a in d["agents"]] +
		[sorted(p.items()) for p in map(dict, d["drop_places"] + d["drop_agents"])
			if p.pop("first_seen_seconds_ago") + p.pop("last_seen_seconds_ago") >= 0]' "$1"
}
on_the_way "a bad network"
on_the_way "one that repeats, too" --duplicates

# A difference is seen.
wrong() { # NAME EXPRESSION PATTERN
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(d, sys.stdout)' "$T/truth" "$2" >"$T/wrong"
	run python3 "$PY/check_drop_counts.py" "$T/wrong" "$T/replay" "$T/metrics"
	like "$1" "$RC $OUT" "1 $3"
}
wrong "one lost too few" 'd["agents"][0]["drop_notifications"]["lost"] += 1' "agent *agent_lost_drop_notifications_total*"
wrong "one at another port" 'd["drop_places"][0]["ifindex"] += 100' "place *place_drop_notifications_total*"
wrong "one too many" 'd["drop_places"][0]["notified"] -= 1' "place *agent_drop_notifications_total*"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two leaves and two spines that are real Open vSwitch switches forward RoCEv2 between two hosts: what was sent
# is what the AI metrics show, once for each packet and not once for each switch.
#
#   h1 --- leaf1 --- spine1 --- leaf2 --- h2     there by spine1, back by spine2; each switch is a namespace with
#             \----- spine2 -----/               its own daemons, and a link of its own to the collector, here
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/peers.sh"
private "$@"
command -v ovs-vswitchd >/dev/null || skip_all "needs openvswitch-switch"
AI=/app/ai-metrics/scripts/metrics.js
URL=http://127.0.0.1:8008
COUNT=4000 RATE=400 SAMPLING=4
MAC1=02:00:00:00:01:01 MAC2=02:00:00:00:01:02

vsctl() { # SWITCH ...
	in_ns "$1" ovs-vsctl --timeout=20 --db="unix:$T/$1/db.sock" "${@:2}"
}
# switch NAME NUMBER: a namespace with Open vSwitch, and the link to the collector.
switch() {
	local name=$1 n=$2
	pair "$name" "xsf$n" agent0 &&
		wired "xsf$n" "10.9.$n.1/24" && wired agent0 "10.9.$n.2/24" "$name" || return 1
	mkdir "$T/$name"
	export OVS_RUNDIR=$T/$name OVS_LOGDIR=$T/$name OVS_DBDIR=$T/$name
	ovsdb-tool create "$T/$name/conf.db" /usr/share/openvswitch/vswitch.ovsschema || return 1
	start in_ns "$name" ovsdb-server "$T/$name/conf.db" --remote="punix:$T/$name/db.sock" \
		--unixctl="$T/$name/db.ctl" --log-file="$T/$name/ovsdb.log"
	wait_for 10 test -S "$T/$name/db.sock" || return 1
	vsctl "$name" --no-wait init || return 1
	start in_ns "$name" ovs-vswitchd "unix:$T/$name/db.sock" --unixctl="$T/$name/ctl" \
		--log-file="$T/$name/vswitchd.log"
	vsctl "$name" add-br br0 -- set bridge br0 datapath_type=netdev fail_mode=secure
}
# cable SWITCH PORT SWITCH PORT
cable() {
	in_ns "$1" ip link add "$2" type veth peer name "$4" netns "/run/netns/$3" || return 1
	quiet "$1" "$2"
	quiet "$3" "$4"
	in_ns "$1" ip link set "$2" up && in_ns "$3" ip link set "$4" up
}
# forward SWITCH MAC PORT: frames to this address leave by this port; else none leave.
forward() {
	in_ns "$1" ovs-ofctl add-flow "unix:$T/$1/br0.mgmt" "dl_dst=$2,actions=output:$3"
}

for n in 1 2 3 4; do
	name=$([ $n -le 2 ] && echo leaf$n || echo spine$((n - 2)))
	check "$name" switch "$name" $n
done
for leaf in 1 2; do
	check "host h$leaf" host leaf$leaf h$leaf p1 10.0.0.$leaf/24
	for spine in 1 2; do
		check "leaf$leaf to spine$spine" cable leaf$leaf u$spine spine$spine d$leaf
	done
	check "ports of leaf$leaf" vsctl leaf$leaf add-port br0 p1 -- add-port br0 u1 -- add-port br0 u2
done
for spine in 1 2; do
	check "ports of spine$spine" vsctl spine$spine add-port br0 d1 -- add-port br0 d2
done
rules() {
	forward leaf1 "$MAC2" u1 && forward spine1 "$MAC2" d2 && forward leaf2 "$MAC2" p1 &&
		forward leaf2 "$MAC1" u2 && forward spine2 "$MAC1" d1 && forward leaf1 "$MAC1" p1
}
check "rules" rules
check "load" "$XSF" load xsf1 xsf2 xsf3 xsf4
for n in 1 2 3 4; do
	name=$([ $n -le 2 ] && echo leaf$n || echo spine$((n - 2)))
	start socat -u "UDP-RECV:6343,bind=10.9.$n.1" /dev/null
	check "agent of $name" vsctl "$name" -- --id=@s create sflow agent=agent0 "target=\"10.9.$n.1:6343\"" \
		header=128 sampling=$SAMPLING polling=1 -- set bridge br0 sflow=@s
done
start "$XSF" export
wait_for 10 curl -sf -o "$T/version" $URL/version || not_ok "export serves" "$(cat "$STARTED_LOG")"
python3 - >"$T/topology.json" <<'END'
import json
links = {"%s-%s" % (l, s): {"node1": "leaf%d" % l, "port1": "u%d" % s, "node2": "spine%d" % s, "port2": "d%d" % l}
         for l in (1, 2) for s in (1, 2)}
names = ["leaf1", "leaf2", "spine1", "spine2"]
print(json.dumps({"links": links, "nodes": {n: {"agent": "10.9.%d.2" % (i + 1)} for i, n in enumerate(names)}}))
END
is "the topology is taken" \
	"$(curl -s -o /dev/null -w '%{http_code}' -T "$T/topology.json" $URL/topology/json)" 204
up() { # shellcheck disable=SC2317
	[ "$(curl -s "$URL/app/topology/scripts/topology.js/status/json" | json 'd["links"]["up"]')" = 4 ]
}
check "all four links are up" wait_for 15 up
sleep 1.2 # a tick: roles are in the kernel's map

for way in "requests $MAC1 10.0.0.1 $MAC2 10.0.0.2" "answers $MAC2 10.0.0.2 $MAC1 10.0.0.1"; do
	read -r what smac src dmac dst <<<"$way"
	python3 "$PY/roce_lab.py" "$T/$what.pcap" $COUNT "$smac" "$src" "$dmac" "$dst" "$what"
done
curl -s "$URL$AI/trend/json" >"$T/before.json"
send h1 h1 "$T/requests.pcap" --rate $RATE >"$T/sent1" &
sender=$!
is "answers sent" "$(send h2 h2 "$T/answers.pcap" --rate $RATE)" $COUNT
wait $sender
is "requests sent" "$(cat "$T/sent1")" $COUNT
curl -s "$URL$AI/prometheus/txt" >"$T/now"
check "a strict reader takes it" python3 "$PY/exposition.py" "$T/now"
sleep 2
curl -s "$URL$AI/trend/json" >"$T/after.json"
value() { sed -n "s/^sflow_ai_$1 //p" "$T/now"; }
# Their RETH says 0: the 80 stands behind it.
is "length of an operation" "$(value rdma_bytes)" 0
is "credits" "$(value aeth_credits_avg) $(value aeth_credits_min) $(value aeth_credits_max)" "12 12 12"
is "operations" "$(sed -n 's/^sflow_ai_operations{name="\([^"]*\)"}.*/\1/p' "$T/now" | sort | tr '\n' ' ')" \
	"CNP:CNP RC:ACK RC:RDMA_WRITE "
cat >"$T/sums.py" <<'END'
# Sums over the trend against what was sent: within five sigma of the samples that there are.
import json, math, sys
before, after = (json.load(open(f))["trend"] for f in sys.argv[1:3])
count, sampling = int(sys.argv[3]), int(sys.argv[4])
start, tail, wrong = before["times"][-1], math.exp(-0.5) / (1 - math.exp(-0.5)), 0
later = [i for i, t in enumerate(after["times"]) if t > start]
seconds = (after["times"][-1] - start) / 1000 / len(later)
def total(value):
    return seconds * (sum(value(i) for i in later) + tail * value(later[-1]))
def op(name):
    return total(lambda i: after["trends"]["top-5-operations"][i].get(name, 0))
def series(key):
    return total(lambda i: after["trends"][key][i])
ce = sum(1 for i in range(count) if i * 7 // 10 % 7 == 0)
edge = 2 * count * (14 + 20 + 8 + 38 + 4) * 8
for name, got, want, packets in (
        ("RC:RDMA_WRITE", op("RC:RDMA_WRITE"), count, count), ("RC:ACK", op("RC:ACK"), count / 2, count / 2),
        ("CNP:CNP", op("CNP:CNP"), count / 2, count / 2), ("rdma_ops", series("rdma_ops"), count / 5, count / 5),
        ("ecn_pps, at three switches", series("ecn_pps"), 6 * ce, 6 * ce),
        ("bps", series("bps"), edge, 2 * count)):
    most = 5 / math.sqrt(packets / sampling) + 0.02
    print("%s: %.0f, want %d within %.0f %%" % (name, got, want, 100 * most))
    wrong |= abs(got - want) > most * want
sys.exit(wrong)
END
run python3 "$T/sums.py" "$T/before.json" "$T/after.json" $COUNT $SAMPLING
is "what was sent is what was shown, once" "$RC $ERR" "0 "
diag "$OUT"
above() { [ "$(json "max(d['trend']['trends']['$1']) > 0" "$T/after.json")" = True ]; }
for key in core_max_bps core_med_bps edge_max_bps edge_q3_bps cnp_pps; do check "$key" above $key; done
finish

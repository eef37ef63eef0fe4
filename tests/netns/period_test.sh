#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The period of a simulated fabric's training cycles, in /metrics of an exporter: within 2 %, by fabric; 0 before there
# are any, soon after they ended, and of agents that send by their timers. Senders have real-time priority: one that
# has to wait for its CPU sends by the scheduler's turns.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"

pair agent xsf0 xsf1 || { not_ok "veth pair"; finish; }
ip link set lo up
ip link set xsf0 arp on
in_ns agent ip link set xsf1 arp on
ip addr add 192.0.2.1/24 dev xsf0
in_ns agent ip addr add 192.0.2.2/24 dev xsf1
LISTEN=127.0.0.1:18008

# value NAME FABRIC: of a gauge of one fabric.
value() {
	curl -s "http://$LISTEN/metrics" | sed -n "s/^xdp_sflow_period_$1{fabric=\"$2\"} //p"
}
# near VALUE WANTED: within 2 %.
near() { awk -v v="${1:-0}" -v w="$2" 'BEGIN { exit !(v > 0.98 * w && v < 1.02 * w) }'; }
found() { near "$(value seconds "$1")" "$2"; }
sender() { start nsenter --net=/run/netns/agent chrt -f 10 "$@"; }
simulate() { sender "$XSF" simulate --to 192.0.2.1 --seconds 0 "$@"; }
none() { [ "$(value seconds "$1") $(value confidence "$1")" = "0.000 0.000" ]; }
operations() { curl -s "http://$LISTEN/metrics" | awk '/^xdp_sflow_roce_operation_samples_total/ { n += $NF } END { print n }'; }
# none_for SECONDS FABRIC: the periods that are seen meanwhile, each once a second.
none_for() {
	local i seen=
	for ((i = 0; i < $1; i++)); do
		sleep 1
		none "$2" || seen+="$(value seconds "$2") "
	done
	is "no period of $2 in $1 s" "$seen" ""
}

"$XSF" simulate --print-topology full >"$T/topology.json"
run "$XSF" load xsf0
[ $RC = 0 ] || diag "load: $ERR"
start "$XSF" export --listen $LISTEN --topology "training=$T/topology.json"
EXPORT=$PID
check "the exporter answers" wait_for 10 curl -sf -o /dev/null "http://$LISTEN/"
is "nothing sent: no period" "$(value seconds training) $(value confidence training)" "0.000 0.000"

simulate --cycle 0.7
check "0.7 s, found in 15 s" wait_for 15 found training 0.7
sleep 2
check "it stays: $(value seconds training)" found training 0.7
like "confidence" "$(value confidence training)" "0.[3-9]*"
is "nothing outside the fabric" "$(value seconds none)" 0.000
stop "$PID"

simulate --cycle 2.3 --seed 5
check "another job of 2.3 s, found in 20 s" wait_for 20 found training 2.3
sleep 8
stop "$PID"

# What is left of the job in the timeline is no period of what follows.
simulate --cycle 0
sleep 12
none_for 25 training
stop "$PID"

stop "$EXPORT"
start "$XSF" export --listen $LISTEN --no-topology all-edge
EXPORT=$PID
wait_for 10 curl -sf -o /dev/null "http://$LISTEN/"
before=$(operations)
sender python3 "$PY/timer_agents.py" 192.0.2.1 30
none_for 26 default
like "their load was seen" $(($(operations) - before)) "[1-9]???"
stop "$PID"

# Maps that programs without a timeline have made.
stop "$EXPORT"
rm "$(find /sys/fs/bpf -name xsf_timeline)"
start "$XSF" export --listen $LISTEN
check "export without a timeline" wait_for 10 curl -sf -o "$T/metrics" "http://$LISTEN/metrics"
is "has no period" "$(grep -c '^xdp_sflow_period' "$T/metrics") $(grep -c '^xdp_sflow_up 1' "$T/metrics")" "0 1"
finish

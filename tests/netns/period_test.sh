#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The period of a simulated fabric's training cycles, in /metrics of an exporter: within 2 %, by fabric; 0 before there
# are any. (That a steady load has none is tests/unit/period_test.c's: a sender that has to wait for its CPU is none.)
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
simulate() { start nsenter --net=/run/netns/agent "$XSF" simulate --to 192.0.2.1 --seconds 0 "$@"; }

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
stop "$PID"

# Maps that programs without a timeline have made.
stop "$EXPORT"
rm "$(find /sys/fs/bpf -name xsf_timeline)"
start "$XSF" export --listen $LISTEN
check "export without a timeline" wait_for 10 curl -sf -o "$T/metrics" "http://$LISTEN/metrics"
is "has no period" "$(grep -c '^xdp_sflow_period' "$T/metrics") $(grep -c '^xdp_sflow_up 1' "$T/metrics")" "0 1"
finish

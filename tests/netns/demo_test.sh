#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# scripts/demo.sh shows what it should and leaves nothing behind; --keep goes on until it is stopped.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
mkdir "$T/tmp"
export TMPDIR=$T/tmp

# Everything that a demo could leave: interfaces, namespaces, mounts, pins, processes, files.
state() {
	ip -o link | cut -d: -f2
	ip netns
	cut -d' ' -f5 /proc/self/mountinfo
	find /sys/fs/bpf "$TMPDIR"
	ps -e -o args= | sed -E '/^(ps -e|sed -E|sleep 0.05|\/bin\/bash .*demo_test)/d'
}
state >"$T/before"
same_state() { state >"$T/after" && diff "$T/before" "$T/after"; }

RUN_TIMEOUT=100 run "$ROOT/scripts/demo.sh" --yes
is "demo.sh --yes ends well" "$RC $ERR" "0 $(grep 'reset their rings' <<<"$ERR")"
like "attaches" "$OUT" "*eth0: attached, consuming, native mode*"
like "sends" "$OUT" "*sent 8000 datagrams*"
like "counts them all" "$OUT" "*Datagrams: 8000
*"
like "shows the agents by name" "$OUT" "*leaf1 *"
is "ten lines of metrics" "$(grep -c '^xdp_sflow_' <<<"$OUT")" 10
like "says what to do next" "$OUT" "*on a real NIC*xdp-sflow load *"
check "nothing is left" wait_for 5 same_state

RUN_TIMEOUT=100 run "$ROOT/scripts/demo.sh" --yes --keep
is "demo.sh --keep returns" "$RC" 0
url=$(sed -n 's/^ *Metrics: *//p' <<<"$OUT")
stop=$(sed -n 's/^ *Stop it: *sudo //p' <<<"$OUT")
like "URL" "$url" "http://*/metrics"
like "how to stop" "$stop" "kill [0-9]*"
datagrams() { curl -sf "$url" | sed -n 's/^xdp_sflow_datagrams_total //p'; }
first=$(datagrams)
more() { [ "$(datagrams)" -gt "${1:-0}" ]; }
check "it goes on counting" wait_for 5 more "$first"
# shellcheck disable=SC2086 # words
check "stops" $stop
check "nothing is left" wait_for 5 same_state

# Killed the hard way, it goes as well.
RUN_TIMEOUT=100 run "$ROOT/scripts/demo.sh" --yes --keep
stop=$(sed -n 's/^ *Stop it: *sudo kill //p' <<<"$OUT")
check "killed" kill -KILL "$stop"
rm -rf "$TMPDIR"/xsf-demo.* # its directory is all that it cannot take along
check "nothing is left" wait_for 5 same_state

fails_with "unknown argument" 2 "demo.sh: no argument '--foo'*" "$ROOT/scripts/demo.sh" --foo
run "$ROOT/scripts/demo.sh" --help
like "help" "$RC $OUT" "0 sFlow from a simulated fabric*--keep*"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run: load and export in one, unloaded at the end; this host's addresses are followed.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/load_lib.sh"
private "$@"
PINS=/sys/fs/bpf/xdp-sflow/v2
pair agent xsf0 xsf1
pair agent xsf2 xsf3

serving() { URL=$(grep -o 'http://[^ ]*' "$STARTED_LOG"); }
metric() { # NAME: value of a metric without labels
	python3 -c 'import sys, urllib.request
for line in urllib.request.urlopen(sys.argv[1], timeout=10).read().decode().splitlines():
    if line.startswith(sys.argv[2] + " "):
        print(line.split()[1])' "$URL" "$1"
}
start_run() {
	start "$XSF" run "$@" --listen 127.0.0.1:0
	wait_for 20 serving
}

start_run xsf0 xsf2
is "both are loaded" "$(programs xsf0) $(programs xsf2)" "xsf_xdp xsf_xdp"
adds "counts" 5 agent xsf1 5
is "and serves them" "$(metric xdp_sflow_datagrams_total)" 5
stop "$PID"
is "SIGTERM: exit" $? 0
is "unloaded" "$(programs xsf0)$(programs xsf2)$(attachments)" 0
is "counts stay" "$(counted)" 5

start_run xsf0
kill -9 "$PID"
wait "$PID" 2>/dev/null
is "kill -9: goes on counting" "$(programs xsf0)" xsf_xdp
adds "counts" 5 agent xsf1 5 --first 6
start_run xsf0
is "run again: one program" "$(programs xsf0) $(attachments)" "xsf_xdp 1"
adds "one count each" 5 agent xsf1 5 --first 11
is "served" "$(metric xdp_sflow_datagrams_total)" 15
stop "$PID" HUP
is "SIGHUP: exit, unloaded" "$? $(attachments)" "0 0"

start_run xsf0 --keep
stop "$PID" INT
is "--keep, SIGINT: exit, still attached" "$? $(programs xsf0)" "0 xsf_xdp"

start_run xsf0
check "unload beside it" "$XSF" unload xsf0
stop "$PID"
is "somebody else has unloaded: exit" $? 0
is "and nothing was said about it" "$(grep -c 'no program' "$STARTED_LOG")" 0

start_run xsf0
ip link del xsf0
is "the interface goes away: still serves" "$(metric xdp_sflow_datagrams_total)" 15
stop "$PID"
is "exit, and no pin is left" "$? $(attachments)" "0 0"
pair agent xsf0 xsf1

# Nothing half done
ip link add ifb9 type ifb
run "$XSF" run xsf0 ifb9 --listen 127.0.0.1:0
like "one of two is refused: exit 1" "$RC $ERR" "1 *ifb9: native XDP was refused*"
is "the other one is undone" "$(programs xsf0)$(attachments)" 0
check "load one" "$XSF" load xsf0
run "$XSF" run xsf0 ifb9 --listen 127.0.0.1:0
is "what was there stays" "$RC $(programs xsf0)" "1 xsf_xdp"
run "$XSF" run xsf0 --listen 192.0.2.250:1
is "an address that is not ours: nothing is touched" "$RC $(programs xsf0)" "1 xsf_xdp"
check "unload" "$XSF" unload xsf0

# Addresses that come and go
locals() { bpftool -j map dump pinned $PINS/xsf_local | json 'len(d)'; }
are() { [ "$(locals)" = "$1" ]; }
ip addr add 192.0.2.2/24 dev xsf0
start_run xsf0 --consume
is "this host's address" "$(locals)" 1
consumed() { "$XSF" status --json | json 'd["totals"]["events"]["consumed"]'; }
adds "to it" 5 agent xsf1 5 --first 16
is "is consumed" "$(consumed)" 5
ip addr add 192.0.2.3/24 dev lo
check "an address comes" wait_for 5 are 2
adds "to it" 5 agent xsf1 5 --first 21 --dst 192.0.2.3
is "is consumed" "$(consumed)" 10
ip addr add 192.0.2.2/32 dev lo
ip addr del 192.0.2.2/24 dev xsf0
ip addr add 192.0.2.4/24 dev xsf0
check "an address moves, another one comes" wait_for 5 are 3
adds "to the one that moved" 5 agent xsf1 5 --first 26
is "is consumed" "$(consumed)" 15
ip addr del 192.0.2.2/32 dev lo
check "an address goes" wait_for 5 are 2
adds "to it" 5 agent xsf1 5 --first 31
is "is passed on" "$(consumed)" 15
for n in $(seq 5 254); do echo "addr add 192.0.2.$n/24 dev xsf0"; done | ip -batch -
check "many at once" wait_for 5 are 252
stop "$PID"
is "exit, unloaded" "$? $(programs xsf0)" "0 "
check "unload --all --purge" "$XSF" unload --all --purge
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pmacctd's sfprobe as sFlow agent: what tcpdump sees on the wire is what XDP counts.
#
#   h1 --- p1 (probe: pmacctd) --- agent0 ===== xsf0 (here, XDP)
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/peers.sh"
private "$@"

pair probe xsf0 agent0
wired xsf0 192.0.2.2/24
wired agent0 192.0.2.1/24 probe
host probe h1 p1 10.0.0.1/24

cat >"$T/pmacctd.conf" <<CONF
daemonize: false
pcap_interface: p1
plugins: sfprobe
sampling_rate: 4
sfprobe_agentip: 192.0.2.1
sfprobe_receiver: 192.0.2.2:6343
plugin_pipe_size: 8388608
plugin_buffer_size: 8192
CONF

check "load" "$XSF" load xsf0
capture probe agent0
start in_ns probe pmacctd -f "$T/pmacctd.conf"
probe=$PID probe_log=$STARTED_LOG
wait_for 10 grep -q 'p1' "$probe_log"
sleep 1 # the plugin is a process of its own
python3 "$PY/roce_traffic.py" "$T/roce.pcap" 2000 02:00:00:00:01:01 10.0.0.1 02:00:00:00:01:02 10.0.0.2
is "2000 RoCE packets sent" "$(send h1 h1 "$T/roce.pcap" --rate 1000)" 2000
sleep 3
stop "$probe" INT
captured
agrees 20 || diag "$(tail -n 20 "$probe_log")"
at_least "flow samples" flow_samples 200
at_least "RoCE operations" 'roce_opcodes"]["7"]["samples' 20
is "nothing malformed" "$(json 'd["totals"]["malformed"]' "$T/status.json")" 0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A real Open vSwitch as sFlow agent: what tcpdump sees on the wire is what XDP counts.
#
#   h1 --- sw (Open vSwitch, user space) --- h2
#               \--- agent0 ===== xsf0 (here, XDP)
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/peers.sh"
private "$@"

pair sw xsf0 agent0
wired xsf0 192.0.2.2/24
wired agent0 192.0.2.1/24 sw
host sw h1 p1 10.0.0.1/24
host sw h2 p2 10.0.0.2/24

vsctl() { in_ns sw ovs-vsctl --db="unix:$T/db.sock" "$@"; }
export OVS_RUNDIR=$T OVS_LOGDIR=$T OVS_DBDIR=$T
check "database" ovsdb-tool create "$T/conf.db" /usr/share/openvswitch/vswitch.ovsschema
start in_ns sw ovsdb-server "$T/conf.db" --remote="punix:$T/db.sock" --log-file="$T/ovsdb.log"
wait_for 10 test -S "$T/db.sock"
check "initialised" vsctl --no-wait init
start in_ns sw ovs-vswitchd "unix:$T/db.sock" --log-file="$T/vswitchd.log"
vswitchd=$PID
check "bridge" vsctl --timeout=20 add-br br0 -- set bridge br0 datapath_type=netdev
check "ports" vsctl --timeout=20 add-port br0 p1 -- add-port br0 p2

check "load" "$XSF" load xsf0
capture sw agent0
check "agent configured" vsctl --timeout=20 -- --id=@s create sflow agent=agent0 \
	'target="192.0.2.2:6343"' header=128 sampling=4 polling=1 -- set bridge br0 sflow=@s

python3 "$PY/roce_traffic.py" "$T/roce.pcap" 2000 02:00:00:00:01:01 10.0.0.1 02:00:00:00:01:02 10.0.0.2
is "2000 RoCE packets sent" "$(send h1 h1 "$T/roce.pcap" --rate 1000)" 2000
sleep 2 # two polling intervals: counter samples come too
check "agent stopped" vsctl --timeout=20 -- clear bridge br0 sflow
stop "$vswitchd"
captured
agrees 60
at_least "flow samples" flow_samples 200
at_least "counter samples" counter_samples 4
at_least "RoCE operations" 'roce_opcodes"]["7"]["samples' 50
is "nothing malformed" "$(json 'd["totals"]["malformed"]' "$T/status.json")" 0
finish

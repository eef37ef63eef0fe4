#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A real exporter and a real collector: pmacctd's nfprobe sends IPFIX over IPv6, a wire breaks its checksums,
# nfacctd gets nothing of it until they are repaired; and packets whose checksum the device has added up
# (CHECKSUM_COMPLETE), where a repair that forgets the device's sum loses them all.
#
#   h1 --- p1 (agent: pmacctd) agent0 === w0 (wire: breaks) w1 === xsf0 (here: nfacctd)
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/peers.sh"
. "$(dirname "$0")/repair_lib.sh"
private "$@"

pair wire xsf0 w1
ip netns add agent
in_ns agent ip link set lo up
in_ns agent ip link add agent0 type veth peer name w0 netns wire
in_ns agent ethtool -K agent0 tx off rx off gro off >/dev/null 2>&1
quiet wire w0
in_ns wire ip link set w0 up
in_ns agent ip link set agent0 up
addressed xsf0 2001:db8::2/64
addressed agent0 2001:db8::1/64 agent
host agent h1 p1 10.0.0.1/24
start in_ns wire python3 "$PY/break_csum.py" w0 w1 4739
wire=$PID wire_log=$STARTED_LOG
check "the wire carries" wait_for 10 grep -q carrying "$wire_log"

cat >"$T/pmacctd.conf" <<CONF
daemonize: false
pcap_interface: p1
plugins: nfprobe
nfprobe_receiver: [2001:db8::2]:4739
nfprobe_version: 10
nfprobe_timeouts: tcp=1:maxlife=1:udp=1:icmp=1:general=1:expint=1
aggregate: src_host, dst_host, src_port, dst_port, proto
CONF
cat >"$T/nfacctd.conf" <<CONF
daemonize: false
nfacctd_ip: ::
nfacctd_port: 4739
plugins: print
aggregate: src_host, dst_host
print_refresh_time: 1
print_output: csv
print_output_file: $T/flows
print_output_file_append: true
CONF
start nfacctd -f "$T/nfacctd.conf"
nfacctd=$PID
check "nfacctd listens" wait_for 10 listening 4739
start in_ns agent pmacctd -f "$T/pmacctd.conf"
check "pmacctd runs" wait_for 10 grep -q p1 "$STARTED_LOG"
sleep 1 # the plugin is a process of its own
python3 "$PY/roce_traffic.py" "$T/roce.pcap" 200 02:00:00:00:01:01 10.0.0.1 02:00:00:00:01:02 10.0.0.2

# flows_seen: nfacctd has printed what h1 sent.
flows_seen() { grep -q '10\.0\.0\.1' "$T/flows" 2>/dev/null; }
# exports: IPFIX datagrams that wait for nobody: those that the program saw with a wrong checksum.
exports() { [ "$(audit port 4739 observed_wrong)" -ge "$1" ]; }
traffic() { send h1 h1 "$T/roce.pcap" --rate 1000 >/dev/null; }

check "load" "$XSF" load xsf0
for _ in 1 2 3 4 5 6; do
	traffic
	wait_for 4 exports 12 && break
done
check "exports come, each with a wrong checksum" exports 12
sleep 2
check "nfacctd gets nothing of them" bash -c "! grep -q '10\.0\.0\.1' '$T/flows' 2>/dev/null"
like "status advises" "$("$XSF" status)" "*always wrong: a chip*To repair: xdp-sflow repair set xsf0 --repair 4739 *"
check "repair" "$XSF" repair set xsf0 --repair 4739
for _ in 1 2 3 4; do
	traffic
	wait_for 6 flows_seen && break
done
check "nfacctd gets the flows" flows_seen
stop "$nfacctd" INT
is "repaired: as many as the wire broke from then on" \
	"$(($(audit port 4739 repaired_wrong) > 0)) $(audit port 4739 good)" "1 0"
stop "$wire" TERM
wait_for 5 grep -q '^[0-9]' "$wire_log" # the process, after the shell that started it
is "the wire broke what was counted" "$(tail -n 1 "$wire_log")" \
	"$(($(audit port 4739 observed_wrong) + $(audit port 4739 repaired_wrong)))"
check "unload" "$XSF" unload --all --purge

# CHECKSUM_COMPLETE
script=$ROOT/../shared/cases/lab/03-checksum-complete.sh
for mode in plain complete; do
	if [ -e "$script" ]; then
		# shellcheck disable=SC2016 # the script expands
		said=$(RUN="$XSF" timeout 60 unshare --net bash "$script" $mode \
			'$NS $RUN load $DEV --mode generic --repair 6343 >&2' 2>"$T/err" | grep received)
		is "$mode: all 5 delivered" "$said" "received 5 of 5"
		"$XSF" unload --all --purge >/dev/null 2>&1
	else
		skip "$mode: all 5 delivered" "../shared absent"
	fi
done
finish

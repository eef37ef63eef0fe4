#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# sFlow from a simulated fabric, counted by XDP, served to Prometheus: sudo scripts/demo.sh [--yes] [--keep]
# --yes   install missing packages without asking
# --keep  leave it running; prints the URL and how to stop it
# Needs nothing but Debian 12; leaves nothing behind. Everything lives in namespaces of its own.
#
#   fabric (simulate) eth0 ===== eth0 collector (XDP, export)
set -euo pipefail
cd "$(dirname "$0")/.."

yes=() keep=0
for arg; do
	case $arg in
	--yes | -y) yes=(--yes) ;;
	--keep) keep=1 ;;
	-h | --help)
		sed -n '3,6s/^# //p' "$0"
		exit 0
		;;
	*)
		echo "demo.sh: no argument '$arg'; see demo.sh --help" >&2
		exit 2
		;;
	esac
done
if [ "$(id -u)" != 0 ]; then
	echo "demo.sh: needs root (namespaces, BPF): sudo scripts/demo.sh" >&2
	exit 1
fi

xsf=$PWD/build/xdp-sflow
host_if=xsf-demo host_ip=169.254.83.1 url_ip=169.254.83.2

# The outer part: packages, build, then itself in mount and pid namespaces. When the inner part ends, or is
# killed, the kernel takes away its processes, interfaces, pins and programs.
if [ -z "${XSF_DEMO:-}" ]; then
	scripts/setup.sh "${yes[@]}" build run
	echo "== building"
	make -s -j"$(nproc)" all
	state=$(mktemp -d "${TMPDIR:-/tmp}/xsf-demo.XXXXXX")
	trap 'rm -rf "$state"' EXIT
	# In a session of its own: --keep outlives this shell.
	XSF_DEMO=$state setsid unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
		"$0" "$@" &
	outer=$!
	inner() { cat "/proc/$outer/task/$outer/children" 2>/dev/null || true; }
	trap 'kill -TERM $(inner) 2>/dev/null' INT TERM HUP
	while kill -0 $outer 2>/dev/null && [ ! -e "$state/kept" ]; do sleep 0.1; done
	if [ -e "$state/kept" ]; then
		echo "   Stop it:     sudo kill $(inner)"
		exit 0
	fi
	wait $outer
	exit
fi

# The inner part.
state=$XSF_DEMO
unset XSF_DEMO
clean() {
	trap - EXIT
	# The address of the host's end goes with its peer, but not before the namespace is gone.
	ip link del $host_if 2>/dev/null || true
	rm -rf "$state"
}
trap clean EXIT
trap 'exit 143' INT TERM HUP

mount -t bpf -o mode=0700 bpf /sys/fs/bpf
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
collector() { nsenter --net=/run/netns/collector "$@"; }
fabric() { nsenter --net=/run/netns/fabric "$@"; }

echo "== two namespaces joined by veth"
ip netns add fabric
ip netns add collector
ip link add eth0 netns fabric type veth peer name eth0 netns collector
fabric ip addr add 192.0.2.1/24 dev eth0
collector ip addr add 192.0.2.2/24 dev eth0
for ns in fabric collector; do
	$ns ip link set lo up
	$ns ip link set eth0 up
done

echo "== xdp-sflow load --consume eth0 (there is no other collector; without it, everything is passed on)"
collector "$xsf" load --consume eth0

listen=127.0.0.1
if [ $keep = 1 ]; then
	ip link add $host_if type veth peer name to-host netns collector
	ip addr add $host_ip/30 dev $host_if
	ip link set $host_if up
	collector ip addr add $url_ip/30 dev to-host
	collector ip link set to-host up
	listen=$url_ip
fi
echo "== xdp-sflow export --listen $listen:8008"
collector "$xsf" export --listen "$listen:8008" >"$state/export.log" 2>&1 &
for _ in $(seq 100); do
	collector curl -sf -o /dev/null "http://$listen:8008/metrics" && break
	sleep 0.1
done

echo "== xdp-sflow simulate --leaves 4 --spines 2 --rate 1000 --seconds 8 --to 192.0.2.2"
fabric "$xsf" simulate --leaves 4 --spines 2 --rate 1000 --seconds 8 --to 192.0.2.2

echo "== xdp-sflow status"
collector "$xsf" status

echo "== ten lines of http://$listen:8008/metrics"
collector curl -sf "http://$listen:8008/metrics" >"$state/metrics"
shown='datagrams|roce_(operation|ecn|cnp)_packets|drop_notifications|interface_in_bytes'
grep -E "^xdp_sflow_($shown)" "$state/metrics" | awk -F'[{ ]' '$NF > 0 && n[$1]++ < 2' | head -n 10

cat <<TEXT
== next, on a real NIC (here eth0), with agents that send to it on UDP 6343
   sudo make install
   sudo xdp-sflow load eth0     # counts; everything goes on to collectors already here
   sudo xdp-sflow export        # http://127.0.0.1:8008/metrics
   sudo xdp-sflow status        # who sends, what is lost
   sudo xdp-sflow unload --all
TEXT

if [ $keep = 1 ]; then
	fabric "$xsf" simulate --leaves 4 --spines 2 --rate 1000 --seconds 0 \
		--to 192.0.2.2 >/dev/null 2>&1 &
	echo "== running"
	echo "   Metrics:     http://$listen:8008/metrics"
	touch "$state/kept"
	exec >/dev/null 2>&1 </dev/null
	wait
fi

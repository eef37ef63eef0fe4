#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Figures: bench.sh [SECTION]... of program, path, million, memory, http, ai, csum, flows; all without names. Root.
# tests/bench/README.md says how each is measured and how to read it. Asserts nothing, leaves nothing.
set -u
# The tasks that run what the network leaves behind are not in the namespaces that we make.
if [ -z "${XSF_PRIVATE:-}" ]; then
	exec 8</proc
	BENCH_KSOFTIRQD=$(pgrep '^ksoftirqd/' | tr '\n' ' ')
	export BENCH_KSOFTIRQD
fi
. "$(dirname "$0")/../lib.sh"
private "$@"
cd "$ROOT" || exit 1
BIN=$ROOT/build/tests/bench
COUNT=${BENCH_COUNT:-100000} RATE=${BENCH_RATE:-60000} ROUNDS=${BENCH_ROUNDS:-3}
MILLION=1000000
ADDRESS=198.51.100.64 MAC=02:02:02:02:02:02 # where mix.c sends
SEND_CPU=0 READ_CPU=$(($(nproc) - 1))
DIR=/sys/fs/bpf/xdp-sflow/v2

rt=()
chrt -f 50 true 2>/dev/null && rt=(chrt -f 50)
ksoftirqd=()
for pid in $BENCH_KSOFTIRQD; do
	[ ! -r "/proc/self/fd/8/$pid/schedstat" ] || ksoftirqd+=("/proc/self/fd/8/$pid/schedstat")
done

heading() { printf '\n%s\n' "$*"; }
have() { command -v "$1" >/dev/null; }
# per A B: A / B, a whole number.
per() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f", b ? a / b : 0 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", b ? a / b : 0 }'; }

# live [OPTION]...: sends; its key=value lines become ${L[key]}.
declare -A L
live() {
	local line
	L=()
	while IFS= read -r line; do L[${line%%=*}]=${line#*=}; done < <(
		in_ns agent "${rt[@]}" taskset -c $SEND_CPU "$BIN/live" --hold hold0 "$@" || echo failed=all
	)
	[ "${L[failed]}" = 0 ] || { echo "bench: the sender failed" >&2 && exit 1; }
}

# reader COMMAND...: starts a collector on the other CPU and waits until it has its socket.
reader() {
	start "${rt[@]}" taskset -c "$READ_CPU" "$@"
	if ! wait_for 10 listening; then
		echo "bench: no socket: $*" >&2
		cat "$STARTED_LOG" >&2
		exit 1
	fi
	sleep 0.3
}
listening() { [ -n "$(sockets)" ]; }
sockets() { awk '$2 ~ /:18C7$/' /proc/net/udp; }
socket_drops() { sockets | awk '{ n += $NF } END { print n + 0 }'; }
# reader_tasks: schedstat of every thread of the process group of the collector.
reader_tasks() {
	local pid
	for pid in $(pgrep -g "$PID"); do printf '%s\n' "/proc/$pid"/task/*/schedstat; done
}
# ring_drops: frames that found the ring of the veth full, or the device unable.
ring_drops() {
	in_ns agent ethtool -S xsf1 | awk '/xdp_xmit_errors:/ { n += $2 } END { print n + 0 }'
}

veth() {
	ip link show xsf0 >/dev/null 2>&1 && return
	pair agent xsf0 xsf1
	in_ns agent ip link add hold0 type veth peer name hold1
	ip link set xsf0 address $MAC
	ip addr add $ADDRESS/24 dev xsf0
	sysctl -q -w net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.xsf0.rp_filter=0
	# What a network card's driver does; and a veth takes redirected frames only so.
	ethtool -K xsf0 gro on
}

loaded() { "$XSF" load xsf0 "$@" >"$T/load" || { cat "$T/load" >&2 && exit 1; }; }
unloaded() { "$XSF" unload --all --purge >"$T/load"; }
prog_id() { ip -d link show dev xsf0 | grep -oE 'prog/xdp id [0-9]+' | cut -d' ' -f3; }

section_program() {
	heading "The program by test run, beside the native build of the same headers (ns a datagram)"
	ip link add hold0 type veth peer name hold1
	"${rt[@]}" taskset -c $SEND_CPU "$BIN/progbench" --hold hold0 "$ROOT/build/xdp_sflow.bpf.o"
	ip link del hold0
}

# one CASE [TASK]...: one round of a case.
declare -A least most lost
one() {
	local name=$1 sum drops ring
	shift
	drops=$(socket_drops) ring=$(ring_drops)
	live "${to[@]}" --count "$COUNT" --rate "$RATE" "${ksoftirqd[@]}" "$@"
	sum=$(per $((L[self] + L[tasks])) "${L[sent]}")
	[ -n "${least[$name]:-}" ] && [ "${least[$name]}" -le "$sum" ] || least[$name]=$sum
	[ -n "${most[$name]:-}" ] && [ "${most[$name]}" -ge "$sum" ] || most[$name]=$sum
	lost[$name]=$((${lost[$name]:-0} + $(socket_drops) - drops + $(ring_drops) - ring))
	wall=$((wall + L[wall])) ours=$((ours + L[own] + L[tasks])) busy=$((busy + L[busy]))
}

# collector CASE COMMAND...: one round with a collector on a socket.
collector() {
	local name=$1 tasks
	shift
	reader "$@"
	mapfile -t tasks < <(reader_tasks)
	one "$name" "${tasks[@]}"
	stop "$PID"
}

path_round() {
	local to=()
	one sender
	to=(--to xsf1)
	ip link set dev xsf0 xdp obj "$BIN/drop.bpf.o" sec xdp
	one drop
	ip link set dev xsf0 xdp off
	loaded --consume
	one consume
	loaded
	collector pass "$BIN/sink" $ADDRESS 6343
	unloaded
	collector sink "$BIN/sink" $ADDRESS 6343
	have sfacctd && collector sfacctd sfacctd -f "$T/sfacctd.conf"
	mkdir -p "$T/flows"
	have sfcapd && collector sfcapd sfcapd -p 6343 -b $ADDRESS -w "$T/flows" -t 3600 -B 4000000
	rm -rf "$T/flows"
}

path_row() { # CASE TEXT
	local ns
	if [ -z "${least[$1]:-}" ]; then
		printf '%-44s skipped: no %s here\n' "$2" "$1"
		return
	fi
	ns=$((least[$1] - least[sender]))
	printf '%-44s %8d %8d %8s %8s %9d\n' "$2" $ns $((most[$1] - least[sender])) \
		"$(ratio $ns $((least[sink] - least[sender])))" \
		"$(ratio $((least[$1] - least[drop])) $((least[sink] - least[drop])))" "${lost[$1]}"
}

section_path() {
	local i wall=0 ours=0 busy=0
	least=() most=() lost=()
	veth
	cat >"$T/sfacctd.conf" <<C
daemonize: false
sfacctd_ip: $ADDRESS
sfacctd_port: 6343
sfacctd_pipe_size: 8000000
plugins: memory
aggregate: src_host, dst_host
imt_path: $T/sfacctd.pipe
C
	heading "CPU time a datagram, softirq included: $COUNT datagrams of mix.c, $RATE a second," \
		"over a veth, $ROUNDS times"
	for ((i = 0; i < ROUNDS; i++)); do path_round; done
	printf '%-44s %8s %8s %8s %8s %9s\n' "" "ns least" "ns most" "of sink" "less way" lost
	path_row drop "the way alone: veth and XDP_DROP"
	path_row consume "xdp-sflow --consume: everything counted"
	path_row sink "bare sink: recvmmsg, counts datagrams"
	path_row pass "xdp-sflow (pass), then the bare sink"
	path_row sfacctd "sfacctd (pmacct), memory plugin, two fields"
	path_row sfcapd "sfcapd (nfdump), writes a file"
	printf '%-44s %8d\n' "taken off each: the sender alone" "${least[sender]}"
	printf '%-44s %7d%%\n' "others kept the machine busy meanwhile" \
		"$(per $((100 * (busy - ours))) $((wall * $(nproc))))"
	loaded --consume
	live --to xsf1 --count "$COUNT" --rate "$RATE" --stats "$(prog_id)"
	printf '%-44s %8d\n' "run time of the program, kernel's measure" \
		"$(per "${L[run_time]}" "${L[run_count]}")"
	unloaded
}

section_million() {
	local ring counted consumed lost
	veth
	loaded --consume
	ring=$(ring_drops)
	live --to xsf1 --count $MILLION
	heading "One million datagrams as live frames into --consume, without a pause"
	lost=$(($(ring_drops) - ring))
	"$XSF" status --json >"$T/status.json"
	counted=$(json 'd["totals"]["datagrams"]' "$T/status.json")
	consumed=$(json 'd["totals"]["events"]["consumed"]' "$T/status.json")
	printf '%-44s %8d\n' "sent (with ${L[total]} - ${L[sent]} to warm up)" "${L[total]}" \
		"lost before XDP: the veth's ring was full" $lost "counted" "$counted" \
		"sent - lost - counted" $((L[total] - lost - counted)) \
		"of these consumed" "$consumed" \
		"CPU ns a datagram: sender, way, program" "$(per "${L[self]}" "${L[sent]}")"
	unloaded
}

# in_place TEXT AGENTS INTERFACES: the kernel's own measure of the run time, over live frames; the least
# of the rounds in $in_place_ns.
in_place() {
	local i ns
	in_place_ns=
	loaded --consume
	for ((i = 0; i < ROUNDS; i++)); do
		live --to xsf1 --count 50000 --frames 16384 --agents "$2" --interfaces "$3" \
			--stats "$(prog_id)"
		ns=$(per "${L[run_time]}" "${L[run_count]}")
		[ -n "$in_place_ns" ] && [ "$in_place_ns" -le "$ns" ] || in_place_ns=$ns
	done
	printf '%-44s %8d\n' "$1" "$in_place_ns"
}

section_memory() {
	local few
	veth
	heading "Many sources: run time on live frames, kernel's measure; memory of the maps"
	in_place "10 agents of 10 interfaces, ns" 10 10
	few=$in_place_ns
	unloaded
	in_place "2000 agents of 32 interfaces, ns" 2000 32
	printf '%-44s %8s\n' "ratio" "$(ratio "$in_place_ns" "$few")"
	python3 "$ROOT/tests/bench/memory.py" "$(prog_id)"
	unloaded
}

# exported TEXT [OPTION]...: three requests for /metrics.
exported() {
	local text=$1 url i cpu
	shift
	start "${rt[@]}" "$XSF" export --listen 127.0.0.1:0 "$@"
	wait_for 10 grep -q ' serving ' "$STARTED_LOG"
	url=$(sed -n 's,.* serving \(http://.*\)$,\1,p' "$STARTED_LOG")
	read -r cpu _ <"/proc/$PID/schedstat"
	for i in 1 2 3; do
		"${rt[@]}" curl -s -o /dev/null -w '%{time_total} %{size_download}\n' "$url"
	done | sort -n >"$T/times"
	awk -v text="$text" -v before="$cpu" '
		FILENAME ~ /times/ { if (!size) least = $1; most = $1; size = $2 }
		FILENAME ~ /schedstat/ { cpu = ($1 - before) / 3 }
		/^VmHWM/ { rss = $2 } /^RssAnon/ { anon = $2 }
		END { printf "%-44s %8.0f %8.0f %8.0f %7.1f %8.1f %8.1f\n", text, least * 1e3, most * 1e3,
			cpu / 1e6, size / 1e6, rss * 1.024e-3, anon * 1.024e-3 }' \
		"$T/times" "/proc/$PID/schedstat" "/proc/$PID/status"
	stop "$PID"
}

section_http() {
	veth
	loaded
	heading "/metrics over HTTP with full tables: 2047 agents, 65504 interfaces (three requests each)"
	"$ROOT/build/tests/tools/fill_maps" $DIR 2047 32 >/dev/null
	printf '%-44s %8s %8s %8s %7s %8s %8s\n' "" "ms least" "ms most" "CPU ms" "MB" "RSS MB" "own MB"
	exported "export: 4096 interfaces, the default bound"
	exported "export --all-interfaces: 65504" --all-interfaces
	unloaded
}

# asked PATH: 100 requests, a tenth of a second apart, so that some meet a refresh.
asked() {
	for _ in {1..100}; do
		curl -sf -o /dev/null -w '%{time_total} %{size_download}\n' "http://127.0.0.1:8008$1"
		sleep 0.05
	done | sort -n | awk -v path="$1" '
		{ ms[NR] = $1 * 1e3; size = $2 }
		END { printf "%-62s %7.1f %7.1f %7.1f %9d\n", substr(path, 1, 62), ms[int((NR + 1) / 2)],
			ms[int(NR * 0.95)], ms[NR], size }'
}

# refreshed TEXT [OPTION]...: CPU time of an exporter that nobody asks, in 20 s.
refreshed() {
	local text=$1 before
	shift
	start taskset -c "$READ_CPU" "$XSF" export --state-dir "$T/state" "$@"
	wait_for 10 curl -sf -o /dev/null http://127.0.0.1:8008/version
	sleep 3
	before=$(cut -d' ' -f1 "/proc/$PID/schedstat")
	sleep 20
	awk -v text="$text" -v before="$before" '{ ms = ($1 - before) / 20e6
		printf "%-62s %7.1f ms a second, %.2f %% of a core\n", text, ms, ms / 10 }' "/proc/$PID/schedstat"
}

section_ai() {
	local fabric=(--leaves 256 --spines 16 --ports 32) sender
	veth
	ip link set xsf0 arp on
	in_ns agent ip link set xsf1 arp on
	in_ns agent ip addr add 198.51.100.1/24 dev xsf1
	loaded
	"$XSF" simulate "${fabric[@]}" --print-topology full >"$T/topology.json"
	start in_ns agent taskset -c $SEND_CPU "$XSF" simulate --to $ADDRESS "${fabric[@]}" --rate 3000 \
		--polling 20 --seconds 0
	sender=$PID
	sleep 25 # every interface is heard
	heading "AI metrics: 16384 interfaces with roles, 3000 datagrams a second"
	refreshed "refresh, nobody asks: with the topology" --topology "$T/topology.json"
	printf '%-62s %7s %7s %7s %9s\n' "GET (100 requests)" "ms p50" p95 max bytes
	asked /app/ai-metrics/scripts/metrics.js/prometheus/txt
	asked /app/ai-metrics/scripts/metrics.js/trend/json
	asked /app/ai-metrics/scripts/metrics.js/period/json
	asked /agents/json
	asked /metric/EDGE/med:ifinutilization/json
	stop "$PID"
	refreshed "refresh, nobody asks: without a topology"
	stop "$PID"
	start taskset -c "$READ_CPU" "$XSF" export --state-dir "$T/state" --topology "$T/topology.json" --all-interfaces
	wait_for 10 curl -sf -o /dev/null http://127.0.0.1:8008/version
	sleep 22
	asked /prometheus/metrics/ALL/ifinoctets,ifoutoctets/txt
	stop "$PID"
	stop "$sender"
	unloaded
}

section_csum() {
	heading "The checksum program (ns a packet): by test run, and the kernel's measure on a tap device"
	ip tuntap add dev xsf2 mode tap vnet_hdr
	ip link set xsf2 mtu 9200 up
	"${rt[@]}" taskset -c $SEND_CPU "$BIN/csumbench" --tap xsf2 "$ROOT/build/csum6.bpf.o"
	ip link del xsf2
}

section_flows() {
	heading "Flows: ten keys of each drop notification (CPU time of the process)"
	"$BIN/flowbench"
}

printf '%s, %s CPUs, kernel %s, load %s\n' \
	"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(uname -r)" \
	"$(cut -d' ' -f1 /proc/loadavg)"
[ $# -gt 0 ] || set -- program path million memory http ai csum flows
for section; do
	case $section in
	program | path | million | memory | http | ai | csum | flows) "section_$section" ;;
	*) echo "bench: no section '$section'" >&2 && exit 2 ;;
	esac
done

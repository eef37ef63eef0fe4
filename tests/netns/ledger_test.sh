#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The ledger over known numbers of good, wrong, fragmented, unwanted and lost datagrams: each stage shows its
# number, and nothing is unexplained.
set -u
. "$(dirname "$0")/../lib.sh"
private "$@"
mount -t cgroup2 none /sys/fs/cgroup

pair agent xsf0 xsf1
ip link set xsf0 address 02:00:00:00:00:02
sysctl -q -w net.ipv6.conf.xsf0.disable_ipv6=0 net.ipv6.conf.xsf0.accept_dad=0 \
	net.ipv6.conf.xsf0.accept_ra=0 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.xsf0.rp_filter=0 \
	net.ipv4.ipfrag_time=1 net.ipv6.ip6frag_time=1
ip addr add 198.51.100.10/24 dev xsf0
ip addr add 2001:db8:ffff::10/64 dev xsf0 nodad
ip route add default dev xsf0
ip -6 route add default dev xsf0
V4="--dst 198.51.100.10"

send_to() { # KIND COUNT [OPTION...]
	in_ns agent python3 "$PY/ledger_send.py" xsf1 "$@" >/dev/null
}

# reader PORT BUFFER [late|close]: sets READER and READER_LOG.
reader() {
	start python3 "$PY/ledger_read.py" "$@"
	# shellcheck disable=SC2034
	READER=$PID READER_LOG=$STARTED_LOG
	wait_for 10 grep -q ready "$STARTED_LOG"
}
has_read() { tail -n 1 "$1"; } # LOG, once the reader was stopped

# begin [OPTION...]: a ledger that counts; end: it ends, and prints into $T/ledger.
begin() {
	start "$XSF" ledger --json --seconds 60 "$@"
	LEDGER=$PID LEDGER_LOG=$STARTED_LOG
	wait_for 20 grep -q counting "$LEDGER_LOG" || diag "$(cat "$LEDGER_LOG")"
}
end() {
	stop "$LEDGER" INT || diag "exit $?: $(cat "$LEDGER_LOG")"
	grep '^{' "$LEDGER_LOG" >"$T/ledger"
}

# stages NAME PORT "STAGE=COUNT ...": those stages, all others that are measured 0, nothing unexplained.
stages() {
	is "$1" "$(json '(lambda p: " ".join(["%s=%d" % s for s in p["stages"].items() if s[1]] +
		["unexplained=%d" % p["unexplained"]]))([p for p in d["ports"] if p["port"] == '"$2"'][0])' \
		"$T/ledger")" "${3:+$3 }unexplained=0"
}

# held_by PID: the programs of its links. Other ledgers of this machine are not ours to count.
held_by() { cat "/proc/$1"/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:\t//p' | sort -u; }
# left ID...: those that are still there.
left() {
	local id
	for id in "$@"; do bpftool prog show id "$id" >/dev/null 2>&1 && echo "$id"; done
}
none_left() { [ -z "$(left "$@")" ]; }

reader 4739 0
reader_all=$READER
reader 2055 4096 late
reader_late=$READER late_log=$READER_LOG

# ---- with XDP in each mode and without, observing
for mode in native generic none; do
	[ $mode = none ] || "$XSF" load --mode $mode xsf0 >/dev/null
	begin xsf0 --port 4739,6343 --port 2055,9995
	send_to good 100
	send_to wrong 25
	send_to wrong 15 --payload 20
	send_to zero 6
	# shellcheck disable=SC2086
	{
		send_to wrong 7 $V4
		send_to pieces 10 $V4
		send_to good 30 --port 9995 $V4
	}
	send_to pieces 20
	send_to first 5
	send_to stray 9
	send_to good 200 --port 2055
	send_to sflow 30 --port 6343
	send_to sflow 20 --port 6343 --first 41
	sleep 2.5 # fragments are given up after 1 s
	end
	seen="xdp=197 " nflow="xdp=50 " sum="wrong_checksum=46 " few="xdp=200 "
	[ $mode != none ] || seen='' nflow='' few='' sum=''
	stages "$mode: good, wrong, fragmented, unwanted" 4739 \
		"${seen}stack=197 fragmented=35 ${sum}checksum=21 reassembly=5 no_route=9 handed=162 checksum_read=32"
	stages "$mode: nobody listens" 6343 "${nflow}stack=50 no_listener=50"
	stages "$mode: nobody listens to a further port" 9995 "stack=30 no_listener=30"
	full=$(json '[p["stages"]["buffer_full"] for p in d["ports"] if p["port"] == 2055][0]' "$T/ledger")
	stages "$mode: a small buffer" 2055 "${few}stack=200 handed=200 buffer_full=$full"
	is "$mode: as the socket says" "$(json '[s["drops"] for s in d["sockets"] if s["port"] == 2055]' "$T/ledger")" \
		"[$full]"
	is "$mode: later fragments" "$(json 'd["later_fragments"]' "$T/ledger")" 30
	is "$mode: the ledger missed nothing" "$(json 'd["events_missed"]' "$T/ledger")" 0
	if [ $mode = none ]; then
		is "none: what XDP tells is not measured" "$(json '[k for p in d["ports"] for k in p["stages"]
			if k in ("xdp", "consumed", "denied", "wrong_checksum", "repaired")]' "$T/ledger")" "[]"
		is "none: nor what was lost before" "$(json '"lost_before" in d' "$T/ledger")" False
	else
		is "$mode: lost before it came" "$(json '(d["lost_before"], [(a["agent"], a["lost"])
			for a in d["agents"]])' "$T/ledger")" "(10, [('192.0.2.1', 10)])"
		"$XSF" unload --all --purge >/dev/null
	fi
	# What is left in the small buffer is read before the next round, and no drops are taken back.
	stop "$reader_late"
	is "$mode: the others were read" "$(has_read "$late_log")" $((200 - full))
	reader 2055 4096 late
	reader_late=$READER late_log=$READER_LOG
done
is "the mending command" "$(json '[p["mend"]["no_listener"] for p in d["ports"] if p["port"] == 6343]' "$T/ledger")" \
	"[\"ss -lunp 'sport = :6343'\"]"
is "the kernel's reason" "$(json 'sorted({x["reason"] for p in d["ports"] for x in p["drops"]
	if p["port"] in (6343, 2055)})' "$T/ledger")" "['NO_SOCKET', 'SOCKET_RCVBUFF']"

# ---- repaired, consumed
"$XSF" load --consume --repair 4739 xsf0 >/dev/null
begin
send_to wrong 25
send_to wrong 15 --payload 20
send_to zero 6
send_to sflow 12 --port 6343 --first 100
wait_for 2 false
end
stages "repaired" 4739 "xdp=46 stack=46 repaired=46 handed=46"
stages "consumed" 6343 "xdp=12 consumed=12"
"$XSF" unload --all --purge >/dev/null
"$XSF" load --consume --mode generic xsf0 >/dev/null
begin xsf0
send_to sflow 12 --port 6343 --first 100
end
stages "consumed in generic mode, counted once" 6343 "xdp=12 stack=12 consumed=12"
"$XSF" unload --all --purge >/dev/null

# ---- never read, forwarded, others' namespaces, taps
reader 9995 0 close
pair away xsf2 xsf3
wired=$(in_ns away ip -o link show xsf3 | sed 's/.*link.ether \([^ ]*\).*/\1/')
ip addr add 203.0.113.1/24 dev xsf2
ip neigh add 203.0.113.9 lladdr "$wired" dev xsf2 nud permanent
sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.forwarding=1
start tcpdump -n -i xsf0 -w /dev/null
tap=$PID
wait_for 10 grep -q listening "$STARTED_LOG"
begin --port 9995,4739,2055
send_to good 3 --port 9995
send_to good 12 --dst 203.0.113.9
# Ours go out, and end in the other namespace.
python3 "$PY/ledger_send.py" xsf2 good 8 --port 2055 --dst 203.0.113.9 >/dev/null
sleep 0.5
stop "$READER"
wait_for 2 false
end
stop "$tap" INT
stages "never read" 9995 "stack=3 handed=3 unread=3"
stages "forwarded" 4739 "stack=12 forwarded=12"
stages "others' are not ours" 2055 ""
sysctl -q -w net.ipv4.ip_forward=0

# ---- text, watch
RUN_TIMEOUT=20 run "$XSF" ledger xsf0 --seconds 2 --watch
is "watch: exit" $RC 0
is "watch: as often as seconds" "$(grep -c '^Ledger of xsf0' "$T/out")" 2
run "$XSF" ledger xsf0 --seconds 1 --port 9995
is "--port: that one alone" "$(grep '^Port' "$T/out")" "Port 9995: nothing"
reader 9995 4096 late
start "$XSF" ledger xsf0 --seconds 60 --port 9995
LEDGER=$PID LEDGER_LOG=$STARTED_LOG
wait_for 20 grep -q counting "$LEDGER_LOG"
send_to good 100 --port 9995
stop "$LEDGER" INT
like "text: a full buffer" "$(cat "$LEDGER_LOG")" \
	"*then: buffer full *mend: sysctl -w net.core.rmem_max=* (*or the collector's own option for its receive buffer)*"
stop "$READER"
RUN_TIMEOUT=20 run "$XSF" ledger xsf0 --seconds 1
like "text" "$OUT" "*Device*rx packets*Port 4739: nothing*Sockets on these ports: 2*not measured*"
RUN_TIMEOUT=20 run "$XSF" ledger --seconds 2 --watch --json
is "watch --json: an object a line" "$(grep -c '^{.*}$' "$T/out")" 2

# ---- /metrics, by a user without rights
{ grep -v ^xdp-sflow: /etc/group && echo xdp-sflow:x:64999:nobody; } >"$T/group"
mount --bind "$T/group" /etc/group
chmod o+x /sys/fs/bpf
"$XSF" load xsf0 >/dev/null
start "$XSF" export --ledger --user nobody
exporter=$PID
wait_for 20 curl -sf -o "$T/metrics" http://127.0.0.1:8008/metrics
send_to good 11
send_to sflow 4 --port 6343 --first 200
served() { curl -sf http://127.0.0.1:8008/metrics >"$T/metrics" &&
	grep -qx 'xdp_sflow_ledger_stage_total{port="4739",stage="handed",kind="end"} 11' "$T/metrics"; }
check "metrics: handed" wait_for 10 served
is "metrics: no listener" "$(grep '^xdp_sflow_ledger_drops_total{port="6343"' "$T/metrics" |
	sed 's/where="[a-z0-9_]*"/where="-"/')" \
	'xdp_sflow_ledger_drops_total{port="6343",stage="no_listener",reason="NO_SOCKET",where="-",family="ipv6"} 4'
is "metrics: unexplained" "$(grep -c '^xdp_sflow_ledger_unexplained{.*} 0$' "$T/metrics")" 3
is "metrics: sockets" "$(sed -n 's/^xdp_sflow_ledger_sockets//p' "$T/metrics" | tr '\n' ' ')" \
	'{port="4739"} 1 {port="6343"} 0 {port="2055"} 1 '
is "promtool is silent" "$(promtool check metrics <"$T/metrics" 2>&1)" ""
is "it has no rights left" "$(sed -n 's/^CapEff:\t//p' "/proc/$exporter/status")" 0000000000000000
mapfile -t held < <(held_by "$exporter")
is "attached while it serves" "$(left "${held[@]}" | wc -l)" 4
stop "$exporter"
check "and gone with it" wait_for 10 none_left "${held[@]}"
start "$XSF" export
exporter=$PID
wait_for 20 curl -sf -o "$T/metrics" http://127.0.0.1:8008/metrics
is "without --ledger: nothing of it" "$(grep -c ledger "$T/metrics") $(held_by "$exporter")" "0 "
stop "$exporter"
"$XSF" unload --all --purge >/dev/null

# ---- killed
pins=$(find /sys/fs/bpf)
begin
mapfile -t held < <(held_by "$LEDGER")
is "four programs" "$(left "${held[@]}" | wc -l)" 4
on_cgroup() { bpftool cgroup show /sys/fs/cgroup | awk '{ print $1 }' | grep -cxFf <(printf '%s\n' "${held[@]}"); }
is "one on the cgroup" "$(on_cgroup)" 1
stop "$LEDGER" KILL
check "kill -9: no program is left" wait_for 10 none_left "${held[@]}"
is "kill -9: nor on the cgroup" "$(on_cgroup)" 0
is "kill -9: no pins" "$(find /sys/fs/bpf)" "$pins"

# ---- errors
fails_with "no interface" 1 "xdp-sflow: no interface nope; *" "$XSF" ledger nope
fails_with "a directory without maps" 1 "*no maps are pinned in /nonexist; *" "$XSF" ledger --maps /nonexist --seconds 1
fails_with "two interfaces" 2 "*one interface at most*" "$XSF" ledger xsf0 xsf2
fails_with "a bad port" 2 "*--port: '0' is not*" "$XSF" ledger --port 0
fails_with "bad seconds" 2 "*--seconds is a number*" "$XSF" ledger --seconds 0
fails_with "no rights" 1 "*run as root*" \
	setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all "$XSF" ledger --seconds 1
umount /sys/fs/cgroup
fails_with "no cgroup2" 1 "*no cgroup2 hierarchy*mount -t cgroup2*" "$XSF" ledger --seconds 1
stop "$reader_all"
finish

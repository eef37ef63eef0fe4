#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Repair where it is rarely tried: datagrams to a multicast group; in a tunnel whose own datagrams are watched
# as well; policies whose command is killed while traffic flows; receivers that come and go under the ledger.
# Functions for wait_for.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/repair_lib.sh"
private "$@"
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
collector xsf0
socat=$PID

# ledger PORT: begins; ledger_end: the stages that counted, and what is unexplained.
ledger() {
	start "$XSF" ledger xsf0 --json --seconds 60 --port "$1"
	LEDGER=$PID LEDGER_LOG=$STARTED_LOG
	wait_for 20 grep -q counting "$LEDGER_LOG"
}
ledger_end() {
	stop "$LEDGER" INT
	grep '^{' "$LEDGER_LOG" >"$T/ledger"
	json '" ".join("%s=%d" % s for s in [*d["ports"][0]["stages"].items(), ("unexplained", d["ports"][0]["unexplained"])]
		if s[1] or s[0] == "unexplained")' "$T/ledger"
}

# A multicast group
cat >"$T/group.py" <<'PY'
import socket, struct
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.bind(("::", 6343))
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
             socket.inet_pton(socket.AF_INET6, "ff15::42") + struct.pack("@I", socket.if_nametoindex("xsf0")))
print("ready", flush=True)
while s.recv(9000):
    print("got", flush=True)
PY
start python3 "$T/group.py"
member=$PID group_log=$STARTED_LOG
wait_for 10 grep -q ready "$group_log"
to_group() { send_ipfix 50 --port 6343 --checksum wrong --dst ff15::42 --dst-mac 33:33:00:00:00:42; }
check "load" "$XSF" load xsf0
to_group
is "multicast: wrong ones are lost" "$(grep -c got "$group_log") $(audit port 6343 observed_wrong)" "0 50"
check "repair" "$XSF" repair set xsf0 --repair 6343
ledger 6343
to_group
is "multicast: repaired ones are received" "$(grep -c got "$group_log") $(audit port 6343 repaired_wrong)" "50 50"
is "and in the ledger" "$(ledger_end)" "xdp=50 stack=50 repaired=50 handed=50 unexplained=0"
stop "$member"

# Killed while it sets a policy, under traffic: there is always a whole one, and the next command has its way.
check "repair" "$XSF" repair set xsf0 --repair 4739
start nsenter --net=/run/netns/agent python3 "$PY/ipfix.py" agent0 20000 --checksum wrong --rate 1000
traffic=$PID
for n in $(seq 40); do
	"$XSF" repair set xsf0 --repair 4739 --repair-from 2001:db8::/32 --repair-from "2001:db8:$n::/48" >/dev/null 2>&1 &
	set=$!
	sleep "0.0$((n % 10))$((n % 7))"
	kill -9 $set 2>/dev/null
	wait $set 2>/dev/null
done
is "killed 40 times: nothing was left unrepaired" "$(audit port 4739 observed_wrong)" 0
check "the next one" "$XSF" repair set xsf0 --repair 4739 --repair-from 2001:db8::1
is "is what is in force" "$("$XSF" repair show xsf0 --json |
	json '[(a["mode"], a["nr_prefixes"], a["repair_from"]) for a in d["checksum"]["attached"]]')" \
	"[('repair', 1, ['2001:db8::1'])]"
stop "$traffic"

# Receivers that come and go
stop "$socat"
cat >"$T/come.py" <<'PY'
import socket
got = 0
for _ in range(1000):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.bind(("::", 4739))
        s.settimeout(0.004)
        try:
            for _ in range(4):
                got += len(s.recv(9000)) > 0
        except OSError:
            pass
print(got)
PY
ledger 4739
start nsenter --net=/run/netns/agent python3 "$PY/ipfix.py" agent0 3000 --rate 900
traffic=$PID
python3 "$T/come.py" >/dev/null
wait "$traffic"
sleep 0.5
ended=$(ledger_end)
like "1,000 sockets: nothing is unexplained" "$ended" "xdp=3000 stack=3000 *handed=* unexplained=0"

# A tunnel over IPv6 whose datagrams have no checksum, watched outside and inside
addressed agent0 2001:db8::1/64 agent
ip neigh replace 2001:db8::1 lladdr "$(in_ns agent ip -o link show agent0 | sed 's/.*link.ether \([^ ]*\).*/\1/')" dev xsf0
in_ns agent ip neigh replace 2001:db8::2 lladdr 02:00:00:00:00:02 dev agent0
if in_ns agent ip link add vx0 address 02:00:00:00:00:0a type vxlan id 7 dstport 4789 local 2001:db8::1 \
	remote 2001:db8::2 udp6zerocsumtx 2>/dev/null; then
	ip link add vx0 address 02:00:00:00:00:0b type vxlan id 7 dstport 4789 local 2001:db8::2 remote 2001:db8::1 \
		udp6zerocsumrx
	in_ns agent ip link set vx0 up
	ip link set vx0 up
	addressed vx0 fd00::2/64
	: >"$T/received"
	start socat -u UDP6-RECV:4739,rcvbuf=4000000 "OPEN:$T/received,creat,append"
	wait_for 5 listening 4739
	check "load outside and inside" "$XSF" load xsf0 vx0 --mode generic --repair 4789,4739
	before=$(audit port 4739 repaired_wrong)
	in_ns agent python3 "$PY/ipfix.py" vx0 50 --checksum wrong --src fd00::1 --dst fd00::2 \
		--dst-mac 02:00:00:00:00:0b --payloads "$T/sent" >/dev/null
	received
	check "tunnel: received, byte for byte" cmp "$T/sent" "$T/received"
	is "the inner ones are repaired once" "$(($(audit port 4739 repaired_wrong) - before))" 50
	is "the outer ones were given a sum" "$(($(audit port 4789 repaired_zero) >= 50)) $(audit port 4789 good)" "1 0"
else
	skip "a tunnel" "no VXLAN in this kernel"
fi
check "unload" "$XSF" unload --all --purge
finish
